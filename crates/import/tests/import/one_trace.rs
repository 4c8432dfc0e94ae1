//! One loop's 40 cycles of 2 ms, recorded at once by an instance of tracefs, which gave the kernel's
//! text and trace-cmd's, and by perf: every form gives the same cycles.

use std::collections::{BTreeMap, BTreeSet};
use wakepath_explain::{Explained, Explainer, LoopThread, Options};
use wakepath_import::{Asked, Form, Imported, Part, Row, Values};
use wakepath_timeline::Lack;

const FTRACE: &[u8] = include_bytes!("../fixtures/one/ftrace.txt");
const REPORT: &[u8] = include_bytes!("../fixtures/one/trace-cmd-report.txt");
const SCRIPT: &[u8] = include_bytes!("../fixtures/one/perf-script.txt");
const LTTNG: [&[u8]; 2] = [
    include_bytes!("../fixtures/one/lttng/metadata"),
    include_bytes!("../fixtures/one/lttng/stream"),
];
const LTTNG_2: [&[u8]; 2] = [
    include_bytes!("../fixtures/one/lttng-2/metadata"),
    include_bytes!("../fixtures/one/lttng-2/channel0_1"),
];
const PERF: &[u8] = include_bytes!("../fixtures/one/perf.data");

const ASKED: Asked<'static> = Asked {
    period_ns: None,
    nanoseconds: false,
    threads: &["servo"],
    columns: &[],
    unit: None,
};

fn row(form: &str, bytes: &[u8]) -> (Row, Vec<Lack>) {
    assert_eq!(Form::of_file(bytes).unwrap().word(), form);
    of_imported(Form::named(form).unwrap().read(bytes, &ASKED).unwrap())
}

fn of_directory(files: [&[u8]; 2]) -> (Row, Vec<Lack>) {
    let part = |path: &str, bytes: &[u8]| Part {
        path: path.to_owned(),
        bytes: bytes.to_owned(),
    };
    let parts = [part("k/metadata", files[0]), part("k/stream", files[1])];
    let form = Form::of_directory(&parts).unwrap();
    assert_eq!(form.word(), "lttng");
    of_imported(form.read_directory(&parts, &ASKED).unwrap())
}

/// How long each kind of cause took of each cycle's latency, by the cycle's number, in nanoseconds.
fn causes(found: &Imported) -> BTreeMap<u64, BTreeMap<String, u64>> {
    let Values::Row(row) = &found.threads[0].values else {
        panic!("{found:?}");
    };
    let trace = found.trace.as_ref().unwrap();
    let loops = vec![LoopThread {
        thread: found.threads[0].number.unwrap(),
        cpus: trace.cpus.clone(),
        samples: row.samples.clone(),
        name: "loop".into(),
        judged_ns: None,
        allowed: Vec::new(),
        until_next_wake_up: false,
        is_from_start: false,
        is_real_time: false,
    }];
    let mut explainer = Explainer::new(loops, Options::default());
    let mut all: BTreeMap<u64, BTreeMap<String, u64>> = BTreeMap::new();
    let mut take = |_: usize, cycle: &Explained| {
        let kinds = all.entry(cycle.sample.cycle).or_default();
        for piece in &cycle.latency {
            let words = format!("{:?}", piece.cause);
            let kind = words.split([' ', '(', '{']).next().unwrap_or("");
            *kinds.entry(kind.to_owned()).or_default() += piece.ns();
        }
    };
    for event in &trace.events {
        explainer.event(event, &mut take);
    }
    explainer.finish(&mut take);
    all
}

#[test]
fn every_form_of_one_recording_gives_the_same_causes() {
    let read = |form: &str, bytes: &[u8]| {
        let form = Form::named(form).unwrap();
        causes(&form.read(bytes, &ASKED).unwrap())
    };
    let kernel = read("ftrace", FTRACE);
    assert_eq!(kernel.len(), 40);
    let kinds: BTreeSet<&String> = kernel.values().flat_map(BTreeMap::keys).collect();
    for kind in [
        "Path",
        "TimerDelivery",
        "OtherTimer",
        "SoftIrq",
        "InterruptsOff",
    ] {
        assert!(kinds.contains(&kind.to_owned()), "{kinds:?}");
    }
    for (form, bytes, within_ns) in [
        // The kernel's text cuts instants off at microseconds.
        ("ftrace", REPORT, 4_000),
        // perf stamps each event some microseconds later.
        ("ftrace", SCRIPT, 20_000),
        ("perf", PERF, 20_000),
    ] {
        let own = read(form, bytes);
        // Not all of them have the events before the first cycle.
        for (cycle, kinds) in kernel.iter().skip(1) {
            for kind in kinds.keys().chain(own[cycle].keys()) {
                let of = |all: &BTreeMap<String, u64>| all.get(kind).copied().unwrap_or(0);
                let apart = of(kinds).abs_diff(of(&own[cycle]));
                assert!(
                    apart <= within_ns,
                    "{form}: cycle {cycle}, {kind}: {apart} ns"
                );
            }
        }
    }
}

fn of_imported(found: Imported) -> (Row, Vec<Lack>) {
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

#[test]
fn lttngs_traces_of_both_versions_give_the_same_cycles_as_the_text_that_they_were_made_of() {
    let (kernel, _) = row("ftrace", FTRACE);
    for files in [LTTNG, LTTNG_2] {
        let (own, _) = of_directory(files);
        assert_eq!((own.due, own.lost), (kernel.due, 0));
        assert_eq!(own.samples, kernel.samples);
    }
}

/// By `recomputed.py`, which shares no code with the importer.
const RECOMPUTED: &str = include_str!("../fixtures/recomputed.txt");
const FTRACE_2: &[u8] = include_bytes!("../fixtures/ftrace.txt");

#[test]
fn figures_are_those_that_an_independent_program_computes_of_the_text() {
    for line in RECOMPUTED.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [file, number, period, count, min, median, max] = words[..] else {
            panic!("{line}");
        };
        let bytes = match file {
            "ftrace.txt" => FTRACE_2,
            "one/ftrace.txt" => FTRACE,
            "one/trace-cmd-report.txt" => REPORT,
            other => panic!("{other}"),
        };
        let found = Form::named("ftrace").unwrap().read(bytes, &ASKED).unwrap();
        assert_eq!(
            found.threads[0].number.unwrap().to_string(),
            number,
            "{file}"
        );
        let (row, _) = of_imported(found);
        assert_eq!(row.due.period_ns.to_string(), period, "{file}");
        let mut latencies: Vec<i64> = row.samples.iter().map(|of| of.latency_ns()).collect();
        latencies.sort_unstable();
        let own = [
            latencies.len().to_string(),
            latencies[0].to_string(),
            latencies[(latencies.len() - 1) / 2].to_string(),
            latencies[latencies.len() - 1].to_string(),
        ];
        assert_eq!(own, [count, min, median, max], "{file}");
    }
}
