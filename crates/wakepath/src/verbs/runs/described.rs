//! A run in a few words, for a list of many.

use wakepath_archive::{Manifest, RunOption, shell_words};

/// Options that are left out: where the run is, and how it was shown.
const LEFT_OUT: [RunOption; 4] = [
    RunOption::Directory,
    RunOption::TrustDirectory,
    RunOption::Json,
    RunOption::NoTui,
];

/// The command without the program and the run's directory, as it is typed again, or as it was typed for a
/// watch or an import; without one, the scenario.
pub fn what(manifest: &Manifest) -> String {
    let words = match (&manifest.invocation, &manifest.imported) {
        (Some(command), _) => command.clone().without(&LEFT_OUT).words(),
        (None, Some(_)) => manifest.command.clone(),
        (None, None) => Vec::new(),
    };
    match words.get(1..) {
        Some(rest) if !rest.is_empty() => shell_words(rest),
        _ => manifest.scenario.name.clone(),
    }
}
