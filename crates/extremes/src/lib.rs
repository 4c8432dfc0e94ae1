//! What may be said of the largest value of a run, in which order, and when to refuse: tails above
//! a threshold and largest values of blocks fitted, dependence and drift tested, bounds with what
//! they assume. Pure: no input or output, no clock, no random number without a seed. It knows
//! nothing of conditions and criteria, and makes no verdict.
//!
//! Extreme value theory sees only the states that ran: a mode of probability q is missed with
//! (1 − q)ⁿ, and no fit tells of it.

mod blocks;
mod dependence;
mod examine;
mod exceedances;
mod gate;
mod goodness;
mod intervals;
mod level;
mod likelihood;
mod limit_laws;
mod moments;
#[cfg(test)]
#[path = "../fixtures/oracle.rs"]
mod oracle;
mod pareto;
mod random;
mod resample;
mod search;
mod stationarity;
mod steadiness;

pub use blocks::{BlockFit, ExtremeValue, block_maxima};
pub use dependence::{Tested, clusters, extremal_index, ljung_box, median_runs, run_length};
pub use examine::{Answer, Estimate, Examined, Observed, Question, Tail, examine};
pub use exceedances::{Exceedances, Highest, counts_to_try, forward_stop};
pub use gate::{Gate, GateName, holm};
pub use goodness::{Distances, distances};
pub use level::{Level, approaches_its_limit, shape_bound};
pub use likelihood::{Excesses, Fit, Rounded};
pub use limit_laws::{anderson_darling_tail, cramer_von_mises_tail};
pub use moments::{LMoments, tail_class};
pub use pareto::Pareto;
pub use random::Random;
pub use resample::{Resampled, Resampling};
pub use stationarity::{anderson_darling_two_sample, evenly_spread, kpss, stretch_means};
pub use steadiness::Test;
