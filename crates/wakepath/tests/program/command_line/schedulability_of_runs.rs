//! `wakepath schedulability` and runs: task sets taken from one, bounds held against one, overheads measured in one.

use super::schedulability::{BURNS, answer};
use crate::started::{Place, Start};
use std::path::{Path, PathBuf};
use std::process::Command;

wakepath_test_program::tests![
    a_recorded_run_is_a_task_set_and_says_what_was_guessed,
    what_was_promised_is_carried_out_and_held_against_what_is_observed,
    overheads_of_another_machine_are_refused_unless_said,
    what_caches_lose_is_measured_and_put_into_the_bounds,
];

/// A run of another machine than any that tests run on.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1")
}

fn a_recorded_run_is_a_task_set_and_says_what_was_guessed() {
    let fixture = fixture();
    let from = fixture.to_str().unwrap();
    let place = Place::new();
    let words = ["schedulability", "--from", from, "--output", "set.toml"];
    let finished = Start::command_in(place, &words).finish();
    finished.assert_code(0);
    for part in [
        "execution 1.21 µs, the largest of 523 observed",
        "loop: FIFO 50, one of 2 policies that the run compared: a guess",
        "loop: the deadline is the period: a guess",
    ] {
        assert!(finished.output.contains(part), "{}", finished.output);
    }
    let written = std::fs::read_to_string(finished.place.path().join("set.toml")).unwrap();
    assert!(written.starts_with("# taken from "), "{written}");
    answer(&written, &[]).assert_code(0);
    let words = [
        "schedulability",
        "--from",
        from,
        "--execution-quantile",
        "0.9999",
    ];
    let few = Start::command_in(Place::new(), &words).finish();
    few.assert_code(1);
    assert!(
        few.complaints.contains("523 cycles are too few"),
        "{}",
        few.said()
    );
}

