//! `wakepath rate` of a scenario: each step is a run that stays, a resumed search measures none again, and
//! one for a different scenario is refused.

use crate::started::{Place, Start, loop_cpu, wait_until};
use rustix::process::Signal;
use wakepath_archive::Run;

wakepath_test_program::tests![
    a_scenario_s_highest_rate_is_found_with_a_run_for_each_step,
    a_step_whose_search_was_killed_is_measured_again,
    of_tasks_one_has_its_rate_searched_for_while_the_others_keep_theirs,
];

fn a_scenario_s_highest_rate_is_found_with_a_run_for_each_step() {
    let place = Place::new();
    // Kept at any rate: the ends alone are measured.
    let scenario = format!(
        "name = \"any\"\nrate = \"250 Hz\"\nduration = \"1 s\"\nwarm-up = \"100 ms\"\n\
         policies = [\"OTHER\"]\ncpu = {}\nphases = [{{ name = \"idle\" }}]\n\
         criterion = {{ miss-fraction = \"99.9999 %\" }}\n",
        loop_cpu()
    );
    std::fs::write(place.path().join("any.toml"), scenario).unwrap();
    let words = [
        "rate", "any.toml", "--from", "100Hz", "--to", "200Hz", "--block", "2s",
    ];
    let search = |place, more: &[&str]| {
        let into = ["--json", "--directory", "found"];
        Start::command_in(place, &words)
            .with(&into)
            .with(more)
            .finish()
    };
    let finished = search(place, &[]);
    finished.assert_code(0);
    let answer = finished.json();
    assert_eq!(answer["kept_hz"], 200, "{}", finished.said());
    assert_eq!(answer["scenario"], "any.toml");
    for (step, rate) in answer["steps"].as_array().unwrap().iter().zip([100, 200]) {
        assert_eq!(
            (&step["rate_hz"], &step["was_there"]),
            (&rate.into(), &false.into())
        );
        let run = finished.place.path().join(step["run"].as_str().unwrap());
        let run = Run::open(&run).unwrap();
        let due = run.manifest.thread(0, 0).unwrap().due;
        assert_eq!(due.period_ns, 1_000_000_000 / rate);
    }
    let again = search(finished.place, &[]);
    again.assert_code(0);
    let steps = again.json()["steps"].clone();
    assert!(
        steps
            .as_array()
            .unwrap()
            .iter()
            .all(|step| step["was_there"] == true),
        "{steps}"
    );
    let other = search(again.place, &["--policy", "OTHER nice 5"]);
    other.assert_refused(1, &["holds a search for"]);
}

fn a_step_whose_search_was_killed_is_measured_again() {
    let place = Place::new();
    let scenario = format!(
        "name = \"any\"\nrate = \"250 Hz\"\nduration = \"1 s\"\nwarm-up = \"50 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n\
         phases = [{{ name = \"idle\" }}]\ncriterion = {{ miss-fraction = \"99.9999 %\" }}\n",
        loop_cpu()
    );
    std::fs::write(place.path().join("any.toml"), scenario).unwrap();
    let words = [
        "rate", "any.toml", "--from", "100Hz", "--to", "200Hz", "--block", "3s", "--json",
    ];
    let search = |place| Start::command_in(place, &words).with(&["--directory", "found"]);
    let running = search(place).start();
    let found = running.directory().with_file_name("found");
    wait_until("samples", || {
        let run = Run::open(&found.join("100-hz"));
        run.is_ok_and(|run| run.manifest.thread(0, 0).is_some_and(|of| of.recorded > 20))
    });
    running.signal(Signal::KILL);
    let killed = running.finish();
    let answered = search(killed.place).finish();
    answered.assert_code(0);
    let answer = answered.json();
    assert_eq!(answer["steps"][0]["was_there"], false, "{answer:#}");
    let recorded = |name: &str| {
        let run = Run::open(&found.join(name)).expect("a run in order");
        run.manifest.thread(0, 0).unwrap().recorded
    };
    let (cut_short, whole) = (recorded("100-hz-cut-short-1"), recorded("100-hz"));
    assert!(
        20 < cut_short && cut_short < whole,
        "{cut_short} and {whole}"
    );
}

fn of_tasks_one_has_its_rate_searched_for_while_the_others_keep_theirs() {
    let tasks = format!(
        "name = \"two\"\nduration = \"1 s\"\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\n\
         phases = [{{ name = \"idle\" }}]\ncriterion = {{ miss-fraction = \"90 %\" }}\n\
         [[tasks]]\nname = \"imu\"\nrate = \"500 Hz\"\ncpu = {cpu}\n\
         [[tasks]]\nname = \"control\"\nperiod = \"20 ms\"\ncpu = {cpu}\n",
        cpu = loop_cpu()
    );
    let place = Place::new();
    std::fs::write(place.path().join("two.toml"), tasks).unwrap();
    let words = [
        "rate", "two.toml", "--from", "100Hz", "--to", "104Hz", "--block", "2s",
    ];
    let refused = Start::command_in(place, &words).finish();
    refused.assert_code(1);
    assert_eq!(
        refused.complaints,
        "wakepath: the scenario's tasks have their own rates; name one with --task: imu, control\n"
    );
    assert!(!refused.place.path().join("wakepath-runs").exists());
    let found = Start::command_in(refused.place, &words)
        .with(&["--task", "control", "--json", "--directory", "found"])
        .finish();
    // The result depends on the machine: a busy one might leave it undecided.
    assert!(matches!(found.code(), Some(0 | 2 | 3)), "{}", found.said());
    let answer = found.json();
    assert_eq!(answer["task"], "control", "{}", found.said());
    let run = Run::open(&found.place.path().join("found/100-hz")).unwrap();
    let period_ns = |thread| run.manifest.thread(0, thread).unwrap().due.period_ns;
    assert_eq!([0, 1].map(period_ns), [2_000_000, 10_000_000]);
}
