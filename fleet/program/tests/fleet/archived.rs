//! The archive's verbs, as typed.
//!
//! Checks their output, and that a refusal is one line with exit code 1 and changes nothing.

use std::path::Path;
use std::process::{Command, Output};
use wakepath_fleet_made_up::{MadeUp, seal_run, trust_file};
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    runs_are_added_looked_through_and_shown,
    runs_whose_seals_are_not_trusted_count_nowhere_and_say_why,
    kernelcis_own_schema_takes_what_is_exported,
    kernels_are_compared_and_the_exit_code_says_it,
    what_is_wrong_is_one_line_and_nothing_is_written,
];

fn fleet(scratch: &Path, line: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wakepath-fleet"))
        .args(line)
        .current_dir(scratch)
        .output()
        .unwrap()
}

/// The output, if the command ends with this code.
fn said(scratch: &Path, line: &[&str], code: i32) -> String {
    let output = fleet(scratch, line);
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(code), "{line:?}: {text:?}");
    text.join("")
}

fn made_up(scratch: &Path, number: u64, kernel: &str, slower_by_ns: i64) -> String {
    let run = MadeUp {
        kernel: kernel.to_owned(),
        slower_by_ns,
        ..MadeUp::number(number)
    };
    run.write(&scratch.join(&run.run_id));
    run.run_id
}

fn runs_are_added_looked_through_and_shown() {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path();
    let run = made_up(scratch, 1, "6.12.9-rt", 0);
    let add = ["add", "--board", "pi5-07", &run];
    assert_eq!(said(scratch, &add, 0), "2026-00000001: added\n");
    assert_eq!(said(scratch, &add, 0), "2026-00000001: was there\n");
    assert_eq!(
        said(scratch, &["check"], 0),
        "1 run: all there and as they were\n"
    );
    let swept = said(
        scratch,
        &["gc", "--dry-run", "--samples-before", "2027-01-01"],
        0,
    );
    assert!(
        swept.starts_with("2026-00000001: would lose its samples\n1 object, "),
        "{swept}"
    );
    said(scratch, &["site"], 0);
    let page = std::fs::read_to_string(scratch.join("fleet-site/index.html")).unwrap();
    assert!(page.contains("1 run on 1 board under 1 kernel"), "{page}");
    let board = std::fs::read_to_string(scratch.join("fleet-site/board/pi5-07.html")).unwrap();
    assert!(
        board.contains("loop-0, FIFO 80, idle"),
        "its newest run is drawn"
    );
    let report = said(scratch, &["export", "kcidb", "--origin", "mylab"], 0);
    assert!(
        report.contains("\"id\":\"mylab:2026-00000001\""),
        "{report}"
    );
    let changes = said(scratch, &["changes"], 0);
    assert_eq!(changes, "No history shows a change of its p99.9.\n");
}

fn runs_whose_seals_are_not_trusted_count_nowhere_and_say_why() {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path();
    let [sealed, bare] = [1, 2].map(|number| made_up(scratch, number, "old", 0));
    let changed = made_up(scratch, 3, "old", 0);
    for run in [&sealed, &changed] {
        seal_run(&scratch.join(run), "pi5-07");
    }
    std::fs::write(scratch.join(&changed).join("report.html"), "nicer").unwrap();
    std::fs::write(scratch.join("boards.trust"), trust_file("pi5-*")).unwrap();
    std::fs::write(scratch.join("others.trust"), trust_file("x86-*")).unwrap();
    let add = |trust: &str, code| {
        let line = ["add", "--board", "pi5-07", "--trust", trust];
        said(
            scratch,
            &[&line[..], &[&sealed, &bare, &changed]].concat(),
            code,
        )
    };
    let text = add("boards.trust", 1);
    assert!(text.contains("2026-00000001: added, verified\n"), "{text}");
    assert!(
        text.contains("2026-00000002: added; it does not count: it is not sealed\n"),
        "{text}"
    );
    assert!(
        text.contains(
            "2026-00000003: its seal is broken: added: report.html: there, and not sealed"
        ),
        "{text}"
    );
    assert!(
        !scratch
            .join("fleet-archive/runs/2026-00000003.json")
            .exists()
    );

    // Without a trust file; then with the command line's; then with the archive's.
    let plain = said(scratch, &["check"], 0);
    assert_eq!(plain, "2 runs: all there and as they were\n");
    let check = said(scratch, &["check", "--trust", "boards.trust"], 0);
    assert_eq!(
        check,
        "run 2026-00000002: does not count: it is not sealed\n\
         2 runs: all there and as they were; 1 counts by their seals\n"
    );
    let check = said(scratch, &["check", "--trust", "others.trust"], 1);
    assert!(
        check.contains("2026-00000001: does not count: its seal: another board's key"),
        "{check}"
    );
    std::fs::copy(
        scratch.join("boards.trust"),
        scratch.join("fleet-archive/trust"),
    )
    .unwrap();
    for line in [
        &[
            "regressions",
            "--first",
            "kernel=old",
            "--second",
            "governor=x",
        ][..],
        &["changes"],
        &["site"],
        &["export", "kcidb"],
    ] {
        let output = fleet(scratch, line);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let text = text.join("");
        let is_told = text.contains("2026-00000002 does not count: it is not sealed\n");
        assert!(is_told, "{line:?}: {text}");
        assert!(!text.contains("2026-00000001 does not"), "{line:?}: {text}");
    }
    let board = std::fs::read_to_string(scratch.join("fleet-site/board/pi5-07.html")).unwrap();
    assert!(board.contains("<td>verified</td>") && board.contains("<td>it is not sealed</td>"));
    assert_eq!(board.matches("<td>invalid</td>").count(), 1, "{board}");
    std::fs::write(scratch.join("fleet-archive/trust"), "nobody\n").unwrap();
    let text = said(scratch, &["check"], 1);
    assert!(text.contains("fleet-archive/trust: line 1: "), "{text}");
}

