//! The measuring process's side: starts the supervisor, reads the counters, and sees to it that
//! everything is gone at the end.

mod keeper;
mod running;

use crate::LoadProof;
use crate::control::{Control, LoadReport, order};
use crate::counters::Counters;
use crate::orphans::{self, Mark};
use crate::plan::{Plan, Work};
use crate::proof::{LoadCounts, Snapshot};
use crate::resolve::{Room, resolve};
use crate::{
    IdleLoad, LoadError, OWN_ENVIRONMENT_VARIABLE, StartOptions, cpus, judge, memory_budget,
};
use keeper::Keeper;
use running::Running;
use serde::{Deserialize, Serialize};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wakepath_scenario::LoadSpec;

/// Time limit for the supervisor's first answer: it queries programs for their versions and waits
/// for servers.
const START_PATIENCE: Duration = Duration::from_secs(30);
const SAMPLE_PATIENCE: Duration = Duration::from_secs(5);
/// A program that has started within this time is not credited with its start.
const PROGRAM_START: Duration = Duration::from_millis(200);
/// Longer than a supervisor waits for its programs to report.
const STOP_PATIENCE: Duration = Duration::from_secs(8);

/// How the processes of the loads are kept from outliving this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Containment {
    /// A PID namespace: the kernel kills all of them, without exception.
    PidNamespace,
    /// Death signals and a sub-reaper; the crate's documentation describes the remaining gap.
    SubReaper,
}

/// The loads of one phase, running. Dropping it kills them.
pub struct Loads {
    plan: Plan,
    measured_cpus: Vec<u16>,
    reports: Vec<LoadReport>,
    started: Instant,
    /// `None` without loads.
    running: Option<Running>,
}

impl Loads {
    /// Starts `specs`. Missing programs, unusable CPUs and unknown caches are detected before
    /// anything runs. Without any load nothing is started, and everything else works the same.
    ///
    /// The calling thread can have any policy except SCHED_DEADLINE (the kernel does not let such a
    /// thread create others); the loads run as ordinary processes.
    ///
    /// # Errors
    /// Any [`LoadError`] except [`LoadError::NotWorking`].
    pub fn start(specs: &[LoadSpec], options: &StartOptions) -> Result<Self, LoadError> {
        let mark = Mark::new();
        let scratch = std::path::absolute(&options.scratch_directory)
            .map_err(|error| LoadError::io(&options.scratch_directory, error))?;
        let directory = orphans::program_directory(&scratch, &mark);
        let options = StartOptions {
            scratch_directory: scratch,
            ..options.clone()
        };
        let room = Room {
            usable_cpus: cpus::usable()?,
            memory_bytes: memory_budget::memory()?,
            disk_bytes: memory_budget::disk(&options.scratch_directory)?,
        };
        let (plan, slots) = resolve(specs, &options, &room, &directory)?;
        let mut loads = Self {
            reports: vec![LoadReport::default(); plan.loads.len()],
            plan,
            measured_cpus: options.measured_cpus.clone(),
            started: Instant::now(),
            running: None,
        };
        if !specs.is_empty() {
            loads.start_supervisor(&options, slots, mark, directory)?;
        }
        Ok(loads)
    }

