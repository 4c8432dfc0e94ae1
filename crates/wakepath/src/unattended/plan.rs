//! The plan of rounds: scenario, number, length, and what is kept. It is in the rounds' directory
//! from the beginning, and a resumed measurement follows it alone.

use super::Failure;
use crate::command_line::Run as Arguments;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use wakepath_console::option_value;
use wakepath_directory::Directory;
use wakepath_scenario::units::{parse_duration, parse_size};
use wakepath_scenario::{KnownCpus, Scenario};
use wakepath_service::PLAN;
use wakepath_timeline::duration::exact;

/// Less than this is no room for a round.
const LEAST_KEPT: u64 = 16 << 20;
/// Space of a cycle in the log of a round under way; less after its completion.
const LOGGED_BYTES: u64 = 64;
const KEPT_BYTES: u64 = 16;
/// The version of this form.
const FORM: u32 = 1;

/// The planned measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    wakepath_rounds: u32,
    /// The scenario as it is measured: with the command line's options and the files that it names.
    pub scenario: String,
    /// How many rounds.
    pub rounds: u32,
    /// How long each is, in nanoseconds.
    pub round_ns: u64,
    /// Room for the samples of the last rounds.
    pub keep_bytes: u64,
    /// Worst cycles of each loop that are kept.
    pub worst: u16,
}

impl Plan {
    /// As the command line asks: `whole` is the time of all rounds together.
    pub fn new(arguments: &Arguments, whole: &str, scenario: &Scenario) -> Result<Self, Failure> {
        let whole_ns = time("--for", whole)?;
        let longest_ns = time("--round", &arguments.round)?;
        let rounds = whole_ns.div_ceil(longest_ns);
        let rounds = u32::try_from(rounds).map_err(|_| {
            format!(
                "--for {whole}: that is {rounds} rounds of {}; give a longer --round",
                exact(longest_ns)
            )
        })?;
        // Whole seconds, as a duration is written for each round.
        let round_ns = whole_ns / u64::from(rounds) / 1_000_000_000 * 1_000_000_000;
        if let Err(error) = scenario.with_total_duration(round_ns) {
            let options = long_enough(whole_ns, longest_ns, error.least_ns);
            return Err(format!(
                "--for {whole}, rounds of {}: {error}; give {options} or longer",
                exact(round_ns)
            )
            .into());
        }
        let keep_bytes = parse_size(&arguments.keep)
            .map_err(|why| option_value::OptionError::new("--keep", &arguments.keep, why))?;
        if keep_bytes < LEAST_KEPT {
            return Err(format!("--keep {}: give 16 MiB or more", arguments.keep).into());
        }
        Ok(Self {
            wakepath_rounds: FORM,
            scenario: scenario.to_toml(),
            rounds,
            round_ns,
            keep_bytes,
            worst: arguments.worst,
        })
    }

    /// The plan in a directory of rounds.
    pub fn read(directory: &Path) -> Result<Self, Failure> {
        let path = directory.join(PLAN);
        let none = |error: std::io::Error| {
            format!("{}: no rounds to resume ({error})", directory.display())
        };
        let text = Directory::to_read(directory)
            .and_then(|place| place.read(PLAN))
            .map_err(none)?;
        let text = text.ok_or_else(|| none(std::io::ErrorKind::NotFound.into()))?;
        let plan: Self = serde_json::from_slice(&text).map_err(|error| {
            format!(
                "{}: {error}; was it written by a later wakepath?",
                path.display()
            )
        })?;
        if plan.wakepath_rounds == FORM && plan.rounds > 0 {
            Ok(plan)
        } else {
            Err(format!(
                "{}: was written by a later wakepath; resume with that one",
                path.display()
            )
            .into())
        }
    }

    /// The scenario of one round; `directory` is where the plan lies.
    pub fn of_a_round(&self, directory: &Path) -> Result<Scenario, Failure> {
        let source = directory.join(PLAN).display().to_string();
        // Which CPUs there are is asked when a round begins.
        let scenario = Scenario::parse(&self.scenario, &source, &KnownCpus::first(1024))?;
        let fitted = scenario.with_total_duration(self.round_ns);
        Ok(fitted.map_err(|error| format!("{source}: {error}"))?)
    }

    /// `--duration` of a round.
    pub fn duration(&self) -> String {
        format!("{}s", self.round_ns / 1_000_000_000)
    }

