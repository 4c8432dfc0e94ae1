//! A command line that measures, in parts, as the definition of the command line reads it.

use super::CommandLine;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory};
use std::ffi::OsString;
use wakepath_archive::{GivenOption, Invocation, MeasuringVerb};

/// Of these words; `None` if no command repeats them.
pub fn of(words: impl Iterator<Item = OsString>) -> Option<Invocation> {
    let mut definition = CommandLine::command();
    let matches = definition.try_get_matches_from_mut(words).ok()?;
    let (name, given) = matches.subcommand()?;
    let all = [
        MeasuringVerb::Check,
        MeasuringVerb::Run,
        MeasuringVerb::Record,
    ];
    let verb = all.into_iter().find(|verb| verb.word() == name)?;
    let verb_definition = definition.find_subcommand(name)?;
    let mut options: Vec<(usize, GivenOption)> = Vec::new();
    let mut invocation = Invocation::new(verb);
    for argument in verb_definition.get_arguments() {
        let id = argument.get_id().as_str();
        let is_typed = given.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
        if !is_typed || argument.is_global_set() {
            continue;
        }
        match argument.get_long() {
            Some(long) => options.extend(values(argument, given).map(|(at, value)| {
                let name = long.to_owned();
                (at, GivenOption { name, value })
            })),
            None if argument.is_last_set() => {
                invocation.program = texts(given, id).collect();
            }
            None => invocation.scenario = texts(given, id).next(),
        }
    }
    options.sort_by_cached_key(|(at, _)| *at);
    invocation.options = options.into_iter().map(|(_, option)| option).collect();
    Some(invocation)
}

/// Each value of an option with its place in the command line.
fn values<'a>(
    argument: &Arg,
    given: &'a ArgMatches,
) -> impl Iterator<Item = (usize, Option<String>)> + use<'a> {
    let id = argument.get_id().as_str();
    let places: Vec<usize> = given.indices_of(id).into_iter().flatten().collect();
    let values: Vec<Option<String>> = match argument.get_action() {
        ArgAction::SetTrue => vec![None],
        _ => texts(given, id).map(Some).collect(),
    };
    places.into_iter().zip(values)
}

fn texts<'a>(given: &'a ArgMatches, id: &str) -> impl Iterator<Item = String> + use<'a> {
    let raw = given.get_raw(id).into_iter().flatten();
    raw.map(|value| value.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_archive::RunOption;

    fn typed(words: &[&str]) -> Option<Invocation> {
        of(words.iter().map(OsString::from))
    }

    #[test]
    fn options_are_read_by_their_definition_and_a_program_keeps_its_own() {
        let words = [
            "/usr/bin/wakepath",
            "record",
            "-d4s",
            "--idle",
            "--policy=FIFO 80",
            "--quiet",
            "-p",
            "OTHER",
            "--directory=run",
            "--",
            "./my loop",
            "--duration",
            "7",
        ];
        let read = typed(&words).unwrap();
        assert_eq!(
            read.to_string(),
            "wakepath record --duration 4s --idle --policy 'FIFO 80' --policy OTHER --directory run -- \
             './my loop' --duration 7"
        );
        let again = typed(&["wakepath", "run", "a b.toml", "--for", "3h"]).unwrap();
        assert_eq!(again.to_string(), "wakepath run 'a b.toml' --for 3h");
        assert_eq!(typed(&["wakepath", "watch", "--", "./x"]), None);
        assert_eq!(typed(&["wakepath", "check", "--nothing"]), None);
    }

    #[test]
    fn every_option_that_a_suggestion_changes_exists() {
        let definition = CommandLine::command();
        let check = definition.find_subcommand("check").unwrap();
        for option in RunOption::ALL {
            let mut all = check.get_arguments().filter_map(Arg::get_long);
            assert!(all.any(|long| long == option.name()), "{option:?}");
        }
    }
}
