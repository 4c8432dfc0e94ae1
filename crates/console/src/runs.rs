//! Which runs there are at hand, and which one is meant: by its place, its number in the list (`@1`
//! is the newest), a part of its name, or the latest that has ended by default. It reads none of them.

use crate::terminal::OneLine;
use crate::terminal::tell;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use wakepath_archive::Run;
use wakepath_timeline::one_line;

/// Where runs go that are not told where to.
pub const HOME: &str = "wakepath-runs";
/// Trials and rates keep their runs in directories of their own.
const DEEPEST: usize = 3;
/// Files that make a directory a run.
const FILES: [&str; 3] = ["manifest.json", "samples.log", wakepath_service::MARK];
/// Number of runs named if none was given.
const NAMED: usize = 4;

/// A run below [`HOME`], or in the working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedRun {
    /// Its path below [`HOME`], or its name in the working directory, as text.
    pub name: String,
    /// The same as the file system has it, which need not be text.
    place: PathBuf,
    /// When it began, as far as its name or its files tell: sorts as time does.
    began: String,
    /// Not below [`HOME`], but in the working directory.
    is_beside: bool,
}

impl ListedRun {
    /// Its directory.
    pub fn directory(&self) -> PathBuf {
        if self.is_beside {
            self.place.clone()
        } else {
            Path::new(HOME).join(&self.place)
        }
    }
}

/// All runs below the working directory's [`HOME`] and in the working directory itself, the latest first.
pub fn all() -> Vec<ListedRun> {
    let mut found = Vec::new();
    if home_can_be_used().is_ok() {
        look(Path::new(HOME), Path::new(""), 0, &mut found);
    }
    found.extend(beside());
    found.sort_unstable_by(|a, b| b.began.cmp(&a.began).then_with(|| b.name.cmp(&a.name)));
    found
}

/// Root follows no link that another user might have put in place of [`HOME`].
///
/// # Errors
/// In one line, with the thing that is there instead.
pub fn home_can_be_used() -> Result<(), String> {
    let is_link = std::fs::symlink_metadata(HOME).is_ok_and(|home| home.is_symlink());
    if is_link && rustix::process::geteuid().is_root() {
        Err(format!(
            "{HOME}: a symbolic link, which root does not follow; give the directory with --directory"
        ))
    } else {
        Ok(())
    }
}

/// Runs in the working directory itself, created there by `--directory`.
fn beside() -> Vec<ListedRun> {
    let entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    let directories = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let found = directories.filter_map(|entry| {
        let place = PathBuf::from(entry.file_name());
        let name = place.to_string_lossy().into_owned();
        let file = FILES.iter().map(|file| entry.path().join(file));
        let file = file.into_iter().find(|file| is_there(file))?;
        let began = began(&name, &file);
        let is_beside = true;
        Some(ListedRun {
            name,
            place,
            began,
            is_beside,
        })
    });
    found.collect()
}

/// Anything with such a file is listed as a run; opening it reports a file that is not a plain one.
fn is_there(file: &Path) -> bool {
    file.symlink_metadata().is_ok_and(|found| !found.is_dir())
}

/// When a run began: as its name says, otherwise its file.
fn began(name: &str, file: &Path) -> String {
    time_in(name).unwrap_or_else(|| {
        let changed = file.symlink_metadata().and_then(|data| data.modified());
        compact(changed.unwrap_or(SystemTime::UNIX_EPOCH))
    })
}

fn look(home: &Path, below: &Path, depth: usize, found: &mut Vec<ListedRun>) {
    let directory = home.join(below);
    if let Some(file) = FILES
        .iter()
        .map(|name| directory.join(name))
        .find(|file| is_there(file))
    {
        let name = below.to_string_lossy().into_owned();
        let began = began(&name, &file);
        if !name.is_empty() {
            let is_beside = false;
            found.push(ListedRun {
                name,
                place: below.to_owned(),
                began,
                is_beside,
            });
        }
        return;
    }
    if depth == DEEPEST {
        return;
    }
    let Ok(entries) = std::fs::read_dir(&directory) else {
        return;
    };
    for entry in entries.flatten() {
        // A link leads to what lies elsewhere.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            look(home, &below.join(entry.file_name()), depth + 1, found);
        }
    }
}

