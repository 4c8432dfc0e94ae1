//! A wrong command line, said in one line as every other wrong input. Not the definition of the
//! command line; that is `command_line`.

use crate::command_line::first_page;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::process::ExitCode;
use wakepath_archive::shell_word;
use wakepath_timeline::one_line as one_line_of;

/// Prints help, the version, or what is wrong and what would be right.
pub fn answer(said: &clap::Error) -> ExitCode {
    if is_first_page(said) {
        // Nothing typed is no answer: it must not look like one in a pipe.
        if said.use_stderr() {
            wakepath_console::terminal::tell_text(&first_page())
        } else {
            drop(wakepath_console::terminal::print(&first_page()))
        }
        return ExitCode::from(u8::from(said.use_stderr()));
    }
    let typed: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let better = without_dashes(said, &typed).or_else(|| of_cyclictest(said, &typed));
    wakepath_console::usage::answer(said, better)
}

/// The message for a wrong command line; help and versions are right.
pub fn refusal(said: &clap::Error) -> Result<(), String> {
    if said.use_stderr() {
        Err(wakepath_console::usage::one_line(said))
    } else {
        Ok(())
    }
}

/// Nothing typed, or the help of the whole program; `help --all` lists every command.
fn is_first_page(said: &clap::Error) -> bool {
    match said.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => std::env::args_os().len() <= 1,
        ErrorKind::DisplayHelp => is_of_the_whole_program(said),
        _ => false,
    }
}

/// No other command has `check` below it.
fn is_of_the_whole_program(said: &clap::Error) -> bool {
    said.to_string().contains("\nCommands:\n  check ")
}

/// An option of cyclictest that has another name here, or none.
fn of_cyclictest(said: &clap::Error, typed: &[String]) -> Option<String> {
    let verb = typed.first().map_or("", String::as_str);
    if said.kind() != ErrorKind::UnknownArgument || !matches!(verb, "check" | "rate") {
        return None;
    }
    let Some(ContextValue::String(option)) = said.get(ContextKind::InvalidArg) else {
        return None;
    };
    let here = match option.as_str() {
        "-i" => "the interval is a rate: -r 1kHz",
        "-D" => "the duration is -d, such as -d 10min",
        "-l" => "instead of a number of loops give a time, such as -d 10min",
        "-a" => "the loop's CPU is -c, such as -c 1",
        "-b" => "the limit that ends it is --stop-above, such as --stop-above 200us",
        "-m" => "memory is always locked; leave it out",
        "-n" => "clock_nanosleep is always used; leave it out",
        "-t" | "-S" => "several loops are tasks of a scenario: wakepath run",
        _ => return None,
    };
    Some(format!("{option} is an option of cyclictest; here {here}"))
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
        let word = shell_word(&program);
        return Some(format!(
            "{program}: check measures its own loop. Your program: wakepath record -- {word} if it links the \
             library, else wakepath watch -- {word}. A scenario file: wakepath run {word}"
        ));
    }
    let before: Vec<String> = typed[..at].iter().map(|word| shell_word(word)).collect();
    let from: Vec<String> = typed[at..].iter().map(|word| shell_word(word)).collect();
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
        for (wrong, right) in [
            (
                &["explain", "--cycle", "abc"][..],
                "--cycle abc: give a whole number, such as 3",
            ),
            (
                &["watch", "--for", "-5s"],
                "-5: no value is negative; see --help",
            ),
        ] {
            assert_eq!(said(wrong), right);
        }
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

    #[test]
    fn options_of_cyclictest_are_answered_with_those_of_here() {
        let better = |words: &[&str]| {
            let arguments = ["wakepath"].iter().chain(words);
            let error = CommandLine::try_parse_from(arguments).unwrap_err();
            let typed: Vec<String> = words.iter().map(ToString::to_string).collect();
            of_cyclictest(&error, &typed)
        };
        for (words, part) in [
            (&["check", "-i", "1000"], "-r 1kHz"),
            (&["check", "-D", "10s"], "-d"),
            (&["check", "-a", "1"], "-c"),
            (&["check", "-l", "1000"], "-d 10min"),
            (&["check", "-b", "200"], "--stop-above"),
        ] {
            let better = better(words).unwrap_or_default();
            assert!(better.contains(part), "{words:?}: {better}");
        }
        assert_eq!(better(&["check", "--polcy", "1"]), None);
    }
}
