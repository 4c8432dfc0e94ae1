//! `wakepath import` with options that state what the file states too.

use super::import::{fixture, import};
use crate::started::Place;

wakepath_test_program::tests![
    an_option_that_contradicts_what_the_file_states_is_refused_and_one_that_agrees_is_not,
    options_that_a_trace_s_events_contradict_are_refused,
    a_limit_beyond_the_period_is_refused_with_the_option_and_the_file,
];

fn an_option_that_contradicts_what_the_file_states_is_refused_and_one_that_agrees_is_not() {
    let place = Place::new();
    for (file, option, given, stated) in [
        ("cyclictest.json", "--policy", "FIFO 90", "80"),
        ("cyclictest.json", "--policy", "OTHER", "80"),
        ("cyclictest.json", "--period", "2ms", "1 ms"),
        ("cyclictest-v.txt", "--policy", "FIFO 90", "80"),
        ("cyclictest-v.txt", "--period", "500us", "1 ms"),
        ("cyclictest-h-status.txt", "--period", "1ms", "500 µs"),
        ("stress-ng-cyclic.txt", "--policy", "RR 80", "FIFO"),
        ("export.csv", "--policy", "RR 80", "OTHER nice 0"),
    ] {
        let refused = import(&place, "run", "", &fixture(file), &[option, given]);
        let advice = format!("leave {option} out");
        refused.assert_refused(1, &[file, stated, option, "contradicts", &advice]);
    }
    assert!(!place.path().join("run").exists(), "a directory was made");
    let agreeing = ["--policy", "FIFO 80", "--period", "1ms"];
    import(&place, "a", "", &fixture("cyclictest.json"), &agreeing).assert_code(0);
    import(&place, "b", "", &fixture("cyclictest-v.txt"), &agreeing).assert_code(0);
}

fn options_that_a_trace_s_events_contradict_are_refused() {
    let place = Place::new();
    let with = |period, policy| {
        let told = ["--thread", "servo", "--period", period, "--policy", policy];
        import(&place, "run", "", &fixture("ftrace.txt"), &told)
    };
    for (period, policy, parts) in [
        (
            "7ms",
            "FIFO 80",
            ["a period of", "--period 7 ms contradicts"],
        ),
        (
            "2ms",
            "FIFO 51",
            ["FIFO or RR 80", "give --policy 'FIFO 80'"],
        ),
        ("2ms", "OTHER", ["FIFO or RR", "--policy OTHER contradicts"]),
    ] {
        with(period, policy).assert_refused(1, &parts);
    }
    assert!(!place.path().join("run").exists(), "a directory was made");
}

fn a_limit_beyond_the_period_is_refused_with_the_option_and_the_file() {
    let place = Place::new();
    let limit = ["--latency", "5ms"];
    let refused = import(&place, "run", "", &fixture("cyclictest-v.txt"), &limit);
    let parts = [
        "--latency 5ms: ",
        "cyclictest-v.txt (1 ms)",
        "give at most 1 ms",
    ];
    refused.assert_refused(1, &parts);
    assert!(!place.path().join("run").exists(), "a directory was made");
}
