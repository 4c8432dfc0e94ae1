//! A real trace of LTTng's, of a program with ros2_tracing's tracepoints: two timers, one callback that
//! held the others up for 13 ms.

use proptest::prelude::*;
use wakepath_import::{Asked, Form, ImportError, Imported, Part, Row, Values};

const METADATA: &[u8] = include_bytes!("../fixtures/ros2/ust/uid/0/64-bit/metadata");
const FIRST: &[u8] = include_bytes!("../fixtures/ros2/ust/uid/0/64-bit/ros2ch_0");
const SECOND: &[u8] = include_bytes!("../fixtures/ros2/ust/uid/0/64-bit/ros2ch_1");

fn parts() -> Vec<Part> {
    let part = |path: &str, bytes: &[u8]| Part {
        path: format!("ust/uid/0/64-bit/{path}"),
        bytes: bytes.to_vec(),
    };
    vec![
        part("metadata", METADATA),
        part("ros2ch_0", FIRST),
        part("ros2ch_1", SECOND),
    ]
}

fn read(parts: &[Part]) -> Result<Imported, ImportError> {
    Form::named("ros2")
        .unwrap()
        .read_directory(parts, &Asked::default())
}

fn row(found: &Imported, number: usize) -> &Row {
    match &found.threads[number].values {
        Values::Row(row) => row,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_timer_is_a_task_whose_callbacks_are_its_cycles() {
    let found = read(&parts()).unwrap();
    let names: Vec<&str> = found.threads.iter().map(|of| &*of.name).collect();
    assert_eq!(names, ["balance 5 ms", "balance 20 ms"]);
    let (control, report) = (row(&found, 0), row(&found, 1));
    assert_eq!(
        (control.due.period_ns, report.due.period_ns),
        (5_000_000, 20_000_000)
    );
    // babeltrace2 has 200 callbacks of the one, from the first that it shows on.
    assert_eq!(control.samples.len(), 200);
    // It was made at 09:29:31.767347724 and began first at .772378778, for 98.717 µs.
    assert_eq!(
        control.samples[0].latency_ns(),
        772_378_778 - 767_347_724 - 5_000_000
    );
    assert_eq!(control.samples[0].execution_ns(), 98_717);
    let longest = control
        .samples
        .iter()
        .map(|of| of.execution_ns())
        .max()
        .unwrap();
    assert!((13_000_000..100_000_000).contains(&longest), "{longest}");
    // Delayed callbacks are skipped, and none comes before its time.
    let last = control.samples.last().unwrap().cycle;
    assert!(last > 200, "{last}");
    for row in [control, report] {
        assert!(row.samples.iter().all(|of| of.latency_ns() >= 0));
        assert_eq!(row.lost, 0);
    }
    let told = |part: &str| found.lacks.iter().any(|lack| lack.text().contains(part));
    assert!(
        told("due times of balance 5 ms (Balance::control())"),
        "{:?}",
        found.lacks
    );
    assert!(
        told("whole periods after ros2:rcl_timer_init"),
        "{:?}",
        found.lacks
    );
}

#[test]
fn what_is_cut_short_or_of_another_kind_is_refused_by_name() {
    let refused = |parts: &[Part]| read(parts).unwrap_err().to_string();
    assert!(refused(&[]).contains("no file `metadata`"));
    let changed = |number: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut parts = parts();
        change(&mut parts[number].bytes);
        refused(&parts)
    };
    let cut = changed(1, &|bytes| bytes.truncate(FIRST.len() - 1));
    assert!(
        cut.starts_with("ust/uid/0/64-bit/ros2ch_0: packet "),
        "{cut}"
    );
    let other = changed(2, &|bytes| bytes[0] = 0);
    assert!(
        other.contains("ros2ch_1: does not begin with a little-endian CTF packet"),
        "{other}"
    );
    let cut = changed(0, &|bytes| bytes.truncate(5000));
    assert!(cut.contains("metadata is truncated"), "{cut}");
    let text = |text: &str| changed(0, &|bytes| *bytes = text.as_bytes().to_vec());
    let known = "trace { major = 1; minor = 8; byte_order = le; };";
    assert!(text("trace { major = 2; minor = 0; };").contains("CTF 2.0"));
    assert!(text("trace { byte_order = be; };").contains("other byte order"));
    assert!(text("hello {").contains("near \"hello {\""));
    let deep = format!("{known} typealias {}", "struct { ".repeat(100_000));
    assert!(text(&deep).contains("nested deeper"), "{}", text(&deep));
    // Names, each for twice the one before.
    let mut doubling = format!("{known} typealias integer {{ size = 8; }} := t0;");
    for n in 0..60 {
        doubling += &format!("typealias struct {{ t{n} a; t{n} b; }} := t{};", n + 1);
    }
    assert!(
        text(&doubling).contains("nested deeper"),
        "{}",
        text(&doubling)
    );
    // Packets of no length would never end.
    let endless = changed(1, &|bytes| bytes[0x38..0x40].fill(0));
    assert!(endless.contains("packet 1"), "{endless}");
}

#[test]
fn a_version_that_is_a_piece_of_the_text_is_one_line() {
    let mut parts = parts();
    // The semicolon that ends the number is missing: the number continues on the next line.
    let whole = b"major = 1;";
    let found = parts.iter_mut().find_map(|part| {
        let at = part
            .bytes
            .windows(whole.len())
            .position(|some| some == whole)?;
        Some(&mut part.bytes[at + whole.len() - 1])
    });
    *found.unwrap() = b' ';
    let said = read(&parts).unwrap_err().to_string();
    assert!(said.contains("1.8 and 2 are known"), "{said}");
    assert!(!said.contains('\n'), "{said}");
}

proptest! {
    #[test]
    fn changed_traces_are_read_or_refused(
        part in 0..3_usize, at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut parts = parts();
        let bytes = &mut parts[part].bytes;
        // The content alone: what pads a packet says nothing.
        let place = at.index(bytes.len().min(4000));
        bytes[place] = byte;
        match read(&parts) {
            Ok(found) => prop_assert!(found.ros2_calls().is_some_and(|(events, _)| !events.is_empty())),
            Err(error) => prop_assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
}
