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
mod tests;
