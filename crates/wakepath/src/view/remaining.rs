//! Remaining time of a run: the measurements left, and the time for starting loops and loads and
//! writing traces so far, as seen on this machine in this run. Pure: time is an argument. It does
//! not know the time of computations after the measurement.

use std::collections::BTreeMap;
use std::time::Duration;

/// Before anything of a phase was seen: starting a loop's process and locking its memory.
const START: Duration = Duration::from_millis(400);
/// Before anything of a phase was seen: starting it, without loads.
const QUIET_PHASE: Duration = Duration::from_millis(200);
/// The same, starting its loads, until each has worked.
const LOADED_PHASE: Duration = Duration::from_millis(1500);
/// Before anything of a phase was seen: writing a segment's trace and finding its worst cycle, if
/// little happens besides the loop.
const QUIET_TRACE: Duration = Duration::from_millis(400);
/// The same under loads, which fill the trace and take the CPUs from who reads it.
const LOADED_TRACE: Duration = Duration::from_millis(2000);

/// A segment that is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Which phase of the run it belongs to, counted over repetitions.
    pub phase_run: usize,
    /// Its policy and its phase: a condition that can't be measured once is not tried again.
    pub key: (String, String),
    /// Whether its phase has loads.
    pub is_loaded: bool,
    /// Its cycles' time.
    pub cycles: Duration,
    /// Whether a trace is written when it has ended.
    pub traced: bool,
}

/// What something took in each phase: under loads many times as long as without, so that what was
/// seen of one phase says nothing about another.
#[derive(Debug, Clone, Default)]
struct Took(BTreeMap<String, (Duration, u32)>);

impl Took {
    fn saw(&mut self, phase: &str, one: Duration) {
        let (sum, count) = self.0.entry(phase.to_owned()).or_default();
        *sum += one;
        *count += 1;
    }

    /// The mean of this phase so far; the guess if nothing was seen.
    fn mean(&self, phase: &str, guess: Duration) -> Duration {
        match self.0.get(phase) {
            Some((sum, count)) => *sum / *count,
            None => guess,
        }
    }
}

/// Present activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Now {
    /// The run or a phase is being prepared, since then.
    Preparing(Duration),
    /// A segment's loop is being started, since then.
    Starting(Duration),
    /// A segment's cycles run, since then.
    Cycles(Duration),
    /// Its trace is being written, since then.
    Tracing(Duration),
}

/// The rest of a run.
#[derive(Debug, Clone)]
pub struct Remaining {
    segments: Vec<Planned>,
    /// Segments that have ended.
    ended: usize,
    /// Keys that can't be measured here.
    lacking: Vec<(String, String)>,
    /// Time of each phase besides its segments: the kernel's own measurements.
    beside: Duration,
    start: Took,
    phase_start: Took,
    trace: Took,
    now: Now,
}

impl Remaining {
    /// Of a run of these segments, whose phases each take `beside` more.
    pub fn new(segments: Vec<Planned>, beside: Duration) -> Self {
        Self {
            segments,
            ended: 0,
            lacking: Vec::new(),
            beside,
            start: Took::default(),
            phase_start: Took::default(),
            trace: Took::default(),
            now: Now::Preparing(Duration::ZERO),
        }
    }

    /// A phase is being prepared; `at` is the time since the run began, here and below.
    pub fn phase(&mut self, at: Duration) {
        self.settle(at);
        self.now = Now::Preparing(at);
    }

    /// A segment's cycles begin.
    pub fn begun(&mut self, at: Duration) {
        self.settle(at);
        if let Some(segment) = self.segments.get(self.ended) {
            let phase = &segment.key.1;
            match self.now {
                Now::Preparing(since) => {
                    let took = at.saturating_sub(since);
                    let start = self.start.mean(phase, START);
                    self.phase_start.saw(phase, took.saturating_sub(start));
                }
                Now::Starting(since) => self.start.saw(phase, at.saturating_sub(since)),
                Now::Cycles(_) | Now::Tracing(_) => {}
            }
        }
        self.now = Now::Cycles(at);
    }

