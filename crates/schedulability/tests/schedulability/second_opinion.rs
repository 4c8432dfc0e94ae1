//! Compares the analyses with those of the crate `response-time-analysis`, whose proofs are
//! machine-checked: never below it, and equal if both are exact. It is called through one small trait, and
//! only these tests link it.

use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::RBF;
use response_time_analysis::fixed_point::SearchResult;
use response_time_analysis::time::{Duration, Service};
use response_time_analysis::wcet::Scalar;
use response_time_analysis::{edf, fixed_priority};
use wakepath_schedulability::fixed_priority::{QuickTask, Windows, responses};
use wakepath_schedulability::sweep::Random;
use wakepath_schedulability::{Arrivals, Task, edf as our_edf};

/// Another program's bounds on the responses of one CPU's tasks, highest priority first; `None` if
/// they find none.
trait SecondOpinion {
    /// Preemptive fixed priorities, from the release, which can be later than the due time.
    fn fixed_priority(&self, tasks: &[Task]) -> Vec<Option<u64>>;
    /// Fixed priorities, no job ever preempted.
    fn not_preemptive(&self, tasks: &[Task]) -> Vec<Option<u64>>;
    /// Preemptive earliest deadline first.
    fn earliest_deadline(&self, tasks: &[Task]) -> Vec<Option<u64>>;
}

struct TheCrate;

/// Far beyond every busy window here; in builds for tests the crate tries every instant below
/// 100 000.
const LIMIT: u64 = 10_000_000;

fn arrivals(task: &Task) -> Sporadic {
    let Arrivals::Sporadic(period_ns) = task.arrivals else {
        panic!("a list of distances");
    };
    Sporadic::new(Duration::from(period_ns), Duration::from(task.jitter_ns))
}

fn execution(task: &Task) -> Scalar {
    Scalar::new(Service::from(task.execution_ns))
}

fn demand(task: &Task) -> RBF<Sporadic, Scalar> {
    RBF::new(arrivals(task), execution(task))
}

fn found(result: SearchResult) -> Option<u64> {
    result.ok().map(u64::from)
}

impl SecondOpinion for TheCrate {
    fn fixed_priority(&self, tasks: &[Task]) -> Vec<Option<u64>> {
        let demands: Vec<_> = tasks.iter().map(demand).collect();
        let one = |rank: usize| {
            found(fixed_priority::fully_preemptive::dedicated_uniproc_rta(
                &demands[rank],
                &demands[..rank],
                Duration::from(LIMIT),
            ))
        };
        (0..tasks.len()).map(one).collect()
    }

    fn not_preemptive(&self, tasks: &[Task]) -> Vec<Option<u64>> {
        use fixed_priority::fully_nonpreemptive::{TaskUnderAnalysis, dedicated_uniproc_rta};
        let demands: Vec<_> = tasks.iter().map(demand).collect();
        let one = |rank: usize| {
            let later = tasks[rank + 1..].iter().map(|task| task.execution_ns);
            let asked = TaskUnderAnalysis {
                wcet: execution(&tasks[rank]),
                arrivals: &arrivals(&tasks[rank]),
                // A job that blocks has begun one unit of time before: the crate leaves that to its caller.
                blocking_bound: Service::from(later.max().unwrap_or(0).saturating_sub(1)),
            };
            found(dedicated_uniproc_rta(
                &asked,
                &demands[..rank],
                Duration::from(LIMIT),
            ))
        };
        (0..tasks.len()).map(one).collect()
    }

    fn earliest_deadline(&self, tasks: &[Task]) -> Vec<Option<u64>> {
        use edf::fully_preemptive::{Task as Asked, dedicated_uniproc_rta};
        let demands: Vec<_> = tasks.iter().map(demand).collect();
        let asked = |place: usize| Asked {
            rbf: &demands[place],
            deadline: Duration::from(tasks[place].deadline_ns),
        };
        let one = |place: usize| {
            let others: Vec<_> = (0..tasks.len())
                .filter(|other| *other != place)
                .map(asked)
                .collect();
            found(dedicated_uniproc_rta(
                &asked(place),
                &others,
                Duration::from(LIMIT),
            ))
        };
        (0..tasks.len()).map(one).collect()
    }
}

