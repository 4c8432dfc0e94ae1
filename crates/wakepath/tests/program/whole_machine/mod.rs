//! Tests that change or count resources of the whole machine: its wall clock, its settings, its tracers.
//! Run with `--test-threads=1` and nothing else: another test would see them change.

pub mod clock_step;
pub mod tracers;
pub mod trial;
