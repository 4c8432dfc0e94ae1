//! The actions of watching a program that was not written for wakepath: finds its threads, runs the probe
//! alongside, and makes a run of the recording, also after a kill. Its events are interpreted elsewhere.

mod error;
mod family;
mod following;
mod group_name;
mod groups;
mod namespace;
mod record;
mod recover;
mod target;
mod watching;

pub use error::WatchError;
pub use following::{Following, News, Seen};
pub use group_name::GroupName;
pub use namespace::{OtherNumbers, has_the_kernels_numbers};
pub use record::{Begin, record};
pub use recover::{Recovered, recover};
pub(crate) use target::threads_of;
pub use target::{Printing, StartError, Target};
pub use watching::{Ended, Recorded, Subject, Until, Watch, facts_taken};
