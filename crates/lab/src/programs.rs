//! Programs with the libraries that they load, as entries of an initramfs. Libraries are found by the
//! program's own loader, not guessed.

use crate::architecture::Architecture;
use crate::cpio::{Entry, Kind};
use crate::elf;
use crate::said::last_line;
use crate::{LabError, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use wakepath_programs::{NotFound, find, may_run};

/// A program that a guest needs beside wakepath.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// One of this host's.
    OfThisHost {
        /// Its name, or its path.
        program: String,
        /// The package that holds it.
        package: &'static str,
    },
    /// One out of packages for another architecture.
    Unpacked {
        /// Its name.
        program: String,
        /// Where they were unpacked.
        root: PathBuf,
    },
}

/// Adds the program at `path` as `inside`, its interpreter and its libraries at their own places.
pub(crate) fn add(files: &mut BTreeMap<String, Entry>, path: &Path, inside: &Path) -> Result<()> {
    let (entry, interpreter) = program(path, inside)?;
    files.insert(entry.path.clone(), entry);
    let Some(interpreter) = interpreter else {
        return Ok(());
    };
    // Its word is the program's, not the user's.
    may_run(Path::new(&interpreter))?;
    let listed = Command::new(&interpreter).arg("--list").arg(path).output();
    let listed = listed.map_err(|e| LabError::io("start", Path::new(&interpreter), e))?;
    if !listed.status.success() {
        return Err(LabError::Command {
            command: format!("{interpreter} --list {}", path.display()),
            said: last_line(&listed.stderr),
        });
    }
    let listed = String::from_utf8_lossy(&listed.stdout);
    for library in libraries(&listed).chain([PathBuf::from(&interpreter)]) {
        let (entry, _) = program(&library, &library)?;
        files.insert(entry.path.clone(), entry);
    }
    Ok(())
}

/// Refuses a program that the guest can't run.
pub(crate) fn refuse_other(path: &Path, architecture: Architecture) -> Result<()> {
    let bytes = fs::read(path).map_err(|e| LabError::io("read", path, e))?;
    match elf::read(&bytes) {
        Ok(program) if program.architecture != architecture => Err(LabError::OtherArchitecture {
            path: path.to_owned(),
            is: program.architecture,
            guest: architecture,
        }),
        // What is no program at all is told by whoever adds it.
        _ => Ok(()),
    }
}

fn program(path: &Path, inside: &Path) -> Result<(Entry, Option<String>)> {
    let bytes = fs::read(path).map_err(|e| LabError::io("read", path, e))?;
    let program = elf::read(&bytes).map_err(|why| LabError::Program {
        path: path.to_owned(),
        why: why.into(),
    })?;
    let inside = inside.strip_prefix("/").unwrap_or(inside);
    let entry = entry(&inside.display().to_string(), bytes, &program);
    Ok((entry, program.interpreter))
}

/// A program's file, without what is never loaded.
pub(crate) fn entry(inside: &str, bytes: Vec<u8>, program: &elf::Program) -> Entry {
    Entry {
        path: inside.to_owned(),
        kind: Kind::File {
            executable: true,
            bytes: elf::without_the_rest(bytes, program),
        },
    }
}

/// The libraries in what a dynamic loader lists: `NAME => PATH (ADDRESS)`.
fn libraries(listed: &str) -> impl Iterator<Item = PathBuf> {
    listed.lines().filter_map(|line| {
        let (_, found) = line.split_once("=> ")?;
        let (path, _) = found.rsplit_once(" (")?;
        Some(PathBuf::from(path))
    })
}

/// The file of an installed program of `package`: a path as it stands, a name where the crate
/// `programs` looks.
pub(crate) fn installed(program: &str, package: &'static str) -> Result<PathBuf> {
    find(program).map_err(|error| match error {
        NotFound::Nowhere { program } => LabError::MissingProgram { program, package },
        distrusted => distrusted.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_those_that_the_loader_found() {
        let listed = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let found: Vec<_> = libraries(listed).collect();
        assert_eq!(found, [PathBuf::from("/lib/libc.so.6")]);
    }

    #[test]
    fn a_program_comes_with_all_that_it_loads() {
        let mut files = BTreeMap::new();
        let own = std::env::current_exe().unwrap();
        add(&mut files, &own, Path::new("/bin/own")).unwrap();
        assert!(files.contains_key("bin/own"));
        let dynamic = elf::read(&fs::read(&own).unwrap())
            .unwrap()
            .interpreter
            .is_some();
        let with_libraries = files.keys().any(|path| path.contains("libc.so"));
        assert_eq!(dynamic, with_libraries, "{:?}", files.keys());
    }
}
