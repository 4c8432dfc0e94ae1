//! The whole command with real processes, loops, loads, signals and disks: does it tell the truth,
//! and does it survive? Run with `--test-threads=1`: the tests measure time on the same CPUs.

mod clock_step;
mod death;
mod full_disk;
mod guard;
mod interruption;
mod live_view;
mod loads;
mod privileges;
mod recorder;
mod recording;
mod rights;
mod settings;
mod stalls;
mod traced;
mod trial;
mod wake_ups;
mod watching;
