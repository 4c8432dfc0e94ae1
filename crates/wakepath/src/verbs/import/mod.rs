//! `wakepath import`: a run directory from the files of another tool. Reading them is the crate
//! `wakepath-import`'s work.

mod layout;
mod sources;
mod stated;
mod write;

use crate::command_line::Import;
use crate::fit_to_screen::{MOST, fit_to_screen};
use crate::ros2_options;
use layout::{Segment, cycles};
use sources::Sources;
use std::collections::HashSet;
use std::convert::Infallible;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_archive::command_about;
use wakepath_assess::watched::{KeptFigures, Ros2Figures, Ros2Wish};
use wakepath_console::explanation::explain;
use wakepath_console::run_directory::RunDirectory;
use wakepath_console::terminal::{self, OneLine, folded_for_people, print, print_result};
use wakepath_console::{Outcome, option_value};
use wakepath_directory::Directory;
use wakepath_import::{Asked, Form, Histogram, Imported, TOO_MANY_BINS, Unit, Use, Values};
use wakepath_report::{Ros2Room, ros2_text};
use wakepath_scenario::Scenario;
use wakepath_timeline::duration::length;
use wakepath_timeline::{KernelEvent, Lack};

type Failure = Box<dyn std::error::Error>;

/// Late runs of a callback that are explained.
const WORST: usize = 3;
/// Lines of one screen for the callbacks of ROS 2.
const CALLBACKS_ROOM: usize = 24;

/// Reads the values of the options.
pub fn read_options(arguments: &Import) -> Result<(), Failure> {
    option_value::time("--period", arguments.period.as_deref())?;
    option_value::time("--latency", arguments.latency.as_deref())?;
    option_value::time("--limit", arguments.limit.as_deref())?;
    if let Some(policy) = &arguments.policy {
        option_value::policy(policy)?;
    }
    Ok(())
}

/// Reads everything, then writes. An incomplete import is removed: the files are still there to be
/// imported again.
pub fn run(arguments: &Import) -> Outcome {
    let asked_ns = option_value::time("--period", arguments.period.as_deref())?;
    let sources = read(arguments, asked_ns)?;
    let limit_ns = option_value::time("--limit", arguments.limit.as_deref())?;
    let worst = arguments.worst.unwrap_or(WORST);
    let latency_ns = option_value::time("--latency", arguments.latency.as_deref())?;
    let wish = ros2_options::request(&arguments.chain, (limit_ns, latency_ns), worst)?;
    let callbacks: Vec<Ros2Figures> = sources
        .files
        .iter()
        .filter_map(|file| callbacks(file, &wish))
        .collect();
    if sources.files.iter().all(|file| file.threads.is_empty()) {
        print_callbacks(arguments, &callbacks)?;
        let why = "\nno timer was called back at its period ten times, and no run is recorded\n";
        print_for_people(arguments, why)?;
        return Ok(ExitCode::SUCCESS);
    }
    let prepared = Prepared::new(arguments, sources, asked_ns)?;
    let name = &prepared.scenario.name;
    let place = RunDirectory::choose(
        arguments.directory.as_deref(),
        arguments.trust_directory,
        name,
        SystemTime::now(),
    )?;
    let directory = place.make()?;
    if let Err(error) = prepared.write(&directory) {
        // If that fails, `wakepath recover` distinguishes it from a whole run.
        let _ = write::withdraw(&directory).map(|()| place.withdraw(&directory));
        return Err(error);
    }
    let has_trace = prepared.sources.files.iter().any(|of| of.trace.is_some());
    if has_trace {
        explain(&directory);
    }
    print_callbacks(arguments, &callbacks)?;
    Ros2Figures::keep(&callbacks, &directory)?;
    print_for_people(arguments, &description(&prepared, directory.path()))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what a person reads, out of the way of JSON.
fn print_for_people(arguments: &Import, text: &str) -> Result<(), Failure> {
    if arguments.json {
        terminal::tell_text(text)
    } else {
        print(text)?
    }
    Ok(())
}

/// The callbacks of each trace as JSON has them, by the names that those of `watch` have.
#[derive(serde::Serialize)]
struct All<'a> {
    ros2: &'a [Ros2Figures],
}

