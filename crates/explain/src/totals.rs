//! Sums over the cycles of one condition: how often each cause, how long, at worst; the worst
//! cycles; the way that a usual and a rare cycle take. It keeps no cycle but the worst.

use crate::cause::Cause;
use crate::cycle::{Explained, Piece, Stretch};
use crate::interference::Interference;
use crate::once::Once;
use foldhash::{HashMap, HashMapExt};
use std::borrow::Cow;

/// Sums over the cycles that were added.
#[derive(Debug)]
pub struct Totals {
    /// Above this latency a cycle is late, in nanoseconds.
    pub threshold_ns: u64,
    /// A cycle whose response takes longer overran, and counts as late too; 0 without a period. In
    /// nanoseconds.
    pub response_limit_ns: u64,
    /// Cycles added.
    pub cycles: u64,
    /// Cycles without events, counted by the caller that left them out.
    pub not_covered: u64,
    /// Cycles by how they were woken.
    pub woken: HashMap<&'static str, u64>,
    /// Late cycles, those that overran included.
    pub late: u64,
    /// Cycles that overran their period.
    pub overran: u64,
    /// Time that the late cycles lost, in nanoseconds: their latency, and the work's time beyond the usual if
    /// the cycle overran. Time that holds up several cycles at once counts once.
    pub late_ns: u64,
    /// The part of it that the events explain, in nanoseconds.
    pub late_explained_ns: u64,
    /// Time that all cycles lost, likewise, in nanoseconds.
    pub all_ns: u64,
    /// The part of it that the events explain, in nanoseconds.
    pub all_explained_ns: u64,
    /// Causes of the time lost, over all cycles and over late ones.
    pub causes: HashMap<Cause, CauseSum>,
    /// Time in the work that was not spent on the work itself.
    pub inflation: HashMap<Cause, CauseSum>,
    /// Execution time of all cycles, in nanoseconds.
    pub execution_ns: u64,
    /// Everything else that ran on the loop's CPUs, added by the caller.
    pub interference: Interference,
    /// The worst cycles, by the time lost, largest first, as far as their pieces are not too many.
    pub worst: Vec<Explained>,
    worst_pieces: usize,
    /// Of all cycles, and of late ones.
    counted: [Once; 2],
    /// The cycles that took longest by themselves, the longest first.
    pub longest: Vec<Explained>,
    longest_pieces: usize,
    keep_worst: usize,
    bands: Bands,
    /// Way of the cycles around the median.
    pub median: Way,
    /// Way of the cycles around the 99.9th percentile.
    pub p999: Way,
}

/// The latencies around the median and the 99.9th percentile, in nanoseconds, ends included: the cycles in
/// them represent those percentiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bands {
    /// Around the median.
    pub median: (u64, u64),
    /// Around the 99.9th percentile; `None` for fewer than 1000 cycles.
    pub p999: Option<(u64, u64)>,
}

impl Bands {
    /// From latencies in nanoseconds: 2 % of the cycles around the median, 0.05 % around the 99.9th
    /// percentile; one cycle at least.
    pub fn new(latencies: &mut [u64]) -> Self {
        latencies.sort_unstable();
        let around = |middle: f64, half: f64| {
            let last = latencies.len().saturating_sub(1) as f64;
            let at = |share: f64| {
                let index = (share.clamp(0.0, 1.0) * last).round() as usize;
                latencies.get(index).copied().unwrap_or(0)
            };
            (at(middle - half), at(middle + half))
        };
        Self {
            median: around(0.5, 0.01),
            p999: (latencies.len() >= 1000).then(|| around(0.999, 0.000_25)),
        }
    }
}

/// One cause's figures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CauseSum {
    /// Cycles in which it had a part.
    pub cycles: u64,
    /// Late cycles in which it had a part.
    pub late_cycles: u64,
    /// Its time over all cycles, in nanoseconds.
    pub total_ns: u64,
    /// Its time over late cycles, in nanoseconds.
    pub late_ns: u64,
    /// Its largest time in one cycle, in nanoseconds.
    pub worst_ns: u64,
    /// That cycle.
    pub worst_cycle: u64,
    /// Its largest time in one late cycle, in nanoseconds.
    pub late_worst_ns: u64,
}

/// Sums of stretches and of the causes in them, over some cycles.
#[derive(Debug, Clone, Default)]
pub struct Way {
    /// Cycles in it.
    pub cycles: u64,
    /// By stretch and cause, in nanoseconds.
    pub parts: HashMap<(Stretch, Cause), u64>,
}

/// Number of longest cycles that are kept.
const LONGEST: usize = 3;
/// The worst cycles have this number of pieces together at most, the first excepted: those of a loop a second behind
/// have thousands each.
const MOST_PIECES: usize = 200_000;
/// More causes than this are put together as what they are not: names are the kernel's, and a
/// hostile one could make endless new ones.
const MOST_CAUSES: usize = 10_000;

