//! Loads in their short form or as tables.

use super::ethercat::read_bus;
use super::placement::read_placement;
use super::storage;
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::keys::{self, EXCHANGE_PERIOD_NS, suggestion};
use crate::units::{Complaint, parse_duration, parse_rate, parse_size};
use crate::{
    EthercatBus, GpuInterface, GpuWork, KnownCpus, LoadKind, LoadSpec, MemoryAccess, WorkingSet,
};

const REMEDY: &str =
    "give a load such as \"cpu\", \"memory dram\" or { kind = \"stress-ng\", arguments = [] }";
/// 1 kHz.
const ETHERCAT_PERIOD_NS: u64 = 1_000_000;
const MOST_ARGUMENTS: usize = 256;
const LONGEST_ARGUMENT: usize = 4096;
/// Largest working set of one worker, in bytes: 64 GiB.
const MOST_BYTES: u64 = 64 << 30;

/// A phase's loads.
pub(super) fn read_loads(
    node: &Node<'_>,
    known: &KnownCpus,
    findings: &mut Findings,
) -> Option<Vec<LoadSpec>> {
    let items = findings.keep(node.items(32, "give a list such as [\"cpu\", \"files\"]"))?;
    let loads: Vec<_> = items
        .iter()
        .map(|item| read_load(item, known, findings))
        .collect();
    loads.into_iter().collect()
}

fn read_load(node: &Node<'_>, known: &KnownCpus, findings: &mut Findings) -> Option<LoadSpec> {
    if node.as_text().is_some() {
        let kind = findings.keep(node.quantity(REMEDY, short_form))?;
        return Some(LoadSpec {
            kind,
            workers: 0,
            cpus: None,
        });
    }
    let section = findings.keep(node.table(REMEDY))?;
    let name = keys::LOAD.find(&section, findings)?.name;
    let workers = match section.get("workers") {
        None => Some(0),
        Some(node) if node.as_text() == Some("per-cpu") => Some(0),
        Some(node) => match node.is_integer() {
            true => findings
                .keep(node.integer(1..=1024))
                .map(|workers| workers as u32),
            false => {
                let remedy = "give \"per-cpu\" or a number from 1 to 1024";
                findings.push(node.refuse("is not a number of workers", remedy));
                None
            }
        },
    };
    let cpus = read_placement(&section, known, findings);
    let kind = match name {
        "ethercat" => read_ethercat(&section, findings),
        _ => findings.keep(read_kind(name, &section)),
    };
    Some(LoadSpec {
        kind: kind?,
        workers: workers?,
        cpus: cpus?,
    })
}

/// Parses a kind without options: "cpu", "memory l2".
fn short_form(text: &str) -> Result<LoadKind, Complaint> {
    if let Some(size) = text.strip_prefix("memory ") {
        let (size, access) = match size.strip_suffix(" chase") {
            Some(size) => (size, MemoryAccess::Chase),
            None => (size, MemoryAccess::Stream),
        };
        return Ok(LoadKind::Memory {
            working_set: working_set(size)?,
            access,
        });
    }
    if let Some(work) = text.strip_prefix("gpu ") {
        let complaint = || Complaint::new("names no work of a GPU", "give compute or transfer");
        return Ok(gpu(gpu_work(work).ok_or_else(complaint)?));
    }
    if let Some(profile) = text.strip_prefix("fio ") {
        let complaint = || Complaint::new("names no profile of fio", "give direct or buffered");
        return storage::named(profile).ok_or_else(complaint);
    }
    if text == "command" {
        let remedy = "give { kind = \"command\", command = [\"program\", \"argument\"] }";
        return Err(Complaint::new("does not say which command", remedy));
    }
    simple_kind(text, Vec::new()).ok_or_else(|| {
        let names: Vec<&str> = keys::LOAD
            .variants
            .iter()
            .map(|variant| variant.name)
            .collect();
        Complaint::new("is not a load that is known", suggestion(text, &names))
    })
}

fn read_ethercat(section: &Section<'_>, findings: &mut Findings) -> Option<LoadKind> {
    let remedy = "give a rate from 1 Hz to 10 kHz, such as \"1 kHz\"";
    let read = |node: &Node<'_>, read: fn(&str) -> Result<u64, Complaint>| match node
        .quantity(remedy, read)?
    {
        ns if (EXCHANGE_PERIOD_NS.0..=EXCHANGE_PERIOD_NS.1).contains(&ns) => Ok(ns),
        _ => Err(node.refuse("is not a rate to exchange process data at", remedy)),
    };
    let rate = |text: &str| parse_rate(text).map(|rate| rate.period_ns);
    let period_ns = match (section.get("rate"), section.get("period")) {
        (None, None) => Some(ETHERCAT_PERIOD_NS),
        (Some(node), None) => findings.keep(read(&node, rate)),
        (None, Some(node)) => findings.keep(read(&node, parse_duration)),
        (Some(_), Some(node)) => {
            findings.push(node.refuse("conflicts with `rate`", "give one of the two"));
            None
        }
    };
    let bus = read_bus(section, findings);
    Some(LoadKind::Ethercat {
        period_ns: period_ns?,
        bus: bus?,
    })
}

