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

/// The policies, the step, and the command, if one can be typed.
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
                "at this miss rate a longer run won't pass ({}); see what makes cycles late",
                places.join(", ")
            ),
            match assessment.probe_effect {
                Some(_) => Some(format!(
                    "wakepath explain {}",
                    word(&assessment.run.directory)
                )),
                None => traced(assessment).map(|(command, _)| command),
            },
        ),
        Advice::GetRight => (
            "insufficient privileges".to_owned(),
            again(assessment, &[]).map(|command| format!("sudo {command}")),
        ),
    };
    (one_line(&step.of.join(", ")), what, command)
}

/// A run that is long enough: if one policy would decide, of only that policy, and untraced.
fn longer(assessment: &Assessment, step: &NextStep) -> Option<String> {
    let verb = assessment.run.command.get(1)?;
    if let (Some(ns), [policy, ..], "check") = (step.alone_ns, &step.of[..], verb.as_str()) {
        return untraced(
            assessment,
            &["--policy", policy, "--duration", &seconds(ns)],
        );
    }
    again(assessment, &["--duration", &seconds(step.run_ns?)])
}

/// A length as it is typed: whole seconds.
fn seconds(ns: u64) -> String {
    format!("{}s", ns.div_ceil(1_000_000_000))
}

/// A length in words: minutes from two minutes on.
pub(crate) fn takes(ns: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    match ns {
        0..120_000_000_000 => format!("{} s", ns.div_ceil(SECOND)),
        120_000_000_000..7_200_000_000_000 => format!("{} min", ns.div_ceil(60 * SECOND)),
        _ => format!("{} h", ns.div_ceil(3_600 * SECOND)),
    }
}

/// The command that measured, with tracing, and about how long it takes, in nanoseconds. A length that was
/// given holds both passes, so it grows with them.
pub(crate) fn traced(assessment: &Assessment) -> Option<(String, u64)> {
    let ns = assessment.traced_run_ns?;
    let command = own_words(&assessment.run.command);
    let has_length = command.iter().any(|word| {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        name == "--duration"
    });
    // A recorded program has a length without asking for one.
    let is_recorded = command.get(1).is_some_and(|verb| verb == "record");
    let command = match has_length || is_recorded {
        true => again(assessment, &["--trace", "--duration", &seconds(ns)]),
        false => again(assessment, &["--trace"]),
    };
    Some((command?, ns))
}

/// The command that measured, with other options and without its trace: every cycle in the time is judged.
pub(crate) fn untraced(assessment: &Assessment, options: &[&str]) -> Option<String> {
    let (own, program) = (
        own_words(&assessment.run.command),
        assessment.run.command.iter(),
    );
    let program = program.skip(own.len()).cloned();
    let untraced = own.iter().filter(|word| *word != "--trace").cloned();
    repeated(&untraced.chain(program).collect::<Vec<_>>(), options)
}

/// wakepath's own words of a command; after two dashes come a program's.
fn own_words(command: &[String]) -> &[String] {
    let end = command.iter().position(|word| word == "--");
    &command[..end.unwrap_or(command.len())]
}

/// The values of an option in the command that measured.
fn values<'a>(command: &'a [String], option: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut words = own_words(command).iter();
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some((name, value)) if name == option => found.push(value),
            _ if word == option => found.extend(words.next().map(String::as_str)),
            _ => {}
        }
    }
    found
}

/// The options that name this run's loop to `doctor` and `tune`; `None` if they can't name it.
fn subject(command: &[String]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let rate = values(command, "--rate");
    match command.get(1)?.as_str() {
        "check" => {}
        // They take a scenario as its file has it.
        "run" if rate.is_empty() => {
            let scenario = command.get(2).filter(|word| !word.starts_with('-'))?;
            words.extend(["--scenario".to_owned(), word(scenario)]);
        }
        _ => return None,
    }
    for (option, found) in [("--rate", rate), ("--cpu", values(command, "--cpu"))] {
        let last = found.last().map(|value| word(value));
        words.extend(
            last.into_iter()
                .flat_map(|value| [option.to_owned(), value]),
        );
    }
    Some(words)
}

/// `wakepath doctor` for this run's loop.
pub(crate) fn doctor(assessment: &Assessment) -> String {
    let mut words = vec!["wakepath doctor".to_owned()];
    words.extend(subject(&assessment.run.command).unwrap_or_default());
    words.join(" ")
}

/// `wakepath tune trial` for this run's loop, if it can be named.
pub(crate) fn trial(assessment: &Assessment) -> Option<String> {
    let command = &assessment.run.command;
    let mut words = vec!["wakepath tune trial".to_owned()];
    words.extend(subject(command)?);
    // A scenario brings its own policies.
    if let ([policy], "check") = (&values(command, "--policy")[..], command.get(1)?.as_str()) {
        words.extend(["--policy".to_owned(), word(policy)]);
    }
    Some(words.join(" "))
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
    let (command, program) = command.split_at(own_words(command).len());
    let given = options
        .iter()
        .copied()
        .filter(|option| option.starts_with("--"));
    let mut replaced: Vec<&str> = given.collect();
    replaced.push("--directory");
    if replaced.contains(&"--duration") {
        replaced.push("--quick");
    }
    // However it was started, the command to type is its name.
    let mut words: Vec<String> = vec!["wakepath".into()];
    let mut rest = command.iter().skip(1);
    while let Some(next) = rest.next() {
        let (name, value) = match next.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (next.as_str(), None),
        };
        match replaced.contains(&name) && name.starts_with("--") {
            // Its value is the word after it, except for the option that has none.
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
    fn doctor_and_tune_are_asked_for_the_loop_that_was_measured() {
        let typed =
            |words: &str| -> Vec<String> { words.split_whitespace().map(str::to_owned).collect() };
        let of_check = typed("wakepath check --rate=1kHz --cpu 0 --trace");
        assert_eq!(
            subject(&of_check).unwrap(),
            ["--rate", "1kHz", "--cpu", "0"]
        );
        let of_run = typed("wakepath run loop.toml --cpu 3 --duration 60s");
        assert_eq!(
            subject(&of_run).unwrap(),
            ["--scenario", "loop.toml", "--cpu", "3"]
        );
        // Neither takes a scenario at another rate, nor a program of the user's.
        assert_eq!(subject(&typed("wakepath run loop.toml --rate 1kHz")), None);
        assert_eq!(subject(&typed("wakepath record -- ./loop --rate 9")), None);
    }

    #[test]
    fn times_are_said_in_the_unit_that_a_person_plans_with() {
        assert_eq!(takes(24_000_000_000), "24 s");
        assert_eq!(takes(200_000_000_000), "4 min");
        assert_eq!(takes(20_000_000_000_000), "6 h");
    }

    #[test]
    fn words_are_quoted_for_a_shell_where_they_have_to_be() {
        assert_eq!(word("--rate=1kHz"), "--rate=1kHz");
        assert_eq!(word("FIFO 80"), "'FIFO 80'");
        assert_eq!(word("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(word("\x1b[2J"), "'\u{fffd}[2J'");
    }
}
