//! `cargo xtask experiments`: regenerates or checks the page of published experiments.
//!
//! The released program measures; a check compares the page with the committed one byte for byte.
//! Measurements stay under the target directory, so that an interrupted command resumes.

use crate::arguments::Arguments;
use crate::place;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Writes `docs/experiments`, or with `--check` lists the differences.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let check = arguments.flag("--check");
    let built = place::program(&place::static_target());
    let program = arguments.value("--program", built)?;
    arguments.end()?;
    let kept = place::target().join("experiments");
    let (runs, page) = (kept.join("runs"), kept.join("page"));
    if page.exists() {
        std::fs::remove_dir_all(&page).map_err(|error| format!("{}: {error}", page.display()))?;
    }
    let mut command = Command::new(&program);
    command.args(["lab", "experiments", "--directory"]);
    let status = command.arg(&runs).arg("--page").arg(&page).status();
    let status = status.map_err(|error| format!("{}: {error}", program.display()))?;
    if !status.success() {
        return Err(format!("{} lab experiments: {status}", program.display()));
    }
    let committed = place::root().join("docs").join("experiments");
    let (new, old) = (files(&page)?, files(&committed)?);
    let names: std::collections::BTreeSet<&String> = new.keys().chain(old.keys()).collect();
    let mut code = ExitCode::SUCCESS;
    for name in names {
        if new.get(name) == old.get(name) {
            continue;
        }
        let path = committed.join(name);
        if check {
            eprintln!(
                "docs/experiments/{name}: {}",
                difference(old.get(name), new.get(name))
            );
            code = ExitCode::FAILURE;
            continue;
        }
        let done = match new.get(name) {
            Some(bytes) => std::fs::write(&path, bytes),
            None => std::fs::remove_file(&path),
        };
        done.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(code)
}

/// The files of a directory with their content.
fn files(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let said = |error| format!("{}: {error}", directory.display());
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(directory).map_err(said)? {
        let entry = entry.map_err(said)?;
        let bytes = std::fs::read(entry.path()).map_err(said)?;
        all.insert(entry.file_name().to_string_lossy().into_owned(), bytes);
    }
    Ok(all)
}

fn difference(old: Option<&Vec<u8>>, new: Option<&Vec<u8>>) -> String {
    let (Some(old), Some(new)) = (old, new) else {
        return match new {
            Some(_) => "is not there".into(),
            None => "is not of this page any more".into(),
        };
    };
    let lines = |bytes: &[u8]| {
        bytes
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    let (old, new) = (lines(old), lines(new));
    let same = old
        .iter()
        .zip(&new)
        .take_while(|(one, other)| one == other)
        .count();
    let text = |lines: &[Vec<u8>]| {
        let line = lines.get(same).map(Vec::as_slice).unwrap_or_default();
        String::from_utf8_lossy(line)
            .chars()
            .take(120)
            .collect::<String>()
    };
    format!(
        "line {}: has {:?}, and now it is {:?}",
        same + 1,
        text(&old),
        text(&new)
    )
}
