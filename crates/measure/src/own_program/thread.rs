//! A thread of a program of the user's own: put where the scenario wants it, from outside, and what its
//! sections came to.

use wakepath_archive::{ModuleTimes, Obstacle};
use wakepath_measured_loop::{ThreadReady, ThreadSpec};
use wakepath_rt::announcement::Announced;
use wakepath_rt::sections::SectionTimes;
use wakepath_rt::{Shortfall, of_thread};
use wakepath_timeline::duration::exact;
use wakepath_timeline::one_line;

/// Sections of the user's own loop, as the archive has parts that timed themselves.
pub(super) fn modules(sections: Vec<SectionTimes>) -> Vec<ModuleTimes> {
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
        exchanges: None,
    };
    sections.into_iter().map(module).collect()
}

/// Why a loop's thread can't be measured.
pub(super) struct Refused(pub(super) Obstacle, pub(super) String);

/// A loop's thread as the scenario wants it, set from outside where its program left it otherwise.
pub(super) fn placed(wanted: &ThreadSpec, found: &Announced) -> Result<ThreadReady, Refused> {
    let name = &wanted.name;
    if found.period_ns != wanted.period_ns {
        let (theirs, ours) = (exact(found.period_ns), exact(wanted.period_ns));
        return Err(Refused(
            Obstacle::Other,
            format!(
                "the program's loop `{name}` has a period of {theirs}, and the scenario has {ours}"
            ),
        ));
    }
    if found.overrun != wanted.overrun {
        let (theirs, ours) = (found.overrun, wanted.overrun);
        return Err(Refused(
            Obstacle::Other,
            format!(
                "the program's loop `{name}` was made for overrun = \"{theirs}\", but the scenario has \"{ours}\": \
                 put overrun = \"{theirs}\" into its task"
            ),
        ));
    }
    let thread_id = found.thread_id;
    let effective = || {
        of_thread::effective_of(found).map_err(|error| {
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
        let slack_ns = wanted.preparation.timer_slack_ns;
        of_thread::place(thread_id, policy, cpus, slack_ns).map_err(|error| {
            let obstacle = match error.raw_os_error() {
                Some(1 | 13) => Obstacle::MissingRight,
                _ => Obstacle::Other,
            };
            let reason = format!(
                "the loop `{name}` can't be put under {policy} from outside: {error}; set it in the program, or run \
                 as root"
            );
            Refused(obstacle, reason)
        })?;
        is = effective()?;
    }
    let mut shortfalls = Vec::new();
    if !is.memory_locked {
        shortfalls.push(Shortfall::MemoryNotLocked {
            error: "its program did not lock its memory".into(),
        });
    }
    Ok(ThreadReady {
        thread_id,
        effective: is,
        shortfalls,
        no_counters: None,
    })
}
