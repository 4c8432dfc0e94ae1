//! Threads that are not judged, and why.

use serde::Serialize;
use wakepath_archive::watch::Thread;
use wakepath_explain::watch::{NotPeriodic, ThreadActivity};
use wakepath_timeline::Policy;
use wakepath_verdict::fraction;

/// A thread with what was seen of it.
#[derive(Clone, Copy)]
pub(super) struct SeenThread<'a> {
    /// Its number.
    pub number: u32,
    /// The system's facts about it.
    pub thread: &'a Thread,
    /// What its events show.
    pub activity: &'a ThreadActivity,
    /// Whether an executor of ROS 2 runs callbacks in it: the executor decides how it waits.
    pub is_executor: bool,
    /// Its declared policy, if given.
    pub declared: Option<Policy>,
    /// Whether events are lost, or it may run on CPUs whose events were not recorded.
    pub events_missing: bool,
    /// How long was recorded, in nanoseconds.
    pub watched_ns: u64,
}

/// A thread that waits by spinning runs for more of the time than this, one in so many.
const SPINS: u64 = 4;

/// A thread that hardly ever waits runs for this share of the time or more, in percent.
const BUSY_PERCENT: u64 = 75;

/// A thread without a period.
#[derive(Debug, Serialize)]
pub struct NotJudged {
    /// Its name.
    pub name: String,
    /// Its number.
    pub thread_id: u32,
    /// Why not, as a person reads it.
    pub why: String,
    /// Wake-ups by timers.
    pub timer_wake_ups: u64,
    /// Wake-ups by something else.
    pub other_wake_ups: u64,
    /// Time on a CPU, in nanoseconds.
    pub run_ns: u64,
}

impl SeenThread<'_> {
    /// Its policy; otherwise it is not judged.
    pub(super) fn policy(&self) -> Result<Policy, NotJudged> {
        let policy = self.thread.policy.clone();
        policy.map_err(|why| self.not_judged(format!("its policy is not known: {why}")))
    }

    /// That a period, in nanoseconds, is within the limits of a scenario: below, timers are not a loop's; above,
    /// nothing repeats in a run.
    pub(super) fn can_be_judged(&self, period_ns: u64) -> Result<(), NotJudged> {
        if (10_000..=100_000_000_000).contains(&period_ns) {
            return Ok(());
        }
        let period = wakepath_timeline::duration::length(period_ns);
        Err(self.not_judged(format!("its period of {period} is too long to judge")))
    }

    /// Not judged, for this reason.
    pub(super) fn not_judged(&self, why: String) -> NotJudged {
        NotJudged {
            name: self.thread.name.clone(),
            thread_id: self.number,
            why,
            timer_wake_ups: self.activity.timers.values().sum(),
            other_wake_ups: self.activity.other_wake_ups,
            run_ns: self.activity.run_ns,
        }
    }
}

/// Why a thread has no period.
pub(super) fn told(why: NotPeriodic, activity: &ThreadActivity, watched_ns: u64) -> String {
    let by_marks = !activity.marked.is_empty();
    let never_slept = activity.other_wake_ups == 0 && activity.run_ns * SPINS > watched_ns;
    let time = wakepath_timeline::duration::exact;
    match why {
        NotPeriodic::TooFew { activations } if by_marks => {
            format!("it passed the markers of a cycle only {activations} times")
        }
        NotPeriodic::Irregular {
            activations,
            low_ns,
            high_ns,
        } if by_marks => format!(
            "not periodic: {activations} cycles between its marks, most {} to {} apart",
            time(low_ns / 1000 * 1000),
            time(high_ns / 1000 * 1000)
        ),
        NotPeriodic::TooFew { activations: 0 } if never_slept => {
            "it never slept; if it waits by spinning, probes can show its cycles: --cycle BEGIN,END"
                .into()
        }
        NotPeriodic::TooFew { activations: 0 }
            if activity.run_ns * 100 >= watched_ns * BUSY_PERCENT =>
        {
            let share = fraction(activity.run_ns as f64 / watched_ns.max(1) as f64);
            format!(
                "no timer woke it, and it ran for {share} of the time: it can't keep up with its work, or waits by \
                 spinning"
            )
        }
        NotPeriodic::TooFew { activations: 0 } => "no timer woke it".into(),
        NotPeriodic::TooFew { activations: 1 } => "a timer woke it once".into(),
        NotPeriodic::TooFew { activations } => format!("timers woke it only {activations} times"),
        NotPeriodic::Irregular {
            activations,
            low_ns,
            high_ns,
        } => format!(
            "not periodic: {activations} timers, most {} to {} apart",
            time(low_ns / 1000 * 1000),
            time(high_ns / 1000 * 1000)
        ),
        NotPeriodic::Moves { threads } => {
            format!("its program's cycles run in any of {threads} threads")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_spins_is_told_about_probes() {
        let why = NotPeriodic::TooFew { activations: 0 };
        let told = |other_wake_ups, watched_ns| {
            let activity = ThreadActivity {
                other_wake_ups,
                run_ns: 1_000_000,
                ..ThreadActivity::default()
            };
            told(why, &activity, watched_ns)
        };
        assert!(told(0, 2_000_000).contains("--cycle"));
        assert_eq!(told(1, 2_000_000), "no timer woke it");
        let busy = told(2, 1_100_000);
        assert!(busy.contains("ran for 91 % of the time"), "{busy}");
        // It slept all the time, from before the first event on.
        assert_eq!(told(0, 20_000_000), "no timer woke it");
    }
}