    /// Refuses a disk that has no room for what will be kept and for a round under way.
    pub fn has_room(&self, near: &Path) -> Result<(), Failure> {
        let scenario = self.of_a_round(near)?;
        let threads = scenario.tasks.len().max(1) as u64;
        let cycles = scenario.cycles * scenario.conditions() * scenario.passages() * threads;
        let kept = self
            .keep_bytes
            .min(cycles * KEPT_BYTES * u64::from(self.rounds));
        let needed = kept + cycles * LOGGED_BYTES;
        let near = near
            .ancestors()
            .find(|of| of.is_dir())
            .unwrap_or(Path::new("."));
        let disk =
            rustix::fs::statvfs(near).map_err(|error| format!("{}: {error}", near.display()))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free >= needed {
            Ok(())
        } else {
            Err(format!(
                "{}: {} MiB are free, and the rounds need about {} MiB: {} for a round under way and {} kept; give \
                 a smaller --keep or a shorter --round",
                near.display(),
                free >> 20,
                needed.div_ceil(1 << 20),
                (cycles * LOGGED_BYTES).div_ceil(1 << 20),
                kept.div_ceil(1 << 20),
            )
            .into())
        }
    }
}

/// A time as elsewhere, or in parts, such as `5h33m`.
fn time(option: &'static str, text: &str) -> Result<u64, Failure> {
    let read = parse_duration(text).or_else(|why| match humantime::parse_duration(text) {
        Ok(of) => Ok(u64::try_from(of.as_nanos()).unwrap_or(u64::MAX)),
        Err(_) => Err(option_value::OptionError::new(option, text, why)),
    })?;
    if read < Duration::from_secs(1).as_nanos() as u64 {
        Err(format!("{option} {text}: give a second or more").into())
    } else {
        Ok(read)
    }
}

/// The options of rounds that last at least `least_ns`, whole seconds, each. The shortest `--round` is that of as many
/// rounds as have room.
fn long_enough(whole_ns: u64, longest_ns: u64, least_ns: u64) -> String {
    const SECOND_NS: u64 = 1_000_000_000;
    let seconds = |ns: u64| ns.div_ceil(SECOND_NS);
    if whole_ns >= least_ns {
        let rounds = whole_ns / least_ns.max(1);
        return format!("--round {}s", seconds(whole_ns.div_ceil(rounds)));
    }
    let round = if longest_ns < least_ns {
        format!(" --round {}s", seconds(least_ns))
    } else {
        String::new()
    };
    format!("--for {}s{round}", seconds(least_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{CommandLine, Verb};
    use clap::Parser;

    fn planned(scenario: &Scenario, options: &str) -> Result<Plan, String> {
        let words = format!("wakepath run quick {options}");
        let Verb::Run(arguments) = CommandLine::parse_from(words.split(' ')).verb else {
            panic!("{words}");
        };
        let whole = arguments.whole.clone().unwrap();
        Plan::new(&arguments, &whole, scenario).map_err(|refused| refused.to_string())
    }

    #[test]
    fn the_options_that_a_refusal_gives_are_accepted() {
        let text = "name = \"a\"\nrate = \"250 Hz\"\ncycles = 10\nrepetitions = 2\nwarm-up = \"250 ms\"\n\
                    policies = [\"OTHER\", \"FIFO 50\"]\nphases = [{ name = \"idle\" }]\n";
        let scenario = Scenario::parse(text, "a.toml", &KnownCpus::first(4)).unwrap();
        let mut refusals = 0;
        for whole in ["1s", "2s", "7s", "100s", "3601s", "1h"] {
            for round in ["1s", "2s", "5s"] {
                let given = format!("--for {whole} --round {round}");
                let Err(refused) = planned(&scenario, &given) else {
                    continue;
                };
                refusals += 1;
                let (_, remedy) = refused.split_once("give ").unwrap();
                let remedy = remedy.strip_suffix(" or longer").unwrap();
                let mut typed = remedy.to_owned();
                for (option, value) in [("--for", whole), ("--round", round)] {
                    if !remedy.contains(option) {
                        typed += &format!(" {option} {value}");
                    }
                }
                assert!(planned(&scenario, &typed).is_ok(), "{given}: {refused}");
            }
        }
        assert!(refusals >= 10, "{refusals}");
    }
}
