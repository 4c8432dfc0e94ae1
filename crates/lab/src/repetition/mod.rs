//! Repeats published experiments: guests still to run, a check that one repeats, results.
//!
//! The room `experiments` describes the experiments and their claims.

mod existing;
mod given;
mod shown;

pub use given::{GivenGuest, GivenKernel};
pub use shown::{guest_run, to_json, to_text};

use crate::architecture::Architecture;
use crate::asked::{GuestsAsked, HostAsked};
use crate::divergence::{differences, first_divergence};
use crate::host::Host;
use crate::recorded::streams;
use crate::{ExperimentError, LabError, Result, own_program};
use existing::{place_of, there};
use std::path::{Path, PathBuf};
use wakepath_archive::{GuestAdditions, MANIFEST_NAME, Run};
use wakepath_experiments::{Experiment, Guest, SecondRun, all, named};
use wakepath_scenario::{KnownCpus, Scenario};

/// CPU time in which a guest boots, in seconds.
const BOOT_SECONDS: f64 = 8.0;
/// Name of the directory of a second run of one guest.
const AGAIN: &str = "again";

/// The experiments with these names; all if none is given.
///
/// # Errors
/// [`ExperimentError::NoExperiment`].
pub fn chosen_experiments(names: &[String]) -> Result<Vec<&'static Experiment>> {
    if names.is_empty() {
        return Ok(all().iter().collect());
    }
    let find = |name: &String| {
        let unknown = || ExperimentError::NoExperiment { name: name.clone() };
        Ok(named(name).ok_or_else(unknown)?)
    };
    names.iter().map(find).collect()
}

/// An experiment to repeat in a directory.
pub struct Repetition {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// Its scenario.
    pub scenario: Scenario,
    /// Each of its guests runs with each of these.
    pub seeds: Vec<u64>,
    /// Directory of its runs, one subdirectory each.
    pub place: PathBuf,
    /// Whether the runs exist already: an interrupted command resumes.
    pub is_there: bool,
    /// The existing ones.
    pub done: Vec<PathBuf>,
    /// Whether the second run of one guest exists already, too.
    pub has_second_run: bool,
    /// The kernels that were given for it.
    pub given: Vec<GivenGuest>,
}

impl Repetition {
    /// Examines the existing runs. Seeds count from 1.
    ///
    /// # Errors
    /// [`ExperimentError::OtherRuns`] if something else is there.
    pub fn new(
        experiment: &'static Experiment,
        cycles: Option<u64>,
        seeds: u64,
        directory: &Path,
        kernels: &[GivenKernel],
    ) -> Result<Self> {
        let source = format!("{} (built in)", experiment.name);
        let known = KnownCpus::first(experiment.cpus);
        let mut scenario = Scenario::parse(experiment.scenario, &source, &known)?;
        if let Some(cycles) = cycles {
            scenario.cycles = cycles;
        }
        let place = directory.join(experiment.name);
        let seeds: Vec<u64> = (1..=seeds.max(1)).collect();
        let wanted = experiment.guests.iter().flat_map(|guest| {
            seeds
                .iter()
                .map(|&seed| place_of(&place, guest.kernel, seed, seeds.len()))
        });
        let (is_there, done) = there(&scenario, wanted, &place)?;
        let has_second_run = has_second_run(experiment, &scenario, &place)?;
        let given = experiment.given.iter().filter_map(|given| {
            let found = kernels.iter().find(|kernel| kernel.key == given.key)?;
            Some((given, found.kernel.clone()))
        });
        let given = given.map(|(given, kernel)| {
            let text = given.scenario(experiment);
            let source = format!("{}, {} (built in)", experiment.name, given.name);
            let mut scenario = Scenario::parse(&text, &source, &known)?;
            scenario.cycles = cycles.unwrap_or(scenario.cycles);
            let place = place.join(given.key);
            let runs = seeds
                .iter()
                .map(|&seed| place_of(&place, &kernel, seed, seeds.len()));
            let (is_there, done) = there(&scenario, runs, &place)?;
            Ok(GivenGuest {
                given,
                scenario,
                place,
                is_there,
                done,
                kernel,
            })
        });
        let given = given.collect::<Result<_>>()?;
        Ok(Self {
            given,
            has_second_run,
            experiment,
            scenario,
            seeds,
            place,
            is_there,
            done,
        })
    }

