//! A hunt from its start to its end: boots, takes the snapshot, runs branches until the time is up, and
//! works out the longest sections.

use super::asked::HuntAsked;
use super::branch::{self, Branch};
use super::corpus::Corpus;
use super::end::{CrashFound, HuntEnd, Longest, Repeated};
use super::finding::{Finding, Workshop, write};
use super::journal::{Effort, Journal, Subject};
use super::search::{Job, Search};
use super::section::Section;
use super::snapshot::{On, Snapshot};
use crate::again::{AgainError, kept_symbols};
use crate::architecture::Architecture;
use crate::asked::HostAsked;
use crate::guests::{Guest, Limit, Stopped};
use crate::host::Host;
use crate::laboratory::{Laboratory, Task};
use crate::qemu::Qemu;
use crate::{HuntError, LabError, Result};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wakepath_guest::hunt::{Grammar, Mark, Program, parse};
use wakepath_guest::order::HuntOrder;

/// Time between two lines of progress.
const REPORT: Duration = Duration::from_secs(30);
/// Branches that may fail in a row.
const FAILURES: u32 = 3;

/// A hunt that can begin.
pub struct Hunt<'a> {
    asked: &'a HuntAsked,
    host: &'a Host,
    grammar: Grammar,
    /// Number of calls before those that the user added.
    own_calls: usize,
    guest: Guest,
    qemu: Qemu,
    limit: Limit,
    jobs: usize,
}

/// State that branches share.
struct Shared<'a> {
    search: Search<'a>,
    journal: Journal,
    effort: Effort,
    crashes: Vec<CrashFound>,
    failures: u32,
    failed: Option<AgainError>,
    reached: bool,
    reported: Instant,
}

impl<'a> Hunt<'a> {
    /// Finds kernel and emulator, and builds the guest.
    ///
    /// # Errors
    /// If something is missing, or the guest can't be hunted in.
    pub fn prepare(asked: &'a HuntAsked, on: &HostAsked, host: &'a Host) -> Result<Self> {
        let guests = &asked.guests;
        let refused = |what: String| Err(HuntError::Guest { what }.into());
        if guests.architecture != Architecture::X86_64.to_string() {
            return refused(format!("--architecture {}", guests.architecture));
        }
        if guests.cpus != 1 {
            return refused(format!("--cpus {}", guests.cpus));
        }
        if guests.kernels.len() != 1 || !guests.variants.is_empty() {
            return refused(
                "give its parameters after its name, 'debian:stock preempt=full'".into(),
            );
        }
        let mut grammar = Grammar::own();
        let own_calls = grammar.calls.len();
        let mut calls = String::new();
        for path in &asked.calls {
            let text = std::fs::read_to_string(path).map_err(|e| LabError::io("read", path, e))?;
            let read = grammar.read(&text, &path.display().to_string());
            read.map_err(HuntError::Grammar)?;
            calls += &text;
            calls.push('\n');
        }
        let directory = &asked.directory;
        std::fs::create_dir_all(directory).map_err(|e| LabError::io("make", directory, e))?;
        let laboratory = Laboratory::new(guests, on, host)?;
        let sha256 = laboratory.kernel_sha256();
        let order = HuntOrder {
            as_root: asked.as_root,
            limit_ns: asked.limit_ns,
            all_symbols: kept_symbols(&host.cache(), &sha256)?.is_none(),
            calls,
        };
        let task = Task {
            command: None,
            scenario: None,
            hunt: Some(&order),
            seeds: &[asked.seed],
        };
        let guest = laboratory.guests(&task, directory)?.pop();
        let guest = guest.expect("one kernel and one seed make one guest");
        Ok(Self {
            asked,
            host,
            grammar,
            own_calls,
            guest,
            limit: laboratory.limit(&task)?,
            jobs: laboratory.beside(),
            qemu: laboratory.qemu,
        })
    }

    fn on<'b>(&'b self, stopped: Stopped<'b>) -> On<'b> {
        On {
            qemu: &self.qemu,
            guest: &self.guest,
            host: self.host,
            directory: &self.asked.directory,
            limit: self.limit,
            stopped,
        }
    }

    fn boot(&self, stopped: Stopped<'_>) -> std::result::Result<Snapshot, AgainError> {
        (self.host.tell)(&format!("{}: booting", self.guest.name));
        Snapshot::take(self.on(stopped))
    }

    /// Reads a program: a file, or the number of an entry of the directory's corpus.
    ///
    /// # Errors
    /// If there is no such program.
    pub fn program(&self, named: &str) -> Result<Program> {
        if let Ok(number) = named.parse::<usize>() {
            let (_, corpus, _) = self.journal()?;
            let entry = corpus.entries().get(number);
            return Ok(entry
                .map(|entry| entry.program.clone())
                .ok_or(HuntError::OtherHunt {
                    path: self.asked.directory.clone(),
                    why: format!(
                        "its corpus has {} programs, and no number {number}",
                        corpus.entries().len()
                    ),
                })?);
        }
        let path = Path::new(named);
        let text = std::fs::read_to_string(path).map_err(|e| LabError::io("read", path, e))?;
        let program = parse(&text).map_err(|fault| HuntError::Program {
            path: path.to_owned(),
            fault,
        });
        Ok(program?)
    }

