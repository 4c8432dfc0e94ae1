//! Every stretch of a guest's run in which a woken thread could not have run, the latency that a wake-up
//! due at any instant would have had, and the bound that the longest stretches compose. Pure, and that is
//! a rule of this folder: transitions in, stretches and figures out; no file, no clock, no emulator.

mod course;
mod figures;
mod interference;
mod ledger;
mod role;
mod stretch;
mod sweep;
mod transition;
mod wake_up;

pub use course::{Course, Preemption};
pub use figures::{Figures, Span, Variable};
pub use interference::Interference;
pub use ledger::Ledger;
pub use role::{Role, Roles, Watched, count_place};
pub use stretch::{Kind, Stretch};
pub use sweep::Sweep;
pub use transition::{Class, Transition, What};
pub use wake_up::WakeUp;
