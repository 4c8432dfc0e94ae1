//! A run in a few words, for a list of many.

use wakepath_archive::{Manifest, RunOption, shell_words};

/// Options that are left out: where the run is, and how it was shown.
const LEFT_OUT: [RunOption; 4] = [
    RunOption::Directory,
    RunOption::TrustDirectory,
    RunOption::Json,
    RunOption::NoTui,
];

/// The command as it was typed, without the program and the run's directory; else the scenario.
pub fn what(manifest: &Manifest) -> String {
    let words = match &manifest.invocation {
        Some(command) => command.clone().without(&LEFT_OUT).words(),
        None => manifest.command.clone(),
    };
    match words.get(1..) {
        Some(rest) if !rest.is_empty() => shell_words(rest),
        _ => manifest.scenario.name.clone(),
    }
}
