//! Files of other tools made into runs, by the command: shown, compared, never passed.

use crate::started::{Finished, Place, Start, ask};
use std::path::{Path, PathBuf};
use wakepath_archive::Run;
use wakepath_timeline::Sample;

wakepath_test_program::tests![
    every_form_becomes_a_run_that_is_shown_and_does_not_pass,
    forms_that_tell_when_work_ended_have_response_times,
    what_a_form_has_no_use_for_is_refused,
    an_imported_run_may_fail,
    the_page_shows_what_an_import_does_not_know_as_not_known,
    what_a_file_does_not_say_must_be_given,
    a_broken_file_is_named_with_its_line_and_leaves_nothing,
    imported_runs_are_compared_with_each_other_and_with_no_other_tools,
    our_own_export_comes_back_whole,
    late_cycles_of_a_kernels_trace_are_explained,
    a_directory_of_another_kind_is_refused_and_leaves_nothing,
    a_loggers_table_is_judged_by_its_named_columns,
    a_broken_table_is_named_with_its_line_and_leaves_nothing,
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../import/tests/fixtures")
        .join(name)
}

fn import(place: &Place, name: &str, form: &str, file: &Path, words: &[&str]) -> Finished {
    Start::command(&["import", form])
        .with(&[file])
        .with(&["--directory"])
        .with(&[place.path().join(name)])
        .with(words)
        .finish()
}

const PERF: [&str; 6] = [
    "--thread", "23061", "--period", "2ms", "--policy", "FIFO 80",
];

const SERVO: [&str; 4] = ["--thread", "servo", "--policy", "FIFO 80"];

fn every_form_becomes_a_run_that_is_shown_and_does_not_pass() {
    let given = ["--period", "1ms", "--policy", "FIFO 80"];
    // Recorded in an emulated machine, which was late by tens of milliseconds.
    let emulated = ["--period", "100ms", "--policy", "FIFO 80"];
    let controlled = ["--period", "10ms", "--policy", "FIFO 80"];
    for (form, file, told) in [
        ("cyclictest", "cyclictest-h.txt", &given[..]),
        ("cyclictest-json", "cyclictest.json", &[]),
        ("cyclictest-verbose", "cyclictest-v.txt", &[]),
        ("timerlat", "timerlat-hist.txt", &emulated),
        ("osnoise", "osnoise-hist.txt", &emulated),
        ("jitterdebugger", "jitterdebugger-results.json", &given),
        (
            "jitterdebugger-raw",
            "jitterdebugger-samples.raw",
            &given[2..],
        ),
        ("perf", "perf.data", &PERF),
        ("ros2-control", "ros2-control-statistics.yaml", &controlled),
    ] {
        let place = Place::new();
        import(&place, "run", form, &fixture(file), told).assert_code(0);
        let shown = ask("show", &place.path().join("run"));
        shown.assert_code(3);
        for part in ["FIFO 80", "lacks ", "verdict: UNDECIDED", file] {
            assert!(
                shown.output.contains(part),
                "{form}: {part}: {}",
                shown.said()
            );
        }
        let json = Start::command(&["export", "--format", "json"])
            .with(&[place.path().join("run")])
            .finish();
        json.assert_code(0);
        assert_eq!(json.json()["imported"]["form"], form);
        assert!(json.json()["conditions"][0]["cycles"]["response"].is_null());
    }
}

