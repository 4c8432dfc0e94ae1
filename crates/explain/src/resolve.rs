//! Takes this machine's usual costs out of the pieces: a cycle is late by the time beyond them. The usual is
//! measured on the run's own first cycles, never assumed.

use crate::cause::Cause;
use crate::cycle::{Explained, Piece, Stretch};
use crate::faults::Stretches;
use crate::path::WaitWithin;
use crate::placement::Placed;
use crate::share_out::{self, excess, give};
use crate::stacks::Place;
use crate::wait::Source;
use crate::{home, other_work, waits_ends, work};
use foldhash::{HashMap, HashMapExt};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wakepath_timeline::{CallArgument, Thread};

/// The usual cost of the parts that every cycle has: medians, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Usual {
    /// Due time → timer interrupt, while something ran.
    pub delivery_ns: u64,
    /// The path's own work from the timer interrupt to the expiry.
    pub interrupt_ns: u64,
    /// The path's own work from the expiry to the waking.
    pub expiry_ns: u64,
    /// The path's own work from the waking to the switch-in: the interrupt's end, without the
    /// switch.
    pub waking_ns: u64,
    /// From the last thing that ran instead to the switch-in: the scheduler and the switch.
    pub switch_ns: u64,
    /// From the switch-in to the cycle's first instruction.
    pub user_ns: u64,
    /// The cycle's own work, its system calls included.
    pub work_ns: u64,
    /// Those system calls by name that most cycles make, on the CPU.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls_ns: BTreeMap<String, u64>,
    /// Whether most cycles come due in a wait for any event. In others such a wait is a part of the cycle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_events: bool,
    /// Whether those waits have time-outs, which begin the cycles.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub times_out: bool,
    /// The argument of that call, if nearly all have the same.
    #[serde(skip)]
    pub due_at: Option<CallArgument>,
    /// Whether most cycles hold a wait for any event that something else than a timer ends: it is part of the cycle.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub serves_others: bool,
    /// Calls by which most cycles take an event that is no timer's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub takes: BTreeSet<String>,
    /// CPU of nearly all cycles, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u16>,
}

/// A cycle whose pieces still hold the usual, and what else its window told.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub explained: Explained,
    /// When page faults had a CPU, about.
    pub faults_on_the_way: Stretches,
    pub faults_in_work: Stretches,
    /// Their cause.
    pub faults_are: Cause,
    pub frequency_changed: bool,
    pub never_still: bool,
    /// What woke the thread last before the cycle was due, if that was no timer.
    pub served: Option<Source>,
    /// Whether system calls of the loop were recorded.
    pub calls_recorded: bool,
    /// As in [`crate::LoopThread`].
    pub until_next_wake_up: bool,
    /// Whether it waited for any event when it came due.
    pub awaited_events: bool,
    /// Whether it had set a time for that.
    pub timed_out: bool,
    /// That call's argument.
    pub due_at: Option<CallArgument>,
    /// As from [`crate::path::execution`].
    pub waits_within: Vec<WaitWithin>,
    /// Whether stacks of the run were recorded.
    pub stacks_recorded: bool,
    /// Where in its program it was seen to run, in the work.
    pub ran: Vec<(u64, Arc<Place>)>,
    /// The thread that it may have spun for.
    pub spins_for: Option<Thread>,
    pub placed: Placed,
}

/// A path's own work that takes more than this many times the usual is no longer attributed to the path:
/// something held the machine up in it. Below, it is noise.
const TIMES_USUAL: u64 = 2;
/// The scheduler switches threads within this on the slowest boards, in nanoseconds. What usually takes longer is the other
/// thread's work, as of one that shares the CPU and is switched out at the next tick.
const LONGEST_SWITCH_NS: u64 = 100_000;

impl Usual {
    /// The medians of some cycles.
    pub(crate) fn new(cycles: &[Raw]) -> Self {
        let median = |figure: &dyn Fn(&Explained) -> u64| {
            let figures = cycles.iter().map(|raw| figure(&raw.explained));
            let mut found: Vec<u64> = figures.filter(|&ns| ns > 0).collect();
            found.sort_unstable();
            // The lower one of an even number: half a cycle must not make the usual larger.
            found
                .get(found.len().saturating_sub(1) / 2)
                .copied()
                .unwrap_or(0)
        };
        let own = |stretch| {
            move |cycle: &Explained| {
                let pieces = cycle.latency.iter();
                pieces
                    .filter(|piece| is_own(piece, stretch))
                    .map(Piece::ns)
                    .sum()
            }
        };
        let tail = |cycle: &Explained, index: Option<usize>| {
            index.map_or(0, |index| cycle.latency[index].ns())
        };
        Self {
            delivery_ns: median(&|cycle| tail(cycle, delivery(&cycle.latency))),
            interrupt_ns: median(&own(Stretch::InterruptToExpiry)),
            expiry_ns: median(&own(Stretch::ExpiryToWaking)),
            waking_ns: median(&own(Stretch::WakingToSwitch)),
            switch_ns: Some(median(&|cycle| tail(cycle, switch(&cycle.latency))))
                .filter(|ns| *ns <= LONGEST_SWITCH_NS)
                .unwrap_or(0),
            user_ns: median(&own(Stretch::SwitchToUser)),
            work_ns: median(&|cycle| {
                let pieces = cycle.execution.iter();
                pieces.filter(|p| work::is(p)).map(Piece::ns).sum()
            }),
            calls_ns: work::usual_calls(cycles),
            awaits_events: most(cycles, |raw| raw.awaited_events),
            times_out: most(cycles, |raw| raw.awaited_events && raw.timed_out),
            due_at: usual_argument(cycles),
            serves_others: most(cycles, |raw| other_work::is_in(&raw.explained.execution)),
            takes: other_work::usually_taken(cycles),
            cpu: home::usual_cpu(cycles),
        }
    }
}

