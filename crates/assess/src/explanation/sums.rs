//! The sums of all conditions of a run, each over its repetitions.

use super::{ExplainError, Order, SegmentLoops};
use crate::judged::doubts;
use std::collections::{BTreeSet, HashMap};
use wakepath_archive::{Run, Trace, shell_word};
use wakepath_explain::{Bands, ConditionExplanation, Explained, Explainer, Totals, Usual};
use wakepath_timeline::Policy;

/// One condition of one loop, over all repetitions.
struct Condition {
    phase: String,
    condition: String,
    thread: String,
    threshold_from: String,
    threshold_is_limit: bool,
    period_ns: u64,
    sleeps_for_time: bool,
    urgency: u8,
    totals: Totals,
    usual: Option<Usual>,
    segments: HashMap<u64, u32>,
    latencies: Vec<u64>,
    uncovered: u64,
    silent_segments: u64,
    doubts: Vec<String>,
}

/// The conditions in the order in which they were first measured.
pub struct Sums {
    conditions: Vec<Condition>,
    places: HashMap<(u32, String), usize>,
}

impl Sums {
    /// Looks at all samples once: quantiles are needed before the first cycle is explained.
    ///
    /// # Errors
    /// When the run can't be read.
    pub fn new(run: &Run, order: &Order) -> Result<Self, ExplainError> {
        let mut new = Self {
            conditions: Vec::new(),
            places: HashMap::new(),
        };
        for record in &run.manifest.segments {
            let Some(trace) = Trace::open(run.directory(), record.segment)? else {
                continue;
            };
            let loops = SegmentLoops::read(run, record, &trace)?;
            for number in 0..loops.count() {
                let place = new.place(&loops, number);
                let judged = loops.samples(number).iter().filter(|s| !s.is_warm_up());
                let latencies = judged.map(|s| u64::try_from(s.latency_ns()).unwrap_or(0));
                let before = new.conditions[place].latencies.len();
                new.conditions[place].latencies.extend(latencies);
                let uncovered = loops.uncovered(number);
                new.conditions[place].uncovered += uncovered;
                let is_silent = new.conditions[place].latencies.len() == before && uncovered == 0;
                new.conditions[place].silent_segments += u64::from(is_silent);
            }
        }
        for condition in &mut new.conditions {
            let mut latencies = std::mem::take(&mut condition.latencies);
            let bands = Bands::new(&mut latencies);
            let quantile = || {
                let share = if latencies.len() < 1000 { 0.99 } else { 0.999 };
                let rank = (share * latencies.len() as f64).ceil() as usize;
                latencies.get(rank.saturating_sub(1)).copied().unwrap_or(0)
            };
            let threshold_ns = order.threshold_ns.unwrap_or_else(quantile);
            condition.threshold_is_limit = order.threshold_ns.is_some();
            condition.threshold_from = match order.threshold_ns {
                Some(_) => order.threshold_from.clone(),
                None if latencies.len() < 1000 => "99th percentile of those that ran".into(),
                None => "99.9th percentile of those that ran".into(),
            };
            let response_limit_ns = order.response_limit_ns(condition.period_ns);
            condition.totals = Totals::new(threshold_ns, response_limit_ns, order.worst, bands);
            condition.totals.not_covered = condition.uncovered;
        }
        Ok(new)
    }

    /// Adds a cycle of a segment's loop; those of the warm-up are left out, as everywhere.
    pub fn add(&mut self, loops: &SegmentLoops<'_>, number: usize, cycle: &Explained) {
        if cycle.sample.is_warm_up() {
            return;
        }
        let place = self.place(loops, number);
        let condition = &mut self.conditions[place];
        condition.totals.add(cycle);
        let kept = condition.totals.worst.iter();
        let kept = kept.chain(&condition.totals.longest);
        if kept
            .into_iter()
            .any(|kept| kept.sample.due_ns == cycle.sample.due_ns)
        {
            let segment = loops.record.segment;
            condition.segments.insert(cycle.sample.due_ns, segment);
        }
    }

