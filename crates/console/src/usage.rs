//! Answers a wrong command line in one line, as every other wrong input.

use crate::{tell, terminal};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::num::{IntErrorKind, ParseIntError};
use std::process::ExitCode;
use wakepath_report::Style;
use wakepath_timeline::one_line as one_line_of;

/// Help and version end well, a wrong command line with 1: clap's own 2 means "criterion not met"
/// here, and a script must not read a misspelt option as a verdict.
///
/// Prints the answer, with a line that helps more than clap's own, if there is one.
pub fn answer(said: &clap::Error, better: Option<String>) -> ExitCode {
    if said.use_stderr() && said.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let line = better.unwrap_or_else(|| one_line(said));
        tell!("wakepath: {line}");
    } else if said.use_stderr() || !is_paged(said) {
        // Nobody left to read it changes nothing about the answer.
        let _ = said.print();
    }
    ExitCode::from(u8::from(said.use_stderr()))
}

/// Whether a pager showed the help. It must not inherit capabilities, and help needs none.
fn is_paged(said: &clap::Error) -> bool {
    let help = said.render();
    let text = if Style::of_stdout().colour {
        help.ansi().to_string()
    } else {
        help.to_string()
    };
    wakepath_programs::rights::give_up().is_ok() && terminal::is_paged(&text)
}

/// The error in one line, with what would be right.
pub fn one_line(said: &clap::Error) -> String {
    of_a_word(said).unwrap_or_else(|| shortened(&said.render().to_string()))
}

/// One word that is wrong: first the word as it was typed, then what would be right.
fn of_a_word(said: &clap::Error) -> Option<String> {
    let text = |kind| match said.get(kind) {
        Some(ContextValue::String(text)) => Some(one_line_of(text)),
        Some(ContextValue::Strings(texts)) => texts.first().map(|text| one_line_of(text)),
        _ => None,
    };
    let meant = |typed: &str, kind| match text(kind) {
        Some(meant) if looks_like(typed, &meant) => format!("did you mean {meant}?"),
        _ => "see --help".to_owned(),
    };
    match said.kind() {
        ErrorKind::ValueValidation => {
            let (option, value) = (
                text(ContextKind::InvalidArg)?,
                text(ContextKind::InvalidValue)?,
            );
            let option = option.split(' ').next().unwrap_or_default();
            let why = std::error::Error::source(said)?;
            let number = why.downcast_ref::<ParseIntError>().map(ParseIntError::kind);
            let why = match number {
                Some(IntErrorKind::PosOverflow) => "is too large".to_owned(),
                Some(_) => "give a whole number, such as 3".to_owned(),
                None => one_line_of(&why.to_string()),
            };
            Some(format!("{option} {value}: {why}"))
        }
        ErrorKind::UnknownArgument => {
            let option = text(ContextKind::InvalidArg)?;
            // Anything else is a surplus argument.
            let is_number = option
                .get(1..)
                .unwrap_or_default()
                .starts_with(|first: char| first.is_ascii_digit());
            if option.starts_with('-') && is_number {
                return Some(format!("{option}: no value is negative; see --help"));
            }
            option.starts_with('-').then(|| {
                let meant = meant(&option, ContextKind::SuggestedArg);
                format!("{option}: there is no such option; {meant}")
            })
        }
        ErrorKind::InvalidSubcommand => {
            let command = text(ContextKind::InvalidSubcommand)?;
            let meant = meant(&command, ContextKind::SuggestedSubcommand);
            Some(format!("{command}: there is no such command; {meant}"))
        }
        _ => None,
    }
}

/// Whether one word is a misspelling or the beginning of the other: clap's own measure finds `--latency` in `--rate`.
/// One mistake leaves a common beginning and end of at least half of the longer word.
fn looks_like(typed: &str, meant: &str) -> bool {
    let (typed, meant) = (typed.trim_start_matches('-'), meant.trim_start_matches('-'));
    let same = |a: &mut dyn Iterator<Item = char>, b: &mut dyn Iterator<Item = char>| {
        a.zip(b).take_while(|(a, b)| a == b).count()
    };
    let begin = same(&mut typed.chars(), &mut meant.chars());
    let end = same(&mut typed.chars().rev(), &mut meant.chars().rev());
    let (short, long) = {
        let (a, b) = (typed.chars().count(), meant.chars().count());
        (a.min(b), a.max(b))
    };
    let is_begin = begin == short && short >= 3;
    is_begin || 2 * (begin + end).min(short) >= long
}

/// The fault and clap's advice, without the repetition of the usage.
fn shortened(rendered: &str) -> String {
    let mut line = String::new();
    for part in rendered.lines().map(str::trim) {
        if part.starts_with("Usage:") || part.starts_with("For more information") {
            continue;
        }
        let part = part.strip_prefix("error: ").unwrap_or(part);
        let part = part.strip_prefix("tip: ").unwrap_or(part);
        // Nobody who mistypes an option means it as a value.
        if part.is_empty() || part.starts_with("to pass '") {
            continue;
        }
        if !line.is_empty() {
            line.push_str(if line.ends_with(':') || part.starts_with('[') {
                " "
            } else {
                "; "
            });
        }
        line.push_str(part);
    }
    line.push_str("; see --help");
    line
}
