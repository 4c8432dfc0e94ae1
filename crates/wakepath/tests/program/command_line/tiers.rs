//! `wakepath tiers` and the tiers as criteria; `wakepath loads`. The rules of tiers have tests of their
//! own.

use crate::started::{Finished, Start, loop_cpu};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use wakepath_archive::Manifest;

wakepath_test_program::tests![
    a_run_at_1_khz_is_evidence_for_every_tier_that_a_thread_may_reach,
    a_run_that_was_due_more_seldom_says_what_to_measure,
    a_pin_can_not_be_driven_without_lines_that_are_here,
    a_pin_that_was_driven_is_shown_with_the_run_and_decides_with_it,
    the_loads_are_listed_with_what_each_disturbs_and_what_is_missing,
];

fn outcomes(json: &Value) -> Vec<Option<&str>> {
    let tiers = json["tiers"].as_array().expect("a list");
    tiers.iter().map(|tier| tier["outcome"].as_str()).collect()
}

fn a_run_at_1_khz_is_evidence_for_every_tier_that_a_thread_may_reach() {
    let text = format!(
        "rate = \"1 kHz\"\ncycles = 1500\npolicies = [\"OTHER\"]\ncpu = {}\ncriterion = \"1 ms tier\"\n\
         phases = [{{ name = \"idle\" }}]\n",
        loop_cpu()
    );
    let measured = Start::scenario(&text).finish();
    let manifest = std::fs::read_to_string(measured.directory.join("manifest.json")).unwrap();
    assert!(
        manifest.contains("latency = \\\"100 us\\\""),
        "a tenth of 1 ms"
    );

    let shown = Start::command(&["tiers", "--json"])
        .with(&[&measured.directory])
        .finish();
    let json = shown.json();
    let [none, neither, ms, more, most] = outcomes(&json)[..] else {
        panic!("{json:#}");
    };
    assert_eq!((none, neither), (None, None), "no thread");
    let known = ["passed", "failed", "undecided"];
    for (at, outcome) in [ms, more, most].into_iter().enumerate() {
        assert!(known.contains(&outcome.unwrap()), "{json:#}");
        let policy = &json["tiers"][at + 2]["policies"][0];
        assert_eq!(policy["scheduled"], 1500, "{policy:#}");
    }
    // A turn too late for a longer tier is too late for every shorter one.
    let missed = |at: usize| json["tiers"][at]["policies"][0]["missed"].as_u64().unwrap();
    assert!(missed(2) >= missed(3) && missed(3) >= missed(4), "{json:#}");
    let all = [ms, more, most];
    let expected = match (
        all.contains(&Some("failed")),
        all.contains(&Some("undecided")),
    ) {
        (true, _) => 2,
        (_, true) => 3,
        _ => 0,
    };
    shown.assert_code(expected);
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1")
}

/// The same run as of a kernel that no machine has: the one that it was recorded on may be this one.
fn recorded_elsewhere(place: &Path) -> PathBuf {
    let run = place.join("elsewhere");
    std::fs::create_dir(&run).unwrap();
    let samples = "samples.parquet";
    std::fs::copy(recorded().join(samples), run.join(samples)).unwrap();
    let mut manifest = Manifest::read(&recorded()).unwrap();
    for taken in &mut manifest.facts {
        taken.facts["fixed"]["kernel"]["release"]["value"] = json!("0.0.0-nowhere");
    }
    std::fs::write(run.join("manifest.json"), manifest.to_bytes()).unwrap();
    run
}

fn a_run_that_was_due_more_seldom_says_what_to_measure() {
    let shown = Start::command(&["tiers"]).with(&[recorded()]).finish();
    assert!(
        shown
            .output
            .contains("for the tier of 1 ms:\n  wakepath check --rate 1kHz"),
        "{}",
        shown.output
    );
    assert!(
        shown.output.contains("1 µs: no Linux thread: "),
        "{}",
        shown.output
    );
}

fn measured_at_1_khz() -> Finished {
    let text = format!(
        "rate = \"1 kHz\"\ncycles = 700\npolicies = [\"OTHER\"]\ncpu = {}\ncriterion = \"200 ms tier\"\n\
         phases = [{{ name = \"idle\" }}]\n",
        loop_cpu()
    );
    Start::scenario(&text).finish()
}

