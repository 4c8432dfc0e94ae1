//! The interface of every source of kernel events: a tracefs instance or perf's rings. Its users don't know
//! which of the two it is.

use std::fmt;
use std::path::Path;

use wakepath_archive::{EventKind, MissingEvents};

use crate::error::Result;
use crate::stream::Record;

/// Recorded events of some CPUs, started and stopped together.
pub trait EventSource: fmt::Debug {
    /// Its name, as a person reads it.
    fn name(&self) -> &'static str;
    /// Its path, for messages.
    fn place(&self) -> &Path;
    /// CPUs that are traced.
    fn cpus(&self) -> &[u16];
    /// Bytes of a CPU's buffer, as the kernel gave them.
    fn buffer_bytes(&self) -> u64;
    /// Kinds of events that are recorded.
    fn recorded(&self) -> &[EventKind];
    /// Events that are not, with the reason.
    fn missing(&self) -> &[MissingEvents];
    /// Begins to record, with empty buffers. Switching the events on changes the kernel's code on
    /// all CPUs: not while anything is measured.
    ///
    /// # Errors
    /// [`crate::ProbeError`].
    fn start(&self) -> Result<()>;
    /// As [`Self::start`], without the marks in programs: to try out what the kernel records. The kernel takes tens
    /// of milliseconds to take each mark out of a program that runs.
    ///
    /// # Errors
    /// [`crate::ProbeError`].
    fn start_without_marks(&self) -> Result<()> {
        self.start()
    }
    /// Ends recording; recorded events stay. The events are switched off too: an enabled event costs time
    /// even when nothing records it. That can take a second; returns from when on nothing was recorded, in
    /// nanoseconds on `CLOCK_MONOTONIC`.
    ///
    /// # Errors
    /// [`crate::ProbeError`].
    fn stop(&self) -> Result<u64>;
    /// Ends recording for a moment, while loops run that switching events on and off would disturb: if a
    /// source can distinguish the two, its events stay on.
    ///
    /// # Errors
    /// [`crate::ProbeError`].
    fn pause(&self) -> Result<()> {
        self.stop().map(drop)
    }
    /// Records again after a pause, with empty buffers.
    ///
    /// # Errors
    /// [`crate::ProbeError`].
    fn resume(&self) -> Result<()> {
        self.start()
    }
    /// Records the system calls of these threads alone from now on, or none if none is given; returns whether
    /// this source can. While it records.
    ///
    /// # Errors
    /// [`crate::ProbeError`].
    fn record_calls(&self, threads: &[u32]) -> Result<bool> {
        let _ = threads;
        Ok(false)
    }
    /// The kernel's counts on a CPU since the start.
    ///
    /// # Errors
    /// [`crate::ProbeError`].
    fn statistics(&self, cpu: u16) -> Result<CpuStatistics>;
    /// A CPU's buffer, to be read.
    ///
    /// # Errors
    /// [`crate::ProbeError`].
    fn buffer(&self, cpu: u16) -> Result<Box<dyn CpuBuffer>>;
}

/// A source's counts on one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuStatistics {
    /// Events in the buffer; 0 if that is unknown once nothing is recorded.
    pub entries: u64,
    /// Events overwritten.
    pub overrun: u64,
    /// Events refused while a reader held the buffer, and those lost in nesting.
    pub dropped: u64,
    /// Events read.
    pub read: u64,
}

/// One CPU's buffer, being read.
pub trait CpuBuffer: fmt::Debug {
    /// Hands out what is there, oldest first, never waiting for more.
    ///
    /// # Errors
    /// [`crate::ProbeError`], or that of `each`.
    fn take(&mut self, each: &mut dyn FnMut(Found<'_>) -> Result<()>) -> Result<()>;

    /// As [`Self::take`], for a buffer that is being written, which might fill faster than it is read: hands
    /// out a part that comes to an end, and returns whether there might be more.
    ///
    /// # Errors
    /// As [`Self::take`].
    fn take_some(&mut self, each: &mut dyn FnMut(Found<'_>) -> Result<()>) -> Result<bool> {
        self.take(each).map(|()| false)
    }
}

/// An item in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'a> {
    /// The buffer is complete from this instant on, in nanoseconds on `CLOCK_MONOTONIC`; given once,
    /// first.
    From(u64),
    /// Events are missing before this instant.
    Lost {
        /// Nanoseconds on `CLOCK_MONOTONIC`.
        at_ns: u64,
        /// How many; 0 where the kernel does not say.
        count: u64,
        /// Overwritten by newer ones, before the oldest that is left.
        overwritten: bool,
    },
    /// A record.
    Record(Record<'a>),
}
