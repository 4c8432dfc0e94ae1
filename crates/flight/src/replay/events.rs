//! The merged list of the plant's events, in order of time.

use super::choices::Missed;
use super::schedule::Schedule;

/// Kinds of events. The order of the variants is the order at the same time: the next due time
/// finds a command missing before a new one arrives; a sample sees the state before any command
/// acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A command has not come in time; the rotors are set to zero.
    Zero,
    /// A due time: the state is looked at for the measures, on the same grid for every schedule.
    Look,
    /// A job latches the state and works out its command.
    Sample,
    /// The oldest command under way reaches the rotors.
    Actuate,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    pub(crate) at_ns: u64,
    pub(crate) kind: Kind,
}

/// All events of a schedule before its end, sorted.
pub(crate) fn merged(schedule: &Schedule, missed: Missed) -> Vec<Event> {
    let (period, end) = (schedule.period_ns, schedule.end_ns());
    let mut events =
        Vec::with_capacity(schedule.activations.len() * 2 + schedule.due_times as usize);
    let mut add = |at_ns, kind| {
        if at_ns < end {
            events.push(Event { at_ns, kind });
        }
    };
    let mut activations = schedule.activations.iter().peekable();
    for due in (0..schedule.due_times).map(|k| k.saturating_mul(period)) {
        add(due, Kind::Look);
        let activation = activations.next_if(|activation| activation.due_ns == due);
        if let Some(activation) = activation {
            add(activation.sample_ns, Kind::Sample);
            add(activation.actuate_ns, Kind::Actuate);
        }
        let in_time = activation
            .is_some_and(|activation| activation.actuate_ns <= due.saturating_add(period));
        if missed == Missed::Zero && !in_time {
            add(due.saturating_add(period), Kind::Zero);
        }
    }
    // Nearly sorted already, which the stable sort makes use of.
    events.sort_unstable();
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_command_is_zero_from_the_next_due_time_until_it_comes() {
        let schedule = Schedule::constant(100, 3, 130);
        let at = |missed| -> Vec<_> {
            merged(&schedule, missed)
                .iter()
                .map(|event| (event.at_ns, event.kind))
                .collect()
        };
        use Kind::{Actuate, Look, Sample, Zero};
        assert_eq!(
            at(Missed::Zero),
            [
                (0, Look),
                (0, Sample),
                (100, Zero),
                (100, Look),
                (100, Sample),
                (130, Actuate),
                (200, Zero),
                (200, Look),
                (200, Sample),
                (230, Actuate)
            ]
        );
        assert!(at(Missed::Hold).iter().all(|event| event.1 != Zero));
    }

    #[test]
    fn a_command_that_comes_exactly_with_the_next_due_time_is_in_time() {
        let events = merged(&Schedule::constant(100, 4, 100), Missed::Zero);
        assert!(events.iter().all(|event| event.kind != Kind::Zero));
    }
}
