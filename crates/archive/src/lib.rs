//! The run directory: a crash-safe log during a run, then Parquet and a sealed manifest.
//!
//! It writes and reads; it judges nothing.
//!
//! A recorder appends events and samples with [`LogWriter`]; after a normal end [`finish`] turns
//! the log into `samples.parquet` and `manifest.json`; [`recover`] does the same for a run that was
//! cut short and reports the missing parts; [`Run`] reads a run in any of these states. The format
//! is described in `docs/reference/archive.md`. Kernel events of traced segments are stored in
//! files next to them: [`TraceWriter`], [`Trace`].

mod contradiction;
mod counts;
mod digest;
mod durable;
mod error;
mod event;
mod feather_trace;
mod finish;
mod follow;
mod imported;
mod invocation;
mod legible;
mod load_proofs;
mod lock;
mod log;
mod manifest;
mod own_process;
mod quick;
mod recover;
mod run;
mod samples;
mod seal;
mod shortfall;
mod survey;
mod told;
mod trace;
mod virtual_time;
pub mod watch;

pub use counts::CountProblem;
pub use digest::sha256_of_file;
pub use error::{ArchiveError, NoRoom, Result};
pub use event::{
    BusExchanges, CacheRuns, CacheState, CoreCounts, CoreGravity, CoreLatency, CoreStageLatency,
    CountersRead, Effective, Ending, Event, FactsTaken, KernelLatency, KernelNoise, KernelSections,
    ModuleTimes, Obstacle, PageFaults, PlannedSegment, RunStarted, ScenarioText, SectionFound,
    SectionInterrupt, SectionKind, SectionsEffect, SegmentEnded, SegmentStarted, SegmentTraced,
    SelfTestFound, StageLatency, ThreadEnd, ThreadEnded, ThreadStarted, Tool, TracingSetUp, When,
    run_id,
};
pub use feather_trace::{
    ClockPair, FeatherBuffer, FeatherTraceFile, begin_feather_trace, end_feather_trace,
    feather_trace_name, put_feather_records,
};
pub use finish::{Step, discard_in, finish, finish_in, finish_until, withdraw_in};
pub use follow::LogFollower;
pub use imported::{Imported, ThreadHistogram};
pub use invocation::{
    GivenOption, Invocation, MeasuringVerb, RunOption, command_about, shell_word, shell_words,
};
pub use legible::read_legible;
pub use log::{Block, Content, Damage, Gap, LOG_NAME, LogReader, LogWriter, Tail, TailKind};
pub use manifest::{
    Contradictions, FileProblem, FileRecord, MANIFEST_NAME, Manifest, Recovered, SegmentRecord,
    ThreadRecord,
};
pub use own_process::{OwnProcess, OwnProcessThread, OwnRole};
pub use quick::QuickCheck;
pub use recover::{RecoveryReport, recover, recover_in};
pub use run::{Finding, Run, SampleBatches, State};
pub use samples::PARQUET_NAME;
pub use seal::may_add;
pub use shortfall::Shortfall;
pub use told::{
    LINES_NAME, LineSaid, LinesWriter, LoopLine, SegmentTold, Span, ThreadTold, Told, ToldWriter,
    read_lines, told_name,
};
pub use trace::{
    CpuCount, EventKind, Kept, KeptWindow, MissingEvents, ThreadOf, Trace, TraceDescription,
    TraceEnd, TraceEvents, TraceFollower, TraceMode, TraceWriter, trace_name,
};
pub use virtual_time::{EMULATOR_NAME, Emulator, GuestAdditions, VirtualTime};

/// The newest version of the archive's format that this library reads; it writes it for imported
/// runs.
pub const FORMAT_VERSION: u32 = 2;

/// The version for runs that wakepath measured: their format has not changed since, and older
/// readers still read them.
pub const MEASURED_FORMAT_VERSION: u32 = 1;