    /// Its guests.
    pub fn asked(&self) -> GuestsAsked {
        let guests = self.experiment.guests.iter();
        GuestsAsked {
            kernels: guests.map(|guest| guest.kernel.to_owned()).collect(),
            variants: Vec::new(),
            architecture: Architecture::X86_64.to_string(),
            cpus: self.experiment.cpus,
            topology: None,
            before: Vec::new(),
            ns_per_instruction: 1,
            memory_mib: 1024,
            added: GuestAdditions {
                disk: self.experiment.disk.map(str::to_owned),
                ..GuestAdditions::default()
            },
        }
    }

    /// The guest that is run twice. The last one: experiments list the kernel with the shortest
    /// latencies last, which shows differences of a nanosecond best.
    pub fn asked_again(&self) -> GuestsAsked {
        let kernel = Self::again_of(self.experiment, &self.place).0.kernel;
        GuestsAsked {
            kernels: vec![kernel.to_owned()],
            ..self.asked()
        }
    }

    /// The guest of a kernel that was given.
    pub fn asked_of(&self, given: &GivenGuest) -> GuestsAsked {
        GuestsAsked {
            kernels: vec![given.kernel.clone()],
            ..self.asked()
        }
    }

    /// Whether any of its runs exists.
    pub fn has_runs(&self) -> bool {
        !self.done.is_empty() || self.given.iter().any(|one| !one.done.is_empty())
    }

    /// Checks that the guests that are left get the wakepath of the existing runs: another program takes other paths.
    /// A build from no repository has no version to compare.
    ///
    /// # Errors
    /// [`ExperimentError::OtherProgram`]; if the program or a run can't be read.
    pub fn has_the_program_of_its_runs(&self, on: &HostAsked, host: &Host) -> Result<()> {
        let program =
            own_program::find(on.program.as_deref(), &host.program, Architecture::X86_64)?;
        let bytes = std::fs::read(&program);
        let bytes = bytes.map_err(|error| LabError::io("read", &program, error))?;
        let Some(now) = own_program::version_in(&bytes) else {
            return Ok(());
        };
        let given = self.given.iter().flat_map(|one| &one.done);
        for run in self.done.iter().chain(given) {
            let was = Run::open(run)?.manifest.tool.version;
            if was != now {
                let run = run.clone();
                return Err(ExperimentError::OtherProgram { run, was, now }.into());
            }
        }
        Ok(())
    }

    /// Guests that are still to run, the second run of one included.
    pub fn guests_left(&self) -> usize {
        let seeds = self.seeds.len();
        let packages = self.experiment.guests.len() * seeds - self.done.len();
        let given = self.given.iter().map(|one| seeds - one.done.len());
        packages + given.sum::<usize>() + usize::from(!self.has_second_run)
    }

    /// Time that they take, `at_once` of them together, each on a CPU of its own.
    pub fn seconds_left(&self, at_once: usize) -> f64 {
        let known = KnownCpus::first(self.experiment.cpus);
        let own = Scenario::parse(self.experiment.scenario, self.experiment.name, &known);
        let times = own.map_or(1.0, |own| self.scenario.cycles as f64 / own.cycles as f64);
        let measuring = (self.experiment.host_seconds - BOOT_SECONDS).max(0.0);
        let of_each = BOOT_SECONDS + measuring * times;
        of_each * self.guests_left().div_ceil(at_once.max(1)) as f64
    }

    /// Directory of that guest's second run.
    pub fn place_again(&self) -> PathBuf {
        self.place.join(AGAIN)
    }

    /// The first run of that guest.
    pub fn first_run(&self) -> PathBuf {
        let (guest, _) = Self::again_of(self.experiment, &self.place);
        place_of(
            &self.place,
            guest.kernel,
            self.seed_again(),
            self.seeds.len(),
        )
    }

