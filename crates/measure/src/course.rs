//! The course of a segment's loop: when it is ready, over, to be stopped or to be killed. A plain state
//! machine: observations are its input, steps its output; the caller passes the time.

use crate::plan::segment_ns;
use crate::supervisor::Heard;
use std::time::Duration;
use wakepath_archive::Obstacle;
use wakepath_measured_loop::{LoopReply, LoopSpec, ThreadEndReport, ThreadReady};

/// How long threads may take to get ready: locking and touching memory on a slow, loaded board.
pub(crate) const READY_PATIENCE: Duration = Duration::from_secs(30);
/// How long a loop may take beyond its last due time. A starved SCHED_IDLE loop is late, not dead.
pub(crate) const END_PATIENCE: Duration = Duration::from_secs(10);

/// The observations of one look.
#[derive(Debug)]
pub(crate) struct Noticed {
    /// Since the loop received its specification.
    pub(crate) at: Duration,
    /// From the loop's process.
    pub(crate) heard: Heard<LoopReply>,
    /// Whether the run shall end: the user interrupted it, or nothing more can be recorded.
    pub(crate) end_wanted: bool,
    /// Whether the guard has tripped.
    pub(crate) guard_tripped: bool,
}

/// The next step.
#[derive(Debug)]
pub(crate) enum Step {
    /// Look again.
    Wait,
    /// Tell the loop to end.
    Stop,
    /// Its threads are ready, and cycle 0 is due at this instant.
    Begin(u64, Vec<ThreadReady>),
    /// It can't run.
    Refused(Obstacle, String),
    /// Its process ended too early: before it was ready, or before it had told its end.
    Died {
        /// Whether it had been ready.
        was_ready: bool,
    },
    /// It was not ready in time.
    NotReady,
    /// All its threads have ended.
    Ended(Vec<ThreadEndReport>),
    /// It does not end.
    Overdue {
        /// Whether the guard had tripped.
        guard_tripped: bool,
    },
}

/// One loop on its way.
#[derive(Debug)]
pub(crate) struct Course {
    /// From cycle 0's lead to the last due time.
    planned: Duration,
    longest_period: Duration,
    is_ready: bool,
    is_told_to_stop: bool,
    deadline: Duration,
}

impl Course {
    /// The course of a loop that has just received its specification.
    pub(crate) fn new(spec: &LoopSpec) -> Self {
        let longest = spec.threads.iter().map(|thread| thread.period_ns).max();
        Self {
            planned: Duration::from_nanos(segment_ns(spec) + spec.lead_ns),
            longest_period: Duration::from_nanos(longest.unwrap_or(0)),
            is_ready: false,
            is_told_to_stop: false,
            deadline: READY_PATIENCE,
        }
    }

    /// What to do now. Words come before the wish to end, and both before impatience.
    pub(crate) fn step(&mut self, noticed: Noticed) -> Step {
        match noticed.heard {
            Heard::Said(LoopReply::Ready { start_ns, threads }) if !self.is_ready => {
                self.is_ready = true;
                self.deadline = noticed.at + self.still_needed();
                return Step::Begin(start_ns, threads);
            }
            Heard::Said(LoopReply::CannotRun { obstacle, reason }) if !self.is_ready => {
                return Step::Refused(obstacle, reason);
            }
            Heard::Said(LoopReply::Ended { threads }) if self.is_ready => {
                return Step::Ended(threads);
            }
            // Out of its turn: what comes next shows what became of it.
            Heard::Said(_) | Heard::Nothing => {}
            Heard::Gone => {
                return Step::Died {
                    was_ready: self.is_ready,
                };
            }
        }
        if noticed.end_wanted && !self.is_told_to_stop {
            self.is_told_to_stop = true;
            if self.is_ready {
                self.deadline = noticed.at + self.still_needed();
            }
            return Step::Stop;
        }
        if noticed.at <= self.deadline {
            return Step::Wait;
        }
        if self.is_ready {
            Step::Overdue {
                guard_tripped: noticed.guard_tripped,
            }
        } else {
            Step::NotReady
        }
    }

