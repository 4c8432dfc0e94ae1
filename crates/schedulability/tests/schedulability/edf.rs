//! Earliest deadline first on one CPU: published answers, and the two tests against each other.

use crate::fixed_priority::ordered;
use wakepath_schedulability::edf::{DemandTask, Verdict, demand_holds, responses};

fn longest(times: &[(u64, u64)]) -> Vec<u64> {
    let set = ordered(times);
    let tasks: Vec<usize> = (0..set.len()).collect();
    let found = responses(&set, &tasks).expect("fits").expect("no overload");
    found.into_iter().map(|each| each.expect("found")).collect()
}

#[test]
fn published_response_times() {
    assert_eq!(longest(&[(3, 12), (2, 4)]), [7, 2]);
    assert_eq!(longest(&[(2, 9), (3, 12), (2, 4)]), [8, 11, 3]);
}

#[test]
fn a_late_release_counts_with_what_it_meets() {
    // The first, due at -10, is released at 0 together with the second, whose deadline is earlier: it ends
    // at 6, 16 after it was due.
    let mut set = ordered(&[(1, 100), (5, 100)]);
    (set[0].jitter_ns, set[0].deadline_ns) = (10, 50);
    set[1].deadline_ns = 20;
    assert_eq!(responses(&set, &[0, 1]), Ok(Some(vec![Some(16), Some(5)])));
}

#[test]
fn more_work_than_time_has_no_answer() {
    let set = ordered(&[(3, 4), (2, 6)]);
    assert_eq!(responses(&set, &[0, 1]), Ok(None));
}

proptest::proptest! {
    /// The demand test accepts exactly the sets in which no response is beyond its deadline.
    #[test]
    fn responses_and_demand_agree(
        times in proptest::collection::vec((1_u64..6, 3_u64..20, 0_u64..25, 0_u64..30), 1..5)
    ) {
        let mut set = ordered(&times.iter().map(|row| (row.0, row.1.max(row.0))).collect::<Vec<_>>());
        for (task, row) in set.iter_mut().zip(&times) {
            task.deadline_ns = task.execution_ns + row.2;
            task.jitter_ns = row.3;
        }
        let demand: Vec<_> = set
            .iter()
            .map(|task| DemandTask {
                execution_ns: task.execution_ns,
                period_ns: task.period_ns(),
                deadline_ns: task.deadline_ns,
                jitter_ns: task.jitter_ns,
                blocks_ns: 0,
            })
            .collect();
        let tasks: Vec<usize> = (0..set.len()).collect();
        let verdict = demand_holds(&demand);
        match responses(&set, &tasks).expect("fits") {
            // What jitter leaves over is never caught up with on a CPU that is just full.
            None if set.iter().any(|task| task.jitter_ns > 0) => {
                proptest::prop_assert!(matches!(verdict, Verdict::Overload | Verdict::Unknown));
            }
            None => proptest::prop_assert_eq!(verdict, Verdict::Overload),
            Some(found) => {
                let all = set.iter().zip(&found).all(|(task, response)| response.expect("found") <= task.deadline_ns);
                proptest::prop_assert_eq!(verdict == Verdict::Holds, all, "{:?} {:?}", set, found);
            }
        }
    }
}
