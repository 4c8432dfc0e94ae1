//! A program of the user's own in the place of the loop's process: started as it is, its loops found in
//! the shared memory, its threads read back from outside. Nothing that it writes there is trusted; it
//! is no controller, and links only the loop's library.

mod kin;
mod loops;
mod output;
mod remarks;
mod thread;
mod watched;

pub use loops::{AnnouncedLoop, Discovered, NoLoops, loops_of};

use crate::loop_process::LoopProcess;
use crate::own_executable;
use crate::supervisor::Heard;
use kin::Kin;
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
use wakepath_rt::greeting::LAYOUT;
use wakepath_rt::shared::SharedMemory;
use wakepath_rt::{PageFaults, clock};
use wakepath_timeline::one_line;
use watched::Watched;

pub(crate) use output::keep_printed;
use output::{Relay, of_run};
/// Name of the loop of a scenario without tasks.
const LOOP: &str = "loop";
/// Between two looks at what is in effect for the loops' threads.
const READ_BACK: Duration = Duration::from_millis(100);
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
    output: Relay,
    threads: Vec<ThreadSpec>,
    lead_ns: u64,
    course: At,
    started: Instant,
    left_late: Option<String>,
    watched: Vec<Watched>,
    looked: Instant,
    /// Loops that were not asked for were seen first at this time.
    left_out: Option<Instant>,
}

/// Where its loops are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    GettingReady,
    Running,
    Over,
}

