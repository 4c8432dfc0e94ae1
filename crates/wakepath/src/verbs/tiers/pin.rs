//! Drives a pin for `wakepath tiers`: under which policy, on which CPU, and where what came of it is kept. It
//! judges nothing.

use crate::command_line::Tiers;
use crate::machine_facts::refuse_offline;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::SystemTime;
use wakepath_archive::{Run, ThreadRecord, may_add};
use wakepath_console::terminal::{OneLine, tell};
use wakepath_console::{VERSION, option_value, run_directory, scenarios};
use wakepath_directory::Directory;
use wakepath_gpio::record::{PIN_NAME, PinRecord};
use wakepath_gpio::{LineName, Order, StepOrder};
use wakepath_machine::{Facts, Root};
use wakepath_rt::Preparation;
use wakepath_timeline::{Policy, duration};

type Failure = Box<dyn std::error::Error>;

/// From one edge to the next, in nanoseconds.
const HALF_PERIODS_NS: [u64; 8] = [
    10_000_000, 1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000,
];
/// CPU time in microseconds that the loop may take without sleeping: more than any wave lasts at which it
/// has no time to.
const GUARD_US: u64 = 2_000_000;

/// The line to drive and the one to read, where a pin is to be driven.
pub(super) fn lines(arguments: &Tiers) -> Result<Option<(LineName, LineName)>, Failure> {
    let line = |option: &str, text: &str| -> Result<LineName, Failure> {
        let read = text.parse();
        read.map_err(|error| format!("{option} {}: {error}", option_value::Shown(text)).into())
    };
    match (&arguments.drive, &arguments.read) {
        (None, None) => Ok(None),
        (Some(drive), Some(read)) => {
            let pair = (line("--drive", drive)?, line("--read", read)?);
            Ok(Some(pair))
        }
        (Some(drive), None) => Err(format!(
            "--drive {drive}: a line that is only driven shows nothing; wire a second line to it, and add \
             --read CHIP:LINE, where the kernel sees the edges"
        )
        .into()),
        (None, Some(read)) => Err(format!(
            "--read {read}: on a line that nothing drives there is nothing to see; add --drive CHIP:LINE, the \
             line that is wired to it"
        )
        .into()),
    }
}

/// Drives the line, and stores the result with the run.
pub(super) fn drive(
    arguments: &Tiers,
    (drive, read): (LineName, LineName),
    run: &Run,
) -> Result<(), Failure> {
    let facts = Facts::read(&Root::host());
    same_machine(run, &facts)?;
    let policy = match &arguments.policy {
        Some(text) => option_value::policy(text)?,
        None => best_policy(run)?,
    };
    refuse_unfit(policy)?;
    let cpus = match arguments.cpu {
        Some(cpu) => vec![cpu],
        None => loop_cpus(run)?,
    };
    refuse_offline(&cpus)?;
    // Before anything is driven: the findings are kept in the run.
    let trust = run_directory::trust(arguments.trust_directory);
    let directory = Directory::to_write(run.directory(), trust)?;
    may_add(&directory)?;
    let order = Order {
        reader: Preparation {
            policy: behind(policy),
            cpus: others(&cpus)?,
            ..Preparation::default()
        },
        preparation: Preparation {
            policy,
            cpus: Some(cpus),
            ..Preparation::default()
        },
        guard_us: GUARD_US,
        steps: HALF_PERIODS_NS
            .map(|half_period_ns| StepOrder {
                half_period_ns,
                edges: arguments.edges.into(),
            })
            .to_vec(),
        drive,
        read,
    };
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut command = Command::new("/proc/self/exe");
    command.arg0("wakepath").args(["internal", "pin"]);
    command.arg(std::process::id().to_string());
    let driven = wakepath_gpio::drive(command, &order, |half_period_ns| {
        tell!(
            "{} under {policy}: {} edges, one every {}",
            order.drive,
            arguments.edges,
            duration::exact(half_period_ns)
        );
    })?;
    let release = facts.fixed.kernel.release.known().cloned();
    let record = PinRecord {
        drive: order.drive.to_string(),
        read: order.read.to_string(),
        policy: driven.effective.policy.to_string(),
        cpus: driven.effective.cpus,
        shortfalls: driven.shortfalls,
        started,
        kernel: release.unwrap_or_else(|| "unknown".into()),
        wakepath: VERSION.into(),
        steps: driven.steps,
    };
    let text = serde_json::to_string(&record)? + "\n";
    directory
        .put(PIN_NAME, text.as_bytes())
        .map_err(|error| format!("{}: {error}", directory.path_of(PIN_NAME).display()))?;
    Ok(())
}

