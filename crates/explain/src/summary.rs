//! The explanation of a run as it is written to `explanation.json` and shown: plain figures and
//! words, for reports and scripts. It computes nothing that `Totals` does not hold.

use crate::Cause;
use crate::alike::{AlikeFigures, alike};
use crate::cycle::{Explained, Stretch};
use crate::interference::InterferenceFigures;
use crate::late_cycle::LateCycle;
use crate::ranked::{Ranked, ranked};
use crate::resolve::Usual;
use crate::totals::{Totals, Way};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The explanation of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Version of this form.
    pub version: u32,
    /// Kernel events read.
    pub events: u64,
    /// Events that the kernel reported as lost. The cycles that they touch are unexplained.
    pub events_lost: u64,
    /// Switches that the kernel did not record.
    #[serde(default)]
    pub switches_untold: u64,
    /// Those of them that gave an explained thread its CPU.
    #[serde(default)]
    pub untold_switch_ins: SwitchIns,
    /// Whether a segment does not say which processes were wakepath's own, so that whatever is called
    /// wakepath is taken for one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_by_name: bool,
    /// Events that an imported trace does not have, each with what it would show: causes of these kinds
    /// look unexplained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_in_trace: Vec<String>,
    /// Each condition in each phase, by loop thread, all repetitions together, in the order of their [`Weight`].
    ///
    /// [`Weight`]: crate::Weight
    pub conditions: Vec<ConditionExplanation>,
}

impl Explanation {
    /// Version of the form that this library writes.
    pub const VERSION: u32 = 1;
    /// Name of the file in a run directory.
    pub const FILE_NAME: &'static str = "explanation.json";
}

/// One loop thread under one condition in one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionExplanation {
    /// Phase.
    pub phase: String,
    /// Condition.
    pub condition: String,
    /// Loop thread's name.
    pub thread: String,
    /// How urgent its policy is: 0 for ordinary ones, the priority under FIFO and RR, 100 under DEADLINE; 0 in what older
    /// versions explained.
    #[serde(default)]
    pub urgency: u8,
    /// Whether its cycles have a period.
    #[serde(default)]
    pub is_periodic: bool,
    /// Whether the thread sleeps for a time after each cycle, instead of until its next due time: no due time passes
    /// while it works.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sleeps_for_time: bool,
    /// Latency above which a cycle is late, in nanoseconds.
    pub threshold_ns: u64,
    /// Where the threshold comes from.
    pub threshold_from: String,
    /// Whether the threshold is a limit that a user set, rather than a percentile of the loop's own latencies.
    #[serde(default)]
    pub threshold_is_limit: bool,
    /// Cycles with events.
    pub cycles: u64,
    /// Judged cycles whose events were not kept, or overwritten: they are not explained.
    pub not_covered: u64,
    /// Reasons why the traced segments are invalid, one line each: a death, lost samples, a load without
    /// proof.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Traced segments in which the loop did not run once in its judged time.
    #[serde(default, skip_serializing_if = "is_none")]
    pub silent_segments: u64,
    /// Cycles by how they were woken: `direct`, `deferred`, `not-asleep`, …
    pub woken: BTreeMap<String, u64>,
    /// Late cycles, those that overran included.
    pub late: u64,
    /// Cycles whose response took longer than `response_limit_ns`.
    #[serde(default, skip_serializing_if = "is_none")]
    pub overran: u64,
    /// The criterion's deadline, in nanoseconds; 0 without a period.
    #[serde(default, skip_serializing_if = "is_none")]
    pub response_limit_ns: u64,
    /// Time that the late cycles lost, in nanoseconds: their latency, and the work's time beyond the usual if
    /// the cycle overran.
    pub late_ns: u64,
    /// The part of it that is explained, in nanoseconds.
    pub late_explained_ns: u64,
    /// Time that all cycles lost, likewise, in nanoseconds.
    pub all_ns: u64,
    /// The part of it that is explained, in nanoseconds.
    pub all_explained_ns: u64,
    /// The usual costs in the first repetition.
    pub usual: Usual,
    /// Causes of the time lost: those of late cycles first, by their time in them.
    pub causes: Vec<CauseFigures>,
    /// The causes beyond those listed: every thread that ever ran is one, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causes_rest: Option<RestFigures>,
    /// All causes of the time lost, each with those like it, by their time in late cycles; at most 50.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<AlikeFigures>,
    /// What stretched the execution, by its time.
    pub inflation: Vec<CauseFigures>,
    /// What stretched it beyond those listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inflation_rest: Option<RestFigures>,
    /// Execution time of all cycles, in nanoseconds.
    pub execution_ns: u64,
    /// What else ran on the loop's CPUs, in cycles and between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference: Option<InterferenceFigures>,
    /// The worst cycles, most time lost first.
    pub worst: Vec<LateCycle>,
    /// The cycles that took longest by themselves, if the loop timed its sections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub longest: Vec<LateCycle>,
    /// Where cycles around the median spend their time.
    pub median: Option<WaterfallFigures>,
    /// Where cycles around the 99.9th percentile spend it; `None` for fewer than 1000 cycles.
    pub p999: Option<WaterfallFigures>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Switches to explained threads that the kernel did not record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SwitchIns {
    /// How many.
    pub count: u64,
    /// By how much the instant of one is uncertain at most, in nanoseconds: the time between the last event before it
    /// and the thread's first event after it.
    pub uncertain_ns: u64,
}

