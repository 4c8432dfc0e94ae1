//! Any load and its CPUs, for tests that write and read them.

use proptest::prelude::*;
use proptest::sample::select;
use wakepath_scenario::*;
use wakepath_timeline::CpuSet;

/// CPUs of the machine that the scenarios are for.
pub const CPUS: u16 = 8;

/// Up to four of the CPUs.
pub fn cpu_set() -> impl Strategy<Value = CpuSet> {
    proptest::collection::btree_set(0..CPUS, 1..5).prop_map(|set| set.into_iter().collect())
}

fn gpu() -> impl Strategy<Value = LoadKind> {
    let interface = proptest::option::of(select(GpuInterface::WORDS));
    let interface = interface.prop_map(|named| Some(named?.1));
    (select(GpuWork::WORDS), interface, 0_u32..=255).prop_map(|((_, work), interface, device)| {
        LoadKind::Gpu {
            work,
            interface,
            device,
        }
    })
}

/// Any load.
pub fn load() -> impl Strategy<Value = LoadSpec> {
    let texts = |least| {
        proptest::collection::vec(any::<String>(), least..4).prop_map(
            |list: Vec<String>| -> Vec<String> {
                list.into_iter()
                    .map(|text| text.replace('\0', "") + "x")
                    .collect()
            },
        )
    };
    let working_set = prop_oneof![
        Just(WorkingSet::L1),
        Just(WorkingSet::L2),
        Just(WorkingSet::L3),
        Just(WorkingSet::Dram),
        (1..=64_u64 << 30).prop_map(WorkingSet::Bytes),
    ];
    let kind = prop_oneof![
        Just(LoadKind::Cpu),
        (working_set, any::<bool>()).prop_map(|(working_set, chases)| LoadKind::Memory {
            working_set,
            access: if chases {
                MemoryAccess::Chase
            } else {
                MemoryAccess::Stream
            },
        }),
        select(
            LoadKind::offered()
                .filter_map(|load| load.kind)
                .collect::<Vec<_>>()
        ),
        (100_000..=1_000_000_000_u64, bus())
            .prop_map(|(period_ns, bus)| LoadKind::Ethercat { period_ns, bus }),
        texts(0).prop_map(|arguments| LoadKind::StressNg { arguments }),
        texts(0).prop_map(|arguments| LoadKind::Fio { arguments }),
        texts(0).prop_map(|arguments| LoadKind::Hackbench { arguments }),
        texts(0).prop_map(|arguments| LoadKind::Bonnie { arguments }),
        texts(0).prop_map(|arguments| LoadKind::Iperf3 { arguments }),
        gpu(),
        texts(0).prop_map(|arguments| LoadKind::Glmark2 { arguments }),
        texts(1).prop_map(|command| LoadKind::Command { command }),
    ];
    (kind, 0_u32..=1024, proptest::option::of(cpu_set())).prop_map(|(kind, workers, cpus)| {
        // A bus has one master, and a device one program.
        let workers = match kind {
            LoadKind::Ethercat { .. } | LoadKind::Gpu { .. } => 0,
            _ => workers,
        };
        LoadSpec {
            kind,
            workers,
            cpus,
        }
    })
}

/// Interfaces and simulated rings.
pub fn bus() -> impl Strategy<Value = EthercatBus> {
    let ring = (
        1..=64_u16,
        0..=1_000_000_000_u64,
        0.0..0.999_f64,
        proptest::option::of(0..=u64::MAX / 4),
    );
    prop_oneof![
        "[!-.0-~ä]{1,7}".prop_map(EthercatBus::Interface),
        ring.prop_map(|(devices, jitter_ns, loss, stops_after_ns)| {
            EthercatBus::Simulated(SimulatedRing {
                devices,
                jitter_ns,
                loss,
                stops_after_ns,
            })
        }),
    ]
}
