//! The engine in this program.

use crate::fleet::{Fleet, at};
use wakepath_fleet_archive::{Board, Retention, SealTerms, add, catalogue, sweep};
use wakepath_fleet_made_up::MadeUp;
use wakepath_fleet_query::{NAMED, Value, named};

wakepath_test_program::tests![
    quantiles_are_those_of_the_formula_by_nearest_rank,
    the_worst_is_the_largest_of_all_due_times,
    misses_are_counted_and_bounded,
    boards_that_exceeded_are_named_with_their_first_day,
    quantiles_from_the_samples_are_those_of_the_cycles_that_ran,
    samples_counted_by_value_are_those_of_the_view,
    samples_that_retention_took_are_not_missed,
    an_empty_archive_answers_nothing_and_is_no_error,
    a_question_of_ones_own_is_answered_and_counted_beside,
    hostile_names_and_texts_change_no_answer,
];

fn sql(name: &str) -> &'static str {
    named(name).unwrap().sql
}

fn quantiles_are_those_of_the_formula_by_nearest_rank() {
    let fleet = Fleet::new();
    let answered = fleet.ask(sql("quantiles"));
    let answer = answered.answer;
    assert_eq!(answer.rows.len(), 4);
    assert!(
        answered.checked.starts_with("all 24000 counts"),
        "{}",
        answered.checked
    );
    for row in &answer.rows {
        let cell = |name: &str| &row[answer.column(name).unwrap()];
        let latencies = fleet.latencies(&cell("board").shown(), &cell("kernel").shown());
        assert_eq!(cell("due").integer(), Some(latencies.len() as i64));
        for (name, numerator, denominator) in [
            ("p50_ns", 1, 2),
            ("p99_ns", 99, 100),
            ("p999_ns", 999, 1000),
            ("p9999_ns", 9999, 10_000),
            ("p99999_ns", 99_999, 100_000),
            ("max_ns", 1, 1),
        ] {
            let expected = at(&latencies, numerator, denominator);
            assert_eq!(cell(name).integer(), Some(expected), "{name}");
        }
        assert_eq!(cell("exact"), &Value::Flag(true));
    }
}

fn the_worst_is_the_largest_of_all_due_times() {
    let fleet = Fleet::new();
    let answer = fleet.ask(sql("worst")).answer;
    let worst = answer.column("worst_ns").unwrap();
    for row in &answer.rows {
        let latencies = fleet.latencies(&row[1].shown(), &row[0].shown());
        assert_eq!(row[worst].integer(), latencies.last().copied());
        assert_eq!(row[2].integer(), Some(3));
    }
    assert!(
        answer
            .rows
            .is_sorted_by_key(|row| -row[worst].integer().unwrap())
    );
    assert_eq!(
        answer.column("counted"),
        None,
        "the columns of the check are not shown"
    );
}

fn misses_are_counted_and_bounded() {
    let fleet = Fleet::new();
    let answer = fleet.ask(sql("misses")).answer;
    let cell = |row: &[Value], name: &str| row[answer.column(name).unwrap()].clone();
    for row in &answer.rows {
        let latencies = fleet.latencies(&row[1].shown(), &row[0].shown());
        // By their latency; a response can't be late without one here.
        let missed = latencies
            .iter()
            .filter(|&&latency| latency > 100_000)
            .count();
        assert!(missed > 0);
        assert_eq!(cell(row, "missed").integer(), Some(missed as i64));
        let Value::Real(bound) = cell(row, "missed_share_at_most") else {
            panic!("no bound");
        };
        let share = missed as f64 / latencies.len() as f64;
        assert!(share < bound && bound < 2.0 * share, "{bound} {share}");
    }
}

fn boards_that_exceeded_are_named_with_their_first_day() {
    let fleet = Fleet::new();
    let answer = fleet.ask(sql("exceeded")).answer;
    assert_eq!(answer.rows.len(), 2);
    let first = answer.column("first_exceeded").unwrap();
    assert_eq!(answer.rows[0][first].shown(), "2026-11-01T00:00:00Z");
}

fn quantiles_from_the_samples_are_those_of_the_cycles_that_ran() {
    let fleet = Fleet::new();
    let answer = fleet.ask(sql("sample-quantiles")).answer;
    assert_eq!(answer.rows.len(), 12);
    for row in &answer.rows {
        let (_, run) = fleet
            .runs
            .iter()
            .find(|(_, run)| run.run_id == row[1].shown())
            .unwrap();
        let mut latencies: Vec<i64> = (0..2)
            .flat_map(|thread| run.samples(thread))
            .filter(|sample| !sample.is_warm_up())
            .map(|sample| sample.latency_ns())
            .collect();
        latencies.sort_unstable();
        let p999 = row[answer.column("p999_ns").unwrap()].integer();
        assert_eq!(p999, Some(at(&latencies, 999, 1000)));
    }
}

