//! Package programs and commands: proven while they run, invalid if they do nothing.
//!
//! The test of a program that isn't installed reports "not run".

use crate::running::{
    PATIENCE, Scratch, assert_nobody_left, command, mark, options, segment, spec,
};
use std::time::Duration;
use wakepath_load::{LoadError, LoadProof, Loads};
use wakepath_scenario::LoadKind;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    stress_ng_is_proven_by_cpu_time_and_reports_its_own_operations,
    a_short_fio_job_is_started_again_and_its_files_are_removed,
    hackbench_is_proven,
    bonnie_runs_even_as_root,
    iperf3_talks_to_its_own_server,
    wget_reads_from_the_local_server,
    a_missing_gpu_program_names_the_package_to_install,
    a_command_that_sleeps_is_not_working,
    a_command_that_ends_at_once_is_started_again_but_is_not_working,
    a_command_that_fails_is_not_started_again_and_says_why,
    a_load_that_worked_at_first_and_then_stopped_is_caught_in_the_segment,
    work_of_short_lived_grandchildren_counts,
];

/// Runs `kind` and proves a segment, if its program is installed.
fn prove(kind: LoadKind) -> (LoadProof, LoadProof) {
    let scratch = Scratch::new();
    let mut loads = match Loads::start(&[spec(kind, 0, None)], &options(&scratch)) {
        Ok(loads) => loads,
        Err(error @ LoadError::MissingProgram { .. }) => not_run(error),
        Err(error) => panic!("{error}"),
    };
    loads.wait_until_working(PATIENCE).unwrap();
    let mark = mark(&loads);
    let proof = segment(&mut loads).remove(0);
    let whole = loads.stop().remove(0);
    assert_nobody_left(&mark);
    assert!(scratch.is_empty(), "its files are gone");
    assert!(proof.working && !proof.died_early, "{proof:?}");
    (proof, whole)
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn stress_ng_is_proven_by_cpu_time_and_reports_its_own_operations() {
    let kind = LoadKind::StressNg {
        arguments: words("--cpu 1 --switch 1"),
    };
    let (proof, whole) = prove(kind);
    assert!(proof.cpu_seconds > 0.05, "{proof:?}");
    assert!(whole.version.unwrap().contains("stress-ng"));
    let names: Vec<&str> = whole
        .reported
        .iter()
        .map(|reported| reported.name.as_str())
        .collect();
    assert_eq!(names, ["cpu", "switch"]);
    assert!(whole.reported.iter().all(|reported| reported.amount > 0.0));
}

fn a_short_fio_job_is_started_again_and_its_files_are_removed() {
    let arguments = words("--name=t --size=2M --rw=write --fsync=8");
    let scratch = Scratch::new();
    let mut loads = match Loads::start(
        &[spec(LoadKind::Fio { arguments }, 0, None)],
        &options(&scratch),
    ) {
        Ok(loads) => loads,
        Err(error) => not_run(error),
    };
    loads.wait_until_working(PATIENCE).unwrap();
    let deadline = std::time::Instant::now() + PATIENCE;
    let mut proof = segment(&mut loads).remove(0);
    while proof.restarts < 2 {
        assert!(std::time::Instant::now() < deadline, "{proof:?}");
        proof = segment(&mut loads).remove(0);
    }
    assert!(
        !scratch.is_empty(),
        "its data file is in the scratch directory"
    );
    let whole = loads.stop().remove(0);
    assert!(scratch.is_empty(), "its data file is gone");
    // An ordinary user can't read the bytes of a process between the last check and its end.
    let is_root = rustix::process::geteuid().is_root();
    let runs = if is_root { whole.restarts } else { 0 };
    assert!(whole.working, "{whole:?}");
    assert!(whole.io_bytes >= runs * (2 << 20), "{whole:?}");
    assert_eq!(whole.exit.as_deref(), Some("exit status 0"));
    assert!(whole.version.unwrap().starts_with("fio-"));
}

fn hackbench_is_proven() {
    let kind = LoadKind::Hackbench {
        arguments: words("-g 1 -l 100000"),
    };
    let (proof, whole) = prove(kind);
    assert!(proof.cpu_seconds > 0.05, "{proof:?}");
    assert!(whole.version.unwrap().contains("hackbench"));
}

fn bonnie_runs_even_as_root() {
    prove(LoadKind::Bonnie { arguments: vec![] });
}

fn iperf3_talks_to_its_own_server() {
    let (proof, _) = prove(LoadKind::Iperf3 { arguments: vec![] });
    assert!(proof.io_bytes > 1 << 20, "{proof:?}");
}

fn wget_reads_from_the_local_server() {
    let (proof, _) = prove(LoadKind::Wget);
    assert!(proof.io_bytes > 1 << 20 && proof.restarts == 0, "{proof:?}");
}

fn a_missing_gpu_program_names_the_package_to_install() {
    match Loads::start(
        &[spec(LoadKind::Glmark2 { arguments: vec![] }, 0, None)],
        &options(&Scratch::new()),
    ) {
        Err(error) => assert_eq!(
            error.to_string(),
            "load glmark2: the program glmark2 is not installed; install the package glmark2"
        ),
        Ok(_) => not_run("glmark2 is installed here"),
    }
}

fn a_command_that_sleeps_is_not_working() {
    let scratch = Scratch::new();
    let mut loads = Loads::start(&[command(&["sleep", "100"])], &options(&scratch)).unwrap();
    let error = loads
        .wait_until_working(Duration::from_millis(700))
        .unwrap_err();
    let LoadError::NotWorking(idle) = &error else {
        panic!("{error}")
    };
    assert_eq!(idle[0].name, "command");
    let used = idle[0].reason.strip_prefix("its processes used ").unwrap();
    let (used, rest) = used.split_once(" of CPU time and moved ").unwrap();
    assert!(
        !used.ends_with(" s") && rest.starts_with("0 bytes in "),
        "{error}"
    );
    let proof = segment(&mut loads).remove(0);
    assert!(!proof.working && !proof.died_early, "{proof:?}");
    assert!(!loads.stop()[0].working);
}

fn a_command_that_ends_at_once_is_started_again_but_is_not_working() {
    let mut loads = Loads::start(&[command(&["true"])], &options(&Scratch::new())).unwrap();
    let error = loads
        .wait_until_working(Duration::from_secs(1))
        .unwrap_err();
    assert!(error.to_string().contains("was started again"), "{error}");
}

fn a_command_that_fails_is_not_started_again_and_says_why() {
    let words = ["sh", "-c", "echo no such stressor >&2; exit 3"];
    let mut loads = Loads::start(&[command(&words)], &options(&Scratch::new())).unwrap();
    let error = loads.wait_until_working(PATIENCE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "load command is not working: the program ended with exit status 3: no such stressor"
    );
    let proof = loads.stop().remove(0);
    assert!(proof.died_early && proof.restarts == 0, "{proof:?}");
}

fn a_load_that_worked_at_first_and_then_stopped_is_caught_in_the_segment() {
    // Seconds by the clock instead of a number of rounds: on a stalling machine the rounds ended
    // before the proof began.
    let words = [
        "sh",
        "-c",
        "timeout 4 sh -c 'while :; do :; done'; sleep 100",
    ];
    let mut loads = Loads::start(&[command(&words)], &options(&Scratch::new())).unwrap();
    loads.wait_until_working(PATIENCE).unwrap();
    let deadline = std::time::Instant::now() + PATIENCE;
    while segment(&mut loads)[0].working {
        assert!(std::time::Instant::now() < deadline, "never noticed");
    }
    // It did work over its whole life: only the segments show that it stopped.
    assert!(loads.stop()[0].cpu_seconds > 0.0);
}

fn work_of_short_lived_grandchildren_counts() {
    let words = [
        "sh",
        "-c",
        "while :; do dd if=/dev/zero of=/dev/null bs=1M count=64; done",
    ];
    let mut loads = Loads::start(&[command(&words)], &options(&Scratch::new())).unwrap();
    loads.wait_until_working(PATIENCE).unwrap();
    let proof = segment(&mut loads).remove(0);
    assert!(proof.working && proof.io_bytes > 1 << 20, "{proof:?}");
}