impl Totals {
    /// Nothing added yet. `threshold_ns`: above it a cycle is late; `response_limit_ns`: beyond it a
    /// response overran, 0 for none; `keep_worst`: how many cycles to keep.
    pub fn new(threshold_ns: u64, response_limit_ns: u64, keep_worst: usize, bands: Bands) -> Self {
        Self {
            threshold_ns,
            response_limit_ns,
            cycles: 0,
            not_covered: 0,
            woken: HashMap::new(),
            late: 0,
            overran: 0,
            late_ns: 0,
            late_explained_ns: 0,
            all_ns: 0,
            all_explained_ns: 0,
            causes: HashMap::new(),
            inflation: HashMap::new(),
            execution_ns: 0,
            interference: Interference::default(),
            worst: Vec::new(),
            worst_pieces: 0,
            counted: [Once::default(), Once::default()],
            longest: Vec::new(),
            longest_pieces: 0,
            keep_worst,
            bands,
            median: Way::default(),
            p999: Way::default(),
        }
    }

    /// Adds a cycle.
    pub fn add(&mut self, cycle: &Explained) {
        let latency_ns = cycle.latency_ns();
        let overran = overran_of(cycle, self.response_limit_ns);
        let is_late = overran || latency_ns > self.threshold_ns;
        let lost: Cow<'_, [Piece]> = if overran {
            pieces_lost(cycle, overran).cloned().collect()
        } else {
            Cow::Borrowed(&cycle.latency)
        };
        let [of_all, of_late] = &mut self.counted;
        let all = of_all.take(&lost);
        let late = is_late.then(|| of_late.take(&lost));
        self.cycles += 1;
        *self.woken.entry(cycle.woken.word()).or_default() += 1;
        self.all_ns += time_of(&all);
        self.all_explained_ns += explained_of(&all);
        if let Some(late) = &late {
            self.late += 1;
            self.overran += u64::from(overran);
            self.late_ns += time_of(late);
            self.late_explained_ns += explained_of(late);
        }
        let number = cycle.sample.cycle;
        let counted = Counted {
            all: &all,
            late: late.as_deref(),
        };
        add_causes(&mut self.causes, &lost, &counted, number);
        let work = &cycle.execution[..];
        let whole = Counted {
            all: work,
            late: is_late.then_some(work),
        };
        add_causes(&mut self.inflation, work, &whole, number);
        self.execution_ns += cycle.execution.iter().map(Piece::ns).sum::<u64>();
        let within = |(low, high): (u64, u64)| (low..=high).contains(&latency_ns);
        if within(self.bands.median) {
            self.median.add(cycle);
        }
        if self.bands.p999.is_some_and(within) {
            self.p999.add(cycle);
        }
        let length = |cycle: &Explained| cycle.sample.execution_ns();
        let response_limit_ns = self.response_limit_ns;
        let time_lost = |cycle: &Explained| {
            let overran = overran_of(cycle, response_limit_ns);
            pieces_lost(cycle, overran).map(Piece::ns).sum::<u64>()
        };
        let most = self.keep_worst;
        keep(
            &mut self.worst,
            &mut self.worst_pieces,
            most,
            cycle,
            time_lost,
        );
        keep(
            &mut self.longest,
            &mut self.longest_pieces,
            most.min(LONGEST),
            cycle,
            length,
        );
    }
}

/// Whether its response took longer than the limit.
fn overran_of(cycle: &Explained, response_limit_ns: u64) -> bool {
    let response_ns = u64::try_from(cycle.sample.response_ns()).unwrap_or(0);
    response_limit_ns > 0 && response_ns > response_limit_ns
}

/// The pieces in which a cycle lost time: its latency and, if it overran, its work's time beyond the usual.
fn pieces_lost(cycle: &Explained, overran: bool) -> impl Iterator<Item = &Piece> {
    let work = cycle.execution.iter().filter(move |_| overran);
    let work = work.filter(|piece| !matches!(piece.cause, Cause::OwnCode | Cause::Awaiting));
    cycle.latency.iter().chain(work)
}

/// Keeps the `most` largest cycles in the order of `by`, the largest first, as long as they don't have too many `pieces`
/// together.
fn keep<K: Ord>(
    kept: &mut Vec<Explained>,
    pieces: &mut usize,
    most: usize,
    cycle: &Explained,
    by: impl Fn(&Explained) -> K,
) {
    let is_full = kept.len() >= most || *pieces > MOST_PIECES;
    if is_full && kept.last().is_none_or(|last| by(last) >= by(cycle)) {
        return;
    }
    let at = kept.partition_point(|known| by(known) >= by(cycle));
    kept.insert(at, cycle.clone());
    *pieces += cycle.pieces();
    while kept.len() > most || (*pieces > MOST_PIECES && kept.len() > 1) {
        let Some(least) = kept.pop() else { break };
        *pieces -= least.pieces();
    }
}

