//! Out of the kernel's buffers into a trace: read, decode, keep what is wanted, count what is lost.

use std::fs::File;
use std::io::{ErrorKind, Read};

use wakepath_archive::{CpuCount, KeptWindow, TraceWriter};
use wakepath_timeline::{KernelEvent, What};

use crate::error::{ProbeError, Result};
use crate::instance::Instance;
use crate::stream::{Decoder, Page};

/// The buffers of one segment, being read.
#[derive(Debug)]
pub struct Collector {
    streams: Vec<Stream>,
    /// Only events within these are kept; ascending and apart. `None`: all.
    windows: Option<Vec<KeptWindow>>,
    page: Vec<u8>,
}

/// One CPU's buffer.
#[derive(Debug)]
struct Stream {
    pages: File,
    count: CpuCount,
    /// Whether a page has been read: events missing before the first were overwritten.
    begun: bool,
    /// The window under way, for events that come in order.
    window: usize,
}

impl Collector {
    /// Opens the buffers.
    ///
    /// # Errors
    /// [`ProbeError::Io`].
    pub fn new(instance: &Instance, windows: Option<Vec<KeptWindow>>) -> Result<Self> {
        let stream = |&cpu: &u16| {
            Ok(Stream {
                pages: instance.pages(cpu)?,
                count: CpuCount {
                    cpu,
                    ..CpuCount::default()
                },
                begun: false,
                window: 0,
            })
        };
        Ok(Self {
            streams: instance.cpus().iter().map(stream).collect::<Result<_>>()?,
            windows,
            // Had and touched now, so that reading faults on no page.
            page: vec![1; instance.page_bytes],
        })
    }

    /// Reads what is there and appends it to the trace. `partly` says whether a page that is still
    /// being filled is left to the next time. Returns the events taken.
    ///
    /// # Errors
    /// [`ProbeError::Io`], [`ProbeError::Archive`].
    pub fn take(
        &mut self,
        instance: &Instance,
        decoder: &mut Decoder,
        writer: &mut TraceWriter,
    ) -> Result<u64> {
        let mut taken = 0;
        for stream in &mut self.streams {
            loop {
                let length = match stream.pages.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(length) => length,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => {
                        return Err(ProbeError::io("read the buffer of", instance.directory())(
                            error,
                        ));
                    }
                };
                let before = stream.count.taken;
                let windows = self.windows.as_deref();
                stream.page(&self.page[..length], instance, decoder, windows, writer)?;
                taken += stream.count.taken - before;
            }
        }
        Ok(taken)
    }

    /// What each CPU recorded.
    pub fn counts(&self) -> Vec<CpuCount> {
        self.streams.iter().map(|stream| stream.count).collect()
    }
}

impl Stream {
    fn page(
        &mut self,
        bytes: &[u8],
        instance: &Instance,
        decoder: &mut Decoder,
        windows: Option<&[KeptWindow]>,
        writer: &mut TraceWriter,
    ) -> Result<()> {
        let cpu = self.count.cpu;
        let first = !std::mem::replace(&mut self.begun, true);
        let Some(page) = Page::parse(bytes, &instance.page_format) else {
            return self.lose(0, 0, writer);
        };
        if first {
            self.count.complete_from_ns = page.at_ns;
        }
        if let Some(missed) = page.missed {
            match first {
                true => self.count.overwritten += missed.count,
                false => self.count.lost += missed.count,
            }
            self.lose(page.at_ns, missed.count, writer)?;
        }
        let mut records = page.records();
        let mut failed = None;
        for record in &mut records {
            let mut understood = false;
            decoder.decode(&record, cpu, |event| {
                understood = true;
                if failed.is_none() && kept(&event, windows, &mut self.window) {
                    match writer.append(&event) {
                        Ok(()) => self.count.events += 1,
                        Err(error) => failed = Some(error),
                    }
                }
            });
            self.count.taken += 1;
        }
        if records.is_torn() {
            self.lose(page.at_ns, 0, writer)?;
        }
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    fn lose(&mut self, at_ns: u64, count: u64, writer: &mut TraceWriter) -> Result<()> {
        Ok(writer.append(&KernelEvent {
            at_ns,
            cpu: self.count.cpu,
            current: 0,
            what: What::Lost { count },
        })?)
    }
}

/// Whether an event lies in a window; `at` moves on with the events.
fn kept(event: &KernelEvent, windows: Option<&[KeptWindow]>, at: &mut usize) -> bool {
    let Some(windows) = windows else {
        return true;
    };
    while windows.get(*at).is_some_and(|w| w.to_ns < event.at_ns) {
        *at += 1;
    }
    windows.get(*at).is_some_and(|w| w.from_ns <= event.at_ns)
}

/// Windows in order and apart, from windows in any order that may overlap. Pure.
pub fn merged(mut windows: Vec<KeptWindow>) -> Vec<KeptWindow> {
    windows.sort_unstable_by_key(|window| window.from_ns);
    let mut apart: Vec<KeptWindow> = Vec::new();
    for window in windows {
        match apart.last_mut() {
            Some(last) if window.from_ns <= last.to_ns => {
                last.to_ns = last.to_ns.max(window.to_ns);
            }
            _ => apart.push(window),
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(from_ns: u64, to_ns: u64) -> KeptWindow {
        KeptWindow { from_ns, to_ns }
    }

    #[test]
    fn overlapping_windows_become_one() {
        let found = merged(vec![window(50, 60), window(10, 20), window(15, 30)]);
        assert_eq!(found, [window(10, 30), window(50, 60)]);
    }

    #[test]
    fn an_event_is_kept_from_a_windows_first_to_its_last_nanosecond() {
        let windows = [window(10, 20), window(40, 50)];
        let mut at = 0;
        let kept: Vec<u64> = [9, 10, 20, 21, 39, 40, 51]
            .into_iter()
            .filter(|&at_ns| {
                let event = KernelEvent {
                    at_ns,
                    cpu: 0,
                    current: 0,
                    what: What::IdleExit,
                };
                kept(&event, Some(&windows), &mut at)
            })
            .collect();
        assert_eq!(kept, [10, 20, 40]);
    }
}
