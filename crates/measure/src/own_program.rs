//! A program of the user's own in the place of the loop's process: started as it is, its loops found in
//! the shared memory, its threads read back from outside. Nothing that it writes there is trusted; it
//! is no controller, and links only the loop's library.

use crate::loop_process::LoopProcess;
use crate::own_executable;
use crate::supervisor::Heard;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wakepath_archive::{ModuleTimes, Obstacle, ThreadEnd};
use wakepath_directory::Directory;
use wakepath_measured_loop::{LoopReply, LoopSpec, ThreadEndReport, ThreadReady, ThreadSpec};
use wakepath_rt::announcement::{Announced, Left, State};
use wakepath_rt::sections::SectionTimes;
use wakepath_rt::shared::{SharedMemory, SharedMemoryError};
use wakepath_rt::{Shortfall, clock, of_thread};
use wakepath_timeline::{Policy, one_line};

/// Name of the file in the run directory with what the program printed.
pub const OUTPUT: &str = "program.log";
/// Between two looks at the shared memory.
const LOOK: Duration = Duration::from_millis(5);
/// How long a program may take to make its loops.
const LOOPS_PATIENCE: Duration = Duration::from_secs(25);
/// How long it may go on after the end of its loops before it is asked to end, and then before it is
/// killed.
const LEAVING: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(2)];
/// The most loops that a program of unknown loops may have.
const MOST_LOOPS: u32 = 16;
/// The last loop of a program is taken to have come when none came for so long.
const NO_MORE_COME: Duration = Duration::from_millis(300);

/// A loop of a program, as it announces itself and as the kernel has its thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedLoop {
    /// Its name.
    pub name: String,
    /// Its period in nanoseconds.
    pub period_ns: u64,
    /// The policy of its thread.
    pub policy: Policy,
    /// The CPUs on which its thread may run, ascending.
    pub cpus: Vec<u16>,
}

/// Why a program's loops are not known.
#[derive(Debug, thiserror::Error)]
pub enum NoLoops {
    /// The program can't be started.
    #[error("{program}: can't be started: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system's answer.
        source: io::Error,
    },
    /// There is no memory to share with it.
    #[error("{program}: {source}")]
    Memory {
        /// The program.
        program: String,
        /// The system's answer.
        source: SharedMemoryError,
    },
    /// It ended without one.
    #[error(
        "{program}: ended ({how}) without a loop that can be recorded; link wakepath-rt's `Loop` or \
         wakepath.h, or look at it from outside: wakepath watch -- {program}"
    )]
    Ended {
        /// The program.
        program: String,
        /// Exit status, and its last line.
        how: String,
    },
    /// It made none.
    #[error(
        "{program}: made no loop that can be recorded within {} s; link wakepath-rt's `Loop` or \
         wakepath.h, or look at it from outside: wakepath watch -- {program}",
        LOOPS_PATIENCE.as_secs()
    )]
    None {
        /// The program.
        program: String,
    },
    /// A loop whose thread is not there, or under a policy without a name here.
    #[error("{program}: the thread of its loop `{name}` can't be read: {source}")]
    Thread {
        /// The program.
        program: String,
        /// The loop's name.
        name: String,
        /// The system's answer.
        source: io::Error,
    },
    /// Two of one name can't be told apart.
    #[error("{program}: has two loops of the name `{name}`; give each its own")]
    Twice {
        /// The program.
        program: String,
        /// The name.
        name: String,
    },
    /// Somebody asked for the end meanwhile.
    #[error("interrupted before measuring")]
    Interrupted,
}

/// Starts a program, asks which loops it has, and ends it before the first cycle of any.
///
/// # Errors
/// Why they are not known, in one line.
pub fn loops_of(
    command: &[String],
    interrupt: &crate::Interrupt,
) -> Result<Vec<AnnouncedLoop>, NoLoops> {
    let program = command.first().cloned().unwrap_or_default();
    let memory = SharedMemory::create(MOST_LOOPS, 8);
    let memory = memory.map_err(|source| NoLoops::Memory {
        program: program.clone(),
        source,
    })?;
    let started = |source| NoLoops::Start {
        program: program.clone(),
        source,
    };
    let output = memfd_create("wakepath-output", MemfdFlags::CLOEXEC);
    let output = output.map_err(|error| started(error.into()))?.into();
    let mut process = OwnProgram::with_output(command, output, &memory).map_err(started)?;
    let asked = Instant::now();
    let (mut known, mut since) = (0, Instant::now());
    let found = loop {
        let announced = process.announced();
        if announced.len() != known {
            (known, since) = (announced.len(), Instant::now());
        }
        if known > 0 && since.elapsed() > NO_MORE_COME {
            break Ok(announced);
        }
        if interrupt.requested() {
            break Err(NoLoops::Interrupted);
        }
        if process.has_ended() {
            let how = process.end();
            break Err(NoLoops::Ended {
                program: program.clone(),
                how,
            });
        }
        if asked.elapsed() > LOOPS_PATIENCE {
            break Err(NoLoops::None {
                program: program.clone(),
            });
        }
        std::thread::sleep(LOOK);
    };
    let loops = found.and_then(|announced| read(&program, &announced));
    memory.words().stop.store(1, Ordering::Release);
    process.kill();
    loops
}