fn most(cycles: &[Raw], is_one: impl Fn(&Raw) -> bool) -> bool {
    cycles.iter().filter(|raw| is_one(raw)).count() * 2 > cycles.len()
}

/// The argument of the call in which nine cycles of ten or more come due, of those for which one is known.
fn usual_argument(cycles: &[Raw]) -> Option<CallArgument> {
    let known = || cycles.iter().filter_map(|raw| raw.due_at);
    // Boyer and Moore's vote: what more than half have is left over when others cancel it out one by one.
    let (mut likely, mut ahead) = (known().next()?, 0_usize);
    for of in known() {
        match (of == likely, ahead) {
            (true, _) => ahead += 1,
            (false, 0) => (likely, ahead) = (of, 1),
            (false, _) => ahead -= 1,
        }
    }
    let same = known().filter(|of| *of == likely).count();
    (same * 10 >= known().count() * 9).then_some(likely)
}

/// Puts the usual in its place. `previous` is the cycle before, resolved.
pub(crate) fn resolve(mut raw: Raw, usual: &Usual, previous: Option<&Explained>) -> Explained {
    let mut cycle = raw.explained;
    let pieces = &mut cycle.latency;
    give_timers_their_ends(pieces, TIMES_USUAL * usual.interrupt_ns);
    if let Some(index) = delivery(pieces) {
        keep_usual_at_end(pieces, index, usual.delivery_ns, Cause::TimerDelivery);
    }
    if let Some(index) = switch(pieces) {
        keep_usual_at_end(pieces, index, usual.switch_ns, Cause::Path);
    }
    // Not of `user_ns`, which in such a cycle is what else the thread did.
    let path_ns = TIMES_USUAL * (usual.waking_ns + usual.switch_ns);
    let served = raw.served.as_ref();
    other_work::name_before(pieces, path_ns, (previous, raw.until_next_wake_up), served);
    for (stretch, usual_ns) in [
        (Stretch::InterruptToExpiry, usual.interrupt_ns),
        (Stretch::ExpiryToWaking, usual.expiry_ns),
        (Stretch::WakingToSwitch, usual.waking_ns + usual.switch_ns),
        (Stretch::SwitchToUser, usual.user_ns),
    ] {
        let which = |piece: &Piece| is_own(piece, stretch);
        let excess_ns = excess(pieces, which, usual_ns, TIMES_USUAL * usual_ns);
        let faults_ns = match stretch {
            Stretch::SwitchToUser => share_out::at(
                pieces,
                which,
                &raw.faults_on_the_way,
                excess_ns,
                &raw.faults_are,
            ),
            _ => 0,
        };
        // If no CPU stands still, the path's own instructions took what is beyond the usual.
        if !raw.never_still {
            give(pieces, which, excess_ns - faults_ns, &Cause::NothingRan);
        }
    }
    let may_serve_others = raw.until_next_wake_up && usual.awaits_events;
    if may_serve_others && !usual.serves_others {
        raw.waits_within.retain(|wait| {
            let is_elsewhere = usual.due_at.zip(wait.argument).is_some_and(|(a, b)| a != b);
            is_elsewhere || usual.times_out && wait.is_beyond
        });
        other_work::name(&mut cycle.execution, &raw.waits_within);
    }
    let switch_ns = TIMES_USUAL * (usual.waking_ns + usual.switch_ns);
    waits_ends::give(&mut cycle.execution, switch_ns);
    let told = work::Told {
        spins_for: raw.spins_for,
        faults: &raw.faults_in_work,
        faults_are: &raw.faults_are,
        frequency_changed: raw.frequency_changed,
        calls_recorded: raw.calls_recorded,
        stacks_recorded: raw.stacks_recorded,
        ran: raw.ran,
        may_serve_others,
    };
    work::resolve(&mut cycle.execution, usual, told);
    home::name_the_move(&mut cycle, usual.cpu, &raw.placed);
    let because = || {
        previous.map_or(Cause::NoEvents, |previous| {
            overrun_of(previous, &cycle.sample)
        })
    };
    let is_overrun = |piece: &Piece| matches!(piece.cause, Cause::Overrun(_));
    if cycle.latency.iter().any(is_overrun) {
        let because = because();
        for piece in cycle.latency.iter_mut().filter(|piece| is_overrun(piece)) {
            piece.cause = Cause::Overrun(Box::new(because.clone()));
        }
    }
    cycle
}

