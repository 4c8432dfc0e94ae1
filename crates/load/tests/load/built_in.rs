//! Every built-in load really runs, counts, and stays within its limits.

use crate::running::{
    PATIENCE, Scratch, assert_nobody_left, mark, marked, options, segment, spec, status,
};
use std::process::Command;
use std::time::{Duration, Instant};
use wakepath_load::{Disturbance, LoadError, LoadProof, Loads};
use wakepath_scenario::{LoadKind, LoadSpec, MemoryAccess, WorkingSet};

wakepath_test_program::tests![
    the_cpu_load_computes_and_uses_cpu_time,
    the_memory_load_has_the_working_set_that_was_asked_for,
    a_chase_beyond_the_caches_takes_longer_for_each_access_than_one_within,
    the_message_load_passes_messages_between_processes,
    the_process_load_creates_processes,
    the_file_load_writes_to_storage,
    the_network_load_moves_bytes_over_loopback,
    the_timer_load_keeps_the_rate_of_its_timer,
    a_timer_storm_is_thousands_of_timers_in_as_many_processes_as_they_need,
    an_rcu_storm_closes_queues_of_thousands_of_packets,
    large_address_spaces_are_forked_and_end,
    all_loads_together_run_as_ordinary_processes_of_ordinary_priority,
    a_worker_that_is_killed_makes_its_load_invalid,
    an_idle_phase_needs_no_process,
    a_cpu_that_does_not_exist_is_refused_before_anything_starts,
];

/// Starts only `spec`, proves a segment of it on CPU 0, and leaves nothing.
fn prove(kind: LoadKind) -> LoadProof {
    let scratch = Scratch::new();
    let mut loads = Loads::start(&[spec(kind, 1, Some(vec![0]))], &options(&scratch)).unwrap();
    loads.wait_until_working(PATIENCE).unwrap();
    let proof = segment(&mut loads).remove(0);
    let mark = mark(&loads);
    let workers: Vec<_> = marked(&mark)
        .into_iter()
        .filter(|(_, line)| line.contains("load-worker"))
        .collect();
    assert!(!workers.is_empty());
    for (pid, line) in workers {
        // A process that has ended by now has no list.
        let cpus = status(pid, "Cpus_allowed_list").unwrap_or_else(|| "0".into());
        assert_eq!(cpus, "0", "{line}");
    }
    assert!(scratch.is_empty(), "a built-in load's files have no names");
    let whole = loads.stop().remove(0);
    assert!(
        whole.working && whole.work_done >= proof.work_done,
        "{whole:?}"
    );
    assert_nobody_left(&mark);
    assert!(
        proof.working && proof.work_done > 0.0 && !proof.died_early,
        "{proof:?}"
    );
    assert!((proof.per_second - proof.work_done / proof.seconds).abs() < 1e-6);
    assert!((0.3..5.0).contains(&proof.seconds), "{proof:?}");
    assert_eq!((proof.workers, proof.cpus.as_slice()), (1, [0].as_slice()));
    proof
}

fn the_cpu_load_computes_and_uses_cpu_time() {
    let proof = prove(LoadKind::Cpu);
    assert!(
        proof.cpu_seconds > 0.0 && proof.cpu_seconds < 2.0 * proof.seconds,
        "{proof:?}"
    );
    assert_eq!(proof.disturbs, [Disturbance::Cpu]);
}

fn the_memory_load_has_the_working_set_that_was_asked_for() {
    let scratch = Scratch::new();
    for (working_set, bytes) in [
        (WorkingSet::L1, 16 << 10),
        (WorkingSet::L2, 128 << 10),
        (WorkingSet::L3, 512 << 10),
        (WorkingSet::Dram, 4 << 20),
        (WorkingSet::Bytes(48 << 20), 48 << 20),
    ] {
        let kind = LoadKind::Memory {
            working_set,
            access: MemoryAccess::Stream,
        };
        let mut loads = Loads::start(&[spec(kind, 1, None)], &options(&scratch)).unwrap();
        loads.wait_until_working(PATIENCE).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        // The worker really holds it: its own anonymous memory, and some of the runtime's.
        let (pid, _) = marked(&mark(&loads))
            .into_iter()
            .find(|(_, line)| line.contains("memory"))
            .unwrap();
        let resident: u64 = status(pid, "RssAnon")
            .unwrap()
            .trim_end_matches(" kB")
            .parse()
            .unwrap();
        let proof = loads.stop().remove(0);
        assert_eq!(proof.working_set_bytes, Some(bytes));
        assert!(proof.work_done > 1.0, "{proof:?}");
        let range = bytes / 1024..=bytes / 1024 + 2048;
        assert!(range.contains(&resident), "{resident} kB for {bytes} bytes");
    }
}

