//! An archive in an S3 bucket.
//!
//! Objects that were read are cached in a local directory, after their bytes were checked against
//! their name: an object never changes, so that a second query fetches nothing. Tables are made
//! only locally.

mod lease;
mod remote;

use self::lease::Written;
use self::remote::{PIECE, Remote};
use super::{DirectoryStore, Held, Hold, Placed, Store};
use crate::error::{FleetArchiveError, Result};
use crate::name::hexadecimal;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use wakepath_directory::Trust;

/// An archive in a bucket.
pub struct BucketStore {
    remote: Arc<Remote>,
    here: DirectoryStore,
    held: Mutex<Vec<Written>>,
}

impl BucketStore {
    /// Opens `s3://BUCKET/PREFIX`, or starts an archive there, which needs no preparation. Objects
    /// are cached in their own folder in `cache`.
    ///
    /// # Errors
    /// [`FleetArchiveError::Bucket`]; the system's.
    pub fn make(url: &str, cache: &Path, trust: Trust) -> Result<Self> {
        let remote = Remote::new(url)?;
        let name = hexadecimal(Sha256::digest(remote.identity()));
        let here = cache.join(&name[..16]);
        std::fs::create_dir_all(&here).map_err(FleetArchiveError::io("make", &here))?;
        Ok(Self {
            here: DirectoryStore::make(&here, trust)?,
            remote,
            held: Mutex::default(),
        })
    }

    /// Opens an existing archive.
    ///
    /// # Errors
    /// [`FleetArchiveError::NotAnArchive`] if there is no run below the prefix; as [`Self::make`].
    pub fn open(url: &str, cache: &Path, trust: Trust) -> Result<Self> {
        let store = Self::make(url, cache, trust)?;
        if store.remote.listed("runs")?.is_empty() {
            Err(FleetArchiveError::NotAnArchive {
                path: PathBuf::from(url),
            })
        } else {
            Ok(store)
        }
    }

    /// Fails if a hold was lost, because another process might rely on that.
    fn still_held(&self) -> Result<()> {
        let held = self.held.lock().expect("nothing panics while it is held");
        held.iter()
            .try_for_each(|one| lease::still(one, &self.remote))
    }

    /// Fetches an object; keeps nothing if its bytes don't match its name.
    fn kept(&self, name: &str) -> Result<Kept> {
        if let Some(file) = self.here.open(name)? {
            return Ok(Kept::Here(file));
        }
        let Some(reader) = self.remote.reader(name)? else {
            return Ok(Kept::Missing);
        };
        let (_, sha256) = name.rsplit_once('/').expect("every name has a folder");
        let mut reader = Named {
            reader,
            digest: Sha256::new(),
            sha256,
            is_other: false,
        };
        let placed = self.here.place(name, &mut reader);
        if reader.is_other {
            return Ok(Kept::Altered);
        }
        placed?;
        let file = self.here.open(name)?;
        Ok(file.map_or(Kept::Missing, Kept::Here))
    }

    /// Downloads an object into an unnamed file.
    fn fetched(&self, name: &str) -> Result<Option<File>> {
        let failed = || FleetArchiveError::io("keep a copy of", &self.remote.url_of(name));
        let Some(mut reader) = self.remote.reader(name)? else {
            return Ok(None);
        };
        let mut file = tempfile::tempfile().map_err(failed())?;
        io::copy(&mut reader, &mut file).map_err(failed())?;
        file.rewind().map_err(failed())?;
        Ok(Some(file))
    }
}

/// Result of fetching an object.
enum Kept {
    Here(File),
    Missing,
    /// Its bytes don't match its name.
    Altered,
}

fn is_object(name: &str) -> bool {
    name.starts_with("objects/")
}

fn is_made_here(name: &str) -> bool {
    name.starts_with("tables/")
}

impl Store for BucketStore {
    fn place(&self, name: &str, content: &mut dyn Read) -> Result<Placed> {
        if is_made_here(name) {
            return self.here.place(name, content);
        }
        if is_object(name) && self.remote.length(name)?.is_some() {
            return Ok(Placed::WasThere);
        }
        let first = self.remote.piece(name, content)?;
        self.still_held()?;
        if first.len() < PIECE {
            return self.remote.create(name, first);
        }
        if !is_object(name) {
            // Two processes can only write a file safely if its bytes determine its name.
            return Err(FleetArchiveError::Bucket {
                url: self.remote.url_of(name).display().to_string(),
                why: format!("it is longer than {} MiB", PIECE >> 20),
            });
        }
        self.remote.upload(name, first, content)?;
        Ok(Placed::New)
    }

    fn open(&self, name: &str) -> Result<Option<File>> {
        if is_made_here(name) {
            return self.here.open(name);
        }
        if !is_object(name) {
            return self.fetched(name);
        }
        match self.kept(name)? {
            Kept::Here(file) => Ok(Some(file)),
            Kept::Missing => Ok(None),
            // The caller detects the fault, as with a directory.
            Kept::Altered => self.fetched(name),
        }
    }

    fn bring(&self, name: &str) -> Result<PathBuf> {
        let url = self.remote.url_of(name);
        match self.kept(name)? {
            Kept::Here(_) => Ok(self.here.path_of(name)),
            Kept::Missing => Err(FleetArchiveError::damaged(&url, "is missing")),
            Kept::Altered => Err(FleetArchiveError::damaged(&url, "was altered")),
        }
    }

    fn length(&self, name: &str) -> Result<Option<u64>> {
        self.remote.length(name)
    }

    fn names(&self, folder: &str) -> Result<Vec<String>> {
        if is_made_here(&format!("{folder}/")) {
            return self.here.names(folder);
        }
        let listed = self.remote.listed(folder)?;
        let names = listed.iter().filter_map(|meta| meta.location.filename());
        let mut names: Vec<String> = names
            .filter(|name| !name.starts_with('.'))
            .map(str::to_owned)
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    fn remove(&self, name: &str) -> Result<()> {
        if is_made_here(name) {
            return self.here.remove(name);
        }
        self.still_held()?;
        self.remote.remove(name)
    }

    fn partials(&self, _folder: &str) -> Result<Vec<String>> {
        // Parts of an upload have no names; the bucket's own rules remove them.
        Ok(Vec::new())
    }

    fn hold(&self, hold: Hold) -> Result<Box<dyn Held>> {
        if hold == Hold::Reading {
            // A user with read access only can't write a key. Objects removed during the query are
            // reported as missing.
            return Ok(Box::new(Unheld));
        }
        let (held, written) = lease::take(&self.remote, hold)?;
        let mut all = self.held.lock().expect("nothing panics while it is held");
        // Those that were let go have no other owner.
        all.retain(|one| Arc::strong_count(one) > 1);
        all.push(written);
        Ok(held)
    }

    fn path_of(&self, name: &str) -> PathBuf {
        if is_made_here(name) {
            self.here.path_of(name)
        } else {
            self.remote.url_of(name)
        }
    }
}

struct Unheld;

impl Held for Unheld {}

/// A reader that fails unless all bytes match a digest.
struct Named<'a, R> {
    reader: R,
    digest: Sha256,
    sha256: &'a str,
    is_other: bool,
}

impl<R: Read> Read for Named<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.digest.update(&into[..count]);
        if count == 0 && hexadecimal(self.digest.clone().finalize()) != self.sha256 {
            self.is_other = true;
            return Err(io::Error::other("its bytes are not what its name says"));
        }
        Ok(count)
    }
}
