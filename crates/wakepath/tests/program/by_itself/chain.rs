//! A program whose threads wake one another.

use crate::started::{Place, Start, built, is_root, needs_real_time, not_run};

wakepath_test_program::tests![a_chain_of_threads_takes_as_long_as_its_program_noted];

const WHAT: &str = "watching a chain of threads";
const MS: u64 = 1_000_000;

fn a_chain_of_threads_takes_as_long_as_its_program_noted() {
    if !is_root() {
        not_run(WHAT, "only root may trace");
    }
    needs_real_time(WHAT);
    let _turn = super::turn();
    let place = Place::new();
    let program = built(&place, "chain", WHAT);
    let noted = place.path().join("noted");
    let words = ["watch", "--stacks", "--directory", "run", "--json", "--"];
    let finished = Start::command_in(place, &words)
        .with(&[program.as_os_str(), noted.as_os_str()])
        .finish();
    if finished.complaints.contains("can't watch") {
        not_run(WHAT, finished.complaints.trim());
    }
    let json = finished.json();
    let [chain] = &json["chains"].as_array().unwrap()[..] else {
        panic!("{}", finished.said());
    };
    assert_eq!(
        chain["threads"],
        serde_json::json!(["sensor", "filter", "actuator"])
    );
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    assert_eq!(
        [&chain["period_ns"], &chain["limit_ns"]].map(number),
        [10 * MS; 2]
    );
    // While the filter was busy, a cycle or two began that did not wake it.
    assert!(number(&chain["ended"]) >= 180, "{}", finished.said());
    let noted = std::fs::read_to_string(noted).unwrap();
    let noted: Vec<u64> = noted
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    let [late, longest_ns] = noted[..] else {
        panic!("{noted:?}");
    };
    assert!(late >= 4, "{noted:?}");
    assert!(
        number(&chain["late"]).abs_diff(late) <= late / 4,
        "{late} late\n{}",
        finished.said()
    );
    let max_ns = number(&chain["latency_ns"]["max"]);
    // Two passes that the filter ran without a rest are one.
    assert!(
        max_ns + MS / 2 > longest_ns && max_ns < longest_ns + 2 * MS,
        "longest {longest_ns}\n{}",
        finished.said()
    );
    // The filter's longer computation is most of it.
    let causes = chain["causes"].as_array().unwrap();
    let first = &causes[0];
    assert_eq!(first["thread"], "filter", "{}", finished.said());
    let cause = first["cause"].as_str().unwrap();
    assert!(cause.contains("own code"), "{}", finished.said());
    // They were recorded.
    assert!(
        !first.to_string().contains("--stacks"),
        "{}",
        finished.said()
    );
    assert!(number(&first["passes"]) >= 4, "{}", finished.said());
    let [late_ns, own_ns] = [&chain["late_ns"], &first["ns"]].map(number);
    assert!(
        own_ns < late_ns && own_ns * 10 > late_ns * 7,
        "{}",
        finished.said()
    );
    let parts = chain["longest"].as_array().unwrap().iter();
    let parts = parts.map(|part| number(&part["waited_ns"]) + number(&part["took_ns"]));
    assert_eq!(parts.sum::<u64>(), max_ns);
}
