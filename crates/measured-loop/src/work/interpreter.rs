//! Finds and loads Python's shared library.
//!
//! An interpreter is asked for the paths of its library and modules. Nothing of Python is called
//! here.

// Loading foreign code has no safe form.
#![allow(unsafe_code)]

use super::error::PythonFault;
use std::ffi::{CString, c_void};
use std::path::Path;
use std::process::Command;

const WHERE: &str = include_str!("python_library.py");

/// An interpreter's description of itself.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) version: String,
    /// For `PYTHONHOME`.
    pub(super) home: String,
    /// File name of its library.
    name: String,
    /// Directories to search for it.
    places: Vec<String>,
    /// Its module path, entries separated by tabulators.
    pub(super) path: String,
}

impl Found {
    pub(super) fn new(interpreter: &str) -> Result<Self, PythonFault> {
        let none = |why: String| PythonFault::NoInterpreter {
            interpreter: interpreter.into(),
            why,
        };
        let program = wakepath_programs::to_start(interpreter)
            .map_err(|error| PythonFault::NotToStart(error.to_string()))?;
        let output = Command::new(program)
            .args(["-c", WHERE])
            .output()
            .map_err(|error| none(error.to_string()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        Self::parse(&said)
            .filter(|_| output.status.success())
            .ok_or_else(|| {
                let error = String::from_utf8_lossy(&output.stderr);
                let last = error.lines().last().unwrap_or("it said nothing");
                none(format!("{last} ({})", output.status))
            })
    }

    fn parse(said: &str) -> Option<Self> {
        let mut lines = said.lines().map(str::to_owned);
        let mut line = || lines.next();
        Some(Self {
            version: line()?,
            home: line()?,
            name: line()?,
            places: line()?.split('\t').map(str::to_owned).collect(),
            path: line()?,
        })
    }

    /// Loads the library from the first directory that has it. Its symbols are global, because
    /// modules in C look for them there.
    pub(super) fn open(&self, interpreter: &str) -> Result<*mut c_void, PythonFault> {
        let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL;
        let named = self.name.contains(".so");
        for place in self.places.iter().filter(|_| named) {
            let file = if place.is_empty() {
                self.name.clone()
            } else {
                Path::new(place).join(&self.name).display().to_string()
            };
            let Ok(file) = CString::new(file) else {
                continue;
            };
            // SAFETY: a NUL-terminated path; Python's own start-up code is trusted as the
            // interpreter that was just run is.
            let library = unsafe { libc::dlopen(file.as_ptr(), flags) };
            if !library.is_null() {
                return Ok(library);
            }
        }
        let short: Vec<&str> = self.version.split('.').take(2).collect();
        Err(PythonFault::NoLibrary {
            interpreter: interpreter.into(),
            version: self.version.clone(),
            short: short.join("."),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(interpreter: &str) -> String {
        Found::new(interpreter).unwrap_err().to_string()
    }

    #[test]
    fn an_interpreter_that_is_missing_or_none_is_named_in_one_line() {
        let line = refused("/nowhere/python3");
        assert!(
            line.starts_with("no Python: /nowhere/python3: No such file"),
            "{line}"
        );
        let line = refused("false");
        assert!(
            line.contains("false: it said nothing (exit status: 1)"),
            "{line}"
        );
        assert!(!line.contains('\n'), "{line}");
    }

    #[test]
    fn an_interpreter_without_a_shared_library_says_which_package_has_it() {
        let said = "3.11.2\n/usr:/usr\nlibpython3.11.a\n/usr/lib\t\n/usr/lib/python3.11\n";
        let found = Found::parse(said).unwrap();
        let line = found.open("python3").unwrap_err().to_string();
        assert!(
            line.contains("python3 (Python 3.11.2) has no shared library")
                && line.contains("libpython3.11"),
            "{line}"
        );
    }

    #[test]
    fn what_an_interpreter_says_cut_short_is_not_taken() {
        assert_eq!(Found::parse("3.11.2\n/usr\nlibpython3.11.so"), None);
    }
}