impl SwitchIns {
    /// Adds others.
    pub fn add(&mut self, others: Self) {
        self.count += others.count;
        self.uncertain_ns = self.uncertain_ns.max(others.uncertain_ns);
    }
}

/// One cause's figures in a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseFigures {
    /// Kind of cause, for scripts: `softirq`, `thread`, `timer-slack`, …
    pub kind: String,
    /// As a person reads it.
    pub cause: String,
    /// Of a consequence of another cause, such as an overrun, that cause, as a person reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
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
    /// That cycle's number.
    pub worst_cycle: u64,
    /// Its largest time in one late cycle, in nanoseconds; 0 in what older versions explained.
    #[serde(default)]
    pub late_worst_ns: u64,
    /// The fix, if something fits.
    pub remedy: Option<String>,
}

/// The causes that are not listed one by one, together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestFigures {
    /// How many there are.
    pub causes: u64,
    /// Their time over all cycles, in nanoseconds.
    pub total_ns: u64,
    /// Their time over late cycles, in nanoseconds.
    pub late_ns: u64,
    /// The largest time of one of them in one cycle, in nanoseconds.
    pub worst_ns: u64,
}

/// Causes that are listed one by one.
const MOST_LISTED: usize = 50;

/// Where some cycles spend their latency, in the mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WaterfallFigures {
    /// Cycles in the mean.
    pub cycles: u64,
    /// Their mean latency in nanoseconds.
    pub mean_ns: f64,
    /// By stretch and cause, in the order of the path.
    pub parts: Vec<StretchFigures>,
}

/// One part of a waterfall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StretchFigures {
    /// Part of the wake-up path.
    pub stretch: String,
    /// Kind of cause.
    pub kind: String,
    /// As a person reads it.
    pub cause: String,
    /// Mean time in nanoseconds.
    pub mean_ns: f64,
}

