//! A recorded perf.data, held against what perf itself says of it.

use wakepath_import::{Asked, Form, ImportError, Imported, Values};

const DATA: &[u8] = include_bytes!("../fixtures/perf.data");
/// `perf sched timehist`: a line for each stretch on a CPU, times in milliseconds, cut to three
/// digits: waited, delayed from wake-up to switch, ran.
const TIMEHIST: &str = include_str!("../fixtures/perf-timehist.txt");
const LOOP: &str = "23061";

fn read(bytes: &[u8], threads: &[&str]) -> Result<Imported, ImportError> {
    let asked = Asked {
        period_ns: Some(2_000_000),
        threads,
        ..Asked::default()
    };
    Form::named("perf").unwrap().read(bytes, &asked)
}

#[test]
fn every_delay_is_the_one_that_perf_gives() {
    let found = read(DATA, &[LOOP]).unwrap();
    assert_eq!(
        (found.tool, found.tool_version.as_deref()),
        ("perf", Some("6.1.192"))
    );
    assert_eq!(found.kernel.as_deref(), Some("6.18.44-fc-v595"));
    assert_eq!(found.command[1], "record");
    let Values::Row(row) = &found.threads[0].values else {
        panic!("{found:?}");
    };
    assert_eq!(row.lost, 0);
    let mine: Vec<String> = row
        .samples
        .iter()
        .map(|sample| sample.latency_ns())
        .map(|ns| format!("{}.{:03}", ns / 1_000_000, ns / 1_000 % 1_000))
        .collect();
    let lines = TIMEHIST
        .lines()
        .filter(|line| line.contains(&format!("[{LOOP}")));
    // Its first stretch is its birth, which no wake-up came before.
    let theirs: Vec<&str> = lines
        .skip(1)
        .map(|line| line.split_whitespace().rev().nth(1).unwrap())
        .collect();
    // Its last stretch ended beyond the recorded CPU: perf has no line for it.
    assert_eq!((mine.len(), theirs.len()), (60, 59));
    assert_eq!(mine[..59], theirs);
}

#[test]
fn a_thread_must_be_named_and_the_choice_is_told() {
    let error = read(DATA, &[]).unwrap_err().to_string();
    let told = format!("select the loop's thread with --thread: {LOOP} `cyclictest` (");
    assert!(error.starts_with(&told), "{error}");
    assert!(
        error.contains("(60 wake-ups, 2.00 ms apart, priority 80)"),
        "{error}"
    );
    let error = read(DATA, &["cyclictest"]).unwrap_err().to_string();
    assert!(
        error.starts_with("\"cyclictest\" matches several threads; give a number"),
        "{error}"
    );
    let error = read(DATA, &["no\nsuch"]).unwrap_err().to_string();
    assert!(
        error.starts_with("no wake-up of a thread \"no\\nsuch\"; there are"),
        "{error}"
    );
    let threads: &[&str] = &[LOOP];
    let asked = Asked {
        threads,
        ..Asked::default()
    };
    // Its rhythm shows the period.
    let found = Form::named("perf").unwrap().read(DATA, &asked).unwrap();
    let period_ns = found.period_ns.unwrap();
    assert!(period_ns.abs_diff(2_000_000) < 10_000, "{period_ns}");
}

#[test]
fn files_that_are_no_such_recording_say_what_would_be_right() {
    let refused = |bytes: &[u8]| read(bytes, &[LOOP]).unwrap_err().to_string();
    for length in [0, 7, 8, 50, 104, 600, DATA.len() / 2, DATA.len() - 1] {
        let error = refused(&DATA[..length]);
        assert!(
            !error.is_empty() && !error.contains('\n'),
            "{length}: {error}"
        );
    }
    let changed = |at: usize, bytes: &[u8]| {
        let mut data = DATA.to_vec();
        data[at..at + bytes.len()].copy_from_slice(bytes);
        refused(&data)
    };
    assert!(changed(0, b"2ELIFREP").contains("other byte order"));
    assert!(changed(8, &16_u64.to_le_bytes()).contains("perf record -o FILE"));
    assert!(changed(48, &0_u64.to_le_bytes()).contains("perf was killed"));
    // Without the features there is no word on the events.
    assert!(changed(72, &[0; 8]).contains("-e sched:sched_waking"));
}

#[test]
fn lost_events_are_counted() {
    let mut data = DATA.to_vec();
    let word = |at: usize| u64::from_le_bytes(data[at..at + 8].try_into().unwrap());
    let (mut at, end) = (word(40) as usize, (word(40) + word(48)) as usize);
    // The first sample that is long enough for a number and a count becomes PERF_RECORD_LOST.
    let mut planted = false;
    while at < end && !planted {
        let kind = u32::from_le_bytes(data[at..at + 4].try_into().unwrap());
        let size = usize::from(u16::from_le_bytes(data[at + 6..at + 8].try_into().unwrap()));
        if kind == 9 && size >= 24 {
            data[at..at + 4].copy_from_slice(&2_u32.to_le_bytes());
            data[at + 16..at + 24].copy_from_slice(&5_u64.to_le_bytes());
            planted = true;
        }
        at += size;
    }
    let found = read(&data, &[LOOP]).unwrap();
    assert!(planted);
    let lost = found.trace.unwrap().lost();
    assert_eq!(lost.into_iter().collect::<Vec<_>>(), [(1, 5)]);
}

#[test]
fn the_text_of_timehist_gives_the_delays_of_its_recording() {
    let of = |form: &str, bytes: &[u8]| {
        let asked = Asked {
            period_ns: Some(2_000_000),
            threads: &[LOOP],
            ..Asked::default()
        };
        let found = Form::named(form).unwrap().read(bytes, &asked).unwrap();
        let Values::Row(row) = found.threads[0].values.clone() else {
            panic!("{found:?}");
        };
        row
    };
    let recorded = of("perf", DATA);
    let text = of("perf-sched", TIMEHIST.as_bytes());
    // Its last stretch ended beyond the recorded CPU: perf has no line for it.
    assert_eq!((text.samples.len(), text.lost), (59, 0));
    for (text, recorded) in text.samples.iter().zip(&recorded.samples) {
        assert_eq!(text.cycle, recorded.cycle);
        assert_eq!(text.latency_ns(), recorded.latency_ns() / 1_000 * 1_000);
    }
}