    fn still_needed(&self) -> Duration {
        END_PATIENCE
            + if self.is_told_to_stop {
                self.longest_period
            } else {
                self.planned
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_measured_loop::{ThreadSpec, Versions, WorkSpec};
    use wakepath_rt::{Accounting, Preparation};
    use wakepath_timeline::{Overrun, WakeUp};

    const SECOND: Duration = Duration::from_secs(1);

    /// 100 cycles of 10 ms: a second and the lead.
    fn course() -> Course {
        let thread = ThreadSpec {
            name: "loop".into(),
            period_ns: 10_000_000,
            preparation: Preparation::default(),
            work: WorkSpec::Nothing,
            wake_up: WakeUp::default(),
            overrun: Overrun::default(),
            accounting: Accounting::default(),
            counters: false,
            first_judged_cycle: 10,
            end_cycle: 100,
        };
        Course::new(&LoopSpec {
            versions: Versions::own(),
            threads: vec![thread],
            lead_ns: 0,
            guard_us: 500_000,
        })
    }

    fn at(at: Duration, heard: Heard<LoopReply>) -> Noticed {
        Noticed {
            at,
            heard,
            end_wanted: false,
            guard_tripped: false,
        }
    }

    fn ready() -> Heard<LoopReply> {
        Heard::Said(LoopReply::Ready {
            start_ns: 7,
            threads: Vec::new(),
        })
    }

    fn ended() -> Heard<LoopReply> {
        Heard::Said(LoopReply::Ended {
            threads: Vec::new(),
        })
    }

    #[test]
    fn a_loop_gets_ready_cycles_and_ends() {
        let mut course = course();
        assert!(matches!(
            course.step(at(SECOND, Heard::Nothing)),
            Step::Wait
        ));
        assert!(matches!(
            course.step(at(SECOND, ready())),
            Step::Begin(7, _)
        ));
        assert!(matches!(
            course.step(at(SECOND * 2, Heard::Nothing)),
            Step::Wait
        ));
        assert!(matches!(
            course.step(at(SECOND * 3, ended())),
            Step::Ended(_)
        ));
    }

    #[test]
    fn a_death_is_told_from_a_death_before_the_first_cycle() {
        let mut course = course();
        let died = |step| match step {
            Step::Died { was_ready } => Some(was_ready),
            _ => None,
        };
        assert_eq!(died(course.step(at(SECOND, Heard::Gone))), Some(false));
        course.step(at(SECOND, ready()));
        assert_eq!(died(course.step(at(SECOND, Heard::Gone))), Some(true));
    }

    #[test]
    fn an_end_that_was_said_counts_before_the_wish_to_end_and_before_impatience() {
        let mut course = course();
        course.step(at(SECOND, ready()));
        let late = Noticed {
            end_wanted: true,
            ..at(SECOND * 1000, ended())
        };
        assert!(matches!(course.step(late), Step::Ended(_)));
    }

    #[test]
    fn a_loop_is_told_to_stop_once_and_then_has_one_period_and_patience() {
        let mut course = course();
        course.step(at(Duration::ZERO, ready()));
        let wanted = |at_| Noticed {
            end_wanted: true,
            ..at(at_, Heard::Nothing)
        };
        assert!(matches!(course.step(wanted(Duration::ZERO)), Step::Stop));
        let least = END_PATIENCE + Duration::from_millis(10);
        assert!(matches!(course.step(wanted(least)), Step::Wait));
        let beyond = least + Duration::from_nanos(1);
        assert!(matches!(
            course.step(wanted(beyond)),
            Step::Overdue {
                guard_tripped: false
            }
        ));
    }

    #[test]
    fn who_asks_for_the_end_while_threads_get_ready_waits_for_no_cycle() {
        let mut course = course();
        let wanted = Noticed {
            end_wanted: true,
            ..at(Duration::ZERO, Heard::Nothing)
        };
        assert!(matches!(course.step(wanted), Step::Stop));
        assert!(matches!(course.step(at(SECOND, ready())), Step::Begin(..)));
        let beyond = SECOND + END_PATIENCE + Duration::from_millis(11);
        assert!(matches!(
            course.step(at(beyond, Heard::Nothing)),
            Step::Overdue { .. }
        ));
    }

    #[test]
    fn impatience_says_what_it_waited_for() {
        let beyond = READY_PATIENCE + SECOND;
        let step = course().step(at(beyond, Heard::Nothing));
        assert!(matches!(step, Step::NotReady));
        let mut course = course();
        course.step(at(Duration::ZERO, ready()));
        let spinning = Noticed {
            guard_tripped: true,
            ..at(SECOND * 12, Heard::Nothing)
        };
        assert!(matches!(
            course.step(spinning),
            Step::Overdue {
                guard_tripped: true
            }
        ));
    }

    #[test]
    fn what_is_said_out_of_turn_is_passed_over() {
        let mut course = course();
        assert!(matches!(course.step(at(SECOND, ended())), Step::Wait));
        course.step(at(SECOND, ready()));
        assert!(matches!(course.step(at(SECOND, ready())), Step::Wait));
    }
}
