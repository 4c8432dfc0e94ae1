//! A program of the user's own in the place of the loop's process: started as it is, its loops found in
//! the shared memory, its threads read back from outside. Nothing that it writes there is trusted; it
//! is no controller, and links only the loop's library.

mod loops;
mod thread;

pub use loops::{AnnouncedLoop, NoLoops, loops_of};

use crate::loop_process::LoopProcess;
use crate::own_executable;
use crate::supervisor::Heard;
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use thread::{Refused, modules, placed};
use wakepath_archive::{Obstacle, ThreadEnd};
use wakepath_directory::Directory;
use wakepath_measured_loop::{LoopReply, LoopSpec, ThreadEndReport, ThreadSpec};
use wakepath_rt::announcement::{Announced, Left, State};
use wakepath_rt::clock;
use wakepath_rt::shared::SharedMemory;
use wakepath_timeline::one_line;

/// Name of the file in the run directory with what the program printed.
pub const OUTPUT: &str = "program.log";
/// Between two looks at the shared memory.
const LOOK: Duration = Duration::from_millis(5);
/// How long a program may take to make its loops.
const LOOPS_PATIENCE: Duration = Duration::from_secs(25);
/// How long it may go on after the end of its loops before it is asked to end, and then before it is
/// killed.
const LEAVING: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(2)];

/// A running program.
pub(crate) struct OwnProgram {
    child: Child,
    memory: SharedMemory,
    output: File,
    threads: Vec<ThreadSpec>,
    lead_ns: u64,
    course: At,
    started: Instant,
    left_late: Option<String>,
}

/// Where its loops are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    GettingReady,
    Running,
    Over,
}

