//! What changes or counts things that the whole machine has once: its wall clock, its settings, its
//! tracers. Run with `--test-threads=1` and nothing beside: another test would see them change.

pub mod clock_step;
pub mod tracers;
pub mod trial;
