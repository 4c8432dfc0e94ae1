//! Marks as uprobes of the kernel: written into `uprobe_events`, which is one for all instances, under a
//! group that names the process, so that those of a dead one are found. Only our instances record them.

use crate::error::{ProbeError, Result};
use crate::owner::Owner;
use crate::stream::{Tracepoint, Wanted};
use crate::tracefs::read_text;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use wakepath_archive::EventKind;

const LIST: &str = "uprobe_events";

/// A place of a program's code that is recorded when a thread passes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// As events will name it.
    pub number: u16,
    /// The program or library, by its whole path.
    pub file: PathBuf,
    /// All of its places.
    pub places: Vec<Place>,
    /// Whether there is to be no recording without it.
    #[serde(default)]
    pub is_needed: bool,
    /// The function that begins there, if its calls are recorded with their arguments.
    #[serde(default)]
    pub function: Option<Function>,
}

/// A function as it is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// As events will name it: letters, digits, underscores.
    pub name: String,
    /// The arguments that are recorded.
    pub arguments: Vec<Argument>,
}

/// Where an argument is when a function begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Argument {
    /// A whole number or an address, by its position from 0 to 5.
    Number(u8),
    /// One byte, as `bool` is passed: the others of its register may hold anything.
    Byte(u8),
    /// A text that ends with a NUL, by the position of its address.
    Text(u8),
    /// A `std::string` of libstdc++, by the position of its address: it begins with the address of its text.
    StdText(u8),
    /// The function's result, a whole number: recorded when it returns, and without its arguments.
    Result,
    /// The address to which the function returns.
    Caller,
    /// The word so many bytes after an address, by the address's position.
    Word(u8, u8),
    /// The word at the address that is at an address, by the latter's position.
    Pointed(u8),
    /// A text, by the place of its address so many bytes after an address, by the latter's position.
    TextAt(u8, u8),
}

impl Argument {
    /// As the kernel reads it, under this name.
    fn fetched(self, name: &str) -> Option<String> {
        Some(match self {
            Self::Number(at) => format!("{name}=%{}:u64", register(at)?),
            Self::Byte(at) => format!("{name}=%{}:u8", register(at)?),
            Self::Text(at) => format!("{name}=+0(%{}):string", register(at)?),
            Self::StdText(at) => format!("{name}=+0(+0(%{})):string", register(at)?),
            Self::Result => format!("{name}=$retval:u64"),
            Self::Caller => format!("{name}={}:u64", return_address()?),
            Self::Word(at, offset) => format!("{name}=+{offset}(%{}):u64", register(at)?),
            Self::Pointed(at) => format!("{name}=+0(+0(%{})):u64", register(at)?),
            Self::TextAt(at, offset) => {
                format!("{name}=+0(+{offset}(%{})):string", register(at)?)
            }
        })
    }
}

impl Function {
    /// The fetched arguments of a uprobe: numbers are `n0`, `n1`, texts `t0`, `t1`; nothing for arguments that no
    /// register of this architecture holds.
    fn fetched(&self) -> String {
        let (mut numbers, mut texts) = (0, 0);
        let arguments = self.arguments.iter().filter_map(|argument| {
            let (letter, count) = match argument {
                Argument::Text(_) | Argument::StdText(_) | Argument::TextAt(..) => {
                    ('t', &mut texts)
                }
                _ => ('n', &mut numbers),
            };
            let fetched = argument.fetched(&format!("{letter}{count}"))?;
            *count += 1;
            Some(format!(" {fetched}"))
        });
        arguments.collect()
    }

    /// The kind of probe: at the function's beginning, or at its return.
    fn letter(&self) -> char {
        if self.arguments.contains(&Argument::Result) {
            'r'
        } else {
            'p'
        }
    }
}

/// The register of an argument: System V ABI for x86-64, AAPCS64.
fn register(at: u8) -> Option<&'static str> {
    let registers: [&str; 6] = match cfg!(target_arch = "x86_64") {
        true => ["di", "si", "dx", "cx", "r8", "r9"],
        false if cfg!(target_arch = "aarch64") => ["x0", "x1", "x2", "x3", "x4", "x5"],
        false => return None,
    };
    registers.get(usize::from(at)).copied()
}

/// Where a function that begins finds the address to return to.
fn return_address() -> Option<&'static str> {
    match () {
        () if cfg!(target_arch = "x86_64") => Some("$stack0"),
        () if cfg!(target_arch = "aarch64") => Some("%x30"),
        () => None,
    }
}

/// One place, as offsets in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Of the instruction.
    pub offset: u64,
    /// Of the counter that the kernel raises while the place is recorded.
    pub semaphore: Option<u64>,
}

/// Uprobes of this process, removed when this is dropped: after the instance that records them, since the kernel removes
/// none that is recorded.
#[derive(Debug)]
pub(crate) struct Registered {
    root: PathBuf,
    group: String,
    /// One for each place.
    pub(crate) wanted: Vec<Wanted>,
}

