//! Published experiments repeated: which there are already, what guests each asks for, what came of it.
//! What they are and what is said of them is in `experiments`.

use crate::architecture::Architecture;
use crate::asked::GuestsAsked;
use crate::experiments::{Experiment, Guest, GuestRun, Page, Repeated, all, findings, named};
use crate::whole_file::whole_or_not;
use crate::{LabError, Result, guests, place};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use wakepath_archive::Run;
use wakepath_assess::{Assessment, Picture};
use wakepath_explain::Explanation;
use wakepath_scenario::{KnownCpus, Scenario};
use wakepath_verdict::Outcome;

/// Name of the page in its directory.
const PAGE: &str = "README.md";

/// The experiments of these names; all where none is given.
///
/// # Errors
/// [`LabError::NoExperiment`].
pub fn chosen_experiments(names: &[String]) -> Result<Vec<&'static Experiment>> {
    if names.is_empty() {
        return Ok(all().iter().collect());
    }
    let find =
        |name: &String| named(name).ok_or_else(|| LabError::NoExperiment { name: name.clone() });
    names.iter().map(find).collect()
}

/// An experiment that is to be repeated in a place.
pub struct Repetition {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// Its scenario.
    pub scenario: Scenario,
    /// Where its runs lie, each in a directory of its own.
    pub place: PathBuf,
    /// Whether they are there already: an interrupted command goes on where it was.
    pub is_there: bool,
}

impl Repetition {
    /// Looks at what there is.
    ///
    /// # Errors
    /// [`LabError::OtherRuns`] where something else lies there.
    pub fn of(
        experiment: &'static Experiment,
        cycles: Option<u64>,
        directory: &Path,
    ) -> Result<Self> {
        let source = format!("{} (built in)", experiment.name);
        let known = KnownCpus::first(experiment.cpus);
        let mut scenario = Scenario::parse(experiment.scenario, &source, &known)?;
        if let Some(cycles) = cycles {
            scenario.cycles = cycles;
        }
        let place = directory.join(experiment.name);
        let is_there = there(experiment, &scenario, &place)?;
        Ok(Self {
            experiment,
            scenario,
            place,
            is_there,
        })
    }

    /// The guests that it asks for.
    pub fn asked(&self) -> GuestsAsked {
        let guests = self.experiment.guests.iter();
        GuestsAsked {
            kernels: guests.map(|guest| guest.kernel.to_owned()).collect(),
            variants: Vec::new(),
            architecture: Architecture::X86_64.to_string(),
            cpus: self.experiment.cpus,
            before: Vec::new(),
            ns_per_instruction: 1,
            memory_mib: 1024,
        }
    }

    /// The runs of its guests.
    pub fn runs(&self) -> impl Iterator<Item = (Guest, Result<Run>)> {
        let guests = self.experiment.guests.iter();
        guests.map(|guest| {
            let run = Run::open(&place_of(&self.place, guest)).map_err(LabError::from);
            (*guest, run)
        })
    }
}

/// What a guest of an experiment measured.
///
/// # Errors
/// [`LabError::NotWhole`] where its run does not say what it should.
pub fn guest_run(
    guest: Guest,
    run: &Run,
    assessment: &Assessment,
    pictures: Vec<Picture>,
    explanation: Option<Explanation>,
) -> Result<Option<GuestRun>> {
    if assessment.outcome != Outcome::VirtualTime {
        return Err(LabError::NotWhole {
            guest: run.directory().display().to_string(),
            outcome: assessment.outcome,
        });
    }
    let by_kernel = run.manifest.kernel_latency.clone();
    Ok(GuestRun::of(
        guest,
        assessment,
        pictures,
        explanation,
        by_kernel,
    ))
}

/// Where a guest's run lies.
fn place_of(place: &Path, guest: &Guest) -> PathBuf {
    place.join(guests::Guest::directory_name(guest.kernel))
}

fn there(experiment: &Experiment, scenario: &Scenario, place: &Path) -> Result<bool> {
    if place::is_free(place)? {
        return Ok(false);
    }
    for guest in experiment.guests {
        let run = place_of(place, guest);
        let found = Run::open(&run).ok().filter(|found| {
            found.manifest.scenario.toml == scenario.to_toml()
                && found.manifest.virtual_time.is_some()
        });
        if found.is_none() {
            return Err(LabError::OtherRuns {
                run,
                place: place.to_owned(),
            });
        }
    }
    Ok(true)
}

/// Writes the page and its figures, and says where the page is.
///
/// # Errors
/// When it can't be written.
pub fn write_page(written: &Page, place: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(place).map_err(|error| LabError::io("make", place, error))?;
    for (name, svg) in &written.figures {
        whole_or_not(&place.join(name), svg)?;
    }
    let path = place.join(PAGE);
    whole_or_not(&path, &written.text)?;
    Ok(path)
}

/// The findings for a person.
pub fn to_text(repeated: &[Repeated], page: &Path) -> String {
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

/// Findings and figures for a script.
pub fn to_json(repeated: &[Repeated]) -> Value {
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
