//! Detects that runs got later.
//!
//! The replicate is the run, usually a boot: samples of one run are not replicates of each other,
//! and pooling them raises an alarm for nearly every pair of runs. It is pure: no file, no clock,
//! and the random numbers of a permutation test come from a given seed.

mod blocked;
mod change;
mod compare;
mod divisive;
mod run;

pub use blocked::Blocks;
pub use change::{Change, Difference, changes, settings_between};
pub use compare::{Compared, Outcome, Terms, compare};
pub use divisive::{ChangePoint, DivisiveTerms, change_points};
pub use run::{Figure, History, RunFigures};
