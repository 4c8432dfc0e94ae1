//! The first page of help: the commands of the first hour in groups, each with the sentence of its definition, and the
//! families of the others by name.

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

/// Further families of commands.
const FAMILIES: [(&str, &[&str]); 6] = [
    ("Experiment", &["try"]),
    ("Analyse", &["bound", "tiers", "fly", "schedulability"]),
    ("Scenarios", &["scenario", "loads"]),
    ("Data", &["import", "export", "recover", "seal", "verify"]),
    ("Laboratory", &["lab", "experiment"]),
    ("Other", &["machine", "help", "completions", "man"]),
];

/// The definition without the commands that wakepath starts itself as.
pub fn visible() -> clap::Command {
    let all = CommandLine::command();
    let shown: Vec<clap::Command> = all
        .get_subcommands()
        .filter(|of| !of.is_hide_set())
        .cloned()
        .collect();
    let mut visible = clap::Command::new("wakepath")
        .about(all.get_about().cloned().unwrap_or_default())
        .after_help(all.get_after_help().cloned().unwrap_or_default())
        .version(super::VERSION)
        .disable_help_subcommand(true)
        .arg_required_else_help(true)
        .args(all.get_arguments().cloned());
    for command in shown {
        visible = visible.subcommand(command);
    }
    visible
}

/// Every command in its family, one line each.
pub fn every_command() -> String {
    let command = CommandLine::command();
    let mut page = "Usage: wakepath COMMAND [OPTIONS]\n".to_owned();
    for (family, names) in GROUPS.iter().chain(&FAMILIES) {
        write_group(&mut page, &command, family, names, 14);
    }
    page + "\nOne command: wakepath help COMMAND.\n"
}

fn write_group(
    page: &mut String,
    command: &clap::Command,
    group: &str,
    names: &[&str],
    width: usize,
) {
    let _ = writeln!(page, "\n{group}:");
    for name in names {
        let found = command
            .find_subcommand(name)
            .and_then(clap::Command::get_about);
        let about = found.map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "  {name:<width$} {}", about.trim_end_matches('.'));
    }
}

/// The page.
pub fn first_page() -> String {
    let command = CommandLine::command();
    let about = command.get_about().map(ToString::to_string);
    let mut page = about.unwrap_or_default() + "\n\nUsage: wakepath COMMAND [OPTIONS]\n";
    for (group, names) in GROUPS {
        write_group(&mut page, &command, group, names, 9);
    }
    page.push('\n');
    for (family, names) in FAMILIES {
        let _ = writeln!(page, "{:<12} {}", format!("{family}:"), names.join(", "));
    }
    page + "\nExamples: wakepath check --quick; wakepath check -r 1kHz -c 1 --latency 100us\n\
            Options: -q, --quiet; --color auto|always|never; -h, --help; -V, --version\n\
            Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 undecided.\n\
            Details: wakepath help COMMAND; wakepath help --all\n"
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
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .chain(&FAMILIES)
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let visible = visible();
        let mut all: Vec<&str> = visible
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all, "each command has one family");
        assert!(!all.contains(&"internal"));
        assert!(page.lines().count() <= 40, "{page}");
        let about = command.get_about().map(ToString::to_string).unwrap();
        let wide = page
            .lines()
            .find(|line| line.chars().count() > 80 && *line != about);
        assert_eq!(wide, None);
    }
}
