//! Real loads in real processes, for the tests of this room.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use wakepath_load::{Cache, Caches, LoadProof, Loads, OWN_ENVIRONMENT_VARIABLE, StartOptions};
use wakepath_scenario::{LoadKind, LoadSpec};

pub const PATIENCE: Duration = Duration::from_secs(20);

/// A directory that is removed with the value.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // On the build's file system: the temporary directory might be in memory.
        let name = format!("load-test-{}-{number}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn is_empty(&self) -> bool {
        fs::read_dir(&self.0).unwrap().next().is_none()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn host() -> &'static str {
    env!("CARGO_BIN_EXE_load-test-host")
}

pub fn options(scratch: &Scratch) -> StartOptions {
    let private = |bytes| {
        Some(Cache {
            bytes,
            shared_by_cpus: 1,
        })
    };
    StartOptions {
        caches: Caches {
            l1d: private(32 << 10),
            l2: private(256 << 10),
            l3: private(1 << 20),
        },
        ..StartOptions::new(host(), &scratch.0)
    }
}

pub fn spec(kind: LoadKind, workers: u32, cpus: Option<Vec<u16>>) -> LoadSpec {
    LoadSpec {
        kind,
        workers,
        cpus: cpus.map(|cpus| cpus.into_iter().collect()),
    }
}

pub fn command(words: &[&str]) -> LoadSpec {
    let command = words.iter().map(ToString::to_string).collect();
    spec(LoadKind::Command { command }, 0, None)
}

/// Runs `spec` for 0.3 s and proves that segment.
pub fn segment(loads: &mut Loads) -> Vec<LoadProof> {
    let before = loads.snapshot().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let after = loads.snapshot().unwrap();
    loads.proof_between(&before, &after)
}

/// The mark that all processes of `loads` carry.
pub fn mark(loads: &Loads) -> String {
    mark_of(loads.supervisor_pid().unwrap())
}

pub fn mark_of(pid: u32) -> String {
    let environment = environment(&pid.to_string()).unwrap();
    environment.get(OWN_ENVIRONMENT_VARIABLE).cloned().unwrap()
}

fn environment(pid: &str) -> Option<BTreeMap<String, String>> {
    let bytes = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let entries = bytes.split(|&byte| byte == 0).filter_map(|entry| {
        let (name, value) = std::str::from_utf8(entry).ok()?.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    Some(entries.collect())
}

/// Every living process with `mark`, as (pid, command line).
pub fn marked(mark: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let value = environment(&pid.to_string())
            .and_then(|environment| environment.get(OWN_ENVIRONMENT_VARIABLE).cloned());
        if value.as_deref() == Some(mark) {
            let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            found.push((pid, line.replace('\0', " ")));
        }
    }
    found
}

/// Waits until no process has `mark`, and fails if one still does after five seconds.
pub fn assert_nobody_left(mark: &str) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !marked(mark).is_empty() {
        assert!(Instant::now() < deadline, "left behind: {:?}", marked(mark));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A line of /proc/PID/status.
pub fn status(pid: u32, name: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}
