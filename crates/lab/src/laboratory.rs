//! Prepares bootable guests from the user's options.
//!
//! Kernels × variants × seeds, each with its initramfs and its machine.

use crate::architecture::Architecture;
use crate::asked::{GuestsAsked, HostAsked};
use crate::disk::{Disk, MAKES};
use crate::fitting::{Added, Chosen, Fitting};
use crate::guests::{Guest, Limit};
use crate::host::Host;
use crate::initramfs::{Content, Initramfs, command_path};
use crate::kernel_name::KernelName;
use crate::machine::{Machine, parameters, shift_of, turn_ns};
use crate::modules::Module;
use crate::needs::{self, THAT_HOLDS_IT};
use crate::programs::Wanted;
use crate::qemu::Qemu;
use crate::topology::TopologyError;
use crate::words::{WordsError, words};
use crate::{LabError, Result, foreign, own_program};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wakepath_guest::order::{HuntOrder, Order, OrderedCommand};
use wakepath_scenario::Scenario;

/// CPU time on this host that a guest can use for booting, for a command, and for each second of
/// each CPU. Measured on an idle machine: 18 s and 6 s; the rest is for busy ones.
const BOOT_LIMIT_S: u64 = 300;
const COMMAND_LIMIT_S: u64 = 300;
const LIMIT_PER_SECOND: u64 = 60;
/// Factor of the time limit over the CPU time limit: a busy host makes a guest wait.
const BUSY_HOST: u32 = 10;

/// Parts that all guests of a laboratory share.
pub struct Laboratory<'a> {
    asked: &'a GuestsAsked,
    on: &'a HostAsked,
    pub(crate) host: &'a Host,
    added: Added,
    commands: Vec<OrderedCommand>,
    architecture: Architecture,
    /// The wakepath that runs in them.
    program: PathBuf,
    /// The emulator.
    pub qemu: Qemu,
    kernels: Vec<Chosen>,
}

/// Work of the guests.
pub struct Task<'a> {
    /// A command after the earlier ones.
    pub command: Option<&'a [String]>,
    /// The scenario to measure after it.
    pub scenario: Option<&'a Scenario>,
    /// A hunt, instead of a scenario.
    pub hunt: Option<&'a HuntOrder>,
    /// Seeds; each makes a separate guest.
    pub seeds: &'a [u64],
}

