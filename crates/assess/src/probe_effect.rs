//! The cost of tracing: traced segments compared with the untraced ones of the same condition, measured in
//! turns. Conditions are judged by the untraced ones; nothing here is part of a verdict.

use crate::judged::doubts;
use serde::Serialize;
use wakepath_archive::{
    KernelLatency, KernelNoise, KernelSections, Run, SegmentRecord, TracingSetUp,
};
use wakepath_statistics::{Distribution, Quantile};

/// How a run was traced, and what that did to the loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbeEffect {
    /// How it was traced: backend, buffers, self-test, nanoseconds of an event.
    pub set_up: TracingSetUp,
    /// Each traced condition.
    pub conditions: Vec<TracedCondition>,
    /// The kernel's own measurement, if the scenario requests it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel_latency: Vec<KernelLatency>,
    /// What takes the CPUs away, as the kernel measured it, where the scenario asks for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel_noise: Vec<KernelNoise>,
    /// The sections that keep threads from running, as the kernel told them, where the scenario asks for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel_sections: Vec<KernelSections>,
}

/// A condition traced and untraced. Times are nanoseconds, over the judged cycles that ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TracedCondition {
    /// The condition.
    pub condition: String,
    /// The phase.
    pub phase: String,
    /// Median wake-up latency.
    pub median: Shift,
    /// 99.9 % of the wake-up latencies are at most this; `None` where either sample is too small
    /// to tell it from its maximum.
    pub p999: Option<Shift>,
    /// Events recorded each second, over the traced CPUs.
    pub events_per_second: f64,
    /// Events lost while recording.
    pub lost: u64,
    /// Oldest events overwritten because the buffer was too small.
    pub overwritten: u64,
    /// Share of one CPU that recording the events took, on the traced CPUs: events each second ×
    /// nanoseconds of an event; `None` where the latter is not known.
    pub share_of_events: Option<f64>,
    /// Share of one CPU that the probe's process took while the segments ran.
    pub share_of_reader: f64,
    /// Reasons that make the traced segments invalid, one line each: a death, lost samples, a load without
    /// proof.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// A quantile with and without tracing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shift {
    /// Over all untraced segments.
    pub untraced_ns: i64,
    /// Over all traced segments.
    pub traced_ns: i64,
    /// Least of the untraced segments, each by itself.
    pub least_untraced_ns: i64,
    /// Largest of the untraced segments, each by itself.
    pub largest_untraced_ns: i64,
}

impl Shift {
    /// Traced − untraced, in nanoseconds.
    pub fn shift_ns(&self) -> i64 {
        self.traced_ns - self.untraced_ns
    }
}

/// The probe's effect in a run; `None` if nothing was traced.
pub(crate) fn probe_effect(run: &Run) -> wakepath_archive::Result<Option<ProbeEffect>> {
    let Some(set_up) = run.manifest.tracing.clone() else {
        return Ok(None);
    };
    let mut conditions: Vec<TracedCondition> = Vec::new();
    for first in run
        .manifest
        .segments
        .iter()
        .filter(|segment| segment.traced)
    {
        let same = |segment: &&SegmentRecord| {
            segment.condition == first.condition && segment.phase == first.phase
        };
        let known = |known: &TracedCondition| {
            known.condition == first.condition && known.phase == first.phase
        };
        if conditions.iter().any(known) {
            continue;
        }
        let all: Vec<&SegmentRecord> = run.manifest.segments.iter().filter(same).collect();
        conditions.extend(condition(run, &all, set_up.ns_per_event)?);
    }
    Ok(Some(ProbeEffect {
        set_up,
        conditions,
        kernel_latency: run.manifest.kernel_latency.clone(),
        kernel_noise: run.manifest.kernel_noise.clone(),
        kernel_sections: run.manifest.kernel_sections.clone(),
    }))
}

fn condition(
    run: &Run,
    segments: &[&SegmentRecord],
    ns_per_event: Option<f64>,
) -> wakepath_archive::Result<Option<TracedCondition>> {
    let (mut traced, mut untraced, mut by_segment) = (Vec::new(), Vec::new(), Vec::new());
    // A segment that was to be traced and has no trace is neither the one nor the other.
    let whole = |segment: &&&SegmentRecord| !segment.traced || segment.trace.is_some();
    for segment in segments.iter().filter(whole) {
        let latencies = latencies(run, segment)?;
        if segment.traced {
            traced.extend(latencies)
        } else {
            untraced.extend_from_slice(&latencies);
            by_segment.extend(Distribution::new(latencies));
        }
    }
    let (Some(traced), Some(untraced)) = (Distribution::new(traced), Distribution::new(untraced))
    else {
        return Ok(None);
    };
    let shift = |quantile| {
        let of = |distribution: &Distribution| distribution.at(quantile);
        let each = by_segment.iter().map(of);
        Shift {
            untraced_ns: of(&untraced),
            traced_ns: of(&traced),
            least_untraced_ns: each.clone().min().unwrap_or_default(),
            largest_untraced_ns: each.max().unwrap_or_default(),
        }
    };
    let counts = [traced.count(), untraced.count()];
    let tells_p999 = counts.map(|count| Quantile::P999.differs_from_maximum(count));
    let traces = segments.iter().filter_map(|segment| segment.trace.as_ref());
    let sum = |of: fn(&wakepath_archive::SegmentTraced) -> u64| traces.clone().map(of).sum::<u64>();
    let seconds = sum(|trace| trace.wall_ns) as f64 / 1e9;
    let each_second = |value: f64| if seconds > 0.0 { value / seconds } else { 0.0 };
    let recorded = sum(|trace| trace.taken + trace.overwritten + trace.lost);
    let events_per_second = each_second(recorded as f64);
    Ok(Some(TracedCondition {
        condition: segments[0].condition.clone(),
        phase: segments[0].phase.clone(),
        median: shift(Quantile::P50),
        p999: (tells_p999 == [true, true]).then(|| shift(Quantile::P999)),
        events_per_second,
        lost: sum(|trace| trace.lost),
        overwritten: sum(|trace| trace.overwritten),
        share_of_events: ns_per_event.map(|ns| events_per_second * ns / 1e9),
        share_of_reader: each_second(sum(|trace| trace.cpu_time_ns) as f64 / 1e9),
        doubts: doubts(segments.iter().copied().filter(|segment| segment.traced)),
    }))
}

fn latencies(run: &Run, segment: &SegmentRecord) -> wakepath_archive::Result<Vec<i64>> {
    let mut latencies = Vec::new();
    for thread in &segment.threads {
        let samples = run.samples(segment.segment, thread.thread)?;
        let judged = samples.iter().filter(|sample| !sample.is_warm_up());
        latencies.extend(judged.map(|sample| sample.latency_ns()));
    }
    Ok(latencies)
}
