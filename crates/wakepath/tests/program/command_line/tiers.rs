//! `wakepath tiers` and the tiers as criteria; `wakepath loads`. What decides a tier has its tests where that
//! is.

use crate::started::{Start, loop_cpu};
use serde_json::Value;
use std::path::{Path, PathBuf};

wakepath_test_program::tests![
    a_run_at_1_khz_is_evidence_for_every_tier_that_a_thread_may_reach,
    a_run_that_was_due_more_seldom_says_what_to_measure,
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
    // What is served too late for a longer tier is too late for every shorter one.
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

fn a_run_that_was_due_more_seldom_says_what_to_measure() {
    let shown = Start::command(&["tiers"]).with(&[recorded()]).finish();
    assert!(
        shown
            .output
            .contains("for the tier of 1 ms, wakepath check --rate 1000Hz"),
        "{}",
        shown.output
    );
    assert!(
        shown.output.contains("1 µs: no Linux thread: "),
        "{}",
        shown.output
    );
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
