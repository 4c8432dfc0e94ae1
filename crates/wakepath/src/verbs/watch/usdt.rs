//! The USDT probes that `--cycle` and `--section` name, found in the program's files: a name that is not there is
//! answered with those that are.

use crate::command_line::Watch;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use wakepath_archive::watch::{Marked, Threads};
use wakepath_probe::usdt::{Mark, NoProbes, Place, Site, sites_of};
use wakepath_timeline::{one_line, plain_name};

/// As many as a recorded loop has.
const MOST_SECTIONS: usize = 16;
/// Number of names shown if one was not found.
const MOST_TOLD: usize = 12;
/// A probe that is inlined more often slows what it is in.
const MOST_PLACES: usize = 256;

/// Why probes can't be recorded.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("{option} {given}: expected {expected}")]
    Form {
        option: &'static str,
        given: String,
        expected: &'static str,
    },
    #[error("--section: {MOST_SECTIONS} sections at most, and {0} are given")]
    TooMany(usize),
    #[error("{option}: {} has no probe {wanted}; {known}", file.display())]
    Unknown {
        option: &'static str,
        file: PathBuf,
        wanted: String,
        known: Known,
    },
    #[error("{option}: {}: {why}; name the file that has the probe, as FILE:PROVIDER:NAME", file.display())]
    NoProbes {
        option: &'static str,
        file: PathBuf,
        why: NoProbes,
    },
    #[error(
        "{option}: the probe {wanted} is at {count} places; {MOST_PLACES} at most are recorded"
    )]
    Everywhere {
        option: &'static str,
        wanted: String,
        count: usize,
    },
    #[error(
        "{option}: no file of what is watched can be read; name the one that has the probe, as FILE:PROVIDER:NAME"
    )]
    NoFile { option: &'static str },
}

/// The probes of a file, as a person reads them.
#[derive(Debug)]
pub(super) struct Known(Vec<String>);

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(names) = self;
        if names.is_empty() {
            return f.write_str("it has none: a program gets them by <sys/sdt.h>");
        }
        write!(
            f,
            "it has {}",
            names[..names.len().min(MOST_TOLD)].join(", ")
        )?;
        match names.len().checked_sub(MOST_TOLD) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, " and {more} more"),
        }
    }
}

/// One probe as it was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    file: Option<PathBuf>,
    provider: String,
    name: String,
}

impl Wanted {
    fn read(text: &str) -> Option<Self> {
        let (front, name) = text.rsplit_once(':')?;
        let (file, provider) = match front.rsplit_once(':') {
            None => (None, front),
            Some((file, provider)) => (Some(PathBuf::from(file)), provider),
        };
        let whole = !name.is_empty() && !provider.is_empty() && file != Some(PathBuf::new());
        whole.then(|| Self {
            file,
            provider: provider.into(),
            name: name.into(),
        })
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.name)
    }
}

/// The requested probes, as marks for the kernel and as names for people.
pub(super) fn marks(arguments: &Watch, threads: &Threads) -> Result<(Vec<Mark>, Marked), Refused> {
    let mut files = Files::new(arguments, threads);
    let (mut marks, mut marked) = (Vec::new(), Marked::default());
    if arguments.section.len() > MOST_SECTIONS {
        return Err(Refused::TooMany(arguments.section.len()));
    }
    if let Some(given) = &arguments.cycle {
        let option = "--cycle";
        let (begin, end) = pair(option, given, "BEGIN,END, each as PROVIDER:NAME")?;
        marks.push(files.mark(option, 0, &begin, None)?);
        marked.cycle = Some(match &end {
            None => format!("from {begin} on"),
            Some(end) => {
                marks.push(files.mark(option, 1, end, begin.file.as_deref())?);
                format!("between {begin} and {end}")
            }
        });
    }
    for (number, given) in (1..).zip(&arguments.section) {
        let (option, expected) = ("--section", "BEGIN,END, each as PROVIDER:NAME");
        let (begin, Some(end)) = pair(option, given, expected)? else {
            return Err(Refused::Form {
                option,
                given: one_line(given),
                expected,
            });
        };
        marks.push(files.mark(option, 2 * number, &begin, None)?);
        marks.push(files.mark(option, 2 * number + 1, &end, begin.file.as_deref())?);
        let name = section_name(&begin, &end);
        let count = marked.sections.iter().filter(|known| **known == name);
        let again = count.count() + 1;
        marked.sections.push(match again {
            1 => name,
            again => format!("{name}-{again}"),
        });
    }
    Ok((marks, marked))
}

fn pair(
    option: &'static str,
    given: &str,
    expected: &'static str,
) -> Result<(Wanted, Option<Wanted>), Refused> {
    let mut parts = given.split(',').map(|part| Wanted::read(part.trim()));
    match (parts.next().flatten(), parts.next(), parts.next()) {
        (Some(begin), None, None) => Ok((begin, None)),
        (Some(begin), Some(Some(end)), None) => Ok((begin, Some(end))),
        _ => Err(Refused::Form {
            option,
            given: one_line(given),
            expected,
        }),
    }
}

/// What both names begin with: `control` of `control_begin` and `control_end`.
fn section_name(begin: &Wanted, end: &Wanted) -> String {
    let common = begin.name.chars().zip(end.name.chars());
    let common: String = common.take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let common = common.trim_end_matches(['_', '-', '.']);
    if common.is_empty() || begin.name == end.name {
        plain_name(&format!("{}-{}", begin.name, end.name))
    } else {
        plain_name(common)
    }
}

/// The files that probes are looked for in, and what was found in them.
struct Files {
    own: Vec<PathBuf>,
    read: BTreeMap<PathBuf, Result<Vec<Site>, NoProbes>>,
}

