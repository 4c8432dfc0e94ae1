//! Real kernels in virtual time: fetches kernels, builds the guest's initramfs, runs the emulator and
//! brings the guest's files back. It measures nothing (the guest does) and judges nothing.
//!
//! An emulated CPU that counts instructions is a clock: the same kernel, initramfs, command line and
//! seed give the same instants to the nanosecond, on any host.

mod again;
mod apt;
mod architecture;
mod baseline;
mod cache;
mod cpio;
mod divergence;
mod elf;
mod emulation;
mod error;
pub mod experiments;
mod foreign;
mod guest;
mod initramfs;
mod kernel;
mod machine;
mod own_program;
mod packages;
mod programs;
mod qemu;
mod rate;
pub mod window;

pub use again::{KALLSYMS, Kept, Plugin, attend, keep_symbols, kept_symbols};
pub use architecture::Architecture;
pub use baseline::{
    BASELINE_VERSION, Baseline, BaselineError, BaselineOrder, Change, ConditionCounts, GuestCounts,
    PathPart, StretchChange, stretch_changes,
};
pub use cache::{Cache, sha256_hex};
pub use cpio::{Entry, Kind, pack, unpack};
pub use divergence::{Divergence, Stream, first_divergence};
pub use emulation::{Emulation, Home, Watcher};
pub use error::{LabError, Result};
pub use foreign::fetch as fetch_programs;
pub use guest::{
    BEGUN, COMMANDS_NAME, CommandEnd, ENDED, FAILED, MAGIC, ORDER_PATH, Order, OrderedCommand,
    PROGRAM_PATH, SEND_PORT, SPEAKER_ON, SPEAKER_PORT, complaint_name, output_name, receive, send,
    send_by_console,
};
pub use initramfs::Initramfs;
pub use kernel::{Kernel, KernelName};
pub use machine::{Machine, parameters, shift_of, turn_ns};
pub use own_program::{find as find_program, version_in};
pub use programs::Wanted;
pub use qemu::Qemu;
pub use rate::{BOARDS, Board, ns_per_instruction};