fn samples_counted_by_value_are_those_of_the_view() {
    let fleet = Fleet::new();
    // The table's definition, as a cluster evaluates it.
    let view = "SELECT run, segment, thread, latency_ns, COUNT(*) AS samples FROM samples \
                WHERE (COALESCE(flags, 0) & 1) = 0 AND latency_ns IS NOT NULL \
                GROUP BY run, segment, thread, latency_ns \
                ORDER BY run, segment, thread, latency_ns";
    let table = "SELECT run, segment, thread, latency_ns, samples FROM sample_hist \
                 ORDER BY run, segment, thread, latency_ns";
    let (view, table) = (fleet.ask(view), fleet.ask(table));
    assert_eq!(view.answer, table.answer);
    assert!(
        table.answer.rows.len() > 1000,
        "{}",
        table.answer.rows.len()
    );
    assert!(
        table.checked.contains("samples was counted"),
        "{}",
        table.checked
    );
    let some = fleet
        .ask("SELECT COALESCE(SUM(samples), 0) AS n FROM sample_hist WHERE latency_ns > 10000");
    let counted = fleet.ask("SELECT COUNT(*) AS n FROM samples WHERE latency_ns > 10000 AND (COALESCE(flags, 0) & 1) = 0");
    assert_eq!(some.answer, counted.answer);
}

fn samples_that_retention_took_are_not_missed() {
    let mut fleet = Fleet::new();
    fleet.add("a", MadeUp::number(1440));
    let store = fleet.store();
    sweep(&store, &Retention::new(Some("2026-11-02")).unwrap(), false).unwrap();
    assert_eq!(fleet.ask(sql("sample-quantiles")).answer.rows.len(), 1);
    assert_eq!(
        fleet.ask(sql("quantiles")).answer.rows.len(),
        5,
        "histograms are for ever"
    );
}

fn an_empty_archive_answers_nothing_and_is_no_error() {
    let mut fleet = Fleet::new();
    std::fs::remove_dir_all(fleet.path().join("archive")).unwrap();
    fleet.runs.clear();
    assert!(catalogue(&fleet.store()).unwrap().records.is_empty());
    for question in NAMED {
        assert!(
            fleet.ask(question.sql).answer.rows.is_empty(),
            "{}",
            question.name
        );
    }
}

fn a_question_of_ones_own_is_answered_and_counted_beside() {
    let fleet = Fleet::new();
    let sql = "SELECT board, COUNT(*) AS n, AVG(CAST(latency_ns AS DOUBLE)) AS mean, NULL AS x, TRUE AS t \
               FROM samples JOIN runs USING (run) WHERE flags IS NULL OR flags = 0 GROUP BY board ORDER BY board";
    let answered = fleet.ask(sql);
    assert!(
        answered.checked.contains("samples was counted"),
        "{}",
        answered.checked
    );
    let row = &answered.answer.rows[0];
    assert!(
        matches!(row[2], Value::Real(mean) if (3_000.0..6_000.0).contains(&mean)),
        "{row:?}"
    );
    assert_eq!((&row[3], &row[4]), (&Value::Null, &Value::Flag(true)));
    let facts = fleet.ask("SELECT DISTINCT kernel FROM runs ORDER BY kernel");
    assert_eq!(facts.checked, "it uses no counted table");
    assert_eq!(facts.answer.to_csv(), "kernel\r\n6.12\r\n6.6\r\n");
}

fn hostile_names_and_texts_change_no_answer() {
    let mut fleet = Fleet::new();
    let kernel = "6.1'; DROP TABLE runs; --<script>\u{1b}[2J";
    fleet.add(
        "c",
        MadeUp {
            kernel: kernel.to_owned(),
            ..MadeUp::number(99)
        },
    );
    let text = fleet.ask(sql("worst")).answer.to_text();
    assert!(
        text.contains("DROP TABLE runs; --<script>\u{fffd}[2J"),
        "{text}"
    );
    let board = Board::new("d").unwrap();
    add(
        &fleet.store(),
        &fleet.path().join("2026-00000099"),
        &board,
        &SealTerms::default(),
    )
    .unwrap_err();
}
