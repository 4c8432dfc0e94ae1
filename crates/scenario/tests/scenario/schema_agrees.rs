//! The schema and the reader agree on the same documents.
//!
//! Every file of the repository, and each of their values replaced by ones at the edges of the
//! valid range. The schema's expressions are compiled and matched by the rules of ECMA-262 with the
//! flag `u`, as JSON Schema requires.

use crate::files::{as_json, folder};
use serde_json::{Value, json};
use wakepath_scenario::{KnownCpus, Scenario, json_schema};

/// Files that the schema accepts and the reader refuses: for CPUs that a machine lacks,
const OF_THE_MACHINE: [&str; 3] = [
    "cpu-not-there.toml",
    "cpus-not-there.toml",
    "load-cpu-not-there.toml",
];
/// for a quantity or a bound that is no whole number of its unit,
const FRACTIONS: [&str; 4] = [
    "core-latency-parts.toml",
    "cpu-dma-latency-fraction.toml",
    "deadline-runtime-too-short.toml",
    "period-fraction.toml",
];
/// and for one value held against another.
const SEVERAL_VALUES: [&str; 21] = [
    "core-accounting.toml",
    "cpus-backwards.toml",
    "deadline-beyond-bandwidth.toml",
    "deadline-deadline-beyond-period.toml",
    "deadline-period-too-long-default.toml",
    "deadline-period-too-long.toml",
    "deadline-runtime-beyond-deadline.toml",
    "deadline-runtime-beyond-period.toml",
    "duration-beyond-a-year.toml",
    "duration-too-short.toml",
    "flight-afterwards-too-slow.toml",
    "flight-too-slow.toml",
    "latency-beyond-deadline.toml",
    "litmus-partition.toml",
    "outage-below-period.toml",
    "phase-twice.toml",
    "policy-twice.toml",
    "repetitions-beyond-cycles.toml",
    "task-name-twice.toml",
    "tasks-beyond-bandwidth.toml",
    "work-waypoints-out-of-order.toml",
];

/// All of them, in alphabetical order.
pub(crate) fn beyond_the_schema() -> Vec<&'static str> {
    let mut beyond = [&OF_THE_MACHINE[..], &FRACTIONS, &SEVERAL_VALUES].concat();
    beyond.sort_unstable();
    beyond
}

fn as_toml(document: &Value) -> Option<String> {
    toml::to_string(document).ok()
}

fn is_read(text: &str) -> bool {
    Scenario::parse(text, "a.toml", &KnownCpus::first(4)).is_ok()
}

/// Every pattern of the schema.
fn patterns(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("pattern", Value::String(pattern)) => found.push(pattern.clone()),
                    _ => patterns(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| patterns(item, found)),
        _ => {}
    }
}

#[test]
fn every_pattern_is_one_of_ecma_262_with_the_flag_u() {
    let schema = json_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let mut all = Vec::new();
    patterns(&schema, &mut all);
    assert!(all.len() > 20, "{}", all.len());
    for pattern in &all {
        let compiled = regress::Regex::with_flags(pattern, "u");
        assert!(compiled.is_ok(), "{pattern}: {:?}", compiled.err());
    }
    let policies = &schema["properties"]["policies"]["items"]["anyOf"][0]["pattern"];
    let short =
        regress::Regex::with_flags(policies.as_str().expect("a pattern"), "u").expect("compiles");
    for policy in [
        "OTHER",
        "other nice -19",
        "BATCH nice 5",
        "IDLE",
        "FIFO 99",
        "Rr 50",
        "EVL FIFO 80",
        "COBALT FIFO 80",
        "LITMUS P-FP 10",
        "litmus psn-edf, budget 400us, release sleep",
        "DEADLINE 400us",
        "DEADLINE 400us/2ms/4ms",
    ] {
        assert!(short.find(policy).is_some(), "{policy}");
    }
    for policy in ["FIFI 50", "LITMUS", "LITMUS X", "FIFO50", ""] {
        assert!(short.find(policy).is_none(), "{policy}");
    }
}

