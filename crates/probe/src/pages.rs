//! One CPU's buffer of a tracefs instance, read page by page.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use crate::error::{ProbeError, Result};
use crate::source::{CpuBuffer, Found};
use crate::stream::{Page, PageFormat};

/// Pages that are read in one turn: a mebibyte with pages of the usual size.
const SOME: usize = 256;

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
        while self.take_some(each)? {}
        Ok(())
    }

    fn take_some(&mut self, each: &mut dyn FnMut(Found<'_>) -> Result<()>) -> Result<bool> {
        for _ in 0..SOME {
            let length = match self.file.read(&mut self.page) {
                Ok(0) => return Ok(false),
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
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
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
                          \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
                          \tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

    #[test]
    fn a_buffer_that_does_not_run_dry_is_left_after_some_pages() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![0; (2 * SOME + 1) * 4096]).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        let format = PageFormat::parse(HEADER).unwrap();
        let mut pages = Pages::new(file, format, 4096, PathBuf::from("pages"));
        let mut read = || {
            let before = std::io::Seek::stream_position(&mut &pages.file).unwrap();
            let may_be_more = pages.take_some(&mut |_| Ok(())).unwrap();
            let after = std::io::Seek::stream_position(&mut &pages.file).unwrap();
            ((after - before) / 4096, may_be_more)
        };
        let some = SOME as u64;
        assert_eq!(
            [read(), read(), read()],
            [(some, true), (some, true), (1, false)]
        );
    }
}
