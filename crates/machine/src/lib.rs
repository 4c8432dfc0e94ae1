//! Facts about this host and a process's rights on it, from `/proc`, `/sys` and `/dev`.
//!
//! It changes nothing on the machine, mounts nothing and guesses nothing: a value is known with the
//! path it was read from, or has a reason why it is not.
//!
//! All readers start at a [`Root`], so a recorded tree is read exactly as a live machine is.

mod changes;
mod clock_readings;
mod facts;
mod misread;
mod privileges;
mod reading;
mod root;
mod summary;
mod timer_place;

pub use changes::{Change, ChangedFact, Differences, Severity};
pub use clock_readings::ClockReadings;
pub use facts::*;
pub use misread::Misread;
pub use privileges::{Permission, Privileges};
pub use reading::Reading;
pub use root::Root;
pub use summary::{SummaryLine, Topic};
pub use timer_place::timers_elsewhere;
