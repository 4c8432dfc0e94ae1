//! Recorded kernel events in three forms, held against what trace-cmd and the kernel say of them.

use wakepath_import::{Asked, Form, ImportError, Imported, Row, Values};
use wakepath_timeline::{Lack, What};

/// The kernel's own text of 40 cycles of 2 ms.
const TEXT: &[u8] = include_bytes!("../fixtures/ftrace.txt");
/// 60 cycles of 2 ms, in each version of trace-cmd's file.
const VERSION_6: &[u8] = include_bytes!("../fixtures/trace-v6.dat");
const VERSION_7: &[u8] = include_bytes!("../fixtures/trace-v7.dat");

fn read(form: &str, bytes: &[u8], threads: &[&str]) -> Result<Imported, ImportError> {
    let asked = Asked {
        threads,
        ..Asked::default()
    };
    Form::named(form).unwrap().read(bytes, &asked)
}

fn servo(form: &str, bytes: &[u8]) -> (Imported, Row) {
    let found = read(form, bytes, &["servo"]).unwrap();
    let Values::Row(row) = found.threads[0].values.clone() else {
        panic!("{:?}", found.threads);
    };
    (found, row)
}

#[test]
fn cycles_lie_on_the_row_that_the_timer_was_programmed_to() {
    for (form, bytes, cycles) in [
        ("ftrace", TEXT, 40),
        ("trace-cmd", VERSION_6, 60),
        ("trace-cmd", VERSION_7, 60),
    ] {
        let (found, row) = servo(form, bytes);
        assert_eq!(row.due.period_ns, 2_000_000);
        // It slept until whole seconds and every 2 ms from there.
        assert_eq!(row.due.start_ns % 2_000_000, 0, "{:?}", row.due);
        let served = row.samples.len();
        assert!(
            (cycles - 3..=cycles).contains(&served),
            "{served} of {cycles}"
        );
        assert_eq!(row.lost, 0);
        for sample in &row.samples {
            assert!(
                (1_000..2_000_000_000).contains(&sample.latency_ns()),
                "{sample:?}"
            );
            assert!(sample.execution_ns() > 10_000, "{sample:?}");
        }
        assert!(
            found.lacks.contains(&Lack::OwnDueTimes),
            "{:?}",
            found.lacks
        );
        let trace = found.trace.unwrap();
        assert!(trace.events.is_sorted_by_key(|event| event.at_ns));
        let named = trace.events.iter().any(|event| {
            matches!(&event.what, What::TimerStart { function, .. } if &**function == "hrtimer_wakeup")
        });
        assert!(named, "no timer of the loop");
    }
}

#[test]
fn the_text_gives_the_latencies_that_can_be_read_in_it() {
    let (_, row) = servo("ftrace", TEXT);
    // Due at 1606.000 s by its hrtimer_start, switched in at 1606.000047 s, asleep at 1606.000136 s.
    let first = row.samples[0];
    assert_eq!(
        (first.due_ns, first.latency_ns()),
        (1_606_000_000_000, 47_000)
    );
    assert_eq!(first.response_ns(), 136_000);
    assert_eq!(row.samples[1].latency_ns(), 41_000);
}

#[test]
fn a_thread_must_be_named_and_a_trace_without_its_timers_needs_a_period() {
    let error = read("trace-cmd", VERSION_6, &[]).unwrap_err().to_string();
    assert!(
        error.starts_with("select the loop's thread with --thread:"),
        "{error}"
    );
    assert!(
        error.contains("`servo`") && error.contains("priority 80"),
        "{error}"
    );
    // Without expiries the timers' clock is unknown, and the wake-ups are used as due times.
    let text = std::str::from_utf8(TEXT).unwrap();
    let without: String = text
        .lines()
        .filter(|line| !line.contains("hrtimer_expire"))
        .map(|line| format!("{line}\n"))
        .collect();
    let (found, row) = servo("ftrace", without.as_bytes());
    let told = |part: &str| found.lacks.iter().any(|lack| lack.text().contains(part));
    assert!(
        told("the cycles of servo are due when it was woken"),
        "{:?}",
        found.lacks
    );
    assert!(
        row.due.period_ns.abs_diff(2_000_000) < 200_000,
        "{:?}",
        row.due
    );
    let bare: String = text
        .lines()
        .filter(|line| !line.contains("hrtimer") && !line.contains("sched_waking"))
        .map(|line| format!("{line}\n"))
        .collect();
    let error = read("ftrace", bare.as_bytes(), &["servo"])
        .unwrap_err()
        .to_string();
    assert!(error.contains("sched_waking"), "{error}");
}

