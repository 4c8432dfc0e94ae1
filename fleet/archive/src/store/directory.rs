//! An archive in a directory.
//!
//! A file is written under a temporary name, synced, and given its real name by a link, which fails
//! if the name is taken. So one of two writers creates it, and neither overwrites the other's.

use super::{Held, Hold, Placed, Store};
use crate::error::{FleetArchiveError, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use wakepath_directory::{Directory, Trust};

/// Prefix of incomplete files, which no reader lists.
const PARTIAL: &str = ".partial-";

/// Locked by processes that add and remove.
const LOCK: &str = ".lock";

/// Rights of a file: no secret is in it, and nobody writes it again.
const RIGHTS: u32 = 0o444;

/// An archive in a directory.
pub struct DirectoryStore {
    top: PathBuf,
    trust: Trust,
    folders: Mutex<HashMap<String, Directory>>,
}

impl DirectoryStore {
    /// Opens an archive, or creates it.
    ///
    /// # Errors
    /// [`FleetArchiveError::Directory`] as `trust` has it; the system's.
    pub fn make(top: &Path, trust: Trust) -> Result<Self> {
        let store = Self::held(top, trust);
        store.folder("runs")?;
        Ok(store)
    }

    /// Opens an archive that is there.
    ///
    /// # Errors
    /// [`FleetArchiveError::NotAnArchive`].
    pub fn open(top: &Path, trust: Trust) -> Result<Self> {
        if top.join("runs").is_dir() {
            Ok(Self::held(top, trust))
        } else {
            Err(FleetArchiveError::NotAnArchive {
                path: top.to_owned(),
            })
        }
    }

    fn held(top: &Path, trust: Trust) -> Self {
        Self {
            top: top.to_owned(),
            trust,
            folders: Mutex::default(),
        }
    }

    /// A folder to write in, created if missing.
    fn folder(&self, name: &str) -> Result<Directory> {
        let mut folders = self
            .folders
            .lock()
            .expect("nothing panics while it is held");
        if let Some(known) = folders.get(name) {
            return Ok(known.clone());
        }
        let path = self.top.join(name);
        let is_new = !path.is_dir();
        let folder = Directory::make(&path, self.trust)?;
        if is_new {
            // Without its own name on disk, a power cut would lose the files synced in it.
            let above = path.parent().expect("it has a name");
            let synced = File::open(above).and_then(|above| above.sync_all());
            synced.map_err(FleetArchiveError::io("sync", above))?;
        }
        folders.insert(name.to_owned(), folder.clone());
        Ok(folder)
    }

    fn read_names(&self, folder: &str) -> Result<Vec<String>> {
        let path = self.top.join(folder);
        match Directory::to_read(&path).and_then(|folder| folder.names()) {
            Ok(names) => Ok(names),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(FleetArchiveError::io("list", &path)(error)),
        }
    }
}

/// A name that no other writer has: its process, when it began, a count.
pub(crate) fn own_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = now.map_or(0, |now| now.as_nanos());
    format!("{PARTIAL}{}-{now}-{count}", std::process::id())
}

impl Store for DirectoryStore {
    fn place(&self, name: &str, content: &mut dyn io::Read) -> Result<Placed> {
        let path = self.top.join(name);
        let (folder, file) = name.rsplit_once('/').expect("every name has a folder");
        let folder = self.folder(folder)?;
        let failed = |what| FleetArchiveError::io(what, &path);
        if folder.holds(file) {
            return Ok(Placed::WasThere);
        }
        let partial = own_name();
        let mut write = || {
            let mut written = folder
                .create_new(&partial, RIGHTS)
                .map_err(failed("create"))?;
            io::copy(content, &mut written).map_err(failed("write"))?;
            written.sync().map_err(failed("write"))?;
            match std::fs::hard_link(folder.path_of(&partial), folder.path_of(file)) {
                Ok(()) => Ok(Placed::New),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Placed::WasThere),
                Err(error) => Err(failed("name (by a link, which the file system must know)")(
                    error,
                )),
            }
        };
        let placed = write();
        // A partial that can't be removed is harmless; `gc` removes it.
        let removed = folder.remove(&partial);
        let placed = placed?;
        removed.map_err(failed("remove the partial of"))?;
        folder.sync().map_err(failed("sync the folder of"))?;
        Ok(placed)
    }

    fn open(&self, name: &str) -> Result<Option<File>> {
        let path = self.top.join(name);
        // Not through links: an archive that was copied from elsewhere can contain anything.
        let (folder, file) = path
            .parent()
            .zip(path.file_name())
            .expect("a folder and a name");
        let file = file.to_str().expect("names are ASCII");
        match Directory::to_read(folder).and_then(|folder| {
            if is_link(&folder.path_of(file))? {
                Err(io::Error::other("it is a link"))
            } else {
                folder.open(file)
            }
        }) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FleetArchiveError::io("read", &path)(error)),
        }
    }

    fn bring(&self, name: &str) -> Result<PathBuf> {
        Ok(self.path_of(name))
    }

    fn length(&self, name: &str) -> Result<Option<u64>> {
        let Some(file) = self.open(name)? else {
            return Ok(None);
        };
        let found = file.metadata();
        let found = found.map_err(FleetArchiveError::io("look at", &self.path_of(name)))?;
        Ok(Some(found.len()))
    }

    fn names(&self, folder: &str) -> Result<Vec<String>> {
        let mut names = self.read_names(folder)?;
        names.retain(|name| !name.starts_with('.'));
        names.sort_unstable();
        Ok(names)
    }

    fn remove(&self, name: &str) -> Result<()> {
        let (folder, file) = name.rsplit_once('/').expect("every name has a folder");
        let removed = self.folder(folder)?.remove(file);
        removed.map_err(FleetArchiveError::io("remove", &self.top.join(name)))
    }

    fn partials(&self, folder: &str) -> Result<Vec<String>> {
        let names = self.read_names(folder)?.into_iter();
        let partial = names.filter(|name| name.starts_with(PARTIAL));
        Ok(partial.map(|name| format!("{folder}/{name}")).collect())
    }

    fn hold(&self, hold: Hold) -> Result<Box<dyn Held>> {
        let path = self.top.join("runs").join(LOCK);
        let mut options = File::options();
        let lock = options.create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(FleetArchiveError::io("open", &path))?;
        let held = match hold {
            Hold::Together | Hold::Reading => lock.lock_shared(),
            Hold::Alone => lock.lock(),
        };
        held.map_err(FleetArchiveError::io("lock", &path))?;
        Ok(Box::new(lock))
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }
}

fn is_link(path: &Path) -> io::Result<bool> {
    Ok(std::fs::symlink_metadata(path)?.file_type().is_symlink())
}
