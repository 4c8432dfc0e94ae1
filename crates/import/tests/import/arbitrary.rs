//! Arbitrary bytes, and real files with bytes changed: every parser answers or refuses, and never
//! panics.

use proptest::prelude::*;
use wakepath_import::{Asked, Form, Values};

const FILES: [(Form, &[u8]); 8] = [
    (
        Form::Cyclictest,
        include_bytes!("../fixtures/cyclictest-h.txt"),
    ),
    (
        Form::CyclictestJson,
        include_bytes!("../fixtures/cyclictest.json"),
    ),
    (
        Form::CyclictestVerbose,
        include_bytes!("../fixtures/cyclictest-v.txt"),
    ),
    (
        Form::Timerlat,
        include_bytes!("../fixtures/timerlat-hist.txt"),
    ),
    (
        Form::Osnoise,
        include_bytes!("../fixtures/osnoise-hist.txt"),
    ),
    (
        Form::Jitterdebugger,
        include_bytes!("../fixtures/jitterdebugger-results.json"),
    ),
    (
        Form::JitterdebuggerRaw,
        include_bytes!("../fixtures/jitterdebugger-samples.raw"),
    ),
    (Form::Perf, include_bytes!("../fixtures/perf.data")),
];

/// Something is said, so that every form can be read to its end.
const ASKED: Asked<'static> = Asked {
    period_ns: Some(1_000_000),
    nanoseconds: false,
    threads: &["23061"],
};

fn answers(form: Form, bytes: &[u8]) {
    match form.read(bytes, &ASKED) {
        Ok(found) => {
            assert!(!found.threads.is_empty());
            for thread in &found.threads {
                if let Values::Samples(samples) = &thread.values {
                    assert!(samples.cycles.is_sorted_by(|a, b| a.0 < b.0));
                }
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..400), form in 0..8_usize,
    ) {
        answers(Form::ALL[form], &bytes);
    }

    #[test]
    fn changed_files_are_read_or_refused(
        file in 0..8_usize, at in any::<prop::sample::Index>(), byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (form, real) = FILES[file];
        let mut bytes = real.to_vec();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        answers(form, &bytes);
        bytes.truncate(cut.index(bytes.len()));
        answers(form, &bytes);
    }
}

#[test]
fn no_real_file_is_taken_for_another_form() {
    for (form, bytes) in FILES {
        for other in Form::ALL {
            let read = other.read(bytes, &ASKED);
            assert_eq!(
                read.is_ok(),
                form == other,
                "{} as {}",
                form.word(),
                other.word()
            );
        }
    }
}