impl Way {
    fn add(&mut self, cycle: &Explained) {
        self.cycles += 1;
        for piece in &cycle.latency {
            let key = (piece.stretch, piece.cause.grouped());
            *self.parts.entry(key).or_default() += piece.ns();
        }
    }
}

/// The parts of a cycle's pieces that no earlier cycle counted.
pub(crate) struct Counted<'a> {
    /// Of all cycles.
    pub all: &'a [Piece],
    /// Of late ones; `None` of a punctual cycle.
    pub late: Option<&'a [Piece]>,
}

fn time_of(pieces: &[Piece]) -> u64 {
    pieces.iter().map(Piece::ns).sum()
}

fn explained_of(pieces: &[Piece]) -> u64 {
    let explained = pieces.iter().filter(|piece| piece.cause.is_explained());
    explained.map(Piece::ns).sum()
}

/// Adds a cycle's pieces to the sums of their causes. A cause's cycles and its longest time in one are of `pieces`, its time
/// over the cycles of those that are counted.
pub(crate) fn add_causes(
    sums: &mut HashMap<Cause, CauseSum>,
    pieces: &[Piece],
    counted: &Counted<'_>,
    cycle: u64,
) {
    let whole = by_cause(pieces);
    let ns_of = |counted: &[Piece], cause: &Cause| -> u64 {
        let mine = counted.iter().filter(|of| of.cause.grouped() == *cause);
        mine.map(Piece::ns).sum()
    };
    // Most cycles wait for no other.
    let is_whole =
        |counted: &[Piece]| counted.len() == pieces.len() && time_of(counted) == time_of(pieces);
    let [all_is_whole, late_is_whole] =
        [Some(counted.all), counted.late].map(|of| of.is_some_and(is_whole));
    for (cause, ns) in whole {
        let part = |of: &[Piece], is_whole| if is_whole { ns } else { ns_of(of, &cause) };
        let total_ns = part(counted.all, all_is_whole);
        let late_ns = counted.late.map(|of| part(of, late_is_whole));
        let cause = if sums.len() < MOST_CAUSES || sums.contains_key(&cause) {
            cause
        } else {
            Cause::NoEvents
        };
        let sum = sums.entry(cause).or_default();
        sum.cycles += 1;
        sum.total_ns += total_ns;
        if let Some(late_ns) = late_ns {
            sum.late_cycles += 1;
            sum.late_ns += late_ns;
            sum.late_worst_ns = sum.late_worst_ns.max(ns);
        }
        if ns > sum.worst_ns {
            sum.worst_ns = ns;
            sum.worst_cycle = cycle;
        }
    }
}

/// A cause that comes several times in a cycle is counted once, with its whole time.
fn by_cause(pieces: &[Piece]) -> Vec<(Cause, u64)> {
    let mut sums: Vec<(Cause, u64)> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let cause = piece.cause.grouped();
        match sums.iter_mut().find(|(of, _)| *of == cause) {
            Some((_, ns)) => *ns += piece.ns(),
            None => sums.push((cause, piece.ns())),
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::WokenBy;
    use wakepath_timeline::Sample;

    /// A cycle with this number of pieces, each of 1 µs.
    fn cycle(number: u64, pieces: u64) -> Explained {
        let piece = |at: u64| Piece {
            from_ns: at * 1_000,
            to_ns: (at + 1) * 1_000,
            stretch: Stretch::DueToInterrupt,
            cause: Cause::NothingRan,
        };
        let sample = Sample {
            cycle: number,
            wake_ns: pieces * 1_000,
            end_ns: pieces * 1_000 + 10,
            ..Sample::default()
        };
        Explained {
            sample,
            woken: WokenBy::Direct,
            latency: (0..pieces).map(piece).collect(),
            execution: Vec::new(),
        }
    }

    #[test]
    fn of_cycles_with_very_many_pieces_fewer_are_kept_and_the_worst_among_them() {
        let mut totals = Totals::new(0, 0, 1_000_000, Bands::new(&mut []));
        for number in 0..40 {
            totals.add(&cycle(number, 30_000 + number));
        }
        for number in 40..60 {
            totals.add(&cycle(number, 3));
        }
        let worst: Vec<u64> = totals.worst.iter().map(|of| of.sample.cycle).collect();
        let expected: Vec<u64> = (34..40).rev().chain(40..60).collect();
        assert_eq!(worst, expected);
        assert_eq!(totals.longest.len(), LONGEST);
        assert_eq!((totals.cycles, totals.late), (60, 60));
        totals.add(&cycle(60, MOST_PIECES as u64 + 1));
        let worst: Vec<u64> = totals.worst.iter().map(|of| of.sample.cycle).collect();
        assert_eq!(worst, [60]);
    }
}
