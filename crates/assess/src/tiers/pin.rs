//! How finely a pin was driven: each half period, and each tier that a thread may reach, by when the edges were
//! seen. It drives nothing.

use super::matching::Matched;
use super::served::Served;
use crate::error::AssessmentError;
use serde::Serialize;
use wakepath_archive::{Run, read_legible};
use wakepath_gpio::record::{PIN_NAME, PinRecord, PinStep};
use wakepath_scenario::{Criterion, TIERS, Tier};
use wakepath_statistics::{Distribution, Quantile};
use wakepath_timeline::{DueTimes, Sample, SampleFlags};
use wakepath_verdict::{ConditionName, Gaps, JudgedWindow, Outcome};

/// A pin that was driven by a loop and read back.
#[derive(Debug, Clone, Serialize)]
pub struct Pin {
    /// The line that was driven.
    pub drive: String,
    /// The line that its edges were seen on.
    pub read: String,
    /// The loop's policy, read back.
    pub policy: String,
    /// CPUs on which the loop ran.
    pub cpus: Vec<u16>,
    /// Differences from the request.
    pub shortfalls: Vec<String>,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// Release of the kernel.
    pub kernel: String,
    /// From the longest half period to the shortest.
    pub steps: Vec<PinStepFigures>,
    /// The tiers that a thread may reach, from the shortest to the longest.
    pub tiers: Vec<PinInTier>,
    /// The shortest half period that was kept, with every longer one; in nanoseconds.
    pub finest_kept_ns: Option<u64>,
}

/// A square wave, and how its edges came.
#[derive(Debug, Clone, Serialize)]
pub struct PinStepFigures {
    /// From one edge to the next, in nanoseconds.
    pub half_period_ns: u64,
    /// Edges that were due.
    pub due: u64,
    /// Due times at which the loop changed the line; it skips those that it is too late for.
    pub driven: u64,
    /// Edges that were seen and belong to a change.
    pub seen: u64,
    /// Edges that the kernel's buffer had no room for.
    pub dropped: u64,
    /// Edges that belong to no change of the loop's.
    pub foreign: u64,
    /// From the due time to the edge, in nanoseconds: the median.
    pub median_ns: Option<i64>,
    /// 99 % of them at most.
    pub p99_ns: Option<i64>,
    /// The largest.
    pub largest_ns: Option<i64>,
    /// By how much the time between two edges in a row differed from the half period at most, in nanoseconds.
    pub jitter_ns: Option<u64>,
    /// Time of the system call that changes the line: the median, in nanoseconds.
    pub call_ns: Option<i64>,
    /// Whether each edge came within a tenth of the half period, as a tier asks of it.
    pub outcome: Outcome,
    /// Why it is no better; empty if it is kept.
    pub why: String,
}

/// A tier, by the edges.
#[derive(Debug, Clone, Serialize)]
pub struct PinInTier {
    /// The tier's period, in nanoseconds.
    pub period_ns: u64,
    /// Half period of the wave that decides it: the longest that is no longer than the tier.
    pub by_half_period_ns: Option<u64>,
    /// Whether it is reached.
    pub outcome: Outcome,
    /// Why it is no better; empty if it is reached.
    pub why: String,
}

/// The record of a pin next to a run, each text in it one line; `None` without one.
///
/// # Errors
/// Where the file can't be read, is something else, or contradicts itself.
pub fn kept_pin(run: &Run) -> Result<Option<PinRecord>, AssessmentError> {
    let path = run.directory().join(PIN_NAME);
    let wrong = |why: String| AssessmentError::Pin {
        path: path.display().to_string(),
        why,
    };
    let text = match run.read_beside(PIN_NAME) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(None),
        Err(error) => return Err(wrong(error.to_string())),
    };
    let record: PinRecord = read_legible(&text).map_err(|error| wrong(error.to_string()))?;
    if record.steps.iter().all(PinStep::is_sound) {
        Ok(Some(record))
    } else {
        Err(wrong("its times contradict each other".into()))
    }
}