impl<'a> Laboratory<'a> {
    /// Finds the emulator and the kernels.
    ///
    /// # Errors
    /// If an option can't be parsed, or one of these isn't available.
    pub fn new(asked: &'a GuestsAsked, on: &'a HostAsked, host: &'a Host) -> Result<Self> {
        shift_of(asked.ns_per_instruction)?;
        let added = Added::new(asked)?;
        let commands = asked.before.iter().map(|text| ordered(text));
        let commands = commands
            .collect::<std::result::Result<_, _>>()
            .map_err(LabError::Before)?;
        let given = &asked.architecture;
        let architecture =
            Architecture::parse(given).ok_or_else(|| LabError::ArchitectureName {
                name: given.clone(),
            })?;
        if let Some(topology) = asked.topology {
            topology.fits(asked.cpus, asked.memory_mib)?;
            if architecture != Architecture::X86_64 {
                return Err(TopologyError::Architecture { topology }.into());
            }
        }
        let own = std::fs::canonicalize(&host.program)
            .map_err(|error| LabError::io("find", &host.program, error))?;
        let program = own_program::find(on.program.as_deref(), &own, architecture)?;
        let is_own = program == own;
        if !is_own {
            (host.tell)(&format!("in the guests: {}", program.display()));
        }
        warn_of_another_version(&program, is_own, host)?;
        let cache = host.cache();
        let emulator = on.emulator.as_deref();
        let qemu = Qemu::find(emulator, architecture, asked.cpus, &cache)?;
        let parse = |called: &'a String| {
            let (name, parameters) = name_and_parameters(called);
            KernelName::parse(name, architecture).map(|name| (called, name, parameters))
        };
        let names: Vec<_> = asked.kernels.iter().map(parse).collect::<Result<_>>()?;
        let fetch = |(called, name, parameters): (&'a String, KernelName, &str)| {
            name.fetch(architecture, &cache).map(|kernel| Chosen {
                called: called.clone(),
                name,
                parameters: parameters.to_owned(),
                kernel,
            })
        };
        let kernels = names.into_iter().map(fetch).collect::<Result<_>>()?;
        Ok(Self {
            asked,
            on,
            host,
            added,
            commands,
            architecture,
            program,
            qemu,
            kernels,
        })
    }

    /// Digest of its first kernel's file.
    pub(crate) fn kernel_sha256(&self) -> String {
        let first = self.kernels.first();
        first.map_or_else(String::new, |chosen| chosen.kernel.sha256.clone())
    }

    /// Largest number of guests to run at once.
    pub fn beside(&self) -> usize {
        match self.on.beside {
            Some(beside) => beside.into(),
            None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }

    /// Time limit of a guest on this host.
    ///
    /// # Errors
    /// [`LabError::Timeout`] if the given one can't be parsed.
    pub fn limit(&self, task: &Task) -> Result<Limit> {
        if let Some(text) = &self.on.timeout {
            let limit = wakepath_scenario::units::parse_duration(text);
            let limit = limit.map_err(|complaint| LabError::Timeout {
                given: text.clone(),
                complaint,
            })?;
            let elapsed = Duration::from_nanos(limit);
            return Ok(Limit {
                elapsed,
                cpu_time: elapsed,
            });
        }
        let commands = self.commands.len() as u64 + u64::from(task.command.is_some());
        let measuring_ns = task.scenario.map_or(0, Scenario::estimated_run_ns);
        let cpus = u64::from(self.asked.cpus);
        let cpu_time = Duration::from_secs(
            BOOT_LIMIT_S * cpus
                + COMMAND_LIMIT_S * commands
                + LIMIT_PER_SECOND * cpus * (measuring_ns / 1_000_000_000),
        );
        Ok(Limit {
            elapsed: cpu_time * BUSY_HOST,
            cpu_time,
        })
    }

    /// The guests, each with a directory in `directory`, which is created if nothing is missing.
    ///
    /// # Errors
    /// If a guest would lack something.
    pub fn guests(&self, task: &Task, directory: &Path) -> Result<Vec<Guest>> {
        let planned = self.planned(task, directory)?;
        let modules = self.modules(task)?;
        let mut guests = Vec::new();
        for &seed in task.seeds {
            let build = |kernel| self.initramfs(task, seed, kernel, &modules[kernel]);
            let built = (0..self.kernels.len())
                .map(build)
                .collect::<Result<Vec<_>>>()?;
            std::fs::create_dir_all(directory)
                .map_err(|error| LabError::io("make", directory, error))?;
            let packed = built.into_iter().map(|one| one.keep_in(directory));
            let packed = packed.collect::<Result<Vec<_>>>()?;
            let mine = planned.iter().filter(|planned| planned.seed == seed);
            guests.extend(mine.map(|planned| Guest {
                name: planned.name.clone(),
                directory: planned.directory.clone(),
                kernel: self.kernels[planned.kernel].kernel.clone(),
                machine: planned.machine.clone(),
                initramfs: packed[planned.kernel].clone(),
                before: self.asked.before.clone(),
                added: self.asked.added.clone(),
                repeats: None,
            }));
        }
        Ok(guests)
    }

    /// The guests to run: for each seed all variants, for each variant all kernels.
    fn planned(&self, task: &Task, directory: &Path) -> Result<Vec<Planned>> {
        let mut planned = Vec::new();
        for &seed in task.seeds {
            for variant in self.variants() {
                for (kernel, chosen) in self.kernels.iter().enumerate() {
                    let mut name = chosen.called.clone();
                    if !variant.is_empty() {
                        name += &format!(" {variant}");
                    }
                    name = Guest::name_with(&name, seed, task.seeds.len());
                    planned.push(Planned {
                        seed,
                        kernel,
                        directory: directory.join(Guest::directory_name(&name)),
                        name,
                        machine: self.machine(&format!("{} {variant}", chosen.parameters), seed)?,
                    });
                }
            }
        }
        let mut places: Vec<&PathBuf> = planned.iter().map(|guest| &guest.directory).collect();
        places.sort();
        match places.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(LabError::SameName {
                directory: pair[0].clone(),
            }),
            None => Ok(planned),
        }
    }

    /// Additional kernel parameters: none, then each variant's.
    fn variants(&self) -> impl Iterator<Item = &str> {
        let variants = self.asked.variants.iter().map(String::as_str);
        std::iter::once("").chain(variants)
    }

    /// Modules to load for each kernel, in the kernels' order. Prints what a kernel lacks.
    fn modules(&self, task: &Task) -> Result<Vec<Vec<Module>>> {
        let fitting = Fitting {
            asked: self.asked,
            added: &self.added,
            architecture: self.architecture,
            host: self.host,
            scenario: task.scenario,
        };
        let mut modules = Vec::new();
        for chosen in &self.kernels {
            let own = &chosen.parameters;
            let all = self
                .variants()
                .map(|variant| parameters(&format!("{own} {variant}")));
            modules.push(fitting.modules(chosen, &all.collect::<Result<Vec<_>>>()?)?);
        }
        Ok(modules)
    }

    /// Programs that the guest needs: this host's, or if the guest can't run those, from Debian's
    /// packages.
    fn wanted(&self, programs: Vec<(String, &'static str)>) -> Result<Vec<Wanted>> {
        let is_own = Architecture::of_this_program() == Some(self.architecture);
        let mut wanted = Vec::new();
        for (program, package) in programs {
            wanted.push(if is_own || package == THAT_HOLDS_IT {
                Wanted::OfThisHost { program, package }
            } else {
                Wanted::Unpacked {
                    root: foreign::fetch(package, self.architecture, &self.host.cache())?,
                    program,
                }
            });
        }
        Ok(wanted)
    }

    fn machine(&self, text: &str, seed: u64) -> Result<Machine> {
        Ok(Machine {
            architecture: self.architecture,
            ns_per_instruction: self.asked.ns_per_instruction,
            seed,
            cpus: self.asked.cpus,
            topology: self.asked.topology,
            memory_mib: self.asked.memory_mib,
            parameters: parameters(text)?,
        })
    }

    fn initramfs(
        &self,
        task: &Task,
        seed: u64,
        kernel: usize,
        modules: &[Module],
    ) -> Result<Initramfs> {
        let mut commands = self.commands.clone();
        commands.extend(task.command.map(|words| OrderedCommand {
            words: words.to_vec(),
            may_fail: true,
        }));
        let mut further = task.scenario.map_or(Ok(Vec::new()), needs::programs)?;
        for command in &mut commands {
            if let Some(path) = command.words.first_mut().filter(|word| word.contains('/')) {
                // The guest runs it in another directory than this one.
                *path = std::path::absolute(&*path)
                    .map_err(|error| LabError::io("find", Path::new(&*path), error))?
                    .display()
                    .to_string();
                further.push((path.clone(), THAT_HOLDS_IT));
                *path = command_path(path);
            }
        }
        further.extend(self.added.disk.map(|_| (MAKES.0.to_owned(), MAKES.1)));
        let order = Order {
            disk: self.added.disk.map(Disk::ordered),
            modules: modules.iter().map(Module::ordered).collect(),
            writes: self.added.writes.clone(),
            commands,
            scenario: task.scenario.map(Scenario::to_toml),
            ns_per_instruction: self.asked.ns_per_instruction,
            seed,
            cpus: self.asked.cpus,
            turn_ns: turn_ns(self.architecture, self.asked.cpus),
            hunt: task.hunt.cloned(),
            caches_bytes: self.architecture.caches_bytes(),
        };
        let libraries = task.scenario.map_or(Vec::new(), needs::libraries);
        let master = task.scenario.is_some_and(needs::ethercat);
        let master = master.then(|| own_program::with_master(&self.program, self.architecture));
        let master = master.transpose()?;
        let kernel = &self.kernels[kernel].kernel;
        let config = kernel.config.as_deref().zip(kernel.release.as_deref());
        Initramfs::build(
            self.architecture,
            &self.program,
            &Content {
                order: &order,
                programs: &self.wanted(further)?,
                master: master.as_deref(),
                libraries: &libraries,
                modules,
                brought: &self.added.brought,
                config,
            },
        )
    }
}

