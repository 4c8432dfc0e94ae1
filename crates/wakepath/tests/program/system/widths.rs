//! What verbs print in a terminal of 80 columns: no line is wider, so that the terminal breaks none.
//! A pipe gets lines as they are.

use crate::started::{InTerminal, Place, Start, is_root, loop_cpu};

wakepath_test_program::tests![no_verb_prints_a_line_that_80_columns_can_t_hold];

/// Tall enough for everything that is printed.
const LINES: u16 = 600;

/// Default answers: at most 40 lines, with `--all` or `--details` for the rest.
const FIT_ONE_SCREEN: [&str; 14] = [
    "watch --for 2s -- sh -c while sleep 0.05; do :; done",
    "show --histogram",
    "schedulability --from @1",
    "machine",
    "doctor",
    "tune plan",
    "runs",
    "show",
    "explain",
    "bound",
    "tiers",
    "loads",
    "compare @1 @1",
    "scenario list",
];

fn no_verb_prints_a_line_that_80_columns_can_t_hold() {
    let place = Place::new();
    let scenario = format!(
        "name = \"a-name-that-is-rather-long-for-a-loop\"\nrate = \"250 Hz\"\nduration = \"1 s\"\n\
         warm-up = \"100 ms\"\npolicies = [\"OTHER nice 19\", \"OTHER\"]\ncpu = {}\n\
         phases = [{{ name = \"idle\" }}, {{ name = \"processor-and-more\", loads = [\"cpu\"] }}]\n\
         criterion = {{ miss-fraction = \"99.9999 %\" }}\n",
        loop_cpu()
    );
    let file = "a-file-with-a-name-that-is-rather-long-for-a-scenario-of-a-loop.toml";
    std::fs::write(place.path().join(file), scenario).unwrap();
    let traced: &[&str] = if is_root() { &["--trace"] } else { &[] };
    let words = [
        "run",
        file,
        "--directory",
        "wakepath-runs/a-run-with-a-rather-long-name-20260101T000000Z",
    ];
    let finished = Start::command_in(place, &words).with(traced).finish();
    finished.assert_code(0);
    let mut place = finished.place;
    for words in [
        &["machine"][..],
        &["doctor"],
        &["doctor", "--explain", "K1"],
        &["tune", "plan"],
        &["tune", "status"],
        &["runs"],
        &["show"],
        &["show", "--details"],
        &["explain"],
        &["explain", "--all"],
        &["show", "--histogram"],
        &["doctor", "--all"],
        &["tune", "plan", "--all"],
        &["help"],
        &["bound"],
        &["tiers"],
        &["tiers", "--all"],
        &["loads"],
        &["schedulability", "--from", "@1"],
        &["experiment", "list"],
        &["lab", "experiments", "--list"],
        &["compare", "@1", "@1"],
        &["scenario", "list"],
        &["scenario", "check", file],
        &[
            "watch",
            "--for",
            "2s",
            "--",
            "sh",
            "-c",
            "while sleep 0.05; do :; done",
        ],
        &["check", "--policy", "FIFO80"],
        &["check", "--cpu", "999"],
        &[
            "show",
            "a-run-that-is-not-there-and-has-a-rather-long-name-which-fits-nowhere",
        ],
    ] {
        let mut terminal = InTerminal::start(place, words, 80, LINES);
        terminal.end();
        terminal.wait_until("its words", |screen| {
            screen.iter().any(|line| !line.is_empty())
        });
        // Output written just before its end might still be on its way through the terminal.
        std::thread::sleep(std::time::Duration::from_millis(100));
        let broken = terminal.look(|screen| {
            let rows = screen
                .rows(0, 80)
                .zip(0..)
                .filter(|(_, row)| screen.row_wrapped(*row));
            rows.map(|(line, _)| line).collect::<Vec<_>>()
        });
        assert!(broken.is_empty(), "{words:?}:\n{}", broken.join("\n"));
        if FIT_ONE_SCREEN.contains(&words.join(" ").as_str()) {
            let shown = terminal.look(|screen| {
                let rows: Vec<String> = screen.rows(0, 80).collect();
                rows.iter()
                    .rposition(|row| !row.trim().is_empty())
                    .map_or(0, |last| last + 1)
            });
            assert!(shown <= 40, "{words:?}: {shown} lines");
        }
        place = terminal.place();
    }
}
