//! The guest of a run, prepared once more. Everything that the run's manifest says of it must come out
//! the same; what a manifest says is never started as it stands.

use super::{Failure, said};
use crate::command_line::{LabGuests, LabHost, LabWindow};
use crate::verbs::lab::guests::{Guest, Limit};
use crate::verbs::lab::prepare::{Laboratory, Task};
use crate::verbs::lab::run::guest_cpus;
use crate::verbs::measured;
use std::path::{Path, PathBuf};
use wakepath_archive::{Emulator, Run, VirtualTime};
use wakepath_lab::{Architecture, Cache, KALLSYMS, Qemu, kept_symbols};

/// Where the guest runs, inside the run's own directory.
const PLACE: &str = "window.partial";

/// The guest of a run.
pub struct Again {
    /// The guest.
    pub guest: Guest,
    /// Its emulator.
    pub qemu: Qemu,
    /// Time that it may take.
    pub limit: Limit,
    /// The run that it must make again.
    pub run: PathBuf,
    /// Virtual nanoseconds that pass with each instruction.
    pub ns_per_instruction: u32,
    /// The kernel's list of its functions, if it is known already.
    pub symbols: Option<String>,
    /// Else a guest that says it.
    pub telling: Option<(Guest, Limit)>,
    /// Where that is kept.
    pub cache: Cache,
}

impl Again {
    /// Prepares it.
    pub fn of(run: &Run, arguments: &LabWindow, cache: &Cache) -> Result<Self, Failure> {
        let place = said(&arguments.run);
        let no_laboratory = || {
            format!(
                "{place}: no run of the laboratory: only an emulated machine does the same again \
                 (`wakepath lab run`); `wakepath explain` tells causes of a traced run"
            )
        };
        let time = run
            .manifest
            .virtual_time
            .as_ref()
            .ok_or_else(no_laboratory)?;
        let emulator = time.emulator.as_ref().ok_or_else(no_laboratory)?;
        if time.cpus != 1 {
            let why = "CPUs that count instructions take turns: what one of them executed is not the \
                       time that passed";
            return Err(format!("{place}: {} CPUs: {why}", time.cpus).into());
        }
        let guests = architecture(emulator);
        if guests != Architecture::X86_64 {
            return Err(
                format!("{place}: an {guests} guest: only x86-64 guests have windows").into(),
            );
        }
        let parameters = parameters(emulator).ok_or_else(|| unlike(&place, "its machine"))?;
        let memory = behind(&emulator.arguments, "-m").and_then(|m| m.parse().ok());
        let memory = memory.ok_or_else(|| unlike(&place, "its memory"))?;
        let options = options(time, emulator, &parameters, memory, arguments);
        let scenario = run.manifest.scenario.toml.as_str();
        let (scenario, _) = measured::read_scenario(scenario, &place, &guest_cpus(1))?;
        let directory = arguments.run.join(PLACE);
        let _ = std::fs::remove_dir_all(&directory);
        let laboratory = Laboratory::new(&options)?;
        let task = Task {
            command: None,
            scenario: Some(&scenario),
            seeds: &[time.seed],
        };
        let guests = laboratory.guests(&task, &directory)?;
        let limit = laboratory.limit(&task)?;
        let [guest] = <[Guest; 1]>::try_from(guests).map_err(|_| unlike(&place, "its guest"))?;
        if let Err(error) = refuse_other(&place, &guest, &laboratory.qemu, emulator) {
            let _ = std::fs::remove_dir_all(&directory);
            return Err(error);
        }
        let symbols = kept_symbols(cache, &guest.kernel.sha256)?;
        let telling = match &symbols {
            Some(_) => None,
            None => match telling(&options, &directory) {
                Ok(telling) => Some(telling),
                Err(error) => {
                    let _ = std::fs::remove_dir_all(&directory);
                    return Err(error);
                }
            },
        };
        Ok(Self {
            guest,
            qemu: laboratory.qemu,
            limit,
            run: arguments.run.clone(),
            ns_per_instruction: time.ns_per_instruction,
            symbols,
            telling,
            cache: cache.clone(),
        })
    }

    /// Removes what is of no more use.
    pub fn clean_up(&self) {
        let _ = std::fs::remove_dir_all(self.run.join(PLACE));
    }
}

fn unlike(place: &str, what: &str) -> String {
    format!("{place}: {what} is none that this wakepath makes: use the wakepath that made the run")
}

