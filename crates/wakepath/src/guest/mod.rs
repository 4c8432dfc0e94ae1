//! The measurement in a guest: as any run, in the first process of the machine.

mod canary;

use crate::beginning::{Command, run_started};
use crate::view::{Follower, Part, PhaseFacts};
use crate::{inspected_loop, machine_facts};
use canary::WithCanary;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use wakepath_console::scenarios;
use wakepath_directory::{Directory, Trust};
use wakepath_guest::{Order, Ordered, first_process};
use wakepath_load::{Cache, Caches};
use wakepath_machine::{Facts, Root};
use wakepath_measure::{Interrupt, Measurement, Plan};
use wakepath_readiness::{Inspection, Report};
use wakepath_scenario::{KnownCpus, Scenario, Warning};

/// Runs as the first process; does not return there.
pub fn main() -> ExitCode {
    if let Err(error) = first_process(&measure) {
        wakepath_console::terminal::tell_failure(&error);
    }
    ExitCode::from(1)
}

fn measure(ordered: Ordered<'_>) -> Result<(), Box<dyn std::error::Error>> {
    let Ordered {
        order,
        scenario,
        directory,
        facts,
        in_vain,
    } = ordered;
    let host = scenarios::host_cpus()?;
    let known = KnownCpus::new(host.for_a_loop()).ok_or("no CPU can be used")?;
    let (scenario, warnings) = Scenario::parse_with_warnings(scenario, "the order", &known)?;
    let subject = inspected_loop::of_scenario(&scenario, &host);
    let plan = Plan::new(&scenario, host).starting_apart(order.seed);
    let readiness = Report::new(&Inspection::read(Root::host(), subject, Duration::ZERO));
    let interrupt = Interrupt::listen()?;
    let bearing = |warning: &&Warning| !matches!(warning, Warning::TooShortToPass { .. });
    let notes = warnings.iter().filter(bearing).map(ToString::to_string);
    let clock_source = machine_facts::clock_source(facts);
    let mut start = run_started(
        &scenario,
        clock_source,
        notes.collect(),
        SystemTime::now(),
        Command::of_this_process(),
    )?;
    start.notes.extend(in_vain);
    let observer = Follower::new(&scenario.name, PhaseFacts::default(), Part::default(), true);
    let mut observer = WithCanary::new(observer, directory);
    Measurement {
        scenario: &scenario,
        plan: &plan,
        directory: &Directory::make(directory, Trust::Own)?,
        start,
        caches: caches(order, facts),
        printed_before: Vec::new(),
        readiness: readiness.to_json()?,
        observer: &mut observer,
        interrupt: &interrupt,
    }
    .carry_out()?;
    Ok(())
}

/// The caches that loads are made for: those that the kernel knows, otherwise those of the order.
fn caches(order: &Order, facts: &Facts) -> Caches {
    let known = machine_facts::caches(facts);
    let Some(ordered) = order.caches_bytes.filter(|_| known == Caches::default()) else {
        return known;
    };
    let [l1d, l2, l3] = ordered.map(|bytes| {
        let shared_by_cpus = 1;
        (bytes > 0).then_some(Cache {
            bytes,
            shared_by_cpus,
        })
    });
    Caches { l1d, l2, l3 }
}
