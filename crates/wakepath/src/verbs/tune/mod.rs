//! `wakepath tune`: a plan, its application, taking it back, and what a reboot needs.

mod applied;
mod boot;
mod trial;
mod unit;

use crate::command_line::{Tune, TunePlan};
use crate::inspected_loop;
use std::process::ExitCode;
use std::time::Duration;
use wakepath_console::terminal::{print_result, print_whole};
use wakepath_console::{Outcome, terminal};
use wakepath_machine::Root;
use wakepath_readiness::{Inspection, Report};
use wakepath_tuning::{Options, Plan, System};

/// Does what is asked.
pub fn run(arguments: &Tune) -> Outcome {
    match arguments {
        Tune::Plan(arguments) => {
            let (plan, _) = plan(&arguments.plan)?;
            let json = arguments.plan.json;
            match (json, arguments.dry_run) {
                (true, _) => {
                    print_result(json, &(serde_json::to_string_pretty(&plan)? + "\n"))?;
                }
                (false, true) => print_whole(&applied::commands(&plan.now))?,
                (false, false) => {
                    let columns = terminal::columns();
                    let text = if arguments.all {
                        format!("{plan:columns$}")
                    } else {
                        plan.in_short(columns)
                    };
                    print_result(json, &text)?;
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        Tune::Apply(arguments) => applied::apply(arguments),
        Tune::Revert(place) => applied::revert(place),
        Tune::Status(place) => applied::status(place),
        Tune::Boot(arguments) => boot::run(arguments),
        Tune::Trial(arguments) => trial::run(arguments),
        Tune::Unit(arguments) => unit::run(arguments),
    }
}

/// The plan for what the arguments mean, and where.
fn plan(arguments: &TunePlan) -> Result<(Plan, Root), Box<dyn std::error::Error>> {
    let root = inspected_loop::root(arguments.root.as_deref())?;
    let (subject, _) = inspected_loop::from_arguments(&arguments.subject, &root)?;
    let seen = Inspection::read(root.clone(), subject, Duration::ZERO);
    let report = Report::new(&seen);
    let options = Options {
        no_throttling: arguments.no_throttling,
    };
    Ok((Plan::new(&seen, &report, options), root))
}

/// Takes everything back when `input` ends: when the process that holds its other end is gone.
pub fn revert_after(mut input: impl std::io::Read) -> Result<(), Box<dyn std::error::Error>> {
    std::io::copy(&mut input, &mut std::io::sink())?;
    wakepath_tuning::revert_when_free(&System::host())?;
    Ok(())
}

/// Asks on the terminal; without one the answer is no.
fn agreed(question: &str) -> std::io::Result<bool> {
    use std::io::{BufRead, IsTerminal};
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    wakepath_console::terminal::ask(&format!("{question} [y/N]"))?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
