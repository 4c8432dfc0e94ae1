//! Scenario's loads → the plan of the phase: programs found, sizes decided, counters assigned.
//! It starts nothing.

use crate::disturbance::{
    self, bonnie, command, ethercat, files, fio, glmark2, gpu, hackbench, iperf3, memory,
    stress_ng, wget,
};
use crate::plan::{Job, Plan, PlannedLoad, Unit, Work};
use crate::{Disturbance, LoadError, StartOptions, memory_budget};
use std::path::Path;
use std::time::Duration;
use wakepath_scenario::{LoadKind, LoadSpec, MemoryAccess};
use wakepath_timeline::CpuSet;

/// State of this machine that the plan depends on.
pub(crate) struct Room {
    pub(crate) usable_cpus: Vec<u16>,
    /// Memory limit of all loads together, in bytes.
    pub(crate) memory_bytes: u64,
    pub(crate) disk_bytes: u64,
}

/// The plan for `specs`, and the number of counter slots it needs. Programs that create files run
/// in `directory`.
pub(crate) fn resolve(
    specs: &[LoadSpec],
    options: &StartOptions,
    room: &Room,
    directory: &Path,
) -> Result<(Plan, usize), LoadError> {
    let mut next_slot = u32::try_from(specs.len()).unwrap_or(u32::MAX);
    let mut loads = Vec::with_capacity(specs.len());
    for spec in specs {
        let load = resolve_one(spec, options, room, directory, next_slot)?;
        // Programs have one slot too: for the port of a companion.
        next_slot += load.workers.max(1);
        loads.push(load);
    }
    share_memory(&mut loads, options, room)?;
    share_disk(&mut loads, room)?;
    let delays = options.delays.clone();
    Ok((Plan { loads, delays }, next_slot as usize))
}

fn resolve_one(
    spec: &LoadSpec,
    options: &StartOptions,
    room: &Room,
    directory: &Path,
    first_slot: u32,
) -> Result<PlannedLoad, LoadError> {
    let name = spec.kind.name().to_owned();
    let cpus = match &spec.cpus {
        None => room.usable_cpus.clone(),
        Some(set) => {
            if let Some(&cpu) = set
                .numbers()
                .iter()
                .find(|cpu| !room.usable_cpus.contains(cpu))
            {
                let usable = CpuSet::from(&room.usable_cpus[..]).to_string();
                return Err(LoadError::CpuUnavailable {
                    load: name,
                    cpu,
                    usable,
                });
            }
            set.numbers().to_vec()
        }
    };
    let one_each = u32::try_from(cpus.len()).unwrap_or(1).max(1);
    let built_in_workers = match (&spec.kind, spec.workers) {
        // A bus has one master, and a device one program to keep it busy.
        (LoadKind::Ethercat { .. } | LoadKind::Gpu { .. }, _) => 1,
        (_, 0) => one_each,
        (_, workers) => workers,
    };
    let mut working_set_bytes = None;
    let (mut device, mut notes) = (None, Vec::new());
    let built_in = |disturbs: &[Disturbance], unit, steps, job| {
        (disturbs.to_vec(), unit, steps, Work::BuiltIn(job))
    };
    let package = |disturbs: &[Disturbance], program| {
        (
            disturbs.to_vec(),
            "CPU seconds",
            1_000_000,
            Work::Program(program),
        )
    };
    let (disturbs, unit, steps, work) = match &spec.kind {
        LoadKind::Memory {
            working_set,
            access,
        } => {
            let bytes = memory::bytes(*working_set, built_in_workers, &options.caches)?;
            working_set_bytes = Some(bytes);
            let disturbs = memory::disturbs(bytes, built_in_workers, &options.caches);
            let (unit, steps) = match access {
                MemoryAccess::Stream => ("MiB", 1 << 20),
                MemoryAccess::Chase => ("accesses", 1),
            };
            let chases = *access == MemoryAccess::Chase;
            built_in(&disturbs, unit, steps, Job::Memory { bytes, chases })
        }
        LoadKind::Files => {
            let (directory, bytes) = (options.scratch_directory.clone(), files::LARGEST_BYTES);
            built_in(
                files::DISTURBS,
                "MiB",
                1 << 20,
                Job::Files { directory, bytes },
            )
        }
        LoadKind::Ethercat { period_ns, bus } => {
            let (period, bus) = (Duration::from_nanos(*period_ns), ethercat::bus(bus, false));
            let program = wakepath_ethercat::program().map_err(LoadError::NoMaster)?;
            let job = Job::Ethercat {
                program,
                period,
                bus,
            };
            built_in(ethercat::DISTURBS, "frames", 1, job)
        }
        LoadKind::StressNg { arguments } => package(
            &stress_ng::disturbs(arguments),
            stress_ng::program(arguments, directory)?,
        ),
        LoadKind::Fio { arguments } => package(fio::DISTURBS, fio::program(arguments, directory)?),
        LoadKind::Hackbench { arguments } => {
            package(hackbench::DISTURBS, hackbench::program(arguments)?)
        }
        LoadKind::Bonnie { arguments } => {
            package(bonnie::DISTURBS, bonnie::program(arguments, directory)?)
        }
        LoadKind::Iperf3 { arguments } => package(iperf3::DISTURBS, iperf3::program(arguments)?),
        LoadKind::Wget => package(wget::DISTURBS, wget::program(first_slot)?),
        &LoadKind::Gpu {
            work,
            interface,
            device: number,
        } => {
            let planned = gpu::plan(work, interface, number, &cpus, &options.executable)?;
            (device, notes) = (planned.device, planned.notes);
            let (unit, steps) = planned.unit;
            (planned.disturbs, unit, steps, planned.work)
        }
        LoadKind::Glmark2 { arguments } => package(glmark2::DISTURBS, glmark2::program(arguments)?),
        LoadKind::Command { command } => package(command::DISTURBS, command::program(command)?),
        other => {
            let load = disturbance::named(other.name()).expect("every other load is a row");
            let amount = (load.amount)(built_in_workers, room)?;
            working_set_bytes = load.is_memory.then_some(amount);
            let job = Job::Load {
                load: name.clone(),
                amount,
            };
            built_in(load.disturbs, load.unit.0, load.unit.1, job)
        }
    };
    // A program's arguments determine its number of processes: one copy by default.
    let workers = match &work {
        Work::BuiltIn(_) => built_in_workers,
        Work::Program(_) => spec.workers.max(1),
    };
    let unit = Unit {
        name: unit.into(),
        steps,
    };
    Ok(PlannedLoad {
        name,
        disturbs,
        unit,
        cpus,
        workers,
        first_slot,
        work,
        notes,
        working_set_bytes,
        device,
    })
}