/// Between the functions of two other timers the interrupt takes the one out of the queue and finds the next:
/// that is the first one's work, and no part of this path. What takes longer than `allowed_ns` is not.
fn give_timers_their_ends(pieces: &mut Vec<Piece>, allowed_ns: u64) {
    let other = |piece: &Piece| matches!(piece.cause, Cause::OtherTimer(_));
    let is_end = |before: &Piece, gap: &Piece, after: &Piece| {
        let unbroken = before.to_ns == gap.from_ns && gap.to_ns == after.from_ns;
        let within = before.stretch == gap.stretch && is_own(gap, after.stretch);
        other(before) && other(after) && unbroken && within && gap.ns() <= allowed_ns
    };
    let mut kept: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut all = std::mem::take(pieces).into_iter().peekable();
    while let Some(piece) = all.next() {
        match (kept.last_mut(), all.peek()) {
            (Some(before), Some(after)) if is_end(before, &piece, after) => {
                before.to_ns = piece.to_ns;
            }
            _ => kept.push(piece),
        }
    }
    *pieces = kept;
}

fn is_own(piece: &Piece, stretch: Stretch) -> bool {
    piece.stretch == stretch && piece.cause == Cause::Path
}

/// The piece right before the timer's interrupt, if something was running.
fn delivery(pieces: &[Piece]) -> Option<usize> {
    let last = pieces
        .iter()
        .rposition(|p| p.stretch == Stretch::DueToInterrupt)?;
    let cause = &pieces[last].cause;
    matches!(
        cause,
        Cause::InterruptsOff(_) | Cause::NothingRan | Cause::OwnTool(_)
    )
    .then_some(last)
}

/// The piece right before the switch-in, in which the scheduler ran in another thread's name.
fn switch(pieces: &[Piece]) -> Option<usize> {
    let last = pieces
        .iter()
        .rposition(|p| p.stretch == Stretch::WakingToSwitch)?;
    let cause = &pieces[last].cause;
    let in_its_name = match cause {
        Cause::NotPreemptible(_) | Cause::RanOn(_) | Cause::IdleExit { .. } | Cause::OwnTool(_) => {
            true
        }
        Cause::Thread { relation, .. } => *relation == crate::cause::Relation::Shared,
        _ => false,
    };
    in_its_name.then_some(last)
}

fn keep_usual_at_end(pieces: &mut Vec<Piece>, index: usize, usual_ns: u64, usually: Cause) {
    let piece = &mut pieces[index];
    if piece.ns() <= TIMES_USUAL * usual_ns {
        piece.cause = usually;
        return;
    }
    if usual_ns == 0 {
        return;
    }
    let at = piece.to_ns - usual_ns;
    let rest = Piece {
        from_ns: at,
        cause: usually,
        ..piece.clone()
    };
    piece.to_ns = at;
    pieces.insert(index + 1, rest);
}

/// Why the cycle before ran into this one's due time: the cause without which it would have been
/// in time, or the largest one, or its own work.
fn overrun_of(previous: &Explained, this: &wakepath_timeline::Sample) -> Cause {
    let mut sums: Vec<(&Cause, u64)> = Vec::new();
    // Threads by the thousand may have run, each of them a cause.
    let mut places: HashMap<&Cause, usize> = HashMap::new();
    for piece in previous.latency.iter().chain(&previous.execution) {
        if piece.cause.is_usual() {
            continue;
        }
        let place = *places.entry(&piece.cause).or_insert_with(|| {
            sums.push((&piece.cause, 0));
            sums.len() - 1
        });
        sums[place].1 += piece.ns();
    }
    let response_ns = previous
        .sample
        .end_ns
        .saturating_sub(previous.sample.due_ns);
    let allowed_ns = this.due_ns.saturating_sub(previous.sample.due_ns);
    let in_all: u64 = sums.iter().map(|(_, ns)| ns).sum();
    match sums.into_iter().max_by_key(|(_, ns)| *ns) {
        // Even undisturbed it would not have ended in time.
        Some(_) if response_ns.saturating_sub(in_all) > allowed_ns => Cause::OwnCode,
        // An overrun's cause is that of the first in the row.
        Some((Cause::Overrun(first), _)) => (**first).clone(),
        Some((cause, _)) => cause.clone(),
        None => Cause::OwnCode,
    }
}
