//! Answers that were worked out before, kept in this user's own cache directory: judging a run with a
//! flight takes seconds. An entry belongs to the content of every file of the run and to this very
//! program, so nothing that comes with a run is ever taken for one. Without a cache, or with one that
//! others may write in, each answer is worked out again.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use wakepath_archive::{Run, State};
use wakepath_assess::explanation;
use wakepath_console::VERSION;
use wakepath_console::progress::assessed;
use wakepath_directory::{Directory, Trust, content};
use wakepath_report::Answer;

/// More entries than this are cleared away.
const MOST: usize = 1_000;

/// A run's short answer, and the machine in the words of its facts.
#[derive(Serialize, Deserialize)]
pub struct CachedAnswer {
    /// The answer.
    pub answer: Answer,
    /// The machine in a few words.
    pub machine: String,
}

/// The answer to an open run: as it was worked out before, or judged now and kept for the next time.
pub fn answer(run: &Run) -> Result<CachedAnswer, Box<dyn Error>> {
    let place = match run.state() {
        State::Finished => cache().zip(key(run.directory())),
        _ => None,
    };
    if let Some((cache, key)) = &place
        && let Ok(Some(bytes)) = cache.read(key)
        && let Ok(known) = serde_json::from_slice(&bytes)
    {
        return Ok(known);
    }
    let (assessment, _) = assessed(run, false)?;
    let explained = explanation::kept(run.directory())?;
    let known = CachedAnswer {
        answer: Answer::new(&assessment, explained.as_ref()),
        machine: wakepath_report::machine_in_brief(&assessment),
    };
    if let Some((cache, key)) = place {
        clear_if_full(&cache);
        // An answer that can't be stored is computed again.
        let _ = serde_json::to_vec(&known).map(|bytes| cache.put(&key, &bytes));
    }
    Ok(known)
}

/// This user's cache directory; `None` if it isn't theirs alone.
fn cache() -> Option<Directory> {
    let given = |name| std::env::var_os(name).map(PathBuf::from);
    let base = given("XDG_CACHE_HOME").or_else(|| Some(given("HOME")?.join(".cache")));
    let path = base
        .filter(|base| base.is_absolute())?
        .join("wakepath/answers");
    let cache = Directory::make_for_files(&path, Trust::Own).ok()?;
    let found = std::fs::symlink_metadata(cache.lasting_path().join(".")).ok()?;
    let user = rustix::process::geteuid().as_raw();
    (found.uid() == user && found.mode() & 0o022 == 0).then_some(cache)
}

/// Name of a run's entry: a digest of this program and of every file of the run.
fn key(run: &Path) -> Option<String> {
    let program = std::fs::metadata("/proc/self/exe").ok()?;
    let mut digest = Sha256::new();
    digest.update(format!(
        "{VERSION}\n{} {} {}\n",
        program.len(),
        program.mtime(),
        program.mtime_nsec()
    ));
    for file in content(run, "").ok()? {
        digest.update(format!("{}\0{} {}\n", file.name, file.bytes, file.sha256));
    }
    let hexadecimal = digest
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Some(hexadecimal)
}

fn clear_if_full(cache: &Directory) {
    let Ok(entries) = std::fs::read_dir(cache.lasting_path()) else {
        return;
    };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    if names.len() < MOST {
        return;
    }
    for name in names.iter().filter_map(|name| name.to_str()) {
        let _ = cache.remove(name);
    }
}