fn read(program: &str, announced: &[Announced]) -> Result<Vec<AnnouncedLoop>, NoLoops> {
    let mut loops: Vec<AnnouncedLoop> = Vec::new();
    for one in announced {
        let name = one_line(&one.name);
        if loops.iter().any(|known| known.name == name) {
            let program = program.to_owned();
            return Err(NoLoops::Twice { program, name });
        }
        let effective = of_thread::effective(one.thread_id, one.timer_slack_ns);
        let effective = effective.map_err(|source| NoLoops::Thread {
            program: program.to_owned(),
            name: name.clone(),
            source,
        })?;
        loops.push(AnnouncedLoop {
            name,
            period_ns: one.period_ns,
            policy: effective.policy,
            cpus: effective.cpus,
        });
    }
    Ok(loops)
}

/// A running program.
pub(crate) struct OwnProgram {
    child: Child,
    memory: SharedMemory,
    output: File,
    threads: Vec<ThreadSpec>,
    lead_ns: u64,
    course: At,
    started: Instant,
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

/// Sections of the user's own loop, as the archive has parts that timed themselves.
fn modules(sections: Vec<SectionTimes>) -> Vec<ModuleTimes> {
    let module = |section: SectionTimes| ModuleTimes {
        name: one_line(&section.name),
        budget_ns: (section.budget_ns != 0).then_some(section.budget_ns),
        runs: section.runs,
        sum_ns: section.sum_ns,
        max_ns: section.max_ns,
        over_budget: section.over_budget,
        every: None,
        late: None,
        caches: None,
    };
    sections.into_iter().map(module).collect()
}

/// Why a loop's thread can't be measured.
struct Refused(Obstacle, String);

/// A loop's thread as the scenario wants it, set from outside where its program left it otherwise.
fn placed(wanted: &ThreadSpec, found: &Announced) -> Result<ThreadReady, Refused> {
    let name = &wanted.name;
    if found.period_ns != wanted.period_ns {
        let (theirs, ours) = (found.period_ns, wanted.period_ns);
        return Err(Refused(
            Obstacle::Other,
            format!(
                "the program's loop `{name}` has a period of {theirs} ns, and the scenario says {ours} ns"
            ),
        ));
    }
    let thread_id = found.thread_id;
    let effective = || {
        of_thread::effective(thread_id, found.timer_slack_ns).map_err(|error| {
            let reason = format!("the thread of the loop `{name}` can't be read: {error}");
            Refused(Obstacle::Other, reason)
        })
    };
    let mut is = effective()?;
    let (policy, cpus) = (
        wanted.preparation.policy,
        wanted.preparation.cpus.as_deref(),
    );
    if is.policy != policy || cpus.is_some_and(|cpus| cpus != is.cpus) {
        of_thread::place(thread_id, policy, cpus).map_err(|error| {
            let obstacle = match error.raw_os_error() {
                Some(1 | 13) => Obstacle::MissingRight,
                _ => Obstacle::Other,
            };
            let reason = format!(
                "the loop `{name}` can't be put under {policy} from outside: {error}; have its program \
                 do it, or run as root"
            );
            Refused(obstacle, reason)
        })?;
        is = effective()?;
    }
    let mut shortfalls = Vec::new();
    if !is.memory_locked {
        shortfalls.push(Shortfall::MemoryNotLocked {
            error: "its program did not lock it".into(),
        });
    }
    Ok(ThreadReady {
        thread_id,
        effective: is,
        shortfalls,
        no_counters: None,
    })
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
            remarks.push(format!(
                "{unrecorded} more loops of the program are not recorded: they came after the others had \
                 begun, or the scenario does not name them"
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
            self.ends_within(LEAVING[1]);
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}
