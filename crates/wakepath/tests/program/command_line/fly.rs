//! Flying a recorded run: the answer, and refusals.

use crate::started::{Finished, Start, loop_cpu};
use std::path::Path;

wakepath_test_program::tests![
    a_run_is_flown_with_the_vehicle_asked_for_beside_the_ideal_flight,
    a_criterion_that_the_flight_does_not_meet_is_exit_code_2_of_run_show_and_fly,
    what_can_not_be_flown_is_refused_in_one_line,
];

fn a_run(flight: &str) -> Finished {
    let finished = Start::scenario(&format!(
        "rate = \"250 Hz\"\nduration = \"400 ms\"\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n\
         criterion = {{ miss-fraction = \"90 %\" }}\n{flight}",
        loop_cpu()
    ))
    .finish();
    assert!(finished.code() != Some(1), "{}", finished.said());
    finished
}

fn fly(run: &Path, options: &[&str]) -> Finished {
    Start::command(&["fly"]).with(&[run]).with(options).finish()
}

fn a_run_is_flown_with_the_vehicle_asked_for_beside_the_ideal_flight() {
    let run = a_run("");
    let text = fly(&run.directory, &[]);
    text.assert_code(0);
    for shown in ["the Hummingbird circles", "without latency", "no criterion"] {
        assert!(text.output.contains(shown), "{shown}: {}", text.said());
    }
    let options = [
        "--vehicle",
        "crazyflie",
        "--sample",
        "release",
        "--missed",
        "zero",
    ];
    let json = fly(
        &run.directory,
        &[
            &options[..],
            &["--trajectory", "hover", "--seed", "7", "--json"],
        ]
        .concat(),
    );
    json.assert_code(0);
    let json = json.json();
    assert_eq!(json["vehicle"], "Crazyflie");
    let settings = &json["settings"];
    assert_eq!(settings["choices"]["sampling"], "at-release");
    assert_eq!(settings["choices"]["missed"], "zero");
    assert_eq!(settings["noise"]["seed"], 7);
    assert!(json["conditions"][0]["flight"]["flights"]["ideal"].is_object());
    assert!(json["searches"][0]["latency"]["lost"].is_u64());
}

fn a_criterion_that_the_flight_does_not_meet_is_exit_code_2_of_run_show_and_fly() {
    let run = a_run("[flight]\nvehicle = \"crazyflie\"\ndelay-margin = \"5 periods\"\n");
    run.assert_code(2);
    let shown = Start::command(&["show"]).with(&[&run.directory]).finish();
    shown.assert_code(2);
    // The rest is the Crazyflie's 8.53 ms at 250 Hz less this machine's own delays.
    let left = shown.output.split("flight: delay margin left ").nth(1);
    let left = left.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let left = left.unwrap_or_else(|| panic!("{}", shown.said()));
    assert!(left > 0.0 && left < 8.54, "{left} ms left");
    // Only the report of a run that was flown has a chapter about it.
    let has_chapter = |run: &Finished| {
        let report = run.directory.join("report.html");
        let page = std::fs::read_to_string(report).unwrap();
        page.contains("id=\"flight-0\"")
    };
    assert!(has_chapter(&run));
    assert!(!has_chapter(&a_run("")));
    let flown = fly(&run.directory, &[]);
    flown.assert_code(2);
    assert!(flown.output.contains("20 ms asked for"), "{}", flown.said());
}

fn what_can_not_be_flown_is_refused_in_one_line() {
    let run = a_run("");
    let folder = run.directory.parent().unwrap();
    let vehicle = include_str!("../../../../../vehicles/hummingbird.toml");
    let bad = folder.join("bad.toml");
    std::fs::write(&bad, vehicle.replace("mass_kg = 0.5", "")).unwrap();
    let bad = bad.to_str().unwrap();
    for (options, said) in [
        (["--vehicle", bad], "missing field `mass_kg`"),
        (
            ["--vehicle", "zeppelin"],
            "built in are hummingbird and crazyflie",
        ),
        (
            ["--trajectory", "spiral"],
            "known are circle, hover and step",
        ),
        (["--sample", "later"], "known are wake and release"),
        (["--missed", "gone"], "known are hold and zero"),
        (["--overrun", "later"], "known are skip, queue and kill"),
    ] {
        fly(&run.directory, &options).assert_refused(1, &[said]);
    }
    let nothing = fly(folder, &[]);
    nothing.assert_code(1);
    assert!(
        nothing.complaints.contains("not a run directory"),
        "{}",
        nothing.said()
    );
}