impl OwnProgram {
    /// Starts the program of a loop; what it prints is appended to [`OUTPUT`] in the run directory. Each
    /// ring is kept for the loop whose thread has its number.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn start(
        spec: &LoopSpec,
        directory: &Directory,
        memory: &SharedMemory,
    ) -> io::Result<Self> {
        if !directory.holds(OUTPUT) {
            directory.create_new(OUTPUT, 0o644)?;
        }
        for (ring, thread) in (0..).zip(&spec.threads) {
            let announcement = memory.announcement(ring);
            announcement.keep_for(&thread.name);
            announcement.plan(thread.first_judged_cycle, thread.end_cycle);
        }
        let command = spec.program().unwrap_or_default();
        Self::with_output(command, directory.open_to_append(OUTPUT)?, memory)
    }

    fn with_output(command: &[String], output: File, memory: &SharedMemory) -> io::Result<Self> {
        let own = memory.file().as_fd().try_clone_to_owned()?;
        let own = SharedMemory::open(own).map_err(io::Error::other)?;
        let shared = memory.file();
        let shared = shared.as_fd();
        let mut start = Command::new(own_executable());
        start
            .args(["internal", "own-program"])
            .arg(std::process::id().to_string())
            .arg(shared.as_raw_fd().to_string())
            .arg("--")
            .args(command)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .process_group(0);
        // The descriptor is inherited by this child only: nothing else is started meanwhile.
        let flags = fcntl_getfd(shared)?;
        fcntl_setfd(shared, flags - FdFlags::CLOEXEC)?;
        let child = start.spawn();
        fcntl_setfd(shared, flags)?;
        Ok(Self {
            child: child?,
            memory: own,
            output,
            threads: Vec::new(),
            lead_ns: 0,
            course: At::GettingReady,
            started: Instant::now(),
            left_late: None,
        })
    }

    /// The loops that have announced themselves, in the order of their rings.
    fn announced(&self) -> Vec<Announced> {
        let rings = 0..self.memory.threads();
        rings
            .filter_map(|ring| self.memory.announcement(ring).announced())
            .collect()
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// What it says at this moment.
    fn says(&mut self) -> Heard<LoopReply> {
        let ended = self.has_ended();
        match self.course {
            At::GettingReady => match self.ready() {
                Some(said) => Heard::Said(said),
                None if ended => Heard::Gone,
                None => Heard::Nothing,
            },
            At::Running => match self.ends() {
                Some(threads) => {
                    self.course = At::Over;
                    Heard::Said(LoopReply::Ended { threads })
                }
                None if ended => Heard::Gone,
                None => Heard::Nothing,
            },
            At::Over if ended => Heard::Gone,
            At::Over => Heard::Nothing,
        }
    }

    /// Lets the loops begin when all are there, or says why they can't.
    fn ready(&mut self) -> Option<LoopReply> {
        let announced: Vec<Option<Announced>> = (0..self.threads.len() as u32)
            .map(|ring| self.memory.announcement(ring).announced())
            .collect();
        let cannot = |reason: String| {
            Some(LoopReply::CannotRun {
                obstacle: Obstacle::Other,
                reason,
            })
        };
        if announced.iter().any(Option::is_none) {
            if self.started.elapsed() <= LOOPS_PATIENCE {
                return None;
            }
            let missing = self.threads.iter().zip(&announced);
            let missing = missing.filter(|(_, found)| found.is_none());
            let names: Vec<_> = missing.map(|(of, _)| format!("`{}`", of.name)).collect();
            return cannot(format!(
                "the program made no loop {} within {} s",
                names.join(", "),
                LOOPS_PATIENCE.as_secs()
            ));
        }
        let mut threads = Vec::new();
        for (wanted, found) in self.threads.iter().zip(announced.into_iter().flatten()) {
            match placed(wanted, &found) {
                Ok(thread) => threads.push(thread),
                Err(Refused(obstacle, reason)) => {
                    return Some(LoopReply::CannotRun { obstacle, reason });
                }
            }
        }
        let start_ns = clock::monotonic_ns() + self.lead_ns;
        let words = self.memory.words();
        words.start_ns.store(start_ns, Ordering::Relaxed);
        words.go.store(1, Ordering::Release);
        self.course = At::Running;
        Some(LoopReply::Ready { start_ns, threads })
    }

    /// How all loops ended, once they have.
    fn ends(&self) -> Option<Vec<ThreadEndReport>> {
        let rings = 0..self.threads.len() as u32;
        let announcements = rings.map(|ring| self.memory.announcement(ring));
        let ends: Vec<_> = announcements
            .map(|of| (of.state() == State::Ended).then(|| (of.left(), modules(of.sections()))))
            .collect();
        let ends: Option<Vec<_>> = ends.into_iter().collect();
        Some(
            ends?
                .into_iter()
                .map(|((left, page_faults), modules)| ThreadEndReport {
                    why: match left {
                        Left::AllCycles => ThreadEnd::AllCycles,
                        Left::Stopped => ThreadEnd::Stopped,
                        Left::GivenUp => {
                            ThreadEnd::failed("its program gave the loop up before its last cycle")
                        }
                        Left::Unsaid => ThreadEnd::failed("the loop did not say why it ended"),
                    },
                    page_faults,
                    counted: None,
                    modules,
                })
                .collect(),
        )
    }

    /// The last line that it printed.
    fn last_line(&self) -> Option<String> {
        use std::os::unix::fs::FileExt;
        let length = self.output.metadata().ok()?.len();
        let mut end = vec![0; length.min(4096) as usize];
        let from = length - end.len() as u64;
        self.output.read_exact_at(&mut end, from).ok()?;
        let text = String::from_utf8_lossy(&end).into_owned();
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        Some(one_line(line.trim()))
    }

    fn signal(&self, signal: Signal) {
        // Its group has its number; one that is gone needs no signal.
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process_group(group, signal);
        }
    }

    fn ends_within(&mut self, patience: Duration) -> bool {
        let asked = Instant::now();
        while !self.has_ended() {
            if asked.elapsed() > patience {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }
}

impl LoopProcess for OwnProgram {
    fn id(&self) -> u32 {
        self.child.id()
    }

    fn tell(&mut self, spec: &LoopSpec) -> io::Result<()> {
        self.threads.clone_from(&spec.threads);
        self.lead_ns = spec.lead_ns;
        Ok(())
    }

    fn hear(&mut self, patience: Duration) -> Heard<LoopReply> {
        let asked = Instant::now();
        loop {
            let heard = self.says();
            if !matches!(heard, Heard::Nothing) || asked.elapsed() >= patience {
                return heard;
            }
            std::thread::sleep(LOOK);
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let unrecorded = self.memory.words().unrecorded.load(Ordering::Acquire);
        if unrecorded > 0 {
            let loops = match unrecorded {
                1 => "1 loop more of the program is".to_owned(),
                more => format!("{more} loops more of the program are"),
            };
            remarks.push(format!(
                "{loops} not recorded: made after the others had begun, of a name that is taken, or of none \
                 that the scenario has"
            ));
        }
        for (ring, thread) in (0..).zip(&self.threads) {
            for section in self.memory.announcement(ring).sections() {
                if section.unbalanced > 0 {
                    remarks.push(format!(
                        "{}: the section `{}` was begun twice or ended without a beginning {} times; those \
                         runs are not timed",
                        thread.name,
                        one_line(&section.name),
                        section.unbalanced
                    ));
                }
            }
        }
        remarks
    }

    fn left_late(&self) -> Option<String> {
        self.left_late.clone()
    }

    fn end(&mut self) -> String {
        let status = self.child.wait();
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        match self.last_line() {
            None => status,
            Some(line) => format!("{status}; its last line: {line}"),
        }
    }

    /// Lets it end by itself, for it may have much to put in order; then asks, then makes it.
    fn kill(&mut self) {
        self.memory.words().stop.store(1, Ordering::Release);
        if !self.ends_within(LEAVING[0]) {
            self.signal(Signal::TERM);
            let how = match self.ends_within(LEAVING[1]) {
                true => "SIGTERM ended it",
                false => "it was killed",
            };
            self.left_late = Some(format!(
                "the program did not leave within {} s of its loops' end, and {how}: what it had not \
                 written by then is lost",
                LEAVING[0].as_secs()
            ));
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}
