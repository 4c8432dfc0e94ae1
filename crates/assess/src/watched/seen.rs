//! All threads of a watch with their figures: which are periodic, which not, each under a name of its
//! own.

use super::{Figures, NotJudged, Watched, WatchedSection, activity};
use wakepath_archive::watch::Session;
use wakepath_archive::{ArchiveError, SegmentTraced, Trace};
use wakepath_explain::watch::ThreadSections;
use wakepath_timeline::duration::length;
use wakepath_timeline::plain_name;

/// As many threads as a scenario has tasks.
const MOST_THREADS: usize = 256;

impl Figures {
    /// What a watch saw.
    ///
    /// # Errors
    /// When the trace can't be read.
    pub fn of(
        session: &Session,
        trace: &Trace,
        traced: &SegmentTraced,
    ) -> Result<Self, ArchiveError> {
        let all = activity(trace, session.threads.keys().copied())?;
        let lost = traced.lost > 0;
        let (mut periodic, mut not_judged) = (Vec::new(), Vec::new());
        for (number, thread) in &session.threads {
            let seen = all.activity.get(number).cloned().unwrap_or_default();
            match Watched::of(*number, thread, &seen, session.policy, lost) {
                Ok(mut watched) => {
                    let none = ThreadSections::default();
                    let sections = all.sections.get(number).unwrap_or(&none);
                    watched.unpaired = sections.unpaired;
                    let names = &session.marked.sections;
                    (watched.sections, watched.outside) =
                        WatchedSection::of(sections, &watched.row.samples, names);
                    periodic.push(watched);
                }
                Err(other) => not_judged.push(other),
            }
        }
        periodic.sort_by_key(|of| (of.period_ns, of.thread_id));
        not_judged.sort_by_key(|of| (std::cmp::Reverse(of.run_ns), of.thread_id));
        not_judged.extend(too_many(&mut periodic));
        tell_apart(&mut periodic);
        Ok(Self {
            watched_ns: traced.wall_ns,
            cpus: session.cpus.clone(),
            events: traced.events,
            events_lost: traced.lost,
            cycle: session.marked.cycle.clone(),
            sections_beyond: all.beyond,
            threads: periodic,
            not_judged,
        })
    }
}

/// Gives each thread a name of its own.
fn tell_apart(threads: &mut [Watched]) {
    let mut taken: Vec<String> = Vec::new();
    for of in threads {
        let base = plain_name(&of.name);
        let names = (1_u32..).map(|n| match n {
            1 => base.clone(),
            n => format!("{base}-{n}"),
        });
        let free = names.into_iter().find(|name| !taken.contains(name));
        of.name = free.unwrap_or(base);
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