/// Shrinks working sets until all memory loads together fit their budget.
fn share_memory(
    loads: &mut [PlannedLoad],
    options: &StartOptions,
    room: &Room,
) -> Result<(), LoadError> {
    let is_memory =
        |load: &&mut PlannedLoad| matches!(load.work, Work::BuiltIn(Job::Memory { .. }));
    let workers: u32 = loads
        .iter_mut()
        .filter(is_memory)
        .map(|load| load.workers)
        .sum();
    let wanted: u64 = loads
        .iter()
        .map(|load| {
            load.working_set_bytes
                .unwrap_or(0)
                .saturating_mul(u64::from(load.workers))
        })
        .fold(0, u64::saturating_add);
    if wanted <= room.memory_bytes {
        return Ok(());
    }
    for load in loads.iter_mut().filter(is_memory) {
        let Work::BuiltIn(Job::Memory { bytes, .. }) = &mut load.work else {
            continue;
        };
        let share = memory_budget::share(*bytes, workers, room.memory_bytes) / 8 * 8;
        if share < memory::SMALLEST_BYTES {
            return Err(LoadError::TooLittleRoom {
                load: load.name.clone(),
                resource: "a quarter of the available memory",
                available: room.memory_bytes,
                needed: memory::SMALLEST_BYTES * u64::from(workers),
            });
        }
        if share < *bytes {
            load.notes.push(format!(
                "working set of each worker reduced from {bytes} to {share} bytes: all loads \
                 together take at most a quarter of the available memory"
            ));
            *bytes = share;
            load.working_set_bytes = Some(share);
            load.disturbs = memory::disturbs(share, load.workers, &options.caches);
        }
    }
    Ok(())
}

