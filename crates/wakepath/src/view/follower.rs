//! Follows a run: keeps its state, for a live view or plain lines and for a collector of metrics.
//! It shows nothing itself.

use super::headline;
use super::lines::worst_text;
use super::live::LiveView;
use super::plain::PlainView;
use super::remaining::{Planned, Remaining};
use super::standing::{Lines, Shared, Standing, Time, Worst};
use std::path::Path;
use std::time::{Duration, Instant};
use wakepath_assess::explanation::{ExplainError, UnderWay, WorstCycle};
use wakepath_console::terminal::{OneLine, live_view_fits};
use wakepath_measure::{LiveFigures, Observer, Plan, Segment};
use wakepath_timeline::duration::three_digits;

/// The measurement that a run under way is a part of, and the parts that follow.
#[derive(Debug, Clone, Default)]
pub struct Part {
    pub of: Option<String>,
    pub after_it: Duration,
}

/// Facts about a run's phases besides its plan.
#[derive(Debug, Clone, Default)]
pub struct PhaseFacts {
    /// Time of each besides its segments.
    pub beside: Duration,
    /// Names of those that have loads.
    pub loaded: Vec<String>,
}

/// Who watches a run for a person and for collectors.
pub struct Follower {
    standing: Shared,
    part: Part,
    phase_facts: PhaseFacts,
    wants_plain: bool,
    live: Option<LiveView>,
    plain: Option<PlainView>,
    name: String,
    /// The run, once a traced segment of it was looked at.
    under_way: Option<UnderWay>,
}

impl Follower {
    /// Of a run of this name.
    pub fn new(name: &str, phase_facts: PhaseFacts, part: Part, wants_plain: bool) -> Self {
        let nothing = Remaining::new(Vec::new(), Duration::ZERO);
        Self {
            standing: Shared::new(Standing::new(Lines::Policies, Time::Run(nothing))),
            part,
            phase_facts,
            wants_plain,
            live: None,
            plain: None,
            name: name.to_owned(),
            under_way: None,
        }
    }

    /// Its state, for others to look at.
    pub fn standing(&self) -> Shared {
        self.standing.clone()
    }

    fn worst_cycle(
        &mut self,
        directory: &Path,
        segment: u32,
    ) -> Result<Option<WorstCycle>, ExplainError> {
        let under_way = match &mut self.under_way {
            Some(open) => open,
            none => none.insert(UnderWay::open(directory)?),
        };
        under_way.worst_cycle(segment)
    }

    fn time(&self, tell: impl FnOnce(&mut Remaining, Duration)) {
        let mut standing = self.standing.lock();
        let at = standing.begun.elapsed();
        if let Time::Run(remaining) = &mut standing.time {
            tell(remaining, at);
        }
    }

    fn plainly(&mut self, tell: impl FnOnce(&mut PlainView)) {
        if let Some(plain) = &mut self.plain {
            tell(plain);
        }
    }
}

fn planned(plan: &Plan, loaded: &[String]) -> Vec<Planned> {
    let phases = plan.phases.iter().enumerate();
    let segments = phases.flat_map(|(phase_run, phase)| {
        phase.segments.iter().map(move |segment| Planned {
            phase_run,
            key: (
                segment.planned.condition.clone(),
                segment.planned.phase.clone(),
            ),
            is_loaded: loaded.contains(&segment.planned.phase),
            cycles: Duration::from_nanos(segment.length_ns()),
            traced: segment.planned.traced,
        })
    });
    segments.collect()
}

fn row_of(standing: &mut Standing, segment: &Segment) -> usize {
    standing.row(&segment.planned.condition, &segment.planned.phase)
}

