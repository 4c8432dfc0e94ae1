//! Nothing of the loads remains, whichever process is killed.
//!
//! Each test runs both with a PID namespace (if this user can create one) and without.

use crate::running::{
    self, Scratch, assert_nobody_left, command, host, mark, mark_of, marked, options, spec,
};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use wakepath_load::{Containment, LoadError, Loads, reap_orphans};
use wakepath_scenario::LoadKind;
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    killing_the_measuring_process_leaves_nothing,
    killing_the_supervisor_leaves_nothing_and_is_told,
    killing_both_at_once_leaves_nothing_after_the_next_run_has_looked,
    stopping_leaves_nothing_even_of_a_program_that_will_not_end,
    dropping_the_loads_leaves_nothing,
    a_run_in_progress_is_not_reaped_and_a_dead_runs_directory_is,
    a_process_of_the_loads_that_nobody_hears_ends_as_it_means_to,
];

/// A shell whose busy grandchild is in another session and ignores all possible signals: the
/// hardest to end.
const STUBBORN: [&str; 3] = [
    "sh",
    "-c",
    "trap '' TERM INT HUP; setsid sh -c 'while :; do :; done' & wait",
];

fn kill(pid: u32) {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// A separate process that runs loads; returns it with its supervisor's pid.
fn holder(scratch: &Scratch, namespace: bool) -> (Child, u32) {
    let mut child = Command::new(host())
        .arg("hold")
        .arg(&scratch.0)
        .arg(if namespace { "yes" } else { "no" })
        .args(STUBBORN)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    (child, line.trim().parse().unwrap())
}

fn namespace_is_possible() -> bool {
    let spec = spec(LoadKind::Timers, 1, None);
    let loads = Loads::start(&[spec], &options(&Scratch::new())).unwrap();
    let possible = loads.containment() == Some(Containment::PidNamespace);
    if !possible {
        eprintln!("not run with a PID namespace: this user may not create one");
    }
    possible
}

fn in_each_way(test: impl Fn(bool)) {
    test(false);
    if namespace_is_possible() {
        test(true);
    }
}

fn killing_the_measuring_process_leaves_nothing() {
    in_each_way(|namespace| {
        let scratch = Scratch::new();
        let (mut holder, supervisor) = holder(&scratch, namespace);
        let mark = mark_of(supervisor);
        assert!(marked(&mark).len() > 12, "{:?}", marked(&mark));
        holder.kill().unwrap();
        holder.wait().unwrap();
        assert_nobody_left(&mark);
        assert!(scratch.is_empty());
    });
}

fn killing_the_supervisor_leaves_nothing_and_is_told() {
    in_each_way(|namespace| {
        let scratch = Scratch::new();
        let mut options = options(&scratch);
        options.use_pid_namespace = namespace;
        let specs = [spec(LoadKind::Messages, 1, None), command(&STUBBORN)];
        let mut loads = Loads::start(&specs, &options).unwrap();
        loads.wait_until_working(running::PATIENCE).unwrap();
        let mark = mark(&loads);
        assert!(marked(&mark).len() >= 11, "{:?}", marked(&mark));
        kill(loads.supervisor_pid().unwrap());
        let error = loads.snapshot().unwrap_err();
        assert!(matches!(error, LoadError::Supervisor(_)), "{error}");
        let proofs = loads.stop();
        assert!(
            proofs
                .iter()
                .all(|proof| !proof.working && proof.died_early),
            "{proofs:?}"
        );
        assert_nobody_left(&mark);
    });
}

fn killing_both_at_once_leaves_nothing_after_the_next_run_has_looked() {
    in_each_way(|namespace| {
        let scratch = Scratch::new();
        let (mut holder, supervisor) = holder(&scratch, namespace);
        let mark = mark_of(supervisor);
        kill(supervisor);
        holder.kill().unwrap();
        holder.wait().unwrap();
        if !namespace {
            let _ = reap_orphans(&scratch.0);
        }
        assert_nobody_left(&mark);
    });
}

fn stopping_leaves_nothing_even_of_a_program_that_will_not_end() {
    in_each_way(|namespace| {
        let scratch = Scratch::new();
        let mut options = options(&scratch);
        options.use_pid_namespace = namespace;
        let mut loads = Loads::start(&[command(&STUBBORN)], &options).unwrap();
        loads.wait_until_working(running::PATIENCE).unwrap();
        let mark = mark(&loads);
        let proofs = loads.stop();
        assert_eq!(marked(&mark), []);
        assert!(proofs[0].working, "{proofs:?}");
    });
}

fn dropping_the_loads_leaves_nothing() {
    in_each_way(|namespace| {
        let mut options = options(&Scratch::new());
        options.use_pid_namespace = namespace;
        let mut loads = Loads::start(&[command(&STUBBORN)], &options).err();
        assert!(loads.take().is_some(), "the scratch directory is gone");
        let scratch = Scratch::new();
        options.scratch_directory.clone_from(&scratch.0);
        let mut loads = Loads::start(&[command(&STUBBORN)], &options).unwrap();
        loads.wait_until_working(running::PATIENCE).unwrap();
        let mark = mark(&loads);
        drop(loads);
        assert_eq!(marked(&mark), []);
    });
}

fn a_run_in_progress_is_not_reaped_and_a_dead_runs_directory_is() {
    let scratch = Scratch::new();
    let arguments = "--name=t --size=1M --rw=write --time_based=1 --runtime=60";
    let arguments = arguments.split(' ').map(str::to_owned).collect();
    let mut loads = match Loads::start(
        &[spec(LoadKind::Fio { arguments }, 0, None)],
        &options(&scratch),
    ) {
        Ok(loads) => loads,
        Err(error) => not_run(error),
    };
    loads.wait_until_working(running::PATIENCE).unwrap();
    // The remains of a killed run on the same machine: a directory whose owner is gone.
    let mark = mark(&loads);
    let mut parts: Vec<&str> = mark.split('-').collect();
    parts[2] = "1";
    let dead = scratch.0.join(format!("wakepath-load-{}", parts.join("-")));
    std::fs::create_dir(&dead).unwrap();
    let _ = reap_orphans(&scratch.0);
    assert!(!dead.exists());
    std::thread::sleep(Duration::from_millis(100));
    assert!(!marked(&mark).is_empty() && !scratch.is_empty());
    assert!(loads.stop()[0].working);
    assert!(scratch.is_empty());
}

fn a_process_of_the_loads_that_nobody_hears_ends_as_it_means_to() {
    for verb in ["load-supervisor", "load-worker", "ethercat-ring"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut started = Command::new(host());
        started.args(["internal", verb, "nothing that it knows"]);
        let status = started.stdin(Stdio::null()).stderr(writer).status();
        // A panic would be 101, or a signal if the released program aborts.
        assert_eq!(status.unwrap().code(), Some(1), "{verb}");
    }
}
