//! The fixes that are printed, applied as they are printed: the time charged to the cause falls by nine
//! tenths or more. The program is `cures.c`: each of its words is a way of being late, with + the way cured.

use super::disturbed::kernel;
use super::tries::{self, cures as program};
use crate::started::{Place, Start, binary, cpus, loop_cpu, not_run};
use crate::system::control_groups::Group;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;
use wakepath_explain::fix::{self, Fix, Proof};

wakepath_test_program::tests![
    the_catalogue_names_the_tests_that_there_are,
    priorities_and_cpus_cure_more_urgent_threads,
    calls_that_wait_for_nothing_cure_waits,
    ways_of_sleeping_and_serving_cure_late_timers,
    mallopt_cures_allocation_in_locked_memory,
    touched_and_kept_memory_cures_page_faults,
    memory_that_is_not_forked_cures_copied_pages,
    data_sent_at_once_cure_delayed_acknowledgements,
    an_unchanged_memory_map_cures_waits_for_it,
    another_thread_cures_syncing,
    a_real_time_policy_cures_sharing_with_ordinary_threads,
    a_mutex_cures_spinning_for_a_lock,
    a_busy_thread_that_leaves_time_cures_the_fair_server,
    the_printed_command_cures_a_cpu_quota,
];

const WHAT: &str = "curing a loop";

fn tests_of(fix: &Fix) -> &'static [&'static str] {
    match fix.proof {
        Proof::Tests(tests) => tests,
        Proof::NotHere(_) => &[],
    }
}

/// A fix that names tests has them, and a test that cures is named by a fix.
fn the_catalogue_names_the_tests_that_there_are() {
    let named: BTreeSet<&str> = fix::all().flat_map(tests_of).copied().collect();
    let is_cure = |name: &&str| name.contains("_cure_") || name.contains("_cures_");
    let own = TESTS.iter().map(|test| test.name()).filter(is_cure);
    let by_trial = tries::TESTS.iter().map(|test| test.name());
    let there: BTreeSet<&str> = own
        .chain(by_trial.filter(|name| name.contains("_help_")))
        .collect();
    assert_eq!(named, there);
}

/// A way of being late.
struct Way {
    /// Its word.
    word: &'static str,
    /// The loop that it makes late.
    thread: &'static str,
    /// Part of its cause's name.
    cause: &'static str,
    /// The fix that is to be printed.
    fix: &'static Fix,
}

/// Of the loop `control`.
const fn way(word: &'static str, cause: &'static str, fix: &'static Fix) -> Way {
    Way {
        word,
        thread: "control",
        cause,
        fix,
    }
}

/// A watched program: the threads with their findings, and the causes of cycles later than 500 µs.
struct Watched {
    threads: Value,
    conditions: Value,
}

impl Watched {
    fn new(time: &str, before: &[&str], words: &[String]) -> Self {
        let place = Place::new();
        let program = program(&place);
        let watch = ["watch", "--directory", "run", "--for", time, "--json"];
        let finished = Start::command_in(place, &watch)
            .with(&["--latency", "500us", "--"])
            .with(before)
            .with(&[program.as_os_str()])
            .with(&[loop_cpu().to_string()])
            .with(words)
            .finish();
        finished.skip_unless_watched(WHAT);
        let run = finished.run();
        let explained = Start::command(&["explain", "--json"])
            .with(&[run.directory().as_os_str()])
            .finish();
        explained.assert_code(0);
        Self {
            threads: finished.json()["threads"].clone(),
            conditions: explained.json()["conditions"].clone(),
        }
    }

    /// The causes of a loop: name, printed fix, and ns of a cycle on average.
    fn causes(&self, thread: &str) -> Vec<(String, String, f64)> {
        let mut all = self.conditions.as_array().unwrap().iter();
        let one = all.find(|one| one["thread"] == thread);
        let one = one.unwrap_or_else(|| panic!("{thread} is explained: {}", self.conditions));
        let cycles = one["cycles"].as_f64().unwrap();
        let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
        let causes = one["causes"].as_array().unwrap().iter();
        causes
            .map(|cause| {
                let ns = cause["late_ns"].as_f64().unwrap() / cycles;
                (text(cause, "cause"), text(cause, "remedy"), ns)
            })
            .collect()
    }

    /// Lateness charged to the way's cause, and to all causes of its loop.
    fn charged(&self, way: &Way) -> (f64, f64) {
        let causes = self.causes(way.thread);
        let of = causes.iter().filter(|(name, ..)| name.contains(way.cause));
        let of = of.map(|(.., ns)| ns).sum();
        (of, causes.iter().map(|(.., ns)| ns).sum())
    }

    /// The fix printed for the way's largest cause.
    fn printed(&self, way: &Way) -> String {
        let causes = self.causes(way.thread);
        let mut of = causes.iter().filter(|(name, ..)| name.contains(way.cause));
        let first = of.next();
        let (_, printed, _) = first.unwrap_or_else(|| panic!("{}: {causes:?}", way.cause));
        printed.clone()
    }

