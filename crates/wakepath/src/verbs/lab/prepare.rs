//! From what a person asks for to guests that can boot: kernels × variants × seeds, each with its
//! initramfs and its machine.

use super::guests::{Guest, Limit};
use super::words::words;
use crate::command_line::{LabGuests, VERSION};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wakepath_lab::{
    Architecture, Cache, Initramfs, Kernel, KernelName, Machine, Order, OrderedCommand, Qemu,
    Wanted, fetch_programs, find_program, parameters, shift_of, turn_ns, version_in,
};
use wakepath_measure::own_executable;
use wakepath_scenario::{LoadKind, Scenario, Work};

/// CPU time on this host that a guest may take for booting, for a command, and for each second of each
/// CPU. Measured on an idle machine: 18 s and 6 s; the rest is for busy ones.
const BOOT_LIMIT_S: u64 = 300;
const COMMAND_LIMIT_S: u64 = 300;
const LIMIT_PER_SECOND: u64 = 60;
/// How much longer than the CPU time the time may be: a busy host lets a guest wait.
const BUSY_HOST: u32 = 10;

type Failure = Box<dyn std::error::Error>;

/// The laboratory's own downloads.
pub fn cache() -> Cache {
    Cache::of_this_user().telling(|what| eprintln!("{what}"))
}

/// What all guests of a laboratory have in common.
pub struct Laboratory<'a> {
    options: &'a LabGuests,
    commands: Vec<OrderedCommand>,
    architecture: Architecture,
    /// The wakepath that runs in them.
    program: PathBuf,
    /// The emulator.
    pub qemu: Qemu,
    kernels: Vec<Chosen>,
}

/// A kernel as `--kernel` has it.
struct Chosen {
    /// As the user called it.
    called: String,
    /// Parameters of its own.
    parameters: String,
    kernel: Kernel,
}

/// What the guests do.
pub struct Task<'a> {
    /// A command after those that come before.
    pub command: Option<&'a [String]>,
    /// What is measured then.
    pub scenario: Option<&'a Scenario>,
    /// Seeds; each makes a guest of its own.
    pub seeds: &'a [u64],
}

