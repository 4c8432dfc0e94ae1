//! How long a run will still take: what is left to be measured, and what starting loops and loads
//! and writing traces has taken so far, as it was on this machine in this run. Pure: time is told
//! to it. It knows nothing of what is computed once the measuring is over.

use std::time::Duration;

/// Before anything was seen: starting a loop's process and locking its memory.
const START: Duration = Duration::from_millis(400);
/// Before anything was seen: starting a phase's loads, until each has worked.
const PHASE_START: Duration = Duration::from_millis(1500);
/// Before anything was seen: writing a segment's trace and finding its worst cycle.
const TRACE: Duration = Duration::from_millis(1500);

/// A segment that is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Which phase of the run it belongs to, counted over repetitions.
    pub phase_run: usize,
    /// Its policy and its phase: what can't be measured once is not tried again.
    pub key: (String, String),
    /// Its cycles' time.
    pub cycles: Duration,
    /// Whether a trace is written when it has ended.
    pub traced: bool,
}

/// The mean of what was seen, the guess counting as one of them.
#[derive(Debug, Clone, Copy)]
struct Mean {
    sum: Duration,
    count: u32,
}

impl Mean {
    fn guess(guess: Duration) -> Self {
        Self {
            sum: guess,
            count: 0,
        }
    }

    fn saw(&mut self, one: Duration) {
        // What was seen takes the guess's place.
        self.sum = if self.count == 0 { one } else { self.sum + one };
        self.count += 1;
    }

    fn mean(&self) -> Duration {
        self.sum / self.count.max(1)
    }
}

/// What is under way.
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

/// What is left of a run.
#[derive(Debug, Clone)]
pub struct Remaining {
    segments: Vec<Planned>,
    /// Segments that have ended.
    ended: usize,
    /// Keys that can't be measured here.
    lacking: Vec<(String, String)>,
    /// What each phase takes beside its segments: the kernel's own measurements.
    beside: Duration,
    start: Mean,
    phase_start: Mean,
    trace: Mean,
    now: Now,
}

impl Remaining {
    /// Of a run of these segments, whose phases each take `beside` more.
    pub fn of(segments: Vec<Planned>, beside: Duration) -> Self {
        Self {
            segments,
            ended: 0,
            lacking: Vec::new(),
            beside,
            start: Mean::guess(START),
            phase_start: Mean::guess(PHASE_START),
            trace: Mean::guess(TRACE),
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
        match self.now {
            Now::Preparing(since) => {
                let took = at.saturating_sub(since);
                self.phase_start.saw(took.saturating_sub(self.start.mean()));
            }
            Now::Starting(since) => self.start.saw(at.saturating_sub(since)),
            Now::Cycles(_) | Now::Tracing(_) => {}
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
        self.now = match is_traced {
            true => Now::Tracing(at),
            false => Now::Starting(at),
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
            self.trace.saw(at.saturating_sub(since));
            self.now = Now::Starting(at);
        }
    }

    /// Segments that have ended, and all.
    pub fn segments(&self) -> (usize, usize) {
        (self.ended, self.segments.len())
    }

    /// How long measuring will still take.
    pub fn left(&self, at: Duration) -> Duration {
        let mut left = Duration::ZERO;
        let phase_of = |number: usize| self.segments.get(number).map(|of| of.phase_run);
        let mut phase = match self.now {
            Now::Preparing(since) => {
                left += rest(self.phase_start.mean(), since, at);
                phase_of(self.ended)
            }
            _ => phase_of(self.ended.saturating_sub(1).min(self.segments.len())),
        };
        // What the phase under way takes beside its segments comes when they have ended.
        if phase.is_some() && self.ended < self.segments.len() {
            left += self.beside;
        }
        for (number, segment) in self.segments.iter().enumerate().skip(self.ended) {
            if phase != Some(segment.phase_run) {
                phase = Some(segment.phase_run);
                left += self.phase_start.mean() + self.beside;
            }
            if self.lacking.contains(&segment.key) {
                continue;
            }
            let is_first = number == self.ended;
            left += match (is_first, self.now) {
                (true, Now::Cycles(since)) => rest(segment.cycles, since, at),
                (true, Now::Starting(since)) => rest(self.start.mean(), since, at) + segment.cycles,
                _ => self.start.mean() + segment.cycles,
            };
            if segment.traced {
                left += self.trace.mean();
            }
        }
        if let Now::Tracing(since) = self.now {
            left += rest(self.trace.mean(), since, at);
        }
        left
    }
}

/// What is left of a stretch of this length that began then.
fn rest(length: Duration, since: Duration, at: Duration) -> Duration {
    length.saturating_sub(at.saturating_sub(since))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    /// A run of 2 repetitions of 2 phases with 4 policies, on a machine with these overheads in
    /// seconds; returns what was said after each segment beside what was true.
    fn said(start: f64, phase: f64, trace: f64, traced: bool) -> Vec<(f64, f64)> {
        let mut segments = Vec::new();
        for phase_run in 0..4 {
            for policy in 0..4 {
                segments.push(Planned {
                    phase_run,
                    key: (policy.to_string(), (phase_run % 2).to_string()),
                    cycles: seconds(2.0),
                    traced,
                });
            }
        }
        let mut remaining = Remaining::of(segments.clone(), Duration::ZERO);
        let (mut at, mut said) = (0.0, Vec::new());
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
                at += trace;
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
            (0.1, 0.2, 0.0, false),
            (1.9, 4.0, 0.0, false),
            (0.5, 1.0, 6.0, true),
        ] {
            let said = said(start, phase, trace, traced);
            assert!(said.last().unwrap().0 < 0.01, "{said:?}");
            for (left, truth) in &said[4..] {
                assert!((left - truth).abs() <= 0.1 * truth + 0.01, "{said:?}");
            }
        }
    }

    #[test]
    fn what_cannot_be_measured_takes_no_time() {
        let planned = |policy: &str, phase_run| Planned {
            phase_run,
            key: (policy.into(), "idle".into()),
            cycles: seconds(100.0),
            traced: false,
        };
        let segments = vec![
            planned("FIFO 80", 0),
            planned("OTHER nice 0", 0),
            planned("FIFO 80", 1),
        ];
        let mut remaining = Remaining::of(segments, Duration::ZERO);
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
            cycles: seconds(10.0),
            traced: false,
        };
        let mut remaining = Remaining::of(vec![one], Duration::ZERO);
        remaining.phase(Duration::ZERO);
        remaining.begun(seconds(1.0));
        assert_eq!(remaining.left(seconds(4.0)), seconds(7.0));
        assert_eq!(remaining.left(seconds(60.0)), Duration::ZERO);
    }
}