impl Observer for Follower {
    fn begun(&mut self, plan: &Plan, planned_ns: u64, directory: &Path) {
        self.under_way = None;
        {
            let mut standing = self.standing.lock();
            standing.what = format!("{}, {}", self.name, headline(plan));
            standing.recording = directory.in_one_line();
            standing.part.clone_from(&self.part.of);
            standing.after_it = self.part.after_it;
            standing.time = Time::Run(Remaining::new(
                planned(plan, &self.phase_facts.loaded),
                self.phase_facts.beside,
            ));
            standing.begun = Instant::now();
            for segment in plan.segments() {
                row_of(&mut standing, segment);
            }
            if plan.segments().any(|segment| segment.planned.traced) {
                standing.worst = Some(Worst {
                    latency_ns: 0,
                    text:
                        "worst traced so far: told after the first traced segment, with its cause"
                            .into(),
                });
            }
        }
        self.live = if live_view_fits(self.wants_plain) {
            LiveView::start(self.standing.clone())
        } else {
            None
        };
        if self.live.is_none() {
            self.plain = Some(PlainView::default());
        }
        self.plainly(|plain| plain.begun(plan, planned_ns, directory));
    }

    fn phase(&mut self, name: &str, repetition: u32, loads: &[String]) {
        self.time(Remaining::phase);
        let mut status = format!("phase {name}, repetition {}", repetition + 1);
        if !loads.is_empty() {
            status += &format!(": {}", loads.join(", "));
        }
        self.standing.lock().status = status;
        self.plainly(|plain| plain.phase(name, repetition, loads));
    }

    fn segment_begun(&mut self, segment: &Segment) {
        self.time(Remaining::begun);
        {
            let mut standing = self.standing.lock();
            standing.current = Some(row_of(&mut standing, segment));
            let threads = segment.loop_spec.threads.iter();
            standing.threads = threads.map(|thread| thread.name.clone()).collect();
            standing.places.clear();
        }
        self.plainly(|plain| plain.segment_begun(segment));
    }

    fn live(&mut self, figures: &LiveFigures) {
        self.standing.lock().live(figures);
        self.plainly(|plain| plain.live(figures));
    }

    fn segment_ended(&mut self, segment: &Segment, problem: Option<&str>) {
        self.time(|remaining, at| remaining.ended(at, problem.is_some()));
        {
            let mut standing = self.standing.lock();
            let row = row_of(&mut standing, segment);
            standing.ended(row, problem);
            if let Some(problem) = problem {
                let note = format!("{}: {problem}", segment.planned.condition);
                if standing.notes.last() != Some(&note) {
                    standing.notes.push(note);
                }
            }
        }
        self.plainly(|plain| plain.segment_ended(segment, problem));
    }

    fn traced(&mut self, segment: &Segment, directory: &Path) {
        match self.worst_cycle(directory, segment.planned.segment) {
            Ok(None) => {}
            Ok(Some(worst)) => {
                let planned = &segment.planned;
                let whose = format!("{}, {}", planned.condition, planned.phase);
                let cause = worst.main_cause.as_ref().map(|(cause, ns)| (&**cause, *ns));
                let text = worst_text(worst.latency_ns, cause, &whose);
                self.plainly(|plain| plain.worst(worst.latency_ns, cause));
                self.standing.lock().explained(Worst {
                    latency_ns: worst.latency_ns,
                    text,
                });
            }
            // No part of the record: the run is explained as a whole when it has ended.
            Err(error) => self.note(&format!("not explained yet: {error}")),
        }
        self.time(Remaining::traced);
    }

    fn note(&mut self, text: &str) {
        self.standing.lock().notes.push(text.to_owned());
        self.plainly(|plain| plain.note(text));
    }

    fn finishing(&mut self) {
        self.standing.lock().status = "finalising the recording".into();
        if let Some(mut live) = self.live.take() {
            live.end();
        }
        self.plainly(PlainView::finishing);
    }
}

/// A latency and what it was spent on, for a line of its own.
pub(super) fn worst_line(latency_ns: u64, cause: Option<(&str, u64)>) -> String {
    let latency = three_digits(latency_ns.cast_signed());
    // A twentieth is worth a name, as in an explanation.
    match cause.filter(|(_, ns)| ns.saturating_mul(20) >= latency_ns) {
        Some((cause, ns)) => format!(
            "{latency}, {} of it: {cause}",
            three_digits(ns.cast_signed())
        ),
        None => format!("{latency}, spent in the kernel's wake-up path"),
    }
}
