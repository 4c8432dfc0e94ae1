//! Loops that someone stops, freezes or sends signals to, one that catches up, and one that a slow device paces, watched for a second or two.

use crate::started::{
    Finished, Place, Start, built, is_root, loop_cpu, needs_real_time, needs_tracing, not_run,
};
use std::path::{Path, PathBuf};

wakepath_test_program::tests![
    a_stop_names_who_sent_the_signal,
    a_frozen_control_group_is_named_with_who_froze_it,
    signals_that_end_sleeps_early_are_found_with_their_sender,
    a_loop_that_catches_up_skips_nothing,
    a_loop_that_waits_for_a_device_in_each_cycle_has_the_device_s_period,
];

const WHAT: &str = "watching a loop that is halted";

/// The file with what the loop itself measured.
const MEASURED: &str = "measured";

/// The watch of the program in one of its ways, in this control group if any.
fn watched(how: &str, group: Option<&Path>) -> Finished {
    needs_tracing(WHAT);
    needs_real_time(WHAT);
    let _turn = super::turn();
    let place = Place::new();
    let program = built(&place, "halted", WHAT);
    let group = group.map_or(place.path().join(MEASURED), Path::to_owned);
    let words = [
        &["watch", "--directory", "run", "--for", "1500ms"][..],
        &["--json", "--"],
    ];
    let finished = Start::command_in(place, &words.concat())
        .with(&[program.as_os_str()])
        .with(&[how, &loop_cpu().to_string()])
        .with(&[&group])
        .finish();
    finished.skip_unless_watched(WHAT);
    finished
}

/// Kind, text and fix of what took most of the late cycles' time.
fn largest(finished: &Finished) -> (String, String, String) {
    let run = finished.run();
    let explained = Start::command(&["explain", "--json"])
        .with(&[run.directory().as_os_str()])
        .finish();
    explained.assert_code(0);
    let explanation = explained.json();
    let conditions = explanation["conditions"].as_array().unwrap();
    let is_loop = |of: &&serde_json::Value| of.to_string().contains("control");
    let condition = conditions.iter().find(is_loop).expect("the loop");
    let cause = &condition["causes"][0];
    let text = |key: &str| cause[key].as_str().unwrap_or_default().to_owned();
    (text("kind"), text("cause"), text("remedy"))
}

fn a_stop_names_who_sent_the_signal() {
    let (kind, cause, remedy) = largest(&watched("stopped", None));
    assert_eq!(kind, "stopped", "{cause}");
    assert!(
        cause.ends_with("debugger, from ops (OTHER), until ops (OTHER) continued it"),
        "{cause}"
    );
    assert!(remedy.contains("SIGSTOP"), "{remedy}");
}

/// A control group of version 2 that is removed again.
struct Group(PathBuf);

