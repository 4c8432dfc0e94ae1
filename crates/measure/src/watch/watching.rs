//! Carries out a watch: runs the probe alongside the program, looks at its threads and saves the session,
//! until time, program or patience ends.

use super::groups::Groups;
use super::{Following, News, Printing, Target, WatchError};
use crate::stacks::{Stacks, Taken};
use crate::{Interrupt, Watching, traced_cpus};
use std::ffi::OsString;
use std::time::{Duration, Instant};
use wakepath_archive::watch::{CallbackFunction, Session, Threads};
use wakepath_archive::{FactsTaken, SegmentTraced, ThreadOf, Trace, When};
use wakepath_directory::Directory;
use wakepath_machine::{Facts, GroupThrottling, Root};
use wakepath_probe::Ready;
use wakepath_probe::usdt::Mark;
use wakepath_ros2::Begun;
use wakepath_rt::{affinity, clock};
use wakepath_stacks::{Callables, InMemory};
use wakepath_timeline::duration::length;

/// Between two looks at the threads.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Interval at which the session is saved, if it changed.
const KEEP_EVERY: Duration = Duration::from_secs(1);
/// Recording time for which the probe's buffers are sized if no time is given: they are drained as it
/// records.
const USUAL_NS: u64 = 60_000_000_000;

/// The subject of a watch.
pub enum Subject<'a> {
    /// Something that runs already.
    There(Target),
    /// A program with its arguments, started when the probe records, and the destination of its output.
    Start(&'a [OsString], Printing),
}

/// One program watched once.
pub struct Watch<'a> {
    directory: &'a Directory,
    own_cpus: Vec<u16>,
    until: Until,
    session: Session,
    probe: Watching,
    target: Target,
    groups: Groups,
    stacks: Option<Stacks>,
    following: Following<'a>,
    callables: Callables,
    /// Whether functions are recorded that callbacks call.
    has_functions: bool,
}

/// When a watch is to end.
#[derive(Debug, Clone, Copy)]
pub struct Until {
    /// After this time, if there is one.
    pub duration: Option<Duration>,
    /// When the viewer has seen enough, of which it wants to hear at once.
    pub is_enough: bool,
}

/// How a watch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The viewer had seen enough.
    Enough,
    /// After the time that was asked for.
    TimeIsUp,
    /// By Ctrl-C or the like.
    Interrupted,
    /// Nothing is left to be watched.
    ByItself,
}

/// A watch's result.
pub struct Recorded {
    /// Data other than the trace.
    pub session: Session,
    /// The recording.
    pub trace: Trace,
    /// How much of it, at what cost.
    pub traced: SegmentTraced,
    /// How it ended.
    pub ended: Ended,
}

impl<'a> Watch<'a> {
    /// Begins: this process keeps to those of the CPUs `allowed` to it that the program has not, if
    /// there are any. `with_stacks` also records the functions in which threads wait, which makes each wait some
    /// microseconds longer.
    ///
    /// # Errors
    /// When there is no tracing, or the program can't be started.
    pub fn begin(
        directory: &'a Directory,
        allowed: &[u16],
        mut session: Session,
        subject: Subject<'_>,
        (marks, with_stacks): (&[Mark], bool),
        until: Until,
    ) -> Result<Self, WatchError> {
        // After a kill before anything is recorded, this shows `wakepath recover` the owner.
        let nothing_yet = Session {
            threads: Threads::new(),
            ..session.clone()
        };
        nothing_yet.keep(directory)?;
        let mut own_cpus = allowed.to_vec();
        own_cpus.retain(|cpu| !session.cpus.contains(cpu));
        if own_cpus.is_empty() {
            own_cpus = allowed.to_vec();
        }
        let pin = |cpus: &[u16]| affinity::pin(cpus).map_err(WatchError::Affinity);
        pin(&own_cpus)?;
        let for_ns = until
            .duration
            .map_or(USUAL_NS, |duration| duration.as_nanos() as u64);
        let (mut probe, ready) = Watching::start(
            directory,
            &traced_cpus(&session.cpus),
            for_ns,
            marks,
            until.is_enough,
        )
        .map_err(WatchError::NotTraced)?;
        session.notes = notes_of(&ready);
        session.set_up = ready.set_up;
        probe.begin().map_err(WatchError::NotTraced)?;
        let stacks = with_stacks
            .then(|| Stacks::begin(Taken::default()))
            .flatten();
        let target = match subject {
            Subject::There(target) => target,
            Subject::Start(command, printing) => {
                pin(allowed)?;
                let start = || Target::start(command, printing);
                let mut cpus = [allowed, &session.cpus].concat();
                cpus.sort_unstable();
                cpus.dedup();
                let started = match &stacks {
                    Some(stacks) => stacks.start(&cpus, start),
                    None => start(),
                };
                pin(&own_cpus)?;
                started?
            }
        };
        session.first = target.first();
        let following = Following::new(directory, session.latency_ns, until.is_enough);
        Ok(Self {
            directory,
            own_cpus,
            until,
            session,
            probe,
            target,
            groups: Groups::new(Root::host()),
            stacks,
            following,
            callables: Callables::default(),
            has_functions: marks.iter().any(|of| of.function.is_some()),
        })
    }

