//! Differences between a run and its plan.
//!
//! The only place that decides whether a run is complete. An incomplete run never passes.

use std::fmt;

use wakepath_timeline::count::counted;
use wakepath_timeline::one_line;

use crate::event::{Ending, When};
use crate::manifest::{Manifest, SegmentRecord};
use crate::run::{Run, State};

/// Something that a run lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortfall {
    /// A process records it now.
    UnderWay {
        /// The process, as far as `/proc/locks` shows it.
        by: String,
    },
    /// Its log was not converted.
    NotFinished,
    /// It was cut short, and recovered.
    Recovered,
    /// Someone stopped it.
    Interrupted,
    /// It could not continue.
    Failed {
        /// One line for a person.
        reason: String,
    },
    /// Its end was not recorded.
    NoEnd,
    /// Segments that were planned and never began, though the run calls itself complete.
    NeverStarted {
        /// Their number.
        segments: u64,
        /// Number of planned ones.
        planned: u64,
    },
    /// The machine was not looked at after the measurement, so that changes are unknown.
    NoLastLook,
    /// Segments that should be traced and have no trace, for example because the probe died.
    NoTrace {
        /// Their number.
        segments: u64,
    },
}

impl Run {
    /// Everything that the run lacks; empty for a complete one.
    pub fn shortfalls(&self) -> Vec<Shortfall> {
        let state = match self.state() {
            State::Finished => None,
            State::NotFinished => Some(Shortfall::NotFinished),
            State::BeingWritten { by } => Some(Shortfall::UnderWay { by: by.clone() }),
        };
        let mut found = of_manifest(&self.manifest);
        // A log that lacks something can still be recovered.
        found.retain(|of| state.is_none() || *of != Shortfall::Recovered);
        found.extend(state);
        found
    }

    /// Whether it lacks nothing.
    pub fn is_complete(&self) -> bool {
        self.shortfalls().is_empty()
    }
}

fn of_manifest(manifest: &Manifest) -> Vec<Shortfall> {
    let mut found = Vec::new();
    match &manifest.ending {
        Ending::Complete => found.extend(contradictions(manifest)),
        Ending::Interrupted => found.push(Shortfall::Interrupted),
        Ending::Failed { reason } => found.push(Shortfall::Failed {
            reason: reason.clone(),
        }),
        Ending::CutShort | Ending::Unknown => found.push(Shortfall::NoEnd),
    }
    if manifest.recovered.is_some() {
        found.push(Shortfall::Recovered);
    }
    found
}

/// Contradictions of an end that reports a complete run.
fn contradictions(manifest: &Manifest) -> impl Iterator<Item = Shortfall> {
    let begun = |number| manifest.segments.iter().any(|of| of.segment == number);
    let planned = manifest.planned.iter();
    let segments = planned.filter(|of| !begun(of.segment)).count() as u64;
    let never_started = (segments > 0).then_some(Shortfall::NeverStarted {
        segments,
        planned: manifest.planned.len() as u64,
    });
    // A recorder in the field reads them once, and another tool never.
    let looked = |when| {
        let mut looks = manifest.facts.iter();
        looks.any(|of| of.when == when && of.phase.is_none())
    };
    let no_look = looked(When::Before) && !looked(When::After);
    let has_no_trace = |of: &&SegmentRecord| {
        let was_measured = of.threads.iter().any(|thread| thread.due.start_ns != 0);
        of.traced && of.trace.is_none() && was_measured
    };
    let segments = match &manifest.tracing {
        Some(_) => manifest.segments.iter().filter(has_no_trace).count() as u64,
        None => 0,
    };
    let no_trace = (segments > 0).then_some(Shortfall::NoTrace { segments });
    let no_look = no_look.then_some(Shortfall::NoLastLook);
    never_started.into_iter().chain(no_look).chain(no_trace)
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnderWay { by } => write!(f, "the run is under way ({by})"),
            Self::NotFinished => f.write_str("the run is not in its final form"),
            Self::Recovered => {
                f.write_str("the run was cut short and recovered: the missing part can't be judged")
            }
            Self::Interrupted => f.write_str("the run was interrupted before its end"),
            Self::Failed { reason } => {
                write!(f, "the run could not continue: {}", one_line(reason))
            }
            Self::NoEnd => f.write_str("the run was cut short: it has no recorded end"),
            Self::NeverStarted { segments, planned } => write!(
                f,
                "the run is marked complete, but {} of {planned} planned never began",
                counted(*segments, "segment", "segments")
            ),
            Self::NoLastLook => f.write_str(
                "the machine's facts were not read after the run: they might have changed",
            ),
            Self::NoTrace { segments } => write!(
                f,
                "{} not traced: tracing ended early",
                counted(*segments, "segment was", "segments were")
            ),
        }
    }
}