#[test]
fn events_on_another_clock_are_moved_onto_the_timers() {
    let (_, own) = servo("ftrace", TEXT);
    // As trace_clock global: 3.3 ms ahead.
    let mut ahead = String::new();
    for line in std::str::from_utf8(TEXT).unwrap().lines() {
        let at = line.find(": ").filter(|_| !line.starts_with('#'));
        let instant = at.and_then(|at| line[..at].rsplit(' ').next());
        let moved = instant.and_then(|text| {
            let micros: u64 = text.replace('.', "").parse().ok()?;
            let moved = micros + 3_300;
            let seconds = format!("{}.{:06}", moved / 1_000_000, moved % 1_000_000);
            Some(line.replacen(text, &seconds, 1))
        });
        ahead.push_str(moved.as_deref().unwrap_or(line));
        ahead.push('\n');
    }
    let (found, row) = servo("ftrace", ahead.as_bytes());
    assert!(
        found
            .lacks
            .iter()
            .any(|lack| lack.text().contains("the timers' clock"))
    );
    assert_eq!(row.due, own.due);
    assert_eq!(row.samples.len(), own.samples.len());
    for (moved, own) in row.samples.iter().zip(&own.samples) {
        let apart = moved.latency_ns().abs_diff(own.latency_ns());
        assert!(apart < 10_000, "{moved:?} {own:?}");
    }
}

#[test]
fn cut_and_changed_files_say_what_is_wrong() {
    let refused = |bytes: &[u8]| match read("trace-cmd", bytes, &["servo"]) {
        Err(error) => error.to_string(),
        Ok(found) => panic!("read with {} threads", found.threads.len()),
    };
    // After the last options of version 7 come names of its sections, which nobody needs.
    for (file, behind) in [(VERSION_6, 1), (VERSION_7, 130)] {
        for length in [0, 9, 12, 18, 40, 300, file.len() / 2, file.len() - behind] {
            let error = refused(&file[..length]);
            assert!(
                !error.is_empty() && !error.contains('\n'),
                "{length}: {error}"
            );
        }
    }
    let changed = |file: &[u8], at: usize, byte: u8| {
        let mut file = file.to_vec();
        file[at] = byte;
        refused(&file)
    };
    assert!(changed(VERSION_7, 10, b'8').contains("6 and 7 are known"));
    assert!(changed(VERSION_6, 12, 1).contains("other byte order"));
    assert!(changed(VERSION_6, 17, 0xff).contains("pages of"));
    // Its options name themselves as the next: reading them would never end.
    let at = u64::from_le_bytes(VERSION_7[29..37].try_into().unwrap());
    let mut cyclic = VERSION_7.to_vec();
    let first = usize::try_from(at).unwrap() + 16;
    cyclic[first..first + 2].copy_from_slice(&0_u16.to_le_bytes());
    cyclic[first + 2..first + 6].copy_from_slice(&8_u32.to_le_bytes());
    cyclic[first + 6..first + 14].copy_from_slice(&at.to_le_bytes());
    assert!(
        refused(&cyclic).contains("have no end"),
        "{}",
        refused(&cyclic)
    );
}

/// `trace` of an instance with the tracer timerlat at 1 kHz, of a guest.
const TIMERLAT: &[u8] = include_bytes!("../../../probe/tests/fixtures/timerlat-6.1-rt.txt");

#[test]
fn every_activation_of_timerlat_is_read() {
    assert_eq!(Form::of_file(TIMERLAT).unwrap().word(), "timerlat-tracer");
    let found = read("timerlat-tracer", TIMERLAT, &[]).unwrap();
    let Values::Row(row) = &found.threads[0].values else {
        panic!("{:?}", found.threads);
    };
    assert_eq!(
        (found.period_ns, row.samples.len(), row.lost),
        (Some(1_000_000), 62, 0)
    );
    assert_eq!(row.samples.last().unwrap().cycle, 61);
    let latencies: Vec<i64> = row.samples.iter().map(|of| of.latency_ns()).collect();
    assert_eq!((latencies[0], latencies[61]), (3_906, 4_282));
}

#[test]
fn cycles_whose_switches_the_kernel_left_out_are_not_skipped_for_sure() {
    let text = std::str::from_utf8(TEXT).unwrap();
    let is_switch_in = |line: &&str| line.contains("next_comm=servo");
    let left_out: Vec<&str> = text.lines().filter(is_switch_in).step_by(5).collect();
    let kept = text.lines().filter(|line| !left_out.contains(line));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    let lacks = |bytes: &[u8]| servo("ftrace", bytes).0.lacks;
    assert!(!lacks(TEXT).contains(&Lack::SkippedPeriods));
    let found = lacks(kept.as_bytes());
    assert!(found.contains(&Lack::SkippedPeriods), "{found:?}");
    let said = found.iter().map(Lack::to_string).collect::<String>();
    assert!(said.contains("of servo that the kernel left out"), "{said}");
}
