//! A command under way: its processes by role, and what it has recorded so far.

use super::processes::{marked, of_role, words};
use super::{Finished, LONGEST, Place, Role, wait_until, wait_within};
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use wakepath_archive::Run;
use wakepath_rt::shared::SharedMemory;

/// A started command.
pub struct Running {
    child: Option<Child>,
    place: Option<Place>,
    directory: PathBuf,
    begun: Instant,
}

impl Running {
    pub(super) fn new(child: Child, place: Place, directory: PathBuf) -> Self {
        Self {
            child: Some(child),
            place: Some(place),
            directory,
            begun: Instant::now(),
        }
    }

    /// Process id of the command itself.
    pub fn main(&self) -> i32 {
        self.child.as_ref().unwrap().id() as i32
    }

    /// The run directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The processes of a role at this moment.
    pub fn all_of(&self, role: Role) -> Vec<i32> {
        of_role(self.place.as_ref().unwrap().mark(), role)
    }

    /// The first process of a role, waited for.
    pub fn the(&self, role: Role) -> i32 {
        let mut found = Vec::new();
        wait_until(&format!("{role:?}"), || {
            found = self.all_of(role);
            assert!(
                !found.is_empty() || !self.is_over(),
                "{role:?}: {}",
                self.ended_early()
            );
            !found.is_empty()
        });
        found[0]
    }

    /// Waits until `samples` of the first thread in segment number `segment` are on disk.
    pub fn wait_until_recorded(&self, segment: u32, samples: u64) {
        let what = format!("{samples} samples of segment {segment}");
        wait_until(&what, || {
            let is_over = self.is_over();
            let run = Run::open(&self.directory);
            let recorded = run.is_ok_and(|run| {
                let thread = run.manifest.thread(segment, 0);
                thread.is_some_and(|thread| thread.recorded >= samples)
            });
            assert!(recorded || !is_over, "{what}: {}", self.ended_early());
            recorded
        });
    }

    /// Whether the command has ended: it is a zombie until [`Self::finish`].
    fn is_over(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.main()));
        stat.is_ok_and(|stat| {
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| rest.starts_with('Z'))
        })
    }

    fn ended_early(&self) -> String {
        let output = self.place.as_ref().unwrap().path().join("stdout");
        let output = std::fs::read_to_string(output).unwrap_or_default();
        format!("it has ended: {}\n{output}", self.complaints())
    }

    /// The memory in which its loop leaves samples for the recorder. It outlives all of them in this mapping.
    pub fn memory(&self) -> SharedMemory {
        let recorder = self.the(Role::Recorder);
        // `internal recorder PARENT DESCRIPTOR DIRECTORY`
        let line = words(recorder).into_iter();
        let descriptor = line.skip_while(|word| word != "recorder").nth(2).unwrap();
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(format!("/proc/{recorder}/fd/{descriptor}"))
            .unwrap();
        SharedMemory::open(file.into()).unwrap()
    }

    /// Its standard error until now.
    pub fn complaints(&self) -> String {
        let place = self.place.as_ref().unwrap();
        std::fs::read_to_string(place.path().join("stderr")).unwrap_or_default()
    }

    /// Signals the command itself.
    pub fn signal(&self, signal: Signal) {
        super::kill(self.main(), signal);
    }

    /// Whether a signal waits to be taken by the command: while its threads get no CPU, or hold it back.
    pub fn has_pending(&self, signal: Signal) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.main()));
        let status = status.unwrap_or_default();
        let masks = status.lines().filter_map(|line| {
            let (name, mask) = line.split_once(':')?;
            let is_pending = ["SigPnd", "ShdPnd"].contains(&name);
            is_pending.then(|| u64::from_str_radix(mask.trim(), 16).expect("a mask"))
        });
        masks.fold(0, |all, mask| all | mask) >> (signal.as_raw() - 1) & 1 == 1
    }

    /// Signals the command's process group, as a terminal does; the command was started in its own.
    pub fn signal_group(&self, signal: Signal) {
        let group = rustix::process::Pid::from_raw(self.main()).unwrap();
        // It might have ended in the meantime.
        let _ = rustix::process::kill_process_group(group, signal);
    }

    /// Kills everything that came of the command at once, the command included.
    pub fn kill_all(&self) {
        for pid in marked(self.place.as_ref().unwrap().mark()) {
            super::kill(pid, Signal::KILL);
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    /// Waits for its end.
    pub fn finish(self) -> Finished {
        self.finish_within(LONGEST)
    }

    /// Waits for its end, for so long.
    pub fn finish_within(mut self, longest: Duration) -> Finished {
        wait_within("the end of the command", longest, || self.has_ended());
        let status = self.child.take().unwrap().wait().unwrap();
        let place = self.place.take().unwrap();
        let text = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
        let (output, complaints) = (
            std::fs::read_to_string(place.path().join("stdout")).unwrap_or_default(),
            text("stderr"),
        );
        Finished {
            status,
            output,
            complaints,
            took: self.begun.elapsed(),
            directory: self.directory.clone(),
            place,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A failed assertion leaves nothing behind for the tests that follow.
        if let (Some(child), Some(place)) = (&mut self.child, &self.place) {
            let _ = child.kill();
            let _ = child.wait();
            for pid in marked(place.mark()) {
                eprintln!("left running by a failed test: {:?}", words(pid));
                super::kill(pid, Signal::KILL);
            }
        }
    }
}
