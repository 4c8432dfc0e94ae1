//! Guests of a laboratory run, run in parallel.

use crate::emulation::{Emulation, Home, Watcher};
use crate::host::Host;
use crate::initramfs::{INITRAMFS, Packed};
use crate::kernel::Kernel;
use crate::machine::{CONSOLE, Machine};
use crate::qemu::Qemu;
use crate::{GuestError, LabError, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::{Duration, SystemTime};
use wakepath_archive::{EMULATOR_NAME, Emulator, GuestAdditions};
use wakepath_guest::canary::{AsBefore, Parted, is_canary};

/// One guest.
#[derive(Debug, Clone)]
pub struct Guest {
    /// Kernel and variant, as tables call it.
    pub name: String,
    /// Its kernel.
    pub kernel: Kernel,
    /// The machine it runs on.
    pub machine: Machine,
    /// Its initramfs.
    pub initramfs: Packed,
    /// Its run directory.
    pub directory: PathBuf,
    /// Commands that run in it first, as the user gave them.
    pub before: Vec<String>,
    /// Its additions, likewise.
    pub added: GuestAdditions,
    /// The directory of its first run, which it must repeat.
    pub repeats: Option<PathBuf>,
}

impl Guest {
    /// The emulator's arguments. Paths are absolute because it runs in the guest's directory.
    ///
    /// # Errors
    /// As [`Machine::arguments`].
    pub(crate) fn arguments(&self) -> Result<Vec<String>> {
        let kernel = &self.kernel.started;
        let kernel = std::path::absolute(kernel).map_err(|e| LabError::io("find", kernel, e))?;
        self.machine.arguments(&kernel, Path::new(INITRAMFS))
    }

    /// The console of its first run, if this run repeats one.
    fn first_console(&self) -> Option<PathBuf> {
        Some(self.repeats.as_ref()?.join(CONSOLE))
    }

    /// The name of a guest: with its seed if there are several.
    pub fn name_with(name: &str, seed: u64, seeds: usize) -> String {
        match seeds {
            0 | 1 => name.to_owned(),
            _ => format!("{name} seed {seed}"),
        }
    }

    /// The name of a guest's directory: characters special to a shell or a path become dashes.
    pub fn directory_name(name: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._=+".contains(c);
        let name: String = name
            .chars()
            .map(|c| if plain(c) { c } else { '-' })
            .collect();
        name.trim_start_matches(['.', '-']).to_owned()
    }
}

/// Time and CPU time after which a guest counts as hung.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// Time that passes.
    pub elapsed: Duration,
    /// CPU time.
    pub cpu_time: Duration,
}

/// Whether the user has stopped the command.
pub type Stopped<'a> = &'a (dyn Fn() -> bool + Sync);

/// Runs all guests, `beside` at a time, and returns each one's result, in their order.
pub fn carry_out(
    guests: &[Guest],
    qemu: &Qemu,
    beside: usize,
    limit: Limit,
    host: &Host,
    stopped: Stopped<'_>,
) -> Vec<Result<()>> {
    carry_out_and(guests, qemu, beside, limit, host, stopped, &|_| Ok(()))
}

/// The same, and `finish` for each guest as soon as it has ended: later guests can take hours, and may be killed.
pub fn carry_out_and(
    guests: &[Guest],
    qemu: &Qemu,
    beside: usize,
    limit: Limit,
    host: &Host,
    stopped: Stopped<'_>,
    finish: &(dyn Fn(&Guest) -> Result<()> + Sync),
) -> Vec<Result<()>> {
    let next = AtomicUsize::new(0);
    let ended: Mutex<HashMap<usize, Result<()>>> = Mutex::default();
    let attend = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(guest) = guests.get(index) else {
                break;
            };
            let outcome = one(guest, qemu, limit, host, stopped).and_then(|()| finish(guest));
            (host.tell)(&match &outcome {
                Ok(()) => format!("{}: done", guest.name),
                Err(error) => format!("{}: {error}", guest.name),
            });
            if let Ok(mut ended) = ended.lock() {
                ended.insert(index, outcome);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..beside.min(guests.len()) {
            // If the system allows no more threads, the existing ones do all the work.
            if Builder::new().spawn_scoped(scope, attend).is_err() {
                break;
            }
        }
        attend();
    });
    let mut ended = ended.into_inner().unwrap_or_default();
    (0..guests.len())
        .map(|index| {
            ended
                .remove(&index)
                .unwrap_or(Err(GuestError::NeverBegan.into()))
        })
        .collect()
}

