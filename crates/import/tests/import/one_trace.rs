//! One loop's 40 cycles of 2 ms, recorded at once by an instance of tracefs, which gave the kernel's
//! text and trace-cmd's, and by perf: every form gives the same cycles.

use wakepath_import::{Asked, Form, Row, Values};
use wakepath_timeline::Lack;

const FTRACE: &[u8] = include_bytes!("../fixtures/one/ftrace.txt");
const REPORT: &[u8] = include_bytes!("../fixtures/one/trace-cmd-report.txt");
const SCRIPT: &[u8] = include_bytes!("../fixtures/one/perf-script.txt");
const PERF: &[u8] = include_bytes!("../fixtures/one/perf.data");

fn row(form: &str, bytes: &[u8]) -> (Row, Vec<Lack>) {
    let threads: &[&str] = &["servo"];
    let asked = Asked {
        threads,
        ..Asked::default()
    };
    let found = Form::named(form).unwrap().read(bytes, &asked).unwrap();
    let Values::Row(row) = found.threads[0].values.clone() else {
        panic!("{:?}", found.threads);
    };
    (row, found.lacks)
}

#[test]
fn every_form_of_one_recording_gives_the_same_cycles() {
    let (kernel, _) = row("ftrace", FTRACE);
    assert_eq!((kernel.samples.len(), kernel.lost), (40, 0));
    assert_eq!(kernel.due.period_ns, 2_000_000);
    assert_eq!(kernel.due.start_ns % 1_000_000_000, 0, "{:?}", kernel.due);
    for (form, bytes, within_ns, name) in [
        // The same events, with digits that the kernel's text cuts off.
        ("ftrace", REPORT, 1_000, "trace-cmd report"),
        // Both saw each event, one after the other.
        ("ftrace", SCRIPT, 40_000, "perf script"),
        ("perf", PERF, 40_000, "perf.data"),
    ] {
        let (own, lacks) = row(form, bytes);
        assert_eq!(own.due, kernel.due, "{name}");
        assert!(lacks.contains(&Lack::OwnDueTimes), "{name}: {lacks:?}");
        assert!(!lacks.contains(&Lack::BelowMicroseconds), "{name}");
        let cycles = |row: &Row| row.samples.iter().map(|of| of.cycle).collect::<Vec<_>>();
        assert_eq!(cycles(&own), cycles(&kernel), "{name}");
        for (one, other) in own.samples.iter().zip(&kernel.samples) {
            let apart = one.latency_ns().abs_diff(other.latency_ns());
            assert!(apart <= within_ns, "{name}: {one:?} {other:?}");
        }
    }
}
