//! Decides from two readings of the counters whether a load did its work in between. Pure: no
//! clock, no processes.

use crate::control::LoadReport;
use crate::plan::{PlannedLoad, Work};
use crate::proof::LoadCounts;
use crate::{DeviceAtWork, LoadProof};
use wakepath_timeline::CpuSet;
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::{three_digits, three_digits_up};

/// A program works when it used at least this share of one CPU, in thousandths: one that was busy
/// for a moment and slept for the rest of a segment was no load to it ...
const LEAST_CPU_PER_MILLE: u64 = 20;
/// ... and at least one tick of the kernel's CPU accounting, in microseconds ...
const LEAST_CPU_US: u64 = 10_000;
/// ... or when it read and wrote at least as many bytes per second ...
const LEAST_BYTES_PER_SECOND: u64 = 64 * 1024;
/// ... plus this many at each new start: loading itself and its libraries is no work.
const START_BYTES: u64 = 64 * 1024;
/// ... and as much CPU time, in microseconds: two ticks, because each process is rounded.
const START_CPU_US: u64 = 20_000;

/// The proof of `load` for the `elapsed_ns` between two readings, the second of them `running_ns` after
/// the loads were started.
pub(crate) fn judge(
    load: &PlannedLoad,
    report: &LoadReport,
    before: &LoadCounts,
    after: &LoadCounts,
    elapsed_ns: u64,
    running_ns: u64,
    measured_cpus: &[u16],
) -> LoadProof {
    let seconds = elapsed_ns as f64 / 1e9;
    let work_done = (after.amount() - before.amount()).max(0.0);
    let gains: Vec<u64> = gains(before, after).collect();
    let idle_workers = gains.iter().filter(|&&gain| gain == 0).count();
    let reason = why_not_working(load, report, before, after, elapsed_ns, false).map(|reason| {
        let needed = time_needed(load, before, after, elapsed_ns, running_ns);
        match needed {
            Some(ns) => format!("{reason}; at its rate it needs {}", three_digits_up(ns)),
            None => reason,
        }
    });
    let program = match &load.work {
        Work::Program(program) => Some(program),
        Work::BuiltIn(_) => None,
    };
    LoadProof {
        name: load.name.clone(),
        disturbs: load.disturbs.clone(),
        unit: load.unit.name.clone(),
        work_done,
        seconds,
        per_second: if seconds > 0.0 {
            work_done / seconds
        } else {
            0.0
        },
        workers: load.workers,
        idle_workers: u32::try_from(idle_workers).unwrap_or(u32::MAX),
        cpus: load.cpus.clone(),
        shares_a_measured_cpu: measured_cpus.iter().any(|cpu| load.cpus.contains(cpu)),
        cpu_seconds: after.cpu_us.saturating_sub(before.cpu_us) as f64 / 1e6,
        io_bytes: after.io_bytes.saturating_sub(before.io_bytes),
        working_set_bytes: load.working_set_bytes,
        device: load.device.as_ref().map(|device| DeviceAtWork {
            name: device.name.clone(),
            interface: device.interface.clone(),
            driver: device.driver.clone(),
            is_software: device.is_software,
            busy_seconds: after.device_ns.saturating_sub(before.device_ns) as f64 / 1e9,
        }),
        program: program.map(|program| program.path.display().to_string()),
        version: report.version.clone(),
        command_line: program.map(|program| {
            let mut line = program.path.display().to_string();
            for argument in &program.arguments {
                line.push(' ');
                line.push_str(argument);
            }
            line
        }),
        restarts: after.restarts,
        died_early: after.ended,
        exit: report.last_exit.clone(),
        reported: report.reported.clone(),
        notes: load.notes.clone(),
        working: reason.is_none(),
        reason,
    }
}

fn gains(before: &LoadCounts, after: &LoadCounts) -> impl Iterator<Item = u64> {
    after
        .workers
        .iter()
        .zip(&before.workers)
        .map(|(after, before)| after.saturating_sub(*before))
}

