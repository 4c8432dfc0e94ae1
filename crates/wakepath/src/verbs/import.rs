//! `wakepath import`: a run directory from the files of another tool. Reading them is the crate
//! `wakepath-import`'s work.

use super::given_time::given_time;
use super::measured::trust;
use super::{Outcome, print};
use crate::command_line::Import;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_archive::{
    Effective, Ending, Event, FileRecord, LogWriter, RunStarted, ScenarioText, SegmentEnded,
    SegmentStarted, ThreadEnd, ThreadEnded, ThreadHistogram, ThreadStarted, Tool, run_id,
};
use wakepath_directory::Directory;
use wakepath_import::{Asked, Form, Imported, Samples, Thread, Values};
use wakepath_scenario::{KnownCpus, Scenario};
use wakepath_timeline::duration::exact;
use wakepath_timeline::{DueTimes, Lack, Policy, Sample};

type Failure = Box<dyn std::error::Error>;

/// Due times of an imported run count from here: when it was measured is not known, and 0 would
/// mean that it never was.
const START_NS: u64 = 1_000_000_000;
/// More bytes than any such file has.
const MOST_BYTES: u64 = 2 << 30;

/// Reads all, then writes. What can't be written whole is not left behind: the files are still
/// there to be imported again.
pub fn run(arguments: &Import) -> Outcome {
    let prepared = Prepared::of(arguments)?;
    let directory = Directory::make(&arguments.directory, trust(arguments.trust_directory))?;
    if let Err(error) = prepared.write(&directory) {
        // What can't be taken back, `wakepath recover` tells from a whole run.
        let _ = wakepath_archive::withdraw_in(&directory)
            .map(|()| std::fs::remove_dir(directory.path()));
        return Err(error);
    }
    let Prepared { files, lacks, .. } = &prepared;
    print(&told(arguments, &files[0], files, lacks))?;
    Ok(ExitCode::SUCCESS)
}

/// What was read, and how it is to be understood.
struct Prepared {
    form: Form,
    files: Vec<Imported>,
    sources: Vec<FileRecord>,
    lacks: Vec<Lack>,
    period_ns: u64,
    policy: Policy,
    scenario: Scenario,
}

impl Prepared {
    fn of(arguments: &Import) -> Result<Self, Failure> {
        prepared(arguments)
    }

    /// Writes the run and finishes it.
    fn write(&self, directory: &Directory) -> Result<(), Failure> {
        write(self, directory)?;
        wakepath_archive::finish_in(directory)?;
        Ok(())
    }
}

fn prepared(arguments: &Import) -> Result<Prepared, Failure> {
    let form = Form::of_word(&arguments.form)?;
    let asked_ns = given_time("--period", arguments.period.as_deref())?;
    if !arguments.thread.is_empty() && !form.has_all_threads() {
        let word = form.word();
        return Err(format!("--thread: a file of {word} has the loop's threads alone").into());
    }
    if arguments.nanoseconds && !form.leaves_unit_open() {
        return Err(format!("--nanoseconds: a file of {} says its unit", form.word()).into());
    }
    let threads: Vec<&str> = arguments.thread.iter().map(String::as_str).collect();
    let asked = Asked {
        period_ns: asked_ns,
        nanoseconds: arguments.nanoseconds,
        threads: &threads,
    };
    let mut sources = Vec::new();
    let mut files = Vec::new();
    for path in &arguments.files {
        let shown = path.display();
        let bytes = std::fs::metadata(path)
            .and_then(|about| match about.len() > MOST_BYTES {
                true => Err(std::io::Error::other("longer than 2 GiB")),
                false => std::fs::read(path),
            })
            .map_err(|error| format!("{shown}: {error}"))?;
        let read = form.read(&bytes, &asked);
        files.push(read.map_err(|error| match error.line {
            Some(_) => format!("{shown}:{error}"),
            None => format!("{shown}: {error}"),
        })?);
        sources.push(FileRecord {
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            bytes: bytes.len() as u64,
            sha256: Sha256::digest(&bytes)
                .iter()
                .fold(String::new(), |mut text, byte| {
                    // Writing to a String can't fail.
                    let _ = write!(text, "{byte:02x}");
                    text
                }),
        });
    }
    let first = &files[0];
    let period_ns = asked_ns.or(first.period_ns).ok_or_else(|| {
        format!(
            "{}: does not say the period: give --period",
            arguments.files[0].display()
        )
    })?;
    let policy = policy(arguments, first, period_ns)?;
    let latency_ns = given_time("--latency", arguments.latency.as_deref())?;
    let scenario = scenario(arguments, first, &files, period_ns, policy, latency_ns)?;
    let mut lacks: Vec<Lack> = first.lacks.clone();
    lacks.extend(
        files
            .iter()
            .flat_map(|file| &file.lacks)
            .filter(|lack| !first.lacks.contains(lack))
            .cloned(),
    );
    Ok(Prepared {
        form,
        files,
        sources,
        lacks,
        period_ns,
        policy,
        scenario,
    })
}

