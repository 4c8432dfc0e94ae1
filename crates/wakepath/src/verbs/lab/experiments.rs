//! `wakepath lab experiments`: repeats published experiments and writes the page that sets our figures
//! beside the published ones. What they are and what is said of them is in `wakepath_lab::experiments`.

use super::run::{guest_cpus, measure};
use crate::command_line::{LabExperiments, LabGuests};
use crate::verbs::progress::assessed;
use crate::verbs::report::{explanation, write};
use crate::verbs::{Outcome, measured, print};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_archive::Run;
use wakepath_lab::experiments::{
    Experiment, Guest, GuestRun, Repeated, all, findings, named, page,
};
use wakepath_scenario::Scenario;
use wakepath_verdict::Outcome as Verdict;

type Failure = Box<dyn std::error::Error>;

/// Name of the page in its directory.
const PAGE: &str = "README.md";

/// Repeats what is not there yet, and writes the page.
pub fn run(arguments: &LabExperiments) -> Outcome {
    if arguments.list {
        return list();
    }
    let chosen = chosen(&arguments.name)?;
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => measured::default_directory("lab-experiments", SystemTime::now()),
    };
    let mut wanted = Vec::new();
    for experiment in chosen {
        let scenario = scenario(experiment, arguments.cycles)?;
        let place = directory.join(experiment.name);
        // Before anything boots: what can't be used is said at once.
        let there = there(experiment, &scenario, &place)?;
        wanted.push((experiment, scenario, place, there));
    }
    let mut repeated = Vec::new();
    for (experiment, scenario, place, there) in wanted {
        if there {
            eprintln!("{}: its runs are in {}", experiment.name, place.display());
        } else {
            eprintln!("{}: {}", experiment.name, experiment.title);
            boot(experiment, &scenario, &place, arguments)?;
        }
        repeated.push(read(experiment, &place)?);
    }
    let place = arguments.page.as_ref().unwrap_or(&directory);
    let written = page(&repeated);
    std::fs::create_dir_all(place).map_err(|error| format!("{}: {error}", place.display()))?;
    for (name, svg) in &written.figures {
        write(&place.join(name), svg)?;
    }
    let path = place.join(PAGE);
    write(&path, &written.text)?;
    print(&match arguments.json {
        true => format!("{:#}\n", to_json(&repeated)),
        false => to_text(&repeated, &path),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn list() -> Outcome {
    let lines = all().iter().map(|experiment| {
        let guests: Vec<&str> = experiment.guests.iter().map(|guest| guest.name).collect();
        format!(
            "{:14} {}: {}\n",
            experiment.name,
            experiment.title,
            guests.join(" / ")
        )
    });
    print(&lines.collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

fn chosen(names: &[String]) -> Result<Vec<&'static Experiment>, Failure> {
    if names.is_empty() {
        return Ok(all().iter().collect());
    }
    let find = |name: &String| {
        named(name).ok_or_else(|| {
            let known: Vec<&str> = all().iter().map(|experiment| experiment.name).collect();
            format!("{name}: no experiment; there are {}", known.join(", ")).into()
        })
    };
    names.iter().map(find).collect()
}

fn scenario(experiment: &Experiment, cycles: Option<u64>) -> Result<Scenario, Failure> {
    let source = format!("{} (built in)", experiment.name);
    let cpus = guest_cpus(experiment.cpus);
    let (mut scenario, _) = measured::read_scenario(experiment.scenario, &source, &cpus)?;
    if let Some(cycles) = cycles {
        scenario.cycles = cycles;
    }
    Ok(scenario)
}

/// Where a guest's run lies.
fn place_of(place: &Path, guest: &Guest) -> PathBuf {
    place.join(super::guests::Guest::directory_name(guest.kernel))
}

/// Whether the runs of an experiment are there already: an interrupted command goes on where it was.
fn there(experiment: &Experiment, scenario: &Scenario, place: &Path) -> Result<bool, Failure> {
    let empty = |path: &Path| std::fs::read_dir(path).map_or(true, |mut all| all.next().is_none());
    if empty(place) {
        return Ok(false);
    }
    for guest in experiment.guests {
        let run = place_of(place, guest);
        let found = Run::open(&run).ok().filter(|found| {
            found.manifest.scenario.toml == scenario.to_toml()
                && found.manifest.virtual_time.is_some()
        });
        if found.is_none() {
            return Err(format!(
                "{}: no whole run of this experiment; remove {} or give another --directory",
                run.display(),
                place.display()
            )
            .into());
        }
    }
    Ok(true)
}

fn boot(
    experiment: &Experiment,
    scenario: &Scenario,
    place: &Path,
    arguments: &LabExperiments,
) -> Result<(), Failure> {
    let options = LabGuests {
        kernel: experiment
            .guests
            .iter()
            .map(|guest| guest.kernel.to_owned())
            .collect(),
        variant: Vec::new(),
        architecture: "x86-64".into(),
        cpus: experiment.cpus,
        before: Vec::new(),
        ns_per_instruction: 1,
        memory: 1024,
        host: arguments.host.clone(),
    };
    let compared = measure(&options, scenario, &[1], place)?;
    match compared.iter().find(|one| !one.is_whole()) {
        None => Ok(()),
        Some(one) => {
            let why = match &one.assessment {
                Err(error) => error.clone(),
                Ok(found) => format!("its run is {}", found.outcome),
            };
            Err(format!("{}, {}: {why}", experiment.name, one.guest).into())
        }
    }
}

fn read(experiment: &'static Experiment, place: &Path) -> Result<Repeated, Failure> {
    let mut guests = Vec::new();
    for guest in experiment.guests {
        let run = Run::open(&place_of(place, guest))?;
        let (assessment, pictures) = assessed(&run, true)?;
        if assessment.outcome != Verdict::VirtualTime {
            let directory = run.directory().display();
            return Err(format!("{directory}: its run is {}", assessment.outcome).into());
        }
        let explanation = explanation(&run)?;
        let by_kernel = run.manifest.kernel_latency.clone();
        let read = GuestRun::of(*guest, &assessment, pictures, explanation, by_kernel);
        guests.extend(read);
    }
    Ok(Repeated { experiment, guests })
}

fn to_text(repeated: &[Repeated], page: &Path) -> String {
    let mut text = String::new();
    for one in repeated {
        text += &format!("{}\n", one.experiment.title);
        for finding in findings(one) {
            let agreement = finding.agreement.name();
            text += &format!(
                "  {agreement}: {}\n    here: {}\n",
                finding.published, finding.here
            );
        }
    }
    text + &format!(
        "virtual time: lengths of software paths, no machine's latencies\npage: {}\n",
        page.display()
    )
}

fn to_json(repeated: &[Repeated]) -> Value {
    let guest = |run: &GuestRun| {
        json!({
            "guest": run.guest.name,
            "kernel": run.guest.kernel,
            "conditions": run.conditions,
        })
    };
    let one = |repeated: &Repeated| {
        json!({
            "experiment": repeated.experiment.name,
            "findings": findings(repeated),
            "guests": repeated.guests.iter().map(guest).collect::<Vec<_>>(),
        })
    };
    json!({
        "outcome": "virtual-time",
        "experiments": repeated.iter().map(one).collect::<Vec<_>>(),
    })
}
