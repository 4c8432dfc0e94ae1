//! A campaign of `kill -9`: each kind of process, at random points of runs, traced runs, watches and
//! changes of settings. All data that was on the disk is still there afterwards, and nothing else is left.
//! The stage `kills` of `./test --deep` runs it and reports the counts; it takes minutes.

pub mod interruptions;
pub mod runs;
pub mod tunings;
pub mod watches;

use crate::started::{Place, Start};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use wakepath_probe::Tracefs;

/// Moments that look random and are the same each time.
pub struct Moments(u64);

impl Moments {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// From nothing to `longest`: Knuth's linear congruential generator, its upper bits.
    pub fn next(&mut self, longest: Duration) -> Duration {
        let step = 6_364_136_223_846_793_005;
        self.0 = self
            .0
            .wrapping_mul(step)
            .wrapping_add(1_442_695_040_888_963_407);
        longest.mul_f64((self.0 >> 33) as f64 / f64::from(1_u32 << 31))
    }
}

/// What wakepath may leave on the machine and must not: names in shared memory and of instances in
/// tracefs, and settings that tuning writes.
#[derive(Debug, PartialEq, Eq)]
struct Traces {
    shared_memory: BTreeSet<String>,
    instances: BTreeSet<String>,
    settings: BTreeMap<&'static str, String>,
}

impl Traces {
    fn now() -> Self {
        let own = |name: &String| name.contains("wakepath");
        let instances = || {
            let tracefs = Tracefs::find_or_mount().ok()?;
            Some(names(&tracefs.root().join("instances")))
        };
        // On a thread of its own: it may have to mount tracefs, and is in another mount namespace
        // then.
        let instances = std::thread::spawn(instances).join().unwrap();
        let settings = [
            "/proc/sys/vm/stat_interval",
            "/proc/sys/kernel/timer_migration",
        ];
        let read = |path| Some((path, std::fs::read_to_string(path).ok()?));
        Self {
            shared_memory: names(Path::new("/dev/shm"))
                .into_iter()
                .filter(own)
                .collect(),
            instances: instances
                .unwrap_or_default()
                .into_iter()
                .filter(|name| own(name) && is_left_behind(name))
                .collect(),
            settings: settings.into_iter().filter_map(read).collect(),
        }
    }

    #[track_caller]
    fn assert_unchanged(&self, what: &str) {
        assert_eq!(*self, Self::now(), "{what}");
    }
}

/// Whether the process that made an instance, `wakepath-PID-…`, is gone.
fn is_left_behind(instance: &str) -> bool {
    let process = instance.split('-').nth(1).unwrap_or_default();
    !Path::new("/proc").join(process).exists()
}

fn names(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect()
}

/// Starts a command line in a new place.
fn start(words: &[&str]) -> Start {
    Start::command_in(Place::new(), words)
}
