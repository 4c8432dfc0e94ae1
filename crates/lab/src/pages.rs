//! Files of repeated experiments' pages. The index lists every page that has its entry next to it, so that the pages
//! of several commands share one.

use crate::fault::FileFault;
use crate::whole_file::whole_or_not;
use crate::{ExperimentError, LabError, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use wakepath_experiments::{Entry, Pages, index, indexed};

/// Name of the index in its directory.
const INDEX: &str = "README.md";

/// Writes pages, their figures and their entries, and then the index of all pages in the directory. Returns its path.
///
/// # Errors
/// If another page's entry can't be read or is of another setting, and then nothing is written; if a file can't be
/// written.
pub fn write_pages(written: &Pages, place: &Path) -> Result<PathBuf> {
    let entries = entries_in(place, &written.entries)?;
    std::fs::create_dir_all(place).map_err(|error| LabError::io("make", place, error))?;
    for (name, text) in written.figures.iter().chain(&written.experiments) {
        whole_or_not(&place.join(name), text)?;
    }
    for entry in &written.entries {
        let text = serde_json::to_string_pretty(entry).expect("texts and numbers");
        whole_or_not(&place.join(Entry::file(&entry.experiment)), &(text + "\n"))?;
    }
    let path = place.join(INDEX);
    whole_or_not(&path, &index(&entries))?;
    Ok(path)
}

/// The index of the pages in a directory, as Markdown.
///
/// # Errors
/// If an entry can't be read, if two are of different settings, or if there is none.
pub fn index_of_pages(place: &Path) -> Result<String> {
    let entries = entries_in(place, &[])?;
    if entries.is_empty() {
        return Err(ExperimentError::NoPages {
            place: place.to_owned(),
        }
        .into());
    }
    Ok(index(&entries))
}

/// The entries of a directory in the order of the index, with `new` in the place of those of the same names.
fn entries_in(place: &Path, new: &[Entry]) -> Result<Vec<Entry>> {
    let mut all: Vec<Entry> = Vec::new();
    for name in indexed() {
        let entry = match new.iter().find(|entry| entry.experiment == name) {
            Some(entry) => Some(entry.clone()),
            None => read(&place.join(Entry::file(name)))?,
        };
        all.extend(entry);
    }
    let setting = new.first().or(all.first()).map(|first| first.setting);
    match all.iter().find(|entry| Some(entry.setting) != setting) {
        None => Ok(all),
        Some(other) => Err(ExperimentError::OtherPages {
            file: place.join(Entry::file(&other.experiment)),
        }
        .into()),
    }
}

/// An entry; `None` if there is no such file.
fn read(file: &Path) -> Result<Option<Entry>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(LabError::io("read", file, error)),
    };
    let entry = serde_json::from_str(&text).map_err(|source| LabError::File {
        path: file.to_owned(),
        fault: FileFault::NotUnderstood {
            is_not: "no entry of an experiment's page",
            source,
            remedy: Some("write that page again, or remove the file"),
        },
    })?;
    Ok(Some(entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_experiments::{Repeated, SecondRun, Setting, Verdicts, named, of_boards, pages};

    /// Pages of an experiment before its first run.
    fn written(name: &str) -> Pages {
        let experiment = named(name).unwrap();
        pages(&[Repeated {
            experiment,
            claims: experiment.claims(),
            second_run: SecondRun::None,
            guests: Vec::new(),
        }])
    }

    fn rows(index: &str) -> Vec<&str> {
        let lines = index.lines().filter(|line| line.starts_with("| ["));
        lines
            .map(|line| line.split_once("](").unwrap().1.split(')').next().unwrap())
            .collect()
    }

    #[test]
    fn one_experiment_alone_keeps_the_rows_of_the_others() {
        let place = tempfile::tempdir().unwrap();
        let mut index = String::new();
        for name in ["litmus-16core", "beaglepilot", "litmus-16core"] {
            let path = write_pages(&written(name), place.path()).unwrap();
            index = std::fs::read_to_string(path).unwrap();
        }
        assert_eq!(rows(&index), ["beaglepilot.md", "litmus-16core.md"]);
        assert_eq!(index_of_pages(place.path()).unwrap(), index);
        // A page that is written again has its new row.
        let mut again = written("beaglepilot");
        again.entries[0].rows[0].claims.agree = 77;
        write_pages(&again, place.path()).unwrap();
        let index = index_of_pages(place.path()).unwrap();
        assert_eq!(index.matches("| 77 |").count(), 1, "{index}");
    }

    #[test]
    fn pages_of_another_setting_and_damaged_entries_are_refused_before_anything_is_written() {
        let place = tempfile::tempdir().unwrap();
        let nothing = index_of_pages(place.path()).unwrap_err().to_string();
        assert!(nothing.contains("no page of an experiment"), "{nothing}");
        let board = Pages {
            entries: vec![Entry {
                setting: Setting::Board,
                ..written("pi5-250hz").entries.remove(0)
            }],
            experiments: Vec::new(),
            figures: Vec::new(),
        };
        write_pages(&board, place.path()).unwrap();
        let before = std::fs::read_dir(place.path()).unwrap().count();
        let other = write_pages(&written("aura-100hz"), place.path()).unwrap_err();
        let other = other.to_string();
        assert!(
            other.contains("pi5-250hz.json") && other.contains("--page"),
            "{other}"
        );
        std::fs::write(place.path().join("pi5-250hz.json"), "{}\n").unwrap();
        let damaged = write_pages(&written("aura-100hz"), place.path()).unwrap_err();
        let damaged = damaged.to_string();
        assert!(
            damaged.contains("pi5-250hz.json: no entry") && damaged.lines().count() == 1,
            "{damaged}"
        );
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), before);
        // The page that is damaged can be written again.
        write_pages(&written("pi5-250hz"), place.path()).unwrap();
    }

    /// The committed pages: `./test` compares their index with the entries.
    #[test]
    fn each_committed_page_has_an_entry_with_the_verdicts_that_it_prints() {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/experiments");
        let names = |extension: &str| {
            let files = std::fs::read_dir(&place).unwrap().map(|file| file.unwrap());
            let paths = files.map(|file| file.path());
            let paths = paths.filter(|path| path.extension().is_some_and(|is| is == extension));
            let mut names: Vec<String> = paths
                .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        };
        let mut pages = names("md");
        pages.retain(|name| name != "README");
        assert_eq!(pages, names("json"));
        let entries = entries_in(&place, &[]).unwrap();
        assert_eq!(entries.len(), pages.len(), "an entry of no known name");
        for entry in entries {
            let page = std::fs::read_to_string(place.join(entry.page())).unwrap();
            let count = |verdict: &str| page.matches(&format!("| **{verdict}")).count();
            let printed = Verdicts {
                agree: count("agrees"),
                contradict: count("contradicts"),
                undecided: count("undecided"),
                not_comparable: count("not comparable"),
                not_run: count("not run"),
            };
            let [row] = &entry.rows[..] else {
                panic!("the laboratory has one row");
            };
            assert_eq!(row.claims, printed, "{}", entry.experiment);
            assert!(page.starts_with(&format!("# {}\n", entry.title)));
            assert_eq!(entry.setting, Setting::Laboratory);
        }
    }

    #[test]
    fn every_experiment_has_one_place_in_the_index() {
        let names = indexed();
        let every = wakepath_experiments::all().iter().chain(of_boards());
        for experiment in every {
            let found = names.iter().filter(|name| **name == experiment.name);
            assert_eq!(found.count(), 1, "{}", experiment.name);
        }
    }
}
