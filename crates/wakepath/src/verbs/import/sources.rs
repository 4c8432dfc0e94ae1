//! The files to be imported, read and remembered by their digest. The crate `wakepath-import`
//! interprets them.

use super::Failure;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};
use wakepath_archive::FileRecord;
use wakepath_import::{Asked, Form, ImportError, Imported, Part, unpacked};

/// More bytes than any such file has.
const MOST_BYTES: u64 = 2 << 30;
/// Maximum number of files in a directory, and their maximum depth.
const MOST_PARTS: usize = 4096;
const DEEPEST: usize = 8;
/// The file that is standard input.
const STANDARD_INPUT: &str = "-";

/// Files that were read, all of one form.
pub(super) struct Sources {
    pub(super) form: &'static Form,
    pub(super) files: Vec<Imported>,
    /// A name for each of `files`.
    pub(super) names: Vec<String>,
    pub(super) records: Vec<FileRecord>,
    /// Files of a directory that no form fits.
    pub(super) passed_over: Vec<String>,
}

/// All files of an import, as a form that was given, else as what they are.
///
/// # Errors
/// The first file that can't be read, or is not of the form, with its line.
pub(super) fn read(
    paths: &[PathBuf],
    form: Option<&'static Form>,
    asked: &Asked<'_>,
) -> Result<Sources, Failure> {
    let mut reader = Reader {
        form,
        given: form,
        asked,
        files: Vec::new(),
        names: Vec::new(),
        records: Vec::new(),
        passed_over: Vec::new(),
    };
    for path in paths {
        if path.is_dir() {
            reader.directory(path)?;
        } else {
            let name = if path.as_os_str() == STANDARD_INPUT {
                "standard input".to_owned()
            } else {
                path.display().to_string()
            };
            reader.file(&name, &whole(path)?, false)?;
        }
    }
    let Some(form) = reader.form else {
        return Err("no file to import".into());
    };
    Ok(Sources {
        form,
        files: reader.files,
        names: reader.names,
        records: reader.records,
        passed_over: reader.passed_over,
    })
}

struct Reader<'a> {
    /// Of all files, as given or as the first one has it.
    form: Option<&'static Form>,
    given: Option<&'static Form>,
    asked: &'a Asked<'a>,
    files: Vec<Imported>,
    names: Vec<String>,
    records: Vec<FileRecord>,
    passed_over: Vec<String>,
}

impl Reader<'_> {
    fn directory(&mut self, path: &Path) -> Result<(), Failure> {
        let parts = parts(path)?;
        let name = path.display().to_string();
        let form = match self.given {
            Some(given) if given.is_directory() => Some(given),
            Some(_) => None,
            None => Form::of_directory(&parts),
        };
        if let Some(form) = form {
            self.belongs(&name, form)?;
            let read = form.read_directory(&parts, self.asked);
            self.files.push(read.map_err(|error| at(&name, &error))?);
            self.names.push(name);
            let records = parts.iter().map(|part| record(&part.path, &part.bytes));
            self.records.extend(records);
            return Ok(());
        }
        let before = self.files.len();
        for part in &parts {
            let name = path.join(&part.path).display().to_string();
            self.file(&name, &part.bytes, true)?;
        }
        if self.files.len() == before {
            let why = format!(
                "{name}: holds no file that can be imported; `wakepath import --help` lists the forms"
            );
            return Err(why.into());
        }
        Ok(())
    }

    /// Takes a file. One of a directory may be something else.
    fn file(&mut self, name: &str, packed: &[u8], is_part: bool) -> Result<(), Failure> {
        let bytes = unpacked(packed, MOST_BYTES).map_err(|error| at(name, &error))?;
        let known = Form::of_file(&bytes);
        let form = match (self.given, &known) {
            (Some(given), Ok(known)) if is_part && given != *known => {
                self.passed_over.push(name.to_owned());
                return Ok(());
            }
            (Some(given), _) => given,
            (None, Ok(known)) => *known,
            (None, Err(_)) if is_part => {
                self.passed_over.push(name.to_owned());
                return Ok(());
            }
            (None, Err(why)) => return Err(format!("{name}: {why}").into()),
        };
        self.belongs(name, form)?;
        let read = form.read(&bytes, self.asked);
        let file = read.map_err(|error| at(name, &error))?;
        self.files.push(file);
        self.names.push(name.to_owned());
        self.records.push(record(name, packed));
        Ok(())
    }

    /// All files of a run are of one form.
    fn belongs(&mut self, name: &str, form: &'static Form) -> Result<(), Failure> {
        let first = *self.form.get_or_insert(form);
        if first == form {
            return Ok(());
        }
        let before = self.names.first().map_or("", String::as_str);
        let why = format!(
            "{name}: is of the form {}, and {before} of the form {}: import each separately",
            form.word(),
            first.word()
        );
        Err(why.into())
    }
}

/// All files of a directory and those below, by path. No link is followed.
fn parts(directory: &Path) -> Result<Vec<Part>, Failure> {
    let shown = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let mut parts = Vec::new();
    let mut bytes = 0;
    let mut open = vec![(directory.to_path_buf(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| shown(&folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| shown(&folder, &error))?;
            let path = entry.path();
            let about = entry.metadata().map_err(|error| shown(&path, &error))?;
            if about.is_dir() && depth < DEEPEST {
                // The index next to the streams is not needed.
                if entry.file_name() != "index" {
                    open.push((path, depth + 1));
                }
                continue;
            }
            if !about.is_file() {
                continue;
            }
            bytes += about.len();
            if parts.len() == MOST_PARTS || bytes > MOST_BYTES {
                let why = format!("more than {MOST_PARTS} files or 2 GiB: give one trace");
                return Err(shown(directory, &why).into());
            }
            let below = path.strip_prefix(directory).unwrap_or(&path);
            parts.push(Part {
                path: below.to_string_lossy().into_owned(),
                bytes: whole(&path)?,
            });
        }
    }
    parts.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(parts)
}

fn at(name: &str, error: &ImportError) -> String {
    match error.line {
        Some(_) => format!("{name}:{error}"),
        None => format!("{name}: {error}"),
    }
}

fn whole(path: &Path) -> Result<Vec<u8>, Failure> {
    let too_long = || std::io::Error::other("longer than 2 GiB");
    let read = if path.as_os_str() == STANDARD_INPUT {
        let mut bytes = Vec::new();
        let mut input = std::io::stdin().lock().take(MOST_BYTES + 1);
        input.read_to_end(&mut bytes).and_then(|_| {
            if bytes.len() as u64 > MOST_BYTES {
                Err(too_long())
            } else {
                Ok(bytes)
            }
        })
    } else {
        std::fs::metadata(path).and_then(|about| {
            if about.len() > MOST_BYTES {
                Err(too_long())
            } else {
                std::fs::read(path)
            }
        })
    };
    read.map_err(|error| format!("{}: {error}", path.display()).into())
}

fn record(name: &str, bytes: &[u8]) -> FileRecord {
    let own = Path::new(name).file_name();
    FileRecord {
        name: own
            .map_or(Cow::Borrowed(name), |own| own.to_string_lossy())
            .into_owned(),
        bytes: bytes.len() as u64,
        sha256: Sha256::digest(bytes)
            .iter()
            .fold(String::new(), |mut text, byte| {
                // Writing to a String can't fail.
                let _ = write!(text, "{byte:02x}");
                text
            }),
    }
}