/// A set of one to six tasks in order of priority, all of the CPU used at most, deadlines from the
/// execution to twice the period.
fn drawn(random: &mut Random, jitter: bool) -> Vec<Task> {
    let mut below = |below: u64| random.bits() % below;
    let count = 1 + below(6);
    let mut set: Vec<Task> = (0..count)
        .map(|rank| {
            let period_ns = 3 + below(60);
            let execution_ns = 1 + below(2 * period_ns / count).min(period_ns - 1);
            let mut task = Task::new(format!("task {rank}"), execution_ns, period_ns);
            task.priority = (count - rank) as u32;
            task.deadline_ns = execution_ns + below(2 * period_ns);
            task.jitter_ns = if jitter { below(period_ns) } else { 0 };
            task
        })
        .collect();
    while used(&set) > 1.0 {
        set.pop();
    }
    set
}

fn used(set: &[Task]) -> f64 {
    set.iter()
        .map(|task| task.execution_ns as f64 / task.period_ns() as f64)
        .sum()
}

fn ours(set: &[Task]) -> Vec<Option<u64>> {
    let all: Vec<usize> = (0..set.len()).collect();
    let bounds = responses(set, &all, &[]).expect("can be analysed");
    bounds.iter().map(|bound| bound.response_ns).collect()
}

#[test]
fn fixed_priorities_without_jitter_are_the_same_for_any_deadlines() {
    let mut compared = 0;
    for index in 0..3000 {
        let set = drawn(&mut Random::new(1, 0, index), false);
        assert_eq!(ours(&set), TheCrate.fixed_priority(&set), "{set:?}");
        compared += set.len();
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn with_jitter_ours_lie_between_theirs_and_theirs_after_the_longest_lag() {
    let (mut compared, mut later) = (0, 0);
    for index in 0..3000 {
        let set = drawn(&mut Random::new(2, 0, index), true);
        for ((task, ours), theirs) in set
            .iter()
            .zip(ours(&set))
            .zip(TheCrate.fixed_priority(&set))
        {
            let (Some(ours), Some(theirs)) = (ours, theirs) else {
                assert_eq!(ours, theirs, "{set:?}");
                continue;
            };
            let lag_ns = task.jitter_ns;
            assert!(
                (theirs..=theirs + lag_ns).contains(&ours),
                "{ours} {theirs} {set:?}"
            );
            // The first job of a window was due as long before its release as it can be.
            if theirs + lag_ns <= task.period_ns() {
                assert_eq!(ours, theirs + lag_ns, "{set:?}");
                compared += 1;
            }
            later += 1;
        }
    }
    assert!(compared > 1000 && later > compared, "{compared} of {later}");
}

#[test]
fn jobs_that_are_never_preempted_are_never_bounded_below_theirs() {
    let mut compared = 0;
    for index in 0..3000 {
        let mut set = drawn(&mut Random::new(3, 0, index), false);
        for task in &mut set {
            task.non_preemptive_ns = task.execution_ns;
            task.deadline_ns = task.deadline_ns.max(task.execution_ns);
        }
        for (ours, theirs) in ours(&set).into_iter().zip(TheCrate.not_preemptive(&set)) {
            if let (Some(ours), Some(theirs)) = (ours, theirs) {
                assert!(ours >= theirs, "{ours} {theirs} {set:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn responses_under_earliest_deadline_first_are_the_same() {
    let mut compared = 0;
    for index in 0..1500 {
        let set = drawn(&mut Random::new(4, 0, index), false);
        let all: Vec<usize> = (0..set.len()).collect();
        let ours = our_edf::responses(&set, &all).expect("can be analysed");
        let Some(ours) = ours else { continue };
        assert_eq!(ours, TheCrate.earliest_deadline(&set), "{set:?}");
        compared += set.len();
    }
    assert!(compared > 2500, "{compared}");
}

/// The quick form against the one with pieces, which the others are held against.
#[test]
fn the_quick_form_finds_the_same_responses() {
    let mut windows = Windows::default();
    let mut found = [0_u32; 2];
    for index in 0..5000 {
        let mut random = Random::new(5, 0, index);
        let mut set = drawn(&mut random, true);
        for task in &mut set {
            task.deadline_ns = task.deadline_ns.min(task.period_ns());
            task.blocking_ns = random.bits() % 4;
        }
        windows.clear();
        for (task, slow) in set.iter().zip(ours(&set)) {
            let quick = windows.next(&QuickTask {
                execution_ns: task.execution_ns,
                period_ns: task.period_ns(),
                deadline_ns: task.deadline_ns,
                jitter_ns: task.jitter_ns,
                blocking_ns: task.blocking_ns,
            });
            let slow = slow.filter(|response| *response <= task.deadline_ns);
            assert_eq!(quick, slow, "{task:?} of {set:?}");
            found[usize::from(quick.is_some())] += 1;
        }
    }
    assert!(found.iter().all(|count| *count > 1000), "{found:?}");
}