    fn start_supervisor(
        &mut self,
        options: &StartOptions,
        slots: usize,
        mark: Mark,
        directory: PathBuf,
    ) -> Result<(), LoadError> {
        let memory_file = |error| LoadError::system("create a memory file", error);
        let counters = Counters::create(slots).map_err(|error| memory_file(error.into()))?;
        let complaints =
            rustix::fs::memfd_create("wakepath-load-complaints", rustix::fs::MemfdFlags::CLOEXEC)
                .map_err(|error| memory_file(error.into()))?;
        let (ours, theirs) =
            UnixStream::pair().map_err(|error| LoadError::system("create a socket", error))?;
        let duplicate =
            |file: std::os::fd::BorrowedFd<'_>| file.try_clone_to_owned().map_err(memory_file);
        let mut command = Command::new(&options.executable);
        command
            .args(["internal", "load-supervisor"])
            .env(OWN_ENVIRONMENT_VARIABLE, &mark.0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::from(duplicate(counters.as_fd())?))
            .stderr(Stdio::from(duplicate(complaints.as_fd())?))
            // An interrupt at the terminal must not hit the loads before wakepath ends them. No
            // separate session: with autogroups, nice values would then not compare.
            .process_group(0);
        let keeps_files = self.plan.loads.iter().any(|load| match &load.work {
            Work::Program(program) => program.directory.is_some(),
            Work::BuiltIn(_) => false,
        });
        if keeps_files {
            std::fs::create_dir(&directory).map_err(|error| LoadError::io(&directory, error))?;
        }
        let directory = keeps_files.then_some(directory);
        let keeper = Keeper::start(command, options.use_pid_namespace).map_err(|error| {
            directory
                .iter()
                .for_each(|directory| drop(std::fs::remove_dir(directory)));
            LoadError::system("start the load supervisor", error)
        })?;
        let control = Control::new(ours);
        let (sequence, failure) = (0, None);
        let running = self.running.insert(Running {
            counters,
            control,
            keeper,
            mark,
            complaints,
            directory,
            sequence,
            failure,
        });
        let plan = serde_json::to_string(&self.plan)
            .map_err(|error| LoadError::Supervisor(error.to_string()))?;
        // A supervisor that died at once has left a reason; the failed write has not.
        let _ = running.control.send(&plan);
        let answer = running.answer(START_PATIENCE)?;
        if let Some(failure) = answer.failure {
            return Err(LoadError::Supervisor(failure));
        }
        for load in &mut self.plan.loads {
            load.notes.extend(answer.notes.iter().cloned());
        }
        self.reports = answer.loads;
        self.started = Instant::now();
        Ok(())
    }

    /// Protection against loads that outlive this process; `None` without loads.
    #[must_use]
    pub fn containment(&self) -> Option<Containment> {
        self.running
            .as_ref()
            .map(|running| running.keeper.containment())
    }

    /// Process id of the supervisor, this process's only child here; `None` without loads.
    #[must_use]
    pub fn supervisor_pid(&self) -> Option<u32> {
        self.running.as_ref().map(|running| running.keeper.pid())
    }

    /// Waits until every worker of every load has done some work.
    ///
    /// # Errors
    /// [`LoadError::NotWorking`] names the loads that ended or did nothing within `timeout`;
    /// [`LoadError::Supervisor`] if the supervisor is gone.
    pub fn wait_until_working(&mut self, timeout: Duration) -> Result<(), LoadError> {
        let deadline = Instant::now() + timeout;
        // Starting a program costs CPU time whatever it does afterwards, so programs are judged
        // from a moment on when they are likely to have started.
        let mut zero = self.zero();
        if self
            .plan
            .loads
            .iter()
            .any(|load| matches!(load.work, Work::Program(_)))
        {
            std::thread::sleep(PROGRAM_START.min(timeout / 2));
            let settled = self.snapshot()?;
            for (from, settled) in zero.loads.iter_mut().zip(settled.loads) {
                if settled.workers.is_empty() {
                    *from = settled;
                }
            }
            zero.at_ns = settled.at_ns;
        }
        // A program's processes can be charged for time that the machine's host took from them: it
        // counts as working only after two successive stretches of work.
        let mut since = vec![zero.at_ns; self.plan.loads.len()];
        let mut once = vec![false; self.plan.loads.len()];
        loop {
            let now = self.snapshot()?;
            let mut idle = Vec::new();
            for (index, load) in self.plan.loads.iter().enumerate() {
                let report = &self.reports[index];
                let after = &now.loads[index];
                let why = |before: &LoadCounts, from_ns: u64| {
                    let elapsed_ns = now.at_ns.saturating_sub(from_ns);
                    judge::why_not_working(load, report, before, after, elapsed_ns, true)
                };
                let mut reason = why(&zero.loads[index], since[index]);
                let is_program = matches!(load.work, Work::Program(_));
                if reason.is_none() && is_program && !once[index] {
                    once[index] = true;
                    zero.loads[index] = after.clone();
                    since[index] = now.at_ns;
                    reason = why(after, now.at_ns);
                }
                let waiting = after.workers.iter().filter(|&&work| work == 0).count();
                let starved = || format!("{waiting} of its {} workers did nothing", load.workers);
                if let Some(reason) = reason.or_else(|| (waiting > 0).then(starved)) {
                    idle.push(IdleLoad {
                        name: load.name.clone(),
                        reason,
                    });
                }
            }
            let ended = now.loads.iter().any(|load| load.ended);
            if idle.is_empty() {
                return Ok(());
            }
            if ended || Instant::now() >= deadline {
                return Err(LoadError::NotWorking(idle));
            }
            std::thread::sleep(Duration::from_millis(50).min(timeout));
        }
    }

