//! The CPU on which the kernel arms the timers of threads on given CPUs.
//!
//! The scheduler decides on which CPU they wake up.

use crate::{Reading, Root};
use wakepath_timeline::CpuSet;

/// CPUs in addition to `cpus` on which their threads' timers can expire: none if each CPU keeps its
/// own.
///
/// A CPU in `nohz_full` is spared timers while `kernel.timer_migration` is 1: a thread that runs
/// there has its timer armed on a CPU that does the kernel's housekeeping, unless it would be the
/// first to expire there, and its wake-up comes from that CPU (Linux, `get_nohz_timer_target` in
/// `kernel/sched/core.c`, `switch_hrtimer_base` in `kernel/time/hrtimer.c`). On other CPUs the
/// arming thread itself keeps its CPU from being idle, and the timer stays.
pub fn timers_elsewhere(root: &Root, cpus: &CpuSet) -> CpuSet {
    let list =
        |name: &str| -> Reading<CpuSet> { root.cpus(&format!("/sys/devices/system/cpu/{name}")) };
    let migrate: Reading<u32> = root.number("/proc/sys/kernel/timer_migration");
    let (tickless, online) = (list("nohz_full"), list("online"));
    let (Some(tickless), Some(online)) = (tickless.known(), online.known()) else {
        return CpuSet::default();
    };
    let spared = cpus.numbers().iter().any(|&cpu| tickless.contains(cpu));
    if spared && migrate.known() != Some(&0) {
        online.without(tickless).without(cpus)
    } else {
        CpuSet::default()
    }
}
