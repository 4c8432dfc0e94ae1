//! The machine that a task set is to run on, as a recorded run knows it: its name, its CPUs, what
//! its kernel admits under SCHED_DEADLINE.

use std::path::PathBuf;
use wakepath_archive::Run;
use wakepath_machine::Facts;
use wakepath_schedulability::sched_deadline::KernelLimit;

/// A machine of a recorded run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunMachine {
    /// The run that describes it.
    pub run: PathBuf,
    /// As a person reads it.
    pub name: String,
    /// How many CPUs it has.
    pub cpus: u16,
    /// What its kernel admits.
    pub admission: KernelLimit,
    /// Settings that the run doesn't record, so that Linux's defaults were assumed.
    pub unknown: Vec<&'static str>,
    /// Its identity.
    identity: Identity,
}

/// Identity of a machine: hardware, processors, kernel; not the boot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Identity(Option<[serde_json::Value; 4]>);

/// Why a run's machine is unknown, or isn't the requested one.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// No facts in the run.
    #[error("{0}: has no facts about its machine; give a run that wakepath measured")]
    NoFacts(PathBuf),
    /// Another machine than the one that the tasks run on.
    #[error(
        "{run} was measured on another machine ({other}) than {on} ({name}); give a run of that \
         machine, or --other-machine to use its costs anyway"
    )]
    Another {
        /// The run.
        run: PathBuf,
        /// Its machine.
        other: String,
        /// The run that says which machine it is.
        on: PathBuf,
        /// Its name.
        name: String,
    },
    /// More CPUs asked for than there are.
    #[error("the task set has {asked} CPUs, and {name} has {there}; give cpus = {there} or fewer")]
    TooManyCpus {
        /// By the set.
        asked: u16,
        /// The machine.
        name: String,
        /// Its own.
        there: u16,
    },
}

pub(super) fn identity_of(run: &Run) -> Identity {
    let facts = run.manifest.facts.first().map(|taken| &taken.facts);
    let place = |place| facts.and_then(|facts| facts.pointer(place)).cloned();
    Identity((|| {
        Some([
            place("/fixed/platform")?,
            place("/fixed/cpus")?,
            place("/fixed/kernel/release")?,
            place("/fixed/kernel/version")?,
        ])
    })())
}

impl RunMachine {
    /// The machine of a run.
    ///
    /// # Errors
    /// [`MachineError::NoFacts`].
    pub fn new(run: &Run) -> Result<Self, MachineError> {
        let path = run.directory().to_owned();
        let facts: Option<Facts> = run
            .manifest
            .facts
            .first()
            .and_then(|taken| Facts::of_json(&taken.facts).ok());
        let no_facts = || MachineError::NoFacts(path.clone());
        let facts = facts.ok_or_else(no_facts)?;
        let last = facts.fixed.cpus.places.iter().map(|place| place.cpu).max();
        let cpus = last.and_then(|cpu| cpu.checked_add(1));
        let real_time = &facts.varying.real_time;
        let mut admission = KernelLimit::default();
        let mut unknown = Vec::new();
        match (real_time.runtime_us.known(), real_time.period_us.known()) {
            (Some(runtime), Some(period)) => {
                admission.period_ns = u64::try_from(*period).unwrap_or(0).max(1) * 1000;
                admission.runtime_ns = u64::try_from(*runtime).ok().map(|us| us * 1000);
            }
            _ => unknown.push("kernel.sched_rt_runtime_us"),
        }
        if let Some(us) = real_time.deadline_period_min_us.known() {
            admission.shortest_period_ns = us.saturating_mul(1000);
        }
        if let Some(us) = real_time.deadline_period_max_us.known() {
            admission.longest_period_ns = us.saturating_mul(1000);
        }
        let servers = real_time.fair_server.known();
        match servers {
            // The largest of them, for each: they are alike unless someone changed one.
            Some(servers) => {
                let of = |server: &&wakepath_machine::FairServer| {
                    u128::from(server.runtime_ns) * (1 << 20) / u128::from(server.period_ns.max(1))
                };
                let largest = servers.iter().max_by_key(of);
                admission.server = largest
                    .filter(|server| server.runtime_ns > 0)
                    .map(|server| (server.runtime_ns, server.period_ns));
            }
            None => {
                let release = facts.fixed.kernel.release_numbers();
                if release.is_none_or(|release| (release.major, release.minor) >= (6, 12)) {
                    // From 6.12 on each CPU has one of 50 ms in each second.
                    admission.server = Some((50_000_000, 1_000_000_000));
                    unknown.push("the fair server (needs root)");
                }
            }
        }
        let platform = facts.fixed.platform.name();
        let release = facts.fixed.kernel.release.known().cloned();
        let named = [platform, release.map(|release| format!("Linux {release}"))];
        let name: Vec<String> = named.into_iter().flatten().collect();
        Ok(Self {
            name: match &name[..] {
                [] => "a machine without a name".into(),
                name => name.join(", "),
            },
            cpus: cpus.ok_or_else(no_facts)?,
            admission,
            unknown,
            identity: identity_of(run),
            run: path,
        })
    }

    /// That a run was measured on this machine too.
    ///
    /// # Errors
    /// [`MachineError::Another`].
    pub fn also_of(&self, run: &Run) -> Result<(), MachineError> {
        if identity_of(run) == self.identity {
            return Ok(());
        }
        Err(MachineError::Another {
            run: run.directory().to_owned(),
            other: Self::new(run).map_or_else(|_| "unknown".into(), |other| other.name),
            on: self.run.clone(),
            name: self.name.clone(),
        })
    }

    /// That a set fits onto it.
    ///
    /// # Errors
    /// [`MachineError::TooManyCpus`].
    pub fn holds(&self, cpus: u16) -> Result<(), MachineError> {
        if cpus <= self.cpus {
            Ok(())
        } else {
            Err(MachineError::TooManyCpus {
                asked: cpus,
                name: self.name.clone(),
                there: self.cpus,
            })
        }
    }
}
