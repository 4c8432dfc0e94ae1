//! Periods of watched threads: exact, drifting, or unknown.

use super::{Beat, under, watch_this_process, watched};
use crate::started::{Start, needs_tracing, not_run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wakepath_timeline::Policy;

wakepath_test_program::tests![
    the_periods_of_a_foreign_program_are_found_and_its_own_notes_agree,
    a_period_that_drifts_is_told_to_a_thousandth_of_its_unit,
    a_program_that_sleeps_once_is_recorded_and_its_period_is_unknown,
];

fn the_periods_of_a_foreign_program_are_found_and_its_own_notes_agree() {
    let what = "watching a program";
    needs_tracing(what);
    let beats = [
        Beat::start("fast beat", 3_000_000),
        Beat::start("slow", 17_000_000),
    ];
    let finished = watch_this_process("1500ms");
    let [fast, slow] = beats.map(Beat::end);
    finished.skip_unless_watched(what);
    finished.assert_code(0);
    let json = finished.json();
    let run = watched(&finished);
    assert_eq!(run.check().unwrap(), [], "{}", finished.said());
    for (name, period_ns, own) in [("fast-beat", 3_000_000, &fast), ("slow", 17_000_000, &slow)] {
        let threads = json["threads"].as_array().unwrap();
        let seen = threads.iter().find(|thread| thread["name"] == name);
        let seen = seen.unwrap_or_else(|| panic!("no {name}: {}", finished.said()));
        assert_eq!(
            (&seen["period_ns"], &seen["exact"]),
            (&period_ns.into(), &true.into())
        );
        let record = &run.manifest.segments[0];
        let thread = record
            .threads
            .iter()
            .find(|thread| thread.name == name)
            .unwrap();
        let samples = run.samples(0, thread.thread).unwrap();
        assert!(!samples.is_empty());
        // The thread noted each due time too, and saw its first instruction after the switch to it,
        // but where the kernel did not tell the switch.
        let mut later = 0;
        for sample in &samples {
            let noted = own.iter().find(|noted| noted.due_ns == sample.due_ns);
            let noted = noted.unwrap_or_else(|| panic!("{name}: {sample:?} is not its own"));
            later += u64::from(sample.wake_ns > noted.wake_ns);
        }
        let untold = seen["untold_switches"].as_u64().unwrap();
        assert!(later <= untold, "{name}: {later} later, {untold} untold");
    }
    // It is a run, with a mark, that can't pass.
    assert!(run.manifest.imported.as_ref().unwrap().is_watched());
    let directory = finished.place.path().join("run");
    let shown = crate::started::Start::command(&["show", "--details"])
        .with(&[&directory])
        .finish();
    // Nobody said what is to be held: there is nothing to fail.
    shown.assert_code(0);
    assert!(
        shown.output.contains("verdict: NOT JUDGED") && shown.output.contains("--latency"),
        "{}",
        shown.said()
    );
    assert!(
        shown.output.contains("watched from outside"),
        "{}",
        shown.said()
    );
    let explained = Start::command(&["explain", "--all"])
        .with(&[&directory])
        .finish();
    explained.assert_code(0);
    assert!(
        explained.output.contains("fast-beat"),
        "{}",
        explained.said()
    );
    assert!(directory.join("report.html").is_file());
}

/// A thread that sleeps for a time has some nanoseconds more in every turn: nobody reads those.
fn a_period_that_drifts_is_told_to_a_thousandth_of_its_unit() {
    let what = "the period of a thread that drifts";
    needs_tracing(what);
    let name = format!("nap{}", std::process::id());
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let sleeper = std::thread::Builder::new()
        .name(name.clone())
        .spawn(move || {
            let has_right = under(Policy::Fifo { priority: 10 });
            while !told.load(Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(7));
            }
            has_right
        });
    let words = [
        "watch",
        "--comm",
        &name,
        "--for",
        "2s",
        "--directory",
        "run",
    ];
    let finished = Start::command(&words).finish();
    stop.store(true, Ordering::Relaxed);
    if !sleeper.unwrap().join().unwrap() {
        not_run(what, "there is no right to FIFO");
    }
    finished.skip_unless_watched(what);
    finished.assert_code(0);
    // The heading names it too, and a wide table is several.
    let mut rows = finished.output.lines().map(str::split_whitespace);
    let row = rows.find_map(|row| {
        let words: Vec<&str> = row.collect();
        let is_row = words.get(..3) == Some(&[name.as_str(), "FIFO", "10"]);
        is_row.then(|| (words[3].to_owned(), words[4].to_owned()))
    });
    let Some((period, unit)) = row else {
        panic!("no row of {name}: {}", finished.said());
    };
    let decimals = period.split_once('.').map_or("", |(_, decimals)| decimals);
    assert!(
        period.starts_with('7') && unit == "ms" && decimals.len() <= 3,
        "{}",
        finished.said()
    );
}

fn a_program_that_sleeps_once_is_recorded_and_its_period_is_unknown() {
    let what = "watching a program without a period";
    needs_tracing(what);
    let finished =
        Start::command(&["watch", "--all", "--directory", "run", "--", "sleep", "0.3"]).finish();
    finished.skip_unless_watched(what);
    finished.assert_code(0);
    assert!(
        finished.output.contains("its period, if any, is unknown"),
        "{}",
        finished.said()
    );
    let run = watched(&finished);
    assert_eq!(run.manifest.segments[0].threads[0].name, "sleep");
    let page = std::fs::read_to_string(finished.place.path().join("run/report.html")).unwrap();
    assert!(!page.contains("Hz, due every"), "it has no rate");
}
