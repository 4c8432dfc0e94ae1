//! A program of the user's own in the place of the loop's process: started as it is, its loops found in
//! the shared memory, its threads read back from outside. Nothing that it writes there is trusted; it
//! is no controller, and links only the loop's library.

mod beginning;
mod ending;
mod kin;
mod loops;
mod output;
mod remarks;
mod thread;
mod watched;
mod within;

pub use loops::{AnnouncedLoop, Discovered, NoLoops, loops_of};
pub use within::within;

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
use wakepath_directory::Directory;
use wakepath_measured_loop::{LoopReply, LoopSpec, ThreadSpec};
use wakepath_rt::announcement::{Announced, State};
use wakepath_rt::greeting::LAYOUT;
use wakepath_rt::shared::SharedMemory;
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
/// How long it can run after the end of its loops before it is asked to end, and then before it is killed.
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
    /// When it was first seen that it gave a loop up.
    given_up: Option<Instant>,
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
    /// Starts the program of a loop; its output is appended to `program.log` in the run directory, after this
    /// mark. Each ring is kept for the loop whose thread has its number; that of a scenario without tasks for
    /// any loop.
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
        // The descriptor is inherited by this child only: nothing else is started until then.
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
            given_up: None,
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

    /// Its state at this moment, as a reply.
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

/// Whether the only thread is that of a scenario without tasks, whose loop has no given name.
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
        let mut how = status;
        for (ring, thread) in (0..).zip(&self.threads) {
            let announcement = self.memory.announcement(ring);
            if announcement.state() == State::Running
                && let Some(within) = within(&self.memory.running_sections(ring))
            {
                let name = one_line(&thread.name);
                how += &format!("; its loop `{name}` was {within}");
            }
        }
        match self.output.last_line() {
            None => how,
            Some(line) => format!("{how}; its last line: {line}"),
        }
    }

    /// Lets it end by itself, for it may have much to put in order; then asks, then makes it.
    fn kill(&mut self) {
        self.memory.words().stop.store(1, Ordering::Release);
        if !self.ends_within(LEAVING[0]) {
            self.signal(Signal::TERM);
            let how = if self.ends_within(LEAVING[1]) {
                "SIGTERM ended it"
            } else {
                "it was killed"
            };
            self.left_late = Some(format!(
                "the program did not exit within {} s after its loops ended, and {how}: data that it had not \
                 written is lost",
                LEAVING[0].as_secs()
            ));
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
        self.output.end();
    }
}
