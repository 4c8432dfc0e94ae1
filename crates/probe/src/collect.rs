//! Out of the kernel's buffers into a trace: read, decode, keep what is wanted, count what is lost.

use wakepath_archive::{CpuCount, KeptWindow, TraceMode, TraceWriter};
use wakepath_timeline::{KernelEvent, What};

use crate::clock_sets::ClockSets;
use crate::error::Result;
use crate::followed::Followed;
use crate::source::{CpuBuffer, EventSource, Found};
use crate::stream::Decoder;

/// The buffers of one segment, being read.
#[derive(Debug)]
pub struct Collector {
    streams: Vec<Stream>,
    /// Threads of the watched program.
    pub(crate) followed: Followed,
    clock_sets: ClockSets,
    /// Only events within these are kept; ascending and apart. `None`: all.
    windows: Option<Vec<KeptWindow>>,
}

/// One CPU's buffer.
#[derive(Debug)]
struct Stream {
    buffer: Box<dyn CpuBuffer>,
    count: CpuCount,
    /// The window under way, for events that come in order.
    window: usize,
}

impl Collector {
    /// Opens the buffers.
    ///
    /// # Errors
    /// [`crate::ProbeError::Io`].
    pub fn new(source: &dyn EventSource, windows: Option<Vec<KeptWindow>>) -> Result<Self> {
        let stream = |&cpu: &u16| {
            Ok(Stream {
                buffer: source.buffer(cpu)?,
                count: CpuCount {
                    cpu,
                    ..CpuCount::default()
                },
                window: 0,
            })
        };
        Ok(Self {
            streams: source.cpus().iter().map(stream).collect::<Result<_>>()?,
            followed: Followed::default(),
            clock_sets: ClockSets::default(),
            windows,
        })
    }

    /// Reads what is there and appends it to the trace, of buffers that are written no more.
    ///
    /// # Errors
    /// [`crate::ProbeError::Io`], [`crate::ProbeError::Archive`].
    pub fn take(&mut self, decoder: &mut Decoder, writer: &mut TraceWriter) -> Result<()> {
        while self.take_some(decoder, writer)? {}
        Ok(())
    }

    /// Reads a part of what is there, which comes to an end also where events are written faster than they are read,
    /// and appends it to the trace; whether there may be more.
    ///
    /// # Errors
    /// As [`Self::take`].
    pub fn take_some(&mut self, decoder: &mut Decoder, writer: &mut TraceWriter) -> Result<bool> {
        let mut may_be_more = false;
        let windows = self.windows.as_deref();
        let followed = &mut self.followed;
        if let Some((at_ns, what)) = self.clock_sets.look() {
            followed.tell(at_ns, what);
        }
        for Stream {
            buffer,
            count,
            window,
        } in &mut self.streams
        {
            may_be_more |= buffer.take_some(&mut |found| match found {
                Found::From(at_ns) => {
                    count.complete_from_ns = at_ns;
                    Ok(())
                }
                Found::Lost {
                    at_ns,
                    count: lost,
                    overwritten,
                } => {
                    if overwritten {
                        count.overwritten += lost
                    } else {
                        count.lost += lost
                    }
                    Ok(writer.append(&KernelEvent {
                        at_ns,
                        cpu: count.cpu,
                        current: 0,
                        what: What::Lost { count: lost },
                    })?)
                }
                Found::Record(record) => {
                    count.taken += 1;
                    let mut outcome: wakepath_archive::Result<()> = Ok(());
                    decoder.decode(&record, count.cpu, |event| {
                        if outcome.is_ok()
                            && followed.wants(&event)
                            && kept(&event, windows, window)
                        {
                            let told = followed.before(&event).into_iter();
                            let told = told.map(|what| KernelEvent {
                                what,
                                ..event.clone()
                            });
                            let mut all = told.chain([event.clone()]);
                            outcome = all.try_for_each(|event| {
                                count.events += 1;
                                writer.append(&event)
                            });
                        }
                    });
                    Ok(outcome?)
                }
            })?;
        }
        Ok(may_be_more)
    }

    /// Counts of each CPU's events, according to its pages.
    pub fn counts(&self) -> Vec<CpuCount> {
        self.streams.iter().map(|stream| stream.count).collect()
    }

    /// As [`Collector::counts`], of a source that has ended, by the kernel's counts where those are the exact ones.
    ///
    /// # Errors
    /// [`crate::ProbeError`].
    pub fn counted(&self, source: &dyn EventSource, mode: TraceMode) -> Result<Vec<CpuCount>> {
        let counts = self.counts().into_iter().map(|mut count| {
            let statistics = source.statistics(count.cpu)?;
            // The kernel's own counts are exact where a page does not say how many it misses.
            match mode {
                TraceMode::FlightRecorder => count.overwritten = statistics.overrun,
                _ => count.lost = count.lost.max(statistics.overrun),
            }
            count.lost += statistics.dropped;
            Ok(count)
        });
        counts.collect()
    }
}

/// Whether an event is in a window; `at` advances with the events.
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
