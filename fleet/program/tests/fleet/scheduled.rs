//! Schedules: called repeatedly, as by a timer, each job is begun, fetched and archived once.

use crate::world::{Like, World, open_to_all, stand_in};
use std::time::{SystemTime, UNIX_EPOCH};
use wakepath_evidence::compact;
use wakepath_fleet_made_up::MadeUp;

wakepath_test_program::tests![a_job_that_is_due_is_begun_fetched_and_archived_once];

/// It takes two seconds by its own estimate.
const SCENARIO: &str = "name = \"short\"\nrate = \"100 Hz\"\nduration = \"1 s\"\nwarm-up = \"0 ms\"\npolicies = [\"OTHER\"]\n";

fn a_job_that_is_due_is_begun_fetched_and_archived_once() {
    let world = World::new(&[Like::default(); 2]);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let time = now / 60 * 60;
    let job = format!("night-{}", compact(time));
    std::fs::write(world.path("short.toml"), SCENARIO).unwrap();
    let inventory = std::fs::read_to_string(world.path("fleet.toml")).unwrap();
    let (hour, minute) = (time / 3600 % 24, time / 60 % 60);
    let schedule = format!(
        "[[schedules]]\nname = \"night\"\nscenario = \"short.toml\"\non = [\"all\"]\nat = [\"{hour:02}:{minute:02}Z\"]\n\
         archive = \"archive\"\n"
    );
    std::fs::write(world.path("fleet.toml"), inventory + &schedule).unwrap();
    for number in 1..=2 {
        let run = world.home(number).join(format!("fixture/{job}"));
        let made_up = MadeUp {
            cycles: MadeUp::PASSES,
            ..MadeUp::number(number.into())
        };
        made_up.write(&run);
        open_to_all(&run);
    }
    let pass = || world.told(&["schedule"]);
    let push = |on: &str| {
        let program = stand_in().to_str().unwrap();
        let (code, out, err) = world.told(&["push", "--on", on, "--program", program]);
        assert_eq!(code, 0, "{out}{err}");
    };

    push("name=board1");
    let (code, out, err) = pass();
    assert_eq!(code, 1, "{out}{err}");
    assert!(
        out.contains(&format!("{job}: board1: measuring")),
        "{out}{err}"
    );
    assert!(
        out.contains(&format!("{job}: board2: not begun: ")),
        "{out}"
    );
    // A known failure is not reported again, and still counts as one.
    assert_eq!(pass(), (1, String::new(), String::new()));
    push("name=board2");
    let (code, out, err) = pass();
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let begun = format!("{job}: board2: measuring");
    assert!(out.lines().any(|line| line.starts_with(&begun)), "{out}");

    // On a busy machine the first board has its results by now, which this pass reports too.
    let mut said = out;
    for _ in 0..100 {
        let (code, out, err) = pass();
        assert_eq!(code, 0, "{out}{err}");
        said += &out;
        if said.matches(": added").count() == 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    for number in 1..=2 {
        let run = MadeUp::number(number).run_id;
        for line in [
            format!("{job}: board{number}: passed"),
            format!("{job}: board{number}: {run}: added"),
        ] {
            assert_eq!(
                said.lines().filter(|said| **said == line).count(),
                1,
                "{line}: {said}"
            );
        }
    }
    assert_eq!(pass(), (0, String::new(), String::new()));
    // A controller that was killed before it could note it adds it again, which changes nothing.
    std::fs::remove_file(world.path(&format!("wakepath-fleet/jobs/{job}/board1.archived")))
        .unwrap();
    let (code, out, _) = pass();
    assert!(code == 0 && out.ends_with(": was there\n"), "{out}");
    let records = std::fs::read_dir(world.path("archive/runs")).unwrap();
    let is_record = |name: std::ffi::OsString| name.to_string_lossy().ends_with(".json");
    let names = records.map(|entry| entry.unwrap().file_name());
    assert_eq!(names.filter(|name| is_record(name.clone())).count(), 2);

    let (code, out, err) = world.told(&["schedule", "--show"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains(&format!("  {job}: 2 passed\n")) && !out.contains("missed"),
        "{out}"
    );
    // A day's job that nobody began, between two that were begun.
    let old = format!("night-{}", compact(time - 2 * 86_400));
    world.shell(&format!(
        "cd wakepath-fleet/jobs && cp -r {job} {old} && sed -i s/{job}/{old}/ {old}/*.json"
    ));
    let (_, out, _) = world.told(&["schedule", "--show", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}"));
    let missed = told["schedules"][0]["missed"].as_array().unwrap();
    assert_eq!(missed.len(), 1, "{out}");
}
