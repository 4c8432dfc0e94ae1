//! The table of checks: one file for each group of it.

mod autogroup;
mod boot;
mod clock_steps;
mod cpu_quota;
mod crowded_cpu;
mod interrupts;
mod kernel;
mod kernel_threads;
mod memory;
mod network;
mod outside;
mod own_interrupt;
mod power;
mod program_policy;
mod rt_kernels;
mod scheduler;
mod serial_adapter;
mod services;
mod time_and_limits;
mod topology;

use crate::Check;
pub use network::{PacketQueue, packet_queues};
pub use own_interrupt::own_interrupts;

/// Id of the check for CPU time that a hypervisor takes.
pub const STOLEN_TIME: &str = "X1";
/// Id of the check for requests that keep CPUs out of deep idle states.
pub const LATENCY_REQUEST: &str = "F5";
/// Id of the check for a CPU quota.
pub const CPU_QUOTA: &str = "S8";

/// Every check, in the order of the table.
pub fn all() -> impl Iterator<Item = &'static Check> {
    [
        kernel::CHECKS,
        boot::CHECKS,
        power::CHECKS,
        topology::CHECKS,
        crowded_cpu::CHECKS,
        interrupts::CHECKS,
        kernel_threads::CHECKS,
        scheduler::CHECKS,
        cpu_quota::CHECKS,
        autogroup::CHECKS,
        memory::CHECKS,
        time_and_limits::TIME,
        clock_steps::CHECKS,
        time_and_limits::LIMITS,
        program_policy::CHECKS,
        services::CHECKS,
        outside::CHECKS,
        serial_adapter::CHECKS,
    ]
    .into_iter()
    .flatten()
}

/// The check of this id, in either case.
pub fn named(id: &str) -> Option<&'static Check> {
    all().find(|check| check.id.eq_ignore_ascii_case(id))
}
