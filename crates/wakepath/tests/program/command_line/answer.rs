//! The short answer: what `check` prints fits one screen, piped too, and leads on.

use crate::started::{Place, Start, needs_real_time};
use crate::typed::{assert_is_known, spans};
use std::time::Duration;
use wakepath_timeline::columns::width;

wakepath_test_program::tests![
    a_quick_check_answers_in_one_screen_and_says_what_it_cannot_show,
    a_run_ends_at_the_first_latency_above_a_limit_and_says_why_it_was_late,
    the_highest_rate_lies_between_one_that_was_kept_and_one_that_was_not,
];

/// Twelve seconds of measuring, warm-ups, starts and loads' proofs, and a busy machine's time for the
/// rest.
const LONGEST: Duration = Duration::from_secs(60);

fn a_quick_check_answers_in_one_screen_and_says_what_it_cannot_show() {
    needs_real_time("check --quick");
    let words = ["check", "--quick", "--rate=250Hz", "--latency", "390us"];
    let finished = Start::command_in(Place::new(), &words).finish();
    let code = finished.code();
    assert!(matches!(code, Some(0 | 2 | 3)), "{}", finished.said());
    assert!(finished.took < LONGEST, "{:?}", finished.took);
    let output = &finished.output;
    assert!(output.starts_with("verdict: "), "{output}");
    assert!(output.lines().count() <= 40, "{output}");
    assert!(output.lines().all(|line| width(line) <= 100), "{output}");
    for part in [
        "criterion: ",
        "idle",
        "under load",
        "OTHER nice 0 ",
        "FIFO 50 ",
        "--quick: 2 of 8 policies, 3 s of each condition",
        "rarer than one in ",
        "next",
        "recording: wakepath-runs/check-",
        "report: wakepath-runs/check-",
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
    assert!(output.contains("latency ≤ 390 µs"), "{output}");
    // Only who asks for it has a vehicle.
    assert!(!output.contains("vehicle"), "{output}");
    let typed = spans(output, "  wakepath ");
    assert!(!typed.is_empty(), "{output}");
    for line in typed {
        assert_is_known(&line);
        let of_the_loop = ["check", "doctor", "tune"].map(|verb| format!("wakepath {verb} "));
        if of_the_loop.iter().any(|begin| line.starts_with(begin)) {
            assert!(line.contains("250Hz"), "{line}: {output}");
        }
    }
    let shown = Start::command_in(
        finished.place,
        &["show", "--histogram", "--policy", "FIFO 50"],
    )
    .finish();
    assert!(shown.output.contains("limit 390"), "{}", shown.said());
    assert!(shown.output.lines().count() <= 40, "{}", shown.output);
}

fn a_run_ends_at_the_first_latency_above_a_limit_and_says_why_it_was_late() {
    let scenario = format!(
        "rate = \"500 Hz\"\nduration = \"20 s\"\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\n\
         cpu = {}\n",
        crate::started::loop_cpu()
    );
    let stopped = Start::scenario(&scenario)
        .with(&["--stop-above", "1us"])
        .finish();
    if stopped.complaints.contains("nothing was measured") {
        crate::started::not_run("--stop-above", "nothing can be traced here");
    }
    stopped.assert_code(2);
    // Every wake-up takes longer than a microsecond: it ends long before its 20 s.
    assert!(stopped.took < Duration::from_secs(15), "{:?}", stopped.took);
    let found = stopped.json();
    assert_eq!(found["stopped"], true);
    let latency_ns = found["latency_ns"].as_u64().unwrap();
    assert!(latency_ns > 1_000, "{found}");
    assert_eq!(found["explained"]["cycle"], found["cycle"], "{found}");
    assert_eq!(found["explained"]["latency_ns"].as_u64(), Some(latency_ns));

    // For a person it is one screen, piped too.
    let place = Place::new();
    let named = format!("name = \"a\"\n{scenario}");
    std::fs::write(place.path().join("a.toml"), named).unwrap();
    let said = Start::command_in(place, &["run", "a.toml", "--stop-above", "1us"]).finish();
    let output = &said.output;
    assert!(output.starts_with("stopped: "), "{}", said.said());
    assert!(output.lines().count() <= 40, "{output}");
    assert!(output.lines().all(|line| width(line) <= 100), "{output}");
    assert!(output.contains("wakepath explain --cycle "), "{output}");

    let scenario = scenario.replace("20 s", "400 ms");
    let whole = Start::scenario(&scenario)
        .with(&["--stop-above", "100s"])
        .finish();
    whole.assert_code(0);
    let found = whole.json();
    assert_eq!(
        (&found["stopped"], &found["complete"]),
        (&false.into(), &true.into())
    );
    // A starved machine skips some.
    assert!(
        (1..=200).contains(&found["cycles"].as_u64().unwrap()),
        "{found}"
    );
    let wrong = Start::scenario(&scenario)
        .with(&["--stop-above", "200"])
        .finish();
    wrong.assert_code(1);
    assert!(
        wrong.complaints.contains("--stop-above 200 has no unit"),
        "{}",
        wrong.said()
    );
}

fn the_highest_rate_lies_between_one_that_was_kept_and_one_that_was_not() {
    let words = [
        "rate",
        "--policy",
        "OTHER nice -1",
        "--from",
        "1kHz",
        "--to",
        "1.1kHz",
        "--block",
        "6s",
        "--directory",
        "rates",
        "--json",
    ];
    needs_real_time("rate");
    let first = Start::command_in(Place::new(), &words).finish();
    let json = first.json();
    let steps = json["steps"].as_array().unwrap();
    // Both ends, or the lower alone where not even that was kept.
    let kept = json["kept_hz"].as_u64();
    assert_eq!(steps.len(), if kept.is_some() { 2 } else { 1 }, "{json}");
    assert!(
        kept.is_none_or(|kept| kept == 1000 || kept == 1100),
        "{json}"
    );
    let again = Start::command_in(first.place, &words).finish();
    assert_eq!(again.status, first.status);
    let mut second = again.json();
    for step in second["steps"].as_array_mut().unwrap() {
        assert_eq!(step["was_there"], true, "{step}");
        step["was_there"] = false.into();
    }
    assert_eq!(second, json);
    let short = Start::command(&["rate", "--block", "5s"]).finish();
    short.assert_refused(
        1,
        &["at 100 Hz: --block 5s is too short", "give --block 17s"],
    );
    assert!(!short.place.path().join("wakepath-runs").exists());
    let wrong = Start::command(&["rate", "--from", "1kHz", "--to", "1kHz"]).finish();
    wrong.assert_code(1);
    assert!(
        wrong.complaints.contains("the first must be the lower"),
        "{}",
        wrong.said()
    );
}
