//! Loops on a real-time core, in guests whose kernels have one. No distribution packages such kernels: they
//! are taken from the directory that `WAKEPATH_CORE_KERNELS` names, `evl.bzImage` for EVL.

use super::{Place, lacking, text};
use crate::started::binary;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

wakepath_test_program::tests![
    ;
    a_loop_on_evl_wakes_early_and_one_that_asks_linux_is_invalid,
    a_loop_on_evl_that_is_killed_leaves_no_thread_there_and_its_samples_are_recovered,
];

const KERNELS: &str = "WAKEPATH_CORE_KERNELS";

const SCENARIO: &str = r#"
name = "cores"
rate = "1 kHz"
duration = "200 ms"
warm-up = "20 ms"
policies = ["FIFO 80", "EVL FIFO 80"]
WORK
[[phases]]
name = "idle"
[criterion]
latency = "100 us"
"#;

/// The script of the guest in which a run is killed; its own shell and `sleep` are brought with it.
const KILLS: &str = "#!/bin/sh
/bin/wakepath run /cores.toml --no-tui --directory /run/killed &
measuring=$!
/bin/sleep 1
kill -9 $measuring
/bin/sleep 0.5
/bin/wakepath recover /run/killed
echo threads: /sys/devices/virtual/thread/*
exit 0
";

/// The kernel, or the reason why the test can't be run.
fn kernel(name: &str) -> PathBuf {
    let Some(directory) = std::env::var_os(KERNELS) else {
        wakepath_test_program::not_run(format!(
            "{KERNELS} names no directory with {name}: a kernel of Linux 5.10 or later with \
             CONFIG_EVL (ABI 32 or 43)"
        ));
    };
    let kernel = PathBuf::from(directory).join(name);
    if !kernel.is_file() {
        wakepath_test_program::not_run(format!("{} is not there", kernel.display()));
    }
    kernel
}

fn place(name: &str, work: &str) -> Place {
    let place = Place::new(name);
    let scenario = SCENARIO.replace("WORK", work);
    std::fs::write(place.0.join("scenario.toml"), scenario).unwrap();
    place
}

/// What the run of the only guest says, as JSON.
fn shown(place: &Place, more: &[&str]) -> Value {
    let kernel = kernel("evl.bzImage");
    let kernel = kernel.to_str().unwrap();
    let mut arguments = vec!["--kernel", kernel];
    arguments.extend(more);
    let output = place.lab_run("out", &arguments).output().unwrap();
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let guests = std::fs::read_dir(place.0.join("out")).unwrap();
    let mut runs = guests.flatten().map(|entry| entry.path());
    let run = runs.find(|path| path.join("manifest.json").is_file());
    let run = run.expect("the guest's run is there");
    let show = Command::new(binary())
        .arg("show")
        .arg(run)
        .arg("--json")
        .output();
    serde_json::from_slice(&show.unwrap().stdout).unwrap()
}

fn condition<'a>(shown: &'a Value, policy: &str) -> &'a Value {
    let conditions = shown["conditions"].as_array().unwrap();
    let found = conditions
        .iter()
        .find(|condition| condition["name"]["policy"]["policy"] == policy);
    found.expect("the policy was measured")
}

fn a_loop_on_evl_wakes_early_and_one_that_asks_linux_is_invalid() {
    let place_of_nothing = place("evl", "work = \"nothing\"");
    let quiet = shown(&place_of_nothing, &[]);
    let (linux, evl) = (condition(&quiet, "fifo"), condition(&quiet, "evl-fifo"));
    assert!(linux["cycles"]["latency_as_executed"]["min"].as_i64() > Some(0));
    // Its timers expire before their time, and the samples are signed.
    let latest = evl["cycles"]["latency_as_executed"]["max"].as_i64();
    assert!(latest < Some(0) && latest > Some(-10_000), "{latest:?}");
    assert_eq!(evl["outcome"], "virtual-time");

    // This work asks Linux how much CPU time it has had, in every cycle.
    let place_of_asking = place("evl-asks", "work = { kind = \"busy\", time = \"50 us\" }");
    let asking = shown(&place_of_asking, &[]);
    assert_eq!(condition(&asking, "fifo")["outcome"], "virtual-time");
    let evl = condition(&asking, "evl-fifo");
    assert_eq!(evl["outcome"], "invalid");
    let reasons = evl["reasons"].as_array().unwrap();
    let switched = reasons.iter().find(|why| why["kind"] == "mode-switches");
    let switched = switched.expect("it is said why");
    assert_eq!(switched["switched"], switched["executed"]);
}

fn a_loop_on_evl_that_is_killed_leaves_no_thread_there_and_its_samples_are_recovered() {
    let place = place("evl-killed", "wake-up = \"timerfd\"");
    let long = SCENARIO
        .replace("200 ms", "20 s")
        .replace("\"FIFO 80\", ", "")
        .replace("WORK", "");
    std::fs::write(place.0.join("cores.toml"), long).unwrap();
    let script = place.0.join("kills");
    std::fs::write(&script, KILLS).unwrap();
    let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, runs).unwrap();
    shown(
        &place,
        &[
            "--file",
            "cores.toml=/cores.toml",
            "--file",
            "/bin/sleep=/bin/sleep",
            "--before",
            "./kills",
        ],
    );
    let guests = std::fs::read_dir(place.0.join("out")).unwrap();
    let mut printed = guests
        .flatten()
        .map(|entry| entry.path().join("command-1.out"));
    let printed = printed.find(|path| path.is_file());
    let printed = std::fs::read_to_string(printed.unwrap()).unwrap();
    assert!(printed.contains("recovered "), "{printed}");
    assert!(
        printed.contains("threads: /sys/devices/virtual/thread/clone\n"),
        "{printed}"
    );
}