impl<'a> Laboratory<'a> {
    /// Finds emulator and kernels.
    pub fn new(options: &'a LabGuests) -> Result<Self, Failure> {
        shift_of(options.ns_per_instruction)?;
        let commands = options.before.iter().map(|text| ordered(text));
        let commands = commands
            .collect::<Result<_, _>>()
            .map_err(|error| format!("--before {error}"))?;
        let architecture = Architecture::parse(&options.architecture).ok_or_else(|| {
            let given = &options.architecture;
            let all = Architecture::ALL.map(|one| one.to_string()).join(", ");
            format!("--architecture {given}: a guest is one of {all}")
        })?;
        let own = std::fs::canonicalize(own_executable())?;
        let program = find_program(options.host.program.as_deref(), &own, architecture)?;
        if program != own {
            tell_of(&program)?;
        }
        let cache = cache();
        let emulator = options.host.emulator.as_deref();
        let qemu = Qemu::find(emulator, architecture, options.cpus, &cache)?;
        let parse = |called: &'a String| {
            let (name, parameters) = name_and_parameters(called);
            KernelName::parse(name, architecture).map(|name| (called, name, parameters))
        };
        let names: Vec<_> = options.kernel.iter().map(parse).collect::<Result<_, _>>()?;
        let fetch = |(called, name, parameters): (&'a String, KernelName, &str)| {
            name.fetch(architecture, &cache).map(|kernel| Chosen {
                called: called.clone(),
                parameters: parameters.to_owned(),
                kernel,
            })
        };
        let kernels = names.into_iter().map(fetch).collect::<Result<_, _>>()?;
        Ok(Self {
            options,
            commands,
            architecture,
            program,
            qemu,
            kernels,
        })
    }

    /// How many guests run side by side at most.
    pub fn beside(&self) -> usize {
        match self.options.host.beside {
            Some(beside) => beside.into(),
            None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }

    /// Time on this host that a guest may take.
    pub fn limit(&self, task: &Task) -> Result<Limit, Failure> {
        if let Some(text) = &self.options.host.timeout {
            let limit = wakepath_scenario::units::parse_duration(text);
            let limit = limit.map_err(|complaint| format!("--timeout {text}: {complaint}"))?;
            let elapsed = Duration::from_nanos(limit);
            return Ok(Limit {
                elapsed,
                cpu_time: elapsed,
            });
        }
        let commands = self.commands.len() as u64 + u64::from(task.command.is_some());
        let measuring_ns = task.scenario.map_or(0, Scenario::estimated_run_ns);
        let cpus = u64::from(self.options.cpus);
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

    /// The guests, each with a directory in `directory`; their initramfs lie there too.
    pub fn guests(&self, task: &Task, directory: &Path) -> Result<Vec<Guest>, Failure> {
        std::fs::create_dir_all(directory)
            .map_err(|error| format!("{}: {error}", directory.display()))?;
        let mut guests = Vec::new();
        for &seed in task.seeds {
            let packed: Vec<_> = (0..self.kernels.len())
                .map(|index| self.initramfs(task, seed, index, directory))
                .collect::<Result<_, _>>()?;
            let variants =
                std::iter::once("").chain(self.options.variant.iter().map(String::as_str));
            for variant in variants {
                for (chosen, initramfs) in self.kernels.iter().zip(&packed) {
                    let mut name = chosen.called.clone();
                    if !variant.is_empty() {
                        name += &format!(" {variant}");
                    }
                    if task.seeds.len() > 1 {
                        name += &format!(" seed {seed}");
                    }
                    guests.push(Guest {
                        directory: directory.join(Guest::directory_name(&name)),
                        name,
                        kernel: chosen.kernel.clone(),
                        machine: self.machine(&format!("{} {variant}", chosen.parameters), seed)?,
                        initramfs: initramfs.clone(),
                        before: self.options.before.clone(),
                    });
                }
            }
        }
        let mut places: Vec<&PathBuf> = guests.iter().map(|guest| &guest.directory).collect();
        places.sort();
        match places.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("two guests would be called {}", pair[0].display()).into()),
            None => Ok(guests),
        }
    }

    /// Programs that the guest needs: this host's, or where the guest can't run those, out of Debian's
    /// packages.
    fn wanted(&self, programs: Vec<(String, &'static str)>) -> Result<Vec<Wanted>, Failure> {
        let is_own = Architecture::of_this_program() == Some(self.architecture);
        let mut wanted = Vec::new();
        for (program, package) in programs {
            wanted.push(match is_own || package == THAT_HOLDS_IT {
                true => Wanted::OfThisHost { program, package },
                false => Wanted::Unpacked {
                    root: fetch_programs(package, self.architecture, &cache())?,
                    program,
                },
            });
        }
        Ok(wanted)
    }

    fn machine(&self, text: &str, seed: u64) -> Result<Machine, Failure> {
        Ok(Machine {
            architecture: self.architecture,
            ns_per_instruction: self.options.ns_per_instruction,
            seed,
            cpus: self.options.cpus,
            memory_mib: self.options.memory,
            parameters: parameters(text)?,
        })
    }

    /// Its file and that file's SHA-256.
    fn initramfs(
        &self,
        task: &Task,
        seed: u64,
        kernel: usize,
        directory: &Path,
    ) -> Result<(PathBuf, String), Failure> {
        let mut commands = self.commands.clone();
        commands.extend(task.command.map(|words| OrderedCommand {
            words: words.to_vec(),
            may_fail: true,
        }));
        let mut further = task.scenario.map_or(Ok(Vec::new()), programs)?;
        let called = commands.iter().filter_map(|command| command.words.first());
        let called = called.filter(|name| name.contains('/'));
        further.extend(called.map(|path| (path.clone(), THAT_HOLDS_IT)));
        let order = Order {
            commands,
            scenario: task.scenario.map(Scenario::to_toml),
            ns_per_instruction: self.options.ns_per_instruction,
            seed,
            cpus: self.options.cpus,
            turn_ns: turn_ns(self.architecture, self.options.cpus),
            caches_bytes: self.architecture.caches_bytes(),
        };
        let libraries = task.scenario.map_or(Vec::new(), libraries);
        let config = self.kernels[kernel].kernel.config.as_deref();
        let packed = Initramfs::build(
            self.architecture,
            &self.program,
            &order,
            &self.wanted(further)?,
            &libraries,
            config,
        )?;
        let path = directory.join(format!("initramfs-{kernel}-{seed}.cpio"));
        std::fs::write(&path, &packed.bytes)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok((path, packed.sha256))
    }
}