fn forms_that_tell_when_work_ended_have_response_times() {
    for (form, file, told) in [
        ("csv", "export.csv", &[][..]),
        ("ftrace", "ftrace.txt", &SERVO),
        ("trace-cmd", "trace-v6.dat", &SERVO),
        ("trace-cmd", "trace-v7.dat", &SERVO),
        ("ros2", "ros2", &["--policy", "FIFO 50"]),
    ] {
        let place = Place::new();
        import(&place, "run", form, &fixture(file), told).assert_code(0);
        let run = place.path().join("run");
        let shown = ask("show", &run);
        assert!(
            matches!(shown.code(), Some(2 | 3)),
            "{form}: {}",
            shown.said()
        );
        assert!(shown.output.contains("lacks "), "{form}: {}", shown.said());
        ask("report", &run).assert_code(0);
        let json = Start::command(&["export", "--format", "json"])
            .with(&[run])
            .finish();
        json.assert_code(0);
        assert_eq!(json.json()["imported"]["form"], form);
        let response = &json.json()["conditions"][0]["cycles"]["response"];
        assert!(
            response["max"].as_i64().unwrap() > 1_000,
            "{form}: {response}"
        );
    }
}

fn what_a_form_has_no_use_for_is_refused() {
    let place = Place::new();
    for (option, why) in [
        (&["--thread", "7"][..], "has the loop's threads alone"),
        (&["--nanoseconds"], "says its unit"),
    ] {
        let json = fixture("cyclictest.json");
        let refused = import(&place, "run", "cyclictest-json", &json, option);
        refused.assert_code(1);
        assert!(refused.said().contains(why), "{}", refused.said());
    }
    let refused = import(&place, "run", "perf", &fixture("perf.data"), &[]);
    refused.assert_code(1);
    let why =
        "perf.data: say with --thread which thread is the loop: 23061 `cyclictest` (60 wake-ups";
    assert!(refused.said().contains(why), "{}", refused.said());
}

fn an_imported_run_may_fail() {
    let place = Place::new();
    let words = ["--latency", "10us", "--miss-fraction", "1%"];
    let file = fixture("cyclictest.json");
    import(&place, "run", "cyclictest-json", &file, &words).assert_code(0);
    let shown = ask("show", &place.path().join("run"));
    shown.assert_code(2);
    assert!(shown.output.contains("verdict: FAILED"), "{}", shown.said());
}

fn the_page_shows_what_an_import_does_not_know_as_not_known() {
    let place = Place::new();
    let file = fixture("cyclictest-h.txt");
    let told = ["--period", "1ms", "--policy", "FIFO 80"];
    import(&place, "run", "cyclictest", &file, &told).assert_code(0);
    ask("report", &place.path().join("run")).assert_code(0);
    let page = std::fs::read_to_string(place.path().join("run/report.html")).unwrap();
    let tables = page.split("<table class=\"measured").nth(1).unwrap();
    let row = tables.split("FIFO 80</th>").nth(1).unwrap();
    let misses = page.split("data-name=\"misses count\">").nth(1).unwrap();
    let row = row.split("</tr>").next().unwrap();
    let cell = |name: &str| {
        let cell = format!("data-name=\"due times {name}\">");
        row.split(&cell).nth(1).unwrap().split('<').next().unwrap()
    };
    assert_eq!([cell("scheduled"), cell("skipped")], ["–"; 2], "{row}");
    assert_eq!(cell("executed"), "6000", "{row}");
    // Some of its values lay beyond the histogram.
    assert!(misses.starts_with("≥ "), "{misses:.40}");
    let in_a_row = page.split("data-name=\"misses in a row\">").nth(1).unwrap();
    assert!(in_a_row.starts_with("–<"), "{in_a_row:.40}");
}

fn what_a_file_does_not_say_must_be_given() {
    let place = Place::new();
    let file = fixture("cyclictest-h.txt");
    let refused = import(&place, "run", "cyclictest", &file, &[]);
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("give --period"),
        "{}",
        refused.said()
    );
    let refused = import(&place, "run", "cyclictest", &file, &["--period", "1ms"]);
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("give --policy"),
        "{}",
        refused.said()
    );
    assert!(!place.path().join("run").exists(), "a directory was made");
}