fn kernelcis_own_schema_takes_what_is_exported() {
    // A Python with kcidb-io, which publishes the schema.
    let python = std::env::var_os("WAKEPATH_KCIDB").map(std::path::PathBuf::from);
    let python = python.filter(|python| python.is_file());
    let python = python.unwrap_or_else(|| not_run("kcidb-io: not installed (WAKEPATH_KCIDB)"));
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path();
    let kernels = ["6.12.9-rt", "", "6 <b>ü</b>\n"];
    for (kernel, number) in kernels.iter().zip(1..) {
        let run = made_up(scratch, number, kernel, 0);
        said(scratch, &["add", "--board", "pi5-07", &run], 0);
    }
    let report = said(scratch, &["export", "kcidb", "--origin", "mylab"], 0);
    let is_valid = |report: &str| {
        let file = scratch.join("report.json");
        std::fs::write(&file, report).unwrap();
        let looked = Command::new(&python)
            .arg("-c")
            .arg(
                "import json, sys, kcidb_io\n\
                 print(kcidb_io.schema.V5_3.is_valid(json.load(open(sys.argv[1]))))",
            )
            .arg(&file)
            .output()
            .unwrap();
        assert!(looked.status.success(), "{looked:?}");
        String::from_utf8(looked.stdout).unwrap() == "True\n"
    };
    assert!(is_valid(&report), "{report}");
    assert!(!is_valid(&report.replacen("\"DONE\"", "\"FINE\"", 1)));
}

fn kernels_are_compared_and_the_exit_code_says_it() {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path();
    let mut add = vec!["add".to_owned(), "--board".to_owned(), "pi5-07".to_owned()];
    add.extend((0..8).map(|n| made_up(scratch, n, "old", 0)));
    // Three milliseconds later in every cycle: three times the p99.9 of a skipped period.
    add.extend((8..16).map(|n| made_up(scratch, n, "new", 3_000_000)));
    said(
        scratch,
        &add.iter().map(String::as_str).collect::<Vec<_>>(),
        0,
    );
    let sides = |first: &'static str, second: &'static str| {
        ["regressions", "--first", first, "--second", second]
    };
    let worse = said(scratch, &sides("kernel=old", "kernel=new"), 2);
    assert_eq!(worse.matches("REGRESSED").count(), 3, "{worse}");
    let better = said(scratch, &sides("kernel=new", "kernel=old"), 0);
    assert_eq!(better.matches("IMPROVED").count(), 3, "{better}");
    let changes = said(scratch, &["changes"], 0);
    assert!(changes.contains("kernel: \"old\" → \"new\""), "{changes}");
}

fn what_is_wrong_is_one_line_and_nothing_is_written() {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path();
    let run = made_up(scratch, 1, "6.12.9-rt", 0);
    for (line, expected) in [
        (&["check"][..], "not an archive of a fleet"),
        (&["site"], "not an archive of a fleet"),
        (
            &["add", "--board", "../x", &run],
            "is not a name of a board",
        ),
        (&["add", &run], "--board"),
    ] {
        let said = said(scratch, line, 1);
        assert!(said.contains(expected), "{line:?}: {said}");
        assert_eq!(said.matches('\n').count(), 1, "{said}");
    }
    assert_eq!(
        std::fs::read_dir(scratch).unwrap().count(),
        1,
        "something was written"
    );
    said(scratch, &["add", "--board", "a", &run], 0);
    for (line, expected) in [
        (&["add", "--board", "a", "nowhere"][..], "nowhere"),
        (&["gc", "--samples-before", "yesterday"], "is not a day"),
        (
            &["regressions", "--first", "x", "--second", "kernel=y"],
            "is not a FACT=VALUE",
        ),
        (
            &["regressions", "--first", "kernel=x", "--second", "kernel=y"],
            "no run has kernel=x",
        ),
        (
            &[
                "regressions",
                "--first",
                "kernel=6.12.9-rt",
                "--second",
                "governor=performance",
            ],
            "is on both sides",
        ),
        (&["export", "kcidb", "--origin", "My Lab"], "small letters"),
    ] {
        let said = said(scratch, line, 1);
        assert!(said.contains(expected), "{line:?}: {said}");
        assert_eq!(said.matches('\n').count(), 1, "{said}");
    }
}