#[test]
fn the_schema_refuses_every_bad_file_but_those_that_are_listed() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    let mut accepted = Vec::new();
    for (name, text) in folder("bad") {
        // Without an object there is nothing to hold against a schema.
        if as_json(&text).is_some_and(|document| validator.is_valid(&document)) {
            accepted.push(name);
        }
    }
    assert_eq!(accepted, beyond_the_schema(), "{}", accepted.len());
}

#[test]
fn the_schema_accepts_every_scenario_of_the_repository() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    let mut all = folder("good");
    all.extend(folder("../scenarios"));
    for (name, text) in all {
        let document = as_json(&text).expect("TOML");
        if let Err(error) = validator.validate(&document) {
            panic!("{name}: {error} at {}", error.instance_path());
        }
    }
}

/// Values at the edges of a key's range.
fn candidates() -> Vec<Value> {
    let mut all: Vec<Value> = [
        "",
        " ",
        "a",
        "a/b",
        ".a",
        "a ",
        "x\u{200b}",
        "x\ny",
        "0 ms",
        "1 ns",
        "0.5 ns",
        "9999 ns",
        "10 us",
        "4ms",
        "4 ms",
        "5 s",
        "100 s",
        "101 s",
        "400 h",
        "9000 h",
        "300000 h",
        "4",
        "-4 ms",
        "4 Hz",
        "4Hz",
        "0 Hz",
        "1 kHz",
        "1000 kHz",
        "0 %",
        "1 %",
        "50 %",
        "99 %",
        "100 %",
        "101 %",
        "0 periods",
        "1 period",
        "1.5 periods",
        "0",
        "0-1",
        "1-0",
        "3",
        "4000",
        "9000",
        "0 B",
        "1 KiB",
        "1 MiB",
        "64 GiB",
        "99999999 GiB",
        "FIFO 0",
        "FIFO 1",
        "FIFO 99",
        "FIFO 100",
        "fifo 50",
        "OTHER nice -20",
        "OTHER nice 20",
        "IDLE",
        "IDLE 1",
        "LITMUS P-FP 10",
        "DEADLINE 1ms",
        "DEADLINE 1ms/2ms/4ms",
    ]
    .map(|text| json!(text))
    .into();
    for number in [
        -1_i64,
        0,
        1,
        2,
        8,
        64,
        99,
        100,
        255,
        256,
        257,
        1000,
        1001,
        1024,
        1025,
        8191,
        8192,
        1_000_000_001,
        i64::MAX,
    ] {
        all.push(json!(number));
    }
    for number in [-0.5, 0.0, 1e-9, 0.5, 1.0, 1.5, 1e10] {
        all.push(json!(number));
    }
    all.extend([json!(true), json!([]), json!({})]);
    all
}

/// The paths of all values that aren't tables or lists.
fn leaves(document: &Value, path: &str, found: &mut Vec<String>) {
    match document {
        Value::Object(members) => {
            for (key, value) in members {
                leaves(value, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                leaves(value, &format!("{path}/{index}"), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

/// Number of candidates for each value, in turns, because the same key occurs often.
const EACH: usize = 6;

#[test]
fn the_schema_refuses_nothing_that_the_reader_accepts() {
    let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
    let mut all = folder("good");
    all.extend(folder("../scenarios"));
    let candidates = candidates();
    let (mut tried, mut wrongly_refused) = (0, Vec::new());
    for (name, text) in all {
        let document = as_json(&text).expect("TOML");
        let mut paths = Vec::new();
        leaves(&document, "", &mut paths);
        for (turn, path) in paths.iter().enumerate() {
            for value in candidates.iter().skip(turn % EACH).step_by(EACH) {
                let mut changed = document.clone();
                *changed.pointer_mut(path).expect("it is there") = value.clone();
                let Some(text) = as_toml(&changed) else {
                    continue;
                };
                tried += 1;
                if !validator.is_valid(&changed) && is_read(&text) {
                    wrongly_refused.push(format!("{name}{path} = {value}"));
                }
            }
        }
    }
    assert!(tried > 1_500, "{tried}");
    assert!(
        wrongly_refused.is_empty(),
        "of {tried}: {wrongly_refused:#?}"
    );
}
