//! Published experiments repeated: which there are already, what guests each asks for, whether one of them
//! repeats, what came of it.
//! What they are and what is said of them is in the room `experiments`.

use crate::architecture::Architecture;
use crate::asked::GuestsAsked;
use crate::divergence::first_divergence;
use crate::recorded::streams;
use crate::whole_file::whole_or_not;
use crate::{LabError, Result, guests, place};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use wakepath_archive::{GuestAdditions, Run};
use wakepath_assess::{Assessment, Picture};
use wakepath_experiments::{
    Experiment, Guest, GuestRun, Page, Repeated, all, findings, findings_text, named,
};
use wakepath_explain::Explanation;
use wakepath_scenario::{KnownCpus, Scenario};
use wakepath_verdict::Outcome;

/// Name of the page in its directory.
const PAGE: &str = "README.md";
/// Name of the directory of a second run of one guest.
const AGAIN: &str = "again";

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
    /// Each of its guests runs with each of these.
    pub seeds: Vec<u64>,
    /// Where its runs lie, each in a directory of its own.
    pub place: PathBuf,
    /// Whether they are there already: an interrupted command goes on where it was.
    pub is_there: bool,
    /// Whether the second run of one guest is there, too.
    pub is_repeated: bool,
}

impl Repetition {
    /// Looks at what there is. Seeds are counted from 1.
    ///
    /// # Errors
    /// [`LabError::OtherRuns`] where something else lies there.
    pub fn of(
        experiment: &'static Experiment,
        cycles: Option<u64>,
        seeds: u64,
        directory: &Path,
    ) -> Result<Self> {
        let source = format!("{} (built in)", experiment.name);
        let known = KnownCpus::first(experiment.cpus);
        let mut scenario = Scenario::parse(experiment.scenario, &source, &known)?;
        if let Some(cycles) = cycles {
            scenario.cycles = cycles;
        }
        let place = directory.join(experiment.name);
        let seeds: Vec<u64> = (1..=seeds.max(1)).collect();
        let is_there = there(experiment, &scenario, &seeds, &place)?;
        let again = Self::again_of(experiment, &place);
        let is_repeated = match is_there {
            true => !place::is_free(&again.1)?,
            false => false,
        };
        Ok(Self {
            is_repeated,
            experiment,
            scenario,
            seeds,
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
            added: GuestAdditions::default(),
        }
    }

    /// The one of its guests that is carried out twice. The last: experiments name the kernel last whose
    /// latencies are the shortest, and show a nanosecond best.
    pub fn asked_again(&self) -> GuestsAsked {
        let kernel = Self::again_of(self.experiment, &self.place).0.kernel;
        GuestsAsked {
            kernels: vec![kernel.to_owned()],
            ..self.asked()
        }
    }

    /// Where the second run of that guest lies.
    pub fn place_again(&self) -> PathBuf {
        self.place.join(AGAIN)
    }

    fn again_of(experiment: &Experiment, place: &Path) -> (Guest, PathBuf) {
        let guest = *experiment.guests.last().unwrap_or(&experiment.guests[0]);
        (guest, place_of(&place.join(AGAIN), &guest, 1, 1))
    }

    /// Compares the two runs of that guest, sample by sample.
    ///
    /// # Errors
    /// [`LabError::Diverged`] where they part; when one can't be read.
    pub fn holds(&self) -> Result<()> {
        let (guest, second) = Self::again_of(self.experiment, &self.place);
        let first = place_of(&self.place, &guest, 1, self.seeds.len());
        match first_divergence(&streams(&first)?, &streams(&second)?) {
            None => Ok(()),
            Some(divergence) => Err(LabError::Diverged {
                guest: format!("{}, {}", self.experiment.name, guest.name),
                divergence: Box::new(divergence),
                first,
                second,
            }),
        }
    }

    /// The seed of the run that is made once more.
    pub fn seed_again(&self) -> u64 {
        self.seeds[0]
    }

    /// The runs of its guests, of each with all seeds.
    pub fn runs(&self) -> impl Iterator<Item = (Guest, Result<Run>)> {
        let guests = self.experiment.guests.iter();
        guests.flat_map(|guest| {
            self.seeds.iter().map(|&seed| {
                let place = place_of(&self.place, guest, seed, self.seeds.len());
                (*guest, Run::open(&place).map_err(LabError::from))
            })
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
) -> Result<GuestRun> {
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

/// Where a guest's run with one of so many seeds lies.
fn place_of(place: &Path, guest: &Guest, seed: u64, seeds: usize) -> PathBuf {
    let name = guests::Guest::name_with(guest.kernel, seed, seeds);
    place.join(guests::Guest::directory_name(&name))
}

fn there(
    experiment: &Experiment,
    scenario: &Scenario,
    seeds: &[u64],
    place: &Path,
) -> Result<bool> {
    if place::is_free(place)? {
        return Ok(false);
    }
    let guests = experiment.guests.iter();
    let wanted = guests.flat_map(|guest| seeds.iter().map(move |&seed| (guest, seed)));
    for (guest, seed) in wanted {
        let run = place_of(place, guest, seed, seeds.len());
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
    findings_text(repeated)
        + &format!(
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
            "seed": run.virtual_time.as_ref().map(|time| time.seed),
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
