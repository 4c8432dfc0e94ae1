//! Stretches of kernel code that keep a woken thread from running: derived from transitions in a running
//! kernel, and composed into a bound. Times are whole numbers of any unit, the same in all of them, such as
//! nanoseconds or instructions; [`Sections`] are in nanoseconds. The caller supplies the transitions (from
//! an emulator, or a kernel's own events).

mod bound;
mod composition;
mod course;
mod events;
mod fold;
mod interference;
mod role;
mod stretch;
mod transition;
mod variable;
mod wake_up;

pub use bound::{Interrupting, NoSectionsBound, Sections, SectionsBound};
pub use composition::Composition;
pub use course::{Course, Preemption};
pub use events::{Happened, KernelCourse, KernelTold, interrupt_number, is_interrupt};
pub use fold::{Fold, InterruptFound, Woken};
pub use interference::Interference;
pub use role::Role;
pub use stretch::{Kind, Stretch};
pub use transition::{Class, Transition, What};
pub use variable::Variable;
pub use wake_up::WakeUp;