    /// The current counters, without a system call except for the clock. CPU time and bytes of
    /// programs can be half a second old: for a live view, not for a proof.
    #[must_use]
    pub fn progress(&self) -> Snapshot {
        let Some(running) = &self.running else {
            return self.zero();
        };
        let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        let mut snapshot = self.zero();
        for (index, (load, counts)) in self.plan.loads.iter().zip(&mut snapshot.loads).enumerate() {
            for (worker, count) in counts.workers.iter_mut().enumerate() {
                let slot = running.counters.slot(load.first_slot + worker as u32);
                *count = read(&slot.work);
                counts.device_ns += read(&slot.device_ns);
            }
            let slot = running.counters.slot(index as u32);
            counts.cpu_us = read(&slot.cpu_us);
            counts.io_bytes = read(&slot.io_bytes);
            counts.restarts = read(&slot.restarts);
            counts.ended = read(&slot.ended) != 0 || running.failure.is_some();
        }
        let elapsed = self.started.elapsed().as_nanos();
        snapshot.at_ns = u64::try_from(elapsed).unwrap_or(u64::MAX);
        snapshot
    }

    /// The counters after the supervisor has updated them, for the start and the end of every
    /// measured segment. Takes milliseconds, so not for use in between.
    ///
    /// # Errors
    /// [`LoadError::Supervisor`] if the supervisor is gone or does not answer.
    pub fn snapshot(&mut self) -> Result<Snapshot, LoadError> {
        self.order(order::SAMPLE, SAMPLE_PATIENCE)?;
        Ok(self.progress())
    }

    fn order(&mut self, order: &str, patience: Duration) -> Result<(), LoadError> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        running.sequence += 1;
        // A failed write means a dead supervisor; the missing answer then gives the reason.
        let _ = running
            .control
            .send(&format!("{order} {}", running.sequence));
        match running.answer(patience) {
            Ok(answer) => {
                self.reports = answer.loads;
                Ok(())
            }
            Err(error) => {
                // Every later proof reports it.
                running.failure = Some(error.to_string());
                for report in &mut self.reports {
                    report.ending.get_or_insert_with(|| error.to_string());
                }
                Err(error)
            }
        }
    }

    /// Work of each load between two snapshots of these loads.
    #[must_use]
    pub fn proof_between(&self, before: &Snapshot, after: &Snapshot) -> Vec<LoadProof> {
        let elapsed_ns = after.at_ns.saturating_sub(before.at_ns);
        let running_ns = after.at_ns;
        let pairs = before.loads.iter().zip(&after.loads);
        let known = self.plan.loads.iter().zip(&self.reports);
        known
            .zip(pairs)
            .map(|((load, report), (before, after))| {
                judge::judge(
                    load,
                    report,
                    before,
                    after,
                    elapsed_ns,
                    running_ns,
                    &self.measured_cpus,
                )
            })
            .collect()
    }

    /// Ends all loads and returns proofs of their work since they were started. On return, none of
    /// their processes and files is left.
    #[must_use]
    pub fn stop(mut self) -> Vec<LoadProof> {
        let end = self.snapshot().unwrap_or_else(|_| self.progress());
        if self
            .running
            .as_ref()
            .is_some_and(|running| running.failure.is_none())
        {
            let _ = self.order(order::STOP, STOP_PATIENCE);
        }
        let proofs = self.proof_between(&self.zero(), &end);
        drop(self);
        proofs
    }

    /// The counters before anything has run.
    fn zero(&self) -> Snapshot {
        let loads = self.plan.loads.iter().map(|load| LoadCounts {
            name: load.name.clone(),
            unit: load.unit.name.clone(),
            steps: load.unit.steps,
            workers: match load.work {
                Work::BuiltIn(_) => vec![0; load.workers as usize],
                Work::Program(_) => Vec::new(),
            },
            cpu_us: 0,
            io_bytes: 0,
            device_ns: 0,
            restarts: 0,
            ended: false,
        });
        Snapshot {
            at_ns: 0,
            loads: loads.collect(),
        }
    }
}