/// As the user says, else as the file does. Never guessed: verdicts are by policy.
fn policy(arguments: &Import, file: &Imported, period_ns: u64) -> Result<Policy, Failure> {
    if let Some(text) = &arguments.policy {
        return wakepath_scenario::parse_policy(text, period_ns)
            .map_err(|complaint| format!("--policy {text}: {complaint}").into());
    }
    match file.priority {
        Some((0, _)) => Ok(Policy::Other { nice: 0 }),
        Some((priority, false)) => Ok(Policy::Fifo { priority }),
        Some((priority, true)) => Ok(Policy::RoundRobin { priority }),
        None => Err(format!(
            "{}: does not say under which policy it was measured: give --policy, such as 'FIFO 80'",
            arguments.files[0].display()
        )
        .into()),
    }
}

fn scenario(
    arguments: &Import,
    first: &Imported,
    files: &[Imported],
    period_ns: u64,
    policy: Policy,
    latency_ns: Option<u64>,
) -> Result<Scenario, Failure> {
    let values: u64 = files
        .iter()
        .flat_map(|file| &file.threads)
        .map(due_times)
        .sum();
    let mut text = format!(
        "name = \"{}\"\nperiod = \"{} ns\"\ncycles = {}\nrepetitions = {}\nwarm-up = \"0 ns\"\n\
         policies = [\"{policy}\"]\nphases = [{{ name = \"imported\" }}]\n[criterion]\n",
        first.tool.replace(' ', "-"),
        period_ns,
        values.max(files.len() as u64),
        files.len(),
    );
    if let Some(ns) = latency_ns {
        let _ = writeln!(text, "latency = \"{ns} ns\"");
    }
    if let Some(share) = &arguments.miss_fraction {
        let _ = writeln!(text, "miss-fraction = {:?}", share);
    }
    let known = KnownCpus::first(1024);
    Scenario::parse(&text, "the import", &known).map_err(|errors| errors.to_string().into())
}

fn due_times(thread: &Thread) -> u64 {
    match &thread.values {
        Values::Histogram(histogram) => histogram.count(),
        Values::Samples(samples) => samples.cycles.last().map_or(0, |(cycle, _)| cycle + 1),
    }
}