fn print_callbacks(arguments: &Import, callbacks: &[Ros2Figures]) -> Result<(), Failure> {
    if arguments.json {
        let text = serde_json::to_string_pretty(&All { ros2: callbacks })? + "\n";
        return Ok(print_result(true, &text)?);
    }
    for figures in callbacks {
        let text = |room: &Ros2Room| ros2_text(figures, terminal::columns(), room) + "\n";
        print(&if arguments.all {
            folded_for_people(&text(&Ros2Room::WHOLE))
        } else {
            fit_to_screen(CALLBACKS_ROOM, MOST, |most| text(&Ros2Room::new(most)))
        })?;
    }
    Ok(())
}

/// The callbacks of ROS 2 in a file, if it has any.
fn callbacks(file: &Imported, wish: &Ros2Wish) -> Option<Ros2Figures> {
    let (events, processes) = file.ros2_calls()?;
    let each = |take: &mut dyn FnMut(&KernelEvent)| {
        events.iter().for_each(take);
        Ok::<(), Infallible>(())
    };
    let Ok(figures) =
        Ros2Figures::of_events(&each, &|thread| processes.get(&thread).copied(), &[], wish);
    figures
}

/// Files that were read, and their interpretation.
struct Prepared {
    sources: Sources,
    lacks: Vec<Lack>,
    segments: Vec<Segment>,
    scenario: Scenario,
}

/// Reads the files as the options say.
fn read(arguments: &Import, asked_ns: Option<u64>) -> Result<Sources, Failure> {
    // Options about columns are about a table.
    let is_table = arguments.columns.is_some() || arguments.unit.is_some();
    let form = arguments.form.as_deref().or(is_table.then_some("csv"));
    let form = form.map(Form::named).transpose()?;
    let words = |given: &Option<String>| -> Vec<String> {
        let all = given.iter().flat_map(|text| text.split(','));
        all.map(|word| word.trim().to_owned()).collect()
    };
    let columns = words(&arguments.columns);
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let threads: Vec<&str> = arguments.thread.iter().map(String::as_str).collect();
    let asked = Asked {
        period_ns: asked_ns,
        nanoseconds: arguments.nanoseconds,
        threads: &threads,
        columns: &columns,
        unit: arguments.unit.as_deref().map(unit).transpose()?,
    };
    let sources = sources::read(&arguments.files, form, &asked)?;
    refuse_useless(arguments, sources.form)?;
    Ok(sources)
}

impl Prepared {
    fn new(arguments: &Import, sources: Sources, asked_ns: Option<u64>) -> Result<Self, Failure> {
        let threads = sources.files.iter().flat_map(|file| &file.threads);
        let histograms = threads.filter_map(|thread| match &thread.values {
            Values::Histogram(of) => Some(of),
            _ => None,
        });
        if Histogram::are_too_many(histograms) {
            let all = arguments.files.iter().map(|file| file.in_one_line());
            let all = all.collect::<Vec<_>>().join(", ");
            return Err(format!("{all}: {TOO_MANY_BINS}").into());
        }
        let latency_ns = option_value::time("--latency", arguments.latency.as_deref())?;
        let segments = layout::segments(arguments, &sources, asked_ns)?;
        let scenario = layout::scenario(arguments, &sources, &segments, latency_ns)?;
        let mut lacks: Vec<Lack> = Vec::new();
        for lack in sources.files.iter().flat_map(|file| &file.lacks) {
            if !lacks.contains(lack) {
                lacks.push(lack.clone());
            }
        }
        Ok(Self {
            sources,
            lacks,
            segments,
            scenario,
        })
    }

    /// Writes the run and finishes it.
    fn write(&self, directory: &Directory) -> Result<(), Failure> {
        write::write(self, directory)?;
        wakepath_archive::finish_in(directory)?;
        Ok(())
    }
}

