//! What to do next, in words and as a command to type: the run's own command with what the advice
//! changes in it.

use wakepath_assess::{Assessment, NextStep};
use wakepath_timeline::one_line;
use wakepath_verdict::Advice;

/// The steps that would decide the run, one line each.
pub(crate) fn next_steps(assessment: &Assessment) -> Vec<String> {
    let steps = steps_of(assessment).into_iter();
    let line = |(of, what, command): Step| match command {
        Some(command) => format!("{of}: {what}: {command}"),
        None => format!("{of}: {what}"),
    };
    steps.map(line).collect()
}

/// For which policies, what, and the command, where one can be typed.
pub(crate) type Step = (String, String, Option<String>);

/// The steps that would decide the run.
pub(crate) fn steps_of(assessment: &Assessment) -> Vec<Step> {
    let steps = assessment.next_steps.iter();
    steps.map(|step| of_step(assessment, step)).collect()
}

fn of_step(assessment: &Assessment, step: &NextStep) -> Step {
    let (what, command) = match &step.advice {
        Advice::MeasureLonger { more, .. } => (
            format!(
                "{} s more of each condition would decide",
                more.seconds.ceil()
            ),
            longer(assessment, step),
        ),
        Advice::MeasureToTheEnd => (
            "the run did not get to its end; the same again".to_owned(),
            again(assessment, &[]),
        ),
        Advice::FindCauses { places } => (
            format!(
                "with so many misses no longer run would pass ({}); see what makes cycles late",
                places.join(", ")
            ),
            match assessment.probe_effect {
                Some(_) => Some(format!(
                    "wakepath explain {}",
                    word(&assessment.run.directory)
                )),
                None => again(assessment, &["--trace"]),
            },
        ),
        Advice::GetRight => (
            "a right is missing".to_owned(),
            again(assessment, &[]).map(|command| format!("sudo {command}")),
        ),
    };
    (one_line(&step.of.join(", ")), what, command)
}

/// A run that is long enough: where one policy would decide, of that policy alone, and untraced.
fn longer(assessment: &Assessment, step: &NextStep) -> Option<String> {
    let seconds = |ns: u64| format!("{}s", ns.div_ceil(1_000_000_000));
    let verb = assessment.run.command.get(1)?;
    if let (Some(ns), [policy, ..], "check") = (step.alone_ns, &step.of[..], verb.as_str()) {
        let words = assessment.run.command.iter();
        let untraced: Vec<String> = words.filter(|word| *word != "--trace").cloned().collect();
        return repeated(&untraced, &["--policy", policy, "--duration", &seconds(ns)]);
    }
    again(assessment, &["--duration", &seconds(step.run_ns?)])
}

/// Options that are a word by themselves.
const WITHOUT_VALUE: [&str; 2] = ["--trace", "--quick"];

/// The command that measured, with other options and without its directory, which is taken now;
/// `None` for a run that no command can repeat.
pub(crate) fn again(assessment: &Assessment, options: &[&str]) -> Option<String> {
    repeated(&assessment.run.command, options)
}

fn repeated(command: &[String], options: &[&str]) -> Option<String> {
    let verb = command.get(1)?;
    if !matches!(verb.as_str(), "check" | "run" | "record") {
        return None;
    }
    // Behind two dashes stand a program's own words.
    let own = command.iter().position(|word| word == "--");
    let (command, program) = command.split_at(own.unwrap_or(command.len()));
    let given = options
        .iter()
        .copied()
        .filter(|option| option.starts_with("--"));
    let mut replaced: Vec<&str> = given.collect();
    replaced.push("--directory");
    if replaced.contains(&"--duration") {
        replaced.push("--quick");
    }
    // Whatever it was started as: what is typed is its name.
    let mut words: Vec<String> = vec!["wakepath".into()];
    let mut rest = command.iter().skip(1);
    while let Some(next) = rest.next() {
        let (name, value) = match next.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (next.as_str(), None),
        };
        match replaced.contains(&name) && name.starts_with("--") {
            // Its value is the word behind it, but for the option that has none.
            true if value.is_none() && !WITHOUT_VALUE.contains(&name) => {
                rest.next();
            }
            true => {}
            false => words.push(word(next)),
        }
    }
    words.extend(options.iter().map(|option| word(option)));
    words.extend(program.iter().map(|own| word(own)));
    Some(words.join(" "))
}

/// A word as a shell reads it, and as a terminal may show it: the command comes from a file.
pub(crate) fn word(text: &str) -> String {
    let text = one_line(text);
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_program_keeps_its_own_words_behind_the_dashes() {
        let command = [
            "/usr/bin/wakepath",
            "record",
            "--duration",
            "4s",
            "--idle",
            "--directory=run",
            "--",
            "./my loop",
            "--duration",
            "7",
        ];
        let command = command.map(str::to_owned);
        assert_eq!(
            repeated(&command, &["--duration", "20s"]).as_deref(),
            Some("wakepath record --idle --duration 20s -- './my loop' --duration 7")
        );
        let watched = ["wakepath", "watch", "--", "./x"].map(str::to_owned);
        assert_eq!(repeated(&watched, &[]), None);
    }

    #[test]
    fn words_are_quoted_for_a_shell_where_they_have_to_be() {
        assert_eq!(word("--rate=1kHz"), "--rate=1kHz");
        assert_eq!(word("FIFO 80"), "'FIFO 80'");
        assert_eq!(word("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(word("\x1b[2J"), "'\u{fffd}[2J'");
    }
}
