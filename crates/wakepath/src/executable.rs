//! The file of a program that will be started, or why it can't be.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use wakepath_programs::NotFound;

/// The file of a program that is to be started; otherwise why it can't be, with the exit code that shells
/// have for that.
pub fn find(program: &OsStr) -> Result<Result<PathBuf, (u8, String)>, Box<dyn std::error::Error>> {
    let shown = program.display();
    let said = |(code, why): (u8, String)| (code, format!("{shown}: {why}"));
    Ok(match wakepath_programs::to_start(program) {
        Err(NotFound::Nowhere { .. }) => Err(said((NOT_FOUND, "no such program".to_owned()))),
        Err(other) => return Err(other.to_string().into()),
        Ok(file) => match cannot_start(&file) {
            Some(missing) => Err(said(missing)),
            None => Ok(file),
        },
    })
}

/// Shells' exit code if there is no such program.
const NOT_FOUND: u8 = 127;
/// What shells end with where a program may not be executed.
const NOT_EXECUTABLE: u8 = 126;

/// Why this file can't become a process, as far as it is seen beforehand.
fn cannot_start(file: &Path) -> Option<(u8, String)> {
    match file.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Some((NOT_FOUND, "no such program".to_owned()))
        }
        Err(error) => Some((NOT_EXECUTABLE, error.to_string())),
        Ok(data) if data.is_dir() => Some((NOT_EXECUTABLE, "is a directory".to_owned())),
        Ok(data) if data.permissions().mode() & 0o111 == 0 => Some((
            NOT_EXECUTABLE,
            "may not be executed; chmod +x it".to_owned(),
        )),
        Ok(_) => None,
    }
}