    /// Keeps what was usual in the first repetition, and adds what else ran on the loops' CPUs.
    pub fn end_segment(&mut self, loops: &SegmentLoops<'_>, explainer: &Explainer) {
        let found = doubts(std::iter::once(loops.record));
        for number in 0..loops.count() {
            let place = self.place(loops, number);
            for why in &found {
                let known = &mut self.conditions[place].doubts;
                if !known.contains(why) {
                    known.push(why.clone());
                }
            }
            let usual = &mut self.conditions[place].usual;
            *usual = usual.take().or_else(|| explainer.usual(number));
            if let Some(found) = explainer.interference(number) {
                self.conditions[place].totals.interference.merge(found);
            }
        }
    }

    /// The figures of all conditions.
    pub fn conditions(&self) -> Vec<ConditionExplanation> {
        let periodic = self.conditions.iter().filter(|of| of.period_ns > 0);
        let threads = periodic.map(|of| &*of.thread).collect::<BTreeSet<&str>>();
        let figures = |condition: &Condition| ConditionExplanation {
            doubts: condition.doubts.clone(),
            silent_segments: condition.silent_segments,
            urgency: condition.urgency,
            is_periodic: condition.period_ns > 0,
            sleeps_for_time: condition.sleeps_for_time,
            threshold_is_limit: condition.threshold_is_limit,
            ..ConditionExplanation::new(
                (&condition.phase, &condition.condition, &condition.thread),
                &condition.threshold_from,
                condition.usual.clone().unwrap_or_default(),
                &condition.totals,
                tried(&condition.thread, &threads).as_deref(),
                |cycle| {
                    condition
                        .segments
                        .get(&cycle.sample.due_ns)
                        .copied()
                        .unwrap_or(0)
                },
            )
        };
        self.conditions.iter().map(figures).collect()
    }

    fn place(&mut self, loops: &SegmentLoops<'_>, number: usize) -> usize {
        let record = loops.record;
        let name = loops.name(number);
        if let Some(&place) = self.places.get(&(record.segment, name.to_owned())) {
            return place;
        }
        let is_same = |of: &Condition| {
            (&*of.phase, &*of.condition, &*of.thread) == (&*record.phase, &*record.condition, name)
        };
        let period_ns = loops.period_ns(number);
        let sleeps_for_time = loops.sleeps_for_time(number);
        let urgency = urgency(loops.policy(number));
        let place = self.conditions.iter().position(is_same).unwrap_or_else(|| {
            self.conditions.push(Condition {
                phase: record.phase.clone(),
                condition: record.condition.clone(),
                thread: name.into(),
                threshold_from: String::new(),
                threshold_is_limit: false,
                period_ns,
                sleeps_for_time,
                urgency,
                totals: Totals::new(0, 0, 0, Bands::new(&mut [])),
                usual: None,
                segments: HashMap::new(),
                latencies: Vec::new(),
                uncovered: 0,
                silent_segments: 0,
                doubts: Vec::new(),
            });
            self.conditions.len() - 1
        });
        self.places.insert((record.segment, name.to_owned()), place);
        place
    }
}

/// Priority of a policy under FIFO and RR, more under DEADLINE, 0 under the others.
pub fn urgency(policy: Policy) -> u8 {
    match policy.nearest_in_linux() {
        Policy::Fifo { priority } | Policy::RoundRobin { priority } => priority,
        Policy::Deadline { .. } => 100,
        _ => 0,
    }
}

/// The word that names a thread in commands which try a fix, if it is one of several with a period: `wakepath try` takes the
/// most urgent one otherwise.
fn tried(thread: &str, periodic: &BTreeSet<&str>) -> Option<String> {
    (periodic.len() > 1 && periodic.contains(thread)).then(|| shell_word(thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_of_several_periodic_threads_has_to_be_named() {
        let several = BTreeSet::from(["ctl", "my loop"]);
        assert_eq!(tried("my loop", &several).unwrap(), "'my loop'");
        assert_eq!(tried("log", &several), None);
        assert_eq!(tried("ctl", &BTreeSet::from(["ctl"])), None);
    }
}
