//! `wakepath loads`: which disturbances there are, what each disturbs, and whether it can run here.

use crate::command_line::Loads;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use wakepath_console::Outcome;
use wakepath_console::terminal::print_result;
use wakepath_load::{Disturbance, Offered, offered};
use wakepath_report::{Cell, Style, Table, Tone, words};

/// Looks and shows.
pub fn run(arguments: &Loads) -> Outcome {
    let loads = offered(Path::new("."))?;
    let text = if arguments.json {
        format!("{}\n", serde_json::to_string_pretty(&loads)?)
    } else {
        to_text(&loads)?
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn to_text(loads: &[Offered]) -> Result<String, Box<dyn std::error::Error>> {
    let mut table = Table::new("Load")
        .column(words("from"))
        .column(words("here"))
        .column(words("disturbs"));
    for load in loads {
        let from = if load.is_built_in {
            "built in"
        } else {
            "program"
        };
        let here = match &load.lacks {
            None => Cell::Toned("yes".into(), Tone::Good),
            Some(_) => Cell::Toned("no".into(), Tone::Bad),
        };
        let disturbs: Vec<String> = load.disturbs.iter().map(name).collect();
        let disturbs = if disturbs.is_empty() {
            "depends on its arguments".to_owned()
        } else {
            disturbs.join(", ")
        };
        table.row(
            load.name.to_owned(),
            vec![from.into(), here, disturbs.into()],
        );
    }
    let mut text = table.to_terminal(Style::of_stdout().columns);
    writeln!(text)?;
    for load in loads {
        if let Some(lacks) = &load.lacks {
            writeln!(text, "{}: {lacks}", load.name)?;
        }
    }
    Ok(text)
}

/// As JSON calls it, with spaces.
fn name(disturbance: &Disturbance) -> String {
    let word = serde_json::to_value(disturbance).ok();
    let word = word.as_ref().and_then(|word| word.as_str());
    word.unwrap_or("unknown").replace('-', " ")
}