impl Pin {
    /// Judges what was recorded. In virtual time nothing is decided.
    pub fn new(record: &PinRecord, virtual_time: bool) -> Self {
        let steps: Vec<(&PinStep, Matched)> = record
            .steps
            .iter()
            .map(|step| (step, Matched::new(step)))
            .collect();
        let judged = |step: &PinStep, matched: &Matched, criterion: Criterion| {
            judged(step, matched, criterion, virtual_time)
        };
        let figures: Vec<PinStepFigures> = steps
            .iter()
            .map(|(step, matched)| {
                let judged = judged(step, matched, of_its_own(step.half_period_ns));
                figures(step, matched, judged)
            })
            .collect();
        let kept = figures
            .iter()
            .take_while(|step| step.outcome == Outcome::Passed);
        let finest_kept_ns = kept.last().map(|step| step.half_period_ns);
        let tiers = TIERS.iter().filter(|tier| tier.out_of_reach.is_none());
        let tiers = tiers.map(|tier| {
            let deciding = steps
                .iter()
                .filter(|(step, _)| step.half_period_ns <= tier.period_ns)
                .max_by_key(|(step, _)| step.half_period_ns);
            let (outcome, why) = match deciding {
                Some((step, matched)) => judged(step, matched, tier.criterion()),
                None => (Outcome::Undecided, "no wave this fast was driven".into()),
            };
            PinInTier {
                period_ns: tier.period_ns,
                by_half_period_ns: deciding.map(|(step, _)| step.half_period_ns),
                outcome,
                why,
            }
        });
        Self {
            drive: record.drive.clone(),
            read: record.read.clone(),
            policy: record.policy.clone(),
            cpus: record.cpus.clone(),
            shortfalls: record.shortfalls.clone(),
            started: record.started.clone(),
            kernel: record.kernel.clone(),
            tiers: tiers.collect(),
            steps: figures,
            finest_kept_ns,
        }
    }
}

/// A half period is a tier of its own: the edge within a tenth of it.
fn of_its_own(half_period_ns: u64) -> Criterion {
    let tier = Tier {
        period_ns: half_period_ns,
        criterion: None,
        serves: "",
        out_of_reach: None,
    };
    tier.criterion()
}

fn judged(
    step: &PinStep,
    matched: &Matched,
    criterion: Criterion,
    virtual_time: bool,
) -> (Outcome, String) {
    let mut served = Served::new(criterion);
    let window = JudgedWindow {
        due: DueTimes {
            start_ns: step.start_ns,
            period_ns: step.half_period_ns,
        },
        first_judged_cycle: 0,
        end_cycle: step.due,
        thread: 0,
        lost: 0,
        gaps: Gaps::Skipped,
    };
    served.add(window, &edges_as_samples(step, matched));
    let name = ConditionName {
        policy: None,
        phase: "pin".into(),
        task: None,
    };
    let untrusted = match (virtual_time, matched.dropped, matched.foreign) {
        (true, ..) => Some((
            Outcome::VirtualTime,
            "the time is an emulated CPU's instruction count, which can't judge a pin".into(),
        )),
        (_, _, 1..) => Some((
            Outcome::Invalid,
            format!(
                "{} arrived that wakepath did not drive: something else is connected to the line",
                edges(matched.foreign)
            ),
        )),
        (_, 1.., _) => Some((
            Outcome::Invalid,
            format!(
                "the kernel's buffer had no room for {}: their times are unknown",
                edges(matched.dropped)
            ),
        )),
        _ => None,
    };
    untrusted.unwrap_or_else(|| served.judged(&name, Outcome::NotJudged, false, String::new))
}