/// Reason why the load counts as not working between the two readings; `None` if it worked.
/// `starting` if its first start might not be over at the first reading: the cost of starting is no
/// work either.
pub(crate) fn why_not_working(
    load: &PlannedLoad,
    report: &LoadReport,
    before: &LoadCounts,
    after: &LoadCounts,
    elapsed_ns: u64,
    starting: bool,
) -> Option<String> {
    if after.ended {
        return Some(
            report
                .ending
                .clone()
                .unwrap_or_else(|| "it exited unexpectedly".into()),
        );
    }
    match &load.work {
        Work::BuiltIn(_) => {
            let idle = gains(before, after).filter(|&gain| gain == 0).count();
            // One starved worker among several still disturbs; that none got on does not.
            (idle == after.workers.len()).then(|| {
                format!(
                    "no {} done on CPUs {} in {}",
                    load.unit.name,
                    CpuSet::from(&load.cpus[..]),
                    three_digits(elapsed_ns.cast_signed())
                )
            })
        }
        Work::Program(_) => {
            let elapsed_us = elapsed_ns / 1000;
            let cpu_us = after.cpu_us.saturating_sub(before.cpu_us);
            let bytes = after.io_bytes.saturating_sub(before.io_bytes);
            let restarts = after.restarts.saturating_sub(before.restarts);
            let starts = starts(before, after, starting);
            let cpu_us_of_work = cpu_us.saturating_sub(starts.saturating_mul(START_CPU_US));
            let computed =
                cpu_us_of_work >= LEAST_CPU_US.max(elapsed_us * LEAST_CPU_PER_MILLE / 1000);
            let least_bytes = u128::from(LEAST_BYTES_PER_SECOND) * u128::from(elapsed_us);
            let bytes_of_work = bytes.saturating_sub(starts.saturating_mul(START_BYTES));
            let transferred =
                bytes_of_work > 0 && u128::from(bytes_of_work) * 1_000_000 >= least_bytes;
            (!computed && !transferred).then(|| {
                let restarted = match restarts {
                    0 => String::new(),
                    1 => "; it ended and was started again once".to_owned(),
                    count => format!("; it ended and was started again {count} times"),
                };
                format!(
                    "its processes used {} of CPU time and moved {} in {}{restarted}",
                    three_digits(cpu_us.saturating_mul(1_000).cast_signed()),
                    counted(bytes, "byte", "bytes"),
                    three_digits(elapsed_ns.cast_signed())
                )
            })
        }
    }
}

/// Starts of a program that might have run between the two readings: one more than those counted,
/// because the last one before might have been counted just before the first reading.
fn starts(before: &LoadCounts, after: &LoadCounts, starting: bool) -> u64 {
    let restarts = after.restarts.saturating_sub(before.restarts);
    restarts + u64::from(starting || after.restarts > 0)
}

