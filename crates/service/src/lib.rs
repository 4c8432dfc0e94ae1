//! The recording of a program's loops in the field, for months and in bounded room: all samples of the last
//! hours as runs like any other, the worst cycles for ever, the rest as a histogram for each minute. It starts no
//! program and shows nothing. Rounds of a scenario, measured for hours or days, have the same form.
//!
//! What lies in the directory:
//!
//! | name | holds |
//! |---|---|
//! | `service.json` | the version of this form |
//! | `history-YYYY-MM.log` | a line for each minute, start, end and gap, with its check sum ([`Entry`]) |
//! | `history-round-N.log` | the same of a round, where rounds of a scenario are measured ([`Rounds`]) |
//! | `rounds.json` | how many rounds of what; none where a program is recorded |
//! | `worst.json` | the worst cycles of each loop ([`WorstCycle`]) |
//! | `worst/LOOP-TIME` | run directories of some cycles around one of the worst, with the kernel's events |
//! | `segments/LOOP-TIME` | run directories, the oldest removed when room is needed |
//! | `segments.json` | their names; anything else in `segments` is somebody else's, and stays |
//! | `open.json` | which of them are being written |
//! | `lock` | held by the recorder |

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
