use super::*;
use wakepath_archive::Run;
use wakepath_directory::Trust;
use wakepath_service::{Round, RoundThread, Rounds};

const SCHEMA: &str = include_str!("../../../../../docs/reference/results.schema.json");
const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/format-1");

#[test]
fn what_is_written_of_rounds_is_what_the_schema_says() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("rounds");
    let mut rounds = Rounds::prepare(&path, Trust::Any, 5, Some(b"{}")).unwrap();
    let run = Run::open(Path::new(FIXTURE)).unwrap();
    let scenario = wakepath_assess::Assessment::new(&run).unwrap();
    let threads = run.manifest.segments.iter().filter(|of| !of.traced);
    let threads = threads.flat_map(|segment| {
        let criterion = scenario.criterion.clone();
        segment.threads.iter().map(move |thread| {
            let judged = RoundThread {
                condition: wakepath_verdict::ConditionName {
                    policy: Some(thread.requested),
                    phase: segment.phase.clone(),
                    task: None,
                },
                criterion: criterion.clone(),
                until: wakepath_verdict::Until::WindowEnd,
            };
            ((segment.segment, thread.thread), judged)
        })
    });
    rounds
        .take(&Round {
            number: 1,
            of: 2,
            segment: "round-000001",
            run: &run,
            threads: &threads.collect(),
            findings: &BTreeMap::new(),
            offset_ns: Some(0),
            begins: None,
        })
        .unwrap();
    let (summary, worst) = (summary(&path).unwrap(), read_worst(&path).unwrap());
    let judged = summary.judged();
    let outcome = outcome_of(&summary, &judged);
    let json = as_json(&summary, outcome, &loops(&summary, &judged), &worst);
    assert!(!json["service"]["loops"].as_object().unwrap().is_empty());
    let validator = jsonschema::validator_for(&SCHEMA.parse::<Value>().unwrap()).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&json)
        .map(|error| format!("{}: {error:.300}", error.instance_path()))
        .collect();
    assert_eq!(errors, Vec::<String>::new());
    let mut other = json;
    other["service"]["loops"] = Value::Null;
    assert!(!validator.is_valid(&other), "the check can fail");
}
