//! A cycle's own work beyond the usual: page faults, system calls by name, the program's own code.
//! Each is held against what it takes in this loop's usual cycle before it is named.

use crate::cause::{Cause, RanIn};
use crate::cycle::Piece;
use crate::functions;
use crate::other_work;
use crate::resolve::{Raw, Usual};
use crate::share_out::{self, excess, give};
use crate::stacks::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use wakepath_timeline::Thread;

/// Less beyond the usual is a call's own spread, in nanoseconds.
const LEAST_NS: u64 = 2_000;

/// What else the cycle's window told.
pub(crate) struct Told<'a> {
    /// When page faults had a CPU, about.
    pub faults: &'a [Range<u64>],
    /// Their cause.
    pub faults_are: &'a Cause,
    pub frequency_changed: bool,
    /// The thread that the loop may have spun for.
    pub spins_for: Option<Thread>,
    /// Whether system calls of the loop were recorded.
    pub calls_recorded: bool,
    /// Whether stacks of the run were recorded.
    pub stacks_recorded: bool,
    /// Where in its program the loop was seen to run.
    pub ran: Vec<(u64, Arc<Place>)>,
    /// Whether the cycle holds all that the thread does until its next wake-up by a timer.
    pub may_serve_others: bool,
}

/// Whether a piece is the loop's own work.
pub(crate) fn is(piece: &Piece) -> bool {
    matches!(piece.cause, Cause::OwnCode | Cause::SystemCall(_))
}

/// The name of the call that a piece is in.
fn call_of(piece: &Piece) -> Option<&str> {
    match &piece.cause {
        Cause::SystemCall(call) => Some(&call.name),
        _ => None,
    }
}

/// Medians of each call's time in a cycle, of those that most cycles make.
pub(crate) fn usual_calls(cycles: &[Raw]) -> BTreeMap<String, u64> {
    let mut sums: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for raw in cycles {
        for (name, ns) in calls_ns(&raw.explained.execution) {
            sums.entry(name).or_default().push(ns);
        }
    }
    let medians = sums.into_iter().map(|(name, mut found)| {
        // A cycle without the call has 0 ns of it.
        found.resize(cycles.len(), 0);
        found.sort_unstable();
        (name, found[found.len().saturating_sub(1) / 2])
    });
    medians.filter(|(_, ns)| *ns > 0).collect()
}

fn calls_ns(pieces: &[Piece]) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for piece in pieces {
        if let Some(name) = call_of(piece) {
            *sums.entry(name.to_owned()).or_default() += piece.ns();
        }
    }
    sums
}

/// Names what the work took beyond the usual; the rest becomes the loop's own code.
pub(crate) fn resolve(pieces: &mut Vec<Piece>, usual: &Usual, told: Told<'_>) {
    let allowed_ns = match !told.faults.is_empty() || told.frequency_changed {
        true => usual.work_ns,
        // A quarter more is the work's own spread.
        false => usual.work_ns + usual.work_ns / 4,
    };
    let excess_ns = excess(pieces, is, usual.work_ns, allowed_ns);
    let is_user = |piece: &Piece| piece.cause == Cause::OwnCode;
    let mut named: BTreeSet<String> = BTreeSet::new();
    if excess_ns > 0 {
        let faults_ns = share_out::at(pieces, is, told.faults, excess_ns, told.faults_are);
        let mut rest_ns = excess_ns - faults_ns;
        if told.frequency_changed || faults_ns == 0 || rest_ns > usual.work_ns / 4 {
            named = name_calls(pieces, usual, &mut rest_ns);
            let beyond = match (told.spins_for, told.frequency_changed, told.calls_recorded) {
                (Some(thread), ..) => Cause::Spin(thread),
                (None, true, _) => Cause::Frequency,
                (None, false, true) => Cause::UserCode(if told.stacks_recorded {
                    RanIn::NotSeen
                } else {
                    RanIn::NotRecorded
                }),
                (None, false, false) => Cause::OwnInflation,
            };
            give(pieces, is_user, rest_ns, &beyond);
        }
    }
    // While all calls are still there.
    functions::name(pieces, &told.ran);
    if told.may_serve_others {
        other_work::name_taken(pieces, &usual.takes);
    }
    for piece in pieces.iter_mut() {
        if call_of(piece).is_some_and(|name| !named.contains(name)) {
            piece.cause = Cause::OwnCode;
        }
    }
    join(pieces);
}

/// Leaves each call, the one with the largest excess first, as much of `rest_ns` as it took beyond
/// its usual, and gives what is usual of it to the loop's own code; returns the calls that have some.
fn name_calls(pieces: &mut Vec<Piece>, usual: &Usual, rest_ns: &mut u64) -> BTreeSet<String> {
    let beyond = |(name, ns): (String, u64)| {
        let usual_ns = usual.calls_ns.get(&name).copied().unwrap_or(0);
        (ns.saturating_sub(usual_ns), ns, name)
    };
    let mut calls: Vec<_> = calls_ns(pieces).into_iter().map(beyond).collect();
    calls.sort_unstable_by(|a, b| b.cmp(a));
    let mut named = BTreeSet::new();
    for (beyond_ns, ns, name) in calls {
        let own_ns = beyond_ns.min(*rest_ns);
        // So little is the call's own spread.
        if own_ns < LEAST_NS {
            continue;
        }
        *rest_ns -= own_ns;
        let is_call = |piece: &Piece| call_of(piece) == Some(&*name);
        give(pieces, is_call, ns - own_ns, &Cause::OwnCode);
        named.insert(name);
    }
    named
}

/// Puts neighbours of one cause together.
fn join(pieces: &mut Vec<Piece>) {
    pieces.dedup_by(|next, before| {
        let same = next.cause == before.cause && next.stretch == before.stretch;
        let joined = same && next.from_ns == before.to_ns;
        if joined {
            before.to_ns = next.to_ns;
        }
        joined
    });
}
