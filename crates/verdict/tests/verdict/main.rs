//! Judging a run: its due times, its counts, its conditions, its policies.

mod account;
mod accounting;
mod cycles;
mod judging;
mod mode_switches;
mod overall;
mod runs;
mod trust;