    /// The directory of the recording.
    pub fn directory(&self) -> &'a Directory {
        self.directory
    }

    /// Data other than the trace.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The CPUs that this process keeps to.
    pub fn own_cpus(&self) -> &[u16] {
        &self.own_cpus
    }

    /// Watches, and shows `look` the news of the periodic threads a few times a second; `look` returns
    /// whether that is enough.
    ///
    /// # Errors
    /// If the trace can't be followed, or the session can't be saved.
    pub fn follow(
        &mut self,
        interrupt: &Interrupt,
        mut look: impl FnMut(&News, &Threads) -> bool,
    ) -> Result<Ended, WatchError> {
        let begun = Instant::now();
        let (mut kept, mut kept_at) = (None, begun);
        let mut followed = 0;
        loop {
            if !self.target.look(&mut self.session.threads, false) {
                return Ok(Ended::ByItself);
            }
            self.groups.look(&self.session.threads);
            if let Some(stacks) = &mut self.stacks {
                let alive = self.session.threads.iter().filter(|(_, of)| !of.ended);
                stacks.follow(alive.map(|(thread, of)| (*thread, of.process)).collect());
            }
            followed = self.follow_new(followed);
            // A kill from here on leaves what `wakepath recover` needs.
            let is_time = kept.is_none() || kept_at.elapsed() >= KEEP_EVERY;
            if is_time && kept.as_ref() != Some(&self.session.threads) {
                self.session.keep(self.directory)?;
                (kept, kept_at) = (Some(self.session.threads.clone()), Instant::now());
            }
            if interrupt.requested() {
                return Ok(Ended::Interrupted);
            }
            let news = self.following.look(&self.session.threads)?;
            let found = functions(&mut self.callables, &news.begun);
            self.session.functions.extend(found);
            if look(&news, &self.session.threads) {
                return Ok(Ended::Enough);
            }
            let left = self
                .until
                .duration
                .map(|all| all.saturating_sub(begun.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Ended::TimeIsUp);
            }
            std::thread::sleep(left.map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY)));
        }
    }

    /// Has the probe record the system calls of threads that were not known when there were `known`;
    /// how many there are now. Without their calls they are watched all the same.
    fn follow_new(&mut self, known: usize) -> usize {
        let threads = &self.session.threads;
        if threads.len() != known {
            let all = threads.iter().map(|(thread, of)| ThreadOf {
                thread: *thread,
                process: of.process,
            });
            let _ = self.probe.follow(all.collect());
        }
        self.session.threads.len()
    }

    /// Has the trace written, and ends a program that was started here. What following came to is
    /// passed on.
    ///
    /// # Errors
    /// That of following; when there is no trace, or the machine can't be read again.
    pub fn end(mut self, followed: Result<Ended, WatchError>) -> Result<Recorded, WatchError> {
        let traced = self.probe.end();
        let stacks = self.stacks.take().and_then(Stacks::end);
        // Now, because a program that was started here is about to end, and its memory with it.
        if self.has_functions && traced.is_ok() && followed.is_ok() {
            let begun = self.following.begun_since(&self.session.threads)?;
            let found = functions(&mut self.callables, &begun);
            self.session.functions.extend(found);
        }
        if !matches!(followed, Err(_) | Ok(Ended::ByItself)) {
            self.target.end();
        }
        let ended = followed?;
        let traced = traced.map_err(WatchError::TraceLost)?;
        drop(self.probe);
        let mut session = self.session;
        let mut after = Facts::read(&Root::host());
        if let Some((first, last)) = self.groups.most_throttled() {
            for taken in &mut session.facts {
                let mut facts = Facts::of_json(&taken.facts).map_err(WatchError::Facts)?;
                facts.varying.cgroup = first.clone();
                taken.facts = facts.to_json().map_err(WatchError::Facts)?;
            }
            session
                .notes
                .extend(last.throttled_since(&first).iter().map(used_up));
            after.varying.cgroup = last;
        }
        session.facts.push(facts_taken(When::After, &after)?);
        let trace = Trace::open_in(self.directory, 0)?.ok_or(WatchError::NoTrace)?;
        let badly = self.target.ended_badly();
        let notes = [
            badly.filter(|_| ended == Ended::ByItself),
            trace
                .cut_short()
                .map(|why| format!("the trace stops early: {why}")),
            outside(&session),
        ];
        session.notes.extend(notes.into_iter().flatten());
        session.notes.extend(
            stacks
                .map(|of| of.keep(self.directory))
                .into_iter()
                .flatten(),
        );
        Ok(Recorded {
            session,
            trace,
            traced,
            ended,
        })
    }
}