fn a_chase_beyond_the_caches_takes_longer_for_each_access_than_one_within() {
    let chased = |bytes| {
        prove(LoadKind::Memory {
            working_set: WorkingSet::Bytes(bytes),
            access: MemoryAccess::Chase,
        })
    };
    let (within, beyond) = (chased(16 << 10), chased(128 << 20));
    assert_eq!(within.unit, "accesses");
    // Counted in ticks of 10 ms.
    let per_cpu_second = |proof: &LoadProof| proof.work_done / proof.cpu_seconds.max(0.01);
    // About 1 ns against about 100 ns: neighbours don't cause such a factor.
    assert!(
        per_cpu_second(&within) > 4.0 * per_cpu_second(&beyond),
        "{within:?} {beyond:?}"
    );
}

fn the_message_load_passes_messages_between_processes() {
    let proof = prove(LoadKind::Messages);
    assert!(proof.per_second > 1000.0, "{proof:?}");
}

fn the_process_load_creates_processes() {
    assert!(prove(LoadKind::Processes).work_done >= 1.0);
}

fn the_file_load_writes_to_storage() {
    let proof = prove(LoadKind::Files);
    assert!(proof.work_done >= 1.0, "{proof:?}");
    // The kernel confirms the bytes that it reports as written.
    assert!(
        proof.io_bytes as f64 >= 0.5 * proof.work_done * f64::from(1 << 20),
        "{proof:?}"
    );
}

fn the_network_load_moves_bytes_over_loopback() {
    assert!(prove(LoadKind::Network).work_done > 1.0);
}

fn the_timer_load_keeps_the_rate_of_its_timer() {
    let proof = prove(LoadKind::Timers);
    // 5000 expiries and two signals for each, at most; expiries run together when it is late.
    assert!(
        proof.per_second > 300.0 && proof.per_second < 15_500.0,
        "{proof:?}"
    );
}

/// Work of a storm until `enough`, or until the time limit on a busy machine.
fn stormed(kind: LoadKind, enough: f64) -> (f64, usize) {
    let scratch = Scratch::new();
    let mut loads = Loads::start(&[spec(kind, 1, None)], &options(&scratch)).unwrap();
    loads.wait_until_working(PATIENCE).unwrap();
    let began = Instant::now();
    let mut worked = 0.0;
    while worked < enough && began.elapsed() < PATIENCE {
        worked += segment(&mut loads).remove(0).work_done;
    }
    let mark = mark(&loads);
    let lines = marked(&mark);
    let workers = lines.iter().filter(|(_, line)| line.contains("-storm"));
    let workers = workers.count();
    assert!(loads.stop().remove(0).working);
    assert_nobody_left(&mark);
    (worked, workers)
}

fn a_timer_storm_is_thousands_of_timers_in_as_many_processes_as_they_need() {
    let (timers, processes) = stormed(LoadKind::TimerStorm, 2.0 * 16_384.0);
    assert!(timers >= 16_384.0, "{timers}");
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX).saturating_sub(32);
    assert_eq!(processes as u64, 16_384_u64.div_ceil(most));
}

fn an_rcu_storm_closes_queues_of_thousands_of_packets() {
    let (packets, _) = stormed(LoadKind::RcuStorm, 2_000.0);
    assert!(packets >= 2_000.0, "{packets}");
}

fn large_address_spaces_are_forked_and_end() {
    let proof = prove(LoadKind::AddressSpaces);
    assert!(proof.work_done >= 1.0, "{proof:?}");
    let bytes = proof.working_set_bytes.unwrap();
    assert!((4 << 20..=64 << 20).contains(&bytes), "{bytes}");
}

