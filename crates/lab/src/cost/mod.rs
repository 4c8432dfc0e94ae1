//! Models of what a run's instructions would cost on a core, by figures that are published (`known`). The
//! emulator's plugin carries one along while a run is made again; the run's own time knows nothing of it.
//! What comes of it is no machine's latency.

mod known;
#[path = "../../plugin/cost.rs"]
mod model;

pub use known::{CostModel, MODELS};
pub use model::{
    CACHES, Cache, Class, Model, Parameters, QUARTERS, Size, Spent, WORDS, class_of_x86,
};

#[cfg(test)]
mod tests;
