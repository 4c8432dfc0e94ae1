//! Candidates for the word that is being typed, from the definition of the command line. It reads no run and no
//! machine: values of a kind come from its caller.

use super::visible;
use clap::{Arg, Command};

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

/// Words that the last of these can become.
pub fn candidates(words: &[String], values: &dyn Fn(Kind) -> Vec<Candidate>) -> Vec<Candidate> {
    let Some((typed, before)) = words.split_last() else {
        return Vec::new();
    };
    // The arguments of another program are its own.
    if before.iter().any(|word| word == "--") {
        return Vec::new();
    }
    let mut command = visible();
    command.build();
    let mut command = &command;
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
        (format!("{name}="), of_value(option, values))
    } else if let Some(option) = before.last().and_then(|name| of_option(name)) {
        (String::new(), of_value(option, values))
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
                .flat_map(|of| of_value(of, values)),
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

fn of_value(argument: &Arg, values: &dyn Fn(Kind) -> Vec<Candidate>) -> Vec<Candidate> {
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
        let all = visible();
        found.extend(
            all.get_subcommands()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let values = |kind: Kind| vec![(format!("{kind:?}-1").to_lowercase(), String::new())];
        candidates(&words, &values)
            .into_iter()
            .map(|(word, _)| word)
            .collect()
    }

    #[test]
    fn every_kind_of_word_has_its_candidates_and_internals_have_none() {
        assert_eq!(of(&["che"]), ["check"]);
        assert!(of(&["int"]).is_empty());
        assert!(!of(&[""]).contains(&"internal".to_owned()));
        assert_eq!(of(&["check", "--policy", ""]), ["policy-1"]);
        assert_eq!(of(&["check", "-p", "pol"]), ["policy-1"]);
        assert_eq!(of(&["check", "--policy=p"]), ["--policy=policy-1"]);
        assert_eq!(of(&["rate", "--cpu", ""]), ["cpu-1"]);
        assert_eq!(of(&["run", ""]), ["scenario-1"]);
        for verb in ["show", "check"] {
            assert_eq!(of(&["scenario", verb, ""]), ["scenario-1"], "{verb}");
        }
        assert_eq!(of(&["export", "--format", "m"]), ["mcap", "markdown"]);
        assert_eq!(of(&["fly", "--vehicle", ""]), ["vehicle-1"]);
        for verb in [
            "show", "explain", "report", "bound", "fly", "compare", "tiers",
        ] {
            assert_eq!(of(&[verb, "r"]), ["run-1"], "{verb}");
        }
        assert_eq!(of(&["tune", "pl"]), ["plan"]);
        assert!(of(&["show", "--det"]).contains(&"--details".to_owned()));
        assert_eq!(of(&["show", "--color", "ne"]), ["never"]);
        assert_eq!(of(&["help", "expl"]), ["explain"]);
        assert!(of(&["watch", "--", "./l"]).is_empty());
        assert!(of(&[]).is_empty());
    }
}
