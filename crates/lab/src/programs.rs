//! Programs with the libraries that they load, as entries of an initramfs. Libraries are found by the
//! program's own loader, not guessed.

use crate::architecture::Architecture;
use crate::elf;
use crate::needs::THAT_HOLDS_IT;
use crate::said::last_line;
use crate::{LabError, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use wakepath_guest::cpio::{Entry, Kind};
use wakepath_programs::{NotFound, find, may_run};

/// A program that a guest needs in addition to wakepath.
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
        /// The directory of the unpacked packages.
        root: PathBuf,
    },
}

/// The interpreter in a script's first line, and its argument (execve(2)).
fn interpreter(bytes: &[u8]) -> Option<(String, Option<String>)> {
    let line = bytes
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = String::from_utf8_lossy(line).trim().to_owned();
    match line.split_once(char::is_whitespace) {
        Some((interpreter, argument)) => {
            Some((interpreter.to_owned(), Some(argument.trim().to_owned())))
        }
        None => (!line.is_empty()).then_some((line, None)),
    }
}

/// Whether a file is a program or a script.
pub(crate) fn is_one(path: &Path) -> Result<bool> {
    let bytes = fs::read(path).map_err(|e| LabError::io("read", path, e))?;
    Ok(elf::read(&bytes).is_ok() || interpreter(&bytes).is_some())
}

/// The programs that a script starts with: its interpreter, and the one that env(1) starts.
fn of_a_script(bytes: &[u8]) -> Result<Vec<PathBuf>> {
    let Some((interpreter, argument)) = interpreter(bytes) else {
        return Ok(Vec::new());
    };
    let mut programs = vec![PathBuf::from(&interpreter)];
    if Path::new(&interpreter)
        .file_name()
        .is_some_and(|name| name == "env")
    {
        let words = argument.unwrap_or_default();
        let named = words.split_whitespace().find(|word| !word.starts_with('-'));
        if let Some(name) = named {
            programs.push(installed(name, THAT_HOLDS_IT)?);
        }
    }
    Ok(programs)
}

/// Adds the program at `path` as `inside`, with its interpreter and libraries at their own paths;
/// for a script, its interpreter with all of these.
pub(crate) fn add(files: &mut BTreeMap<String, Entry>, path: &Path, inside: &Path) -> Result<()> {
    let bytes = fs::read(path).map_err(|e| LabError::io("read", path, e))?;
    let starts = of_a_script(&bytes)?;
    if !starts.is_empty() {
        let path = inside
            .strip_prefix("/")
            .unwrap_or(inside)
            .display()
            .to_string();
        let kind = Kind::File {
            executable: true,
            bytes,
        };
        files.insert(path.clone(), Entry { path, kind });
        // The kernel doesn't start an interpreter that is itself a script.
        return starts.iter().try_for_each(|program| {
            if let Ok(bytes) = fs::read(program)
                && interpreter(&bytes).is_some()
            {
                return Ok(());
            }
            add(files, program, program)
        });
    }
    let (entry, interpreter) = program(path, inside)?;
    files.insert(entry.path.clone(), entry);
    let Some(interpreter) = interpreter else {
        return Ok(());
    };
    // The program names it, not the user.
    may_run(Path::new(&interpreter))?;
    // A name without a slash would be looked for among the libraries.
    let placed = Path::new(".").join(path);
    let listed = Command::new(&interpreter)
        .arg("--list")
        .arg(placed)
        .output();
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

/// Refuses a program that the guest can't run, or a script whose interpreter it can't.
pub(crate) fn refuse_other(path: &Path, architecture: Architecture) -> Result<()> {
    let bytes = fs::read(path).map_err(|e| LabError::io("read", path, e))?;
    let interpreter = interpreter(&bytes).map(|(interpreter, _)| PathBuf::from(interpreter));
    let path = interpreter.as_deref().unwrap_or(path);
    let bytes = match &interpreter {
        Some(path) => fs::read(path).map_err(|e| LabError::io("read", path, e))?,
        None => bytes,
    };
    match elf::read(&bytes) {
        Ok(program) if program.architecture != architecture => Err(LabError::OtherArchitecture {
            path: path.to_owned(),
            is: program.architecture,
            guest: architecture,
        }),
        // The caller reports a file that isn't a program.
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

/// A program's file, without the parts that are never loaded.
pub(crate) fn entry(inside: &str, bytes: Vec<u8>, program: &elf::Program) -> Entry {
    Entry {
        path: inside.to_owned(),
        kind: Kind::File {
            executable: true,
            bytes: elf::without_the_rest(bytes, program),
        },
    }
}

/// The libraries that a dynamic loader lists: `NAME => PATH (ADDRESS)`.
fn libraries(listed: &str) -> impl Iterator<Item = PathBuf> {
    listed.lines().filter_map(|line| {
        let (_, found) = line.split_once("=> ")?;
        let (path, _) = found.rsplit_once(" (")?;
        Some(PathBuf::from(path))
    })
}

/// The file of an installed program of `package`: a path unchanged, a name by the search of the
/// crate `programs`.
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
    fn a_script_comes_with_what_interprets_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("script");
        let added = |text: &str| {
            fs::write(&path, text).unwrap();
            let mut files = BTreeMap::new();
            add(&mut files, &path, Path::new("/run/script")).map(|()| files)
        };
        let found = added("#!/bin/sh -e\necho a\n").unwrap();
        assert!(found.contains_key("run/script") && found.contains_key("bin/sh"));
        let found = added("#! /usr/bin/env -S cat -u\n").unwrap();
        assert!(found.contains_key("usr/bin/env"), "{:?}", found.keys());
        assert!(found.keys().any(|path| path.ends_with("bin/cat")));
        let gone = added("#!/no/such/interpreter\n").unwrap_err().to_string();
        assert!(gone.contains("/no/such/interpreter"), "{gone}");
        let none = added("a letter").unwrap_err().to_string();
        assert!(none.contains("not a little-endian ELF program"), "{none}");
        assert!(is_one(Path::new("/bin/cat")).unwrap());
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
