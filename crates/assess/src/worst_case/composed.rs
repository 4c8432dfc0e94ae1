//! The bound composed of the longest sections of kernel code, held against what was observed: a latency
//! above it is a fault of the composition, since some section was longer than given.

use super::{BoundMetric, Bounds};
use serde::Serialize;
use wakepath_schedulability::{NoSectionsBound, Sections};

/// A composed bound. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Composed {
    /// Where the sections come from.
    pub source: String,
    /// The bound on the scheduling latency of the highest-priority thread.
    pub latency_ns: u64,
    /// Its parts, in words with the time of each; they add up to it.
    pub made_of: Vec<(String, u64)>,
    /// The largest observed latency if it is above the bound: the composition is at fault.
    pub contradicted_by_ns: Option<u64>,
}

/// Why a run has no composed bound.
#[derive(Debug, thiserror::Error)]
pub enum ComposedError {
    /// Sections bound latencies alone.
    #[error("sections of kernel code bound latencies, not {0}; give --metric latency")]
    NotLatency(&'static str),
    /// The sections make no bound.
    #[error("{source_name}: {error}")]
    NoBound {
        /// Their source.
        source_name: String,
        /// Why not.
        error: NoSectionsBound,
    },
}

impl Bounds {
    /// With the bound composed of sections that come from `source_name`.
    ///
    /// # Errors
    /// [`ComposedError`].
    pub fn with_sections(
        mut self,
        sections: &Sections,
        source_name: &str,
    ) -> Result<Self, ComposedError> {
        if self.metric != BoundMetric::Latency {
            return Err(ComposedError::NotLatency(self.metric.words()));
        }
        let largest = self
            .largest()
            .map_or(0, |one| one.examined.observed.largest);
        self.composed = Some(compose(sections, source_name, largest)?);
        // A file's sections replace the run's.
        self.recorded.clear();
        Ok(self)
    }
}

/// The bound composed of sections that come from `source_name`, held against the largest latency observed.
pub(super) fn compose(
    sections: &Sections,
    source_name: &str,
    largest: i64,
) -> Result<Composed, ComposedError> {
    let found = sections
        .latency_bound()
        .map_err(|error| ComposedError::NoBound {
            source_name: source_name.into(),
            error,
        })?;
    let waited = if sections.switch_ns > sections.preemption_off_ns {
        "the tail of a switch"
    } else {
        "preemption or interrupts off"
    };
    let mut made_of = vec![
        (waited.to_owned(), found.waited_ns),
        (
            "on the way to the scheduler".to_owned(),
            found.before_scheduler_ns,
        ),
        ("the scheduler".to_owned(), found.scheduler_ns),
    ];
    if found.after_scheduler_ns > 0 {
        made_of.push((
            "from there to the loop".to_owned(),
            found.after_scheduler_ns,
        ));
    }
    let interrupts = sections.interrupts.iter().zip(&found.interrupts);
    made_of.extend(interrupts.map(|(one, (count, ns))| match count {
        1 => (one.name.clone(), *ns),
        _ => (format!("{} ({count} times)", one.name), *ns),
    }));
    let largest = u64::try_from(largest).unwrap_or(0);
    Ok(Composed {
        source: source_name.into(),
        latency_ns: found.latency_ns,
        made_of,
        contradicted_by_ns: (largest > found.latency_ns).then_some(largest),
    })
}