    /// Runs a program alone in as many branches, at least two, which must be the same.
    ///
    /// # Errors
    /// If the guest can't be booted or continued.
    pub fn repeat(
        &self,
        program: &Program,
        branches: u32,
        stopped: Stopped<'_>,
    ) -> std::result::Result<Repeated, AgainError> {
        let snapshot = self.boot(stopped)?;
        let programs = std::slice::from_ref(program);
        let first = branch::run(&snapshot, programs, None, self.on(stopped))?;
        let sections = first.sections.first().cloned().unwrap_or_default();
        let longest = sections.first();
        let examined = longest.map(|one| (one.began.clone(), one.ended.clone()));
        let mut within = None;
        for number in 2..=branches.max(2) {
            let examined = examined.clone().filter(|_| number == 2);
            let again = branch::run(&snapshot, programs, examined, self.on(stopped))?;
            if again.digest != first.digest {
                return Err(LabError::from(HuntError::NoBranch {
                    why: format!("branch {number} of the same program differs from the first"),
                })
                .into());
            }
            within = within.or(again.within);
        }
        Ok(Repeated {
            ns_per_instruction: self.guest.machine.ns_per_instruction.into(),
            sections,
            within,
            branches: branches.max(2),
            digest: first.digest,
            crash: first.crash.map(|(_, crash)| crash.name),
        })
    }

    fn journal(&self) -> Result<(Journal, Corpus, Effort)> {
        Journal::open(&self.asked.directory, &self.subject())
    }

    fn subject(&self) -> Subject {
        let kernel = &self.guest.kernel.sha256;
        let ns = self.guest.machine.ns_per_instruction;
        Subject::new(&self.guest.name, kernel, self.asked.as_root, ns)
    }

    /// Searches, and works out what was found. A hunt that is stopped reports what it has.
    ///
    /// # Errors
    /// If the guest can't be booted, or branches fail.
    pub fn run(&self, stopped: Stopped<'_>) -> std::result::Result<HuntEnd, AgainError> {
        let (journal, corpus, before) = self.journal()?;
        let snapshot = self.boot(stopped)?;
        let asked = self.asked;
        let search = Search::new(&self.grammar, self.own_calls, asked.seed, asked.way, corpus);
        let shared = Mutex::new(Shared {
            search,
            journal,
            effort: Effort::default(),
            crashes: Vec::new(),
            failures: 0,
            failed: None,
            reached: false,
            reported: Instant::now(),
        });
        let (began, next) = (Instant::now(), AtomicU64::new(before.branches));
        std::thread::scope(|scope| {
            let work = || self.branches(&snapshot, &shared, began, &next, stopped);
            for _ in 1..self.jobs {
                scope.spawn(work);
            }
            work();
        });
        let mut shared = shared.into_inner().map_err(|_| AgainError::Unattended)?;
        let effort = shared.effort;
        if let Some(failed) = shared.failed.take() {
            return Err(failed);
        }
        let confirmed = shared.search.end();
        let corpus = &shared.search.corpus;
        let entries = corpus.entries();
        for entry in &entries[confirmed..] {
            shared.journal.entry(entry)?;
        }
        let longest = corpus.longest().into_iter().map(|one| Longest {
            section: one.section.clone(),
            entry: one.entry,
            program: entries[one.entry].program.clone(),
        });
        let longest: Vec<Longest> = longest.collect();
        let findings = self.findings(&snapshot, &longest, stopped)?;
        Ok(HuntEnd {
            kernel: self.guest.name.clone(),
            directory: self.asked.directory.clone(),
            preemption: snapshot.model.clone(),
            ns_per_instruction: self.guest.machine.ns_per_instruction.into(),
            as_root: self.asked.as_root,
            options: self.options(),
            effort,
            all_effort: Effort {
                branches: before.branches + effort.branches,
                programs: before.programs + effort.programs,
                milliseconds: before.milliseconds + effort.milliseconds,
            },
            entries: entries.len(),
            covered: corpus.covered(),
            longest,
            findings,
            crashes: shared.crashes,
            reached: shared.reached,
        })
    }

    fn options(&self) -> String {
        let guests = &self.asked.guests;
        let mut options = format!("--kernel '{}'", guests.kernels.join(" "));
        let modules = guests
            .added
            .modules
            .iter()
            .map(|module| ("--module", module.clone()));
        let from = guests.added.modules_from.iter();
        let from = from.map(|directory| ("--modules", directory.clone()));
        let calls = self.asked.calls.iter();
        let calls = calls.map(|path| ("--calls", path.display().to_string()));
        for (name, value) in modules.chain(from).chain(calls) {
            options += &format!(" {name} '{value}'");
        }
        if self.asked.as_root {
            options += " --as-root";
        }
        options
    }

