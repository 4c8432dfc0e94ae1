//! Repeats a run while the emulator records, and checks that it came out the same.

use super::error::{AgainError, NoBlocks};
use super::guest::Again;
use super::kept_symbols::keep_symbols;
use super::line::{Listener, Noting, attend};
use super::noted::{Cycles, Kept};
use super::plugin::Plugin;
use super::wanted::Wanted;
use crate::divergence::first_divergence;
use crate::emulation::Emulation;
use crate::guests::{self, Guest, Limit, Stopped, carry_out, keep};
use crate::host::Host;
use crate::qemu::Qemu;
use crate::recorded::streams;
use crate::window::{Clock, Follower, Found};
use crate::{GuestError, LabError};
use std::os::unix::net::UnixStream;
use wakepath_guest::order::output_name;

type Result<T> = std::result::Result<T, AgainError>;

/// Instructions to keep before a latency, to find its callers.
const BEFORE: u64 = 300_000;
/// The smallest step of an emulated PC's clock in nanoseconds.
const CLOCK_STEP_NS: u64 = 1;

/// Recorded blocks of a repeated run.
pub struct Repeated {
    kept: Vec<Kept>,
    follower: Follower,
    /// The kernel's list of its functions.
    pub symbols: String,
}

impl Repeated {
    /// Blocks of a wanted cycle.
    pub fn cycle(&self, number: usize, sample: usize) -> std::result::Result<&Kept, NoBlocks> {
        let complete = self.follower.complete(number);
        if complete.is_empty() {
            return Err(NoBlocks::NoTrail);
        }
        let right = |found: &Found| {
            (found.of, found.sample) == (number, sample) && complete.contains(&found.trail)
        };
        let mut kept = self.kept.iter().filter(|kept| right(&kept.found));
        let first = kept.next().ok_or(NoBlocks::NotKept)?;
        // Trails can start differently and join; here they must agree.
        if kept.all(|other| other.found.wake == first.found.wake) {
            Ok(first)
        } else {
            Err(NoBlocks::Several)
        }
    }
}

/// Runs the guest once more. If the kernel's list of functions isn't cached, another guest fetches
/// it at the same time.
pub fn repeat(
    again: &Again,
    wanted: &Wanted,
    host: &Host,
    stopped: Stopped<'_>,
) -> Result<Repeated> {
    let (noted, symbols) = std::thread::scope(|scope| {
        let telling = again.telling.as_ref();
        let telling = telling
            .map(|(guest, limit)| scope.spawn(move || told(again, guest, *limit, host, stopped)));
        let noted = noted(again, wanted, host, stopped);
        let symbols = telling.map(|telling| match telling.join() {
            Ok(symbols) => symbols,
            Err(_) => Err(AgainError::NoSymbols),
        });
        (noted, symbols)
    });
    let (kept, follower) = noted?;
    refuse_another_run(again)?;
    let symbols = match (symbols, &again.symbols) {
        (Some(symbols), _) => symbols?,
        (None, Some(known)) => known.clone(),
        (None, None) => return Err(AgainError::NoSymbols),
    };
    Ok(Repeated {
        kept,
        follower,
        symbols,
    })
}

fn noted(
    again: &Again,
    wanted: &Wanted,
    host: &Host,
    stopped: Stopped<'_>,
) -> Result<(Vec<Kept>, Follower)> {
    let since = |found: &Found| {
        let sample = &wanted.loops[found.of].samples[found.sample];
        let latency = u64::try_from(sample.latency_ns()).unwrap_or(0);
        let latency = latency / u64::from(again.ns_per_instruction);
        found.wake.count.saturating_sub(latency + BEFORE)
    };
    let mut cycles = Cycles::new(follower(again, wanted), since);
    once_more(again, &Noting::default(), &mut cycles, host, stopped)?;
    Ok((cycles.kept, cycles.follower))
}

/// Finds the wanted loops among the guest's readings of the clock.
pub(super) fn follower(again: &Again, wanted: &Wanted) -> Follower {
    let clock = Clock {
        ns_per_instruction: again.ns_per_instruction.into(),
        granularity_ns: CLOCK_STEP_NS,
    };
    Follower::new(clock, wanted.loops.clone())
}