const PROMISED: &str = "\
name = \"promised\"
cycles = 50
warm-up = \"10 ms\"
policies = [\"OTHER\"]

[criterion]
deadline = \"1 s\"

[[tasks]]
name = \"imu\"
period = \"2 ms\"
work = { kind = \"busy\", time = \"100 us\" }
response-bound = \"99 us\"

[[tasks]]
name = \"log\"
period = \"4 ms\"
response-bound = \"1 h\"
";

fn what_was_promised_is_carried_out_and_held_against_what_is_observed() {
    let text = BURNS.replacen("\"3 ms\"", "\"1 ms\"", 1);
    let words = [
        "--scenario",
        "placed.toml",
        "--units",
        "units",
        "--report",
        "answer.html",
    ];
    let carried = answer(&text, &words);
    carried.assert_code(0);
    let read = |name: &str| std::fs::read_to_string(carried.place.path().join(name)).unwrap();
    let placed = read("placed.toml");
    for line in [
        "response-bound = \"1 ms\"",
        "policy = \"FIFO 3\"",
        "time = \"980 us\"",
    ] {
        assert!(placed.lines().any(|found| found == line), "{placed}");
    }
    assert!(read("units/imu.service.d/wakepath.conf").contains("CPUSchedulingPriority=3"));
    assert!(read("answer.html").contains("log: the window of its worst job"));
    for sum in [
        "imu: 1.00 ms = 1.00 ms own execution",
        "control: 4.00 ms = 3.00 ms own execution + 1.00 ms of imu",
    ] {
        // No line ends between a number and its unit.
        let sum = sum.replace(" ms", "\u{a0}ms");
        assert!(read("answer.html").contains(&sum), "{sum}");
    }
    // A bound below the work itself can't hold: the answer begins with it, and the run fails.
    let place = Place::new();
    std::fs::write(place.path().join("promised.toml"), PROMISED).unwrap();
    let run = [
        "run",
        "promised.toml",
        "--directory",
        "run",
        "--no-tui",
        "--json",
    ];
    let finished = Start::command_in(place, &run).finish();
    finished.assert_code(2);
    let found = finished.json();
    let bounds = found["bounds"].as_array().unwrap();
    let contradicted: Vec<_> = bounds.iter().map(|held| &held["contradicted"]).collect();
    assert_eq!(contradicted, [true, false]);
    let remark = found["remarks"][0].as_str().unwrap();
    assert!(
        remark.starts_with("BOUND CONTRADICTED: imu took "),
        "{remark}"
    );
}

/// The fixture's manifest, sealed again, with a kernel that no machine has, this one least of all.
fn with_no_machines_kernel() -> String {
    const SEAL: &str = ",\n  \"sha256\": \"";
    let manifest = std::fs::read_to_string(fixture().join("manifest.json")).unwrap();
    let (content, _) = manifest.rsplit_once(SEAL).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let release = parsed.pointer("/facts/0/facts/fixed/kernel/release/value");
    let content = content.replace(release.unwrap().as_str().unwrap(), "0.0.1-another");
    let place = Place::new();
    let file = place.path().join("content");
    std::fs::write(&file, &content).unwrap();
    let digest = Command::new("sha256sum").arg(file).output().unwrap().stdout;
    let digest = String::from_utf8(digest).unwrap();
    format!("{content}{SEAL}{}\"\n}}\n", &digest[..64])
}

fn overheads_of_another_machine_are_refused_unless_said() {
    let place = Place::new();
    std::fs::write(place.path().join("promised.toml"), PROMISED).unwrap();
    std::fs::write(place.path().join("tasks.toml"), BURNS).unwrap();
    let run = ["run", "promised.toml", "--directory", "run", "--no-tui"];
    let finished = Start::command_in(place, &run).finish();
    let other = finished.place.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let samples = "samples.parquet";
    std::fs::copy(fixture().join(samples), other.join(samples)).unwrap();
    std::fs::write(other.join("manifest.json"), with_no_machines_kernel()).unwrap();
    let words = ["schedulability", "--from", "other", "--machine", "run"];
    let refused = Start::command_in(finished.place, &words).finish();
    refused.assert_code(1);
    assert!(
        refused
            .complaints
            .contains("was measured on another machine"),
        "{}",
        refused.said()
    );
    let said = [&words[..], &["--other-machine"]].concat();
    let taken = Start::command_in(refused.place, &said).finish();
    taken.assert_code(0);
    assert!(taken.output.contains("machine: "), "{}", taken.output);
}

/// 256 KiB and nothing, under an ordinary policy, so that no right is needed; and half of that next to a thread that
/// touches a line, and so takes nothing away.
const CACHE_DELAY: &str = "\
name = \"caches\"
rate = \"10 Hz\"
duration = \"1 s\"
warm-up = \"200 ms\"
policies = [\"OTHER nice 0\"]

[[phases]]
name = \"nothing\"
work = { kind = \"cache-delay\", bytes = \"0 B\", preempted-by = \"16 MiB\" }

[[phases]]
name = \"256 KiB\"
work = { kind = \"cache-delay\", bytes = \"256 KiB\", preempted-by = \"16 MiB\" }

[[phases]]
name = \"128 KiB, left alone\"
work = { kind = \"cache-delay\", bytes = \"128 KiB\", preempted-by = \"64 B\" }
";

fn what_caches_lose_is_measured_and_put_into_the_bounds() {
    let place = Place::new();
    std::fs::write(place.path().join("caches.toml"), CACHE_DELAY).unwrap();
    let run = place.path().join("caches");
    let measured = Start::command(&["run"])
        .with(&[place.path().join("caches.toml")])
        .with(&["--no-tui", "--directory"])
        .with(&[&run])
        .finish();
    measured.assert_code(0);
    let told = "lost to a preemption, median to largest of ";
    assert!(measured.output.contains(told), "{}", measured.output);
    // How late its threads wake up is nothing that anybody asked for.
    for latency in ["p99.9", "largest latency"] {
        assert!(!measured.output.contains(latency), "{}", measured.output);
    }
    let details = Start::command(&["show", "--details"])
        .with(&[&run])
        .finish();
    let row = details
        .output
        .lines()
        .find(|line| line.trim_start().starts_with("256 KiB"));
    assert!(row.is_some(), "{}", details.output);
    // It measures the caches: a line costs most of its fetching if another thread took it away, and not
    // otherwise.
    let shown = Start::command(&["show", "--json"]).with(&[&run]).finish();
    let per_line = |bytes: u64| {
        let found = shown.json()["cache_delays"].clone();
        let of = found.as_array().unwrap().iter();
        let mut of = of.filter(|one| one["working_set_bytes"] == bytes);
        let median_ns = of.next().unwrap()["preempted"]["median_ns"].as_u64();
        median_ns.unwrap() as f64 / (bytes / 64) as f64
    };
    let (taken_ns, left_ns) = (per_line(256 << 10), per_line(128 << 10));
    assert!(
        left_ns < taken_ns / 2.0,
        "a line costs {taken_ns} ns when it was taken away and {left_ns} ns when it was left"
    );

    let other = "[[tasks]]\nname = \"a\"\nexecution = \"1 ms\"\nperiod = \"10 ms\"\npriority = 2\n";
    let own = "[[tasks]]\nname = \"b\"\nexecution = \"1 ms\"\nperiod = \"20 ms\"\npriority = 1\n";
    let bounded = |working_set: &str| {
        let set = format!("policy = \"P-FP\"\n{other}{own}working-set = \"{working_set}\"\n");
        let place = Place::new();
        std::fs::write(place.path().join("tasks.toml"), set).unwrap();
        let words = [
            "schedulability",
            "tasks.toml",
            "--taken",
            "median",
            "--json",
            "--overheads",
        ];
        let asked = Start::command_in(place, &words).with(&[&run]).finish();
        asked.assert_code(0);
        asked.json()
    };
    // A job of a is charged with what b loses to it: 4096 lines, a nanosecond each at least.
    let (small, large) = (bounded("64 B"), bounded("256 KiB"));
    let response = |of: &serde_json::Value| of["tasks"][0]["response_ns"].as_u64().unwrap();
    assert!(
        response(&large) > response(&small) + 4096,
        "{small} {large}"
    );
    let unknown = large["overheads"]["unknown"].as_array().unwrap();
    assert_eq!(unknown.len(), 8, "{unknown:?}");
    assert!(!unknown.contains(&"cache-related delay".into()));
    let delays = large["overheads"]["cache_delays"].as_array().unwrap();
    assert_eq!(delays.len(), 3, "{delays:?}");
    let note = large["notes"][0].as_str().unwrap();
    assert!(note.starts_with("a: no working-set is given"), "{note}");
    let note = bounded("1 MiB")["notes"][1].as_str().unwrap().to_owned();
    assert!(
        note.starts_with("b: the working set is beyond 256 KiB"),
        "{note}"
    );
    // It was not traced: of a phase it tells nothing.
    std::fs::write(place.path().join("tasks.toml"), BURNS).unwrap();
    let words = [
        "schedulability",
        "tasks.toml",
        "--overheads-phase",
        "nothing",
        "--overheads",
    ];
    let refused = Start::command_in(place, &words).with(&[&run]).finish();
    refused.assert_code(1);
    assert!(
        refused.complaints.contains("holds no overheads"),
        "{}",
        refused.said()
    );
}
