//! Leases for adding to and removing from a bucket, which has no locks.
//!
//! Each process announces itself by a key that expires. A key counts while the server's own clock
//! finds it younger than [`LASTS`]. Its holder renews it, so that a killed holder blocks nobody for
//! longer than that.

use super::remote::Remote;
use crate::error::{FleetArchiveError, Result};
use crate::store::{Held, Hold, Placed, own_name};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Folder of the keys.
const HOLDS: &str = "holds";

/// How long a key counts after it was written.
pub(super) const LASTS: Duration = Duration::from_secs(600);

/// Time between renewals.
const RENEWED: Duration = Duration::from_secs(60);

/// How long after it was last written its holder still relies on it: well before others cease to.
const RELIED_ON: Duration = Duration::from_secs(300);

/// Time between two attempts.
const PAUSE: Duration = Duration::from_secs(1);

/// A hold, as the store knows it: when it was written last, in seconds since 1970.
pub(super) type Written = Arc<AtomicU64>;

/// A hold; its key is removed with it.
struct Lease {
    remote: Arc<Remote>,
    name: String,
    renewal: tokio::task::JoinHandle<()>,
}

impl Held for Lease {}

impl Drop for Lease {
    fn drop(&mut self) {
        self.renewal.abort();
        // Otherwise it expires.
        let _ = self.remote.remove(&self.name);
    }
}

/// Waits for a hold.
pub(super) fn take(remote: &Arc<Remote>, hold: Hold) -> Result<(Box<dyn Held>, Written)> {
    let kind = match hold {
        Hold::Alone => "gc",
        Hold::Together | Hold::Reading => "add",
    };
    let own = format!("{kind}{}", own_name());
    let name = format!("{HOLDS}/{own}");
    loop {
        let written = Written::new(AtomicU64::new(seconds()));
        if remote.create(&name, Vec::new())? == Placed::New
            && remote.create(&name, Vec::new())? == Placed::New
        {
            remote.remove(&name)?;
            return Err(FleetArchiveError::Bucket {
                url: remote.url_of("").display().to_string(),
                why:
                    "its server writes over what is there though told not to (If-None-Match); two \
                      controllers could lose a run"
                        .to_owned(),
            });
        }
        let lease = Lease {
            renewal: remote.runtime().spawn(renewed(
                Arc::clone(remote),
                name.clone(),
                Arc::clone(&written),
            )),
            remote: Arc::clone(remote),
            name: name.clone(),
        };
        match in_the_way(remote, &own, hold)? {
            false => return Ok((Box::new(lease), written)),
            // A removing process keeps its place in the queue; an adding one yields.
            true if hold == Hold::Alone => {
                while in_the_way(remote, &own, hold)? {
                    std::thread::sleep(PAUSE);
                }
                still(&written, remote)?;
                return Ok((Box::new(lease), written));
            }
            true => drop(lease),
        }
        std::thread::sleep(PAUSE);
    }
}

fn in_the_way(remote: &Remote, own: &str, hold: Hold) -> Result<bool> {
    let listed = remote.listed(HOLDS)?;
    let seen: Vec<(&str, i64)> = listed
        .iter()
        .map(|meta| {
            let name = meta.location.filename().unwrap_or_default();
            (name, meta.last_modified.timestamp())
        })
        .collect();
    is_in_the_way(own, hold, &seen).ok_or_else(|| lost(remote))
}

/// Whether another process holds the bucket in a way that conflicts with this hold, given all keys
/// with the server's times in seconds; `None` if the own key is missing. Each process writes its
/// key before it reads the others', so of two at least one sees the other.
fn is_in_the_way(own: &str, hold: Hold, seen: &[(&str, i64)]) -> Option<bool> {
    let (_, now) = seen.iter().find(|(name, _)| *name == own)?;
    let mut others = seen
        .iter()
        .filter(|(name, written)| *name != own && now - written < LASTS.as_secs() as i64);
    Some(others.any(|(name, _)| match hold {
        // Of two that remove, the first by name goes first.
        Hold::Alone => name.starts_with("add") || *name < own,
        Hold::Together | Hold::Reading => name.starts_with("gc"),
    }))
}

async fn renewed(remote: Arc<Remote>, name: String, written: Written) {
    loop {
        tokio::time::sleep(RENEWED).await;
        let began = seconds();
        if remote.overwrite(&name).await.is_ok() {
            written.store(began, Ordering::Relaxed);
        }
    }
}

/// Whether a hold is still reliable: its holder might have been stopped, or cut off.
pub(super) fn still(written: &Written, remote: &Remote) -> Result<()> {
    let age = seconds().abs_diff(written.load(Ordering::Relaxed));
    if age < RELIED_ON.as_secs() {
        Ok(())
    } else {
        Err(lost(remote))
    }
}

fn lost(remote: &Remote) -> FleetArchiveError {
    FleetArchiveError::Bucket {
        url: remote.url_of("").display().to_string(),
        why: "the hold on it could not be kept: this program was stopped or cut off for minutes; do it \
              again"
            .to_owned(),
    }
}

fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_add_share_and_one_that_removes_waits_for_them_until_they_are_killed() {
        let late = 10_000;
        let early = late - LASTS.as_secs() as i64;
        let seen = [("add-a", late), ("add-b", early + 1), ("gc-c", early)];
        let way = |own, hold, seen: &[_]| is_in_the_way(own, hold, seen);
        assert_eq!(way("add-a", Hold::Together, &seen), Some(false));
        let seen = [("add-a", early + 1), ("gc-c", late), ("gc-d", late)];
        assert_eq!(way("gc-c", Hold::Alone, &seen), Some(true));
        assert_eq!(way("add-a", Hold::Together, &seen), Some(true));
        // The one that adds was killed; of the two that remove, one goes first.
        let seen = [("add-a", early), ("gc-c", late), ("gc-d", late)];
        assert_eq!(way("gc-c", Hold::Alone, &seen), Some(false));
        assert_eq!(way("gc-d", Hold::Alone, &seen), Some(true));
        assert_eq!(way("gc-x", Hold::Alone, &seen), None);
    }
}
