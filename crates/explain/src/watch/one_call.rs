//! The call whose time-outs begin a thread's cycles. A time-out of another call within a cycle is a part of that, as
//! Python's waits for its interpreter lock are.

use super::activation::Activation;
use super::rhythm::Rhythm;
use crate::call::{sends, sleeps, waits_for_any_event};
use wakepath_timeline::CallArgument;

/// The kind of call in which a timer woke a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WokenIn {
    /// None was recorded.
    #[default]
    Unknown,
    /// A sleep for a time.
    Sleep,
    /// A read, as of a timerfd.
    Read,
    /// A wait for any event.
    Events,
    /// A wait for a lock or a condition.
    Futex,
    /// A write, or a send: who ends it takes what was written before, and makes room.
    Write,
    /// Another call.
    Other,
}

/// Those that may begin cycles, the likeliest first.
const LIKELY: [WokenIn; 4] = [
    WokenIn::Sleep,
    WokenIn::Read,
    WokenIn::Events,
    WokenIn::Futex,
];
/// The call that begins cycles has a quarter of the activations or more.
const LEAST_SHARE: usize = 4;
/// Of ten wake-ups by others, the number in one call that show what a thread waits for.
const PACED_OF_TEN: usize = 6;
/// A thread with more different waits than these has none for its cycles.
const MOST_WAITS: usize = 64;
/// Calls of which nine time-outs of ten are for due times take turns in beginning cycles, if they are a tenth of the
/// activations or more. Python's waits for its interpreter lock end after 5 ms, which may be a due time.
const DUE_OF_TEN: usize = 9;

impl WokenIn {
    pub(super) fn new(call: Option<&str>) -> Self {
        match call {
            None => Self::Unknown,
            Some(name) if sleeps(name) => Self::Sleep,
            Some("read") => Self::Read,
            Some(name) if sends(name) => Self::Write,
            Some(name) if waits_for_any_event(name) => Self::Events,
            Some(name) if name.starts_with("futex") => Self::Futex,
            Some(_) => Self::Other,
        }
    }
}

impl WokenIn {
    /// Whether another thread may end it as well as a timer.
    pub(super) fn is_for_others(self) -> bool {
        matches!(self, Self::Events | Self::Futex)
    }
}

/// The kind of call in which most of these turns begin.
pub(super) fn mostly(turns: &[Activation]) -> Option<WokenIn> {
    let others = [WokenIn::Unknown, WokenIn::Write, WokenIn::Other];
    let count = |kind: &WokenIn| turns.iter().filter(|of| of.woken_in == *kind).count();
    let kinds = others.into_iter().chain(LIKELY).filter(|of| count(of) > 0);
    kinds.max_by_key(count)
}

/// Whether timers mostly wake the thread in waits for any event, so that its next event may come first.
pub(super) fn are_for_any_event(activations: &[Activation]) -> bool {
    let known = || {
        activations
            .iter()
            .filter(|of| of.woken_in != WokenIn::Unknown)
    };
    let events = known().filter(|of| of.woken_in == WokenIn::Events).count();
    events * 2 > known().count()
}

/// The activations by timers, those of other calls put into the cycles that they fall into.
pub(super) fn cycles(activations: Vec<Activation>) -> Vec<Activation> {
    of_one_argument(of_one_kind(activations))
}

fn of_one_kind(activations: Vec<Activation>) -> Vec<Activation> {
    let count = |kind| activations.iter().filter(|of| of.woken_in == kind).count();
    let is_likely =
        |kind: &WokenIn| count(*kind) > 0 && count(*kind) * LEAST_SHARE >= activations.len();
    let has_others = LIKELY.iter().filter(|kind| count(**kind) > 0).count() > 1;
    let found = LIKELY
        .into_iter()
        .filter(|kind| has_others && is_likely(kind))
        .find_map(|kind| {
            let is_own = |of: &Activation| of.woken_in == kind;
            let is_other = |of: &Activation| !is_own(of) && of.woken_in != WokenIn::Unknown;
            begun_in(&is_own, &is_other, &activations)
        });
    found.unwrap_or(activations)
}

