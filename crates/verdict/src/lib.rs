//! Passed, failed, undecided or invalid, with reasons. It accounts for every due time, holds the
//! counts against the criterion and refuses runs that can't be trusted. Pure: it measures
//! nothing, reads nothing and prints nothing.

mod account;
mod advice;
mod caution;
mod condition;
mod cycles;
mod flight;
mod gap;
mod inconsistency;
mod judge;
mod limits;
mod objections;
mod observation;
mod outcome;
mod overall;
mod provenance;
mod reason;
mod skips;
mod summary;
mod tally;
mod window;
mod wording;

pub use account::{Account, Fate, Skipped, Until};
pub use advice::Advice;
pub use caution::Caution;
pub use condition::{Condition, ConditionName, Judgement, Margin};
pub use cycles::CycleRecord;
pub use flight::{FlightFigures, FlightFinding, flight_findings};
pub use gap::Gap;
pub use inconsistency::{Consistency, Inconsistency};
pub use judge::{
    CLUSTER_GAP, DEFAULT_EVIDENCE, judge, judge_so_far, judged, not_fitting, shown_by,
};
pub use limits::Limits;
pub use objections::{SamplesSeen, objections};
pub use observation::{Observation, Observed};
pub use outcome::Outcome;
pub use overall::{Overall, PolicyOutcome, Recommendation, gravest, overall};
pub use provenance::{EarlyEnd, EffectivePolicy, FactChange, Provenance, UnprovenLoad};
pub use reason::{MoreNeeded, Reason};
pub use skips::{CyclesServed, ServedUntil, SkippedCounts};
pub use summary::{CycleSummary, Misses};
pub use tally::{DueTally, Outage, Overruns};
pub use window::{Gaps, JudgedWindow};
pub use wording::{confidence, count, counted, duration, fraction, upper_fraction};