/// Each change whose edge was seen, as a cycle that woke and ended with it. Due times before it without an edge are
/// served by it; those after the last one are not served at all.
fn edges_as_samples(step: &PinStep, matched: &Matched) -> Vec<Sample> {
    let mut samples = Vec::new();
    let at = |cycle: u64, at_ns: u64, flags| Sample {
        cycle,
        due_ns: step.due_ns(cycle),
        wake_ns: at_ns,
        end_ns: at_ns,
        flags,
        ..Sample::default()
    };
    for (change, seen_ns) in step.driven.iter().zip(&matched.seen_ns) {
        samples.extend(seen_ns.map(|ns| at(change.cycle, ns, SampleFlags::default())));
    }
    let (next, last_ns) = samples
        .last()
        .map_or((0, 0), |last| (last.cycle + 1, last.end_ns));
    for cycle in next..step.due {
        let at_ns = step.due_ns(cycle).max(last_ns);
        samples.push(at(cycle, at_ns, SampleFlags::UNANSWERED));
    }
    samples
}

fn edges(count: u64) -> String {
    match count {
        1 => "1 edge".into(),
        many => format!("{many} edges"),
    }
}

fn figures(step: &PinStep, matched: &Matched, (outcome, why): (Outcome, String)) -> PinStepFigures {
    let since = |at_ns: u64, from_ns: u64| at_ns.wrapping_sub(from_ns).cast_signed();
    let pairs: Vec<(u64, u64)> = step
        .driven
        .iter()
        .zip(&matched.seen_ns)
        .filter_map(|(change, seen_ns)| Some((change.cycle, (*seen_ns)?)))
        .collect();
    let late = pairs
        .iter()
        .map(|&(cycle, at)| since(at, step.due_ns(cycle)));
    let late = Distribution::new(late.collect());
    let calls = step
        .driven
        .iter()
        .map(|change| since(change.ended_ns, change.begun_ns));
    let in_a_row = pairs.windows(2).filter(|two| two[1].0 == two[0].0 + 1);
    let jitter = in_a_row.map(|two| {
        let between = since(two[1].1, two[0].1);
        between.abs_diff(step.half_period_ns.cast_signed())
    });
    let quantile = |of: &Option<Distribution>, quantile| {
        let of = of.as_ref()?;
        Some(of.at(quantile))
    };
    PinStepFigures {
        half_period_ns: step.half_period_ns,
        due: step.due,
        driven: step.driven.len() as u64,
        seen: pairs.len() as u64,
        dropped: matched.dropped,
        foreign: matched.foreign,
        median_ns: quantile(&late, Quantile::P50),
        p99_ns: quantile(&late, Quantile::P99),
        largest_ns: late.as_ref().map(Distribution::max),
        jitter_ns: jitter.max(),
        call_ns: quantile(&Distribution::new(calls.collect()), Quantile::P50),
        outcome,
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_gpio::record::{DrivenEdge, Edge};

    /// A wave whose edges come `late` after their due times; `None`: neither driven nor seen.
    fn step(half_period_ns: u64, due: u64, late: impl Fn(u64) -> Option<u64>) -> PinStep {
        let start_ns = 1_000_000;
        let mut step = PinStep {
            half_period_ns,
            due,
            start_ns,
            driven: Vec::new(),
            before: 2,
            edges: Vec::new(),
        };
        for (cycle, late_ns) in (0..due).filter_map(|cycle| Some((cycle, late(cycle)?))) {
            let due_ns = start_ns + cycle * half_period_ns;
            step.driven.push(DrivenEdge {
                cycle,
                begun_ns: due_ns + late_ns / 2,
                ended_ns: due_ns + late_ns / 2 + 700,
            });
            step.edges.push(Edge {
                at_ns: due_ns + late_ns,
                number: 2 + step.driven.len() as u32,
            });
        }
        assert!(step.is_sound());
        step
    }

    fn record(steps: Vec<PinStep>) -> PinRecord {
        PinRecord {
            drive: "gpiochip0:17".into(),
            read: "gpiochip0:27".into(),
            policy: "FIFO 80".into(),
            cpus: vec![1],
            shortfalls: Vec::new(),
            started: "2026-01-01T00:00:00Z".into(),
            kernel: "6.12".into(),
            wakepath: "0".into(),
            steps,
        }
    }

    #[test]
    fn a_pin_is_as_fine_as_the_shortest_half_period_whose_tenth_its_edges_keep() {
        // 30 µs behind every due time: within a tenth of 1 ms and of 500 µs, not of 100 µs.
        let steps = [10_000_000, 1_000_000, 500_000, 100_000];
        let steps = steps.map(|half| step(half, 1000, |_| Some(30_000)));
        let pin = Pin::new(&record(steps.to_vec()), false);
        let outcomes: Vec<Outcome> = pin.steps.iter().map(|step| step.outcome).collect();
        use Outcome::{Failed, Passed};
        assert_eq!(outcomes, [Passed, Passed, Passed, Failed]);
        assert_eq!(pin.finest_kept_ns, Some(500_000));
        let first = &pin.steps[0];
        assert_eq!(
            (first.median_ns, first.largest_ns),
            (Some(30_000), Some(30_000))
        );
        assert_eq!((first.jitter_ns, first.call_ns), (Some(0), Some(700)));
        let tiers: Vec<_> = pin
            .tiers
            .iter()
            .map(|tier| tier.by_half_period_ns)
            .collect();
        assert_eq!(tiers, [Some(1_000_000), Some(10_000_000), Some(10_000_000)]);
        assert!(pin.tiers.iter().all(|tier| tier.outcome == Passed));
        let virtual_time = Pin::new(&record(steps.to_vec()), true);
        assert!(
            virtual_time
                .tiers
                .iter()
                .all(|tier| tier.outcome == Outcome::VirtualTime)
        );
        assert_eq!(virtual_time.finest_kept_ns, None);
    }

    #[test]
    fn a_due_time_without_an_edge_waits_for_the_next_and_the_last_for_ever() {
        // One in fifty is not driven: it waits 1.03 ms, too late for 1 ms and in time for 20 ms.
        let skipped = step(1_000_000, 1000, |cycle| (cycle % 50 != 7).then_some(30_000));
        let pin = Pin::new(&record(vec![skipped]), false);
        let outcomes: Vec<Outcome> = pin.tiers.iter().map(|tier| tier.outcome).collect();
        assert_eq!(
            outcomes,
            [Outcome::Failed, Outcome::Passed, Outcome::Passed]
        );
        assert_eq!((pin.steps[0].driven, pin.steps[0].seen), (980, 980));
        let silent = step(1_000_000, 1000, |cycle| (cycle < 500).then_some(30_000));
        let pin = Pin::new(&record(vec![silent]), false);
        assert!(pin.tiers.iter().all(|tier| tier.outcome == Outcome::Failed));
    }

    #[test]
    fn edges_that_were_dropped_or_that_nobody_drove_decide_nothing() {
        let mut dropped = step(1_000_000, 1000, |_| Some(30_000));
        dropped.edges.remove(500);
        let mut noisy = step(1_000_000, 1000, |_| Some(30_000));
        noisy.edges.push(Edge {
            at_ns: 1_000_000 + 999_900_000,
            number: 1003,
        });
        for (step, why) in [
            (dropped, "the kernel's buffer had no room for 1 edge:"),
            (noisy, "1 edge arrived that wakepath did not drive"),
        ] {
            let pin = Pin::new(&record(vec![step]), false);
            assert_eq!(pin.tiers[0].outcome, Outcome::Invalid);
            assert!(pin.tiers[0].why.starts_with(why), "{}", pin.tiers[0].why);
        }
        let pin = Pin::new(&record(Vec::new()), false);
        assert_eq!(pin.tiers[0].outcome, Outcome::Undecided);
    }
}
