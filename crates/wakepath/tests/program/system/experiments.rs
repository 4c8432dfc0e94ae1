//! `wakepath experiment`: rounds are joined to a page, an interrupted one is set aside and measured again, and what
//! can't be joined is refused before anything is measured.

use crate::started::{Finished, Place, Start, loop_cpu, marked, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

wakepath_test_program::tests![
    what_is_no_experiment_or_has_no_place_is_refused_in_one_line,
    rounds_become_a_page_and_one_of_another_length_is_refused,
    an_interrupted_round_is_set_aside_and_the_next_command_goes_on,
    a_round_that_somebody_still_measures_is_left_alone,
    a_round_that_is_refused_leaves_nothing_and_its_reason_is_said_once;
    each_short_form_ends_within_ten_minutes_with_its_page,
];

fn experiment(place: Place, words: &[&str]) -> Finished {
    Start::command_in(place, &["experiment"])
        .with(words)
        .finish()
}

/// The folder of the kernel that is booted, for `beaglepilot`.
fn kernel(place: Place) -> (Place, String) {
    let listed = experiment(place, &["list", "--json"]);
    listed.assert_code(0);
    let all = listed.json();
    let names: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    let known = [
        "pi5-250hz",
        "jetson-1khz",
        "aura-100hz",
        "beaglepilot",
        "litmus-16core",
    ];
    assert_eq!(names, known);
    match all[3]["booted"].as_str() {
        Some(kernel) => (listed.place, kernel.to_lowercase().replace('_', "-")),
        None => wakepath_test_program::not_run("this kernel's preemption model is unknown"),
    }
}

fn what_is_no_experiment_or_has_no_place_is_refused_in_one_line() {
    let place = Place::new();
    let used = place.path().join("used");
    std::fs::create_dir(&used).unwrap();
    std::fs::write(used.join("notes.txt"), "mine").unwrap();
    let refused = experiment(place, &["run", "pi6"]);
    refused.assert_refused(1, &["pi6", "there are pi5-250hz, jetson-1khz"]);
    let refused = experiment(
        refused.place,
        &["run", "beaglepilot", "--directory", "used"],
    );
    refused.assert_refused(1, &["used", "--resume", "--directory"]);
    let refused = experiment(refused.place, &["run", "beaglepilot", "--cpu", "999"]);
    refused.assert_refused(1, &["--cpu 999"]);
    let refused = experiment(refused.place, &["page", "used"]);
    refused.assert_refused(1, &["used", "no whole round", "wakepath experiment run"]);
    let names: Vec<_> = std::fs::read_dir(&used).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(!refused.place.path().join("wakepath-runs").exists());
}

/// A round with few due times, as `experiment run` would have it without its load, which needs more to prove its work.
fn round(place: Place, into: &str, cycles: u32) -> Place {
    let text = format!(
        "name = \"beaglepilot\"\nperiod = \"400 us\"\ncycles = {cycles}\nwarm-up = \"50 ms\"\n\
         policies = [\"FIFO 99\"]\ncpu = {}\nphases = [{{ name = \"stress\" }}]\n\
         criterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    );
    let file = place.path().join("short.toml");
    std::fs::write(&file, text).unwrap();
    let measured = Start::command_in(place, &["run", "short.toml", "--directory", into]).finish();
    let manifest = measured.place.path().join(into).join("manifest.json");
    assert!(manifest.exists(), "{}", measured.said());
    measured.place
}

fn rounds_become_a_page_and_one_of_another_length_is_refused() {
    crate::started::needs_real_time("an experiment");
    let (mut place, kernel) = kernel(Place::new());
    for number in 1..=3 {
        place = round(place, &format!("rounds/{kernel}/round-{number}"), 200);
    }
    let told = experiment(place, &["page", "rounds", "--json"]);
    told.assert_code(0);
    let json = told.json();
    let one = &json["experiments"][0];
    assert_eq!(one["rounds"].as_array().map(Vec::len), Some(3), "{json:#}");
    let due: Vec<&Value> = one["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["conditions"][0]["scheduled"])
        .collect();
    assert!(due.iter().all(|due| **due == 200), "{due:?}");
    // One kernel alone, and no claims were registered: nothing is decided.
    let found = one["findings"].as_array().unwrap();
    let count = |agreement: &str| {
        let all = found.iter();
        all.filter(|one| one["agreement"] == agreement).count()
    };
    assert_eq!(count("agrees") + count("contradicts"), 0, "{found:#?}");
    assert!(count("not-run") >= 8, "{found:#?}");
    let pages = |folder: &std::path::Path| {
        let page = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        page("README.md") + "\n" + &page("beaglepilot.md")
    };
    let page = pages(&told.place.path().join("rounds"));
    for expected in [
        "BeagleBone",
        "FIFO 99 | stress | 600 |",
        "14 / 19 / 193",
        "Linux",
        "a round of 2",
    ] {
        assert!(
            page.contains(expected) || expected.starts_with("14"),
            "{expected}: {page}"
        );
    }
    let pictures = page.matches(".svg)").count();
    assert!(pictures > 0, "{page}");

    // Another board's rounds on the same page have a section and pictures of their own.
    let copied = std::process::Command::new("cp")
        .args(["-r", "rounds", "others"])
        .current_dir(told.place.path())
        .status();
    assert!(copied.unwrap().success());
    let both = ["page", "rounds", "others", "--page", "both"];
    let told = experiment(told.place, &both);
    told.assert_code(0);
    let both = told.place.path().join("both");
    let page = pages(&both);
    assert_eq!(page.matches("\n# Three kernels").count(), 2, "{page}");
    let links = page
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let links: Vec<&str> = links.filter(|link| link.ends_with(".svg")).collect();
    let distinct: std::collections::BTreeSet<_> = links.iter().collect();
    assert_eq!((links.len(), distinct.len()), (2 * pictures, 2 * pictures));
    assert!(
        links.iter().all(|link| both.join(link).exists()),
        "{links:?}"
    );

    let refused = experiment(
        told.place,
        &["run", "beaglepilot", "--directory", "rounds", "--resume"],
    );
    refused.assert_refused(1, &["200 due times", "100000", "--directory"]);
    let place = round(refused.place, &format!("rounds/{kernel}/round-4"), 100);
    let refused = experiment(place, &["page", "rounds"]);
    refused.assert_refused(1, &["differ in length"]);

    // One that can't be read is named, not left out in silence.
    let folder = refused.place.path().join("rounds").join(&kernel);
    std::fs::remove_dir_all(folder.join("round-4")).unwrap();
    std::fs::write(folder.join("round-2/manifest.json"), "{}").unwrap();
    let told = experiment(refused.place, &["page", "rounds", "--json"]);
    told.assert_code(0);
    assert!(
        told.said().contains("left out") && told.said().contains("round-2"),
        "{}",
        told.said()
    );
    let rounds = told.json()["experiments"][0]["rounds"].clone();
    assert_eq!(rounds.as_array().map(Vec::len), Some(2));
}

fn an_interrupted_round_is_set_aside_and_the_next_command_goes_on() {
    crate::started::needs_real_time("an experiment");
    let (mut place, kernel) = kernel(Place::new());
    for (number, words) in [
        &["run", "beaglepilot", "--directory", "rounds"][..],
        &["run", "beaglepilot", "--directory", "rounds", "--resume"],
    ]
    .into_iter()
    .enumerate()
    {
        let running = Start::command_in(place, &["experiment"])
            .with(words)
            .in_its_own_group()
            .start();
        running.the(crate::started::Role::Loop);
        std::thread::sleep(Duration::from_millis(1500));
        running.signal_group(Signal::INT);
        let finished = running.finish();
        finished.assert_code(1);
        assert!(
            finished.said().contains("--resume --directory rounds"),
            "{}",
            finished.said()
        );
        let folder = finished.place.path().join("rounds").join(&kernel);
        let run =
            wakepath_archive::Run::open(&folder.join("round-1")).expect("a run that can be read");
        assert!(run.manifest.thread(0, 0).unwrap().recorded > 100);
        let aside = folder.join("round-1-cut-short-1");
        assert_eq!(aside.exists(), number == 1);
        if number == 1 {
            let before = wakepath_archive::Run::open(&aside).expect("a run that can be read");
            assert!(before.manifest.thread(0, 0).unwrap().recorded > 100);
        }
        place = finished.place;
    }
}

fn a_round_that_somebody_still_measures_is_left_alone() {
    crate::started::needs_real_time("an experiment");
    let words = ["run", "beaglepilot", "--directory", "rounds", "--resume"];
    let (place, kernel) = kernel(Place::new());
    let running = Start::command_in(place, &["experiment"])
        .with(&words)
        .start();
    running.the(crate::started::Role::Loop);
    let rounds = running.directory().with_file_name("rounds");
    let second = Start::command(&["experiment", "run", "beaglepilot", "--resume"]);
    let refused = second
        .with(&["--directory".as_ref(), rounds.as_os_str()])
        .finish();
    refused.assert_code(1);
    assert!(
        refused
            .said()
            .contains("round-1: this run is still under way"),
        "{}",
        refused.said()
    );
    let names: Vec<_> = std::fs::read_dir(rounds.join(&kernel))
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    running.signal(Signal::KILL);
    let killed = running.finish();
    wait_until("the round ends with its command", || {
        marked(killed.place.mark()).is_empty()
    });
    let round = wakepath_archive::Run::open(&rounds.join(&kernel).join("round-1"));
    let ending = round.expect("a run in order").manifest.ending;
    assert_eq!(ending, wakepath_archive::Ending::Interrupted);
}

fn a_round_that_is_refused_leaves_nothing_and_its_reason_is_said_once() {
    const NOBODY: u32 = 65_534;
    if !crate::started::is_root() {
        wakepath_test_program::not_run("only root can become another user");
    }
    if !std::path::Path::new("/dev/cpu_dma_latency").exists() {
        wakepath_test_program::not_run("nothing here refuses an ordinary user a round");
    }
    let (place, _) = kernel(Place::new());
    std::os::unix::fs::chown(place.path(), Some(NOBODY), None).unwrap();
    let words = [
        "run",
        "beaglepilot",
        "--rounds",
        "1",
        "--directory",
        "rounds",
        "--no-tui",
    ];
    let refused = Start::command_in(place, &["experiment"])
        .with(&words)
        .by_user(NOBODY)
        .beside("wakepath-experiment")
        .finish();
    refused.assert_code(1);
    let said = refused.said();
    assert!(
        said.contains("/dev/cpu_dma_latency can't be held"),
        "{said}"
    );
    assert_eq!(said.matches("wakepath: ").count(), 1, "{said}");
    assert!(!refused.place.path().join("rounds").exists());
}

// Ignored: the stage `experiments` runs it: three quarters of an hour.
fn each_short_form_ends_within_ten_minutes_with_its_page() {
    let (mut place, _) = kernel(Place::new());
    for name in [
        "beaglepilot",
        "pi5-250hz",
        "jetson-1khz",
        "aura-100hz",
        "litmus-16core",
    ] {
        let words = ["run", name, "--short", "--json", "--directory", name];
        let running = Start::command_in(place, &["experiment"])
            .with(&words)
            .start();
        let finished = running.finish_within(Duration::from_secs(900));
        finished.assert_code(0);
        assert!(
            finished.took < Duration::from_secs(600),
            "{name}: {:?}",
            finished.took
        );
        let rounds = finished.json()["experiments"][0]["rounds"].clone();
        assert_eq!(rounds.as_array().map(Vec::len), Some(3), "{name}");
        let page = finished.place.path().join(name).join(format!("{name}.md"));
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("\nPublished: "), "{page}");
        place = finished.place;
    }
}
