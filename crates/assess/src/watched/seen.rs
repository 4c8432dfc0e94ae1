//! All threads of a watch with their figures: which are periodic, which not, each under a name of its
//! own.

use super::late_chains::late_parts;
use super::not_judged::SeenThread;
use super::timers::Timers;
use super::{Figures, Finding, NotJudged, ThreadChain, Watched, WatchedSection, activity};
use std::collections::BTreeMap;
use wakepath_archive::watch::Session;
use wakepath_archive::{ArchiveError, SegmentTraced, Trace};
use wakepath_explain::Places;
use wakepath_explain::watch::{Chain, ThreadActivity, ThreadSections};
use wakepath_timeline::duration::length;
use wakepath_timeline::plain_name;

/// As many threads as a scenario has tasks.
const MOST_THREADS: usize = 256;
/// Turns that would show a period, if there were one.
const LEAST_TURNS: usize = 10;

impl Figures {
    /// Observations of a watch. Chains of threads count as late beyond the limit, in nanoseconds, otherwise beyond
    /// their period. `places`: where in the program threads waited and ran, if stacks were recorded.
    ///
    /// # Errors
    /// When the trace can't be read.
    pub fn new(
        session: &Session,
        trace: &Trace,
        traced: &SegmentTraced,
        limit_ns: Option<u64>,
        places: Places,
    ) -> Result<Self, ArchiveError> {
        let all = activity(trace, session.threads.keys().copied())?;
        let (mut periodic, mut not_judged) = (Vec::new(), Vec::new());
        let nothing = ThreadActivity::default();
        let recorded = &trace.description().cpus;
        let seen = session.threads.iter().map(|(number, thread)| SeenThread {
            number: *number,
            thread,
            activity: all.activity.get(number).unwrap_or(&nothing),
            is_executor: all.executors.contains(number),
            declared: session.policy,
            events_missing: traced.lost > 0
                || !thread.cpus.iter().all(|cpu| recorded.contains(cpu)),
            watched_ns: traced.wall_ns,
        });
        let seen: Vec<SeenThread<'_>> = seen.collect();
        let timers = if all.executors.is_empty() {
            Timers::default()
        } else {
            Timers::new(session, trace)?
        };
        let mut executors = Vec::new();
        let mut of_executors: BTreeMap<u32, Vec<Finding>> = BTreeMap::new();
        for thread in &seen {
            let watched = Watched::all_of(thread);
            if timers.are_all_of(thread) {
                let tasks = watched.into_iter().flatten();
                let findings = tasks
                    .flat_map(|of| of.findings)
                    .filter(Finding::is_of_executor);
                of_executors.insert(thread.number, findings.collect());
                let why = "an executor of ROS 2: its callbacks are judged";
                executors.push(thread.not_judged(why.into()));
                continue;
            }
            match watched {
                Ok(tasks) => periodic.extend(tasks),
                Err(other) => not_judged.push(other),
            }
        }
        for timer in timers.watched(&seen, &of_executors) {
            match timer {
                Ok(task) => periodic.push(task),
                Err(other) => not_judged.push(other),
            }
        }
        // If there is nothing else, also executors without a timer are recorded.
        let is_all = periodic.is_empty();
        if is_all {
            not_judged.append(&mut executors);
        }
        let irregular = without_period(&seen, &not_judged, is_all);
        not_judged.retain(|of| irregular.iter().all(|own| own.thread_id != of.thread_id));
        for watched in &mut periodic {
            let none = ThreadSections::default();
            let sections = all.sections.get(&watched.thread_id).unwrap_or(&none);
            watched.unpaired = sections.unpaired;
            let names = &session.marked.sections;
            (watched.sections, watched.outside) =
                WatchedSection::new(sections, &watched.row.samples, names);
        }
        periodic.sort_by_cached_key(|of| (of.period_ns, of.thread_id));
        not_judged.sort_by_cached_key(|of| (std::cmp::Reverse(of.run_ns), of.thread_id));
        periodic.extend(irregular);
        not_judged.extend(too_many(&mut periodic));
        tell_apart(&mut periodic);
        let chains = wakepath_explain::watch::chains(&all.activity);
        let named = |id: u32| {
            let mut tasks = periodic.iter().filter(|of| of.thread_id == id);
            let own = tasks.find(|of| !of.is_callback).map(|of| of.name.clone());
            let name = session.threads.get(&id).map(|of| of.name.clone());
            match name {
                // No task is all of it.
                Some(name) if of_executors.contains_key(&id) => format!("{name}-{id}"),
                name => own.or(name).unwrap_or_else(|| id.to_string()),
            }
        };
        let limit_of = |chain: &Chain| limit_ns.unwrap_or(chain.period_ns);
        let late = late_parts(&chains, limit_of, session, (trace, traced, places))?;
        let chains = chains.iter().zip(late);
        let chains = chains.map(|(of, late)| ThreadChain::new(of, limit_of(of), late, named));
        let chains = chains.collect();
        Ok(Self {
            watched_ns: traced.wall_ns,
            cpus: session.cpus.clone(),
            events: traced.events,
            events_lost: traced.lost,
            cycle: session.marked.cycle.clone(),
            sections_beyond: all.beyond,
            chains,
            threads: periodic,
            not_judged,
        })
    }
}

/// Threads without a period that are recorded all the same: those under a real-time policy, and if no thread has a
/// period, all; of those first the ones that took as many turns as would show a period.
fn without_period(seen: &[SeenThread<'_>], others: &[NotJudged], is_all: bool) -> Vec<Watched> {
    let with = |least: usize| {
        let all = seen.iter();
        let all = all.filter(|of| others.iter().any(|other| other.thread_id == of.number));
        let mut all: Vec<Watched> = all
            .filter_map(|of| Watched::irregular(of, least))
            .filter(|of| is_all || of.policy.is_real_time())
            .collect();
        all.sort_by_cached_key(|of| (std::cmp::Reverse(of.activations), of.thread_id));
        all
    };
    let many = with(LEAST_TURNS);
    if many.is_empty() && is_all {
        with(1)
    } else {
        many
    }
}

/// Gives each thread a name of its own.
fn tell_apart(threads: &mut [Watched]) {
    let mut taken: Vec<String> = Vec::new();
    for of in threads {
        // Tasks of one thread are named by their differences.
        let base = match of.timer {
            None if of.is_callback => of.name.clone(),
            Some(_) => plain_name(&format!(
                "{}-{}",
                of.name,
                length(of.period_ns).replace(' ', "")
            )),
            None => plain_name(&of.name),
        };
        let names = (1_u32..).map(|n| match n {
            1 => base.clone(),
            n => format!("{base}-{n}"),
        });
        let free = names.into_iter().find(|name| !taken.contains(name));
        of.name = free.unwrap_or_else(|| base.clone());
        of.own_name = base;
        taken.push(of.name.clone());
    }
}

/// Takes out the threads beyond what a scenario can hold: those with the longest periods.
fn too_many(threads: &mut Vec<Watched>) -> Vec<NotJudged> {
    let beyond = threads.split_off(threads.len().min(MOST_THREADS));
    let of = |of: Watched| NotJudged {
        why: format!(
            "period {}, but more than {MOST_THREADS} threads are periodic",
            length(of.period_ns)
        ),
        timer_wake_ups: of.activations,
        other_wake_ups: of.other_wake_ups,
        run_ns: 0,
        name: of.name,
        thread_id: of.thread_id,
    };
    beyond.into_iter().map(of).collect()
}
