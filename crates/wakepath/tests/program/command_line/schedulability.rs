//! `wakepath schedulability`: a file's answer, its exit codes, and files that can't be answered. The
//! analyses have their tests where they are.

use crate::started::{Finished, Place, Start};

wakepath_test_program::tests![
    a_published_set_has_its_published_response_times,
    the_answer_comes_first_and_says_what_was_not_put_in,
    what_misses_exits_with_2_and_what_can_t_be_shown_with_3,
    tasks_are_placed_and_the_file_written_holds,
    a_wrong_file_is_one_line_with_its_place,
];

const BURNS: &str = "\
policy = \"P-FP\"

[[tasks]]
name = \"imu\"
execution = \"3 ms\"
period = \"7 ms\"
priority = 3

[[tasks]]
name = \"control\"
execution = \"3 ms\"
period = \"12 ms\"
priority = 2

[[tasks]]
name = \"log\"
execution = \"5 ms\"
period = \"20 ms\"
priority = 1
";

fn answer(text: &str, more: &[&str]) -> Finished {
    let place = Place::new();
    std::fs::write(place.path().join("tasks.toml"), text).unwrap();
    let words = [&["schedulability", "tasks.toml"], more].concat();
    Start::command_in(place, &words).finish()
}

fn a_published_set_has_its_published_response_times() {
    let finished = answer(BURNS, &["--json"]);
    finished.assert_code(0);
    let found = finished.json();
    let of = |key: &str| -> Vec<&serde_json::Value> {
        found["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| &task[key])
            .collect()
    };
    assert_eq!(of("response_ns"), [3_000_000, 6_000_000, 20_000_000]);
    assert_eq!(of("deadline_ns"), [7_000_000, 12_000_000, 20_000_000]);
    assert_eq!(of("schedulable"), [true; 3]);
    assert_eq!(found["outcome"], "schedulable");
    assert_eq!(found["overheads"]["unknown"].as_array().unwrap().len(), 9);
}

fn the_answer_comes_first_and_says_what_was_not_put_in() {
    let finished = answer(BURNS, &[]);
    finished.assert_code(0);
    let first = finished.output.lines().next().unwrap();
    assert!(
        first.starts_with("SCHEDULABLE under P-FP on 1 CPU"),
        "{first}"
    );
    for part in [
        "no overheads are put in",
        "log, the tightest: 20 ms = 5 ms of its own",
    ] {
        assert!(finished.output.contains(part), "{}", finished.output);
    }
}

fn what_misses_exits_with_2_and_what_can_t_be_shown_with_3() {
    let misses = answer(&BURNS.replace("\"5 ms\"", "\"6 ms\""), &[]);
    misses.assert_code(2);
    assert!(
        misses.output.contains("log misses its deadline"),
        "{}",
        misses.output
    );
    let costly = format!("{BURNS}\n[overheads]\nswitch = \"100 us\"\n");
    let open = answer(&costly, &[]);
    open.assert_code(3);
    assert!(open.output.starts_with("NOT PROVABLE"), "{}", open.output);
}

fn tasks_are_placed_and_the_file_written_holds() {
    let text = "policy = \"P-FP\"\ncpus = 2\n[[tasks]]\nname = \"a\"\nexecution = \"6 ms\"\nperiod = \"10 ms\"\n\
                [[tasks]]\nname = \"b\"\nexecution = \"6 ms\"\nperiod = \"10 ms\"\n";
    let placed = answer(text, &["--assign", "worst", "--output", "placed.toml"]);
    placed.assert_code(0);
    let written = std::fs::read_to_string(placed.place.path().join("placed.toml")).unwrap();
    answer(&written, &[]).assert_code(0);
    let full = answer(
        &text.replace("cpus = 2", "cpus = 1"),
        &["--assign", "first"],
    );
    full.assert_code(1);
    assert!(
        full.complaints.contains("fits on no CPU"),
        "{}",
        full.said()
    );
}

fn a_wrong_file_is_one_line_with_its_place() {
    for (from, to, expected) in [
        (
            "priority = 3",
            "priority = 2",
            "tasks.toml:13:12: tasks[1].priority = 2 is the priority of imu too",
        ),
        (
            "\"7 ms\"",
            "\"2 ms\"",
            "tasks.toml:5:13: tasks[0].execution = \"3 ms\" is longer than the deadline",
        ),
        (
            "P-FP",
            "RM",
            "tasks.toml:1:10: policy = \"RM\" is no policy that can be analysed",
        ),
    ] {
        let finished = answer(&BURNS.replacen(from, to, 1), &[]);
        finished.assert_code(1);
        assert!(
            finished.complaints.contains(expected),
            "{}",
            finished.said()
        );
        assert_eq!(
            finished.complaints.lines().count(),
            1,
            "{}",
            finished.said()
        );
        assert!(finished.output.is_empty(), "{}", finished.said());
    }
    let missing = answer(BURNS, &["--overheads", "nowhere"]);
    missing.assert_code(1);
    assert!(missing.complaints.contains("nowhere"), "{}", missing.said());
}
