//! Runs, with loads and traced: one of their processes is killed, or all at once.

use super::{Moments, Traces};
use crate::started::{Finished, Role, Running, Start, ask, kill, loop_cpu, needs_tracing};
use rustix::process::Signal;
use std::time::{Duration, Instant};
use wakepath_archive::{Run, State};
use wakepath_rt::clock;

wakepath_test_program::tests![
    ;
    a_run_under_load_loses_nothing_that_was_on_the_disk,
    a_traced_run_loses_nothing_that_was_on_the_disk_and_leaves_no_instance,
];

/// Judged cycles of 5 ms, and those of the warm-up.
const CYCLES: u64 = 200;
const WARM_UP: u64 = 20;
/// A little longer than such a run, so that some kills come when all is over.
const LONGEST: Duration = Duration::from_millis(1_900);
/// A run's data on the disk is at most this old: blocks are written at least every half second.
const OLDEST_MS: f64 = 1_000.0;

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Command,
    One(Role),
    All,
}

/// Results of a campaign.
#[derive(Default)]
struct Tally {
    kills: u64,
    before_the_first_sample: u64,
    after_the_end: u64,
    on_disk_before: u64,
    after: u64,
    oldest_ms: f64,
}

fn scenario(more: &str) -> String {
    format!(
        "rate = \"200 Hz\"\ncycles = {CYCLES}\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\n\
         cpu = {}\n{more}\ncriterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    )
}

/// Samples of all segments on the disk; `None` before there is a log.
fn on_disk(running: &Running) -> Option<u64> {
    let run = Run::open(running.directory()).ok()?;
    Some(recorded(&run))
}

fn recorded(run: &Run) -> u64 {
    let segments = run.manifest.segments.iter();
    let threads = segments.flat_map(|segment| &segment.threads);
    threads.map(|thread| thread.recorded).sum()
}

/// Kills the victim if there is one at this moment; whether there was.
fn struck(running: &mut Running, victim: Victim) -> bool {
    if running.has_ended() {
        return false;
    }
    match victim {
        Victim::Command => running.signal(Signal::KILL),
        Victim::All => running.kill_all(),
        Victim::One(role) => match running.all_of(role).first() {
            Some(&process) => kill(process, Signal::KILL),
            None => return false,
        },
    }
    true
}

/// Runs and kills until `wanted` kills have struck.
fn campaign(
    text: &str,
    segments: u64,
    victim: Victim,
    wanted: u64,
    moments: &mut Moments,
) -> Tally {
    let mut tally = Tally::default();
    let traces = Traces::now();
    for attempt in 0.. {
        if tally.kills == wanted {
            break;
        }
        assert!(attempt < 20 * wanted, "{victim:?} is hardly ever there");
        let mut running = Start::scenario(text).start();
        let moment = Instant::now() + moments.next(LONGEST * segments as u32);
        // A victim that is not there yet, or between two segments, is waited for.
        std::thread::sleep(moment.saturating_duration_since(Instant::now()));
        let before = on_disk(&running);
        let killed_ns = clock::monotonic_ns();
        if !struck(&mut running, victim) {
            running.finish();
            continue;
        }
        tally.kills += 1;
        let finished = running.finish();
        let what = format!("{victim:?}, kill {}", tally.kills);
        assert_kept(&finished, before, killed_ns, segments, &what, &mut tally);
        traces.assert_unchanged(&what);
    }
    tally
}

/// Everything that was on the disk is there, the run can be recovered and does not pass unless it
/// is whole, and no process is left.
fn assert_kept(
    finished: &Finished,
    before: Option<u64>,
    killed_ns: u64,
    segments: u64,
    what: &str,
    tally: &mut Tally,
) {
    finished.wait_until_nobody_is_left();
    let said = |of: &Finished| format!("{what}: {}", of.said());
    assert!(
        !finished.complaints.contains("panicked"),
        "{}",
        said(finished)
    );
    let recovered = ask("recover", &finished.directory);
    assert!(
        !recovered.complaints.contains("panicked"),
        "{}",
        said(&recovered)
    );
    let Some(before) = before.filter(|&before| before > 0) else {
        tally.before_the_first_sample += 1;
        return;
    };
    recovered.assert_code(0);
    let run = finished.run();
    assert_eq!(*run.state(), State::Finished, "{what}");
    // A segment that was cut off has no end, which its check says; anything else is a loss.
    let problems = run.check().unwrap();
    let more = problems.iter().map(ToString::to_string);
    let more: Vec<_> = more.filter(|problem| !of_a_cut_off_run(problem)).collect();
    assert!(more.is_empty(), "{what}: {more:?}");
    let after = recorded(&run);
    assert!(
        after >= before,
        "{what}: {before} samples before, {after} after"
    );
    tally.on_disk_before += before;
    tally.after += after;
    let is_all = after >= (CYCLES + WARM_UP) * segments;
    if !is_all || !run.is_complete() {
        let shown = ask("show", &finished.directory);
        assert_ne!(shown.code(), Some(0), "{what}: {}", shown.said());
    }
    if is_all {
        tally.after_the_end += 1;
    } else {
        // Between two segments there is no loop whose samples could be new.
        if segments == 1 {
            let newest = finished
                .samples(0)
                .last()
                .map_or(0, |sample| sample.wake_ns);
            let age_ms = (killed_ns as f64 - newest as f64) / 1e6;
            assert!(
                age_ms < OLDEST_MS,
                "{what}: the newest sample is {age_ms} ms old"
            );
            tally.oldest_ms = tally.oldest_ms.max(age_ms);
        }
    }
    assert!(!finished.directory.join("scratch").exists(), "{what}");
}

/// Whether a problem of a recording is only that it was cut off.
fn of_a_cut_off_run(problem: &str) -> bool {
    problem.contains("the end of the segment is missing")
        || problem.contains("the run was cut short")
}

fn report(what: &str, victim: Victim, tally: &Tally) {
    println!(
        "\nkills: {what}, {victim:?}: {} kills ({} before the first sample was on the disk, {} when \
         the last one was); {} samples on the disk before, {} after; newest sample {:.0} ms old at \
         most; nothing left",
        tally.kills,
        tally.before_the_first_sample,
        tally.after_the_end,
        tally.on_disk_before,
        tally.after,
        tally.oldest_ms
    );
}

// Ignored: the stage `kills` of ./test --deep runs it: minutes.
fn a_run_under_load_loses_nothing_that_was_on_the_disk() {
    let mut moments = Moments::new(1);
    let text =
        scenario("phases = [{ name = \"p\", loads = [\"cpu\", \"messages\", \"processes\"] }]");
    let victims = [
        Victim::Command,
        Victim::One(Role::Loop),
        Victim::One(Role::Recorder),
        Victim::One(Role::LoadSupervisor),
        Victim::One(Role::LoadWorker),
        Victim::All,
    ];
    for victim in victims {
        let tally = campaign(&text, 1, victim, 30, &mut moments);
        report("runs under load", victim, &tally);
    }
}

// Ignored: the stage `kills` of ./test --deep runs it: minutes.
fn a_traced_run_loses_nothing_that_was_on_the_disk_and_leaves_no_instance() {
    needs_tracing("killing traced runs");
    let mut moments = Moments::new(2);
    let text = scenario("trace = { mode = \"drained\" }");
    let victims = [
        Victim::Command,
        Victim::One(Role::Loop),
        Victim::One(Role::Probe),
        Victim::One(Role::Recorder),
        Victim::All,
    ];
    for victim in victims {
        // An untraced segment and a traced one.
        let tally = campaign(&text, 2, victim, 20, &mut moments);
        report("traced runs", victim, &tally);
    }
}
