//! Every stretch of a guest's run in which a woken thread could not have run, the latency that a wake-up
//! due at any instant would have had, and the bound that the longest stretches compose. Pure, and that is
//! a rule of this folder: transitions in, stretches and figures out; no file, no clock, no emulator. What
//! is no matter of an emulator's, kernels on machines share: `wakepath_schedulability::sections`.

mod figures;
mod ledger;
mod role;
mod sweep;
mod transition;

pub use figures::{Figures, Span};
pub use ledger::Ledger;
pub use role::{Roles, Watched, count_place};
pub use sweep::Sweep;
pub use transition::of_words;
pub use wakepath_schedulability::sections::{
    Class, Course, Interference, Kind, Preemption, Role, Stretch, Transition, Variable, WakeUp,
    What,
};