fn read_kind(name: &str, section: &Section<'_>) -> Result<LoadKind, Finding> {
    match name {
        "memory" => {
            let working_set = match section.get("working-set") {
                None => WorkingSet::Dram,
                Some(node) => node.quantity(
                    "give \"l1\", \"l2\", \"l3\", \"dram\" or a size",
                    working_set,
                )?,
            };
            let access = match section.get("access") {
                None => MemoryAccess::Stream,
                Some(node) => {
                    let remedy = "give \"stream\" or \"chase\"";
                    let all = [MemoryAccess::Stream, MemoryAccess::Chase];
                    let text = node.text(remedy)?;
                    let known = all.into_iter().find(|access| access.word() == text);
                    known.ok_or_else(|| node.refuse("is not a known access", remedy))?
                }
            };
            Ok(LoadKind::Memory {
                working_set,
                access,
            })
        }
        "gpu" => read_gpu(section),
        "fio" => storage::read(section),
        "command" => {
            let remedy = "give a list such as [\"program\", \"argument\"]";
            let node = section.need("command", remedy)?;
            let command = read_arguments(&node)?;
            match command.first().is_some_and(|program| !program.is_empty()) {
                true => Ok(LoadKind::Command { command }),
                false => Err(node.refuse("names no program", remedy)),
            }
        }
        _ => {
            let arguments = section
                .get("arguments")
                .map_or(Ok(Vec::new()), |node| read_arguments(&node))?;
            let unknown = || section.refuse_key("kind", "is not a load that is known", REMEDY);
            simple_kind(name, arguments).ok_or_else(unknown)
        }
    }
}

/// The kinds that need nothing, or at most arguments.
pub(crate) fn simple_kind(name: &str, arguments: Vec<String>) -> Option<LoadKind> {
    Some(match name {
        "cpu" => LoadKind::Cpu,
        "memory" => LoadKind::Memory {
            working_set: WorkingSet::Dram,
            access: MemoryAccess::Stream,
        },
        "messages" => LoadKind::Messages,
        "processes" => LoadKind::Processes,
        "files" => LoadKind::Files,
        "network" => LoadKind::Network,
        "timers" => LoadKind::Timers,
        "timer-storm" => LoadKind::TimerStorm,
        "rcu-storm" => LoadKind::RcuStorm,
        "address-spaces" => LoadKind::AddressSpaces,
        "ethercat" => LoadKind::Ethercat {
            period_ns: ETHERCAT_PERIOD_NS,
            bus: EthercatBus::default(),
        },
        "stress-ng" => LoadKind::StressNg { arguments },
        "fio" => LoadKind::Fio { arguments },
        "hackbench" => LoadKind::Hackbench { arguments },
        "bonnie" => LoadKind::Bonnie { arguments },
        "iperf3" => LoadKind::Iperf3 { arguments },
        "wget" => LoadKind::Wget,
        "gpu" => gpu(GpuWork::Compute),
        "glmark2" => LoadKind::Glmark2 { arguments },
        _ => return None,
    })
}

fn read_gpu(section: &Section<'_>) -> Result<LoadKind, Finding> {
    let work = match section.get("work") {
        None => GpuWork::Compute,
        Some(node) => {
            let remedy = "give \"compute\" or \"transfer\"";
            gpu_work(node.text(remedy)?)
                .ok_or_else(|| node.refuse("is not work of a GPU", remedy))?
        }
    };
    let interface = match section.get("interface") {
        None => None,
        Some(node) => {
            let remedy = "give \"cuda\", \"vulkan\" or \"opencl\"";
            let text = node.text(remedy)?;
            let all = [
                GpuInterface::Cuda,
                GpuInterface::Vulkan,
                GpuInterface::Opencl,
            ];
            let known = all.into_iter().find(|interface| interface.word() == text);
            Some(known.ok_or_else(|| node.refuse("is not an interface to a GPU", remedy))?)
        }
    };
    let device = match section.get("device") {
        None => 0,
        Some(node) => node.integer(0..=255)? as u32,
    };
    Ok(LoadKind::Gpu {
        work,
        interface,
        device,
    })
}

/// The kind of load for its work alone.
fn gpu(work: GpuWork) -> LoadKind {
    LoadKind::Gpu {
        work,
        interface: None,
        device: 0,
    }
}

fn gpu_work(text: &str) -> Option<GpuWork> {
    let all = [GpuWork::Compute, GpuWork::Transfer];
    all.into_iter().find(|work| work.word() == text)
}

fn working_set(text: &str) -> Result<WorkingSet, Complaint> {
    Ok(match text {
        "l1" => WorkingSet::L1,
        "l2" => WorkingSet::L2,
        "l3" => WorkingSet::L3,
        "dram" => WorkingSet::Dram,
        _ => {
            let remedy = "give l1, l2, l3, dram or a size such as \"4 MiB\"";
            if !text.starts_with(|first: char| first.is_ascii_digit()) {
                return Err(Complaint::new("names no working set that is known", remedy));
            }
            let bytes =
                parse_size(text).map_err(|complaint| Complaint::new(complaint.problem, remedy))?;
            if !(1..=MOST_BYTES).contains(&bytes) {
                let remedy = "give from \"1 B\" to \"64 GiB\"";
                return Err(Complaint::new("is not a size for a working set", remedy));
            }
            WorkingSet::Bytes(bytes)
        }
    })
}

pub(super) fn read_arguments(node: &Node<'_>) -> Result<Vec<String>, Finding> {
    let items = node.items(
        MOST_ARGUMENTS,
        "give a list of texts, one for each argument",
    )?;
    let argument = |item: &Node<'_>| {
        let text = item.text("give text in quotes")?;
        if text.len() > LONGEST_ARGUMENT {
            let problem = format!("has {} bytes", text.len());
            return Err(item.refuse(problem, format!("give at most {LONGEST_ARGUMENT}")));
        }
        if text.contains('\0') {
            return Err(item.refuse("holds a NUL, which no command line can", "leave it out"));
        }
        Ok(text.to_owned())
    };
    items.iter().map(argument).collect()
}