fn write(prepared: &Prepared, directory: &Directory) -> Result<(), Failure> {
    let Prepared {
        form,
        files,
        sources,
        lacks,
        period_ns,
        policy,
        scenario,
    } = prepared;
    let first = &files[0];
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut random = [0; 4];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let mut notes = vec![
        "imported: the start of the run is when it was imported; when it was measured is not known"
            .to_owned(),
    ];
    notes.extend(
        first
            .kernel
            .iter()
            .map(|release| format!("measured on Linux {release}")),
    );
    let mut log = LogWriter::create_in(directory)?;
    log.append_event(&Event::RunStarted(Box::new(RunStarted {
        run_id: run_id(&started, random),
        tool: Tool {
            name: first.tool.into(),
            version: first
                .tool_version
                .clone()
                .unwrap_or_else(|| "unknown".into()),
            commit: None,
        },
        command: first.command.clone(),
        started,
        scenario: ScenarioText {
            name: scenario.name.clone(),
            toml: scenario.to_toml(),
        },
        clock_source: "unknown".into(),
        notes,
        ..RunStarted::default()
    })))?;
    let mut histograms = Vec::new();
    for (segment, file) in (0..).zip(files) {
        let threads = (0..).zip(&file.threads);
        for (number, thread) in threads.clone() {
            if let Values::Histogram(found) = &thread.values {
                histograms.push(ThreadHistogram {
                    segment,
                    thread: number,
                    bins: found.bins.clone(),
                    overflowed: found.overflowed,
                    range_end_ns: found.range_end_ns,
                    min_ns: found.min_ns,
                    max_ns: found.max_ns,
                    mean_ns: found.mean_ns,
                });
            }
        }
    }
    log.append_event(&Event::Imported(Box::new(wakepath_archive::Imported {
        form: form.word().into(),
        measures: first.measures.into(),
        lacks: lacks.clone(),
        sources: sources.clone(),
        histograms,
    })))?;
    for (segment, file) in (0..).zip(files) {
        write_segment(&mut log, segment, file, *period_ns, *policy)?;
    }
    log.end(Ending::Complete)?;
    Ok(())
}

fn write_segment(
    log: &mut LogWriter,
    segment: u32,
    file: &Imported,
    period_ns: u64,
    policy: Policy,
) -> Result<(), Failure> {
    let due = DueTimes {
        start_ns: START_NS,
        period_ns,
    };
    let threads = || (0..).zip(&file.threads);
    log.append_event(&Event::SegmentStarted(SegmentStarted {
        segment,
        phase: "imported".into(),
        repetition: segment,
        condition: policy.to_string(),
        traced: false,
        threads: threads()
            .map(|(number, thread)| ThreadStarted {
                thread: number,
                name: thread.name.clone(),
                due,
                requested: policy,
                effective: Effective {
                    text: format!("{policy}, as asked for"),
                    details: json!({ "policy": policy }),
                },
                cpus: thread.cpu.into_iter().collect(),
                first_judged_cycle: 0,
                end_cycle: due_times(thread),
            })
            .collect(),
    }))?;
    let mut ended = Vec::new();
    for (number, thread) in threads() {
        let (mut written, mut lost) = (0, 0);
        if let Values::Samples(samples) = &thread.values {
            write_samples(log, (segment, number), samples, due, thread.cpu)?;
            (written, lost) = (samples.cycles.len() as u64, samples.lost);
        }
        ended.push(ThreadEnded {
            thread: number,
            written,
            recorded: written,
            lost,
            skipped: None,
            counters: None,
            page_faults: None,
            modules: Vec::new(),
            ended: ThreadEnd::AllCycles,
        });
    }
    log.append_event(&Event::SegmentEnded(SegmentEnded {
        segment,
        threads: ended,
        loads: Vec::new(),
    }))?;
    Ok(())
}

fn write_samples(
    log: &mut LogWriter,
    (segment, thread): (u32, u16),
    samples: &Samples,
    due: DueTimes,
    cpu: Option<u16>,
) -> Result<(), Failure> {
    for some in samples.cycles.chunks(1024) {
        let some: Vec<Sample> = some
            .iter()
            .map(|&(cycle, latency_ns)| {
                let due_ns = due.due_ns(cycle);
                let wake_ns = due_ns.saturating_add_signed(latency_ns);
                Sample {
                    cycle,
                    due_ns,
                    wake_ns,
                    // The tool has no work: the cycle ends where it begins.
                    end_ns: wake_ns,
                    cpu: cpu.unwrap_or_default(),
                    ..Sample::default()
                }
            })
            .collect();
        log.append_samples(segment, thread, &some)?;
    }
    Ok(())
}

