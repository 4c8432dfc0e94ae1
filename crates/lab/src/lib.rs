//! Real kernels in virtual time.
//!
//! Fetches kernels, builds the guest's initramfs, runs the emulator and brings the guest's files
//! back; compares runs, counts for baselines, repeats a run to see its instructions, repeats
//! published experiments. It measures nothing (the guest does) and judges nothing.
//!
//! An emulated CPU that counts instructions is a clock: the same kernel, initramfs, command line
//! and seed give the same times to the nanosecond, on any host.

mod again;
mod apt;
mod architecture;
mod asked;
mod baseline;
mod bisection;
mod brought;
mod cache;
mod checked;
mod comparison;
mod configuration;
mod console;
pub mod cost;
mod counted;
mod disk;
mod divergence;
mod elf;
mod emulation;
mod error;
mod fault;
mod fitting;
mod foreign;
mod guests;
mod host;
mod host_cpu;
mod hunt;
mod initramfs;
mod kernel;
mod kernel_name;
mod known_differences;
mod laboratory;
mod machine;
mod measuring;
mod modules;
mod needs;
mod own_program;
mod packages;
mod pages;
mod place;
mod programs;
mod qemu;
mod rate;
mod recorded;
mod registration;
mod repetition;
mod said;
pub mod sections;
mod topology;
mod unpacked;
mod whole_file;
pub mod window;
mod words;

pub use again::{
    Again, AgainError, AsScheduled, ConditionCosts, ConditionSections, CycleCost, CyclesAsked,
    InterruptFound, Listener, NoBlocks, Noting, Plugin, RunCosts, RunSections, SectionFound, Since,
    Wanted, attend, costs as run_costs, costs_json, costs_text, sections as run_sections,
    sections_json, sections_text, to_file as sections_file, windows,
};
pub use architecture::Architecture;
pub use asked::{GuestsAsked, HostAsked};
pub use baseline::{
    BASELINE_VERSION, Baseline, BaselineError, BaselineOrder, Change, ConditionCounts, GuestCounts,
    PathPart, StretchChange,
};
pub use bisection::{
    Bisection, FEWEST_SEEDS, Next, SeedRun, Step, Turn, WatchedCount, found_text, is_open, parted,
    parted_text, step_text,
};
pub use brought::BroughtFault;
pub use checked::{to_json as changes_json, to_text as changes_text};
pub use comparison::{Compared, Whole, to_json as comparison_json, to_text as comparison_text};
pub use counted::{baseline, order as baseline_order, read_baseline, write_baseline};
pub use disk::DiskFault;
pub use divergence::{Divergence, Stream, first_divergence};
pub use error::{ExperimentError, GuestError, HuntError, LabError, Result};
pub use guests::{Guest, Limit, Stopped, carry_out};
pub use host::{Host, SUPERVISE};
pub use hunt::{
    CrashFound, Effort, Finding, Hunt, HuntAsked, HuntEnd, Longest, Repeated, Section, Way,
    hunt_json, hunt_text, repeated_json, repeated_text,
};
pub use known_differences::{
    KnownDifference, known_differences, to_text as known_differences_text,
};
pub use laboratory::{Laboratory, Task};
pub use measuring::{Measuring, Recorded};
pub use modules::ModuleFault;
pub use pages::{index_of_pages, write_pages};
pub use place::take as take_place;
pub use rate::{BOARDS, Board, ns_per_instruction};
pub use recorded::{CommandSaid, last_command, streams};
pub use registration::{claims_file, registered};
pub use repetition::{
    GivenGuest, GivenKernel, Repetition, chosen_experiments, guest_run,
    to_json as repetitions_json, to_text as repetitions_text,
};
pub use topology::{Topology, TopologyError};
