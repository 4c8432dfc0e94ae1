//! The built-in scenarios match their descriptions.

use wakepath_scenario::{KnownCpus, LoadKind, MemoryAccess, Scenario, WorkingSet, builtin};
use wakepath_timeline::Policy;

fn read(name: &str, cpus: u16) -> Scenario {
    let builtin = builtin::named(name).expect("a built-in scenario");
    Scenario::parse(builtin.text, name, &KnownCpus::first(cpus)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_builtin_is_read_without_a_warning_on_one_cpu_and_on_many() {
    for builtin in builtin::all() {
        for cpus in [1, 2, 16, 128] {
            let known = KnownCpus::first(cpus);
            let read = Scenario::parse_with_warnings(builtin.text, builtin.name, &known);
            let (scenario, warnings) = read.unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(scenario.name, builtin.name);
            assert_eq!(warnings, [], "{}", builtin.name);
            assert!(!scenario.description.is_empty());
        }
    }
}

#[test]
fn every_scenario_file_is_built_in() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder of scenarios")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    let mut names: Vec<String> = builtin::all()
        .iter()
        .map(|builtin| format!("{}.toml", builtin.name))
        .collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn check_compares_eight_policies_idle_and_under_every_builtin_load_within_100_s() {
    let check = read("check", 4);
    let shown: Vec<String> = check.policies.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "OTHER nice 0",
            "OTHER nice -19",
            "RR 50",
            "RR 99",
            "FIFO 50",
            "FIFO 99",
            "DEADLINE 400 µs",
            "DEADLINE 800 µs",
        ]
    );
    assert_eq!(check.period_ns, 4_000_000);
    assert_eq!(check.phases[0].loads, []);
    let kinds: Vec<&LoadKind> = check.phases[1]
        .loads
        .iter()
        .map(|load| &load.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            &LoadKind::Cpu,
            &LoadKind::Memory {
                working_set: WorkingSet::Dram,
                access: MemoryAccess::Stream,
            },
            &LoadKind::Messages,
            &LoadKind::Processes,
            &LoadKind::Files,
            &LoadKind::Network,
            &LoadKind::Timers,
        ]
    );
    assert_eq!(check.repetitions, 2);
    assert!(
        check.estimated_run_ns() < 100_000_000_000,
        "{}",
        check.estimated_run_ns()
    );
    assert_eq!(check.criterion.latency_ns, Some(400_000));
    assert_eq!(check.criterion.deadline_ns, 4_000_000);
    assert_eq!(check.criterion.miss_fraction, 0.005);
    assert_eq!(check.criterion.consecutive_misses, Some(1));
    assert_eq!(check.criterion.outage_ns, Some(12_000_000));
    assert!(check.cycles >= check.criterion.due_times_needed());
}

#[test]
fn quick_takes_about_ten_seconds() {
    let seconds = read("quick", 4).estimated_run_ns() as f64 / 1e9;
    assert!((8.0..=10.0).contains(&seconds), "{seconds}");
}

#[test]
fn the_published_experiments_keep_their_figures() {
    let pi5 = read("pi5-250hz", 4);
    assert_eq!(
        (pi5.period_ns, pi5.cycles, pi5.policies.len()),
        (4_000_000, 10_000, 8)
    );
    let jetson = read("jetson-1khz", 12);
    assert_eq!((jetson.period_ns, jetson.cycles), (1_000_000, 600_000));
    assert_eq!(jetson.policies, [Policy::Fifo { priority: 80 }]);
    assert_eq!(jetson.criterion.evidence, Some(5e-6));
    let aura = read("aura-100hz", 1);
    assert_eq!((aura.period_ns, aura.policies.len()), (10_000_000, 2));
    let beagle = read("beaglepilot", 1);
    assert_eq!((beagle.period_ns, beagle.cycles), (400_000, 100_000));
    assert_eq!(beagle.policies, [Policy::Fifo { priority: 99 }]);
}

#[test]
fn contention_measures_four_working_sets_idle_and_beside_five_loads_with_equal_counts() {
    let contention = read("contention", 4);
    let sets: Vec<u64> = contention
        .phases
        .iter()
        .map(|phase| {
            let work = contention.work_in(&phase.name, &contention.tasks[0]);
            work.flight().expect("a flight").working_set
        })
        .collect();
    let (shared, own) = sets.split_at(24);
    assert_eq!(shared, [0, 32 << 10, 512 << 10, 4 << 20].repeat(6));
    assert_eq!(own, [4 << 20; 3]);
    let share_of_cache = contention.phases.iter().map(|phase| phase.l3_share);
    let expected = (0..27).map(|phase| (phase >= 24).then_some(0.5));
    assert!(share_of_cache.eq(expected));
    let idle = contention.phases.iter().filter(|p| p.loads.is_empty());
    assert_eq!(idle.count(), 5);
    assert_eq!(contention.policies, [Policy::Fifo { priority: 80 }]);
    assert!(contention.cycles >= contention.criterion.due_times_needed());
    assert!(contention.estimated_run_ns() < 500_000_000_000);
}

#[test]
fn check_and_its_model_run_the_controller() {
    for name in ["check", "pi5-250hz"] {
        let scenario = read(name, 4);
        assert!(scenario.tasks[0].work.flight().is_some(), "{name}");
    }
}

#[test]
fn litmus_runs_a_thread_on_each_cpu_with_stepped_periods() {
    let litmus = read("litmus-16core", 16);
    let periods: Vec<u64> = litmus
        .tasks
        .iter()
        .map(|task| task.period_ns / 1_000)
        .collect();
    assert_eq!(periods[..4], [1_000, 1_500, 2_000, 2_500]);
    assert_eq!(periods.len(), 16);
    for (cpu, task) in litmus.tasks.iter().enumerate() {
        assert_eq!(task.cpus.as_ref().expect("a pin").numbers(), [cpu as u16]);
    }
    // 20 min, about 5.85 million samples for each background, as published.
    let run_ns = litmus.cycles * litmus.period_ns;
    let samples: u64 = litmus
        .tasks
        .iter()
        .map(|task| run_ns / task.period_ns)
        .sum();
    assert!((5_840_000..5_860_000).contains(&samples), "{samples}");
}
