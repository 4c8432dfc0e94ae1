//! Cost models of cores, with published figures (`known`).
//!
//! The emulator's plugin applies one while a run is repeated, which doesn't affect the run's own
//! time. The result is no machine's latency.

mod known;
#[path = "../../plugin/cost.rs"]
mod model;

pub use known::{CostModel, MODELS};
pub use model::{
    CACHES, Cache, Class, Model, Parameters, QUARTERS, Size, Spent, WORDS, class_of_x86,
};

#[cfg(test)]
mod tests;