impl Registered {
    /// Registers all places of these marks; none for none.
    ///
    /// # Errors
    /// [`ProbeError::NoUprobes`], or what the kernel refused; whatever was registered is removed.
    pub(crate) fn all(root: &Path, owner: &Owner, marks: &[Mark]) -> Result<Self> {
        let mut registered = Self {
            root: root.to_owned(),
            group: group(owner),
            wanted: Vec::new(),
        };
        for mark in marks {
            for (number, place) in mark.places.iter().enumerate() {
                registered.one(mark, number, place)?;
            }
        }
        Ok(registered)
    }

    fn one(&mut self, mark: &Mark, number: usize, place: &Place) -> Result<()> {
        let (name, fetched, kind) = match &mark.function {
            None => (
                format!("mark_{}_{number}", mark.number),
                String::new(),
                EventKind::Mark,
            ),
            Some(function) => (
                format!("call_{}_{}", mark.number, function.name),
                function.fetched(),
                EventKind::Call,
            ),
        };
        let Place { offset, semaphore } = place;
        let semaphore = semaphore.map_or_else(String::new, |at| format!("({at:#x})"));
        let (group, file) = (&self.group, Named::new(&mark.file)?);
        let letter = mark.function.as_ref().map_or('p', Function::letter);
        say(
            &self.root,
            &format!(
                "{letter}:{group}/{name} {}:{offset:#x}{semaphore}{fetched}",
                file.path.display()
            ),
        )?;
        self.wanted.push(Wanted {
            tracepoint: Tracepoint {
                system: self.group.clone().into(),
                name,
            },
            kind,
        });
        Ok(())
    }
}

/// A file by a path that the kernel's list can take: blanks end a word there, so a path with blanks is given
/// by a descriptor. The kernel resolves it at once and needs it no longer.
struct Named {
    path: PathBuf,
    _open: Option<File>,
}

impl Named {
    fn new(file: &Path) -> Result<Self> {
        let has_blank = file
            .as_os_str()
            .as_bytes()
            .iter()
            .any(u8::is_ascii_whitespace);
        let open = has_blank.then(|| File::open(file)).transpose();
        let open = open.map_err(|source| ProbeError::Io {
            action: "open",
            path: file.to_owned(),
            source,
        })?;
        let path = open.as_ref().map_or_else(
            || file.to_owned(),
            |open| format!("/proc/self/fd/{}", open.as_raw_fd()).into(),
        );
        Ok(Self { path, _open: open })
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        for wanted in &self.wanted {
            // One that can't be removed now is left to the next start.
            let _ = say(
                &self.root,
                &format!("-:{}/{}", self.group, wanted.tracepoint.name),
            );
        }
    }
}

/// Removes the uprobes of dead processes.
pub(crate) fn remove_of(root: &Path) {
    let text = read_text(&root.join(LIST)).unwrap_or_default();
    for event in dead(&text, Owner::is_dead) {
        let _ = say(root, &format!("-:{event}"));
    }
}

/// Those of a list whose owners are dead, as `GROUP/NAME`.
fn dead(list: &str, is_dead: fn(&Owner) -> bool) -> Vec<&str> {
    let events = list.lines().filter_map(|line| {
        let event = line
            .strip_prefix("p:")
            .or_else(|| line.strip_prefix("r:"))?;
        let event = event.split(' ').next()?;
        let (group, _) = event.split_once('/')?;
        let owner = Owner::new(&group.replace('_', "-"))?;
        is_dead(&owner).then_some(event)
    });
    events.collect()
}

/// The kernel's names take letters, digits and underscores.
fn group(owner: &Owner) -> String {
    owner.name().replace('-', "_")
}

/// One line: appended, since opening the list to be written again would empty it of everybody's.
fn say(root: &Path, line: &str) -> Result<()> {
    let path = root.join(LIST);
    let mut list = match File::options().append(true).open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(ProbeError::NoUprobes);
        }
        opened => opened.map_err(|error| ProbeError::refused(&path, error))?,
    };
    list.write_all(line.as_bytes())
        .map_err(|source| ProbeError::UprobeRefused {
            line: line.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_uprobes_of_ours_whose_process_is_dead_are_removed() {
        let list = "p:wakepath_12_345_4026531836/mark_0_0 /bin/pilot:0x1010\n\
            p:wakepath_12_345_4026531836/mark_1_0 /bin/pilot:0x1020 ref=1\n\
            p:perf/mark_0_0 /bin/pilot:0x1010\n\
            r:wakepath_12_345_4026531836/call_2_f /bin/pilot:0x1010 n0=$retval\n\
            r10:wakepath_12_345_4026531836/mark_3_0 /bin/pilot:0x1010\n\
            p:wakepath_12/mark_0_0 /bin/pilot:0x1010\nnonsense\n";
        let found = dead(list, |_| true);
        assert_eq!(
            found,
            [
                "wakepath_12_345_4026531836/mark_0_0",
                "wakepath_12_345_4026531836/mark_1_0",
                "wakepath_12_345_4026531836/call_2_f"
            ]
        );
        assert!(dead(list, |_| false).is_empty());
    }
}