    /// How often this kind of finding was made for this thread; 1 if it has no number.
    fn found(&self, thread: &str, kind: &str) -> u64 {
        let mut all = self.threads.as_array().unwrap().iter();
        let one = all.find(|one| one["name"] == thread);
        let one = one.unwrap_or_else(|| panic!("{thread} is watched: {}", self.threads));
        let mut findings = one["findings"].as_array().unwrap().iter();
        let finding = findings.find(|finding| finding["kind"] == kind);
        finding.map_or(0, |finding| finding["times"].as_u64().unwrap_or(1))
    }
}

/// Whether the printed text is this row's.
fn is_of(fix: &Fix, printed: &str) -> bool {
    let mut rest = printed;
    fix.words
        .split("{}")
        .all(|part| match rest.split_once(part) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
}

/// The program's words, each with this end.
fn words(ways: &[Way], end: &str) -> Vec<String> {
    ways.iter().map(|way| way.word.to_owned() + end).collect()
}

/// Each way is charged a good part of its loop's lateness (a stall of the machine is charged too), its row is
/// printed, and cured it is charged a tenth at most.
fn assert_cured(ways: &[Way], sick: &Watched, cured: &Watched) {
    for way in ways {
        let (was, all) = sick.charged(way);
        let beside = ways.iter().filter(|of| of.thread == way.thread).count() as f64;
        let printed = sick.printed(way);
        assert!(is_of(way.fix, &printed), "{}: {printed}", way.cause);
        let causes = sick.causes(way.thread);
        assert!(
            was > 0.0 && was * beside * 5.0 >= all,
            "{}: {was:.0} ns: {causes:?}",
            way.cause
        );
        let (is, _) = cured.charged(way);
        let causes = cured.causes(way.thread);
        assert!(
            is <= 0.1 * was,
            "{}: {was:.0} ns a cycle before, {is:.0} after: {causes:?}",
            way.cause
        );
        println!(
            "{}: {was:.0} ns a cycle before, {:.0} after",
            way.cause,
            is + 0.0
        );
    }
}

/// Watches the program as it is, then with the fixes.
fn cure(time: &str, before: &[&str], ways: &[Way]) {
    let _turn = super::turn();
    let sick = Watched::new(time, &[], &words(ways, ""));
    let end = if before.is_empty() { "+" } else { "" };
    let cured = Watched::new(time, before, &words(ways, end));
    assert_cured(ways, &sick, &cured);
}

/// What some ways need.
fn needs_two_cpus() {
    if cpus().len() < 2 {
        not_run(WHAT, "one CPU only");
    }
}

fn priorities_and_cpus_cure_more_urgent_threads() {
    needs_two_cpus();
    let ways = [
        way("hog", "thread hog", &fix::HIGHER_PRIORITY),
        way("roamer", "thread roamer", &fix::HIGHER_PRIORITY),
        way("raised", "thread raised", &fix::SHORT_BOOST),
        way("highest", "thread highest", &fix::BELOW_HIGHEST),
        way("equal", "thread equal", &fix::LOWER_FOR_EQUAL),
        way("sibling", "thread sibling", &fix::OWN_PRIORITY_FOR_SIBLING),
        way(
            "inversion",
            "priority inversion",
            &fix::PRIORITY_INHERITANCE,
        ),
    ];
    cure("2s", &[], &ways);
}

fn calls_that_wait_for_nothing_cure_waits() {
    needs_two_cpus();
    let ways = [
        way("pipe", "write() on a pipe", &fix::PRINT_ELSEWHERE),
        way("terminal", "write() on the terminal", &fix::PRINT_ELSEWHERE),
        way("socket", "write() on a socket", &fix::SEND_ELSEWHERE),
        way("answer", "read() on a socket", &fix::READ_ELSEWHERE),
        way("polled", "in poll()", &fix::POLL_WITHOUT_WAITING),
        way("child", "vfork()", &fix::START_BEFORE),
        way("held", "blocked on long-holder", &fix::SHORT_HOLD),
        way(
            "slept",
            "blocked on sleeping-holder",
            &fix::NO_WAIT_UNDER_LOCK,
        ),
        way("timed", "until its time-out", &fix::LOCK_IN_TIME),
    ];
    cure("2s", &[], &ways);
}

fn ways_of_sleeping_and_serving_cure_late_timers() {
    let of = |thread, cause, fix| Way {
        word: thread,
        thread,
        cause,
        fix,
    };
    let ways = [
        of("slack", "timer slack", &fix::TIMER_SLACK),
        of("executor", "at something else", &fix::OTHER_EXECUTOR),
    ];
    // These change how often the loop runs, so that no cycle of it is late.
    let found = [("relative", "sleeps-for"), ("signalled", "sleep-cut")];
    let _turn = super::turn();
    let all = |end| {
        let names = found.map(|(thread, _)| format!("{thread}{end}"));
        [&words(&ways, end)[..], &names].concat()
    };
    let sick = Watched::new("2s", &[], &all(""));
    let cured = Watched::new("2s", &[], &all("+"));
    assert_cured(&ways, &sick, &cured);
    for (thread, kind) in found {
        // A signal may come when the sleep is over.
        let (was, is) = (sick.found(thread, kind), cured.found(thread, kind));
        assert!(
            was > 0 && is * 10 <= was,
            "{kind}: {was}, {is}: {}",
            cured.threads
        );
        println!("{kind}: {was} before, {is} after");
    }
}

fn mallopt_cures_allocation_in_locked_memory() {
    let way = way("allocation", "system call mmap()", &fix::KEEP_MEMORY);
    cure("1500ms", &[], &[way]);
}

fn touched_and_kept_memory_cures_page_faults() {
    cure(
        "1500ms",
        &[],
        &[way("touch", "page faults", &fix::LOCK_MEMORY)],
    );
}

fn memory_that_is_not_forked_cures_copied_pages() {
    needs_two_cpus();
    if !cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        not_run(WHAT, "this machine's page faults do not show copies");
    }
    let way = way("forked", "copies pages after fork() by", &fix::NO_FORK);
    cure("1500ms", &[], &[way]);
}

