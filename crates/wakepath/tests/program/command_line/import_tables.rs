//! Tables made into runs: wakepath's own export, and what a logger wrote.

use super::import::{fixture, import};
use crate::started::{Place, Start, ask};
use std::path::Path;
use wakepath_archive::Run;
use wakepath_timeline::Sample;

wakepath_test_program::tests![
    our_own_export_comes_back_whole,
    a_loggers_table_is_judged_by_its_named_columns,
    a_broken_table_is_named_with_its_line_and_leaves_nothing,
];

fn our_own_export_comes_back_whole() {
    let place = Place::new();
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1");
    let export = |run: &Path| {
        let exported = Start::command(&["export", "--format", "csv"])
            .with(&[run])
            .finish();
        exported.assert_code(0);
        exported.output
    };
    let table = place.path().join("samples.csv");
    let text = export(&original);
    std::fs::write(&table, &text).unwrap();
    import(&place, "run", "csv", &table, &[]).assert_code(0);
    let back = place.path().join("run");
    let (original, again) = (Run::open(&original).unwrap(), Run::open(&back).unwrap());
    let mut compared = 0;
    assert_eq!(
        original.manifest.segments.len(),
        again.manifest.segments.len()
    );
    for (own, other) in original
        .manifest
        .segments
        .iter()
        .zip(&again.manifest.segments)
    {
        assert_eq!(
            (
                &own.phase,
                &own.condition,
                own.repetition,
                own.threads.len()
            ),
            (
                &other.phase,
                &other.condition,
                other.repetition,
                other.threads.len()
            ),
        );
        for (thread, of) in own.threads.iter().zip(&other.threads) {
            assert_eq!((thread.due, &thread.name), (of.due, &of.name));
            assert_eq!(thread.requested, of.requested);
            // Due times that were skipped at the end of the warm-up or of the segment have no line.
            assert_eq!(
                (thread.first_judged_cycle, thread.expected),
                (of.first_judged_cycle, of.expected)
            );
            let samples = original.samples(own.segment, thread.thread).unwrap();
            let bytes = |all: &[Sample]| all.iter().map(Sample::to_bytes).collect::<Vec<_>>();
            let others = again.samples(other.segment, of.thread).unwrap();
            assert_eq!(bytes(&samples), bytes(&others));
            compared += samples.len();
        }
    }
    assert!(compared > 100, "{compared}");
    assert_eq!(export(&back), text);
    // It is held against the criterion, and never passes.
    let shown = ask("show", &back);
    assert!(matches!(shown.code(), Some(2 | 3)), "{}", shown.said());
    let parts = ["lacks what its loads did", "lacks facts of the machine"];
    let details = Start::command(&["show", "--details"])
        .with(&[&back])
        .finish();
    for part in parts {
        assert!(details.output.contains(part), "{part}: {}", details.said());
    }
}

fn a_loggers_table_is_judged_by_its_named_columns() {
    let place = Place::new();
    let table = place.path().join("log.csv");
    let mut text = "time;ref;woke;done\n".to_owned();
    for k in 0..2000_u64 {
        let due = 50_000_000 + k * 4_000;
        let late = if k % 100 == 7 { 900 } else { 60 };
        text += &format!("x;{due}.5;{};{}\n", due + late, due + late + 300);
    }
    std::fs::write(&table, text).unwrap();
    let columns = ["--columns", "due=ref,start=woke,end=done", "--unit", "us"];
    let policy = [
        "--policy",
        "FIFO 80",
        "--latency",
        "500us",
        "--miss-fraction",
        "0.5%",
    ];
    import(
        &place,
        "run",
        "csv",
        &table,
        &[&columns[..], &policy].concat(),
    )
    .assert_code(0);
    let shown = ask("show", &place.path().join("run"));
    shown.assert_code(2);
    let json = Start::command(&["show", "--json"])
        .with(&[place.path().join("run")])
        .finish();
    let cycles = &json.json()["conditions"][0]["cycles"];
    assert_eq!(cycles["misses"]["missed"], 20, "{cycles}");
    assert_eq!(cycles["execution"]["max"], 300_000, "{cycles}");
    assert_eq!(cycles["latency_as_executed"]["max"], 899_500, "{cycles}");
}

fn a_broken_table_is_named_with_its_line_and_leaves_nothing() {
    let place = Place::new();
    let table = place.path().join("log.csv");
    let policy = ["--policy", "FIFO 80"];
    for (text, words, why) in [
        (
            "due_us,start_us\n1000,1010\n2000\n",
            &policy[..],
            "log.csv:3: 1 cell, but the first line has 2",
        ),
        (
            "due_us,start_us\n1000,1010\n",
            &[],
            "1 line tells no period",
        ),
        ("a,b\n1,2\n", &policy, "neither `start`"),
        ("due,start\n1,2\n", &policy, "give --unit"),
        (
            "due_us,start_us\n\"1000,1010\n",
            &policy,
            "log.csv:2: a quote that is never closed",
        ),
        (
            "1,2\n",
            &["--columns", "due_us,begin"],
            "--columns \"begin\": there are due, start",
        ),
        (
            "1,2\n",
            &["--unit", "h"],
            "--unit h: there are ns, us, ms, s",
        ),
    ] {
        std::fs::write(&table, text).unwrap();
        let refused = import(&place, "run", "csv", &table, words);
        refused.assert_code(1);
        assert!(refused.complaints.contains(why), "{}", refused.said());
        assert_eq!(
            refused.complaints.trim().lines().count(),
            1,
            "{}",
            refused.said()
        );
        assert!(!place.path().join("run").exists(), "a directory was made");
    }
    let json = fixture("cyclictest.json");
    let refused = import(&place, "run", "rt-tests-json", &json, &["--columns", "due"]);
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("is not a table"),
        "{}",
        refused.said()
    );
}