    /// A segment has ended; with `problem` it could not be measured.
    pub fn ended(&mut self, at: Duration, problem: bool) {
        let segment = self.segments.get(self.ended);
        if let (true, Some(segment)) = (problem, segment) {
            self.lacking.push(segment.key.clone());
        }
        let is_traced = segment.is_some_and(|segment| segment.traced) && !problem;
        self.now = if is_traced {
            Now::Tracing(at)
        } else {
            Now::Starting(at)
        };
        self.ended += 1;
    }

    /// Its trace is written and was looked at.
    pub fn traced(&mut self, at: Duration) {
        self.settle(at);
    }

    /// A trace that was being written is there.
    fn settle(&mut self, at: Duration) {
        if let Now::Tracing(since) = self.now {
            let traced = self.segments.get(self.ended.saturating_sub(1));
            if let Some(segment) = traced {
                self.trace.saw(&segment.key.1, at.saturating_sub(since));
            }
            self.now = Now::Starting(at);
        }
    }

    /// Segments that have ended, and all.
    pub fn segments(&self) -> (usize, usize) {
        (self.ended, self.segments.len())
    }

    fn start_of(&self, segment: &Planned) -> Duration {
        self.start.mean(&segment.key.1, START)
    }

    fn phase_start_of(&self, segment: &Planned) -> Duration {
        let guess = if segment.is_loaded {
            LOADED_PHASE
        } else {
            QUIET_PHASE
        };
        self.phase_start.mean(&segment.key.1, guess)
    }

    fn trace_of(&self, segment: &Planned) -> Duration {
        let guess = if segment.is_loaded {
            LOADED_TRACE
        } else {
            QUIET_TRACE
        };
        self.trace.mean(&segment.key.1, guess)
    }

    /// How long measuring will still take.
    pub fn left(&self, at: Duration) -> Duration {
        let mut left = Duration::ZERO;
        let phase_of = |number: usize| self.segments.get(number).map(|of| of.phase_run);
        let mut phase = match self.now {
            Now::Preparing(since) => {
                let next = self.segments.get(self.ended);
                let start = next.map_or(QUIET_PHASE, |next| self.phase_start_of(next));
                left += rest(start, since, at);
                phase_of(self.ended)
            }
            _ => phase_of(self.ended.saturating_sub(1).min(self.segments.len())),
        };
        // Time of the phase under way besides its segments follows their end.
        if phase.is_some() && self.ended < self.segments.len() {
            left += self.beside;
        }
        for (number, segment) in self.segments.iter().enumerate().skip(self.ended) {
            if phase != Some(segment.phase_run) {
                phase = Some(segment.phase_run);
                left += self.phase_start_of(segment) + self.beside;
            }
            if self.lacking.contains(&segment.key) {
                continue;
            }
            let is_first = number == self.ended;
            left += match (is_first, self.now) {
                (true, Now::Cycles(since)) => rest(segment.cycles, since, at),
                (true, Now::Starting(since)) => {
                    rest(self.start_of(segment), since, at) + segment.cycles
                }
                _ => self.start_of(segment) + segment.cycles,
            };
            if segment.traced {
                left += self.trace_of(segment);
            }
        }
        let traced = self.segments.get(self.ended.saturating_sub(1));
        if let (Now::Tracing(since), Some(segment)) = (self.now, traced) {
            left += rest(self.trace_of(segment), since, at);
        }
        left
    }
}

