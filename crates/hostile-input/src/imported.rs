//! Any bytes as other tools' files.
//!
//! A reader returns cycles in order, no more of them than there are bytes, or refuses in one
//! printable line.

use wakepath_import::{Asked, Form, ImportError, Imported, Part, Values};

/// Longest acceptable line.
const LONGEST: usize = 2_000;

/// Reads `data` as a file of every form, with and without options. Returns whether one of them
/// accepted it.
///
/// # Panics
/// If a reader violates its properties.
pub fn imported_file(data: &[u8]) -> bool {
    let mut taken = false;
    // Detecting the form is the first step with a file.
    if let Err(unknown) = Form::of_file(data) {
        assert!(!unknown.to_string().contains(char::is_control), "{unknown}");
    }
    for form in Form::all() {
        // As in the files that the seeds are, so that one is read to its end.
        let said = Asked {
            period_ns: Some(1_000_000),
            threads: match form.word() {
                "perf" | "perf-sched" => &["23061"],
                _ => &["servo"],
            },
            ..Asked::default()
        };
        for asked in [Asked::default(), said] {
            taken |= answered(form, data.len(), form.read(data, &asked));
        }
    }
    taken
}

/// Metadata and a stream of each form of directories.
const DIRECTORIES: [(&str, &[u8], &[u8]); 3] = [
    (
        "ros2",
        include_bytes!("../../import/tests/fixtures/ros2/ust/uid/0/64-bit/metadata"),
        include_bytes!("../../import/tests/fixtures/ros2/ust/uid/0/64-bit/ros2ch_1"),
    ),
    (
        "lttng",
        include_bytes!("../../import/tests/fixtures/one/lttng/metadata"),
        include_bytes!("../../import/tests/fixtures/one/lttng/stream"),
    ),
    (
        "lttng",
        include_bytes!("../../import/tests/fixtures/one/lttng-2/metadata"),
        include_bytes!("../../import/tests/fixtures/one/lttng-2/channel0_1"),
    ),
];

/// Reads `data` as a part of a directory: as the metadata of a real stream, and as a stream of real
/// metadata. Returns whether one of them accepted it.
///
/// # Panics
/// If a reader violates its properties.
pub fn imported_directory(data: &[u8]) -> bool {
    let asked = Asked {
        threads: &["servo"],
        ..Asked::default()
    };
    let mut taken = false;
    for (word, metadata, stream) in DIRECTORIES {
        let form = Form::named(word).expect("there is such a form");
        for (metadata, stream) in [(data, stream), (metadata, data)] {
            let part = |path: &str, bytes: &[u8]| Part {
                path: path.to_owned(),
                bytes: bytes.to_owned(),
            };
            let parts = [part("metadata", metadata), part("stream_0", stream)];
            let _ = Form::of_directory(&parts);
            let read = form.read_directory(&parts, &asked);
            taken |= answered(form, metadata.len() + stream.len(), read);
        }
    }
    taken
}

/// Whether the form took it.
fn answered(form: &Form, bytes: usize, answer: Result<Imported, ImportError>) -> bool {
    let form = form.word();
    match answer {
        Err(error) => {
            let line = error.to_string();
            assert!(!line.contains(char::is_control), "{form}: {line:?}");
            assert!(line.len() < LONGEST, "{form}: {line}");
            false
        }
        Ok(found) => {
            let threads = found.threads.len();
            assert!((1..=bytes).contains(&threads), "{form}: {threads} threads");
            for thread in &found.threads {
                let count = match &thread.values {
                    Values::Histogram(histogram) => histogram.bins.len(),
                    Values::Samples(samples) => {
                        assert!(samples.cycles.is_sorted_by(|a, b| a.0 < b.0), "{form}");
                        samples.cycles.len()
                    }
                    Values::Row(row) => {
                        let cycles = &row.samples;
                        assert!(cycles.is_sorted_by(|a, b| a.cycle < b.cycle), "{form}");
                        let due = |cycle| row.due.due_ns(cycle);
                        assert!(cycles.iter().all(|of| of.due_ns == due(of.cycle)), "{form}");
                        cycles.len()
                    }
                };
                assert!(count <= bytes, "{form}: {count} values of {bytes} bytes");
            }
            if let Some(trace) = &found.trace {
                let events = trace.events.len();
                assert!(events <= bytes, "{form}: {events} events of {bytes} bytes");
            }
            true
        }
    }
}
