//! `wakepath-fleet tune`: `wakepath tune` on boards, each board's lines under its name.

use super::{Outcome, meant, ssh};
use crate::command_line::Tune;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_boards::{each, is_plain, tune};

/// Verbs of `tune` for boards; a trial measures, so it is a separate run.
const VERBS: [&str; 4] = ["plan", "apply", "revert", "status"];

/// Calls it.
pub fn run(arguments: &Tune) -> Outcome {
    let words = &arguments.words;
    if !words
        .first()
        .is_some_and(|verb| VERBS.contains(&verb.as_str()))
    {
        return Err(format!(
            "-- {}: plan, apply, revert or status is done on boards",
            words.join(" ")
        )
        .into());
    }
    if words[0] == "apply"
        && !words
            .iter()
            .any(|word| word == "--yes" || word == "--dry-run")
    {
        return Err("-- apply: nobody can be asked on a board; say --yes, or --dry-run".into());
    }
    if let Some(word) = words.iter().find(|word| !is_plain(word)) {
        return Err(
            format!("{word:?}: a word for boards has letters, digits and . _ , : = % + -").into(),
        );
    }
    let boards = meant(&arguments.boards)?;
    let ssh = ssh(&arguments.reached);
    let tuned = each(&boards, arguments.reached.at_once, |board| {
        tune(&ssh, board, words)
    });
    let (mut text, mut code) = (String::new(), 0);
    for (board, tuned) in boards.iter().zip(tuned) {
        text += &format!("{}\n", board.name);
        let (of, lines) = match tuned {
            Ok(tuned) => (tuned.code, tuned.lines),
            Err(error) => (1, vec![error.to_string()]),
        };
        for line in lines {
            text += &format!("  {line}\n");
        }
        code = match (code, of) {
            (1, _) | (_, 0) => code,
            (_, 3) => 3,
            _ => 1,
        };
    }
    print(&text)?;
    Ok(ExitCode::from(code))
}