/// Runs the guest once more, with `listener` receiving the notes.
pub(super) fn once_more(
    again: &Again,
    noting: &Noting,
    listener: &mut (impl Listener + Send),
    host: &Host,
    stopped: Stopped<'_>,
) -> Result<()> {
    let guest = &again.guest;
    let directory = &guest.directory;
    std::fs::create_dir_all(directory).map_err(|error| LabError::io("make", directory, error))?;
    let plugin = Plugin::place(&again.qemu.version, directory)?;
    let mut arguments = guest.arguments()?;
    arguments.extend(Plugin::arguments());
    if noting.transitions || noting.costs.is_some() {
        arguments.extend(Plugin::memory_arguments(guest.machine.memory_mib));
    }
    let (ours, theirs) = UnixStream::pair()?;
    (host.tell)(&format!(
        "{}: once more, noting what is executed",
        guest.name
    ));
    let mut follower = guests::Follower::new(guest, host, stopped)?;
    let (home, attended) = std::thread::scope(|scope| {
        let attending = scope.spawn(|| attend(ours, noting, listener));
        let home = Emulation {
            qemu: &again.qemu,
            arguments: &arguments,
            guard: &host.guard(),
            output: &guest.initramfs.file,
            directory,
            limit: again.limit.elapsed,
            cpu_limit: again.limit.cpu_time,
            input: Some(&theirs),
        }
        .run(&mut follower);
        // The other end is closed with this one: the emulator is gone.
        drop(theirs);
        (home, attending.join())
    });
    drop(plugin);
    let home = home.map_err(|error| without_plugins(error, &again.qemu))?;
    if let Some(complaint) = home.complaint {
        return Err(complaint.into());
    }
    attended.map_err(|_| AgainError::Unattended)??;
    keep(directory, home.files)?;
    wakepath_archive::finish(directory)?;
    Ok(())
}

/// Recognises an emulator built without plugins: it refuses the option and ends, and only its
/// message gives the reason.
fn without_plugins(error: LabError, qemu: &Qemu) -> AgainError {
    match &error {
        LabError::Guest(GuestError::Emulator { said, .. }) if said.contains("plugin") => {
            AgainError::NoPlugins {
                said: error,
                version: qemu.version.clone(),
            }
        }
        _ => error.into(),
    }
}

/// Reads the kernel's own list of functions once.
pub(super) fn told(
    again: &Again,
    guest: &Guest,
    limit: Limit,
    host: &Host,
    stopped: Stopped<'_>,
) -> Result<String> {
    let guests = std::slice::from_ref(guest);
    let ended = carry_out(guests, &again.qemu, 1, limit, host, stopped);
    ended.into_iter().collect::<crate::Result<Vec<()>>>()?;
    let path = guest.directory.join(output_name(1));
    let list =
        std::fs::read_to_string(&path).map_err(|error| LabError::io("read", &path, error))?;
    keep_symbols(&host.cache(), &guest.kernel.sha256, &list)?;
    Ok(list)
}

/// Only the same run has the same windows.
pub(super) fn refuse_another_run(again: &Again) -> Result<()> {
    let (first, second) = (streams(&again.run)?, streams(&again.guest.directory)?);
    match first_divergence(&first, &second) {
        None => Ok(()),
        Some(found) => Err(AgainError::AnotherRun {
            run: again.run.clone(),
            found,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulator_without_plugins_says_so_itself() {
        let qemu = Qemu {
            program: "qemu-system-x86_64".into(),
            version: "QEMU emulator version 7.2.0".into(),
            arguments: Vec::new(),
        };
        let refused = GuestError::Emulator {
            program: "qemu-system-x86_64".into(),
            said: "qemu-system-x86_64: -plugin: invalid option".into(),
        };
        let found = without_plugins(refused.into(), &qemu);
        assert!(matches!(found, AgainError::NoPlugins { .. }), "{found}");
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let elsewhere = LabError::io("read", "plugins/console.log".as_ref(), missing);
        let found = without_plugins(elsewhere, &qemu);
        assert!(matches!(found, AgainError::Lab(_)), "{found}");
    }
}
