//! The pages of a generated fleet: their content, their size, and that names are escaped.

use std::path::PathBuf;
use wakepath_fleet_regression::{Change, Difference};
use wakepath_fleet_site::{
    Curve, Seal, Seen, SeenChange, SeenRun, board_page, feed, front_page, kcidb, open_metrics,
};

wakepath_test_program::tests![
    a_thousand_boards_with_a_thousand_runs_are_two_megabytes_at_most,
    names_of_an_enemy_are_names_on_every_page,
    not_measured_and_invalid_are_told_from_each_other_and_from_figures,
    kernelci_gets_no_pass_for_what_is_none,
    a_changed_history_is_told_with_what_changed,
    what_got_later_is_a_feed_and_what_got_better_is_not,
];

fn run(board: usize, number: usize) -> SeenRun {
    let mixed = (board * 7919 + number * 104_729) % 1000;
    SeenRun {
        run_id: format!("20261124T101500Z-{board:04}{number:04}"),
        board: format!("board-{board:04}"),
        kernel: format!("6.{}.{}-rt", number / 50, number % 50),
        started: format!(
            "2026-{:02}-{:02}T10:{:02}:00Z",
            1 + number / 90 % 12,
            1 + number % 28,
            board % 60
        ),
        outcome: if mixed == 5 { "invalid" } else { "passed" }.to_owned(),
        p999_ns: Some(5_000 + (mixed * mixed) as i64),
        max_ns: Some(20_000 + (mixed * mixed * 3) as i64),
        missed: i64::from(mixed > 990),
        due: 3_600_000,
        seal: if mixed.is_multiple_of(2) {
            Seal::Verified
        } else {
            Seal::None
        },
        has_report: false,
        worst: vec![(0, 1, 77, 90_000)],
    }
}

fn change(board: &str) -> SeenChange {
    SeenChange {
        board: board.to_owned(),
        condition: "idle, FIFO 80".to_owned(),
        change: Change {
            around: Default::default(),
            run_id: "r2".to_owned(),
            started: "2026-11-02T00:00:00Z".to_owned(),
            before_ns: 10_000,
            after_ns: 15_500,
            p: 0.002,
            differences: vec![Difference {
                fact: "kernel".to_owned(),
                before: "6.6".to_owned(),
                after: "<script>alert(1)</script>".to_owned(),
            }],
        },
    }
}

fn a_thousand_boards_with_a_thousand_runs_are_two_megabytes_at_most() {
    let runs = (0..1000)
        .flat_map(|board| (0..1000).map(move |number| run(board, number)))
        .collect();
    let seen = Seen::new(runs, vec![change("board-0001")]);
    let page = front_page(&seen);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    assert!(
        page.contains("1 000 000 runs on 1000 boards under 1000 kernels"),
        "{}",
        &page[..9000]
    );
    let board = board_page(&seen, "board-0007", None);
    assert!(board.len() < 2_000_000, "{} bytes", board.len());
    // To be looked at in a browser.
    if let Some(directory) = std::env::var_os("WAKEPATH_PAGES").map(PathBuf::from) {
        std::fs::create_dir_all(directory.join("board")).unwrap();
        std::fs::write(directory.join("index.html"), page).unwrap();
        let curves: Vec<Curve> = (0..2).map(curve).collect();
        let board = board_page(&seen, "board-0001", Some(("r1", &curves)));
        std::fs::write(directory.join("board/board-0001.html"), board).unwrap();
    }
}

fn curve(thread: u64) -> Curve {
    let samples = |us: i64| 3_000_000 / (1 + (us - 8).unsigned_abs().pow(3)) / (1 + thread);
    Curve {
        name: format!("loop-{thread}, FIFO 80, idle"),
        points: (1..90)
            .map(|us| (us, samples(us)))
            .filter(|(_, n)| *n > 0)
            .collect(),
    }
}

fn names_of_an_enemy_are_names_on_every_page() {
    let evil = "</script><img src=x onerror=alert(1)>\"'&\u{202e}";
    let hostile = SeenRun {
        run_id: evil.to_owned(),
        kernel: evil.to_owned(),
        started: evil.to_owned(),
        outcome: evil.to_owned(),
        seal: Seal::Wrong(evil.to_owned()),
        ..run(1, 1)
    };
    let mut seen = Seen::new(vec![hostile, run(1, 2)], vec![change("board-0001")]);
    seen.changes[0].condition = evil.to_owned();
    let curves = [Curve {
        name: evil.to_owned(),
        points: vec![(1, 10), (50, 1)],
    }];
    for page in [
        front_page(&seen),
        board_page(&seen, "board-0001", Some((evil, &curves))),
    ] {
        assert!(!page.contains("<img"), "markup of a name");
        assert!(!page.contains('\u{202e}'));
        assert!(!page.contains("<script>alert"));
        // Only its own scripts: the data and, on the first page, one.
        assert!(page.matches("<script").count() <= 2);
        assert!(
            !page.contains("http://") && !page.contains("https://"),
            "something from elsewhere"
        );
    }
    let metrics = open_metrics(&seen);
    assert!(metrics.contains("onerror=alert(1)>\\\""), "{metrics}");
}