/// The rest of a stretch of this length that began then.
fn rest(length: Duration, since: Duration, at: Duration) -> Duration {
    length.saturating_sub(at.saturating_sub(since))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// A run of 2 repetitions of 2 phases with 4 policies, the second phase loaded, on a machine
    /// with these overheads in seconds, those of a trace without and with loads; returns the
    /// estimate
    /// after each segment next to the truth, at its beginning first.
    fn said(start: f64, phase: f64, trace: [f64; 2], traced: bool) -> Vec<(f64, f64)> {
        let mut segments = Vec::new();
        for phase_run in 0..4 {
            for policy in 0..4 {
                segments.push(Planned {
                    phase_run,
                    key: (policy.to_string(), (phase_run % 2).to_string()),
                    is_loaded: phase_run % 2 == 1,
                    cycles: seconds(2.0),
                    traced,
                });
            }
        }
        let mut remaining = Remaining::new(segments.clone(), Duration::ZERO);
        let mut at = 0.0;
        let mut said = vec![(at, remaining.left(Duration::ZERO).as_secs_f64())];
        for (number, segment) in segments.iter().enumerate() {
            if number % 4 == 0 {
                remaining.phase(seconds(at));
                at += phase;
            }
            at += start;
            remaining.begun(seconds(at));
            at += segment.cycles.as_secs_f64();
            remaining.ended(seconds(at), false);
            if traced {
                at += trace[usize::from(segment.is_loaded)];
                remaining.traced(seconds(at));
            }
            said.push((at, remaining.left(seconds(at)).as_secs_f64()));
        }
        said.into_iter()
            .map(|(then, left)| (left, at - then))
            .collect()
    }

    #[test]
    fn after_the_second_phase_has_begun_the_time_left_is_true_to_a_tenth() {
        for (start, phase, trace, traced) in [
            (0.1, 0.2, [0.0, 0.0], false),
            (1.9, 4.0, [0.0, 0.0], false),
            (0.5, 1.0, [6.0, 6.0], true),
            (0.3, 1.0, [0.1, 3.3], true),
        ] {
            let said = said(start, phase, trace, traced);
            assert!(said.last().unwrap().0 < 0.01, "{said:?}");
            for (left, truth) in &said[7..] {
                assert!((left - truth).abs() <= 0.1 * truth + 0.01, "{said:?}");
            }
        }
    }

    #[test]
    fn it_is_never_off_by_half_where_loads_make_traces_thirty_times_as_slow() {
        for trace in [[0.02, 0.6], [0.1, 3.3], [0.4, 0.5]] {
            for (left, truth) in said(0.3, 1.0, trace, true) {
                let low = truth / 1.5 - 0.01;
                assert!(
                    left >= low && left <= truth * 1.5,
                    "{trace:?}: {left} of {truth}"
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_measured_takes_no_time() {
        let planned = |policy: &str, phase_run| Planned {
            phase_run,
            key: (policy.into(), "idle".into()),
            is_loaded: false,
            cycles: seconds(100.0),
            traced: false,
        };
        let segments = vec![
            planned("FIFO 80", 0),
            planned("OTHER nice 0", 0),
            planned("FIFO 80", 1),
        ];
        let mut remaining = Remaining::new(segments, Duration::ZERO);
        remaining.phase(Duration::ZERO);
        assert!(remaining.left(Duration::ZERO) > seconds(300.0));
        remaining.ended(seconds(0.5), true);
        let left = remaining.left(seconds(0.5));
        assert!(left < seconds(105.0) && left > seconds(99.0), "{left:?}");
    }

    #[test]
    fn time_goes_down_while_cycles_run_and_never_below_nothing() {
        let one = Planned {
            phase_run: 0,
            key: (String::new(), String::new()),
            is_loaded: false,
            cycles: seconds(10.0),
            traced: false,
        };
        let mut remaining = Remaining::new(vec![one], Duration::ZERO);
        remaining.phase(Duration::ZERO);
        remaining.begun(seconds(1.0));
        assert_eq!(remaining.left(seconds(4.0)), seconds(7.0));
        assert_eq!(remaining.left(seconds(60.0)), Duration::ZERO);
    }
}
