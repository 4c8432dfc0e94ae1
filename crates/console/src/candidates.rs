//! Candidates for the word that is being typed, from the definition of a command line. [`candidates`] reads no run and
//! no machine: values of a kind come from its caller.

use crate::{runs, terminal};
use clap::{Arg, Command};
use std::process::ExitCode;
use wakepath_timeline::one_line;

/// Kind of a value, by its name in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A recorded run.
    Run,
    /// A built-in scenario.
    Scenario,
    /// A scheduling policy.
    Policy,
    /// A CPU.
    Cpu,
    /// A vehicle.
    Vehicle,
}

impl Kind {
    fn new(argument: &Arg) -> Option<Self> {
        let names = argument.get_value_names()?;
        match names.first()?.as_str() {
            "RUN" | "RUNS" => Some(Self::Run),
            "SCENARIO" => Some(Self::Scenario),
            "POLICY" => Some(Self::Policy),
            "CPU" | "CPUS" => Some(Self::Cpu),
            "VEHICLE" => Some(Self::Vehicle),
            _ => None,
        }
    }
}

/// A word with what it is.
pub type Candidate = (String, String);

/// Prints the candidates for the last word, each with what it is after a tab; exit code 1 if there are none.
pub fn print(command: Command, words: &[String]) -> ExitCode {
    let found = candidates(command, words, &values);
    let lines = found
        .iter()
        .map(|(word, what)| format!("{}\t{}\n", one_line(word), one_line(what)));
    // A shell that went away needs no candidates.
    let _ = terminal::print_own(&lines.collect::<String>());
    ExitCode::from(u8::from(found.is_empty()))
}

/// Words that the last of these can become.
pub fn candidates(
    mut whole: Command,
    words: &[String],
    values: &dyn Fn(Kind) -> Vec<Candidate>,
) -> Vec<Candidate> {
    let Some((typed, before)) = words.split_last() else {
        return Vec::new();
    };
    // The arguments of another program are its own.
    if before.iter().any(|word| word == "--") {
        return Vec::new();
    }
    whole.build();
    let whole = &whole;
    let mut command = whole;
    for word in before {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let of_option = |name: &str| {
        command.get_arguments().find(|argument| {
            let long = argument.get_long().map(|long| format!("--{long}"));
            let short = argument.get_short().map(|short| format!("-{short}"));
            let is_it = long.as_deref() == Some(name) || short.as_deref() == Some(name);
            is_it && argument.get_action().takes_values()
        })
    };
    let (begin, found) = if let Some((name, _)) = typed.split_once('=')
        && let Some(option) = of_option(name)
    {
        (format!("{name}="), of_value(whole, option, values))
    } else if let Some(option) = before.last().and_then(|name| of_option(name)) {
        (String::new(), of_value(whole, option, values))
    } else if typed.starts_with('-') {
        (String::new(), options(command))
    } else {
        let mut found: Vec<Candidate> = command
            .get_subcommands()
            .filter(|of| !of.is_hide_set())
            .map(|of| (of.get_name().to_owned(), first_line(of.get_about())))
            .collect();
        found.extend(
            command
                .get_positionals()
                .flat_map(|of| of_value(whole, of, values)),
        );
        (String::new(), found)
    };
    let found = found
        .into_iter()
        .map(|(word, what)| (begin.clone() + &word, what));
    found
        .filter(|(word, _)| word.starts_with(typed.as_str()))
        .collect()
}

fn of_value(
    whole: &Command,
    argument: &Arg,
    values: &dyn Fn(Kind) -> Vec<Candidate>,
) -> Vec<Candidate> {
    let known = argument.get_possible_values();
    let known = known.iter().filter(|value| !value.is_hide_set());
    let mut found: Vec<Candidate> = known
        .map(|value| (value.get_name().to_owned(), first_line(value.get_help())))
        .collect();
    found.extend(Kind::new(argument).map(values).unwrap_or_default());
    if argument.get_id() == "command"
        && argument
            .get_value_names()
            .is_some_and(|of| of[0] == "COMMAND")
    {
        found.extend(
            whole
                .get_subcommands()
                .map(|of| (of.get_name().to_owned(), first_line(of.get_about()))),
        );
    }
    found
}

fn options(command: &Command) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|of| !of.is_hide_set());
    shown
        .filter_map(|of| Some((format!("--{}", of.get_long()?), first_line(of.get_help()))))
        .collect()
}

fn first_line(help: Option<&clap::builder::StyledStr>) -> String {
    let help = help.map(ToString::to_string).unwrap_or_default();
    help.lines().next().unwrap_or_default().to_owned()
}

/// Values of a kind on this machine and in this directory.
fn values(kind: Kind) -> Vec<(String, String)> {
    let with = |what: &str, words: &[&str]| {
        let each = words
            .iter()
            .map(|word| ((*word).to_owned(), what.to_owned()));
        each.collect()
    };
    match kind {
        Kind::Run => {
            let runs = runs::all();
            let number =
                |at: usize, run: &runs::ListedRun| (format!("@{}", at + 1), run.name.clone());
            let numbers = runs.iter().enumerate().map(|(at, run)| number(at, run));
            numbers
                .chain(runs.iter().map(|run| (run.name.clone(), "run".to_owned())))
                .collect()
        }
        Kind::Scenario => {
            let all = wakepath_scenario::builtin::all().iter();
            all.map(|of| (of.name.to_owned(), "built-in scenario".to_owned()))
                .collect()
        }
        Kind::Policy => with(
            "policy",
            &[
                "FIFO 50",
                "FIFO 80",
                "FIFO 99",
                "RR 50",
                "RR 99",
                "DEADLINE 400us",
                "OTHER nice 0",
                "OTHER nice -19",
                "BATCH nice 0",
                "IDLE",
            ],
        ),
        Kind::Cpu => {
            let cpus = wakepath_rt::affinity::current().unwrap_or_default();
            cpus.iter()
                .map(|cpu| (cpu.to_string(), "CPU".to_owned()))
                .collect()
        }
        Kind::Vehicle => {
            let names = wakepath_flight::Vehicle::built_in_names();
            names
                .map(|name| (name.to_owned(), "vehicle".to_owned()))
                .collect()
        }
    }
}
