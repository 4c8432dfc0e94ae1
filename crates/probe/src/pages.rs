//! One CPU's buffer of a tracefs instance, read page by page.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use crate::error::{ProbeError, Result};
use crate::source::{CpuBuffer, Found};
use crate::stream::{Page, PageFormat};

/// The pages of `per_cpu/cpuN/trace_pipe_raw`.
#[derive(Debug)]
pub(crate) struct Pages {
    file: File,
    format: PageFormat,
    page: Vec<u8>,
    place: PathBuf,
    /// Whether a page has been read: events missing before the first were overwritten.
    begun: bool,
}

impl Pages {
    /// `page_bytes` are those of the largest page.
    pub(crate) fn new(file: File, format: PageFormat, page_bytes: usize, place: PathBuf) -> Self {
        Self {
            file,
            format,
            // Had and touched now, so that reading faults on no page.
            page: vec![1; page_bytes],
            place,
            begun: false,
        }
    }
}

impl CpuBuffer for Pages {
    fn take(&mut self, each: &mut dyn FnMut(Found<'_>) -> Result<()>) -> Result<()> {
        loop {
            let length = match self.file.read(&mut self.page) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(ProbeError::io("read the buffer of", &self.place)(error)),
            };
            let first = !std::mem::replace(&mut self.begun, true);
            let torn = |at_ns| Found::Lost {
                at_ns,
                count: 0,
                overwritten: false,
            };
            let Some(page) = Page::parse(&self.page[..length], &self.format) else {
                each(torn(0))?;
                continue;
            };
            if first {
                each(Found::From(page.at_ns))?;
            }
            if let Some(missed) = page.missed {
                each(Found::Lost {
                    at_ns: page.at_ns,
                    count: missed.count,
                    overwritten: first,
                })?;
            }
            let mut records = page.records();
            for record in &mut records {
                each(Found::Record(record))?;
            }
            if records.is_torn() {
                each(torn(page.at_ns))?;
            }
        }
    }
}
