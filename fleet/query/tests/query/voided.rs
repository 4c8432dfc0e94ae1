//! Answers that count otherwise than the records are none, and questions that can't be answered are one
//! line.

use crate::fleet::Fleet;
use std::path::PathBuf;
use wakepath_fleet_archive::{catalogue, check};
use wakepath_fleet_query::{Engine, QueryError, Text, ask, named};

wakepath_test_program::tests![
    histograms_of_another_run_void_every_answer,
    a_question_that_counts_too_much_is_void,
    an_object_that_is_missing_or_torn_is_said,
    what_an_engine_can_not_answer_is_one_line,
];

fn said(fleet: &Fleet, sql: &str) -> String {
    let text = Text::new(sql).unwrap();
    let error = ask(&fleet.tables(&text), &text, &Engine::Embedded).unwrap_err();
    let said = error.to_string();
    assert!(!said.contains('\n'), "{said}");
    said
}

/// The first run's object with histograms, and the second's.
fn histograms(fleet: &Fleet) -> [PathBuf; 2] {
    let store = fleet.store();
    let all = catalogue(&store).unwrap().histograms(&store).unwrap();
    [all[0].clone(), all[1].clone()]
}

fn replace(path: &PathBuf, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn histograms_of_another_run_void_every_answer() {
    let fleet = Fleet::new();
    let [first, second] = histograms(&fleet);
    replace(&first, &std::fs::read(second).unwrap());
    for name in ["worst", "quantiles"] {
        let said = said(&fleet, named(name).unwrap().sql);
        assert!(
            said.starts_with("the answer is void: in row"),
            "{name}: {said}"
        );
    }
    let beside = said(&fleet, "SELECT MAX(upper_ns) AS worst FROM hist");
    assert!(beside.contains("void"), "{beside}");
    let store = fleet.store();
    let problems = check(&store, &catalogue(&store).unwrap()).unwrap();
    assert_eq!(problems.len(), 1, "{problems:?}");
}

fn a_question_that_counts_too_much_is_void() {
    let fleet = Fleet::new();
    // Each run twice, as a join over too little does.
    let sql = "SELECT 1 AS one, SUM(h.samples) AS counted, SUM(h.sum_ns) AS counted_sum, \
               (SELECT SUM(executed) FROM threads) AS recorded, \
               (SELECT SUM(latency_sum_ns) FROM threads) AS recorded_sum \
               FROM hist h JOIN threads t ON t.run = h.run WHERE h.metric = 'latency'";
    let said = said(&fleet, sql);
    assert!(said.contains("was counted where the records say"), "{said}");
}

fn an_object_that_is_missing_or_torn_is_said() {
    let fleet = Fleet::new();
    let [first, _] = histograms(&fleet);
    let whole = std::fs::read(&first).unwrap();
    replace(&first, &whole[..whole.len() / 2]);
    let torn = said(&fleet, named("worst").unwrap().sql);
    assert!(torn.contains("DataFusion says"), "{torn}");
    std::fs::remove_file(&first).unwrap();
    let missing = said(&fleet, named("worst").unwrap().sql);
    assert!(missing.contains("No such file"), "{missing}");
}

fn what_an_engine_can_not_answer_is_one_line() {
    let fleet = Fleet::new();
    for (sql, expected) in [
        ("SELECT nothing FROM runs", "nothing"),
        ("SELECT * FROM '/etc/passwd'", "DataFusion says"),
        ("SELECT * FROM information_schema.tables", "DataFusion says"),
        ("SELECT CAST(1 AS DECIMAL(5,2)) AS d", "CAST it"),
        ("SELECT CAST('2026-01-01' AS DATE) AS d", "CAST it"),
    ] {
        let said = said(&fleet, sql);
        assert!(said.contains(expected), "{sql}: {said}");
    }
    assert!(matches!(Text::new("SELEC 1"), Err(QueryError::Text { .. })));
}