/// A guest to run.
struct Planned {
    seed: u64,
    /// Which of the kernels.
    kernel: usize,
    name: String,
    directory: PathBuf,
    machine: Machine,
}

/// A kernel's name and the parameters that follow it; a file whose name contains a space is one
/// name.
fn name_and_parameters(called: &str) -> (&str, &str) {
    match called.split_once(' ') {
        Some((name, parameters)) if !Path::new(called).exists() => (name, parameters.trim()),
        _ => (called, ""),
    }
}

/// Prints the version of the program in the guests if it differs, because it measures as that version does. A build
/// from no repository has none to compare.
fn warn_of_another_version(program: &Path, is_own: bool, host: &Host) -> Result<()> {
    let place = program.display();
    let bytes = std::fs::read(program).map_err(|error| LabError::io("read", program, error))?;
    let found = own_program::version_in(&bytes);
    let version = &host.version;
    if found.as_ref().map_or(!is_own, |found| found != version) {
        let found = found.unwrap_or_else(|| "of a version that it does not say".into());
        (host.tell)(&format!(
            "warning: {place} is {found}, the laboratory is {version}: build it again, or name another \
             with `--program`"
        ));
    }
    Ok(())
}

/// Parses a command: a leading dash allows it to fail.
fn ordered(text: &str) -> std::result::Result<OrderedCommand, WordsError> {
    let (may_fail, command) = match text.strip_prefix('-') {
        Some(command) => (true, command),
        None => (false, text),
    };
    let words = words(command)?;
    Ok(OrderedCommand { words, may_fail })
}
