//! Stretches of a guest's run in which a woken thread could not have run.
//!
//! Also the latency of a wake-up due at any time, and the bound that the longest stretches compose.
//! Pure, and that is a rule of this folder: transitions in, stretches and figures out; no file, no
//! clock, no emulator. The parts that don't depend on an emulator are shared with kernels on real
//! machines: `wakepath_schedulability::sections`.

mod figures;
mod ledger;
mod role;
mod sweep;
mod transition;

pub use figures::{Figures, Span};
pub use ledger::Ledger;
pub use role::{Roles, Watch, Watched, count_place, is_lock};
pub use sweep::Sweep;
pub use transition::{Locked, Note, of_words};
pub use wakepath_schedulability::sections::{
    Class, Course, Interference, Kind, Preemption, Role, Stretch, Transition, Variable, WakeUp,
    What,
};