fn told(arguments: &Import, first: &Imported, files: &[Imported], lacks: &[Lack]) -> String {
    let threads: usize = files.iter().map(|file| file.threads.len()).sum();
    let values: u64 = files
        .iter()
        .flat_map(|file| &file.threads)
        .map(due_times)
        .sum();
    let version = first
        .tool_version
        .as_deref()
        .map_or(String::new(), |v| format!(" {v}"));
    let mut text = format!(
        "{}{version}: {} of {} in {}, period {}\nit lacks\n",
        first.tool,
        wakepath_verdict::counted(values, "value", "values"),
        wakepath_verdict::counted(threads as u64, "thread", "threads"),
        wakepath_verdict::counted(files.len() as u64, "file", "files"),
        exact(first.period_ns.unwrap_or(0)),
    );
    if first.period_ns.is_none() {
        text = text
            .replace(", period 0 ns", "")
            .replace(", period 0 s", "");
    }
    for lack in lacks {
        let _ = writeln!(text, "  {lack}");
    }
    let directory = arguments.directory.display();
    let _ = writeln!(text, "recording: {directory}; wakepath show {directory}");
    text
}

#[cfg(test)]
// Tests print counts for --show-output, to no terminal of a user.
#[allow(clippy::print_stdout)]
mod tests {
    use super::*;
    use clap::Parser;
    use wakepath_archive::{ArchiveError, Run, recover};
    use wakepath_directory::{Fault, Faults, Trust};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        import: Import,
    }

    /// The samples of cyclictest's own words, in two files.
    fn prepared_from_fixture() -> Prepared {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../import/tests/fixtures/cyclictest-v.txt"
        );
        let words = format!(
            "import cyclictest-verbose {path} {path} --period 1ms --directory D --policy FIFO-80"
        );
        let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        words.last_mut().unwrap().replace_range(4..5, " ");
        Prepared::of(&Line::parse_from(words).import).unwrap()
    }

    #[test]
    fn an_import_whose_disk_fails_anywhere_leaves_no_half_of_a_run() {
        let prepared = prepared_from_fixture();
        let place = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let place = place.unwrap();
        for fault in [Fault::NoSpace, Fault::Broken, Fault::Short] {
            let (mut operations, mut injected, mut whole) = (0, 0, 0);
            for lasting in [false, true] {
                for at in 1.. {
                    let what = format!("{fault:?} at operation {at}, lasting: {lasting}");
                    let path = place.path().join("run");
                    let faults = Faults::new(fault, at, lasting);
                    let directory = Directory::make(&path, Trust::Own).unwrap();
                    let written = prepared.write(&directory.clone().with_faults(faults.clone()));
                    let samples = match (Run::open(&path), &written) {
                        (Ok(run), _) => run.manifest.recorded(),
                        (Err(ArchiveError::NothingRecorded { .. }), Err(_)) => 0,
                        (Err(ArchiveError::NotARun { .. }), Err(_)) => 0,
                        (Err(error), _) => panic!("{what}: {error}"),
                    };
                    if written.is_ok() {
                        whole = samples;
                        assert_eq!(recover(&path).unwrap().manifest.recovered, None, "{what}");
                    } else {
                        // The disk works again: nothing is left, and the import is made anew.
                        if !directory.holds("manifest.json") {
                            wakepath_archive::withdraw_in(&directory).unwrap();
                            assert_eq!(directory.names().unwrap(), [""; 0], "{what}");
                            prepared.write(&directory).unwrap();
                        }
                        let again = recover(&path).unwrap().manifest;
                        assert_eq!((again.recovered.clone(), again.segments.len()), (None, 2));
                    }
                    std::fs::remove_dir_all(&path).unwrap();
                    operations = faults.seen();
                    if faults.failed().is_empty() {
                        break;
                    }
                    injected += 1;
                }
            }
            assert!(operations > 30 && whole > 400, "{operations} {whole}");
            println!("{fault:?}: an import has {operations} operations; {injected} with a failure");
        }
    }
}
