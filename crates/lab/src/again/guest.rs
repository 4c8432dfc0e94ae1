//! Prepares the guest of a run once more.
//!
//! Everything must match the run's manifest. Files named in a manifest are compared, never started
//! unchecked.

use super::error::AgainError;
use super::kept_symbols::{KALLSYMS, kept_symbols};
use crate::architecture::Architecture;
use crate::asked::{GuestsAsked, HostAsked};
use crate::guests::{Guest, Limit};
use crate::host::Host;
use crate::laboratory::{Laboratory, Task};
use crate::machine::argument;
use crate::qemu::Qemu;
use crate::window::Symbols;
use std::path::{Path, PathBuf};
use wakepath_archive::{Emulator, GuestAdditions, Run, VirtualTime};
use wakepath_guest::order::{ENTROPY, MODULE_SYMBOLS_NAME};
use wakepath_scenario::{KnownCpus, Scenario};

type Result<T> = std::result::Result<T, AgainError>;

/// Directory in which the guest runs, inside the run's own.
const PLACE: &str = "window.partial";

/// The guest of a run.
pub struct Again {
    /// The guest.
    pub guest: Guest,
    /// Its emulator.
    pub qemu: Qemu,
    /// Time limit.
    pub limit: Limit,
    /// The run that it must make again.
    pub run: PathBuf,
    /// Virtual nanoseconds that pass with each instruction.
    pub ns_per_instruction: u32,
    /// The kernel's list of functions, if cached.
    pub symbols: Option<String>,
    /// Otherwise a guest that prints it.
    pub telling: Option<(Guest, Limit)>,
    /// Functions of the modules that the run had loaded, as it recorded them.
    module_symbols: String,
}

impl Again {
    /// Prepares it. `kernel` replaces the name in the run, if that name means another kernel now.
    pub fn new(run: &Run, kernel: Option<&str>, on: &HostAsked, host: &Host) -> Result<Self> {
        let place = run.directory();
        let no_laboratory = || AgainError::NoLaboratory {
            run: place.to_owned(),
        };
        let time = run
            .manifest
            .virtual_time
            .as_ref()
            .ok_or_else(no_laboratory)?;
        let emulator = time.emulator.as_ref().ok_or_else(no_laboratory)?;
        if time.cpus != 1 {
            return Err(AgainError::Cpus {
                run: place.to_owned(),
                cpus: time.cpus,
            });
        }
        let guests = architecture(emulator);
        if guests != Architecture::X86_64 {
            return Err(AgainError::Architecture {
                run: place.to_owned(),
                architecture: guests,
            });
        }
        let parameters = parameters(emulator).ok_or_else(|| unlike(place, "its machine"))?;
        let memory = argument(&emulator.arguments, "-m").and_then(|m| m.parse().ok());
        let memory = memory.ok_or_else(|| unlike(place, "its memory"))?;
        let asked = asked(time, emulator, &parameters, memory, kernel);
        let source = place.display().to_string();
        let known = KnownCpus::first(1);
        let scenario = &run.manifest.scenario.toml;
        let scenario = Scenario::parse(scenario, &source, &known).map_err(crate::LabError::from)?;
        let directory = place.join(PLACE);
        let _ = std::fs::remove_dir_all(&directory);
        let laboratory = Laboratory::new(&asked, on, host)?;
        let task = Task {
            command: None,
            scenario: Some(&scenario),
            hunt: None,
            seeds: &[time.seed],
        };
        let guests = laboratory.guests(&task, &directory)?;
        let limit = laboratory.limit(&task)?;
        let prepared = <[Guest; 1]>::try_from(guests)
            .map_err(|_| unlike(place, "its guest"))
            .and_then(|[mut guest]| {
                // With older versions of wakepath the guest unpacked its kernel itself, which took
                // instructions.
                if emulator_started(emulator, &guest.kernel.path) {
                    guest.kernel.started.clone_from(&guest.kernel.path);
                }
                refuse_other(place, &guest, &laboratory.qemu, emulator)?;
                let symbols = kept_symbols(&host.cache(), &guest.kernel.sha256)?;
                let telling = match &symbols {
                    Some(_) => None,
                    None => Some(telling(&asked, on, host, &directory)?),
                };
                Ok((guest, symbols, telling))
            });
        let (guest, symbols, telling) = prepared.inspect_err(|_| {
            let _ = std::fs::remove_dir_all(&directory);
        })?;
        Ok(Self {
            guest,
            qemu: laboratory.qemu,
            limit,
            run: place.to_owned(),
            ns_per_instruction: time.ns_per_instruction,
            symbols,
            module_symbols: module_symbols(run)?,
            telling,
        })
    }

    /// Functions of the run's kernel and its modules, from the kernel's list.
    pub fn symbols_of(&self, list: &str) -> Result<Symbols> {
        Ok(Symbols::with_modules(list, &self.module_symbols)?)
    }

    /// Removes temporary files.
    pub fn clean_up(&self) {
        let _ = std::fs::remove_dir_all(self.run.join(PLACE));
    }
}

