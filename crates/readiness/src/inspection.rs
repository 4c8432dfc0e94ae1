//! Everything that the checks judge: the facts of the machine, its processes, interrupts and
//! kernel log, each read once, and the directory for what only one check reads.

use crate::{InterruptLines, KernelMessages, LoopAtHand, Process, Processes, ProgramThread};
use std::time::Duration;
use wakepath_machine::{Facts, Root};
use wakepath_timeline::CpuSet;

/// A machine, opened up for one loop.
pub struct Inspection {
    /// The loop.
    pub subject: LoopAtHand,
    /// Where files are read.
    pub root: Root,
    /// The facts; control group and rights are the program's if it runs.
    pub facts: Facts,
    /// The processes.
    pub processes: Processes,
    /// The device interrupts.
    pub interrupts: InterruptLines,
    /// The same a little earlier, with the time between.
    pub interrupts_before: Option<(Duration, InterruptLines)>,
    /// The program's threads; empty if it isn't named or doesn't run.
    pub program_threads: Vec<ProgramThread>,
    /// The program's process a little earlier.
    pub program_before: Option<Process>,
    /// The kernel's log.
    pub messages: KernelMessages,
}

impl Inspection {
    /// Reads a machine. On the host, interrupts and page faults are counted over `watch`; a
    /// recorded tree shows one moment.
    pub fn read(root: Root, subject: LoopAtHand, watch: Duration) -> Self {
        let pid = subject.program.as_ref().and_then(|program| program.pid);
        let watched = root.is_host() && !watch.is_zero();
        let start = std::time::Instant::now();
        let before = watched.then(|| InterruptLines::read(&root));
        let program_before = if watched {
            pid.and_then(|pid| Process::read(&root, pid))
        } else {
            None
        };
        let facts = match pid {
            Some(pid) => Facts::read_for(&root, pid),
            None => Facts::read(&root),
        };
        let program_threads = pid.map_or_else(Vec::new, |pid| ProgramThread::all(&root, pid));
        let messages = KernelMessages::read(&root);
        if watched {
            std::thread::sleep(watch.saturating_sub(start.elapsed()));
        }
        let interrupts = InterruptLines::read(&root);
        let between = start.elapsed();
        let processes = Processes::read(&root);
        Self {
            interrupts_before: before.map(|lines| (between, lines)),
            subject,
            root,
            facts,
            program_threads,
            processes,
            interrupts,
            program_before,
            messages,
        }
    }

    /// The program's thread that its loop is taken to be.
    pub fn leading_thread(&self) -> Option<&ProgramThread> {
        ProgramThread::leading(&self.program_threads)
    }

    /// CPUs online; those of the loop if unknown.
    pub fn online(&self) -> CpuSet {
        let online = self.facts.varying.cpu_time.online.known();
        online.unwrap_or(&self.subject.cpus).clone()
    }

    /// The CPUs that are left for everything else.
    pub fn others(&self) -> CpuSet {
        self.online().without(&self.subject.cpus)
    }

    /// Whether there is a CPU besides the loop's to move anything to.
    pub fn has_others(&self) -> bool {
        !self.others().is_empty()
    }

    /// The CPUs of the loop that are in this list.
    pub fn on_loop(&self, list: &CpuSet) -> CpuSet {
        let own = self.subject.cpus.numbers().iter().copied();
        own.filter(|&cpu| list.contains(cpu)).collect()
    }

    /// Whether the kernel is at least this release; none if it does not say.
    pub fn kernel_at_least(&self, major: u32, minor: u32) -> Option<bool> {
        let release = self.facts.fixed.kernel.release_numbers()?;
        Some((release.major, release.minor) >= (major, minor))
    }

    /// Whether the kernel is PREEMPT_RT; none if that is not known.
    pub fn is_real_time(&self) -> Option<bool> {
        use wakepath_machine::PreemptionModel::{RealTime, Unknown};
        match self.facts.varying.preemption.model {
            RealTime => Some(true),
            Unknown => None,
            _ => Some(false),
        }
    }

    /// Whether the CPUs are x86; none if they are not named.
    pub fn is_x86(&self) -> Option<bool> {
        let architecture = self.facts.fixed.kernel.architecture.known()?;
        Some(architecture.starts_with("x86") || architecture == "i686")
    }

    /// The board's name.
    pub fn board(&self) -> Option<String> {
        self.facts.fixed.platform.device_tree_model.known().cloned()
    }
}
