//! Checks that a run's counts add up.
//!
//! Pure: a count that doesn't is a finding, and makes a verdict on the run invalid. Callers decide
//! how to report it.

use std::fmt;

use crate::event::ThreadEnd;
use crate::manifest::{Manifest, ThreadRecord};

/// A count that does not add up, or is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountProblem {
    /// Number of the segment.
    pub segment: u32,
    /// Number of the thread.
    pub thread: u16,
    /// The fault.
    pub problem: String,
}

impl fmt::Display for CountProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "segment {}, thread {}: {}",
            self.segment, self.thread, self.problem
        )
    }
}

impl Manifest {
    /// Every count that does not add up. Lost samples that were reported as lost are not among
    /// them: those numbers add up, and the verdict interprets them.
    pub fn count_problems(&self) -> Vec<CountProblem> {
        let threads = self
            .segments
            .iter()
            .flat_map(|s| s.threads.iter().map(|t| (s.segment, t)));
        threads
            .flat_map(|(segment, thread)| {
                problems_of(thread)
                    .into_iter()
                    .map(move |problem| CountProblem {
                        segment,
                        thread: thread.thread,
                        problem,
                    })
            })
            .collect()
    }
}

fn problems_of(thread: &ThreadRecord) -> Vec<String> {
    let ThreadRecord {
        expected, recorded, ..
    } = *thread;
    let (Some(written), Some(appended), Some(lost)) =
        (thread.written, thread.appended, thread.lost)
    else {
        return vec![
            "the end of the segment is missing, so it is unknown how many samples are".to_owned(),
        ];
    };
    let mut problems = Vec::new();
    if written != appended {
        problems.push(format!(
            "the loop wrote {written} samples, the recorder took {appended}"
        ));
    }
    if appended != recorded {
        problems.push(format!(
            "the recorder appended {appended} samples, {recorded} are there"
        ));
    }
    let accounted =
        u128::from(recorded) + u128::from(lost) + u128::from(thread.skipped.unwrap_or(0));
    if accounted > u128::from(expected) {
        problems.push(format!(
            "{accounted} cycles are accounted for, only {expected} were due"
        ));
    }
    // Without a count of skipped periods, cycles missing from the archive might have been skipped.
    let all_served = thread.ended == Some(ThreadEnd::AllCycles) && thread.skipped.is_some();
    if all_served && accounted < u128::from(expected) {
        problems.push(format!(
            "{expected} cycles were due, only {accounted} are accounted for"
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use wakepath_timeline::{DueTimes, Policy};

    use super::*;

    fn thread() -> ThreadRecord {
        ThreadRecord {
            thread: 0,
            name: "loop".to_owned(),
            due: DueTimes {
                start_ns: 0,
                period_ns: 1_000_000,
            },
            requested: Policy::Fifo { priority: 80 },
            effective: crate::Effective::default(),
            cpus: vec![1],
            first_judged_cycle: 100,
            expected: 1_000,
            recorded: 990,
            lost: Some(7),
            written: Some(990),
            appended: Some(990),
            skipped: Some(3),
            page_faults: None,
            modules: Vec::new(),
            counters: None,
            on_a_core: None,
            ended: Some(ThreadEnd::AllCycles),
        }
    }

    #[test]
    fn recorded_lost_and_skipped_cycles_add_up_to_the_expected_ones() {
        assert_eq!(problems_of(&thread()), Vec::<String>::new());
    }

    #[test]
    fn a_sample_that_vanished_between_loop_and_archive_is_named() {
        let short = ThreadRecord {
            recorded: 989,
            ..thread()
        };
        let problems = problems_of(&short);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("appended 990") && problems[0].contains("989 are there"));
        assert!(problems[1].contains("only 999 are accounted for"));
    }

    #[test]
    fn more_cycles_than_were_due_do_not_add_up() {
        let long = ThreadRecord {
            expected: 995,
            ..thread()
        };
        assert!(problems_of(&long)[0].contains("1000 cycles are accounted for, only 995 were due"));
    }

    #[test]
    fn a_loop_that_stopped_early_owes_no_cycles_after_its_end() {
        let stopped = ThreadRecord {
            ended: Some(ThreadEnd::Overrun),
            expected: 60_000,
            ..thread()
        };
        assert_eq!(problems_of(&stopped), Vec::<String>::new());
    }

    #[test]
    fn an_unknown_lost_count_is_a_problem_and_not_zero() {
        let open = ThreadRecord {
            lost: None,
            ..thread()
        };
        assert!(problems_of(&open)[0].contains("unknown"));
    }
}