/// The time that a run's name ends with, such as `20260101T120000Z`.
fn time_in(name: &str) -> Option<String> {
    const FORM: &str = "########T######Z";
    let bytes = name.as_bytes();
    let fits = |window: &[u8]| {
        window
            .iter()
            .zip(FORM.bytes())
            .all(|(byte, form)| match form {
                b'#' => byte.is_ascii_digit(),
                other => *byte == other,
            })
    };
    let time = bytes.windows(FORM.len()).rfind(|window| fits(window))?;
    String::from_utf8(time.to_vec()).ok()
}

fn compact(time: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(time).to_string();
    text.chars().filter(|c| !matches!(c, '-' | ':')).collect()
}

/// The named run; without a name the latest that has ended, which is printed on standard error. A
/// run under way is not read: that would load the machine that it
/// measures, and judge half of it.
///
/// # Errors
/// If none or several fit, or it is under way: one line with those that exist.
pub fn find(word: Option<&Path>) -> Result<PathBuf, String> {
    let directory = place(word)?;
    match Run::writer(&directory) {
        Some(by) if word.is_some() => Err(format!(
            "{}: this run is still under way ({by} writes it); try again after it has ended",
            directory.in_one_line()
        )),
        _ => Ok(directory),
    }
}

/// [`find`], but a named run can be under way, for verbs that handle that.
/// # Errors
/// As [`find`].
pub fn place(word: Option<&Path>) -> Result<PathBuf, String> {
    match word {
        Some(path) if is_home(path) => Err(format!(
            "{HOME} is the directory of all runs and not a run; {}",
            there(&all())
        )),
        Some(path) if path.exists() => Ok(path.to_owned()),
        Some(path) => named(&path.display().to_string(), &all()),
        None => {
            let [latest] = latest()?;
            tell!("the latest run: {}", latest.display());
            Ok(latest)
        }
    }
}

/// Whether it is the place of all runs: easily named by a shell that completes names.
fn is_home(path: &Path) -> bool {
    let same = |home: PathBuf| path.canonicalize().is_ok_and(|path| path == home);
    Path::new(HOME).canonicalize().is_ok_and(same)
}

/// The latest runs that have ended, the latest first.
///
/// # Errors
/// If too few exist: one line with those that do.
pub fn latest<const MANY: usize>() -> Result<[PathBuf; MANY], String> {
    let (mut ended, mut under_way) = (Vec::new(), Vec::new());
    for run in all() {
        let directory = run.directory();
        // It has no end, and is named by who means it.
        if wakepath_service::is_service(&directory) {
            continue;
        }
        match Run::writer(&directory) {
            Some(_) => under_way.push(directory),
            None => ended.push(directory),
        }
        if ended.len() == MANY {
            break;
        }
    }
    let found = ended.len();
    ended.try_into().map_err(|_| match (&under_way[..], found) {
        ([], 0) => {
            format!("no run in {HOME} here; give a directory, or record one with `wakepath check`")
        }
        ([], _) => format!("only {found} run in {HOME} here, but {MANY} are needed"),
        ([first, ..], 0) => format!(
            "no run here has ended yet: {} is still under way; try again after it has ended",
            first.in_one_line()
        ),
        ([first, ..], _) => format!(
            "only {found} run here has ended, but {MANY} are needed: {} is still under way",
            first.in_one_line()
        ),
    })
}

/// [`find`] for each of several.
///
/// # Errors
/// As [`find`], for the first that is none.
pub fn find_all(words: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    words.iter().map(|word| find(Some(word))).collect()
}

fn named(word: &str, all: &[ListedRun]) -> Result<PathBuf, String> {
    let shown = one_line(word);
    if let Some(number) = word
        .strip_prefix('@')
        .and_then(|text| text.parse::<usize>().ok())
    {
        let found = number.checked_sub(1).and_then(|place| all.get(place));
        return found.map(ListedRun::directory).ok_or_else(|| {
            format!(
                "{shown}: runs are numbered from @1, the newest; {}",
                there(all)
            )
        });
    }
    let fits: Vec<&ListedRun> = all.iter().filter(|run| run.name.contains(word)).collect();
    match (&fits[..], all) {
        ([only], _) => Ok(only.directory()),
        ([_, _, ..], _) => Err(format!(
            "{shown}: {} runs have names that contain it: {}{}",
            fits.len(),
            listed(&fits, all),
            as_number(word, all)
        )),
        (_, []) => Err(format!("{shown}: no such run, and none in {HOME} here")),
        _ => Err(format!(
            "{shown}: no such run; {}{}",
            there(all),
            as_number(word, all)
        )),
    }
}