fn one(guest: &Guest, qemu: &Qemu, limit: Limit, host: &Host, stopped: Stopped<'_>) -> Result<()> {
    if stopped() {
        return Err(LabError::Interrupted);
    }
    let directory = &guest.directory;
    std::fs::create_dir_all(directory).map_err(|error| LabError::io("make", directory, error))?;
    let arguments = guest.arguments()?;
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
        initramfs_sha256: guest.initramfs.sha256.clone(),
        before: guest.before.clone(),
        added: guest.added.clone(),
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
    };
    let mut follower = Follower::new(guest, host, stopped)?;
    let home = Emulation {
        qemu,
        arguments: &arguments,
        guard: &host.guard(),
        directory,
        output: &guest.initramfs.file,
        limit: limit.elapsed,
        cpu_limit: limit.cpu_time,
        input: None,
    }
    .run(&mut follower);
    let home = follower.held_to_before(home)?;
    write(
        &directory.join(EMULATOR_NAME),
        &serde_json::to_vec_pretty(&emulator).expect("plain data is JSON"),
    )?;
    keep(directory, home.files)?;
    match home.complaint {
        None => Ok(()),
        Some(complaint) => Err(complaint),
    }
}

/// Writes the files that a guest sent.
pub(crate) fn keep(directory: &Path, files: Vec<(String, Vec<u8>)>) -> Result<()> {
    for (name, bytes) in files {
        let path = directory.join(name);
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above).map_err(|error| LabError::io("make", above, error))?;
        }
        write(&path, &bytes)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| LabError::io("write", path, error))
}

/// Passes the guest's lines on, and holds its canary against that of its first run.
pub(crate) struct Follower<'a> {
    guest: &'a Guest,
    host: &'a Host,
    stopped: Stopped<'a>,
    before: Option<AsBefore>,
    parted: Option<Parted>,
}

impl<'a> Follower<'a> {
    /// For a guest.
    ///
    /// # Errors
    /// If the console of its first run can't be read.
    pub(crate) fn new(guest: &'a Guest, host: &'a Host, stopped: Stopped<'a>) -> Result<Self> {
        let before = match guest.first_console() {
            None => None,
            Some(console) => {
                let text = std::fs::read(&console);
                let text = text.map_err(|error| LabError::io("read", &console, error))?;
                AsBefore::new(&String::from_utf8_lossy(&text))
            }
        };
        Ok(Self {
            guest,
            host,
            stopped,
            before,
            parted: None,
        })
    }

    /// The sent data, unless the guest was stopped because it differs from its first run.
    fn held_to_before(self, home: Result<Home>) -> Result<Home> {
        match (self.parted, self.guest.first_console()) {
            (Some(parted), Some(first)) => Err(GuestError::Parted {
                segment: parted.segment,
                before: parted.before,
                now: parted.now,
                first,
            }
            .into()),
            _ => home,
        }
    }
}

impl Watcher for Follower<'_> {
    fn line(&mut self, line: &str) {
        if let Some(before) = &mut self.before
            && self.parted.is_none()
        {
            self.parted = before.hear(line).err();
        }
        if !is_canary(line) {
            (self.host.tell)(&format!("{}: {line}", self.guest.name));
        }
    }

    fn stopped(&self) -> bool {
        self.parted.is_some() || (self.stopped)()
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
