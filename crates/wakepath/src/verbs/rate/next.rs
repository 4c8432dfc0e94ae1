//! What to type next if a search found no rate.

use super::terms::Terms;
use wakepath_archive::{RunOption, shell_word};
use wakepath_scenario::units::parse_duration;
use wakepath_timeline::duration::{exact_ascii, long};

/// What to type if not even the lowest rate was kept: the same loop, by the same limits, on the same CPU.
pub(super) fn next(terms: &Terms<'_>, hz: u32) -> String {
    let step = terms.command_at(hz);
    let doctor = match &step.scenario {
        Some(scenario) => format!("wakepath doctor --scenario {}", shell_word(scenario)),
        None => {
            let cpu = step.values(RunOption::Cpu);
            let cpu = cpu
                .last()
                .map_or_else(String::new, |cpu| format!(" --cpu {cpu}"));
            format!("wakepath doctor --rate {hz}Hz{cpu}")
        }
    };
    // A step was measured: its time can be read. Traced, each condition is measured twice.
    let step_ns = step.values(RunOption::Duration);
    let step_ns = step_ns.last().and_then(|text| parse_duration(text).ok());
    let ns = 2 * step_ns.unwrap_or_default();
    let traced = step
        .with_switch(RunOption::Trace)
        .with(RunOption::Duration, exact_ascii(ns).replace(' ', ""));
    format!(
        "\nnext\n  {doctor}\n      what on this machine makes cycles late, with fixes\n  {traced}\n      \
         records kernel events, for wakepath explain to show causes; takes {}\n",
        long(ns as f64 / 1e9)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{CommandLine, Verb};
    use clap::Parser;

    fn next_of(words: &[&str]) -> String {
        let line = CommandLine::parse_from([&["wakepath", "rate"], words].concat());
        let Verb::Rate(arguments) = line.verb else {
            panic!("{words:?}");
        };
        next(&Terms::new(&arguments), 1000)
    }

    #[test]
    fn the_next_commands_are_about_the_loop_that_was_measured_and_its_limits() {
        let text = next_of(&["--cpu", "0", "--latency", "90us", "--policy", "FIFO 80"]);
        for command in [
            "  wakepath doctor --rate 1000Hz --cpu 0\n",
            "  wakepath check --rate '1000 Hz' --policy 'FIFO 80' --cpu 0 --latency 90us --trace --duration 40s\n",
            "takes 40 s\n",
        ] {
            assert!(text.contains(command), "{text}");
        }
        let text = next_of(&["my loop.toml", "--block", "1min"]);
        let command = "wakepath run 'my loop.toml' --rate '1000 Hz' --trace --duration 120s\n";
        assert!(text.contains(command), "{text}");
    }
}
