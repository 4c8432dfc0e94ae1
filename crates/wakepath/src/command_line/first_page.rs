//! The first page of help: the commands of the first hour in groups, each with the sentence of its definition. The
//! whole list is clap's own.

use super::CommandLine;
use clap::CommandFactory;
use std::fmt::Write;

/// Groups of commands, in the order of their use.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Measure", &["check", "record", "watch", "run", "rate"]),
    ("Understand", &["show", "explain", "report"]),
    ("Keep track", &["runs", "compare"]),
    ("Improve", &["doctor", "tune", "exec"]),
];

/// The page.
pub fn first_page() -> String {
    let command = CommandLine::command();
    let about = command.get_about().map(ToString::to_string);
    let mut page = about.unwrap_or_default() + "\n\nUsage: wakepath COMMAND [OPTIONS]\n";
    for (group, names) in GROUPS {
        let _ = writeln!(page, "\n{group}:");
        for name in names {
            let found = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = found.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(page, "  {name:<9} {}", about.trim_end_matches('.'));
        }
    }
    page + "\nExamples:\n  \
            wakepath check --quick              a verdict after twelve seconds\n  \
            wakepath check -r 1kHz -c 3 --latency 100us\n  \
            wakepath watch -p 1234 --for 60s    any program, unchanged\n  \
            wakepath show --histogram           the latest run\n\n\
            Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 undecided.\n\n\
            All commands: wakepath help --all. One command: wakepath help COMMAND.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_page_is_there_and_the_page_fits_a_terminal() {
        let page = first_page();
        let command = CommandLine::command();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
        assert_eq!(
            GROUPS.iter().map(|(_, names)| names.len()).sum::<usize>(),
            13
        );
        assert!(page.lines().count() <= 40, "{page}");
        let about = command.get_about().map(ToString::to_string).unwrap();
        let wide = page
            .lines()
            .find(|line| line.chars().count() > 80 && *line != about);
        assert_eq!(wide, None);
    }
}
