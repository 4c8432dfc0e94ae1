//! Stretches of kernel code that keep a woken thread from running: told from what changes in a kernel as it
//! runs, and composed to a bound. Times are whole numbers of any unit, the same in all of them, such as
//! nanoseconds or instructions; [`Sections`] are in nanoseconds. Where the changes come from (an emulator,
//! a kernel's own events), whoever gives them knows.

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