/// Shrinks the files until all file loads together fit their budget.
fn share_disk(loads: &mut [PlannedLoad], room: &Room) -> Result<(), LoadError> {
    let is_files = |load: &PlannedLoad| matches!(load.work, Work::BuiltIn(Job::Files { .. }));
    let workers: u32 = loads
        .iter()
        .filter(|load| is_files(load))
        .map(|load| load.workers)
        .sum();
    for load in loads.iter_mut() {
        let Work::BuiltIn(Job::Files { bytes, .. }) = &mut load.work else {
            continue;
        };
        let share = memory_budget::share(*bytes, workers, room.disk_bytes);
        if share < files::SMALLEST_BYTES {
            return Err(LoadError::TooLittleRoom {
                load: load.name.clone(),
                resource: "a quarter of the free disk space",
                available: room.disk_bytes,
                needed: files::SMALLEST_BYTES * u64::from(workers),
            });
        }
        if share < *bytes {
            load.notes.push(format!(
                "file of each worker reduced from {bytes} to {share} bytes: all loads together \
                 take at most a quarter of the free disk space"
            ));
            *bytes = share;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::WorkingSet;

    fn spec(kind: LoadKind, workers: u32, cpus: Option<Vec<u16>>) -> LoadSpec {
        LoadSpec {
            kind,
            workers,
            cpus: cpus.map(|cpus| cpus.into_iter().collect()),
        }
    }

    fn plan(specs: &[LoadSpec], memory_bytes: u64) -> Result<(Plan, usize), LoadError> {
        let room = Room {
            usable_cpus: vec![0, 1, 3],
            memory_bytes,
            disk_bytes: 32 << 20,
        };
        resolve(
            specs,
            &StartOptions::new("/x", "/tmp"),
            &room,
            Path::new("/tmp/programs"),
        )
    }

    #[test]
    fn zero_workers_means_one_for_each_cpu_and_slots_do_not_overlap() {
        let specs = [
            spec(LoadKind::Cpu, 0, None),
            spec(LoadKind::Timers, 0, Some(vec![1])),
        ];
        let (plan, slots) = plan(&specs, 1 << 30).unwrap();
        let of = |load: &PlannedLoad| (load.first_slot, load.workers);
        assert_eq!(
            (of(&plan.loads[0]), of(&plan.loads[1]), slots),
            ((2, 3), (5, 1), 6)
        );
        assert_eq!(plan.loads[0].cpus, [0, 1, 3]);
    }

    #[test]
    fn every_built_in_load_is_planned_with_its_own_unit() {
        for load in disturbance::LOADS {
            let kind = LoadKind::offered().find(|offered| offered.name == load.name);
            let kind = kind.and_then(|offered| offered.kind).expect(load.name);
            let (plan, _) = plan(&[spec(kind, 1, None)], 1 << 30).unwrap();
            let unit = &plan.loads[0].unit;
            assert_eq!((unit.name.as_str(), unit.steps), load.unit, "{}", load.name);
        }
    }

    #[test]
    fn a_cpu_that_cannot_be_used_is_named() {
        let error = plan(&[spec(LoadKind::Cpu, 1, Some(vec![0, 2]))], 1 << 30).unwrap_err();
        assert_eq!(
            error.to_string(),
            "load cpu: CPU 2 can't be used here; usable: 0-1,3"
        );
    }

    #[test]
    fn memory_loads_shrink_to_the_budget_and_say_so() {
        let kind = LoadKind::Memory {
            working_set: WorkingSet::Bytes(1 << 20),
            access: MemoryAccess::Stream,
        };
        let (plan, _) = plan(&[spec(kind, 4, None)], 2 << 20).unwrap();
        assert_eq!(plan.loads[0].working_set_bytes, Some(512 << 10));
        assert!(plan.loads[0].notes[0].contains("from 1048576 to 524288 bytes"));
    }

    #[test]
    fn file_loads_shrink_to_the_free_space_and_refuse_where_there_is_none() {
        let (planned, _) = plan(&[spec(LoadKind::Files, 2, None)], 1 << 30).unwrap();
        assert!(planned.loads[0].notes[0].contains("to 16777216 bytes"));
        let error = plan(&[spec(LoadKind::Files, 33, None)], 1 << 30).unwrap_err();
        assert!(matches!(error, LoadError::TooLittleRoom { .. }), "{error}");
    }

    #[test]
    fn a_missing_program_is_an_error_before_anything_starts() {
        let command = vec!["wakepath-no-such-program".to_owned()];
        let error = plan(&[spec(LoadKind::Command { command }, 0, None)], 1 << 30).unwrap_err();
        assert!(matches!(error, LoadError::MissingProgram { .. }), "{error}");
        let command = vec![];
        let error = plan(&[spec(LoadKind::Command { command }, 0, None)], 1 << 30).unwrap_err();
        assert!(matches!(error, LoadError::EmptyCommand), "{error}");
    }
}
