//! In the guest: loads modules and writes kernel values before anything else.
//!
//! Each value is read back afterwards.

use super::InsideError;
use crate::order::{OrderedModule, OrderedWrite};
use rustix::io::Errno;
use rustix::system::init_module;
use std::ffi::CString;
use std::fs;
use std::io::{self, Write};

/// Loads them in order; one that is loaded already is no error.
pub(super) fn load(modules: &[OrderedModule]) -> Result<(), InsideError> {
    for module in modules {
        let failed = |source: io::Error| InsideError::Module {
            path: module.path.clone(),
            source,
        };
        let bytes = fs::read(&module.path).map_err(failed)?;
        let parameters = CString::new(module.parameters.as_str());
        let parameters = parameters.map_err(|error| failed(error.into()))?;
        match init_module(&bytes, &parameters) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(error.into())),
        }
    }
    Ok(())
}

/// Writes values; returns a sentence for each that the kernel doesn't show afterwards.
pub(super) fn write(writes: &[OrderedWrite]) -> Result<Vec<String>, InsideError> {
    let mut in_vain = Vec::new();
    for OrderedWrite { path, value } in writes {
        let written = || {
            let mut file = fs::File::options().write(true).open(path)?;
            // In one write: the kernel takes each write as a separate value.
            file.write_all(value.as_bytes())
        };
        written().map_err(|source| InsideError::Write {
            path: path.clone(),
            value: value.clone(),
            source,
        })?;
        // Some can't be read.
        if let Ok(now) = fs::read_to_string(path)
            && !says(&now, value)
        {
            let now = now.lines().next().unwrap_or("");
            in_vain.push(format!("{value} was written to {path}, which says {now:?}"));
        }
    }
    Ok(in_vain)
}

/// Whether a kernel file shows the written value: the same words, or the chosen word in brackets.
fn says(now: &str, value: &str) -> bool {
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let (now, value) = (words(now), words(value));
    let chosen = value.first().map(|word| format!("[{word}]"));
    // A file that takes commands shows no value.
    now == value || now.is_empty() || chosen.is_some_and(|word| now.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_back_and_one_that_is_not_there_is_named() {
        assert!(says("1\n", "1") && says("4096\t87380\n", "4096 87380"));
        assert!(says("always [madvise] never\n", "madvise"));
        assert!(!says("[always] madvise never\n", "madvise"));
        assert!(!says("950000\n", "-1"));
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("value").display().to_string();
        let order = |value: &str| OrderedWrite {
            path: path.clone(),
            value: value.into(),
        };
        let gone = write(&[order("1")]).unwrap_err().to_string();
        assert!(
            gone.starts_with(&format!("1 can't be written to {path}: ")),
            "{gone}"
        );
        fs::write(&path, "1000\n").unwrap();
        assert_eq!(write(&[order("7000")]).unwrap(), [""; 0]);
        fs::write(&path, "1000 1\n").unwrap();
        let said = write(&[order("7000")]).unwrap();
        assert_eq!(
            said,
            [format!("7000 was written to {path}, which says \"7000 1\"")]
        );
        let module = OrderedModule {
            path: path.clone(),
            parameters: String::new(),
        };
        // Not a module, so every kernel refuses it.
        let refused = load(&[module]).unwrap_err().to_string();
        assert!(
            refused.starts_with(&format!("the module {path}: ")),
            "{refused}"
        );
    }
}
