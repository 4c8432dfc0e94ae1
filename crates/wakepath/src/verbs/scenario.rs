//! `wakepath scenario`: the built-in scenarios, and checks of your own file.

use crate::command_line::Scenario;
use std::fmt::Write;
use std::process::ExitCode;
use wakepath_console::terminal::{print, print_whole};
use wakepath_console::{Outcome, scenarios};
use wakepath_scenario::{KnownCpus, builtin, json_schema};
use wakepath_timeline::duration;
use wakepath_verdict::counted;

/// Lists, shows, checks.
pub fn run(verb: &Scenario) -> Outcome {
    match verb {
        Scenario::List => list(),
        Scenario::Show { name } => show(name),
        Scenario::Check { scenario } => check(scenario),
        Scenario::Tasks(wanted) => {
            print_whole(&wanted.wanted()?.to_toml()?)?;
            Ok(ExitCode::SUCCESS)
        }
        Scenario::Schema => {
            print_whole(&format!("{:#}\n", json_schema()))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn list() -> Outcome {
    let mut text = String::new();
    // Listed for any machine: whether this one has the CPUs is for `check` to say.
    let any_machine = KnownCpus::first(16);
    for builtin in builtin::all() {
        let scenario =
            wakepath_scenario::Scenario::parse(builtin.text, builtin.name, &any_machine)?;
        writeln!(text, "{:<16} {}", builtin.name, scenario.description)?;
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str) -> Outcome {
    let Some(builtin) = builtin::named(name) else {
        let names: Vec<_> = builtin::all().iter().map(|builtin| builtin.name).collect();
        return Err(format!(
            "no built-in scenario {name}; there are {}",
            names.join(", ")
        )
        .into());
    };
    print_whole(builtin.text)?;
    Ok(ExitCode::SUCCESS)
}

fn check(name: &str) -> Outcome {
    let host = scenarios::host_cpus()?;
    let (text, source) = scenarios::scenario_text(name)?;
    let (scenario, warnings) = scenarios::read_scenario(&text, &source, &host)?;
    let mut text = String::new();
    writeln!(
        text,
        "{source}: {}, {}, {} cycles each; takes about {}",
        counted(scenario.conditions(), "condition", "conditions"),
        counted(scenario.repetitions.into(), "repetition", "repetitions"),
        scenario.cycles,
        duration::long(scenario.estimated_run_ns() as f64 / 1e9)
    )?;
    for warning in warnings {
        writeln!(text, "warning: {warning}")?;
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