    fn findings(
        &self,
        snapshot: &Snapshot,
        longest: &[Longest],
        stopped: Stopped<'_>,
    ) -> std::result::Result<Vec<Finding>, AgainError> {
        let workshop = Workshop {
            snapshot,
            grammar: &self.grammar,
            directory: &self.asked.directory,
            limit_ns: self.asked.limit_ns,
            on: self.on(stopped),
        };
        let mut findings = Vec::new();
        for (number, one) in longest.iter().take(self.asked.findings).enumerate() {
            if stopped() {
                break;
            }
            (self.host.tell)(&format!(
                "making the program of {} smaller",
                one.section.began
            ));
            match workshop.finding(number + 1, &one.section, &one.program) {
                Ok(finding) => findings.push(finding),
                Err(AgainError::Lab(LabError::Interrupted)) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(findings)
    }

    /// Runs one branch after the other until the time is up.
    fn branches(
        &self,
        snapshot: &Snapshot,
        shared: &Mutex<Shared<'_>>,
        began: Instant,
        next: &AtomicU64,
        stopped: Stopped<'_>,
    ) {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let jobs = {
                let Ok(mut shared) = shared.lock() else {
                    return;
                };
                let is_over = began.elapsed() >= self.asked.time || shared.reached;
                if stopped() || is_over || shared.failed.is_some() {
                    return;
                }
                let count = self.asked.programs.clamp(1, Mark::MOST_PROGRAMS);
                shared.search.programs(number, count)
            };
            let programs: Vec<Program> = jobs.iter().map(|job| job.program.clone()).collect();
            let started = Instant::now();
            let outcome = branch::run(snapshot, &programs, None, self.on(stopped));
            let Ok(mut shared) = shared.lock() else {
                return;
            };
            let taken = match outcome {
                Ok(branch) => self.take(&mut shared, jobs, branch, started.elapsed()),
                Err(AgainError::Lab(LabError::Interrupted)) => return,
                Err(error) => {
                    shared.failures += 1;
                    if shared.failures < FAILURES {
                        Ok(())
                    } else {
                        Err(error)
                    }
                }
            };
            if let Err(error) = taken {
                shared.failed.get_or_insert(error);
            }
            if shared.reported.elapsed() > REPORT {
                shared.reported = Instant::now();
                (self.host.tell)(&self.progress(&shared, began.elapsed()));
            }
        }
    }

    fn take(
        &self,
        shared: &mut Shared<'_>,
        jobs: Vec<Job>,
        branch: Branch,
        took: Duration,
    ) -> std::result::Result<(), AgainError> {
        shared.failures = 0;
        let more = Effort {
            branches: 1,
            programs: branch.sections.len() as u64,
            // Branches of several jobs overlap.
            milliseconds: took.as_millis() as u64 / self.jobs.max(1) as u64,
        };
        if let Some((number, crash)) = branch.crash {
            let name = format!("crash-{}.txt", crash.file_name());
            let file = self.asked.directory.join(name);
            if !file.exists() {
                let program = jobs.get(number).map(|job| job.program.to_string());
                let program = program.unwrap_or_default();
                write(&file, &format!("{program}\n{}\n", crash.lines.join("\n")))?;
            }
            if !shared.crashes.iter().any(|known| known.file == file) {
                let name = crash.name;
                shared.crashes.push(CrashFound { name, file });
            }
        }
        let ended = branch.sections.into_iter().zip(branch.costs);
        for (job, (sections, cost)) in jobs.into_iter().zip(ended) {
            if let Some(until) = &self.asked.until {
                let is_it =
                    |section: &Section| section.began.split([' ', '.']).next() == Some(until);
                shared.reached |= sections.iter().any(is_it);
            }
            if let Some(entry) = shared.search.take(job, sections, cost) {
                shared.journal.entry(entry)?;
            }
        }
        shared.journal.effort(more)?;
        shared.effort.branches += more.branches;
        shared.effort.programs += more.programs;
        shared.effort.milliseconds += more.milliseconds;
        Ok(())
    }

    fn progress(&self, shared: &Shared<'_>, elapsed: Duration) -> String {
        let corpus = &shared.search.corpus;
        let longest = corpus.longest();
        let longest = longest.first().map_or(String::new(), |one| {
            let ns = one.section.length * u64::from(self.guest.machine.ns_per_instruction);
            format!("; longest {:.3} ms, {}", ns as f64 / 1e6, one.section.began)
        });
        format!(
            "{} of {} s: {} programs in {} branches, {} kept, {} functions and lengths{longest}",
            elapsed.as_secs(),
            self.asked.time.as_secs(),
            shared.effort.programs,
            shared.effort.branches,
            corpus.entries().len(),
            corpus.covered(),
        )
    }
}
