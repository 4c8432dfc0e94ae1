//! A laboratory's guest: its first process, its order, and how its files are sent home.
//!
//! The laboratory writes the order into the guest's initramfs and starts the emulator; in the guest,
//! wakepath is the first process ([`first_process`]). Both sides share what passes between them.

pub mod canary;
pub mod cpio;
mod digest;
mod first_process;
pub mod hunt;
pub mod order;
pub mod sending;

pub use canary::Canary;
pub use digest::sha256_hex;
pub use first_process::{InsideError, Ordered, first_process, virtual_time_here};
pub use order::Order;
