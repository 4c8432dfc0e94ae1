//! Whether a machine is ready for the control loop at hand: about sixty checks, each an entry in a
//! table with a small reader. It reads below one directory, which may be a recorded tree, and
//! changes nothing. The writing of fixes is in the crate `wakepath-tuning`.
//!
//! A requested setting is never taken for one in effect: if the kernel reports what it
//! accepted (masks, partitions, its log), the check reads that.

mod check;
pub mod checks;
mod inspection;
mod interrupt_lines;
mod kernel_messages;
mod loop_at_hand;
mod magnitude;
mod processes;
mod program_threads;
mod report;
pub mod rivals;
mod text;

pub use check::{Check, Confidence, Finding, Group, State};
pub use checks::{PacketQueue, all, named, own_interrupts, packet_queues};
pub use inspection::Inspection;
pub use interrupt_lines::{InterruptLine, InterruptLines};
pub use kernel_messages::KernelMessages;
pub use loop_at_hand::{LoopAtHand, Program};
pub use magnitude::{Magnitude, Severity};
pub use processes::{Process, Processes};
pub use program_threads::ProgramThread;
pub use report::{Difference, Judged, READINESS_KEY, Report, Tally};
pub use text::{explanation, fix_lines};
