//! Counters that advanced between two readings, and clocks that were stepped.
//!
//! A counter that went backwards was reset (its CPU left and came back) and is ignored.

use super::{ChangedFact, Changes, Severity};
use crate::{CpuThrottling, Facts, TICK_NS};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::number::percent;

/// A wall clock that moved further than this relative to the monotonic one was stepped; a time
/// service that slews stays below it.
const STEP_NS: i128 = 100_000_000;
/// The most a slewing time service moves the clock: 500 ppm (`MAXFREQ` in the kernel's timex.h).
const SLEW_PER_MILLION: i128 = 500;
/// Suspending shows as seconds; less is the time between reading the clocks.
const SUSPENDED_NS: i128 = 10_000_000;
/// Share of CPU time above which stolen time is more than a stray tick.
const MUCH_STOLEN: f64 = 0.01;

pub(super) fn compare(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    stolen(earlier, later, changes);
    throttled(earlier, later, changes);
    memory(earlier, later, changes);
    clocks(earlier, later, changes);
}

fn stolen(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    let (before, after) = (
        &earlier.varying.cpu_time.ticks,
        &later.varying.cpu_time.ticks,
    );
    let (Some(old), Some(new)) = (before.known(), after.known()) else {
        return;
    };
    let (mut stolen, mut all) = (0u64, 0u64);
    for cpu in new {
        let Some(was) = old.iter().find(|was| was.cpu == cpu.cpu) else {
            continue;
        };
        stolen = stolen.saturating_add(cpu.steal.saturating_sub(was.steal));
        all = all.saturating_add(cpu.total().saturating_sub(was.total()));
    }
    if stolen == 0 {
        return;
    }
    // Stolen time is part of the total; a total reduced by a reset can't be the divisor.
    let share = stolen as f64 / all.max(stolen) as f64;
    let severity = if share >= MUCH_STOLEN {
        Severity::Serious
    } else {
        Severity::Warning
    };
    let tick_ms = TICK_NS / 1_000_000;
    changes.add_fact(
        ChangedFact::StolenCpuTime,
        severity,
        "CPU time taken by the hypervisor",
        after.path(),
        "0",
        format!(
            "{} of {tick_ms} ms, {} of all CPU time",
            counted(stolen, "tick", "ticks"),
            percent(share)
        ),
    );
}

fn throttled(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    let (before, after) = (&earlier.varying, &later.varying);
    for now in &after.cooling.heat_throttling {
        let Some(was) = before
            .cooling
            .heat_throttling
            .iter()
            .find(|was| was.cpu == now.cpu)
        else {
            continue;
        };
        let parts = [
            ("core", &was.core, &now.core),
            ("package", &was.package, &now.package),
        ];
        for (part, was, is) in parts {
            let (Some(&old), Some(&new)) = (was.known(), is.known()) else {
                continue;
            };
            if new > old {
                let what = format!("heat throttling of CPU {}'s {part}", now.cpu);
                changes.add(Severity::Serious, what, is.path(), old, new);
            }
        }
    }
    for group in after.cgroup.throttled_since(&before.cgroup) {
        let CpuThrottling {
            times, stopped_us, ..
        } = group.since_made;
        changes.add(
            Severity::Serious,
            format!("control group {} ran into its CPU quota", group.group),
            &group.file,
            "0 times",
            format!("{times} times, {stopped_us} µs in all"),
        );
    }
}

fn memory(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    let (before, after) = (&earlier.varying.memory, &later.varying.memory);
    if let (Some(old), Some(new)) = (before.activity.known(), after.activity.known()) {
        let advanced = [
            (
                "pages read back from swap",
                old.swapped_in,
                new.swapped_in,
                Severity::Warning,
            ),
            (
                "pages written to swap",
                old.swapped_out,
                new.swapped_out,
                Severity::Warning,
            ),
            (
                "waits for free memory",
                old.direct_stalls,
                new.direct_stalls,
                Severity::Warning,
            ),
            (
                "processes killed for want of memory",
                old.killed,
                new.killed,
                Severity::Serious,
            ),
        ];
        for (what, old, new, severity) in advanced {
            if new > old {
                changes.add(severity, what, after.activity.path(), old, new);
            }
        }
    }
    let hits = |facts: &Facts| facts.varying.cgroup.memory_limit_hits.known().copied();
    if let (Some(old), Some(new)) = (hits(earlier), hits(later)) {
        let path = later.varying.cgroup.memory_limit_hits.path();
        let is_same = path == earlier.varying.cgroup.memory_limit_hits.path();
        for (what, old, new) in [
            (
                "times that the control group was slowed down above memory.high",
                old.high,
                new.high,
            ),
            (
                "times that the control group reached its memory limit",
                old.max,
                new.max,
            ),
        ] {
            if is_same && new > old {
                changes.add(Severity::Warning, what, path, old, new);
            }
        }
    }
    if let (Some(&old), Some(&new)) = (before.stalled_us.known(), after.stalled_us.known())
        && new > old
    {
        let what = "time that all tasks waited for memory (µs)";
        changes.add(Severity::Warning, what, after.stalled_us.path(), old, new);
    }
}

fn clocks(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    let (Some(before), Some(after)) = (&earlier.varying.clocks, &later.varying.clocks) else {
        return;
    };
    let slept = after.suspended_since(before);
    if slept > SUSPENDED_NS {
        let after = three_digits(i64::try_from(slept).unwrap_or(i64::MAX));
        changes.add(
            Severity::Serious,
            "the machine was suspended",
            "CLOCK_BOOTTIME",
            "0",
            after,
        );
    }
    let moved = after.wall_moved_since(before);
    let elapsed = i128::from(after.boot_ns) - i128::from(before.boot_ns);
    let slewed = elapsed.max(0) * SLEW_PER_MILLION / 1_000_000;
    if moved.abs() > STEP_NS + slewed {
        let by = format!("{:+.3} s", moved as f64 / 1e9);
        changes.add(
            Severity::Warning,
            "the wall clock was stepped",
            "CLOCK_REALTIME",
            "0",
            by,
        );
    }
}
