//! `wakepath lab run`: a scenario on each kernel, each variant and each seed.

use super::comparison::{self, Compared};
use super::guests::{Guest, carry_out};
use crate::command_line::LabRun;
use crate::measure::{HostCpus, Interrupt, own_executable};
use crate::verbs::{Outcome, measured, print};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use wakepath_archive::Run;
use wakepath_lab::{Cache, Initramfs, Kernel, KernelName, Machine, Order, Qemu, shift_of};
use wakepath_report::{Assessment, Style};
use wakepath_scenario::{LoadKind, Scenario, Work};

/// Debian's word for the guests' architecture.
const ARCHITECTURE: &str = "amd64";
/// The one CPU of a guest.
const CPUS: u16 = 1;
/// Time on this host that a guest may take: booting, and for each of its seconds. Measured: 18 s and
/// 6 s on an idle machine; the rest is for busy ones.
const BOOT_LIMIT_S: u64 = 300;
const LIMIT_PER_SECOND: u64 = 60;

type Failure = Box<dyn std::error::Error>;

/// Boots, measures, compares.
pub fn run(arguments: &LabRun) -> Outcome {
    shift_of(arguments.ns_per_instruction)?;
    let qemu = Qemu::find()?;
    let guest_cpus = HostCpus {
        allowed: (0..CPUS).collect(),
        isolated: Vec::new(),
    };
    let (text, source) = measured::scenario_text(&arguments.scenario)?;
    let (scenario, mut warnings) = measured::read_scenario(&text, &source, &guest_cpus)
        .map_err(|error| format!("{error} (a guest has {CPUS} CPU)"))?;
    let scenario = match &arguments.duration {
        None => scenario,
        Some(duration) => {
            let (fitted, kept) = measured::fitted(&scenario, warnings, duration)?;
            warnings = kept;
            fitted
        }
    };
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => measured::default_directory(&format!("lab-{}", scenario.name), SystemTime::now()),
    };
    measured::refuse_used(&directory)?;
    let kernels = kernels(&arguments.kernel)?;
    std::fs::create_dir_all(&directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let guests = guests(arguments, &scenario, &kernels, &directory)?;
    let limit = match &arguments.timeout {
        Some(text) => Duration::from_nanos(
            wakepath_scenario::units::parse_duration(text)
                .map_err(|complaint| format!("--timeout {text}: {complaint}"))?,
        ),
        None => Duration::from_secs(
            BOOT_LIMIT_S + LIMIT_PER_SECOND * scenario.estimated_run_ns() / 1_000_000_000,
        ),
    };
    let beside = match arguments.beside {
        Some(beside) => beside.into(),
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let interrupt = Interrupt::listen()?;
    eprintln!(
        "{} guests of {:.1} s virtual time each, {} at a time, with {}",
        guests.len(),
        scenario.estimated_run_ns() as f64 / 1e9,
        beside.min(guests.len()),
        qemu.version
    );
    let ended = carry_out(&guests, &qemu, beside, limit, &interrupt);
    for guest in &guests {
        // Its digest is in the manifest; the same scenario makes the same again.
        let _ = std::fs::remove_file(&guest.initramfs.0);
    }
    let mut compared = Vec::new();
    for (guest, outcome) in guests.iter().zip(ended) {
        let assessment = match outcome {
            Ok(()) => Assessment::of(&Run::open(&guest.directory)?).map_err(|e| e.to_string()),
            Err(error) => Err(error),
        };
        compared.push(Compared {
            guest: guest.name.clone(),
            directory: guest.directory.display().to_string(),
            assessment,
        });
    }
    print(&match arguments.json {
        true => comparison::to_json(&compared),
        false => comparison::to_text(&compared, Style::of_stdout()),
    })?;
    let whole = compared.iter().all(Compared::is_whole);
    Ok(ExitCode::from(u8::from(!whole)))
}

fn kernels(names: &[String]) -> Result<Vec<(KernelName, Kernel)>, Failure> {
    let names: Vec<KernelName> = names
        .iter()
        .map(|name| KernelName::parse(name, ARCHITECTURE))
        .collect::<Result<_, _>>()?;
    let cache = Cache::of_this_user();
    let fetch = |name: KernelName| {
        eprintln!("kernel {name}");
        let kernel = name.fetch(&cache)?;
        Ok((name, kernel))
    };
    names.into_iter().map(fetch).collect()
}

/// Kernels × variants × seeds; the bare kernel is the first variant.
fn guests(
    arguments: &LabRun,
    scenario: &Scenario,
    kernels: &[(KernelName, Kernel)],
    directory: &Path,
) -> Result<Vec<Guest>, Failure> {
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => std::fs::canonicalize(own_executable())?,
    };
    let mut guests = Vec::new();
    for &seed in &arguments.seed {
        let order = Order {
            scenario: scenario.to_toml(),
            ns_per_instruction: arguments.ns_per_instruction,
            seed,
            cpus: CPUS,
        };
        let packed =
            Initramfs::build(&program, &order, &programs(scenario)?, &libraries(scenario))?;
        let initramfs = directory.join(format!("initramfs-{seed}.cpio"));
        std::fs::write(&initramfs, &packed.bytes)
            .map_err(|error| format!("{}: {error}", initramfs.display()))?;
        let variants = std::iter::once("").chain(arguments.variant.iter().map(String::as_str));
        for variant in variants {
            for (called, kernel) in kernels {
                let mut name = called.to_string();
                if !variant.is_empty() {
                    name += &format!(" {variant}");
                }
                if arguments.seed.len() > 1 {
                    name += &format!(" seed {seed}");
                }
                let parameters = variant.split_whitespace().map(str::to_owned).collect();
                guests.push(Guest {
                    directory: directory.join(Guest::directory_name(&name)),
                    name,
                    kernel: kernel.clone(),
                    machine: Machine {
                        ns_per_instruction: arguments.ns_per_instruction,
                        seed,
                        memory_mib: arguments.memory,
                        parameters,
                    },
                    initramfs: (initramfs.clone(), packed.sha256.clone()),
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
                needed.push((program.to_owned(), "that holds it, or give its path"));
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