/// How the run of a number is typed, if the word is one.
fn as_number(word: &str, all: &[ListedRun]) -> String {
    match word.parse::<usize>() {
        Ok(number) if (1..=all.len()).contains(&number) => {
            format!("; did you mean @{number}, counted from the newest?")
        }
        _ => String::new(),
    }
}

/// Which runs there are.
fn there(all: &[ListedRun]) -> String {
    match all {
        [] => format!("there is none in {HOME} here"),
        [only] => format!("the only one here is {}", one_line(&only.name)),
        several => format!(
            "there are {}; `wakepath runs` lists them",
            listed(&several.iter().collect::<Vec<_>>(), several)
        ),
    }
}

/// The first of these by number and name.
fn listed(runs: &[&ListedRun], all: &[ListedRun]) -> String {
    let numbered = |run: &&ListedRun| {
        let number = all.iter().position(|one| one.name == run.name);
        format!("@{} {}", number.unwrap_or(0) + 1, one_line(&run.name))
    };
    let named: Vec<String> = runs.iter().take(NAMED).map(numbered).collect();
    match runs.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// The name of this run in a command that is typed here: empty if it is the latest that has ended,
/// or will be as soon as it has.
pub fn word_for(directory: &Path) -> String {
    let Ok(below) = directory.strip_prefix(HOME) else {
        return directory.display().to_string();
    };
    let is_this = |run: &ListedRun| run.place == below;
    let latest = all()
        .into_iter()
        .find(|run| is_this(run) || Run::writer(&run.directory()).is_none());
    if latest.is_some_and(|run| is_this(&run)) {
        String::new()
    } else {
        below.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(names: &[&str]) -> Vec<ListedRun> {
        let found = |name: &&str| ListedRun {
            is_beside: false,
            name: (*name).to_owned(),
            place: PathBuf::from(name),
            began: String::new(),
        };
        names.iter().map(found).collect()
    }

    #[test]
    fn a_name_ends_with_its_time() {
        let time = time_in("rate-20260101T120000Z/2-check-20260102T130405Z");
        assert_eq!(time.as_deref(), Some("20260102T130405Z"));
        assert_eq!(time_in("monday"), None);
        let began = humantime::parse_rfc3339("2026-01-02T13:04:05Z").unwrap();
        assert_eq!(compact(began), "20260102T130405Z");
    }

    #[test]
    fn a_run_is_meant_by_its_number_or_a_part_of_its_name() {
        let all = runs(&[
            "check-20260103T000000Z",
            "pi5-20260102T000000Z",
            "check-20260101T000000Z",
        ]);
        let meant = |word| named(word, &all).map(|path| path.display().to_string());
        assert_eq!(
            meant("@1").as_deref(),
            Ok("wakepath-runs/check-20260103T000000Z")
        );
        assert_eq!(
            meant("@3").as_deref(),
            Ok("wakepath-runs/check-20260101T000000Z")
        );
        assert_eq!(
            meant("pi5").as_deref(),
            Ok("wakepath-runs/pi5-20260102T000000Z")
        );
        assert_eq!(
            meant("0103").as_deref(),
            Ok("wakepath-runs/check-20260103T000000Z")
        );
        assert_eq!(
            meant("check").unwrap_err(),
            "check: 2 runs have names that contain it: @1 check-20260103T000000Z, @3 \
             check-20260101T000000Z"
        );
    }

    #[test]
    fn a_number_without_its_sign_is_taken_for_a_part_of_a_name_and_answered_with_the_sign() {
        let all = runs(&["check-21", "check-12", "b"]);
        let answer = |word| named(word, &all).unwrap_err();
        let meant = "1: 2 runs have names that contain it: @1 check-21, @2 check-12; did you mean @1, counted from \
                     the newest?";
        assert_eq!(answer("1"), meant);
        assert!(answer("3").ends_with("; did you mean @3, counted from the newest?"));
        assert!(!answer("4").contains("did you mean"));
    }

    #[test]
    fn a_wrong_name_says_which_runs_there_are() {
        let all = runs(&["a", "b", "c", "d", "e\n", "f"]);
        assert_eq!(
            named("x\ny", &all).unwrap_err(),
            "x\u{fffd}y: no such run; there are @1 a, @2 b, @3 c, @4 d and 2 more; `wakepath runs` \
             lists them"
        );
        assert_eq!(
            named("@0", &all[..1]).unwrap_err(),
            "@0: runs are numbered from @1, the newest; the only one here is a"
        );
        assert_eq!(
            named("9", &[]).unwrap_err(),
            "9: no such run, and none in wakepath-runs here"
        );
    }
}
