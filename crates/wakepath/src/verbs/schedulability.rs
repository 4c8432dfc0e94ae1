//! `wakepath schedulability`: whether a task set always meets its deadlines.

mod sweep;

use crate::command_line::{
    FitWord, Schedulability as Arguments, SchedulabilityExperiment, TakenWord,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_assess::{
    KnownOverheads, RunMachine, Schedulability, Taken, Which, measured_execution, set_of_run,
};
use wakepath_console::terminal::print_result;
use wakepath_console::{Outcome, runs, scenarios};
use wakepath_explain::OverheadTable;
use wakepath_report::{Style, ToText, schedulability_page, to_json};
use wakepath_scenario::{KnownCpus, MeasuredExecution, Scenario, SetFile, TaskSet};
use wakepath_schedulability::sched_deadline::KernelLimit;
use wakepath_schedulability::{Fit, Question, place};

/// The lowest priority that is given: below it stay the threads of the kernel that must not wait
/// for a control loop.
const LOWEST_PRIORITY: u32 = 1;

/// Analyses and shows.
pub fn run(arguments: &Arguments) -> Outcome {
    if let Some(SchedulabilityExperiment::Sweep(sweep)) = &arguments.experiment {
        return sweep::run(sweep);
    }
    let AnalysedSet {
        mut set,
        name,
        machine,
    } = analysed_set(arguments)?;
    let overheads = overheads(arguments, &set, machine.as_ref())?;
    let refused = |error: &dyn std::error::Error| format!("{name}: {error}");
    if let Some(fit) = arguments.assign {
        let fit = match fit {
            FitWord::First => Fit::First,
            FitWord::Best => Fit::Best,
            FitWord::Worst => Fit::Worst,
        };
        let question = Question {
            tasks: &set.tasks,
            method: set.method,
            cpus: set.cpus,
            overheads: Some(&overheads),
        };
        set.tasks = place(&question, fit, LOWEST_PRIORITY).map_err(|error| refused(&error))?;
    }
    let observed = arguments.from.as_ref().map(|_| set.clone());
    let answer = match (
        Schedulability::new(set, overheads),
        observed.zip(arguments.output.as_ref()),
    ) {
        (Ok(answer), _) => answer,
        // The measured set is there to be edited.
        (Err(error), Some((set, path))) => {
            write(path, &set.to_toml())?;
            return Err(format!(
                "{}; the set is in {} to edit",
                refused(&error),
                path.display()
            )
            .into());
        }
        (Err(error), None) => return Err(refused(&error).into()),
    };
    let files = files(arguments, &answer).map_err(|error| format!("{name}: {error}"))?;
    for (path, text) in &files {
        write(path, text)?;
    }
    let said = if arguments.json {
        to_json(&answer)
    } else {
        answer.to_text(Style::of_stdout())
    };
    print_result(arguments.json, &said)?;
    Ok(ExitCode::from(answer.exit_code()))
}

/// Files to write, with their content: all is made before anything is written.
fn files(
    arguments: &Arguments,
    answer: &Schedulability,
) -> Result<Vec<(PathBuf, String)>, Box<dyn std::error::Error>> {
    let mut files = Vec::new();
    if let Some(path) = &arguments.output {
        files.push((path.clone(), answer.set.to_toml()));
    }
    if let Some(path) = &arguments.scenario {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let tasks = &answer.analysis.tasks;
        let bounds: Vec<_> = tasks.iter().map(|task| task.bound.response_ns).collect();
        let parameters: Vec<_> = tasks.iter().map(|task| task.parameters).collect();
        let text = answer.set.to_scenario(&name, &bounds, &parameters)?;
        files.push((path.clone(), text));
    }
    if let Some(directory) = &arguments.units {
        for (name, text) in answer.set.to_units()? {
            let place = directory.join(format!("{name}.service.d"));
            files.push((place.join("wakepath.conf"), text));
        }
    }
    if let Some(path) = &arguments.report {
        files.push((
            path.clone(),
            schedulability_page(answer, &answer.windows()?),
        ));
    }
    Ok(files)
}

/// The set, what it is called in complaints, and the machine that it is known to run on.
struct AnalysedSet {
    set: TaskSet,
    name: String,
    machine: Option<RunMachine>,
}

fn analysed_set(arguments: &Arguments) -> Result<AnalysedSet, Box<dyn std::error::Error>> {
    let mut machine = match &arguments.machine {
        None => None,
        Some(run) => Some(RunMachine::new(&Run::open(&runs::find(Some(run))?)?)?),
    };
    let which = Which {
        quantile: arguments.execution_quantile,
        confidence: arguments.execution_confidence,
    };
    let (mut set, name) = match (&arguments.from, &arguments.tasks) {
        (Some(from), _) => {
            let run = Run::open(&runs::find(Some(from))?)?;
            let set = set_of_run(&run, which)?;
            match &machine {
                None => machine = Some(RunMachine::new(&run)?),
                Some(_) if arguments.other_machine => {}
                Some(machine) => machine.also_of(&run)?,
            }
            (set, from.display().to_string())
        }
        (None, Some(tasks)) => {
            let path = tasks.display().to_string();
            let text = std::fs::read_to_string(tasks)
                .map_err(|error| format!("{path}: {error}; give a file with [[tasks]]"))?;
            let beside = tasks.parent().unwrap_or(Path::new(""));
            let told = |wanted: &MeasuredExecution| {
                let run = Run::open(&beside.join(&wanted.run))?;
                if let (Some(machine), false) = (&machine, arguments.other_machine) {
                    machine.also_of(&run)?;
                }
                Ok(measured_execution(&run, wanted)?)
            };
            let set = match SetFile::new(&text) {
                SetFile::Set => TaskSet::parse(&text, &path, arguments.assign.is_some(), &told)?,
                SetFile::Table => TaskSet::of_table(&text, &path)?,
                SetFile::Scenario => {
                    let known = match machine.as_ref() {
                        Some(machine) => KnownCpus::first(machine.cpus),
                        None => KnownCpus::new(scenarios::host_cpus()?.for_a_loop())
                            .ok_or("no CPU can be used")?,
                    };
                    let scenario = Scenario::parse(&text, &path, &known)?;
                    let last = known.cpus().numbers().last().copied().unwrap_or(0);
                    TaskSet::of_scenario(&scenario, last + 1)
                        .map_err(|error| format!("{path}: {error}"))?
                }
            };
            (set, path)
        }
        (None, None) => return Err("give a task set, or a run with --from".into()),
    };
    if let (Some(machine), Some(_)) = (&machine, &arguments.machine) {
        machine
            .holds(set.cpus)
            .map_err(|error| format!("{name}: {error}"))?;
        if set.admission == KernelLimit::default() {
            set.admission.clone_from(&machine.admission);
        }
        let unknown = match &machine.unknown[..] {
            [] => String::new(),
            unknown => format!("; taken as Linux has it: {}", unknown.join(", ")),
        };
        set.notes.push(format!(
            "machine: {}, {} CPUs{unknown}",
            machine.name, machine.cpus
        ));
    }
    Ok(AnalysedSet { set, name, machine })
}

fn overheads(
    arguments: &Arguments,
    set: &TaskSet,
    machine: Option<&RunMachine>,
) -> Result<KnownOverheads, Box<dyn std::error::Error>> {
    let mut named = runs::find_all(&arguments.overheads)?;
    let of_machine = arguments.machine.as_ref().or(arguments.from.as_ref());
    if let Some(run) = of_machine.filter(|_| named.is_empty()) {
        let run = runs::find(Some(run))?;
        if has_overheads(&run) || KnownOverheads::tells_cache_delays(&Run::open(&run)?) {
            named.push(run);
        }
    }
    if named.is_empty() {
        if arguments.overheads_phase.is_some() {
            return Err(
                "--overheads-phase: no traced run is given; give one with --overheads".into(),
            );
        }
        return Ok(match &set.overheads {
            Some(given) => KnownOverheads::of_file(given),
            None => KnownOverheads::none(),
        });
    }
    let runs: Vec<Run> = named
        .iter()
        .map(|run| Run::open(run))
        .collect::<Result<_, _>>()?;
    if let Some(machine) = machine.filter(|_| !arguments.other_machine) {
        for run in &runs {
            machine.also_of(run)?;
        }
    }
    let taken = match arguments.taken {
        TakenWord::Max => Taken::Maximum,
        TakenWord::P999 => Taken::P999,
        TakenWord::P99 => Taken::P99,
        TakenWord::Median => Taken::Median,
    };
    let known = KnownOverheads::of_runs(&runs, taken, arguments.overheads_phase.as_deref())?;
    Ok(match &set.overheads {
        None => known,
        Some(given) => known.with_file(given),
    })
}

/// Whether a run was traced, so that its overheads are next to it.
fn has_overheads(run: &Path) -> bool {
    run.join(OverheadTable::FILE_NAME).is_file()
}

fn write(path: &Path, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(directory) = path.parent().filter(|place| !place.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
    }
    Ok(wakepath_directory::replace(path, text.as_bytes())?)
}