fn data_sent_at_once_cure_delayed_acknowledgements() {
    needs_two_cpus();
    let way = way("delayed", "a delayed acknowledgement", &fix::NO_DELAY);
    cure("1500ms", &[], &[way]);
}

fn an_unchanged_memory_map_cures_waits_for_it() {
    needs_two_cpus();
    cure(
        "1500ms",
        &[],
        &[way(
            "mapping",
            "map(): blocked in the kernel on mapper",
            &fix::NO_MAPPING,
        )],
    );
}

fn another_thread_cures_syncing() {
    // How much makes a sync slow depends on the disk, and on some nothing does.
    let place = Place::new();
    let mut cost = Command::new(program(&place));
    cost.args(["0", "cost-of-sync"]).current_dir(place.path());
    let output = cost.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let (bytes, ns) = said.trim().split_once(' ').expect("bytes and time");
    if !output.status.success() {
        not_run(WHAT, &format!("fsync takes {ns} ns even with much data"));
    }
    let _turn = super::turn();
    let way = [way("sync", "fsync()", &fix::SYNC_ELSEWHERE)];
    let sick = Watched::new("1500ms", &[], &[format!("sync{bytes}")]);
    let cured = Watched::new("1500ms", &[], &[format!("sync{bytes}+")]);
    assert_cured(&way, &sick, &cured);
}

fn a_real_time_policy_cures_sharing_with_ordinary_threads() {
    let binary = binary();
    let fifo = [
        binary.to_str().unwrap(),
        "exec",
        "--quiet",
        "--policy",
        "FIFO 80",
        "--",
    ];
    let way = way("ordinary", "sharing the CPU", &fix::REAL_TIME_POLICY);
    cure("1s", &fifo, &[way]);
}

fn a_mutex_cures_spinning_for_a_lock() {
    let way = way(
        "spin",
        "of its process was ready",
        &fix::MUTEX_FOR_SPIN_LOCK,
    );
    cure("2s", &[], &[way]);
}

fn a_busy_thread_that_leaves_time_cures_the_fair_server() {
    if kernel() < (6, 12) {
        not_run(WHAT, "the fair server came with Linux 6.12");
    }
    let way = [way("greedy", "the fair server", &fix::FAIR_SERVER)];
    let _turn = super::turn();
    let sick = Watched::new("3s", &[], &words(&way, ""));
    let printed = sick.printed(&way[0]);
    let advice = "let no FIFO or RR thread on the loop's CPU use all of its time";
    assert!(printed.starts_with(advice), "{printed}");
    let cured = Watched::new("3s", &[], &words(&way, "+"));
    assert_cured(&way, &sick, &cured);
}

fn the_printed_command_cures_a_cpu_quota() {
    let group = Group::needed(WHAT, "cpu");
    // So little that a busy machine gives the program more.
    let is_set = if group.is_v2 {
        group.write("cpu.max", "1000 100000")
    } else {
        group.write("cpu.cfs_quota_us", "1000")
    };
    if !is_set {
        not_run(WHAT, "this kernel has no CPU quotas");
    }
    let join = format!(
        "echo $$ > {} && exec \"$@\"",
        group.path.join("cgroup.procs").display()
    );
    let before = ["sh", "-c", &join, "sh"];
    let _turn = super::turn();
    let way = [way("quota", "CPU quota", &fix::QUOTA)];
    let sick = Watched::new("1500ms", &before, &words(&way, ""));
    let printed = sick.printed(&way[0]);
    let command = printed.strip_prefix("lift the quota: ").expect("a command");
    let command = command.split(';').next().unwrap();
    let status = Command::new("sh").args(["-c", command]).status().unwrap();
    assert!(status.success(), "{command}");
    let cured = Watched::new("1500ms", &before, &words(&way, ""));
    assert_cured(&way, &sick, &cured);
}
