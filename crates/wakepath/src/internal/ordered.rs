//! Runs and watches that a larger measurement orders: the order on standard input, the reply on standard output.

use crate::command_line::{Output, Watch};
use crate::measured_run::{self, RunContext};
use crate::verbs::watch;
use serde::de::DeserializeOwned;
use std::io::{Read, Write};
use std::process::ExitCode;
use wakepath_console::run_order::{RunOrder, RunReply};
use wakepath_console::{Outcome, scenarios, terminal};

/// Measures, and replies.
pub fn run() -> ExitCode {
    replied(carry_out())
}

/// Watches, and replies.
pub fn watch() -> ExitCode {
    replied(
        order().and_then(|order| match watch::run(&Watch::of_a_part(order))? {
            ExitCode::SUCCESS => Ok(ExitCode::SUCCESS),
            _ => Err("no thread was seen to wake up".into()),
        }),
    )
}

fn replied(outcome: Outcome) -> ExitCode {
    let (reply, code) = match outcome {
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

fn order<T: DeserializeOwned>() -> Result<T, Box<dyn std::error::Error>> {
    let mut text = Vec::new();
    std::io::stdin().lock().read_to_end(&mut text)?;
    let read = serde_json::from_slice(&text);
    read.map_err(|error| {
        format!("this run was ordered by a program of another version of wakepath ({error}); install both together")
            .into()
    })
}

fn carry_out() -> Outcome {
    let order: RunOrder = order()?;
    let host = scenarios::host_cpus()?;
    let (scenario, warnings) =
        scenarios::read_scenario(&order.run.scenario, &order.run.source, &host)?;
    let output = Output::of_a_part(order);
    let notes = scenarios::notes(&warnings);
    measured_run::measure(scenario, RunContext::noted(notes), host, &output)
}
