//! A line that is driven.

use crate::chip::FreeLine;
use crate::error::system;
use crate::{GpioError, LineName};
use gpiocdev_uapi::v2::{LineFlags, LineValues, set_line_values};
use std::fs::File;
use std::io;

/// A line as an output, low at first; the kernel gives it back when this ends.
#[derive(Debug)]
pub(crate) struct Output {
    line: LineName,
    request: File,
}

impl Output {
    /// Has the line.
    pub fn request(line: &LineName) -> Result<Self, GpioError> {
        let free = FreeLine::find(line)?;
        match free.request(LineFlags::OUTPUT, 0) {
            Ok(request) => Ok(Self {
                line: line.clone(),
                request,
            }),
            Err(source) => Err(
                free.refused(source, |line, called, source| GpioError::NoOutput {
                    line,
                    called,
                    source,
                }),
            ),
        }
    }

    /// Drives it: one system call.
    #[inline]
    pub fn set(&self, high: bool) -> io::Result<()> {
        let values = LineValues {
            bits: high.into(),
            mask: 1,
        };
        set_line_values(&self.request, &values).map_err(system)
    }

    /// The error if driving it fails.
    pub fn failed(&self, source: io::Error) -> GpioError {
        GpioError::System {
            line: self.line.clone(),
            action: "drive it",
            source,
        }
    }
}
