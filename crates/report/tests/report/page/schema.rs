//! The documented schemas of the JSON forms, held against what is written: no member is missing
//! from them, and none that they promise from what is written.

use super::made_up::{MadeUp, compared};
use serde_json::Value;
use std::path::Path;
use wakepath_archive::Run;
use wakepath_assess::Assessment;
use wakepath_report::to_json;

pub const RESULTS: &str = include_str!("../../../../../docs/reference/results.schema.json");
const COMPARISON: &str = include_str!("../../../../../docs/reference/comparison.schema.json");

/// The schema with every object closed whose members it lists, so that a new member fails here.
/// For readers it stays open, and for what depends on its kind.
fn closed(schema: &str) -> Value {
    fn close(value: &mut Value) {
        match value {
            Value::Object(members) => {
                let listed = members.get("properties").and_then(Value::as_object);
                if listed.is_some_and(|listed| !listed.contains_key("kind")) {
                    members.insert("additionalProperties".into(), false.into());
                }
                members.values_mut().for_each(close);
            }
            Value::Array(values) => values.iter_mut().for_each(close),
            _ => {}
        }
    }
    let mut schema = serde_json::from_str(schema).unwrap();
    close(&mut schema);
    schema
}

#[track_caller]
pub fn assert_valid(schema: &str, json: &str) {
    let validator = jsonschema::validator_for(&closed(schema)).unwrap();
    let value: Value = serde_json::from_str(json).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .map(|error| format!("{}: {error:.200}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn what_is_written_of_a_run_is_what_the_schema_says() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1");
    let run = Run::open(&recorded).unwrap();
    assert_valid(RESULTS, &to_json(&Assessment::new(&run).unwrap()));
    // With misses, so that reasons and outages are there.
    let late = vec![(400, 900_000), (1_400, 900_000)];
    let written = MadeUp::with_spikes(3_000, late).write();
    let run = Run::open(&written.directory).unwrap();
    let json = to_json(&Assessment::new(&run).unwrap());
    assert_valid(RESULTS, &json);
    // The check can fail.
    let validator = jsonschema::validator_for(&closed(RESULTS)).unwrap();
    let mut other: Value = serde_json::from_str(&json).unwrap();
    other["conditions"][0]["cycles"]["unknown"] = 1.into();
    assert!(!validator.is_valid(&other));
    other["conditions"][0]["cycles"] = Value::Null;
    assert!(!validator.is_valid(&other));
}

#[test]
fn what_is_written_of_a_comparison_is_what_the_schema_says() {
    let compared = compared(["first", "second"]);
    assert_valid(COMPARISON, &to_json(&compared));
}
