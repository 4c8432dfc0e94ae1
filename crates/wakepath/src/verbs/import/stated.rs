//! Options that repeat facts of the file: one that contradicts it is refused.

use super::Failure;
use wakepath_console::option_value::Shown;
use wakepath_import::{Imported, ScheduledBy, Thread};
use wakepath_scenario::parse_policy;
use wakepath_timeline::Policy;
use wakepath_timeline::duration::length;

/// A thread's policy as far as its file states it.
pub(super) enum StatedPolicy {
    /// All of it.
    Whole(Policy),
    /// The real-time priority and whether it is RR; FIFO need not be stated. 0 is no real-time policy.
    Priority(u8, bool),
    /// What its events show.
    Seen(ScheduledBy),
    /// The policy without its parameters.
    Scheduler(&'static str),
}

impl StatedPolicy {
    pub(super) fn in_file(file: &Imported, thread: &Thread, period_ns: u64) -> Option<Self> {
        let told = thread.place.as_ref().map(|place| &place.condition);
        if let Some(policy) = told.and_then(|text| parse_policy(text, period_ns).ok()) {
            return Some(Self::Whole(policy));
        }
        let priority = thread.priority.or(file.priority);
        let scheduler = || file.scheduler.map(Self::Scheduler);
        priority
            .map(|(own, is_rr)| Self::Priority(own, is_rr))
            .or_else(scheduler)
            .or_else(|| thread.scheduled_by.map(Self::Seen))
    }

    fn allows(&self, given: Policy) -> bool {
        match (self, given) {
            (Self::Whole(stated), given) => *stated == given,
            (Self::Priority(stated, false), Policy::Fifo { priority }) => *stated == priority,
            (Self::Priority(stated, _), Policy::RoundRobin { priority }) => *stated == priority,
            (Self::Priority(stated, is_rr), _) => *stated == 0 && !is_rr,
            (
                Self::Seen(ScheduledBy::Priority(seen)),
                Policy::Fifo { priority } | Policy::RoundRobin { priority },
            ) => *seen == priority,
            (Self::Seen(ScheduledBy::Priority(_)), _) => false,
            (Self::Seen(ScheduledBy::Share), given) => !given.is_real_time(),
            (Self::Scheduler(stated), given) => given.to_string().starts_with(stated),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Whole(policy) => policy.to_string(),
            Self::Priority(0, _) => "no real-time policy".into(),
            Self::Priority(own, true) => format!("RR {own}"),
            Self::Priority(own, false) => format!("priority {own}"),
            Self::Seen(ScheduledBy::Priority(own)) => format!("FIFO or RR {own}"),
            Self::Seen(ScheduledBy::Share) => "no real-time policy".into(),
            Self::Scheduler(stated) => (*stated).into(),
        }
    }

    /// Refuses a given policy that is another.
    pub(super) fn agree(
        &self,
        name: &str,
        thread: &Thread,
        option: &str,
        given: Policy,
    ) -> Result<(), Failure> {
        if self.allows(given) {
            Ok(())
        } else {
            let stated = format!("{} for {}", self.text(), thread.name);
            match self {
                Self::Seen(seen) => Err(not_as_seen(name, &stated, *seen, option)),
                _ => Err(contradiction(name, &stated, "--policy", option)),
            }
        }
    }
}

/// Refuses a given period that is not the one that the file states.
pub(super) fn agree_on_period(
    name: &str,
    stated_ns: Option<u64>,
    asked_ns: Option<u64>,
) -> Result<(), Failure> {
    match (stated_ns, asked_ns) {
        (Some(stated), Some(asked)) if stated != asked => {
            let stated = format!("a period of {}", length(stated));
            Err(contradiction(name, &stated, "--period", &length(asked)))
        }
        _ => Ok(()),
    }
}

/// The events show no more than this, so that the option is needed all the same.
fn not_as_seen(name: &str, shown: &str, seen: ScheduledBy, given: &str) -> Failure {
    let (given, fits) = (Shown(given), seen.example());
    format!("{name}: shows {shown}, which --policy {given} contradicts: give --policy '{fits}'")
        .into()
}

fn contradiction(name: &str, stated: &str, option: &str, given: &str) -> Failure {
    let given = Shown(given);
    format!("{name}: states {stated}, which {option} {given} contradicts: leave {option} out")
        .into()
}