impl Files {
    /// Those of the program that is to be started, or of the processes that are there.
    fn new(arguments: &Watch, threads: &Threads) -> Self {
        let own = match arguments.command.first() {
            // One that can't be started was refused before.
            Some(program) => wakepath_programs::to_start(program).into_iter().collect(),
            None => mapped(threads),
        };
        Self {
            own,
            read: BTreeMap::new(),
        }
    }

    fn mark(
        &mut self,
        option: &'static str,
        number: u16,
        wanted: &Wanted,
        besides: Option<&Path>,
    ) -> Result<Mark, Refused> {
        let named = wanted.file.as_deref().or(besides);
        let candidates = match named {
            Some(file) => vec![file.to_owned()],
            None => self.own.clone(),
        };
        let mut first = None;
        for file in candidates {
            // As in the kernel's list of uprobes.
            let file = std::fs::canonicalize(&file).unwrap_or(file);
            let sites = match self
                .read
                .entry(file.clone())
                .or_insert_with(|| sites_of(&file))
            {
                Ok(sites) => sites,
                Err(_) => {
                    if first.is_none()
                        && let Some(Err(why)) = self.read.remove(&file)
                    {
                        first = Some(Refused::NoProbes { option, file, why });
                    }
                    continue;
                }
            };
            let is_wanted =
                |site: &&Site| site.provider == wanted.provider && site.name == wanted.name;
            let places: Vec<Place> = sites.iter().filter(is_wanted).map(place).collect();
            if places.is_empty() {
                // The program's own list says more than that a library has none.
                if first.is_none() || !sites.is_empty() {
                    first = Some(Refused::Unknown {
                        option,
                        file,
                        wanted: wanted.to_string(),
                        known: known(sites),
                    });
                }
                continue;
            }
            if places.len() > MOST_PLACES {
                return Err(Refused::Everywhere {
                    option,
                    wanted: wanted.to_string(),
                    count: places.len(),
                });
            }
            return Ok(Mark {
                number,
                file,
                places,
                is_needed: true,
                function: None,
            });
        }
        Err(first.unwrap_or(Refused::NoFile { option }))
    }
}

fn place(site: &Site) -> Place {
    Place {
        offset: site.offset,
        semaphore: site.semaphore,
    }
}

fn known(sites: &[Site]) -> Known {
    let names = sites
        .iter()
        .map(|of| format!("{}:{}", of.provider, of.name));
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names.dedup();
    Known(names)
}

/// The files whose code these processes have mapped, each as its process sees it, the program first.
pub(super) fn mapped(threads: &Threads) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut processes: Vec<u32> = threads.values().map(|of| of.process).collect();
    processes.sort_unstable();
    processes.dedup();
    for process in processes {
        let program = PathBuf::from(format!("/proc/{process}/exe"));
        let maps = std::fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
        let root = PathBuf::from(format!("/proc/{process}/root"));
        let libraries = maps.split(|&byte| byte == b'\n').filter_map(|line| {
            let mut words = line.splitn(6, |&byte| byte == b' ');
            let rights = words.nth(1)?;
            let path = words.nth(3)?.trim_ascii_start().strip_prefix(b"/")?;
            let is_code = rights.contains(&b'x');
            is_code.then(|| root.join(OsStr::from_bytes(path)))
        });
        for file in std::iter::once(program).chain(libraries) {
            let file = std::fs::canonicalize(&file).unwrap_or(file);
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_named_with_or_without_its_file() {
        let wanted = |file: Option<&str>| Wanted {
            file: file.map(PathBuf::from),
            provider: "pilot".into(),
            name: "begin".into(),
        };
        assert_eq!(Wanted::read("pilot:begin"), Some(wanted(None)));
        let of = |file| Some(wanted(Some(file)));
        assert_eq!(Wanted::read("./a:pilot:begin"), of("./a"));
        assert_eq!(Wanted::read("/odd:name:pilot:begin"), of("/odd:name"));
        for bad in ["", "begin", ":begin", "pilot:", ":pilot:begin"] {
            assert_eq!(Wanted::read(bad), None, "{bad}");
        }
        for bad in ["", "pilot:a,", "pilot:a,pilot:b,pilot:c", "pilot:a pilot"] {
            let read = pair("--cycle", bad, "BEGIN,END");
            let is_one = bad == "pilot:a pilot";
            assert_eq!(read.is_ok(), is_one, "{bad}: {read:?}");
        }
    }

    #[test]
    fn a_section_is_called_what_both_its_probes_begin_with() {
        let name = |begin: &str, end: &str| {
            let read = |name: &str| Wanted::read(&format!("pilot:{name}")).unwrap();
            section_name(&read(begin), &read(end))
        };
        assert_eq!(name("control_begin", "control_end"), "control");
        assert_eq!(name("read__start", "read__done"), "read");
        assert_eq!(name("begin", "end"), "begin-end");
        assert_eq!(name("tick", "tick"), "tick-tick");
    }

    #[test]
    fn of_many_probes_the_first_are_told() {
        let site = |number: u32| Site {
            provider: "p".into(),
            name: format!("n{number:02}"),
            offset: 0,
            semaphore: None,
        };
        let all: Vec<Site> = (0..14)
            .flat_map(|number| [site(number), site(number)])
            .collect();
        let said = known(&all).to_string();
        assert!(said.starts_with("it has p:n00, p:n01, "), "{said}");
        assert!(said.ends_with("p:n11 and 2 more"), "{said}");
        assert!(known(&[]).to_string().contains("none"));
    }
}