/// The same for waits of one kind: those for another lock, condition or list of events than that which begins the cycles.
fn of_one_argument(activations: Vec<Activation>) -> Vec<Activation> {
    let most = most_frequent(&activations, &|(kind, argument)| {
        kind.is_for_others() && argument.is_some()
    });
    let Some((begins, _)) = most.filter(|(_, count)| count * LEAST_SHARE >= activations.len())
    else {
        return activations;
    };
    let is_own = |of: &Activation| wait(of) == begins;
    let is_other = |of: &Activation| {
        of.woken_in == begins.0 && of.argument.is_some() && of.argument != begins.1
    };
    if !activations.iter().any(is_other) {
        return activations;
    }
    begun_in(&is_own, &is_other, &activations).unwrap_or(activations)
}

/// The turns of a thread that something else than a timer begins by waking it in one call: its waits in other calls, as for
/// a file, are a part of the turn. Unchanged without such a call.
pub(super) fn paced(handed: &[Activation]) -> Vec<Activation> {
    let most = most_frequent(handed, &|(kind, _)| *kind != WokenIn::Unknown);
    match most {
        Some((begins, count)) if count * 10 >= handed.len() * PACED_OF_TEN => {
            folded(handed, &|of| {
                wait(of) != begins && of.woken_in != WokenIn::Unknown
            })
        }
        _ => handed.to_vec(),
    }
}

/// A wait that begins turns.
type Wait = (WokenIn, Option<CallArgument>);

fn wait(of: &Activation) -> Wait {
    (of.woken_in, of.argument)
}