/// Time that a load without proof would have needed at its rate, if that is longer than the
/// `elapsed_ns` it was given; `None` if the length of the segment is not what it lacked.
fn time_needed(
    load: &PlannedLoad,
    before: &LoadCounts,
    after: &LoadCounts,
    elapsed_ns: u64,
    running_ns: u64,
) -> Option<u64> {
    if after.ended {
        return None;
    }
    let needed_ns = match &load.work {
        // One step of the counter, at the rate of the fastest worker since the start.
        Work::BuiltIn(_) => running_ns.checked_div(*after.workers.iter().max()?)?,
        Work::Program(_) => {
            let restarts = after.restarts.saturating_sub(before.restarts);
            let first = starts(before, after, false) - restarts;
            let elapsed_us = elapsed_ns as f64 / 1e3;
            let cpu_us = after.cpu_us.saturating_sub(before.cpu_us) as f64;
            let bytes = after.io_bytes.saturating_sub(before.io_bytes) as f64;
            // A longer segment has more restarts at the same rate.
            let rate = |of: f64, start: u64| (of - (restarts * start) as f64) / elapsed_us;
            let (cpu, moved) = (rate(cpu_us, START_CPU_US), rate(bytes, START_BYTES));
            let least = LEAST_CPU_PER_MILLE as f64 / 1e3;
            // Both lower limits of the CPU time must be reached, or the one of the bytes.
            let start_us = (first * START_CPU_US) as f64;
            let by_cpu = (cpu > least)
                .then(|| ((start_us + LEAST_CPU_US as f64) / cpu).max(start_us / (cpu - least)));
            let spare = moved - LEAST_BYTES_PER_SECOND as f64 / 1e6;
            let by_bytes = (spare > 0.0).then(|| (first * START_BYTES) as f64 / spare);
            let soonest = by_cpu.into_iter().chain(by_bytes).reduce(f64::min)?;
            (soonest * 1e3) as u64
        }
    };
    (needed_ns > elapsed_ns).then_some(needed_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Disturbance;
    use crate::plan::{Job, Program, Unit};

    fn built_in() -> PlannedLoad {
        PlannedLoad {
            name: "memory".into(),
            disturbs: vec![Disturbance::MemoryBandwidth],
            unit: Unit {
                name: "MiB".into(),
                steps: 1 << 20,
            },
            cpus: vec![0, 1],
            workers: 2,
            first_slot: 1,
            work: Work::BuiltIn(Job::Memory {
                bytes: 4096,
                chases: false,
            }),
            notes: vec![],
            working_set_bytes: Some(4096),
            device: None,
        }
    }

    fn program() -> PlannedLoad {
        let program = Program {
            path: "/bin/sleep".into(),
            arguments: vec!["100".into()],
            directory: None,
            version_argument: None,
            stop_signal: 15,
            writes_stress_ng_report: false,
            companion: None,
        };
        let unit = Unit {
            name: "CPU seconds".into(),
            steps: 1_000_000,
        };
        PlannedLoad {
            work: Work::Program(program),
            unit,
            workers: 1,
            ..built_in()
        }
    }

    fn counts(workers: &[u64], cpu_us: u64, io_bytes: u64) -> LoadCounts {
        let (name, unit, steps) = ("memory".into(), "MiB".into(), 1 << 20);
        let workers = workers.to_vec();
        LoadCounts {
            name,
            unit,
            steps,
            workers,
            cpu_us,
            io_bytes,
            device_ns: 0,
            restarts: 0,
            ended: false,
        }
    }

    #[test]
    fn a_rate_is_the_work_of_the_segment_over_its_length() {
        let (before, after) = (counts(&[1 << 20, 0], 0, 0), counts(&[3 << 20, 0], 0, 0));
        let report = LoadReport::default();
        let proof = judge(
            &built_in(),
            &report,
            &before,
            &after,
            500_000_000,
            500_000_000,
            &[1],
        );
        assert_eq!((proof.work_done, proof.per_second), (2.0, 4.0));
        assert_eq!(proof.idle_workers, 1);
        assert!(proof.working && proof.shares_a_measured_cpu);
    }

    #[test]
    fn a_built_in_load_that_stood_still_in_the_segment_is_not_working() {
        let still = counts(&[5, 5], 9_000_000, 9_000_000);
        let report = LoadReport::default();
        let proof = judge(
            &built_in(),
            &report,
            &still,
            &still,
            1_000_000_000,
            5_000_000_000,
            &[],
        );
        assert!(!proof.working);
        assert_eq!(proof.reason.unwrap(), "no MiB done on CPUs 0-1 in 1.00 s");
    }

    #[test]
    fn a_program_needs_cpu_time_or_bytes_within_the_segment() {
        let report = LoadReport::default();
        let working = |cpu_us: u64, bytes: u64| {
            let (before, after) = (counts(&[], 50, 50), counts(&[], 50 + cpu_us, 50 + bytes));
            let elapsed_ns = 10_000_000_000;
            judge(
                &program(),
                &report,
                &before,
                &after,
                elapsed_ns,
                elapsed_ns,
                &[],
            )
            .working
        };
        assert!(!working(0, 0));
        assert!(!working(199_999, 655_359));
        assert!(working(200_000, 0));
        assert!(working(0, 655_360));
    }

    #[test]
    fn starting_an_idle_program_over_and_over_is_no_work() {
        let after = LoadCounts {
            restarts: 10,
            ..counts(&[], 200_000, 650_000)
        };
        let (report, before) = (LoadReport::default(), counts(&[], 0, 0));
        let second = 1_000_000_000;
        let proof = judge(&program(), &report, &before, &after, second, second, &[]);
        assert_eq!(
            proof.reason.unwrap(),
            "its processes used 200 ms of CPU time and moved 650 000 bytes in 1.00 s; it ended and \
             was started again 10 times"
        );
    }

    #[test]
    fn a_first_start_that_takes_its_time_is_no_work() {
        let (before, after) = (counts(&[], 0, 0), counts(&[], 10_000, 0));
        let report = LoadReport::default();
        let why =
            |starting| why_not_working(&program(), &report, &before, &after, 50_000_000, starting);
        assert_eq!(why(false), None);
        assert!(why(true).is_some());
    }

    #[test]
    fn a_segment_too_short_for_a_load_says_how_long_it_needs_and_that_length_suffices() {
        let report = LoadReport::default();
        // A worker that finishes a MiB every 400 ms, in a segment of 60 ms.
        let still = counts(&[3, 2], 0, 0);
        let proof = judge(
            &built_in(),
            &report,
            &still,
            &still,
            60_000_000,
            1_200_000_000,
            &[],
        );
        assert_eq!(
            proof.reason.unwrap(),
            "no MiB done on CPUs 0-1 in 60.0 ms; at its rate it needs 400 ms"
        );
        // One that never finished any has no rate.
        let none = counts(&[0, 0], 0, 0);
        let proof = judge(
            &built_in(),
            &report,
            &none,
            &none,
            60_000_000,
            1_200_000_000,
            &[],
        );
        assert!(proof.reason.unwrap().ends_with("in 60.0 ms"));
        // A program on half a CPU needs 10 ms of CPU time.
        let program = program();
        let of = |elapsed_ns: u64| {
            let (before, after) = (counts(&[], 0, 0), counts(&[], elapsed_ns / 2_000, 0));
            let proof = judge(
                &program,
                &report,
                &before,
                &after,
                elapsed_ns,
                elapsed_ns,
                &[],
            );
            (proof.working, proof.reason.unwrap_or_default())
        };
        let (working, why) = of(5_000_000);
        assert!(
            !working && why.ends_with("; at its rate it needs 20.0 ms"),
            "{why}"
        );
        assert!(of(20_000_000).0);
        // Below 2 % of a CPU no length is enough.
        let (before, after) = (counts(&[], 0, 0), counts(&[], 10_000, 0));
        let proof = judge(
            &program,
            &report,
            &before,
            &after,
            1_000_000_000,
            1_000_000_000,
            &[],
        );
        assert!(!proof.reason.unwrap().contains("it needs"));
    }

    #[test]
    fn a_load_that_ended_is_not_working_whatever_it_did_before() {
        let before = counts(&[0, 0], 0, 0);
        let after = LoadCounts {
            ended: true,
            ..counts(&[1 << 30, 1 << 30], 1, 1)
        };
        let report = LoadReport {
            ending: Some("signal 9".into()),
            ..LoadReport::default()
        };
        let proof = judge(
            &built_in(),
            &report,
            &before,
            &after,
            1_000_000_000,
            2_000_000_000,
            &[],
        );
        assert_eq!(
            (proof.working, proof.reason),
            (false, Some("signal 9".into()))
        );
    }
}
