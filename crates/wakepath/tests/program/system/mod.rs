//! The whole command with real processes, loops, loads, signals and disks: does it tell the truth,
//! and does it survive? Run with `--test-threads=1`: the tests measure time on the same CPUs.

pub mod clock_step;
pub mod death;
pub mod first_hour;
pub mod full_disk;
pub mod guard;
pub mod interruption;
pub mod live_view;
pub mod loads;
pub mod metrics;
pub mod privileges;
pub mod rates;
pub mod recorder;
mod recording;
pub mod rights;
pub mod settings;
pub mod stalls;
pub mod traced;
pub mod trial;
pub mod wake_ups;
pub mod watching;
pub mod widths;