    fn again_of(experiment: &Experiment, place: &Path) -> (Guest, PathBuf) {
        let guest = *experiment.guests.last().unwrap_or(&experiment.guests[0]);
        (guest, place_of(&place.join(AGAIN), guest.kernel, 1, 1))
    }

    /// Whether a guest that does not repeat stops the experiment. The emulator promises nothing for several CPUs.
    pub fn must_repeat(&self) -> bool {
        self.experiment.cpus == 1
    }

    /// Compares the two runs of that guest, sample by sample. The second one can have run since this was made.
    ///
    /// # Errors
    /// [`ExperimentError::Diverged`] if they differ although they must not; if one can't be read.
    pub fn second_run(&self) -> Result<SecondRun> {
        if !has_second_run(self.experiment, &self.scenario, &self.place)? {
            return Ok(SecondRun::None);
        }
        let (guest, second) = Self::again_of(self.experiment, &self.place);
        let first = self.first_run();
        let both = [streams(&first)?, streams(&second)?];
        match first_divergence(&both[0], &both[1]) {
            None => Ok(SecondRun::Same),
            Some(_) if !self.must_repeat() => {
                let found = differences(&both[0], &both[1]);
                Ok(SecondRun::Differs {
                    guest: guest.name,
                    cycles: found.differ,
                    of: found.of,
                    largest_ns: found.largest_ns,
                })
            }
            Some(divergence) => Err(ExperimentError::Diverged {
                guest: format!("{}, {}", self.experiment.name, guest.name),
                divergence: Box::new(divergence),
                first,
                second,
            }
            .into()),
        }
    }

    /// Seed of the repeated run.
    pub fn seed_again(&self) -> u64 {
        self.seeds[0]
    }

    /// The runs of its guests, of each with all seeds; `None` for one that has not run.
    pub fn runs(&self) -> impl Iterator<Item = (Guest, Result<Option<Run>>)> {
        let packages = self.experiment.guests.iter();
        let packages = packages.map(|guest| (*guest, &self.place, guest.kernel));
        let given = self.given.iter().map(|one| {
            let guest = Guest {
                name: one.given.name,
                kernel: one.given.key,
                boot: None,
            };
            (guest, &one.place, &*one.kernel)
        });
        packages
            .chain(given)
            .flat_map(move |(guest, place, kernel)| {
                self.seeds.iter().map(move |&seed| {
                    let run = place_of(place, kernel, seed, self.seeds.len());
                    let is_done = run.join(MANIFEST_NAME).is_file();
                    let opened = is_done.then(|| Run::open(&run)).transpose();
                    (guest, opened.map_err(LabError::from))
                })
            })
    }
}

/// Whether the second run of one of its guests exists, by the rule for the others.
fn has_second_run(experiment: &Experiment, scenario: &Scenario, place: &Path) -> Result<bool> {
    let (_, second) = Repetition::again_of(experiment, place);
    Ok(there(scenario, std::iter::once(second), &place.join(AGAIN))?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_second_run_exists_by_the_same_rule_as_the_first_ones() {
        let directory = tempfile::tempdir().unwrap();
        let experiment = named("aura-100hz").unwrap();
        let before = Repetition::new(experiment, None, 10, directory.path(), &[]).unwrap();
        assert!(!before.has_second_run);
        assert_eq!(before.second_run().unwrap(), SecondRun::None);
        assert_eq!(before.guests_left(), 11);
        // Remains of a stopped guest are no run, and are removed.
        let (_, second) = Repetition::again_of(experiment, &before.place);
        fs::create_dir_all(&second).unwrap();
        fs::write(second.join("console.log"), "stopped").unwrap();
        assert_eq!(before.second_run().unwrap(), SecondRun::None);
        assert!(!second.exists());
        // Anything else is neither a run nor removed.
        fs::create_dir_all(&second).unwrap();
        fs::write(second.join("samples.log"), "cut off").unwrap();
        let refused = before.second_run().unwrap_err().to_string();
        let remedy = format!("remove {}", before.place.join(AGAIN).display());
        assert!(refused.contains(&remedy), "{refused}");
        assert!(second.join("samples.log").exists());
    }
}