/// A run of another machine says nothing of this one's pins.
fn same_machine(run: &Run, here: &Facts) -> Result<(), Failure> {
    let there = run.manifest.facts.first();
    let there = there.and_then(|facts| Facts::of_json(&facts.facts).ok());
    let of = |facts: &Facts| {
        let release = facts.fixed.kernel.release.known().cloned();
        (release, facts.fixed.platform.clone())
    };
    match there.map(|there| of(&there) == of(here)) {
        Some(true) => Ok(()),
        _ => Err(format!(
            "{}: was measured on another machine or under another kernel, whose pins are not here; measure \
             here first: wakepath check --rate 1kHz",
            run.directory().in_one_line()
        )
        .into()),
    }
}

fn threads(run: &Run) -> impl Iterator<Item = &ThreadRecord> {
    let segments = run.manifest.segments.iter();
    segments.flat_map(|segment| &segment.threads)
}

/// The policy of the run's that serves the tier of 1 ms best, of those that can drive a pin.
fn best_policy(run: &Run) -> Result<Policy, Failure> {
    let tiers = wakepath_assess::Tiers::new(run)?;
    let shortest = tiers.tiers.iter().find(|tier| tier.outcome.is_some());
    let mut judged: Vec<_> = shortest.iter().flat_map(|tier| &tier.policies).collect();
    judged.sort_by_cached_key(|policy| (policy.outcome.exit_code(), policy.missed));
    let known = judged.iter().find_map(|judged| {
        let mut own = threads(run).map(|thread| thread.requested);
        own.find(|own| own.to_string() == judged.policy && refuse_unfit(*own).is_ok())
    });
    known.ok_or_else(|| {
        format!(
            "{}: none of its policies can drive a pin; say one, such as --policy 'FIFO 80'",
            run.directory().in_one_line()
        )
        .into()
    })
}

/// A reservation has one period, and here there are several; a core's thread leaves it with each call of Linux's.
fn refuse_unfit(policy: Policy) -> Result<(), Failure> {
    let why = match policy {
        Policy::Deadline { .. } => {
            "a reservation has one period, and a pin is driven at several".to_owned()
        }
        policy if policy.is_of_a_core() => format!(
            "driving a line is a call of Linux's, with which a thread leaves its real-time core; give {}",
            policy.nearest_in_linux()
        ),
        _ => return Ok(()),
    };
    Err(format!("--policy '{policy}': {why}").into())
}

fn loop_cpus(run: &Run) -> Result<Vec<u16>, Failure> {
    let first = threads(run).next();
    first.map(|thread| thread.cpus.clone()).ok_or_else(|| {
        format!(
            "{}: no loop ran in it; say a CPU, such as --cpu 0",
            run.directory().in_one_line()
        )
        .into()
    })
}

/// CPUs on which edges are recorded: not the loop's, if there are others.
fn others(cpus: &[u16]) -> Result<Option<Vec<u16>>, Failure> {
    let mut others = scenarios::host_cpus()?.allowed;
    others.retain(|cpu| !cpus.contains(cpu));
    Ok((!others.is_empty()).then_some(others))
}

/// Before all ordinary threads, and never before the loop.
fn behind(policy: Policy) -> Policy {
    let below = |priority: u8| priority.saturating_sub(1).max(1);
    match policy {
        Policy::Fifo { priority } | Policy::RoundRobin { priority } => Policy::Fifo {
            priority: below(priority),
        },
        _ => Policy::Other { nice: 0 },
    }
}