impl OwnProgram {
    /// Starts the program of a loop; what it prints is appended to `program.log` in the run directory, behind
    /// this mark. Each ring is kept for the loop whose thread has its number; that of a scenario without tasks
    /// for whichever loop there is.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn start(
        spec: &LoopSpec,
        directory: &Directory,
        memory: &SharedMemory,
        mark: &str,
    ) -> io::Result<Self> {
        for (ring, thread) in (0..).zip(&spec.threads) {
            let announcement = memory.announcement(ring);
            if !takes_any(&spec.threads) {
                announcement.keep_for(&thread.name);
            }
            announcement.plan(thread.first_judged_cycle, thread.end_cycle);
        }
        let command = spec.program().unwrap_or_default();
        let output = of_run(directory, mark)?;
        Self::with_output(command, output, memory)
    }

    fn with_output(
        command: &[String],
        (output, room): (File, u64),
        memory: &SharedMemory,
    ) -> io::Result<Self> {
        let (output, into) = Relay::start(output, room)?;
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
            .stdout(into.try_clone()?)
            .stderr(into)
            .process_group(0);
        // The descriptor is inherited by this child only: nothing else is started meanwhile.
        let flags = fcntl_getfd(shared)?;
        fcntl_setfd(shared, flags - FdFlags::CLOEXEC)?;
        let child = start.spawn();
        fcntl_setfd(shared, flags)?;
        // The program's end of the pipe is its alone from now on.
        drop(start);
        Ok(Self {
            child: child?,
            memory: own,
            output,
            threads: Vec::new(),
            lead_ns: 0,
            course: At::GettingReady,
            started: Instant::now(),
            left_late: None,
            watched: Vec::new(),
            looked: Instant::now(),
            left_out: None,
        })
    }

    /// The loops that have announced themselves, in the order of their rings.
    fn announced(&self) -> Vec<Announced> {
        let rings = 0..self.memory.threads();
        rings
            .filter_map(|ring| self.memory.announcement(ring).announced())
            .collect()
    }

    /// That the program's library is of a version which this one does not understand, if so.
    fn misunderstanding(&self) -> Option<String> {
        let library = self.memory.greeting().strange_program()?;
        let ours = env!("CARGO_PKG_VERSION");
        Some(format!(
            "its library is that of {}, which this wakepath {ours} (memory layout {LAYOUT}) does not understand; \
             link the program with the library of wakepath {ours}, or record it with the wakepath of its library",
            one_line(&library.to_string())
        ))
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// What it says at this moment.
    fn says(&mut self) -> Heard<LoopReply> {
        let ended = self.has_ended();
        if self.course == At::Running && self.looked.elapsed() >= READ_BACK {
            self.looked = Instant::now();
            self.watched.iter_mut().for_each(Watched::look);
        }
        match self.course {
            At::GettingReady => match self.ready() {
                Some(said) => Heard::Said(said),
                None if ended => Heard::Gone,
                None => Heard::Nothing,
            },
            At::Running => match self.ends(ended) {
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
        if let Some(versions) = self.misunderstanding() {
            return cannot(versions);
        }
        if let Some(reason) = self.others_instead(&announced) {
            return cannot(reason);
        }
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
        let kin: Result<Vec<Kin>, _> = announced
            .iter()
            .flatten()
            .map(|of| Kin::of(self.child.id(), of))
            .collect();
        let kin = match kin {
            Ok(kin) => kin,
            Err(foreign) => return cannot(foreign.to_string()),
        };
        let mut threads = Vec::new();
        for (wanted, found) in self.threads.iter().zip(announced.into_iter().flatten()) {
            match placed(wanted, &found) {
                Ok(thread) => {
                    self.watched.push(Watched {
                        announced: found,
                        began: thread.effective.clone(),
                        changed: None,
                    });
                    threads.push(thread);
                }
                Err(Refused(obstacle, reason)) => {
                    return Some(LoopReply::CannotRun { obstacle, reason });
                }
            }
        }
        // A thread that ended meanwhile has left its number to whoever came next.
        if let Some(foreign) = kin.iter().find_map(|of| of.still().err()) {
            return cannot(foreign.to_string());
        }
        let start_ns = clock::monotonic_ns() + self.lead_ns;
        let words = self.memory.words();
        words.start_ns.store(start_ns, Ordering::Relaxed);
        words.go.store(1, Ordering::Release);
        self.course = At::Running;
        Some(LoopReply::Ready { start_ns, threads })
    }

    /// Why it can't run: it has loops of other names than those that are asked for, or more than the one that is
    /// taken whatever its name.
    fn others_instead(&mut self, announced: &[Option<Announced>]) -> Option<String> {
        let others = self.memory.words().left_out();
        let is_any = takes_any(&self.threads);
        if others.is_empty() || (!is_any && announced.iter().all(Option::is_some)) {
            return None;
        }
        // The one that is asked for may be on its way.
        if self.left_out.get_or_insert_with(Instant::now).elapsed() < loops::NO_MORE_COME {
            return None;
        }
        let there = announced.iter().flatten().map(|of| &of.name);
        let mut names: Vec<String> = there
            .chain(&others)
            .map(|name| format!("`{}`", one_line(name)))
            .collect();
        names.dedup();
        let names = names.join(", ");
        if is_any {
            return (!announced.iter().any(|of| of.as_ref().is_some_and(|of| of.name == LOOP))).then(|| {
                format!(
                    "the program has loops {names}: say which in [[tasks]], one with the name of each that is to \
                     be recorded"
                )
            });
        }
        let missing = self.threads.iter().zip(announced);
        let missing = missing.filter(|(_, found)| found.is_none());
        let missing: Vec<_> = missing.map(|(of, _)| format!("`{}`", of.name)).collect();
        Some(format!(
            "the program has no loop {}; it has {names}: name one of them in [[tasks]]",
            missing.join(", ")
        ))
    }

    /// How all loops ended, once they have; of a program that is no longer there, how those ended that did. A
    /// program may be several processes, and one of them killed: that is nothing of the others' loops.
    fn ends(&mut self, program_has_ended: bool) -> Option<Vec<ThreadEndReport>> {
        let rings = 0..self.threads.len() as u32;
        let announcements = rings.map(|ring| self.memory.announcement(ring));
        let ends: Vec<_> = announcements
            .map(|of| (of.state() == State::Ended).then(|| (of.left(), modules(of.sections()))))
            .collect();
        let some_ended = ends.iter().any(Option::is_some);
        if !some_ended || (!program_has_ended && ends.iter().any(Option::is_none)) {
            return None;
        }
        // A last time: its thread is as it was in its last cycle, where its program is still there.
        self.watched.iter_mut().for_each(Watched::look);
        let report = |(number, ended): (usize, Option<_>)| {
            let Some(((left, page_faults), modules)) = ended else {
                return ThreadEndReport {
                    why: ThreadEnd::failed(
                        "the program ended without a word of this loop's end: its process died, or was killed",
                    ),
                    page_faults: PageFaults::default(),
                    counted: None,
                    modules: Vec::new(),
                };
            };
            ThreadEndReport {
                why: match left {
                    Left::AllCycles | Left::Stopped if self.changed(number).is_some() => {
                        ThreadEnd::failed(self.changed(number).unwrap_or_default())
                    }
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
            }
        };
        Some(ends.into_iter().enumerate().map(report).collect())
    }

    /// What the program made of a loop's thread meanwhile.
    fn changed(&self, number: usize) -> Option<&str> {
        self.watched.get(number)?.changed.as_deref()
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

/// Whether the only thread is that of a scenario without tasks, whose name nobody gave.
fn takes_any(threads: &[ThreadSpec]) -> bool {
    matches!(threads, [only] if only.name == LOOP)
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
        remarks::of(&self.memory, &self.threads)
    }

    fn left_late(&self) -> Option<String> {
        self.left_late.clone()
    }

    fn end(&mut self) -> String {
        let status = self.child.wait();
        let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        self.output.end();
        match self.output.last_line() {
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
        self.output.end();
    }
}
