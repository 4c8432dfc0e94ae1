//! A chip's file, and the kernel's description of a line before it is requested.

use crate::error::system;
use crate::{GpioError, LineName};
use gpiocdev_uapi::v2::{LineConfig, LineFlags, LineRequest, Offsets, get_line, get_line_info};
use gpiocdev_uapi::{Name, v2::get_chip_info};
use std::fs::File;
use std::io;
use std::path::Path;

/// Our name as the user of a line, shown to others.
const CONSUMER: &[u8] = b"wakepath";

/// A line that can be requested.
#[derive(Debug)]
pub(crate) struct FreeLine {
    pub line: LineName,
    /// Its name on the board, as ` (GPIO17)`; empty if it has none.
    pub called: String,
    chip: File,
}

impl FreeLine {
    /// Checks that the line exists and is free.
    pub fn find(line: &LineName) -> Result<Self, GpioError> {
        let chip = open(&line.chip)?;
        let told = get_chip_info(&chip).map_err(|_| GpioError::NoChip {
            chip: line.chip.clone(),
            others: chips().join(", "),
        })?;
        if line.offset >= told.num_lines {
            return Err(GpioError::NoSuchLine {
                line: line.clone(),
                label: text(&told.label),
                lines: told.num_lines,
            });
        }
        let info = get_line_info(&chip, line.offset).map_err(|error| GpioError::System {
            line: line.clone(),
            action: "ask what it is (GPIO_V2_GET_LINEINFO_IOCTL, Linux 5.10 or newer)",
            source: system(error),
        })?;
        let called = match text(&info.name) {
            name if name.is_empty() => name,
            name => format!(" ({name})"),
        };
        if info.flags.contains(LineFlags::USED) {
            return Err(in_use(line, called, text(&info.consumer)));
        }
        Ok(Self {
            line: line.clone(),
            called,
            chip,
        })
    }

    /// Requests the line, with a buffer for `events` events if it reports edges.
    pub fn request(&self, flags: LineFlags, events: u32) -> io::Result<File> {
        let mut config = LineConfig {
            flags,
            ..LineConfig::default()
        };
        if flags.contains(LineFlags::OUTPUT) {
            config.add_values(&gpiocdev_uapi::v2::LineValues { bits: 0, mask: 1 });
        }
        let request = LineRequest {
            offsets: Offsets::from_slice(&[self.line.offset]),
            consumer: Name::from_bytes(CONSUMER),
            config,
            num_lines: 1,
            event_buffer_size: events,
            ..LineRequest::default()
        };
        get_line(&self.chip, request).map_err(system)
    }

    /// Explains a refused request. Another process might have taken the line in between.
    pub fn refused(
        self,
        source: io::Error,
        otherwise: impl FnOnce(LineName, String, io::Error) -> GpioError,
    ) -> GpioError {
        match source.raw_os_error() {
            Some(libc::EBUSY) => in_use(&self.line, self.called, String::new()),
            _ => otherwise(self.line, self.called, source),
        }
    }
}

fn in_use(line: &LineName, called: String, consumer: String) -> GpioError {
    GpioError::InUse {
        line: line.clone(),
        called,
        consumer: if consumer.is_empty() {
            "the kernel or another program".into()
        } else {
            format!("{consumer:?}")
        },
    }
}

fn open(chip: &str) -> Result<File, GpioError> {
    let path = Path::new("/dev").join(chip);
    let opened = File::options().read(true).write(true).open(&path);
    opened.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => GpioError::NotAllowed { chip: chip.into() },
        _ => match chips() {
            none if none.is_empty() => GpioError::NoChips,
            others => GpioError::NoSuchChip {
                chip: chip.into(),
                others: others.join(", "),
            },
        },
    })
}

/// The chips of this machine, with their labels if this user can read them.
fn chips() -> Vec<String> {
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("gpiochip")).collect();
    names.sort_unstable();
    let with_label = |name: String| {
        let told = File::open(Path::new("/dev").join(&name)).ok();
        match told.and_then(|chip| get_chip_info(&chip).ok()) {
            Some(told) => format!("{name} ({}, {} lines)", text(&told.label), told.num_lines),
            None => name,
        }
    };
    names.into_iter().map(with_label).collect()
}

/// A name of the kernel's, fit for a line of text.
fn text(name: &Name) -> String {
    wakepath_timeline::one_line(&name.as_os_str().to_string_lossy())
}
