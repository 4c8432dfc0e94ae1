//! The activations of threads that were not written for wakepath, from kernel events alone: when a timer or
//! another thread woke them, how long they ran, with which period. Pure: it reads no file and no clock, and
//! names no causes.

mod activation;
mod activations;
mod chain;
mod expiry;
mod feeders;
mod fetches;
mod late_row;
mod naps;
mod near_row;
mod no_sleeps;
mod one_call;
mod passes;
mod pool;
mod rhythm;
mod row;
mod sections;
mod several_rows;
mod sleep;
mod sleep_call;
mod sorted;
mod stays;
mod stints;
mod tasks;
mod thread;
mod timer_wheel;
mod turns;
mod under_way;
mod waits;
mod waker;
mod wall_clock;
mod within_near_row;
mod within_row;

pub use activation::{Activation, BegunBy, CYCLE_BEGINS, CYCLE_ENDS, ThreadActivity, TimedWait};
pub use activations::{Activations, Taken};
pub use chain::{Chain, chains};
pub(crate) use expiry::WALL_CLOCK_NS;
pub(crate) use near_row::ROUNDED_BY_NS;
pub use one_call::WokenIn;
pub use passes::{Hop, Pass};
pub use pool::{Pool, PoolCycles};
pub use rhythm::{NotPeriodic, Rhythm};
pub use row::{Row, row};
pub use sections::{MarkedRun, MarkedSections, ThreadSections};
pub use sleep_call::{CutBy, CutSleeps};
pub use tasks::Task;
pub use waits::TurnWaits;
pub use waker::Waker;