/// A guest of the same kernel that says its list of functions.
fn telling(options: &LabGuests, directory: &Path) -> Result<(Guest, Limit), Failure> {
    let options = LabGuests {
        variant: Vec::new(),
        before: Vec::new(),
        ns_per_instruction: 1,
        kernel: options.kernel.clone(),
        architecture: options.architecture.clone(),
        host: LabHost {
            beside: None,
            timeout: None,
            program: None,
            emulator: options.host.emulator.clone(),
        },
        ..*options
    };
    let laboratory = Laboratory::new(&options)?;
    let command = ["/bin/cat".to_owned(), KALLSYMS.to_owned()];
    let task = Task {
        command: Some(&command),
        scenario: None,
        seeds: &[1],
    };
    let mut guests = laboratory.guests(&task, &directory.join("symbols"))?;
    let limit = laboratory.limit(&task)?;
    let guest = guests.pop().ok_or("no kernel")?;
    Ok((guest, limit))
}

/// What was emulated, by the emulator's name.
fn architecture(emulator: &Emulator) -> Architecture {
    let program = emulator.arguments.first().map_or("", String::as_str);
    let mut all = Architecture::ALL.into_iter();
    all.find(|one| program.ends_with(one.emulator()))
        .unwrap_or(Architecture::X86_64)
}

/// The word behind another one.
fn behind<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|word| word == name)?;
    arguments.get(at + 1).map(String::as_str)
}

/// The kernel's parameters that the variant consists of: those between the laboratory's own.
fn parameters(emulator: &Emulator) -> Option<String> {
    let line = behind(&emulator.arguments, "-append")?;
    let (before, _) = line.split_once("rdinit=")?;
    let own = ["random.trust_cpu=off", "tsc=reliable"];
    let from = own
        .iter()
        .filter_map(|word| Some(before.rfind(word)? + word.len()))
        .max()?;
    Some(before[from..].trim().to_owned())
}

/// What the user asked for then.
fn options(
    time: &VirtualTime,
    emulator: &Emulator,
    parameters: &str,
    memory: u32,
    arguments: &LabWindow,
) -> LabGuests {
    // Kernel and variant are its name; a seed of several is not.
    let seed = format!(" seed {}", time.seed);
    let name = emulator.kernel.as_str();
    let name = name.strip_suffix(&seed).unwrap_or(name);
    let kernel = match &arguments.kernel {
        Some(given) => format!("{given} {parameters}"),
        None => name.to_owned(),
    };
    LabGuests {
        kernel: vec![kernel.trim_end().to_owned()],
        variant: Vec::new(),
        architecture: architecture(emulator).to_string(),
        cpus: 1,
        before: emulator.before.clone(),
        ns_per_instruction: time.ns_per_instruction,
        memory,
        host: LabHost {
            beside: None,
            timeout: arguments.timeout.clone(),
            program: arguments.program.clone(),
            emulator: arguments.emulator.clone(),
        },
    }
}

/// Whatever is not the same makes another guest: it would sample other instants.
fn refuse_other(
    place: &str,
    guest: &Guest,
    qemu: &Qemu,
    emulator: &Emulator,
) -> Result<(), Failure> {
    if guest.kernel.sha256 != emulator.kernel_sha256 {
        let had = match &emulator.kernel_package {
            Some(package) => format!(" It was {package}."),
            None => String::new(),
        };
        return Err(format!(
            "{place}: the run's kernel is another one than {} now is.{had} Give the same with \
             --kernel (package:NAME=VERSION, or a path)",
            emulator.kernel
        )
        .into());
    }
    if qemu.version != emulator.version {
        let (is, was) = (&qemu.version, &emulator.version);
        return Err(format!(
            "{place}: made with {was}, here is {is}: give that one with --emulator"
        )
        .into());
    }
    if guest.initramfs.1 != emulator.initramfs_sha256 {
        return Err(format!(
            "{place}: what runs in the guest is not the same as then: give the wakepath that made \
             the run with --program; programs that loads start must be the same, too"
        )
        .into());
    }
    let paths = ["-kernel", "-initrd"].map(|name| behind(&emulator.arguments, name));
    let [Some(kernel), Some(initramfs)] = paths else {
        return Err(unlike(place, "its machine").into());
    };
    let machine = guest
        .machine
        .arguments(Path::new(kernel), Path::new(initramfs))?;
    match emulator.arguments.ends_with(&machine) {
        true => Ok(()),
        false => Err(unlike(place, "its machine").into()),
    }
}
