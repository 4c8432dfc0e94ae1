//! Arbitrary bytes, and real files with bytes changed: every parser answers or refuses, and never
//! panics.

use proptest::prelude::*;
use wakepath_import::{Asked, Form, Values};

const FILES: [(&str, &[u8]); 31] = [
    ("ftrace", include_bytes!("../fixtures/one/ftrace.txt")),
    (
        "ftrace",
        include_bytes!("../fixtures/one/trace-cmd-report.txt"),
    ),
    ("ftrace", include_bytes!("../fixtures/one/perf-script.txt")),
    (
        "perf-sched",
        include_bytes!("../fixtures/perf-timehist.txt"),
    ),
    (
        "timerlat-tracer",
        include_bytes!("../../../probe/tests/fixtures/timerlat-6.1-rt.txt"),
    ),
    ("cyclictest", include_bytes!("../fixtures/cyclictest-h.txt")),
    (
        "rt-tests-json",
        include_bytes!("../fixtures/cyclictest.json"),
    ),
    (
        "cyclictest-verbose",
        include_bytes!("../fixtures/cyclictest-v.txt"),
    ),
    (
        "cyclictest",
        include_bytes!("../fixtures/cyclictest-h-status.txt"),
    ),
    (
        "rt-tests-json",
        include_bytes!("../fixtures/cyclictest-no-histogram.json"),
    ),
    ("oslat", include_bytes!("../fixtures/oslat.txt")),
    ("rt-tests-json", include_bytes!("../fixtures/oslat.json")),
    (
        "cyclicdeadline",
        include_bytes!("../fixtures/cyclicdeadline.txt"),
    ),
    (
        "rt-tests-json",
        include_bytes!("../fixtures/cyclicdeadline.json"),
    ),
    ("signaltest", include_bytes!("../fixtures/signaltest.txt")),
    (
        "rt-tests-json",
        include_bytes!("../fixtures/signaltest.json"),
    ),
    (
        "rt-tests-pairs",
        include_bytes!("../fixtures/ptsematest.txt"),
    ),
    (
        "rt-tests-json",
        include_bytes!("../fixtures/ptsematest.json"),
    ),
    (
        "rt-tests-pairs",
        include_bytes!("../fixtures/pmqtest-q.txt"),
    ),
    (
        "jitterdebugger-text",
        include_bytes!("../fixtures/jitterdebugger-v.txt"),
    ),
    (
        "stress-ng",
        include_bytes!("../fixtures/stress-ng-cyclic.txt"),
    ),
    ("timerlat", include_bytes!("../fixtures/timerlat-hist.txt")),
    ("osnoise", include_bytes!("../fixtures/osnoise-hist.txt")),
    (
        "jitterdebugger",
        include_bytes!("../fixtures/jitterdebugger-results.json"),
    ),
    (
        "jitterdebugger-raw",
        include_bytes!("../fixtures/jitterdebugger-samples.raw"),
    ),
    ("perf", include_bytes!("../fixtures/perf.data")),
    ("csv", include_bytes!("../fixtures/export.csv")),
    (
        "ros2-control",
        include_bytes!("../fixtures/ros2-control-statistics.yaml"),
    ),
    ("ftrace", include_bytes!("../fixtures/ftrace.txt")),
    ("trace-cmd", include_bytes!("../fixtures/trace-v6.dat")),
    ("trace-cmd", include_bytes!("../fixtures/trace-v7.dat")),
];

/// Options that let every form be read to its end.
fn asked(form: &Form) -> Asked<'static> {
    Asked {
        // The timers of these show another one.
        period_ns: (!["ftrace", "trace-cmd"].contains(&form.word())).then_some(1_000_000),
        threads: match form.word() {
            "perf" | "perf-sched" => &["23061"],
            _ => &["servo"],
        },
        ..Asked::default()
    }
}

fn answers(form: &Form, bytes: &[u8]) {
    match form.read(bytes, &asked(form)) {
        Ok(found) => {
            assert!(!found.threads.is_empty());
            for thread in &found.threads {
                match &thread.values {
                    Values::Samples(samples) => {
                        assert!(samples.cycles.is_sorted_by(|a, b| a.0 < b.0));
                    }
                    Values::Row(row) => {
                        assert!(row.samples.is_sorted_by(|a, b| a.cycle < b.cycle));
                        let on_row =
                            |of: &wakepath_timeline::Sample| of.due_ns == row.due.due_ns(of.cycle);
                        assert!(row.samples.iter().all(on_row));
                    }
                    Values::Histogram(_) => {}
                }
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..400), form in 0..Form::all().len(),
    ) {
        answers(Form::all().nth(form).unwrap(), &bytes);
    }

    #[test]
    fn changed_files_are_read_or_refused(
        file in 0..FILES.len(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (word, real) = FILES[file];
        let form = Form::named(word).unwrap();
        let mut bytes = real.to_vec();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        answers(form, &bytes);
        bytes.truncate(cut.index(bytes.len()));
        answers(form, &bytes);
    }
}

#[test]
fn each_real_file_is_recognized_and_read_as_its_own_form_alone() {
    for (word, bytes) in FILES {
        assert_eq!(Form::of_file(bytes).unwrap().word(), word);
        for other in Form::all() {
            let read = other.read(bytes, &asked(other));
            assert_eq!(
                read.is_ok(),
                other.word() == word,
                "{word} as {}",
                other.word()
            );
        }
    }
}
