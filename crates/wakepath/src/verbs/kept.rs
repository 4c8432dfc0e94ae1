//! The answer that is kept beside a run, so that showing and listing it read no samples.

use crate::beginning::without_parts;
use crate::command_line::VERSION;
use crate::usage::quoted;
use std::path::Path;
use wakepath_archive::{MANIFEST_NAME, Run, State, sha256_of_file};
use wakepath_directory::Directory;
use wakepath_report::{Answer, KeptAnswer};

/// Keeps it beside a whole run. What can't be kept is judged again when it is asked for.
pub fn keep(directory: &Directory, run: &Run, answer: &Answer, machine: &[(String, String)]) {
    let is_whole = *run.state() == State::Finished && run.check().is_ok_and(|of| of.is_empty());
    let Some(digest) = is_whole.then(|| digest(run.directory())).flatten() else {
        return;
    };
    let kept = KeptAnswer {
        wakepath: VERSION.into(),
        manifest_sha256: digest,
        started: run.manifest.started.clone(),
        what: what(&run.manifest.command, &run.manifest.scenario.name),
        machine: in_short(machine),
        answer: answer.clone(),
    };
    let _ = directory.put(KeptAnswer::FILE_NAME, &kept.to_bytes());
}

/// The answer to an open run, whose files were compared with their digests when it was opened.
pub fn of(run: &Run) -> Option<Answer> {
    if *run.state() != State::Finished {
        return None;
    }
    let kept = in_directory(run.directory())?;
    let holds = kept.wakepath == VERSION && Some(kept.manifest_sha256) == digest(run.directory());
    holds.then_some(kept.answer)
}

/// What lies in a run's directory, whether or not it still holds.
pub fn in_directory(directory: &Path) -> Option<KeptAnswer> {
    let directory = Directory::to_read(directory).ok()?;
    KeptAnswer::from_bytes(&directory.read(KeptAnswer::FILE_NAME).ok()??)
}

fn digest(directory: &Path) -> Option<String> {
    sha256_of_file(&directory.join(MANIFEST_NAME)).ok()
}

/// The command as it was typed, without the program, where the run was to lie and what one command says to
/// another that it starts.
pub fn what(command: &[String], scenario: &str) -> String {
    let mut words = Vec::new();
    let command = without_parts(command.iter().cloned());
    let mut rest = command.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--directory" => drop(rest.next()),
            "--json" | "--no-tui" | "--trust-directory" => {}
            word => words.push(quoted(word)),
        }
    }
    match words.is_empty() {
        true => scenario.to_owned(),
        false => words.join(" "),
    }
}

/// Processors and kernel: what tells machines apart at a glance.
pub fn in_short(machine: &[(String, String)]) -> String {
    let of = |label: &str| {
        let found = machine.iter().find(|(name, _)| name == label);
        found.map_or("", |(_, text)| {
            text.split([',', ';']).next().unwrap_or_default()
        })
    };
    let parts = [of("CPUs"), of("Kernel")];
    let known: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    known.join(", Linux ")
}

#[cfg(test)]
mod tests {
    use super::what;

    #[test]
    fn a_command_is_told_as_it_is_typed_again() {
        let of = |words: &[&str]| {
            what(
                &words.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "check",
            )
        };
        let words = [
            "wakepath",
            "check",
            "--policy",
            "FIFO 80",
            "--directory",
            "a",
            "--no-tui",
        ];
        assert_eq!(of(&words), "check --policy 'FIFO 80'");
        let step = [
            "wakepath",
            "check",
            "--part",
            "1000 Hz, step 1",
            "--part-then",
            "9",
            "--json",
        ];
        assert_eq!(of(&step), "check");
        assert_eq!(of(&["wakepath"]), "check");
    }
}