/// The functions of callbacks, of those that are found.
fn functions(callables: &mut Callables, begun: &[Begun]) -> Vec<CallbackFunction> {
    let asked: Vec<InMemory> = begun.iter().map(in_memory).collect();
    let names = callables.names(&asked).into_iter();
    let found = names.zip(begun).filter_map(|(name, of)| {
        Some(CallbackFunction {
            process: of.callback.0,
            handle: of.callback.1,
            at_ns: of.at_ns,
            name: name?,
        })
    });
    found.collect()
}

fn in_memory(of: &Begun) -> InMemory {
    InMemory {
        process: of.callback.0,
        caller: of.words.caller,
        first: of.words.first,
        pointed: of.words.pointed,
        invoker: of.words.invoker,
    }
}

/// A quota that was used up, as a note.
fn used_up(group: &GroupThrottling) -> String {
    let budget = group.budget();
    let times = wakepath_verdict::counted(group.since_made.times, "time", "times");
    let stopped = length(group.since_made.stopped_us.saturating_mul(1_000));
    format!(
        "{budget} {times}, {stopped} summed over its CPUs: {}",
        budget.fix()
    )
}

/// The machine's facts, for the record.
///
/// # Errors
/// When it can't be written down.
pub fn facts_taken(when: When, facts: &Facts) -> Result<FactsTaken, WatchError> {
    Ok(FactsTaken {
        when,
        phase: None,
        repetition: None,
        at_ns: clock::monotonic_ns(),
        facts: facts.to_json().map_err(WatchError::Facts)?,
    })
}

/// Number of threads that can run on untraced CPUs, as a note.
pub(super) fn outside(session: &Session) -> Option<String> {
    let is_outside = |cpus: &[u16]| cpus.iter().any(|cpu| !session.cpus.contains(cpu));
    let threads = session.threads.values();
    let count = threads.filter(|of| is_outside(&of.cpus)).count() as u64;
    (count > 0).then(|| {
        format!(
            "{} can run on CPUs that were not traced; events there are missing",
            wakepath_verdict::counted(count, "thread", "threads")
        )
    })
}

fn notes_of(ready: &Ready) -> Vec<String> {
    let orphans = ready.orphans.iter().map(|name| {
        format!("removed the tracefs instance {name}, left by a process that was killed")
    });
    let failed = ready.set_up.self_tests.iter().filter(|test| !test.passed);
    let failed = failed.map(|test| format!("self-test of the tracing: {}", test.text));
    let missing = ready.set_up.missing.iter();
    let missing = missing.map(|of| format!("without {}: {}", of.events, of.reason));
    orphans.chain(failed).chain(missing).collect()
}
