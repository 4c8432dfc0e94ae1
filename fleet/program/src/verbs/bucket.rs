//! Archives in buckets, if this program was built with them.

use std::path::{Path, PathBuf};
use wakepath_directory::Trust;
#[cfg(feature = "buckets")]
use wakepath_fleet_archive::BucketStore;
use wakepath_fleet_archive::{FleetArchiveError, Store};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// One that is there.
#[cfg(feature = "buckets")]
pub fn open(url: &str, cache: &Path, trust: Trust) -> Result<Box<dyn Store>> {
    Ok(Box::new(BucketStore::open(url, cache, trust)?))
}

/// One that is there, or a new one.
#[cfg(feature = "buckets")]
pub fn make(url: &str, cache: &Path, trust: Trust) -> Result<Box<dyn Store>> {
    Ok(Box::new(BucketStore::make(url, cache, trust)?))
}

/// None.
#[cfg(not(feature = "buckets"))]
pub fn open(url: &str, _cache: &Path, _trust: Trust) -> Result<Box<dyn Store>> {
    Err(format!(
        "{url}: this wakepath-fleet was built without buckets; build it with its default features"
    )
    .into())
}

/// None.
#[cfg(not(feature = "buckets"))]
pub fn make(url: &str, cache: &Path, trust: Trust) -> Result<Box<dyn Store>> {
    open(url, cache, trust)
}

/// Directory of objects cached from buckets.
pub fn cache() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let absolute = |path: &PathBuf| path.is_absolute();
    let home = || set("HOME").map(|home| home.join(".cache"));
    let caches = set("XDG_CACHE_HOME").filter(absolute).or_else(home);
    let caches = caches
        .ok_or("neither XDG_CACHE_HOME nor HOME is set: no place for what is read of a bucket")?;
    let cache = caches.join("wakepath-fleet");
    let made = std::fs::create_dir_all(&cache);
    made.map_err(|error| FleetArchiveError::Io {
        what: "make",
        path: cache.clone(),
        source: error,
    })?;
    Ok(cache)
}
