//! A run that a larger measurement orders: the order on standard input, the reply on standard output.

use super::measured;
use crate::command_line::Output;
use std::io::Write;
use std::process::ExitCode;
use wakepath_console::run_order::{RunOrder, RunReply};
use wakepath_console::{Outcome, scenarios, terminal};

/// Measures, and replies.
pub fn run() -> ExitCode {
    let (reply, code) = match carry_out() {
        Ok(_) => (RunReply::Ended, ExitCode::SUCCESS),
        Err(error) => {
            let why = terminal::failure_text(&*error);
            (RunReply::Failed { why }, ExitCode::from(1))
        }
    };
    // Nobody may be waiting for it any more; the run is recorded all the same.
    let _ = serde_json::to_writer(&std::io::stdout(), &reply);
    let _ = std::io::stdout().flush();
    code
}

fn carry_out() -> Outcome {
    let order: RunOrder = serde_json::from_reader(std::io::stdin().lock()).map_err(|error| {
        format!("this run was ordered by a program of another version of wakepath ({error}); install both together")
    })?;
    let host = scenarios::host_cpus()?;
    let (scenario, warnings) =
        scenarios::read_scenario(&order.run.scenario, &order.run.source, &host)?;
    let output = Output::of_a_part(order);
    measured::measure(scenario, &scenarios::told(&warnings), host, &output)
}