fn a_broken_file_is_named_with_its_line_and_leaves_nothing() {
    let place = Place::new();
    let whole = std::fs::read_to_string(fixture("cyclictest-h.txt")).unwrap();
    let broken = place.path().join("broken.txt");
    std::fs::write(&broken, whole.replacen("000012 000110", "000012 x", 1)).unwrap();
    let refused = import(&place, "run", "cyclictest", &broken, &[]);
    refused.assert_code(1);
    assert!(
        refused
            .complaints
            .contains("broken.txt:15: `x` is no count"),
        "{}",
        refused.said()
    );
    let other = import(&place, "run", "perf-mem", &broken, &[]);
    other.assert_code(1);
    assert!(
        other.complaints.contains("cyclictest-json"),
        "{}",
        other.said()
    );
    let missing = import(&place, "run", "cyclictest", &place.path().join("gone"), &[]);
    missing.assert_code(1);
    assert!(
        missing.complaints.contains("gone: No such file"),
        "{}",
        missing.said()
    );
    assert!(!place.path().join("run").exists(), "a directory was made");
}

fn imported_runs_are_compared_with_each_other_and_with_no_other_tools() {
    let place = Place::new();
    let given = ["--period", "1ms", "--policy", "FIFO 80"];
    import(
        &place,
        "a",
        "cyclictest-json",
        &fixture("cyclictest.json"),
        &[],
    )
    .assert_code(0);
    import(
        &place,
        "b",
        "cyclictest",
        &fixture("cyclictest-h.txt"),
        &given,
    )
    .assert_code(0);
    let file = fixture("jitterdebugger-results.json");
    import(&place, "c", "jitterdebugger", &file, &given).assert_code(0);
    let compare = |first: &str, second: &str| {
        let directories = [place.path().join(first), place.path().join(second)];
        Start::command(&["compare"]).with(&directories).finish()
    };
    let shown = compare("a", "b");
    shown.assert_code(3);
    assert!(
        shown.output.contains("holds no facts of its machine"),
        "{}",
        shown.said()
    );
    let refused = compare("a", "c");
    refused.assert_code(1);
    assert!(
        refused
            .complaints
            .contains("measured by: cyclictest against jitterdebugger"),
        "{}",
        refused.said()
    );
}

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
            "log.csv:3: 1 cell where",
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
    let refused = import(
        &place,
        "run",
        "cyclictest-json",
        &json,
        &["--columns", "due"],
    );
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("is no table"),
        "{}",
        refused.said()
    );
}

fn late_cycles_of_a_kernels_trace_are_explained() {
    for file in ["ftrace.txt", "trace-v6.dat", "trace-v7.dat"] {
        let place = Place::new();
        let form = if file.ends_with("txt") {
            "ftrace"
        } else {
            "trace-cmd"
        };
        import(&place, "run", form, &fixture(file), &SERVO).assert_code(0);
        let run = place.path().join("run");
        let explained = ask("explain", &run);
        explained.assert_code(0);
        // Timer, interrupt and switch are there: the way from the due time on is told.
        for part in ["FIFO 80", "servo"] {
            assert!(
                explained.output.contains(part),
                "{part}: {}",
                explained.said()
            );
        }
        let json = Start::command(&["show", "--json"]).with(&[&run]).finish();
        let cycles = &json.json()["conditions"][0]["cycles"];
        assert!(
            cycles["execution"]["max"].as_i64().unwrap() > 10_000,
            "{cycles}"
        );
    }
}

fn a_directory_of_another_kind_is_refused_and_leaves_nothing() {
    let place = Place::new();
    let policy = ["--policy", "OTHER"];
    let empty = place.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for (form, path, why) in [
        ("ros2", empty.clone(), "no file `metadata`"),
        (
            "ros2",
            fixture("cyclictest-h.txt"),
            "is a file; give the directory",
        ),
        ("ros2", place.path().join("gone"), "No such file"),
        ("csv", empty, "is a directory; csv reads a file"),
    ] {
        let refused = import(&place, "run", form, &path, &policy);
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
}
