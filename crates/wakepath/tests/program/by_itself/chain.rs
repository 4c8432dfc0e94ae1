//! A program whose threads wake one another.

use crate::started::{Place, Start, built, needs_real_time, needs_tracing};

wakepath_test_program::tests![a_chain_of_threads_takes_as_long_as_its_program_noted];

const WHAT: &str = "watching a chain of threads";
const MS: u64 = 1_000_000;

fn a_chain_of_threads_takes_as_long_as_its_program_noted() {
    needs_tracing(WHAT);
    needs_real_time(WHAT);
    let _turn = super::turn();
    let place = Place::new();
    let program = built(&place, "chain", WHAT);
    let noted = place.path().join("noted");
    let words = ["watch", "--stacks", "--directory", "run", "--json", "--"];
    let finished = Start::command_in(place, &words)
        .with(&[program.as_os_str(), noted.as_os_str()])
        .finish();
    finished.skip_unless_watched(WHAT);
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
    // Those that found the filter busy are among them.
    assert!(number(&chain["ended"]) >= 195, "{}", finished.said());
    let noted = std::fs::read_to_string(noted).unwrap();
    let noted: Vec<u64> = noted
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    let [late, longest_ns] = noted[..] else {
        panic!("{noted:?}");
    };
    assert!(late >= 4, "{noted:?}");
    let [at_least, at_most] = [&chain["late"], &chain["late_at_most"]].map(number);
    assert!(
        at_least <= late + 1 && late <= at_most + 1 && at_most <= at_least + 2,
        "{late} late\n{}",
        finished.said()
    );
    let [least_ns, max_ns] =
        [&chain["least_latency_ns"], &chain["latency_ns"]].map(|of| number(&of["max"]));
    assert!(
        least_ns < longest_ns + MS / 2 && longest_ns < max_ns + MS / 2,
        "longest {longest_ns}\n{}",
        finished.said()
    );
    assert!(max_ns < longest_ns + 2 * MS, "{}", finished.said());
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
    assert!(number(&first["passes"]) + 1 >= late, "{}", finished.said());
    let [late_ns, own_ns] = [&chain["late_ns"], &first["ns"]].map(number);
    assert!(
        own_ns < late_ns && own_ns * 10 > late_ns * 7,
        "{}",
        finished.said()
    );
    let parts = chain["longest"].as_array().unwrap().iter();
    let parts = parts.map(|part| number(&part["waited_ns"]) + number(&part["took_ns"]));
    let parts_ns: u64 = parts.sum();
    // A pass whose parts are not seen can have a later bound.
    assert!(
        parts_ns <= max_ns && parts_ns + MS / 2 > longest_ns,
        "{longest_ns}\n{}",
        finished.said()
    );

    let words = ["explain", "run", "--json"];
    let in_json = Start::command_in(finished.place, &words).finish();
    assert_eq!(in_json.json()["chains"][0]["late"], chain["late"]);

    let explained = Start::command_in(in_json.place, &["explain", "run"]).finish();
    let lines: Vec<&str> = explained.output.lines().collect();
    assert!(
        lines[1].starts_with("chain of threads")
            && lines[3].starts_with("sensor → filter → actuator: the "),
        "{}",
        explained.said()
    );
}