/// An option that this form has no use for is a mistake.
fn refuse_useless(arguments: &Import, form: &Form) -> Result<(), Failure> {
    let word = form.word();
    let why = if !arguments.thread.is_empty() && !form.uses(Use::Threads) {
        format!("--thread: a file of {word} has the loop's threads alone")
    } else if arguments.nanoseconds && !form.uses(Use::Nanoseconds) {
        format!("--nanoseconds: a file of {word} says its unit")
    } else if arguments.columns.is_some() && !form.uses(Use::Columns) {
        format!("--columns: a file of {word} is not a table; csv is")
    } else if arguments.unit.is_some() && !form.uses(Use::Columns) {
        format!("--unit: a file of {word} is not a table; csv is")
    } else if (!arguments.chain.is_empty()
        || arguments.worst.is_some()
        || arguments.json
        || arguments.all)
        && !form.uses(Use::Callbacks)
    {
        format!("--chain, --worst and --json: a file of {word} has no callbacks; one of ros2 has")
    } else {
        return Ok(());
    };
    Err(why.into())
}

fn unit(sign: &str) -> Result<Unit, Failure> {
    Unit::of_sign(sign).ok_or_else(|| {
        let all = Unit::ALL.map(|(sign, _)| sign).join(", ");
        format!("--unit {sign}: there are {all}").into()
    })
}

fn description(prepared: &Prepared, directory: &Path) -> String {
    let Prepared { sources, lacks, .. } = prepared;
    let files = &sources.files;
    let first = &files[0];
    // A thread of an exported run comes once for each of its segments.
    let names = files.iter().zip(0..).flat_map(|(file, number)| {
        let threads = file.threads.iter();
        threads.map(move |of| (number, &of.name, of.place.is_none().then_some(of.cpu)))
    });
    let threads = names.collect::<HashSet<_>>().len();
    let values: u64 = files
        .iter()
        .flat_map(|file| &file.threads)
        .map(cycles)
        .sum();
    let version = first
        .tool_version
        .as_deref()
        .map_or(String::new(), |v| format!(" {v}"));
    let periods = files.iter().flat_map(|file| {
        let own = file.threads.iter().map(|thread| thread.period_ns);
        own.map(|own| own.or(file.period_ns))
    });
    let mut periods: Vec<u64> = periods.flatten().collect();
    periods.sort_unstable();
    periods.dedup();
    let period = match periods[..] {
        [] => String::new(),
        [only] => format!(", period {}", length(only)),
        [least, .., most] => format!(", periods {} to {}", length(least), length(most)),
    };
    let mut text = format!(
        "{}{version}: {} of {} in {}{period}\nit lacks\n",
        first.tool,
        wakepath_verdict::counted(values, "cycle", "cycles"),
        wakepath_verdict::counted(threads as u64, "thread", "threads"),
        wakepath_verdict::counted(sources.records.len() as u64, "file", "files"),
    );
    for lack in lacks {
        let _ = writeln!(text, "  {lack}");
    }
    if let Some(first) = sources.passed_over.first() {
        let count = sources.passed_over.len() as u64;
        let what = wakepath_verdict::counted(count, "file", "files");
        let _ = writeln!(
            text,
            "passed over: {what} of no form, or of another, such as {first}"
        );
    }
    let shown = command_about("show", &directory.display().to_string(), "");
    let _ = writeln!(
        text,
        "recording: {}\n\nnext\n  {shown}",
        directory.in_one_line()
    );
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
        let words = format!("import {path} {path} --period 1ms --directory D --policy FIFO-80");
        let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        words.last_mut().unwrap().replace_range(4..5, " ");
        let arguments = Line::parse_from(words).import;
        let asked_ns = option_value::time("--period", arguments.period.as_deref()).unwrap();
        let sources = read(&arguments, asked_ns).unwrap();
        Prepared::new(&arguments, sources, asked_ns).unwrap()
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
                        // The disk works again: nothing is left, and the import is repeated.
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