fn all_loads_together_run_as_ordinary_processes_of_ordinary_priority() {
    let scratch = Scratch::new();
    let memory = LoadKind::Memory {
        working_set: WorkingSet::L2,
        access: MemoryAccess::Stream,
    };
    let specs: Vec<LoadSpec> = [LoadKind::Cpu, memory, LoadKind::Messages, LoadKind::Timers]
        .into_iter()
        .map(|kind| spec(kind, 0, None))
        .collect();
    // Started from a thread with another policy and nice value than the loads shall have.
    let starter = std::thread::spawn({
        let options = options(&scratch);
        move || {
            rustix::process::setpriority_process(None, 5).unwrap();
            let thread = rustix::thread::gettid().to_string();
            let slack = std::num::NonZeroU64::new(1);
            rustix::thread::set_current_timer_slack(slack).unwrap();
            let real_time = ["--fifo", "--pid", "10", &thread];
            if !Command::new("chrt")
                .args(real_time)
                .status()
                .is_ok_and(|it| it.success())
            {
                eprintln!("not run with SCHED_FIFO: this user may not set it");
            }
            Command::new("taskset")
                .args(["-cp", "0", &thread])
                .status()
                .unwrap();
            Loads::start(&specs, &options).unwrap()
        }
    });
    // The thread that started them is gone; the loads are not.
    let mut loads = starter.join().unwrap();
    loads.wait_until_working(PATIENCE).unwrap();
    let proofs = segment(&mut loads);
    assert!(proofs.iter().all(|proof| proof.working), "{proofs:?}");
    let all_cpus = status(std::process::id(), "Cpus_allowed_list").unwrap();
    for (pid, line) in marked(&mark(&loads)) {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let Some((_, fields)) = stat.rsplit_once(") ") else {
            continue;
        };
        let fields: Vec<&str> = fields.split(' ').collect();
        // Fields 19 (nice) and 41 (policy) of proc_pid_stat(5), counted from field 3.
        assert_eq!(fields[41 - 3], "0", "policy of {line}");
        if rustix::process::geteuid().is_root() {
            assert_eq!(fields[19 - 3], "0", "nice value of {line}");
        }
        let slack = std::fs::read_to_string(format!("/proc/{pid}/timerslack_ns"));
        assert_eq!(
            slack.unwrap_or_else(|_| "50000\n".into()),
            "50000\n",
            "{line}"
        );
        let cpus = status(pid, "Cpus_allowed_list").unwrap_or_else(|| all_cpus.clone());
        assert_eq!(cpus, all_cpus, "{line}");
        let score = std::fs::read_to_string(format!("/proc/{pid}/oom_score_adj"));
        assert_eq!(
            score.unwrap_or_else(|_| "1000\n".into()),
            "1000\n",
            "{line}"
        );
    }
    drop(loads);
}

fn a_worker_that_is_killed_makes_its_load_invalid() {
    let scratch = Scratch::new();
    let mut loads = Loads::start(&[spec(LoadKind::Cpu, 2, None)], &options(&scratch)).unwrap();
    loads.wait_until_working(PATIENCE).unwrap();
    let (pid, _) = marked(&mark(&loads))
        .into_iter()
        .find(|(_, line)| line.contains("\"cpu\""))
        .unwrap();
    let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let proof = segment(&mut loads).remove(0);
    assert!(!proof.working && proof.died_early, "{proof:?}");
    let reason = proof.reason.unwrap();
    assert!(
        reason.starts_with("worker ") && reason.ends_with("ended with signal 9"),
        "{reason}"
    );
}

fn an_idle_phase_needs_no_process() {
    let mut loads = Loads::start(&[], &options(&Scratch::new())).unwrap();
    loads.wait_until_working(Duration::ZERO).unwrap();
    assert_eq!((loads.supervisor_pid(), loads.containment()), (None, None));
    assert!(segment(&mut loads).is_empty() && loads.stop().is_empty());
}

fn a_cpu_that_does_not_exist_is_refused_before_anything_starts() {
    let spec = spec(LoadKind::Cpu, 1, Some(vec![0, 1000]));
    let error = Loads::start(&[spec], &options(&Scratch::new()))
        .err()
        .unwrap();
    assert!(
        matches!(error, LoadError::CpuUnavailable { cpu: 1000, .. }),
        "{error}"
    );
}