fn not_measured_and_invalid_are_told_from_each_other_and_from_figures() {
    let invalid = SeenRun {
        outcome: "invalid".to_owned(),
        kernel: "bad".to_owned(),
        ..run(1, 1)
    };
    let seen = Seen::new(vec![invalid, run(2, 2)], Vec::new());
    let cells = seen.cells();
    assert_eq!(cells.len(), 2, "an unmeasured kernel has no cell");
    let bad = cells[&("board-0001", "bad")];
    assert_eq!((bad.runs, bad.invalid, bad.p999_ns), (0, 1, None));
    let page = front_page(&seen);
    assert!(page.contains("not measured") && page.contains("invalid"));
    let metrics = open_metrics(&seen);
    let line = "wakepath_fleet_newest_run_valid{board=\"board-0001\",kernel=\"bad\"} 0";
    assert!(metrics.contains(line), "{metrics}");
    assert!(
        !metrics.contains("latency_p999_seconds{board=\"board-0001\""),
        "{metrics}"
    );
    assert!(metrics.ends_with("# EOF\n"));
}

fn kernelci_gets_no_pass_for_what_is_none() {
    let outcomes = [
        "passed",
        "failed",
        "invalid",
        "undecided",
        "virtual time",
        "not judged",
        "passed",
    ];
    let runs = outcomes
        .iter()
        .enumerate()
        .map(|(number, outcome)| SeenRun {
            outcome: (*outcome).to_owned(),
            // The last one passed and is not as it was sealed.
            seal: match number {
                6 => Seal::Wrong("its seal: changed: samples.parquet".to_owned()),
                _ => Seal::None,
            },
            ..run(1, number)
        });
    let report = kcidb(&Seen::new(runs.collect(), Vec::new()), "mylab");
    let tests = report["tests"].as_array().unwrap();
    let statuses: Vec<_> = tests
        .iter()
        .filter(|test| test["path"] == "wakepath")
        .map(|test| test["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        statuses,
        ["PASS", "FAIL", "ERROR", "DONE", "DONE", "DONE", "ERROR"]
    );
    let numbers: Vec<_> = tests
        .iter()
        .filter(|test| test["number"].is_object())
        .collect();
    assert_eq!(numbers.len(), 10, "none of the invalid run");
    assert_eq!(numbers[0]["number"]["unit"], "s");
    for test in tests {
        assert!(test["id"].as_str().unwrap().starts_with("mylab:"));
        assert!(test["build_id"].as_str().unwrap().starts_with("mylab:6.0."));
    }
}

fn a_changed_history_is_told_with_what_changed() {
    let page = front_page(&Seen::new(vec![run(1, 1)], vec![change("board-0001")]));
    let sentence = "p99.9 rose from 10 µs to 15.5 µs with run r2 of 2026-11-02T00:00:00Z; kernel: 6.6 → \
                    &lt;script&gt;alert(1)&lt;/script&gt;.";
    assert!(page.contains(sentence), "{page}");
}

fn what_got_later_is_a_feed_and_what_got_better_is_not() {
    let mut better = change("board-0002");
    better.change.after_ns = 5_000;
    let mut odd = change("board-0003");
    odd.change.started = "yesterday".to_owned();
    odd.condition = "a\u{ffff}&<b>".to_owned();
    let seen = Seen::new(vec![run(1, 1)], vec![change("board-0001"), better, odd]);
    let text = feed(&seen);
    assert_eq!(text.matches("<entry>").count(), 2, "{text}");
    assert!(
        !text.contains("board-0002") && !text.contains("<script>"),
        "{text}"
    );
    for part in [
        "<title>board-0001, idle, FIFO 80: p99.9 rose</title>",
        "<updated>2026-11-02T00:00:00Z</updated>\n<link href=\"board/board-0001.html\"/>",
        "<content type=\"text\">board-0001, idle, FIFO 80: p99.9 rose from 10 µs to 15.5 µs with run r2 of \
         2026-11-02T00:00:00Z; kernel: 6.6 → &lt;script&gt;",
        "a\u{fffd}&amp;&lt;b&gt;",
        "<updated>1970-01-01T00:00:00Z</updated>",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text, feed(&seen));
    // Another program checks that it is XML, if installed.
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("feed.xml");
    std::fs::write(&file, &text).unwrap();
    let read = "import sys, xml.etree.ElementTree as t; print(len(t.parse(sys.argv[1]).getroot().findall('{*}entry')))";
    let parsed = std::process::Command::new("python3")
        .args(["-c", read])
        .arg(&file)
        .output();
    if let Ok(output) = parsed {
        assert_eq!(
            String::from_utf8_lossy(&output.stdout).trim(),
            "2",
            "{output:?}"
        );
    }
    let quiet = feed(&Seen::new(vec![run(1, 1)], Vec::new()));
    assert!(
        !quiet.contains("<entry>") && quiet.contains("<updated>2026-"),
        "{quiet}"
    );
}
