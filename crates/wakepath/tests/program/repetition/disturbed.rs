//! A host that does its worst to emulators: programs that keep it busy, and a hand that stops an emulator and slows
//! one of its threads. It looks at no samples.

use crate::kills::Moments;
use crate::lab::emulators_of;
use rustix::process::{Pid, Signal, getpriority_process, kill_process};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Programs that never sleep. At a lower priority than the emulators, so that these get on too.
pub struct Busy(Vec<Child>);

impl Busy {
    /// How much lower.
    const LOWER: i32 = 10;
    /// The lowest that there is.
    const LOWEST: i32 = 19;

    pub fn start(programs: usize) -> Self {
        let lowest = getpriority_process(None).unwrap() + Self::LOWER;
        let campaign = std::process::id().to_string();
        let start = |_| {
            // A campaign at a low priority itself has none below it but that of the idle.
            let mut lower = if lowest > Self::LOWEST {
                Command::new("chrt")
            } else {
                Command::new("nice")
            };
            if lowest > Self::LOWEST {
                lower.args(["--idle", "0"])
            } else {
                lower.arg("-n").arg(Self::LOWER.to_string())
            };
            // Asks for the campaign each time round: one that is killed leaves no busy program behind.
            let loops = ["sh", "-c", "while [ -e /proc/$0 ]; do :; done"];
            lower.args(loops).arg(&campaign).spawn().unwrap()
        };
        Self((0..programs).map(start).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Makes one of an emulator's threads wait for everybody else for a moment, by turns the one for the
/// guest's CPUs and the other, with a stop of the whole in the middle. Counts how often one was
/// stopped. A thread that waited forever would only keep the run from its end.
pub fn disturb(place: &Path, ended: &AtomicBool, stops: &AtomicU64) {
    let mut moments = Moments::new(15);
    while !ended.load(Ordering::Relaxed) {
        std::thread::sleep(moments.next(Duration::from_secs(2)));
        for emulator in emulators_of(place) {
            let Some(pid) = Pid::from_raw(emulator) else {
                continue;
            };
            let main = stops.load(Ordering::Relaxed).is_multiple_of(2);
            schedule(emulator, main, "--idle");
            std::thread::sleep(moments.next(Duration::from_millis(50)));
            if kill_process(pid, Signal::STOP).is_ok() {
                stops.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(moments.next(Duration::from_millis(50)));
                let _ = kill_process(pid, Signal::CONT);
            }
            std::thread::sleep(moments.next(Duration::from_millis(100)));
            schedule(emulator, main, "--other");
        }
    }
}

/// Gives an emulator's main thread, or all its others, a scheduling policy.
fn schedule(emulator: i32, main: bool, policy: &str) {
    let tasks = std::fs::read_dir(format!("/proc/{emulator}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let id = task.file_name().into_string().unwrap();
        if (id == emulator.to_string()) != main {
            continue;
        }
        // A thread might have ended in the meantime.
        let _ = Command::new("chrt")
            .args([policy, "--pid", "0", &id])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}
