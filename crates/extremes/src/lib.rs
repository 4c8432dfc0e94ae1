//! Bounds that follow from the largest value of a run, and when to refuse: dependence and drift tested,
//! clusters counted, tails fitted as an estimate to go with the bound. Pure: no input or output, no clock, no
//! random number without a seed. It makes no verdict.
//!
//! A run shows only the states that it went through: a mode of probability q is missed with (1 − q)ⁿ, and
//! no fit reveals it.

mod dependence;
mod examine;
mod exceedances;
mod gate;
mod intervals;
mod level;
mod likelihood;
mod limit_laws;
#[cfg(test)]
#[path = "../fixtures/oracle.rs"]
mod oracle;
mod pareto;
mod random;
mod search;
mod stationarity;
mod steadiness;

pub use dependence::{Tested, clusters, extremal_index, ljung_box, median_runs, run_length};
pub use examine::{
    Answer, Examination, Examined, Extended, Observed, Question, Tail, examine, tails,
};
pub use exceedances::{Exceedances, Highest, counts_to_try};
pub use gate::{Gate, GateName, holm};
pub use level::Level;
pub use likelihood::{Excesses, Fit, Rounded};
pub use limit_laws::{anderson_darling_tail, cramer_von_mises_tail};
pub use pareto::Pareto;
pub use random::Random;
pub use stationarity::{anderson_darling_two_sample, evenly_spread, kpss, stretch_means};
pub use steadiness::Test;
