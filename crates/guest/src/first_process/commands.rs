//! In the guest: runs commands in order and keeps the files they leave.
//!
//! Their output is stored, not shown: the console is slow and carries the guest's own messages.

use super::InsideError;
use crate::order::{
    COMMANDS_NAME, CommandEnd, OrderedCommand, PROGRAM_PATH, complaint_name, output_name,
};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) type Files = Vec<(String, Vec<u8>)>;

/// Working directory of commands, whose files are sent home.
const WORKPLACE: &str = "/tmp";
/// Directory for their output until it is sent.
const KEPT: &str = "/run/commands";

/// Runs the commands and adds their output to `files`. A failure ends the run unless the command is
/// allowed to fail; the output so far is sent in any case.
pub(super) fn run(commands: &[OrderedCommand], files: &mut Files) -> Result<(), InsideError> {
    if commands.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(KEPT).map_err(|error| InsideError::at(KEPT, error))?;
    let mut ends = Vec::new();
    let outcome = commands.iter().try_for_each(|command| {
        let (number, words) = (ends.len() + 1, &command.words);
        let end = one(number, words).map_err(|source| InsideError::NotStarted {
            command: words.join(" "),
            source,
        })?;
        ends.push(end.clone());
        if end.exit_code == Some(0) || command.may_fail {
            Ok(())
        } else {
            Err(failure(number, &end))
        }
    });
    let ends = serde_json::to_vec_pretty(&ends).expect("plain data is JSON");
    files.push((COMMANDS_NAME.to_owned(), ends));
    for (place, prefix) in [(KEPT, ""), (WORKPLACE, "tmp/")] {
        let found = files_in(Path::new(place), prefix);
        files.extend(found.map_err(|error| InsideError::at(place, error))?);
    }
    outcome
}

fn one(number: usize, words: &[String]) -> io::Result<CommandEnd> {
    let kept = |name: String| File::create(Path::new(KEPT).join(name));
    let (program, arguments) = match words.split_first() {
        Some((program, arguments)) if program.contains('/') => (program.as_str(), arguments),
        Some((own, arguments)) if own == "wakepath" => (PROGRAM_PATH, arguments),
        _ => (PROGRAM_PATH, words),
    };
    println!("wakepath-lab: {}", words.join(" "));
    let status = Command::new(program)
        .args(arguments)
        .current_dir(WORKPLACE)
        .stdin(Stdio::null())
        .stdout(kept(output_name(number))?)
        .stderr(kept(complaint_name(number))?)
        .status()?;
    Ok(CommandEnd {
        command: words.to_vec(),
        exit_code: status.code(),
    })
}

/// The error for a command that had to succeed and failed.
fn failure(number: usize, end: &CommandEnd) -> InsideError {
    let said = |name: String| fs::read_to_string(Path::new(KEPT).join(name)).unwrap_or_default();
    let said = [said(output_name(number)), said(complaint_name(number))].concat();
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let code = match end.exit_code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    InsideError::Failed {
        command: end.command.join(" "),
        how: code,
        said: last.unwrap_or("it said nothing").to_owned(),
    }
}

/// Every plain file below a directory, by its path from there.
pub(super) fn files_in(directory: &Path, prefix: &str) -> io::Result<Files> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            files.extend(files_in(&entry.path(), &format!("{name}/"))?);
        } else if kind.is_file() {
            files.push((name, fs::read(entry.path())?));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_below_a_directory_with_their_paths() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("run/inner")).unwrap();
        fs::write(place.path().join("run/inner/samples.log"), "a").unwrap();
        fs::write(place.path().join("note"), "b").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", place.path().join("link")).unwrap();
        let mut files = files_in(place.path(), "tmp/").unwrap();
        files.sort_unstable();
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["tmp/note", "tmp/run/inner/samples.log"]);
    }
}
