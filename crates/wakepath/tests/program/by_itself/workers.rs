//! A program whose cycles move between its threads.

use crate::started::{Place, Start, built, needs_tracing};

wakepath_test_program::tests![a_loop_that_moves_between_workers_has_the_period_of_all_together];

const WHAT: &str = "watching a program whose workers take turns";

fn a_loop_that_moves_between_workers_has_the_period_of_all_together() {
    needs_tracing(WHAT);
    let _turn = super::turn();
    let place = Place::new();
    let program = built(&place, "workers", WHAT);
    let words = ["watch", "--directory", "run", "--for", "2s", "--json", "--"];
    let finished = Start::command_in(place, &words)
        .with(&[program.as_os_str()])
        .finish();
    finished.skip_unless_watched(WHAT);
    let json = finished.json();
    let threads = json["threads"].as_array().unwrap().iter();
    let workers: Vec<_> = threads
        .filter(|of| of["name"].as_str().unwrap().starts_with("worker"))
        .collect();
    assert_eq!(workers.len(), 3, "{}", finished.said());
    for worker in workers {
        let findings = worker["findings"].as_array().unwrap();
        let [finding] = &findings[..] else {
            panic!("{}", finished.said());
        };
        assert_eq!(
            (&finding["kind"], &finding["threads"]),
            (&"moves".into(), &3.into())
        );
        let together = &finding["together"];
        assert_eq!(together["period_ns"], 4_000_000, "{}", finished.said());
        let [dues, unclear] = ["dues", "unclear"].map(|key| together[key].as_u64().unwrap());
        assert!(dues > 400 && unclear * 4 < dues, "{}", finished.said());
        assert_eq!(worker["period_ns"], 4_000_000);
        assert_eq!(worker["skipped"], serde_json::Value::Null);
        let pool = worker["pool"].as_array().unwrap();
        assert!(pool.len() == 3 && pool.contains(&worker["thread_id"]));
    }
}
