//! `wakepath explain` on ten minutes of a 1 kHz loop with a full trace, end to end: ten million
//! events and more from the disk, held against the target of 10 s and 500 MB for ten million. The
//! recording is a real one of five seconds, repeated; `cargo bench -p wakepath`, as root.

mod measured;

use measured::{Taken, WAKEPATH, carry_out};
use std::path::Path;
use std::process::{Command, ExitCode};
use wakepath_archive::{
    Ending, Event, LogWriter, Run, RunStarted, SegmentEnded, SegmentRecord, SegmentStarted,
    SegmentTraced, ThreadEnd, ThreadEnded, ThreadRecord, ThreadStarted, Trace, TraceDescription,
    TraceEnd, TraceWriter,
};
use wakepath_timeline::{KernelEvent, Sample, What};

type Failure = Box<dyn std::error::Error>;

const CYCLES: u64 = 600_000;
const EVENTS: f64 = 1e7;
/// Limits for this number of events.
const MOST_SECONDS: f64 = 10.0;
const MOST_MEGABYTES: f64 = 500.0;

const SCENARIO: &str = "\
name = \"ten-minutes\"\nrate = \"1 kHz\"\ncycles = 5000\nwarm-up = \"100 ms\"\nrepetitions = 1\n\
policies = [\"FIFO 80\"]\ntrace = { mode = \"drained\" }\nphases = [{ name = \"idle\" }]\n\
criterion = { latency = \"200 us\", miss-fraction = \"50 %\" }\n";

fn main() -> ExitCode {
    // `cargo test --benches` asks each bench for its tests; this one has none.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    match measured() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("not run: {error}");
            ExitCode::SUCCESS
        }
    }
}

/// Whether the targets are kept.
fn measured() -> Result<bool, Failure> {
    let place = tempfile::tempdir()?;
    let short = place.path().join("short");
    record(place.path(), &short)?;
    let long = place.path().join("long");
    let events = repeat(&short, &long)?;
    let bytes = std::fs::metadata(long.join("segment-0.events"))?.len();
    println!(
        "{CYCLES} cycles, {events} events, {:.0} MB of them on the disk",
        bytes as f64 / 1e6
    );
    let directory = long.to_string_lossy().into_owned();
    let timeline = place.path().join("long.perfetto-trace");
    let timeline = timeline.to_string_lossy().into_owned();
    let explain = ["explain", &directory];
    let export = ["explain", &directory, "--perfetto", &timeline];
    let taken = run(&explain)?;
    let (seconds, megabytes) = (taken.seconds, taken.megabytes);
    let for_target = seconds * EVENTS / events as f64;
    println!(
        "explained in {seconds:.1} s, {:.1} s of them on a CPU, with {megabytes:.0} MB at most: \
         {for_target:.1} s for ten million",
        taken.cpu_seconds
    );
    let kept = for_target < MOST_SECONDS && megabytes < MOST_MEGABYTES;
    let taken = run(&export)?;
    let (seconds, megabytes) = (taken.seconds, taken.megabytes);
    let written = std::fs::metadata(&timeline)?.len() as f64 / 1e6;
    println!("with a timeline of {written:.0} MB: {seconds:.1} s, {megabytes:.0} MB at most");
    println!(
        "asked: under {MOST_SECONDS:.0} s and {MOST_MEGABYTES:.0} MB for ten million, {}",
        if kept { "kept" } else { "MISSED" }
    );
    Ok(kept && megabytes < MOST_MEGABYTES)
}

fn record(place: &Path, directory: &Path) -> Result<(), Failure> {
    let scenario = place.join("scenario.toml");
    std::fs::write(&scenario, SCENARIO)?;
    let output = Command::new(WAKEPATH)
        .arg("run")
        .arg(&scenario)
        .args(["--json", "--directory"])
        .arg(directory)
        .output()?;
    match Run::open(directory) {
        Ok(run) if run.manifest.segments.iter().any(|segment| segment.traced) => Ok(()),
        Ok(run) => Err(format!("nothing was traced: {}", run.manifest.notes.join("; ")).into()),
        Err(_) => Err(String::from_utf8_lossy(&output.stderr).trim().into()),
    }
}

