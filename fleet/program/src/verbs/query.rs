//! `wakepath-fleet query`: a question in SQL.

use super::archive::Opened;
use super::{Outcome, archive};
use crate::command_line::{EngineName, Query};
use crate::terminal::{print, tell_line};
use std::process::ExitCode;
use wakepath_fleet_archive::Hold;
use wakepath_fleet_query::{Cluster, Engine, NAMED, Tables, Text, ask, named};

/// Longest file that is read.
const LONGEST: u64 = 1 << 20;

/// Answers it.
pub fn run(arguments: &Query) -> Outcome {
    let Some(question) = &arguments.question else {
        return list();
    };
    let sql = match named(question) {
        Some(named) => named.sql.to_owned(),
        None => read(question)?,
    };
    let text = Text::new(&sql)?;
    if arguments.show {
        print(&sql)?;
        return Ok(ExitCode::SUCCESS);
    }
    let engine = match arguments.engine {
        EngineName::Embedded => Engine::Embedded,
        EngineName::Spark => Engine::Spark(Cluster::new(
            arguments.master.clone(),
            arguments.settings.clone(),
        )?),
    };
    let store = archive::open(&arguments.at.of)?;
    // Nobody sweeps while it is read.
    let _held = store.hold(Hold::Reading)?;
    let Opened {
        store,
        all,
        left_out,
    } = Opened::new(store, &arguments.at)?;
    let counting = all.without(|run| left_out.why.contains_key(run));
    let tables = Tables::new(&*store, &counting, &text)?;
    let answered = ask(&tables, &text, &engine)?;
    let answer = &answered.answer;
    print(&match (arguments.json, arguments.csv) {
        (true, _) => answer.to_json(),
        (_, true) => answer.to_csv().replace('\r', ""),
        _ => answer.to_text(),
    })?;
    left_out.tell();
    tell_line(&format!("checked: {}", answered.checked));
    Ok(ExitCode::SUCCESS)
}

fn list() -> Outcome {
    let width = NAMED
        .iter()
        .map(|named| named.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for named in NAMED {
        text += &format!("{:<width$}  {}\n", named.name, named.about);
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &str) -> Result<String, Box<dyn std::error::Error>> {
    let found = std::fs::metadata(path).map_err(|error| {
        let names = NAMED.map(|named| named.name).join(", ");
        format!("{path}: {error}; it is none of the names either: {names}")
    })?;
    if found.len() > LONGEST {
        return Err(format!("{path}: is longer than 1 MB").into());
    }
    Ok(std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?)
}
