//! `wakepath schedulability`: a file's answer, its exit codes, and files that can't be answered. The
//! analyses have tests of their own.

use crate::started::{Finished, Place, Start};

wakepath_test_program::tests![
    a_published_set_has_its_published_response_times,
    the_answer_comes_first_and_says_what_was_not_put_in,
    what_misses_exits_with_2_and_what_can_t_be_shown_with_3,
    tasks_are_placed_and_the_file_written_holds,
    a_wrong_file_is_one_line_with_its_place,
    what_can_t_be_is_told_from_what_can_t_be_held,
    what_linux_would_stop_is_said,
    sched_deadline_has_three_verdicts_apart,
    reservations_beyond_a_cpu_are_not_admitted,
];

pub(super) const BURNS: &str = "\
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

pub(super) fn answer(text: &str, more: &[&str]) -> Finished {
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
        "kernel overheads are not included",
        "log, the tightest: 20.0 ms = 5.00 ms own execution",
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
            "tasks.toml:1:10: policy = \"RM\" is not a policy that can be analysed",
        ),
    ] {
        let finished = answer(&BURNS.replacen(from, to, 1), &[]);
        finished.assert_refused(1, &[expected]);
    }
    let missing = answer(BURNS, &["--overheads", "nowhere"]);
    missing.assert_code(1);
    assert!(missing.complaints.contains("nowhere"), "{}", missing.said());
}

fn what_can_t_be_is_told_from_what_can_t_be_held() {
    // More than a CPU has is an answer, not a fault of the file.
    let full = answer(&BURNS.replace("\"12 ms\"", "\"4 ms\""), &[]);
    full.assert_code(2);
    assert!(
        full.output
            .contains("the tasks need more CPU time than there is"),
        "{}",
        full.said()
    );
    let last = "priority = 1\n";
    for (from, to, expected) in [
        (
            last,
            "jitter = \"-1 ms\"\npriority = 1\n",
            "tasks.toml:19:10: tasks[2].jitter = \"-1 ms\" is negative",
        ),
        (
            last,
            "priority = -1\n",
            "tasks.toml:19:12: tasks[2].priority = -1 is less than 1",
        ),
        (
            "\"20 ms\"",
            "\"99999999999999 h\"",
            "tasks.toml:18:10: tasks[2].period = \"99999999999999 h\" is longer than 292 years",
        ),
        (
            "\"20 ms\"",
            "\"0 ms\"",
            "tasks.toml:18:10: tasks[2].period = \"0 ms\"",
        ),
        (
            "period = \"20 ms\"",
            "after = \"log\"",
            "tasks.toml:18:9: tasks[2].after = \"log\"",
        ),
        (
            last,
            "priority = 1\n[[chains]]\nname = \"x\"\ntasks = [\"imu\", \"imu\"]\n",
            "appears twice in its chain",
        ),
        (
            last,
            "priority = 1\ndeadline = \"4 ms\"\n",
            "tasks.toml:17:13: tasks[2].execution = \"5 ms\" is longer than the deadline",
        ),
        (
            "name = \"log\"",
            "name = \"imu\"",
            "tasks.toml:16:8: tasks[2].name = \"imu\" is the name of an earlier task",
        ),
    ] {
        let place = Place::new();
        std::fs::write(place.path().join("tasks.toml"), BURNS.replacen(from, to, 1)).unwrap();
        let words = ["schedulability", "tasks.toml", "--output", "out.toml"];
        let finished = Start::command_in(place, &words).finish();
        finished.assert_code(1);
        assert!(
            finished.complaints.contains(expected),
            "{expected}: {}",
            finished.said()
        );
        assert!(
            finished.complaints.contains("; "),
            "a remedy: {}",
            finished.said()
        );
        assert!(finished.output.is_empty(), "{}", finished.said());
        assert!(
            !finished.place.path().join("out.toml").exists(),
            "{expected}"
        );
    }
    let phase = answer(BURNS, &["--overheads-phase", "idle"]);
    phase.assert_code(1);
    assert!(
        phase.complaints.contains("give one with --overheads"),
        "{}",
        phase.said()
    );
}

fn what_linux_would_stop_is_said() {
    let all = "policy = \"P-FP\"\n[[tasks]]\nname = \"a\"\nexecution = \"10 ms\"\nperiod = \"10 ms\"\npriority = 1\n";
    let finished = answer(all, &[]);
    finished.assert_code(0);
    assert!(
        finished.output.contains("can take 100 % of CPU 0"),
        "{}",
        finished.said()
    );
    let unlimited = format!("{all}[admission]\nruntime = \"1 s\"\n");
    let finished = answer(&unlimited, &[]);
    assert!(!finished.output.contains("can take"), "{}", finished.said());
}

fn sched_deadline_has_three_verdicts_apart() {
    // The kernel's documentation: admitted with a utilization of 0.6, and 60 ms due within 50.
    let set = "policy = \"SCHED_DEADLINE\"\n[[tasks]]\nname = \"a\"\nexecution = \"50 ms\"\n\
               deadline = \"50 ms\"\nperiod = \"100 ms\"\n[[tasks]]\nname = \"b\"\n\
               execution = \"10 ms\"\ndeadline = \"50 ms\"\nperiod = \"100 ms\"\n";
    let finished = answer(set, &["--json"]);
    finished.assert_code(2);
    let verdicts = &finished.json()["sched_deadline"];
    assert_eq!(verdicts["admitted"], true);
    assert_eq!(verdicts["proved_hard"], false);
    assert_eq!(verdicts["bounded_tardiness"], true);
    assert_eq!(finished.json()["tasks"][0]["tardiness_ns"], 10_000_000);
    // Proved on two CPUs of a root domain each, and not admitted by a kernel that keeps half.
    let apart = set
        .replacen(
            "[[tasks]]",
            "cpus = 2\ncluster = 1\n[admission]\nruntime = \"400 ms\"\n[[tasks]]",
            1,
        )
        .replacen("name = \"a\"", "name = \"a\"\ncpu = 0", 1)
        .replacen("name = \"b\"", "name = \"b\"\ncpu = 1", 1);
    let finished = answer(&apart, &["--json"]);
    finished.assert_code(2);
    let verdicts = &finished.json()["sched_deadline"];
    assert_eq!(verdicts["admitted"], false);
    assert_eq!(verdicts["proved_hard"], true);
    assert_eq!(verdicts["root_domains"][1]["admitted"], true);
}

fn reservations_beyond_a_cpu_are_not_admitted() {
    let mut set = "policy = \"SCHED_DEADLINE\"\n".to_owned();
    for name in ["a", "b"] {
        set += &format!(
            "[[tasks]]\nname = \"{name}\"\nexecution = \"1 ms\"\nperiod = \"40 ms\"\n\
             priority = 1\nreservation = \"of {name}\"\n[[reservations]]\nname = \"of {name}\"\n\
             budget = \"6 ms\"\nperiod = \"10 ms\"\nserver = \"constant-bandwidth\"\n"
        );
    }
    let finished = answer(&set, &["--json"]);
    finished.assert_code(2);
    let verdicts = &finished.json()["sched_deadline"];
    assert_eq!(verdicts["admitted"], false);
    let bandwidth = verdicts["root_domains"][0]["bandwidth"].as_f64().unwrap();
    assert!((bandwidth - 1.2).abs() < 1e-5, "{bandwidth}");
}