/// Writes a run of the traced segment again and again; how many events that makes.
fn repeat(short: &Path, long: &Path) -> Result<u64, Failure> {
    let run = Run::open(short)?;
    let mut segments = run.manifest.segments.iter();
    let segment = segments.find(|segment| segment.traced);
    let segment = segment.ok_or("no segment is traced")?;
    let thread = &segment.threads[0];
    let trace = Trace::open(short, segment.segment)?.ok_or("no trace")?;
    let period_ns = thread.due.period_ns;
    let samples = run.samples(segment.segment, thread.thread)?;
    let (first, last) = (samples[0].cycle, samples[samples.len() - 1].cycle);
    let each = last + 1 - first;
    // Cut between two due times, where the loop sleeps.
    let from_ns = samples[0].due_ns - period_ns / 2;
    let events = trace.between(from_ns, from_ns + each * period_ns - 1)?;
    let events: Vec<KernelEvent> = events.collect::<Result<_, _>>()?;

    let mut log = LogWriter::create(long)?;
    log.append_event(&Event::RunStarted(Box::new(RunStarted {
        run_id: format!("{}-repeated", run.manifest.run_id),
        tool: run.manifest.tool.clone(),
        started: run.manifest.started.clone(),
        scenario: run.manifest.scenario.clone(),
        clock_source: run.manifest.clock_source.clone(),
        ..RunStarted::default()
    })))?;
    log.append_event(&Event::SegmentStarted(SegmentStarted {
        segment: 0,
        phase: segment.phase.clone(),
        repetition: 0,
        condition: segment.condition.clone(),
        traced: true,
        threads: vec![started(thread)],
    }))?;
    let description = TraceDescription {
        segment: 0,
        began_ns: from_ns,
        ..trace.description().clone()
    };
    let mut writer = TraceWriter::create(long, &description)?;
    let (mut written, mut recorded) = (0, 0);
    for turn in 0..CYCLES.div_ceil(each) {
        let later_ns = turn * each * period_ns;
        for event in &events {
            writer.append(&moved(event, later_ns))?;
            written += 1;
        }
        let moved = |sample: &Sample| Sample {
            cycle: sample.cycle - first + turn * each,
            due_ns: sample.due_ns + later_ns,
            wake_ns: sample.wake_ns + later_ns,
            end_ns: sample.end_ns + later_ns,
            ..*sample
        };
        let mut samples: Vec<Sample> = samples.iter().map(moved).collect();
        samples.retain(|sample| sample.cycle < CYCLES);
        for part in samples.chunks(1000) {
            log.append_samples(0, thread.thread, part)?;
        }
        recorded += samples.len() as u64;
    }
    let ended_ns = from_ns + (CYCLES + each) * period_ns;
    let end = TraceEnd {
        ended_ns,
        ..TraceEnd::default()
    };
    let bytes = writer.finish(&end)?;
    log.append_event(&Event::SegmentTraced(SegmentTraced {
        segment: 0,
        events: written,
        taken: written,
        bytes,
        ..segment.trace.clone().unwrap_or_default()
    }))?;
    log.append_event(&ended(segment, thread, recorded))?;
    log.end(Ending::Complete)?;
    wakepath_archive::finish(long)?;
    Ok(written)
}

fn started(thread: &ThreadRecord) -> ThreadStarted {
    ThreadStarted {
        thread: thread.thread,
        name: thread.name.clone(),
        due: thread.due,
        requested: thread.requested,
        effective: thread.effective.clone(),
        cpus: thread.cpus.clone(),
        first_judged_cycle: thread.first_judged_cycle,
        end_cycle: CYCLES,
    }
}

fn ended(segment: &SegmentRecord, thread: &ThreadRecord, recorded: u64) -> Event {
    Event::SegmentEnded(SegmentEnded {
        segment: 0,
        threads: vec![ThreadEnded {
            thread: thread.thread,
            written: recorded,
            recorded,
            lost: 0,
            skipped: None,
            page_faults: thread.page_faults,
            modules: Vec::new(),
            counters: None,
            on_a_core: None,
            ended: ThreadEnd::AllCycles,
        }],
        loads: segment.loads.clone(),
    })
}

/// The event shifted by this much, with the instants that it holds.
fn moved(event: &KernelEvent, later_ns: u64) -> KernelEvent {
    let mut event = event.clone();
    event.at_ns += later_ns;
    if let What::TimerStart {
        expires_ns,
        soft_expires_ns,
        ..
    } = &mut event.what
    {
        *expires_ns = expires_ns.saturating_add(later_ns);
        *soft_expires_ns = soft_expires_ns.saturating_add(later_ns);
    }
    event
}

fn run(words: &[&str]) -> Result<Taken, Failure> {
    let taken = carry_out(words)?;
    if taken.ended.success() {
        Ok(taken)
    } else {
        Err(format!("wakepath {}: {}", words.join(" "), taken.ended).into())
    }
}