/// A kernel's name and the parameters that follow it; a file whose name holds a space is one name.
fn name_and_parameters(called: &str) -> (&str, &str) {
    match called.split_once(' ') {
        Some((name, parameters)) if !Path::new(called).exists() => (name, parameters.trim()),
        _ => (called, ""),
    }
}

/// Says which program runs in the guests, and where it is of another version than this one: what it
/// measures is then that version's.
fn tell_of(program: &Path) -> Result<(), Failure> {
    let place = program.display();
    eprintln!("in the guests: {place}");
    let bytes = std::fs::read(program).map_err(|error| format!("{place}: {error}"))?;
    let found = version_in(&bytes);
    if found.as_deref() != Some(VERSION) {
        let found = found.unwrap_or_else(|| "of a version that it does not say".into());
        eprintln!(
            "warning: {place} is {found}, this wakepath is {VERSION}: build it anew, or name another \
             with `--program`"
        );
    }
    Ok(())
}

/// A command as `--before` has it: a dash before it lets it fail.
fn ordered(text: &str) -> Result<OrderedCommand, String> {
    let (may_fail, command) = match text.strip_prefix('-') {
        Some(command) => (true, command),
        None => (false, text),
    };
    let words = words(command)?;
    Ok(OrderedCommand { words, may_fail })
}

/// In place of a package's name where none is known.
const THAT_HOLDS_IT: &str = "that holds it, or give its path";

/// Programs that the loads start, with their packages.
fn programs(scenario: &Scenario) -> Result<Vec<(String, &'static str)>, String> {
    let loads = scenario.phases.iter().flat_map(|phase| &phase.loads);
    let mut needed = Vec::new();
    for load in loads {
        let (program, package) = match &load.kind {
            LoadKind::StressNg { .. } => ("stress-ng", "stress-ng"),
            LoadKind::Fio { .. } => ("fio", "fio"),
            LoadKind::Hackbench { .. } => ("hackbench", "rt-tests"),
            LoadKind::Bonnie { .. } => ("bonnie++", "bonnie++"),
            LoadKind::Iperf3 { .. } => ("iperf3", "iperf3"),
            LoadKind::Wget => ("wget", "wget"),
            LoadKind::Glmark2 { .. } => {
                return Err("load glmark2: a guest has no graphics; leave it out".into());
            }
            LoadKind::Command { command } => {
                let program = command.first().map_or("", String::as_str);
                needed.push((program.to_owned(), THAT_HOLDS_IT));
                continue;
            }
            _ => continue,
        };
        needed.push((program.to_owned(), package));
    }
    needed.dedup();
    Ok(needed)
}

/// Shared libraries that hold a controller.
fn libraries(scenario: &Scenario) -> Vec<String> {
    let works = scenario.tasks.iter().map(|task| &task.work);
    works
        .filter_map(|work| match work {
            Work::Library(library) => Some(library.library.clone()),
            _ => None,
        })
        .collect()
}