/// The list that the run's guest sent home; empty if it had no modules.
fn module_symbols(run: &Run) -> Result<String> {
    let read = run.read_beside(MODULE_SYMBOLS_NAME);
    let bytes = read.map_err(|error| {
        crate::LabError::io("read", &run.directory().join(MODULE_SYMBOLS_NAME), error)
    })?;
    Ok(bytes.map_or_else(String::new, |bytes| {
        String::from_utf8_lossy(&bytes).into_owned()
    }))
}

fn unlike(run: &Path, what: &'static str) -> AgainError {
    AgainError::Unlike {
        run: run.to_owned(),
        what,
    }
}

/// A guest with the same kernel that prints its list of functions.
fn telling(
    asked: &GuestsAsked,
    on: &HostAsked,
    host: &Host,
    directory: &Path,
) -> Result<(Guest, Limit)> {
    let asked = GuestsAsked {
        variants: Vec::new(),
        before: Vec::new(),
        ns_per_instruction: 1,
        kernels: asked.kernels.clone(),
        architecture: asked.architecture.clone(),
        added: GuestAdditions::default(),
        ..*asked
    };
    let on = HostAsked {
        emulator: on.emulator.clone(),
        ..HostAsked::default()
    };
    let laboratory = Laboratory::new(&asked, &on, host)?;
    let command = ["/bin/cat".to_owned(), KALLSYMS.to_owned()];
    let task = Task {
        command: Some(&command),
        scenario: None,
        hunt: None,
        seeds: &[1],
    };
    let mut guests = laboratory.guests(&task, &directory.join("symbols"))?;
    let limit = laboratory.limit(&task)?;
    let guest = guests
        .pop()
        .ok_or_else(|| unlike(directory, "its kernel"))?;
    Ok((guest, limit))
}

/// The architecture, from the emulator's name.
fn architecture(emulator: &Emulator) -> Architecture {
    let program = emulator.arguments.first().map_or("", String::as_str);
    let mut all = Architecture::ALL.into_iter();
    all.find(|one| program.ends_with(one.emulator()))
        .unwrap_or(Architecture::X86_64)
}

/// Whether the emulator was given a file of this name.
fn emulator_started(emulator: &Emulator, kernel: &Path) -> bool {
    let given = argument(&emulator.arguments, "-kernel").map(Path::new);
    given.is_some_and(|given| given.file_name() == kernel.file_name())
}

/// The kernel's parameters that the variant consists of: those between the laboratory's own.
fn parameters(emulator: &Emulator) -> Option<String> {
    let line = argument(&emulator.arguments, "-append")?;
    let (before, _) = line.split_once("rdinit=")?;
    // Guests of an older wakepath did not trust the CPU.
    let own = ["random.trust_cpu=off", "tsc=reliable"];
    let from = own
        .iter()
        .chain(&ENTROPY)
        .filter_map(|word| Some(before.rfind(word)? + word.len()))
        .max()?;
    Some(before[from..].trim().to_owned())
}

/// The options given for the original run.
fn asked(
    time: &VirtualTime,
    emulator: &Emulator,
    parameters: &str,
    memory_mib: u32,
    kernel: Option<&str>,
) -> GuestsAsked {
    // Kernel and variant are its name; a seed of several is not.
    let seed = format!(" seed {}", time.seed);
    let name = emulator.kernel.as_str();
    let name = name.strip_suffix(&seed).unwrap_or(name);
    let kernel = match kernel {
        Some(given) => format!("{given} {parameters}"),
        None => name.to_owned(),
    };
    GuestsAsked {
        kernels: vec![kernel.trim_end().to_owned()],
        variants: Vec::new(),
        architecture: architecture(emulator).to_string(),
        cpus: 1,
        topology: None,
        before: emulator.before.clone(),
        ns_per_instruction: time.ns_per_instruction,
        memory_mib,
        added: emulator.added.clone(),
    }
}

/// Refuses any difference: it would make another guest, with other times.
fn refuse_other(run: &Path, guest: &Guest, qemu: &Qemu, emulator: &Emulator) -> Result<()> {
    let run_of = || run.to_owned();
    if guest.kernel.sha256 != emulator.kernel_sha256 {
        return Err(AgainError::Kernel {
            run: run_of(),
            kernel: emulator.kernel.clone(),
            package: emulator.kernel_package.clone(),
        });
    }
    if qemu.version != emulator.version {
        return Err(AgainError::Emulator {
            run: run_of(),
            was: emulator.version.clone(),
            is: qemu.version.clone(),
        });
    }
    if guest.initramfs.sha256 != emulator.initramfs_sha256 {
        return Err(AgainError::Initramfs { run: run_of() });
    }
    let paths = ["-kernel", "-initrd"].map(|name| argument(&emulator.arguments, name));
    let [Some(kernel), Some(initramfs)] = paths else {
        return Err(unlike(run, "its machine"));
    };
    let machine = guest
        .machine
        .arguments(Path::new(kernel), Path::new(initramfs))?;
    if emulator.arguments.ends_with(&machine) {
        Ok(())
    } else {
        Err(unlike(run, "its machine"))
    }
}