/// The most frequent wait for which this holds, and how many turns it begins; `None` without any, or with too many
/// different ones.
fn most_frequent(
    activations: &[Activation],
    is_one: &dyn Fn(&Wait) -> bool,
) -> Option<(Wait, usize)> {
    let mut counts: Vec<(Wait, usize)> = Vec::new();
    for of in activations.iter().map(wait).filter(is_one) {
        let known = counts.len();
        match counts.iter_mut().find(|(wait, _)| *wait == of) {
            Some((_, count)) => *count += 1,
            None if known == MOST_WAITS => return None,
            None => counts.push((of, 1)),
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count)
}

/// The activations, with the others put into those in which they fall.
fn folded(activations: &[Activation], is_other: &dyn Fn(&Activation) -> bool) -> Vec<Activation> {
    let mut cycles: Vec<Activation> = Vec::with_capacity(activations.len());
    for of in activations {
        match cycles.last_mut().filter(|_| is_other(of)) {
            Some(cycle) => cycle.go_on(of),
            None if is_other(of) => {}
            None => cycles.push(*of),
        }
    }
    cycles
}

/// The cycles if its `own` calls begin them periodically, with those of `other` ones in them.
fn begun_in(
    is_own: &dyn Fn(&Activation) -> bool,
    is_other: &dyn Fn(&Activation) -> bool,
    activations: &[Activation],
) -> Option<Vec<Activation>> {
    let own = activations.iter().filter(|of| is_own(of));
    let own: Vec<Activation> = own.copied().collect();
    let rhythm = Rhythm::new(&own).ok()?;
    if rhythm.anchor_ns.is_none() && rhythm.sleeps_ns.is_none() {
        return None;
    }
    let is_due = |of: &Activation| {
        let due_ns = of.programmed_ns;
        due_ns.is_some_and(|due_ns| rhythm.is_on_row(due_ns))
    };
    let others = activations.iter().filter(|of| is_other(of));
    let (all, due) = others.fold((0, 0), |(all, due), of| {
        (all + 1, due + usize::from(is_due(of)))
    });
    if all * 10 >= activations.len() && due * 10 >= all * DUE_OF_TEN {
        return Some(activations.to_vec());
    }
    Some(folded(activations, is_other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn activation(due_ns: u64, woken_in: WokenIn) -> Activation {
        Activation {
            programmed_ns: Some(due_ns),
            asked_at_ns: Some(due_ns.saturating_sub(4 * MS)),
            expiry_ns: due_ns + 1_000,
            switched_in_ns: due_ns + 20_000,
            end_ns: due_ns + 120_000,
            run_ns: 100_000,
            woken_in,
            ..Activation::default()
        }
    }

    /// A loop of 10 ms; after each tenth due time come time-outs of `within` at these milliseconds.
    fn a_loop(within: WokenIn, at_ms: &[u64]) -> Vec<Activation> {
        let mut all = Vec::new();
        for cycle in 1..200 {
            let due_ns = cycle * 10 * MS;
            all.push(activation(due_ns, WokenIn::Sleep));
            if cycle % 10 == 0 {
                let later = at_ms.iter().map(|ms| due_ns + ms * MS + 70_000);
                all.extend(later.map(|at| activation(at, within)));
            }
        }
        all
    }

    #[test]
    fn time_outs_of_another_call_are_a_part_of_the_cycle() {
        // Every second one may be for a due time by chance.
        for at_ms in [[3, 6], [5, 10]] {
            let cycles = cycles(a_loop(WokenIn::Futex, &at_ms));
            assert_eq!(cycles.len(), 199);
            let long = cycles[9];
            assert_eq!(long.run_ns, 300_000);
            assert_eq!(long.end_ns, 100 * MS + at_ms[1] * MS + 190_000);
        }
    }

    #[test]
    fn what_a_paced_thread_waits_for_in_its_work_is_a_part_of_the_turn() {
        let of = |at_ms: u64, woken_in, descriptor| Activation {
            argument: Some(CallArgument::Descriptor(descriptor)),
            programmed_ns: None,
            ..activation(at_ms * MS, woken_in)
        };
        let turn = |k: u64| {
            let file = of(k * 10 + 2, WokenIn::Read, 4);
            [of(k * 10, WokenIn::Read, 3)]
                .into_iter()
                .chain(k.is_multiple_of(5).then_some(file))
        };
        let all: Vec<Activation> = (1..100).flat_map(turn).collect();
        let found = paced(&all);
        assert_eq!(found.len(), 99);
        assert_eq!((found[4].run_ns, found[5].run_ns), (200_000, 100_000));
        // Two senders.
        let both = |k: u64| {
            [
                of(k * 10, WokenIn::Read, 3),
                of(k * 10 + 5, WokenIn::Read, 4),
            ]
        };
        let all: Vec<Activation> = (1..100).flat_map(both).collect();
        assert_eq!(paced(&all), all);
    }

    #[test]
    fn a_few_time_outs_of_another_call_that_come_at_due_times_are_a_part_too() {
        let woken_in = |cycle: u64| match cycle % 50 {
            7 => WokenIn::Futex,
            _ => WokenIn::Sleep,
        };
        let all = (1..400).map(|cycle| activation(cycle * 10 * MS, woken_in(cycle)));
        let found = cycles(all.collect());
        assert_eq!(found.len(), 391);
        assert_eq!(found[5].run_ns, 200_000);
    }

    #[test]
    fn time_outs_of_a_wait_for_something_else_are_a_part_of_the_cycle() {
        let at = |address| Some(CallArgument::Address(address));
        let waits = |own, other| {
            let mut all = a_loop(WokenIn::Futex, &[3, 6]);
            for of in &mut all {
                let is_own = of.woken_in == WokenIn::Sleep;
                (of.woken_in, of.argument) = (WokenIn::Futex, if is_own { own } else { other });
            }
            cycles(all)
        };
        let found = waits(at(0x10), at(0x20));
        assert_eq!((found.len(), found[9].run_ns), (199, 300_000));
        for same in [at(0x10), None] {
            assert_eq!(waits(at(0x10), same).len(), 237);
        }
    }

    #[test]
    fn those_of_the_same_or_an_unknown_call_and_those_for_due_times_begin_cycles() {
        for within in [WokenIn::Sleep, WokenIn::Unknown] {
            assert_eq!(cycles(a_loop(within, &[3])).len(), 218);
        }
        let mut mixed = a_loop(WokenIn::Sleep, &[]);
        for of in mixed.iter_mut().step_by(3) {
            of.woken_in = WokenIn::Futex;
        }
        assert_eq!(cycles(mixed.clone()), mixed);
    }

    #[test]
    fn a_thread_that_polls_within_its_cycles_sleeps_for_the_next() {
        assert!(!are_for_any_event(&a_loop(WokenIn::Events, &[3])));
        let mut polls = a_loop(WokenIn::Sleep, &[]);
        for of in &mut polls {
            of.woken_in = WokenIn::Events;
        }
        assert!(are_for_any_event(&polls));
        assert!(!are_for_any_event(&[]));
    }

    #[test]
    fn without_a_period_nothing_is_put_together() {
        let mut irregular = a_loop(WokenIn::Futex, &[3, 6]);
        for (number, of) in (0_u64..).zip(&mut irregular) {
            of.programmed_ns = of.programmed_ns.map(|at| at + number * number * 37_000);
        }
        assert_eq!(cycles(irregular.clone()), irregular);
    }
}