impl Group {
    fn new() -> Self {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let mut lines = mounts.lines().map(|line| line.split(' '));
        let place = lines.find_map(|mut words| {
            let place = words.nth(1)?;
            (words.next()? == "cgroup2").then_some(place)
        });
        let Some(place) = place else {
            not_run(WHAT, "no control groups of version 2");
        };
        let new = Self(Path::new(place).join(format!("wakepath-test-{}", std::process::id())));
        if let Err(error) = std::fs::create_dir(&new.0) {
            not_run(WHAT, &format!("{}: {error}", new.0.display()));
        }
        new
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::write(self.0.join("cgroup.freeze"), "0");
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn a_frozen_control_group_is_named_with_who_froze_it() {
    if !is_root() {
        not_run(WHAT, "only root may freeze");
    }
    let group = Group::new();
    let (kind, cause, remedy) = largest(&watched("frozen", Some(&group.0)));
    assert_eq!(kind, "frozen", "{cause}");
    assert!(
        cause.ends_with(", by ops (OTHER), until ops (OTHER) thawed it"),
        "{cause}"
    );
    assert!(remedy.contains("docker pause"), "{remedy}");
}

/// The findings about the loop, by their kind; and its skipped due times.
fn findings(finished: &Finished, kind: &str) -> (Vec<serde_json::Value>, serde_json::Value) {
    let json = finished.json();
    let threads = json["threads"].as_array().unwrap();
    let mut control = threads.iter().filter(|of| of["name"] == "control");
    let Some(control) = control.next() else {
        panic!("no control: {}", finished.said());
    };
    assert_eq!(control["period_ns"], 4_000_000, "{}", finished.said());
    let found = control["findings"].as_array().unwrap().iter();
    let of_kind = found.filter(|finding| finding["kind"] == kind);
    (of_kind.cloned().collect(), control["skipped"].clone())
}

fn signals_that_end_sleeps_early_are_found_with_their_sender() {
    let finished = watched("signalled", None);
    let (found, _) = findings(&finished, "sleep-cut");
    let [cut] = &found[..] else {
        panic!("{}", finished.said());
    };
    assert!(cut["sender"].as_str().unwrap().starts_with("ops-"), "{cut}");
    // A signal each 50 ms or so; a few meet the loop at work.
    assert!(cut["times"].as_u64().unwrap() >= 5, "{cut}");
    let early_ns = cut["early_ns"].as_u64().unwrap();
    assert!((1..4_000_000).contains(&early_ns), "{cut}");
    // The program skips nothing, and nobody says that it does.
    assert!(findings(&finished, "asked-for-later").0.is_empty());
}

fn a_loop_that_catches_up_skips_nothing() {
    let finished = watched("late", None);
    let (found, skipped) = findings(&finished, "caught-up");
    let [caught_up] = &found[..] else {
        panic!("{}", finished.said());
    };
    assert!(caught_up["times"].as_u64().unwrap() >= 12, "{caught_up}");
    assert!(
        caught_up["longest_ns"].as_u64().unwrap() >= 10_000_000,
        "{caught_up}"
    );
    assert_eq!(skipped, 0, "{}", finished.said());
}

/// Cycles as the loop itself measured them.
struct Measured {
    /// From the begin of each to that of the next, ascending.
    periods_ns: Vec<u64>,
    /// Time in `read`, ascending.
    reads_ns: Vec<u64>,
}

impl Measured {
    fn by_the_loop(finished: &Finished) -> Self {
        let bytes = std::fs::read(finished.place.path().join(MEASURED)).unwrap();
        let words = bytes.chunks_exact(8);
        let words: Vec<u64> = words
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap()))
            .collect();
        let cycles: Vec<_> = words.chunks_exact(2).take_while(|of| of[0] > 0).collect();
        let begins = cycles.windows(2).map(|two| two[1][0] - two[0][0]);
        let (mut periods_ns, mut reads_ns): (Vec<_>, Vec<_>) =
            (begins.collect(), cycles.iter().map(|of| of[1]).collect());
        periods_ns.sort_unstable();
        reads_ns.sort_unstable();
        Self {
            periods_ns,
            reads_ns,
        }
    }
}

fn a_loop_that_waits_for_a_device_in_each_cycle_has_the_device_s_period() {
    let finished = watched("paced", None);
    let measured = Measured::by_the_loop(&finished);
    let json = finished.json();
    let threads = json["threads"].as_array().unwrap();
    let control = threads.iter().find(|of| of["name"] == "control").unwrap();
    assert_eq!(control["is_periodic"], true, "{}", finished.said());
    // The device takes 16 ms, and the loop adds its own time: how much is the machine's affair.
    let period_ns = control["period_ns"].as_u64().unwrap();
    let median_ns = measured.periods_ns[measured.periods_ns.len() / 2];
    assert!(
        period_ns.abs_diff(median_ns) <= median_ns / 20,
        "{period_ns}, measured by the loop: {median_ns}"
    );
    let findings = control["findings"].as_array().unwrap();
    let is_wait = |of: &&serde_json::Value| of["kind"] == "waits-in-cycle";
    let wait = findings.iter().find(is_wait).expect("a wait");
    assert_eq!(
        (&wait["call"], &wait["sets_period"]),
        (&"read".into(), &true.into())
    );
    assert!(
        wait["waker"].as_str().unwrap().starts_with("device-"),
        "{wait}"
    );
    // The loop is blocked for less than it is in the call: it has to get there, and to run again.
    let (times, wait_ns) = (wait["times"].as_u64(), wait["wait_ns"].as_u64().unwrap());
    let in_read_ns = measured.reads_ns.iter().sum::<u64>();
    let median_ns = measured.reads_ns[measured.reads_ns.len() / 2];
    assert!(
        times.unwrap() * wait_ns <= in_read_ns,
        "{wait}: {in_read_ns}"
    );
    assert!(wait_ns >= median_ns - median_ns / 20, "{wait}: {median_ns}");
}
