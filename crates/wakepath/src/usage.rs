//! A wrong command line, said in one line as every other wrong input. Not the definition of the
//! command line; that is `command_line`.

use crate::command_line::first_page;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::process::ExitCode;
use wakepath_console::usage::quoted;
use wakepath_timeline::one_line as one_line_of;

/// Prints help, the version, or what is wrong and what would be right.
pub fn answer(said: &clap::Error) -> ExitCode {
    if is_first_page(said) {
        // Nothing typed is no answer: it must not look like one in a pipe.
        match said.use_stderr() {
            true => wakepath_console::terminal::tell_text(&first_page()),
            false => drop(wakepath_console::terminal::print(&first_page())),
        }
        return ExitCode::from(u8::from(said.use_stderr()));
    }
    let typed: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    wakepath_console::usage::answer(said, without_dashes(said, &typed))
}

/// The message for a wrong command line; help and versions are right.
pub fn refusal(said: &clap::Error) -> Result<(), String> {
    match said.use_stderr() {
        true => Err(wakepath_console::usage::one_line(said)),
        false => Ok(()),
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::CommandLine;
    use clap::Parser;
    use wakepath_console::usage::one_line;

    fn said(arguments: &[&str]) -> String {
        let arguments = ["wakepath"].iter().chain(arguments);
        let error = CommandLine::try_parse_from(arguments).unwrap_err();
        one_line(&error)
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
