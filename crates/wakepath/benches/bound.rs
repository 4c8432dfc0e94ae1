//! `wakepath bound` on one condition of ten million cycles, end to end from the disk, held against the
//! target of 5 s and 500 MB: once where every gate passes and the tail is resampled, once where values
//! drift and the gates refuse. `cargo bench -p wakepath --bench bound`. The values are made up.

mod measured;

use measured::{WAKEPATH, carry_out};
use std::path::Path;
use std::process::{Command, ExitCode};
use wakepath_archive::{
    Effective, Ending, Event, LogWriter, RunStarted, ScenarioText, SegmentEnded, SegmentStarted,
    ThreadEnd, ThreadEnded, ThreadStarted,
};
use wakepath_statistics::SplitMix;
use wakepath_timeline::{DueTimes, Policy, Sample};

type Failure = Box<dyn std::error::Error>;

const CYCLES: u64 = 10_000_000;
const MOST_SECONDS: f64 = 5.0;
const MOST_MEGABYTES: f64 = 500.0;
const POLICY: Policy = Policy::Fifo { priority: 80 };
const DUE: DueTimes = DueTimes {
    start_ns: 7_000_000_000,
    period_ns: 1_000_000,
};

fn main() -> ExitCode {
    // `cargo test --benches` asks each bench for its tests; this one has none.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    match all_kept() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the targets are kept.
fn all_kept() -> Result<bool, Failure> {
    let place = tempfile::tempdir()?;
    let mut kept = true;
    for (name, drift_ns) in [("steady", 0), ("drifting", 30_000)] {
        let directory = place.path().join(name);
        write(&directory, drift_ns)?;
        let directory = directory.to_string_lossy().into_owned();
        // Beyond what ten million cycles prove by themselves, within what a tail may be asked.
        let words = ["bound", &directory, "--exceed", "1e-8"];
        let taken = carry_out(&words)?;
        let answer = match taken.ended.code() {
            Some(0) => "every gate passed",
            Some(3) => "refused",
            _ => return Err(format!("wakepath bound: {}", taken.ended).into()),
        };
        println!(
            "{name}, {CYCLES} cycles: {answer} after {:.1} s, {:.1} s of them on a CPU, with {:.0} MB \
             at most",
            taken.seconds, taken.cpu_seconds, taken.megabytes
        );
        kept &= taken.seconds < MOST_SECONDS && taken.megabytes < MOST_MEGABYTES;
        if std::env::args().any(|argument| argument == "--show") {
            Command::new(WAKEPATH)
                .args(words)
                .arg("--details")
                .status()?;
        }
    }
    println!(
        "asked: under {MOST_SECONDS:.0} s and {MOST_MEGABYTES:.0} MB, {}",
        if kept { "kept" } else { "MISSED" }
    );
    Ok(kept)
}

/// A wake-up of 10 to 20 µs, one in twenty with an exponential tail above, all later by up to
/// `drift_ns` towards the end.
fn write(directory: &Path, drift_ns: u64) -> Result<(), Failure> {
    let mut log = LogWriter::create(directory)?;
    log.append_event(&Event::RunStarted(Box::new(RunStarted {
        run_id: "ten-million".into(),
        scenario: ScenarioText {
            name: "ten-million".into(),
            toml: format!(
                "name = \"ten-million\"\nrate = \"1 kHz\"\ncycles = {CYCLES}\nwarm-up = \"0 s\"\n\
                 policies = [\"{POLICY}\"]\n[criterion]\nlatency = \"1 ms\"\n\
                 miss-fraction = \"0.5 %\"\n"
            ),
        },
        ..RunStarted::default()
    })))?;
    log.append_event(&Event::SegmentStarted(SegmentStarted {
        traced: false,
        segment: 0,
        phase: "idle".into(),
        repetition: 0,
        condition: POLICY.to_string(),
        threads: vec![ThreadStarted {
            thread: 0,
            name: "loop".into(),
            due: DUE,
            requested: POLICY,
            effective: Effective {
                text: POLICY.to_string(),
                details: serde_json::json!({ "policy": POLICY }),
            },
            cpus: vec![1],
            first_judged_cycle: 0,
            end_cycle: CYCLES,
        }],
    }))?;
    let mut numbers = SplitMix::from_state(17);
    let mut part = Vec::with_capacity(10_000);
    for cycle in 0..CYCLES {
        let late = if numbers.unit() < 0.05 {
            20_000.0 - 4_000.0 * (1.0 - numbers.unit()).ln()
        } else {
            10_000.0 + numbers.unit() * 10_000.0
        };
        let due_ns = DUE.due_ns(cycle);
        let wake_ns = due_ns + late as u64 + drift_ns * cycle / CYCLES;
        part.push(Sample {
            cycle,
            due_ns,
            wake_ns,
            end_ns: wake_ns + 30_000,
            ..Sample::default()
        });
        if part.len() == part.capacity() {
            log.append_samples(0, 0, &part)?;
            part.clear();
        }
    }
    log.append_samples(0, 0, &part)?;
    log.append_event(&Event::SegmentEnded(SegmentEnded {
        segment: 0,
        threads: vec![ThreadEnded {
            thread: 0,
            written: CYCLES,
            recorded: CYCLES,
            lost: 0,
            skipped: None,
            page_faults: None,
            modules: Vec::new(),
            counters: None,
            on_a_core: None,
            ended: ThreadEnd::AllCycles,
        }],
        loads: Vec::new(),
    }))?;
    log.end(Ending::Complete)?;
    wakepath_archive::finish(directory)?;
    Ok(())
}
