//! LITMUS^RT's active plugin, switched for a segment and back. It is the whole machine's: the one from before is
//! written down first; it is put back at the end, or by the next run or `recover` where a run was killed. It knows
//! nothing of segments.

use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long tasks that are just ending may hold the plugin.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Why a plugin is not switched, or not back.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// A file that can't be read or written.
    #[error("can't {what} {}: {source}", path.display())]
    Io {
        /// The failed action.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Real-time tasks hold the plugin.
    #[error(
        "LITMUS^RT's plugin can't be switched from {active} to {wanted}: it has real-time tasks; end their programs"
    )]
    Busy {
        /// The one that is active.
        active: String,
        /// The one that was asked for.
        wanted: String,
    },
    /// The kernel took the name and has another plugin.
    #[error("LITMUS^RT accepted {wanted}, but its active plugin is {active}")]
    NotInEffect {
        /// The one that is active.
        active: String,
        /// The one that was asked for.
        wanted: String,
    },
    /// Another run is at it.
    #[error("another wakepath has switched LITMUS^RT's plugin")]
    AnotherWakepath,
}

/// Where things are; a root other than `/` in tests.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    active: PathBuf,
    /// Held with a lock as long as another plugin is active: who finds it without a lock has found what a killed
    /// run left.
    journal: PathBuf,
}

impl Places {
    /// Those of a machine whose root directory is `root`.
    pub(crate) fn under(root: &Path) -> Self {
        Self {
            active: root.join("proc/litmus/active_plugin"),
            journal: root.join("run/wakepath-litmus-plugin"),
        }
    }
}

/// Another plugin than before is active. [`Switched::back`] puts back what was there.
#[derive(Debug)]
pub(crate) struct Switched {
    places: Places,
    before: String,
    _journal: File,
}

impl Switched {
    /// Makes `plugin` active; `None` if it already is.
    ///
    /// # Errors
    /// The reason. Nothing is left changed.
    pub(crate) fn to(places: &Places, plugin: &str) -> Result<Option<Self>, PluginError> {
        put_back_leftover(places)?;
        let before = active(places)?;
        if before == plugin {
            return Ok(None);
        }
        let switched = Self {
            _journal: begin_journal(places, &before)?,
            places: places.clone(),
            before,
        };
        match activate(places, plugin) {
            Ok(()) => Ok(Some(switched)),
            Err(error) => {
                // The old plugin is still active, or is restored.
                let _ = switched.back();
                Err(error)
            }
        }
    }

    /// Puts back what was there before.
    ///
    /// # Errors
    /// Why not; the next run tries again.
    pub(crate) fn back(self) -> Result<(), PluginError> {
        put_back(&self.places, &self.before)
    }
}

/// Puts back the plugin that a run which was killed has left switched; its name, if one had.
///
/// # Errors
/// Why not, or that another wakepath is at it.
pub fn put_back_litmus_plugin() -> Result<Option<String>, PluginError> {
    put_back_leftover(&Places::under(Path::new("/")))
}

fn put_back_leftover(places: &Places) -> Result<Option<String>, PluginError> {
    let journal = &places.journal;
    let mut file = match File::open(journal) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("open", journal)(error)),
    };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Err(PluginError::AnotherWakepath);
    }
    let mut before = String::new();
    file.read_to_string(&mut before)
        .map_err(failed("read", journal))?;
    // An empty one: it was killed before it changed anything. Without the file: the kernel is another since.
    if before.is_empty() || !places.active.exists() {
        fs::remove_file(journal).map_err(failed("remove", journal))?;
        return Ok(None);
    }
    put_back(places, &before)?;
    Ok(Some(before))
}

fn put_back(places: &Places, before: &str) -> Result<(), PluginError> {
    if active(places)? != before {
        activate(places, before)?;
    }
    let journal = &places.journal;
    fs::remove_file(journal).map_err(failed("remove", journal))
}

fn activate(places: &Places, wanted: &str) -> Result<(), PluginError> {
    let path = &places.active;
    let begun = Instant::now();
    loop {
        match fs::write(path, wanted) {
            Ok(()) => break,
            Err(error) if error.kind() == ErrorKind::ResourceBusy => {
                if begun.elapsed() > PATIENCE {
                    return Err(PluginError::Busy {
                        active: active(places)?,
                        wanted: wanted.to_owned(),
                    });
                }
                std::thread::sleep(LOOK_AGAIN);
            }
            Err(error) => return Err(failed("write", path)(error)),
        }
    }
    // Requested is never taken for effective.
    match active(places)? {
        now if now == wanted => Ok(()),
        now => Err(PluginError::NotInEffect {
            active: now,
            wanted: wanted.to_owned(),
        }),
    }
}

fn active(places: &Places) -> Result<String, PluginError> {
    let path = &places.active;
    let text = fs::read_to_string(path).map_err(failed("read", path))?;
    Ok(text.trim().to_owned())
}

/// The journal, locked and on disk before anything is changed.
fn begin_journal(places: &Places, before: &str) -> Result<File, PluginError> {
    let path = &places.journal;
    let why = failed("write", path);
    let written = || -> io::Result<File> {
        let mut file = File::create_new(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(before.as_bytes())?;
        file.sync_all()?;
        Ok(file)
    };
    written().map_err(why)
}

fn failed(what: &'static str, path: &Path) -> impl Fn(io::Error) -> PluginError {
    move |source| PluginError::Io {
        what,
        path: path.into(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, Places) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [("proc/litmus/active_plugin", "Linux\n"), ("run/other", "")] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let places = Places::under(root.path());
        (root, places)
    }

    #[test]
    fn the_plugin_from_before_is_there_again_afterwards() {
        let (_root, places) = tree();
        let switched = Switched::to(&places, "P-FP").unwrap().unwrap();
        assert_eq!(active(&places).unwrap(), "P-FP");
        switched.back().unwrap();
        assert_eq!(active(&places).unwrap(), "Linux");
        assert!(!places.journal.exists());
        assert!(Switched::to(&places, "Linux").unwrap().is_none());
    }

    #[test]
    fn what_a_killed_run_left_is_put_back_by_the_next_and_by_nobody_while_it_runs() {
        let (_root, places) = tree();
        let switched = Switched::to(&places, "P-FP").unwrap().unwrap();
        let meanwhile = put_back_leftover(&places);
        assert!(matches!(meanwhile, Err(PluginError::AnotherWakepath)));
        // A killed process closes its journal silently.
        drop(switched);
        let put_back = put_back_leftover(&places).unwrap();
        assert_eq!(put_back.as_deref(), Some("Linux"));
        assert_eq!(active(&places).unwrap(), "Linux");
        assert_eq!(put_back_leftover(&places).unwrap(), None);
    }
}