fn a_pin_can_not_be_driven_without_lines_that_are_here() {
    let measured = measured_at_1_khz();
    let own = measured.directory.to_str().unwrap();
    let elsewhere = recorded_elsewhere(measured.place.path());
    let pair = ["--drive", "gpiochip0:17", "--read", "gpiochip0:27"];
    let none = ["--drive", "none:0", "--read", "none:1"];
    for (run, more, why) in [
        (
            own,
            &pair[..2],
            "--drive gpiochip0:17: a line that is only driven shows nothing",
        ),
        (
            own,
            &pair[2..],
            "--read gpiochip0:27: on a line that nothing drives",
        ),
        (
            own,
            &["--drive", "17", "--read", "18"],
            "--drive 17: give CHIP:LINE, such as gpiochip0:17",
        ),
        (own, &none, "GPIO chip"),
        (
            own,
            &[&pair[..], &["--policy", "DEADLINE 1ms/2ms/2ms"]].concat(),
            "a reservation has one period",
        ),
        (
            own,
            &[&pair[..], &["--policy", "EVL FIFO 80"]].concat(),
            "leaves its real-time core",
        ),
        (
            own,
            &[&pair[..], &["--cpu", "4000"]].concat(),
            "--cpu 4000: only CPU",
        ),
        (
            elsewhere.to_str().unwrap(),
            &pair,
            "was measured on another machine or under another kernel",
        ),
    ] {
        let refused = Start::command(&["tiers", run]).with(more).finish();
        refused.assert_code(1);
        let said = refused.errors();
        assert!(
            said.len() == 1 && said[0].contains(why),
            "{more:?}: {said:?}"
        );
    }
    assert!(!measured.directory.join("pin.json").exists());
}

fn a_pin_that_was_driven_is_shown_with_the_run_and_decides_with_it() {
    let measured = measured_at_1_khz();
    let file = measured.directory.join("pin.json");
    // 1000 edges of each half period, each 30 µs late: within a tenth of 1 ms and not of 200 µs.
    let step = |half: u64| {
        let due = |cycle: u64| 1_000_000 + cycle * half;
        let driven =
            (0..1000).map(|cycle| json!([cycle, due(cycle) + 10_000, due(cycle) + 11_000]));
        let edges = (0..1000).map(|cycle| json!([due(cycle) + 30_000, cycle + 3]));
        json!({
            "half_period_ns": half, "due": 1000, "start_ns": 1_000_000, "before": 2,
            "driven": driven.collect::<Value>(), "edges": edges.collect::<Value>(),
        })
    };
    let record = json!({
        "drive": "gpiochip0:17", "read": "gpiochip0:27", "policy": "FIFO 80", "cpus": [0],
        "started": "2026-01-01T00:00:00Z", "kernel": "6.12", "wakepath": "0",
        "steps": [step(1_000_000), step(200_000)],
    });
    std::fs::write(&file, record.to_string()).unwrap();
    let shown = Start::command(&["tiers"])
        .with(&[&measured.directory])
        .finish();
    for part in [
        "The pin gpiochip0:17 keeps its edges down to 1 ms from one to the next.",
        "200 µs: failed: missed 1000 of 1000 due times (100 %)",
        "tiers by this pin: 1 ms yes, 20 ms yes, 200 ms yes",
        "driven under FIFO 80 on CPU 0",
    ] {
        assert!(shown.output.contains(part), "{part}\n{}", shown.output);
    }
    let json = Start::command(&["tiers", "--json"])
        .with(&[&measured.directory])
        .finish()
        .json();
    assert_eq!(json["pin"]["finest_kept_ns"], 1_000_000);
    let late = record
        .to_string()
        .replace("[[0,1010000,1011000]", "[[1,1010000,1011000]");
    std::fs::write(&file, late).unwrap();
    let refused = Start::command(&["tiers"])
        .with(&[&measured.directory])
        .finish();
    refused.assert_code(1);
    assert!(
        refused.errors()[0].contains("its times contradict each other"),
        "{:?}",
        refused.errors()
    );
    // Edges that were due and never came: the pin alone makes it a no.
    std::fs::write(
        &file,
        record.to_string().replace("\"due\":1000", "\"due\":100000"),
    )
    .unwrap();
    Start::command(&["tiers"])
        .with(&[&measured.directory])
        .finish()
        .assert_code(2);
}

fn the_loads_are_listed_with_what_each_disturbs_and_what_is_missing() {
    // Without a search path no package's program is there, wherever this test runs.
    let listed = Start::command(&["loads", "--json"])
        .environment("PATH", "/nowhere")
        .finish();
    listed.assert_code(0);
    let json = listed.json();
    let of = |name: &str| {
        let loads = json.as_array().expect("a list");
        let found = loads.iter().find(|load| load["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    let cpu = of("cpu");
    assert_eq!(
        (&cpu["is_built_in"], &cpu["lacks"]),
        (&true.into(), &Value::Null)
    );
    assert_eq!(of("files")["disturbs"][0], "storage");
    let missing = of("glmark2");
    assert_eq!(missing["disturbs"][0], "gpu");
    assert_eq!(
        missing["lacks"],
        "the program glmark2 is not installed; install the package glmark2"
    );
    assert_eq!(missing["is_built_in"], false);
    assert_eq!(of("ethercat")["disturbs"][0], "network");
}
