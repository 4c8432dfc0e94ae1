//! Which guests a laboratory run is made of, and carrying them out side by side.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use wakepath_archive::{EMULATOR_NAME, Emulator};
use wakepath_lab::{Emulation, Kernel, LabError, Machine, Qemu, Watcher};
use wakepath_measure::{Interrupt, own_executable};

/// One guest.
#[derive(Debug, Clone)]
pub struct Guest {
    /// Kernel and variant, as tables call it.
    pub name: String,
    /// Its kernel.
    pub kernel: Kernel,
    /// The machine it runs on.
    pub machine: Machine,
    /// Its initramfs and the SHA-256 of that.
    pub initramfs: (PathBuf, String),
    /// Its run directory.
    pub directory: PathBuf,
    /// Commands that run in it first, as the user gave them.
    pub before: Vec<String>,
}

impl Guest {
    /// The name of a directory for a guest: what is special to a shell or a path becomes a dash.
    pub fn directory_name(name: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._=+".contains(c);
        let name: String = name
            .chars()
            .map(|c| if plain(c) { c } else { '-' })
            .collect();
        name.trim_start_matches(['.', '-']).to_owned()
    }
}

/// What a guest may take on this host before it counts as hung.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// Time that passes.
    pub elapsed: Duration,
    /// CPU time.
    pub cpu_time: Duration,
}

/// What became of a guest.
pub type Ended = Result<(), String>;

/// Runs all guests, `beside` at a time, and returns what became of each, in their order.
pub fn carry_out(
    guests: &[Guest],
    qemu: &Qemu,
    beside: usize,
    limit: Limit,
    interrupt: &Interrupt,
) -> Vec<Ended> {
    let next = AtomicUsize::new(0);
    let ended: Mutex<HashMap<usize, Ended>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..beside.clamp(1, guests.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(guest) = guests.get(index) else {
                        break;
                    };
                    let outcome = one(guest, qemu, limit, interrupt).map_err(|e| e.to_string());
                    match &outcome {
                        Ok(()) => eprintln!("{}: done", guest.name),
                        Err(error) => eprintln!("{}: {error}", guest.name),
                    }
                    if let Ok(mut ended) = ended.lock() {
                        ended.insert(index, outcome);
                    }
                }
            });
        }
    });
    for guest in guests {
        // Its digest is in the manifest; the same order makes the same again.
        let _ = std::fs::remove_file(&guest.initramfs.0);
    }
    let mut ended = ended.into_inner().unwrap_or_default();
    (0..guests.len())
        .map(|index| ended.remove(&index).unwrap_or(Err("it never began".into())))
        .collect()
}

type Failure = Box<dyn std::error::Error>;

fn one(guest: &Guest, qemu: &Qemu, limit: Limit, interrupt: &Interrupt) -> Result<(), Failure> {
    if interrupt.requested() {
        return Err(Box::new(LabError::Interrupted));
    }
    let directory = &guest.directory;
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let (initramfs, initramfs_sha256) = &guest.initramfs;
    // The emulator runs in the guest's directory: paths must lead there from anywhere.
    let arguments = guest
        .machine
        .arguments(&absolute(&guest.kernel.path)?, &absolute(initramfs)?)?;
    let emulator = Emulator {
        version: qemu.version.clone(),
        arguments: [
            vec![qemu.program.display().to_string()],
            qemu.arguments.clone(),
            arguments.clone(),
        ]
        .concat(),
        kernel: guest.name.clone(),
        kernel_sha256: guest.kernel.sha256.clone(),
        kernel_package: guest.kernel.package.clone(),
        initramfs_sha256: initramfs_sha256.clone(),
        before: guest.before.clone(),
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
    };
    let guard = guard();
    let home = Emulation {
        qemu,
        arguments: &arguments,
        guard: &guard,
        directory,
        limit: limit.elapsed,
        cpu_limit: limit.cpu_time,
        input: None,
    }
    .run(&mut Follower { guest, interrupt })?;
    write(
        &directory.join(EMULATOR_NAME),
        &serde_json::to_vec_pretty(&emulator)?,
    )?;
    keep(directory, home.files)?;
    match home.complaint {
        None => Ok(()),
        Some(complaint) => Err(Box::new(complaint)),
    }
}

/// Writes the files that a guest sent.
pub fn keep(directory: &Path, files: Vec<(String, Vec<u8>)>) -> Result<(), String> {
    for (name, bytes) in files {
        let path = directory.join(name);
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above)
                .map_err(|error| format!("{}: {error}", above.display()))?;
        }
        write(&path, &bytes)?;
    }
    Ok(())
}

/// The process that the emulator dies with.
pub fn guard() -> [PathBuf; 3] {
    [own_executable(), "internal".into(), "lab-emulator".into()]
}

/// A path that leads there from anywhere.
pub fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Passes the guest's lines on.
pub struct Follower<'a> {
    /// Whose.
    pub guest: &'a Guest,
    /// What stops it.
    pub interrupt: &'a Interrupt,
}

impl Watcher for Follower<'_> {
    fn line(&mut self, line: &str) {
        eprintln!("{}: {line}", self.guest.name);
    }

    fn stopped(&self) -> bool {
        self.interrupt.requested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_named_after_its_guest_and_never_climbs() {
        let name = Guest::directory_name;
        assert_eq!(name("debian:rt"), "debian-rt");
        assert_eq!(
            name("debian:stock preempt=full threadirqs"),
            "debian-stock-preempt=full-threadirqs"
        );
        assert_eq!(name("../boot/vmlinuz"), "boot-vmlinuz");
    }
}
