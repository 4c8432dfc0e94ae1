//! A wrong command line, said in one line as every other wrong input. Not the definition of the
//! command line; that is `command_line`.

use crate::command_line::first_page;
use crate::terminal::tell;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::process::ExitCode;
use wakepath_timeline::one_line as one_line_of;

/// Help and version end well, a wrong command line with 1: clap's own 2 means "criterion not met"
/// here, and a script must not read a misspelt option as a verdict.
pub fn answer(said: &clap::Error) -> ExitCode {
    if is_first_page(said) {
        // Nothing typed is no answer: it must not look like one in a pipe.
        match said.use_stderr() {
            true => crate::terminal::tell_text(&first_page()),
            false => drop(crate::terminal::print(&first_page())),
        }
        return ExitCode::from(u8::from(said.use_stderr()));
    }
    let typed: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    answer_plainly(said, without_dashes(said, &typed))
}

/// The same without a first page, with a line that helps more than clap's own, if there is one.
pub fn answer_plainly(said: &clap::Error, better: Option<String>) -> ExitCode {
    if said.use_stderr() && said.kind() != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let line = better.or_else(|| of_a_word(said));
        let line = line.unwrap_or_else(|| one_line(&said.render().to_string()));
        tell!("wakepath: {line}");
    } else {
        // Nobody left to read it changes nothing about the answer.
        let _ = said.print();
    }
    ExitCode::from(u8::from(said.use_stderr()))
}

/// Nothing typed, or the short help of the whole program; `--help` lists every command.
fn is_first_page(said: &clap::Error) -> bool {
    let typed: Vec<_> = std::env::args_os().skip(1).collect();
    match said.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => typed.is_empty(),
        ErrorKind::DisplayHelp => typed == ["-h"],
        _ => false,
    }
}

/// A program to start comes after `--`, so that its options stay its own.
fn without_dashes(said: &clap::Error, typed: &[String]) -> Option<String> {
    let verb = typed.first().map_or("", String::as_str);
    let unknown = said.kind() == ErrorKind::UnknownArgument;
    if !unknown || !matches!(verb, "watch" | "exec" | "check" | "record") {
        return None;
    }
    let Some(ContextValue::String(program)) = said.get(ContextKind::InvalidArg) else {
        return None;
    };
    let at = typed.iter().position(|word| word == program)?;
    let program = one_line_of(program);
    if program.starts_with('-') {
        return None;
    }
    if verb == "check" {
        return Some(format!(
            "{program}: check measures its own loop. Your program: wakepath record -- {program} if it links the \
             library, else wakepath watch -- {program}. A scenario file: wakepath run {program}"
        ));
    }
    let before: Vec<String> = typed[..at].iter().map(|word| quoted(word)).collect();
    let from: Vec<String> = typed[at..].iter().map(|word| quoted(word)).collect();
    Some(format!(
        "{program}: put the program after `--`: wakepath {} -- {}",
        before.join(" "),
        from.join(" ")
    ))
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
            Some(format!(
                "{option} {value}: {}",
                one_line_of(&why.to_string())
            ))
        }
        ErrorKind::UnknownArgument => {
            let option = text(ContextKind::InvalidArg)?;
            // What is no option is a word too many.
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

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let word = one_line_of(word);
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%µ".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// What is wrong and clap's advice, without the repetition of the usage.
fn one_line(rendered: &str) -> String {
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
            line.push_str(match line.ends_with(':') || part.starts_with('[') {
                true => " ",
                false => "; ",
            });
        }
        line.push_str(part);
    }
    line.push_str("; see --help");
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::CommandLine;
    use clap::Parser;

    fn said(arguments: &[&str]) -> String {
        let arguments = ["wakepath"].iter().chain(arguments);
        let error = CommandLine::try_parse_from(arguments).unwrap_err();
        of_a_word(&error).unwrap_or_else(|| one_line(&error.render().to_string()))
    }

    #[test]
    fn a_wrong_command_line_is_one_line_with_what_would_be_right() {
        assert_eq!(
            said(&["check", "--polcy", "FIFO 80"]),
            "--polcy: there is no such option; did you mean --policy?"
        );
        for (unlike, like) in [
            ("--rate", "--polcy"),
            ("--bate", "--laten"),
            ("--hz", "--dettails"),
        ] {
            let verb = |word| {
                if word == "--dettails" {
                    "show"
                } else {
                    "check"
                }
            };
            let (verb, of_rate) = (verb(like), said(&["rate", unlike, "100"]));
            assert!(of_rate.ends_with("see --help"), "{of_rate}");
            let meant = said(&[verb, like, "1"]);
            assert!(meant.contains("did you mean --"), "{meant}");
        }
        assert_eq!(
            said(&["rate", "--hertz", "100"]),
            "--hertz: there is no such option; see --help"
        );
        assert_eq!(
            said(&["run"]),
            "the following required arguments were not provided: <SCENARIO>; see --help"
        );
        assert_eq!(
            said(&["chekc"]),
            "chekc: there is no such command; did you mean check?"
        );
        assert_eq!(
            said(&["show", "a", "b"]),
            "unexpected argument 'b' found; see --help"
        );
        for wrong in [&["chekc"][..], &["completions", "tcsh"]] {
            assert!(!said(wrong).contains('\n'), "{wrong:?}");
        }
    }

    #[test]
    fn a_program_without_dashes_before_it_is_told_where_it_stands() {
        let of = |arguments: &[&str]| {
            let all = ["wakepath"].iter().chain(arguments);
            let error = CommandLine::try_parse_from(all).unwrap_err();
            let typed: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            without_dashes(&error, &typed)
        };
        assert_eq!(
            of(&["watch", "./loop"]).as_deref(),
            Some("./loop: put the program after `--`: wakepath watch -- ./loop")
        );
        assert_eq!(
            of(&["exec", "--policy", "FIFO 50", "--cpu", "1", "./loop", "a b"]).as_deref(),
            Some(
                "./loop: put the program after `--`: wakepath exec --policy 'FIFO 50' --cpu 1 -- \
                 ./loop 'a b'"
            )
        );
        assert_eq!(
            of(&["record", "--idle", "./loop"]).as_deref(),
            Some("./loop: put the program after `--`: wakepath record --idle -- ./loop")
        );
        assert_eq!(of(&["watch", "--fro", "2s"]), None);
        let said = of(&["check", "./loop"]).unwrap();
        assert!(said.contains("wakepath watch -- ./loop"), "{said}");
    }

    #[test]
    fn a_loop_has_one_cpu() {
        let refused = said(&["check", "--cpu", "1,2"]);
        let begin = "--cpu 1,2: the loop runs on one CPU: give one of them, such as 1";
        assert!(refused.starts_with(begin), "{refused}");
        assert!(!refused.contains('\n'), "{refused}");
        let refused = said(&["check", "--cpu", "x"]);
        assert!(refused.contains("the number of a CPU"), "{refused}");
    }
}
