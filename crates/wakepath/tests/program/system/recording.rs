//! Reading a run's JSON and samples the way the tests ask about them. It knows no wakepath report
//! code: figures are looked up where scripts look them up.

use crate::started::Finished;
use serde_json::Value;
use wakepath_timeline::Sample;

/// The judgement of a run's only condition.
#[track_caller]
pub fn only_condition(json: &Value) -> &Value {
    let conditions = json["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 1, "{json:#}");
    &conditions[0]
}

/// The judgement of a phase's first condition.
#[track_caller]
pub fn condition_in<'a>(json: &'a Value, phase: &str) -> &'a Value {
    let conditions = json["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|c| c["name"]["phase"] == phase);
    found.unwrap_or_else(|| panic!("no condition in phase {phase}: {json:#}"))
}

/// The kinds of the reasons for a condition's verdict.
pub fn reasons(condition: &Value) -> Vec<&str> {
    let reasons = condition["reasons"].as_array().unwrap();
    reasons
        .iter()
        .filter_map(|reason| reason["kind"].as_str())
        .collect()
}

/// A whole number in a judgement's cycles, such as `skipped`.
#[track_caller]
pub fn count(condition: &Value, name: &str) -> i64 {
    let value = &condition["cycles"][name];
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{name} is {value}"))
}

/// A figure of a distribution in milliseconds.
#[track_caller]
pub fn milliseconds(condition: &Value, distribution: &str, figure: &str) -> f64 {
    let value = &condition["cycles"][distribution][figure];
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{distribution} {figure} is {value}"))
        / 1e6
}

/// A quantile of a distribution in milliseconds.
#[track_caller]
pub fn quantile(condition: &Value, distribution: &str, parts_per_million: u64) -> f64 {
    let quantiles = condition["cycles"][distribution]["quantiles"]
        .as_array()
        .unwrap();
    let found = quantiles
        .iter()
        .find(|q| q["parts_per_million"] == parts_per_million);
    found.unwrap()["value"].as_f64().unwrap() / 1e6
}

/// The judged samples of a segment's first thread.
pub fn judged(finished: &Finished, segment: u32) -> Vec<Sample> {
    let samples = finished.samples(segment).into_iter();
    samples.filter(|sample| !sample.is_warm_up()).collect()
}

/// The most due times skipped between two executed cycles.
pub fn largest_gap(samples: &[Sample]) -> u64 {
    let gaps = samples
        .windows(2)
        .map(|two| two[1].cycle - two[0].cycle - 1);
    gaps.max().unwrap_or(0)
}
