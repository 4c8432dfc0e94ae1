//! The run made once more, with the emulator noting what it executes; and whether it was the same.

use super::Failure;
use super::again::Again;
use super::wanted::Wanted;
use crate::verbs::lab::diff;
use crate::verbs::lab::guests::{self, Guest, Limit, absolute, carry_out, guard, keep};
use std::os::unix::net::UnixStream;
use wakepath_lab::window::{Clock, Follower, Found};
use wakepath_lab::{
    Emulation, Kept, Plugin, Qemu, attend, first_divergence, keep_symbols, output_name,
};
use wakepath_measure::Interrupt;

/// Instructions before a latency that are kept too: what was called there tells who called later.
const BEFORE: u64 = 300_000;
/// The smallest step of an emulated PC's clock in nanoseconds.
const CLOCK_STEP_NS: u64 = 1;

/// What was noted.
pub struct Repeated {
    kept: Vec<Kept>,
    follower: Follower,
    /// The kernel's list of its functions.
    pub symbols: String,
}

impl Repeated {
    /// The blocks behind a wanted cycle.
    pub fn of(&self, number: usize, sample: usize) -> Result<&Kept, &'static str> {
        let complete = self.follower.complete(number);
        if complete.is_empty() {
            return Err("the loop can't be told among the guest's readings of the clock");
        }
        let right = |found: &Found| {
            (found.of, found.sample) == (number, sample) && complete.contains(&found.trail)
        };
        let mut kept = self.kept.iter().filter(|kept| right(&kept.found));
        let first = kept.next().ok_or("its blocks were not kept")?;
        // Trails may differ in their beginning, and meet; here they must not.
        match kept.all(|other| other.found.wake == first.found.wake) {
            true => Ok(first),
            false => Err("several readings of the clock fit the loop's samples"),
        }
    }
}

/// Carries the guest out once more. The kernel's list of its functions is asked for beside it, where
/// it is not known.
pub fn repeat(again: &Again, wanted: &Wanted, interrupt: &Interrupt) -> Result<Repeated, Failure> {
    let (noted, symbols) = std::thread::scope(|scope| {
        let telling = again.telling.as_ref();
        let telling = telling.map(|(guest, limit)| {
            scope.spawn(move || told(again, guest, *limit, interrupt).map_err(|e| e.to_string()))
        });
        let noted = noted(again, wanted, interrupt);
        let symbols = telling.map(|telling| match telling.join() {
            Ok(symbols) => symbols,
            Err(_) => Err("the guest that tells its functions was not followed".into()),
        });
        (noted, symbols)
    });
    let (kept, follower) = noted?;
    refuse_another_run(again)?;
    let symbols = match (symbols, &again.symbols) {
        (Some(symbols), _) => symbols?,
        (None, Some(known)) => known.clone(),
        (None, None) => return Err("the kernel's functions are not known".into()),
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
    interrupt: &Interrupt,
) -> Result<(Vec<Kept>, Follower), Failure> {
    let guest = &again.guest;
    let directory = &guest.directory;
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let plugin = Plugin::place(&again.qemu, directory)?;
    let kernel = absolute(&guest.kernel.path)?;
    let initramfs = absolute(&guest.initramfs.0)?;
    let mut arguments = guest.machine.arguments(&kernel, &initramfs)?;
    arguments.extend(Plugin::arguments());
    let ns = u64::from(again.ns_per_instruction);
    let clock = Clock {
        ns_per_instruction: ns,
        granularity_ns: CLOCK_STEP_NS,
    };
    let mut follower = Follower::new(clock, wanted.loops.clone());
    let (ours, theirs) = UnixStream::pair()?;
    let since = |found: &Found| {
        let sample = &wanted.loops[found.of].samples[found.sample];
        let latency = u64::try_from(sample.latency_ns()).unwrap_or(0) / ns;
        found.wake.count.saturating_sub(latency + BEFORE)
    };
    eprintln!("{}: once more, noting what is executed", guest.name);
    let (home, kept) = std::thread::scope(|scope| {
        let attending = scope.spawn(|| attend(ours, &mut follower, since));
        let home = Emulation {
            qemu: &again.qemu,
            arguments: &arguments,
            guard: &guard(),
            directory,
            limit: again.limit.elapsed,
            cpu_limit: again.limit.cpu_time,
            input: Some(&theirs),
        }
        .run(&mut guests::Follower { guest, interrupt });
        // The other end is closed with this one: the emulator is gone.
        drop(theirs);
        (home, attending.join())
    });
    drop(plugin);
    // Its digest is in the manifest; the same order makes the same again.
    let _ = std::fs::remove_file(&initramfs);
    let home = home.map_err(|error| without_plugins(error, &again.qemu))?;
    if let Some(complaint) = home.complaint {
        return Err(Box::new(complaint));
    }
    let kept = kept.map_err(|_| "the emulator was not attended to")??;
    keep(directory, home.files)?;
    wakepath_archive::finish(directory)?;
    Ok((kept, follower))
}

/// An emulator that was built without plugins refuses the option.
fn without_plugins(error: wakepath_lab::LabError, qemu: &Qemu) -> String {
    let said = error.to_string();
    match said.contains("plugin") {
        true => format!(
            "{said}: a window needs an emulator built with plugins, as Debian's, Ubuntu's and \
             Fedora's are; here is {}",
            qemu.version
        ),
        false => said,
    }
}

/// What the kernel says of itself, once and for all.
fn told(
    again: &Again,
    guest: &Guest,
    limit: Limit,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let guests = std::slice::from_ref(guest);
    let ended = carry_out(guests, &again.qemu, 1, limit, interrupt);
    ended.into_iter().collect::<Result<Vec<()>, _>>()?;
    let path = guest.directory.join(output_name(1));
    let list =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    keep_symbols(&again.cache, &guest.kernel.sha256, &list)?;
    Ok(list)
}

/// Only the same run has the same windows.
fn refuse_another_run(again: &Again) -> Result<(), Failure> {
    let (first, second) = (
        diff::streams(&again.run)?,
        diff::streams(&again.guest.directory)?,
    );
    match first_divergence(&first, &second) {
        None => Ok(()),
        Some(found) => Err(format!(
            "{}: made once more, it is another run, so no window of it is shown: {found}",
            again.run.display()
        )
        .into()),
    }
}
