//! Files of other tools made into runs, by the command: shown, compared, never passed.

use crate::started::{Finished, Place, Start, ask};
use std::path::{Path, PathBuf};

wakepath_test_program::tests![
    every_form_becomes_a_run_that_is_shown_and_does_not_pass,
    forms_that_tell_when_work_ended_have_response_times,
    callbacks_of_ros_2_have_what_held_their_executor,
    what_a_form_has_no_use_for_is_refused,
    an_imported_run_may_fail,
    noise_is_held_against_no_criterion,
    a_quantile_beyond_the_range_is_unknown_and_no_more_is_late_than_the_largest,
    the_page_shows_what_an_import_does_not_know_as_not_known,
    what_a_file_does_not_say_must_be_given,
    a_broken_file_is_named_with_its_line_and_leaves_nothing,
    imported_runs_are_compared_with_each_other_and_with_no_other_tools,
    late_cycles_of_a_kernels_trace_are_explained,
    a_directory_of_another_kind_is_refused_and_leaves_nothing,
];

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../import/tests/fixtures")
        .join(name)
}

pub fn import(place: &Place, name: &str, form: &str, file: &Path, words: &[&str]) -> Finished {
    let form = ["--form", form];
    Start::command(&["import"])
        .with(if form[1].is_empty() { &[] } else { &form[..] })
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
        ("rt-tests-json", "cyclictest.json", &[]),
        ("cyclictest-verbose", "cyclictest-v.txt", &[]),
        ("timerlat", "timerlat-hist.txt", &emulated),
        ("jitterdebugger", "jitterdebugger-results.json", &given),
        (
            "jitterdebugger-raw",
            "jitterdebugger-samples.raw",
            &given[2..],
        ),
        ("ros2-control", "ros2-control-statistics.yaml", &controlled),
    ] {
        let place = Place::new();
        import(&place, "run", "", &fixture(file), told).assert_code(0);
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
        ("perf", "perf.data", &PERF),
        ("ftrace", "ftrace.txt", &SERVO),
        ("trace-cmd", "trace-v6.dat", &SERVO),
        ("trace-cmd", "trace-v7.dat", &SERVO),
        ("ros2", "ros2", &["--policy", "FIFO 50"]),
    ] {
        let place = Place::new();
        import(&place, "run", "", &fixture(file), told).assert_code(0);
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

fn callbacks_of_ros_2_have_what_held_their_executor() {
    let place = Place::new();
    let told = [
        "--policy",
        "FIFO 50",
        "--worst",
        "1",
        "--chain",
        "/image:/motor",
    ];
    let done = import(&place, "run", "", &fixture("ros2"), &told);
    done.assert_code(0);
    for part in [
        "balance: timer 5 ms",
        "balance: timer 5 ms (Balance::control()): 2 gaps above 7.5 ms",
        "its own run before took 13.1 ms",
        "no message was published on /image",
        "record sched_switch",
    ] {
        assert!(done.output.contains(part), "{part}: {}", done.said());
    }
    // The report has the same, from what was kept in the run.
    let run = place.path().join("run");
    ask("report", &run).assert_code(0);
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    let chapter = page.split("Callbacks and chains of ROS 2</h2>").nth(1);
    let chapter = chapter.unwrap().split("</section>").next().unwrap();
    for part in [
        "balance: timer 5\u{a0}ms",
        "its own run before took 13.1\u{a0}ms",
        "no message was published on /image",
        "<h3>Executors</h3>",
    ] {
        assert!(chapter.contains(part), "{part}: {chapter}");
    }
    std::fs::write(run.join("callbacks.json"), "{").unwrap();
    let refused = ask("report", &run);
    refused.assert_code(1);
    let why = "not a list of callbacks";
    assert!(refused.complaints.contains(why), "{}", refused.said());
    assert_eq!(refused.complaints.trim().lines().count(), 1);
    let json = ["--policy", "FIFO 50", "--json"];
    let found = import(&place, "in-json", "", &fixture("ros2"), &json).json();
    let rows = found["ros2"][0]["callbacks"].as_array().unwrap();
    assert_eq!(rows[0]["node"], "balance", "{found:#}");
    for chain in ["", "/image", "/a:/b:/c"] {
        let bad = ["--policy", "FIFO 50", "--chain", chain];
        let refused = import(&place, "other", "", &fixture("ros2"), &bad);
        refused.assert_code(1);
        assert!(refused.complaints.contains("expected FROM:TO"));
        assert_eq!(refused.complaints.trim().lines().count(), 1);
        assert!(!place.path().join("other").exists());
    }
}

fn what_a_form_has_no_use_for_is_refused() {
    let place = Place::new();
    for (option, why) in [
        (&["--thread", "7"][..], "has the loop's threads alone"),
        (&["--nanoseconds"], "says its unit"),
        (&["--chain", "/image:/motor"], "has no callbacks"),
        (&["--json"], "has no callbacks"),
    ] {
        let json = fixture("cyclictest.json");
        let refused = import(&place, "run", "rt-tests-json", &json, option);
        refused.assert_code(1);
        assert!(refused.said().contains(why), "{}", refused.said());
    }
    let refused = import(&place, "run", "perf", &fixture("perf.data"), &[]);
    refused.assert_code(1);
    let why = "perf.data: select the loop's thread with --thread: 23061 `cyclictest` (60 wake-ups";
    assert!(refused.said().contains(why), "{}", refused.said());
}

fn an_imported_run_may_fail() {
    let place = Place::new();
    let file = fixture("cyclictest.json");
    for (run, words) in [
        ("named", ["--latency", "10us", "--miss-fraction", "1%"]),
        (
            "listed",
            ["--latency", "10us", "--criterion", "miss-fraction 1 %"],
        ),
    ] {
        import(&place, run, "rt-tests-json", &file, &words).assert_code(0);
        let shown = ask("show", &place.path().join(run));
        shown.assert_code(2);
        assert!(shown.output.contains("verdict: FAILED"), "{}", shown.said());
    }
    let twice = ["--latency", "10us", "--criterion", "latency 20us"];
    let refused = import(&place, "twice", "rt-tests-json", &file, &twice);
    refused.assert_refused(1, &["`latency` is given twice"]);
    assert!(!place.path().join("twice").exists(), "a directory was made");
}

fn noise_is_held_against_no_criterion() {
    for (file, observed) in [
        ("osnoise-hist.txt", "observed for"),
        ("oslat.txt", "observed for 2.03 s on 2 CPUs"),
    ] {
        let place = Place::new();
        let run = place.path().join("run");
        import(&place, "run", "", &fixture(file), &["--policy", "FIFO 1"]).assert_code(0);
        let shown = Start::command(&["show", "--details"])
            .with(&[&run])
            .finish();
        for part in ["noise", "no criterion applies"] {
            assert!(shown.output.contains(part), "{part}: {}", shown.said());
        }
        for part in ["wake-up latency", "once in", "due time ("] {
            assert!(!shown.output.contains(part), "{part}: {}", shown.said());
        }
        let json = Start::command(&["export", "--format", "json"])
            .with(&[&run])
            .finish();
        assert_eq!(json.json()["imported"]["measured"], "noise");
        let answer = ask("show", &run);
        assert!(answer.output.contains(observed), "{}", answer.said());
        ask("report", &run).assert_code(0);
    }
}

fn a_quantile_beyond_the_range_is_unknown_and_no_more_is_late_than_the_largest() {
    let place = Place::new();
    let run = place.path().join("run");
    let text = "# Histogram\n000038 000000\n000039 000400\n# Total: 000000400\n\
                # Min Latencies: 00039\n# Avg Latencies: 00071\n# Max Latencies: 00873\n\
                # Histogram Overflows: 00600\n";
    let file = place.path().join("hist.txt");
    std::fs::write(&file, text).unwrap();
    let given = ["--period", "1ms", "--policy", "FIFO 80"];
    import(&place, "run", "", &file, &given).assert_code(0);
    let json = Start::command(&["show", "--json"]).with(&[&run]).finish();
    let latency = &json.json()["conditions"][0]["cycles"]["latency_as_scheduled"];
    for quantile in latency["quantiles"].as_array().unwrap() {
        assert!(quantile["value"].is_null(), "{latency}");
    }
    assert_eq!(latency["max"], 873_000);
    let shown = Start::command(&["show", "--details"])
        .with(&[&run])
        .finish();
    assert!(!shown.output.contains('≥'), "{}", shown.said());
    let row = shown
        .output
        .lines()
        .find(|line| line.starts_with("  FIFO 80"));
    assert_eq!(
        row.map(|row| row.matches("873 µs").count()),
        Some(1),
        "{}",
        shown.said()
    );
    ask("report", &run).assert_code(0);
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
    assert!(misses.starts_with("≥\u{a0}"), "{misses:.40}");
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
            .contains("broken.txt:15: `x` is not a count"),
        "{}",
        refused.said()
    );
    let other = import(&place, "run", "perf-mem", &broken, &[]);
    other.assert_code(1);
    assert!(
        other.complaints.contains("rt-tests-json"),
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
        "rt-tests-json",
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
        // `show` has the causes at once.
        assert!(run.join("explanation.json").exists());
        let no_policy = Start::command(&["explain", "--policy", "FIFO 9"])
            .with(&[&run])
            .finish();
        no_policy.assert_refused(1, &["--policy 'FIFO 9': the run has FIFO 80"]);
        let explained = ask("explain", &run);
        explained.assert_code(0);
        // Timer, interrupt and switch are there: the path from the due time on is explained.
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
            "is of the form cyclictest",
        ),
        ("ros2", place.path().join("gone"), "No such file"),
        ("csv", empty, "holds no file that can be imported"),
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
