//! Records a program's loops in the field, for months and in limited space.
//!
//! Keeps all samples of the last hours as ordinary runs, the worst cycles forever, the rest as a
//! histogram for each minute. It starts no program and shows nothing. Rounds of a scenario, measured
//! for hours or days, have the same form.
//!
//! Content of the directory:
//!
//! \| name \| holds \|
//! \|---\|---\|
//! \| `service.json` \| the version of this form \|
//! \| `history-YYYY-MM.log` \| a line for each minute, start, end and gap, with its checksum ([`Entry`]) \|
//! \| `history-round-N.log` \| the same for a round of a scenario ([`Rounds`]) \|
//! \| `rounds.json` \| the number of rounds and their scenario; absent if a program is recorded \|
//! \| `worst.json` \| the worst cycles of each loop ([`WorstCycle`]) \|
//! \| `worst/LOOP-TIME` \| run directories of some cycles around one of the worst, with the kernel's events \|
//! \| `segments/LOOP-TIME` \| run directories; the oldest are removed when space is needed \|
//! \| `segments.json` \| their names; anything else in `segments` is not the service's and stays \|
//! \| `open.json` \| the segments being written \|
//! \| `lock` \| held by the recorder \|

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod begin;
#[cfg(test)]
mod full_speed;
mod history;
mod incidents;
mod minutes;
mod one_loop;
mod program;
mod recent;
mod recorder;
mod replay;
mod room;
mod rounds;
mod said;
mod segment;
mod segments;
mod summary;
mod terms;
mod traces;
mod worst;

pub use begin::{ServiceError, is_recorded, prepare};
pub use history::{Entry, HistoryWriter, Minute, RoundFinding, read_history};
pub use recorder::record;
pub use room::{MARK, PLAN, has_rounds, is_service};
pub use rounds::{Round, RoundError, RoundThread, Rounds, loop_name};
pub use summary::{Day, Gap, JudgedLoops, LoopSummary, RoundFindings, Summary, summary};
pub use terms::{Described, Found, Live, Refusal, Settings, Terms};
pub use worst::{Neighbour, Traced, WorstCycle, read_worst};