impl ConditionExplanation {
    /// A condition's figures. `segment_of` gives the segment of the n-th worst cycle; `tried` is the thread that the
    /// commands which try a fix have to name, as a word of a shell.
    pub fn new(
        (phase, condition, thread): (&str, &str, &str),
        threshold_from: &str,
        usual: Usual,
        totals: &Totals,
        tried: Option<&str>,
        segment_of: impl Fn(&Explained) -> u32,
    ) -> Self {
        let woken = totals.woken.iter();
        let causes = ranked(&totals.causes, tried);
        let mut alike = alike(&causes);
        alike.truncate(MOST_LISTED);
        let figures = |all: Vec<Ranked<'_>>| all.into_iter().map(|of| of.figures).collect();
        let (causes, causes_rest) = listed(figures(causes));
        let mut inflation = ranked(&totals.inflation, tried);
        inflation.retain(|of| *of.cause != Cause::OwnCode);
        let (inflation, inflation_rest) = listed(figures(inflation));
        Self {
            phase: phase.into(),
            condition: condition.into(),
            thread: thread.into(),
            urgency: 0,
            is_periodic: false,
            sleeps_for_time: false,
            threshold_ns: totals.threshold_ns,
            threshold_from: threshold_from.into(),
            threshold_is_limit: false,
            cycles: totals.cycles,
            not_covered: totals.not_covered,
            doubts: Vec::new(),
            silent_segments: 0,
            woken: woken
                .map(|(word, count)| ((*word).into(), *count))
                .collect(),
            late: totals.late,
            overran: totals.overran,
            response_limit_ns: totals.response_limit_ns,
            late_ns: totals.late_ns,
            late_explained_ns: totals.late_explained_ns,
            all_ns: totals.all_ns,
            all_explained_ns: totals.all_explained_ns,
            usual,
            causes,
            causes_rest,
            alike,
            inflation,
            inflation_rest,
            execution_ns: totals.execution_ns,
            interference: totals.interference.figures(),
            worst: totals
                .worst
                .iter()
                .map(|cycle| LateCycle::new(cycle, segment_of(cycle)))
                .collect(),
            longest: totals
                .longest
                .iter()
                .map(|cycle| LateCycle::new(cycle, segment_of(cycle)))
                .collect(),
            median: WaterfallFigures::new(&totals.median),
            p999: WaterfallFigures::new(&totals.p999),
        }
    }
}

impl WaterfallFigures {
    fn new(way: &Way) -> Option<Self> {
        if way.cycles == 0 {
            return None;
        }
        let mut parts: Vec<_> = way.parts.iter().collect();
        parts.sort_by_cached_key(|((stretch, cause), ns)| {
            (*stretch, std::cmp::Reverse(**ns), cause.kind())
        });
        let cycles = way.cycles as f64;
        let total: u64 = way.parts.values().sum();
        Some(Self {
            cycles: way.cycles,
            mean_ns: total as f64 / cycles,
            parts: parts
                .into_iter()
                .map(|((stretch, cause), ns)| StretchFigures {
                    stretch: stretch_name(*stretch),
                    kind: cause.kind().into(),
                    cause: cause.to_string(),
                    mean_ns: *ns as f64 / cycles,
                })
                .collect(),
        })
    }
}

/// The first ones, and what the others are together.
fn listed(mut ranked: Vec<CauseFigures>) -> (Vec<CauseFigures>, Option<RestFigures>) {
    let beyond = ranked.split_off(ranked.len().min(MOST_LISTED));
    let sum = |of: fn(&CauseFigures) -> u64| beyond.iter().map(of).sum();
    let rest = (!beyond.is_empty()).then(|| RestFigures {
        causes: beyond.len() as u64,
        total_ns: sum(|cause| cause.total_ns),
        late_ns: sum(|cause| cause.late_ns),
        worst_ns: beyond.iter().map(|cause| cause.worst_ns).max().unwrap_or(0),
    });
    (ranked, rest)
}

fn stretch_name(stretch: Stretch) -> String {
    stretch.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_in_the_rest_to_the_nanosecond() {
        let figures = |number: u64| CauseFigures {
            kind: "thread".into(),
            cause: format!("thread {number}"),
            because: None,
            cycles: 1,
            late_cycles: 1,
            total_ns: number + 7,
            late_ns: number,
            worst_ns: number,
            worst_cycle: 0,
            late_worst_ns: number,
            remedy: None,
        };
        let all: Vec<CauseFigures> = (0..60).rev().map(figures).collect();
        let (first, rest) = listed(all);
        assert_eq!((first.len(), first[49].late_ns), (50, 10));
        let rest = rest.unwrap();
        // 0 + 1 + … + 9.
        assert_eq!(
            (rest.causes, rest.late_ns, rest.total_ns),
            (10, 45, 45 + 70)
        );
        assert_eq!(rest.worst_ns, 9);
        assert_eq!(listed(vec![figures(1)]), (vec![figures(1)], None));
    }
}
