//! The kernel events of one segment, in a file of their own.
//!
//! The file has blocks of one CPU each, in the kernel's order; readers merge them by time. This module
//! knows no backend and explains nothing.
//!
//! A run without such a file is untraced. [`Trace::open`] gives one segment's events:
//!
//! ```no_run
//! # fn main() -> wakepath_archive::Result<()> {
//! # let directory = std::path::Path::new("run");
//! use wakepath_archive::Trace;
//! if let Some(trace) = Trace::open(directory, 0)? {
//!     println!("{} events on CPUs {:?}", trace.events_recorded(), trace.description().cpus);
//!     for event in trace.events()? {
//!         let event = event?; // wakepath_timeline::KernelEvent, in time order over all CPUs
//!         println!("{} ns: {:?}", event.at_ns, event.what);
//!     }
//! }
//! # Ok(()) }
//! ```

mod block;
pub(crate) mod bytes;
mod decode;
mod describe;
mod encode;
mod follow;
mod merge;
mod reader;
mod writer;

pub use describe::{
    CpuCount, EventKind, Kept, KeptWindow, MissingEvents, ThreadOf, TraceDescription, TraceEnd,
    TraceMode,
};
pub use follow::TraceFollower;
pub use merge::TraceEvents;
pub use reader::Trace;
pub use writer::TraceWriter;

/// Name of a segment's trace in a run directory: `segment-3.events`.
pub fn trace_name(segment: u32) -> String {
    format!("segment-{segment}.events")
}

/// The segment of a trace file with that name, if it is one.
pub(crate) fn segment_of(name: &str) -> Option<u32> {
    let number: u32 = name
        .strip_prefix("segment-")?
        .strip_suffix(".events")?
        .parse()
        .ok()?;
    (trace_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_that_is_written_is_a_trace() {
        assert_eq!(segment_of(&trace_name(7)), Some(7));
        for other in [
            "segment-.events",
            "segment-07.events",
            "segment-+7.events",
            "segment-7.events.partial",
            "samples.log",
        ] {
            assert_eq!(segment_of(other), None, "{other}");
        }
    }
}
