//! `wakepath record`: the loops of a program of the user's own, asked for and made into a scenario, which
//! is then measured like any other. It starts the program for the question alone.

use crate::command_line::Record;
use crate::measured_run::{self, RunContext};
use crate::program_scenario::{ProgramLoops, command_of, scenario_name};
use crate::{criterion_options, executable, service};
use std::process::ExitCode;
use wakepath_console::terminal::tell;
use wakepath_console::{Outcome, option_value, scenarios};
use wakepath_measure::{AnnouncedLoop, Discovered, Interrupt, loops_of};
use wakepath_scenario::parse_policy;
use wakepath_timeline::{CpuSet, Overrun};

/// A period that DEADLINE may have, where the loop's own is not known yet: the kernel's longest is 4.19 s.
const LONG_PERIOD_NS: u64 = 4_000_000_000;

/// Measures and judges.
pub fn run(arguments: &Record) -> Outcome {
    let (program, rest) = arguments.command.split_first().ok_or("no program given")?;
    let file = match executable::find(program)? {
        Ok(file) => file,
        Err((code, why)) => {
            tell!("wakepath: {why}");
            return Ok(ExitCode::from(code));
        }
    };
    if let Some(directory) = &arguments.service {
        return service::run(arguments, &file, directory);
    }
    let host = scenarios::host_cpus()?;
    scenarios::check_cpu(arguments.cpu, &host)?;
    let command = command_of(&file, rest)?;
    // Faults that are known early are reported before the program is started.
    for policy in &arguments.policy {
        // The share of a reservation is held against the loop's period, which only the program knows.
        let policy_of = parse_policy(policy, LONG_PERIOD_NS);
        policy_of
            .map_err(|complaint| option_value::OptionError::new("--policy", policy, complaint))?;
    }
    option_value::time("--duration", Some(&arguments.duration))?;
    let (text, source) = scenarios::scenario_text(&arguments.loads)?;
    let criterion = criterion_options::table(&arguments.limits)?;
    let interrupt = Interrupt::listen()?;
    let Discovered { loops, printed } = loops_of(&command, &interrupt)?;
    drop(interrupt);
    for one in &loops {
        tell!("{}", description(one));
    }
    let program_loops = ProgramLoops {
        name: scenario_name(&file),
        command,
        loops,
        criterion,
        policies: &arguments.policy,
        cpu: arguments.cpu,
        idle: arguments.idle,
    };
    let text = program_loops
        .put_into(&text)
        .map_err(|error| format!("{source}: {error}"))?;
    let from = format!("wakepath record -- {}", program.display());
    let (mut scenario, warnings) = scenarios::read_scenario(&text, &from, &host)?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    // The time asked for is the program's.
    scenario.core_latency_ns = None;
    let (scenario, warnings) =
        scenarios::fit_duration(&scenario, warnings, "--duration", &arguments.duration)?;
    let context = RunContext {
        printed,
        ..RunContext::noted(scenarios::notes(&warnings))
    };
    measured_run::measure(scenario, context, host, &arguments.output)
}

fn description(one: &AnnouncedLoop) -> String {
    let overrun = match one.overrun {
        Overrun::Skip => "",
        Overrun::CatchUp => ", catches up after an overrun",
        Overrun::Stop => ", stops at an overrun",
    };
    format!(
        "{}: every {}, {}, CPU {}{overrun}",
        one.name,
        wakepath_timeline::duration::length(one.period_ns),
        one.policy,
        CpuSet::from(&one.cpus[..])
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::Policy;

    #[test]
    fn a_loop_is_described_with_its_overrun_unless_it_skips() {
        let attitude = |overrun| AnnouncedLoop {
            name: "attitude".into(),
            period_ns: 4_000_000,
            overrun,
            policy: Policy::Fifo { priority: 80 },
            cpus: vec![1],
        };
        assert_eq!(
            description(&attitude(Overrun::Skip)),
            "attitude: every 4 ms, FIFO 80, CPU 1"
        );
        assert_eq!(
            description(&attitude(Overrun::CatchUp)),
            "attitude: every 4 ms, FIFO 80, CPU 1, catches up after an overrun"
        );
    }
}
