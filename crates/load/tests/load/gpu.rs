//! A busy GPU, with any device on this machine: even a simulated one on the CPU.
//!
//! Started by name, with the directory of `wakepath-gpu` in PATH.

use crate::running::{PATIENCE, Scratch, assert_nobody_left, mark, marked, options, segment, spec};
use std::time::{Duration, Instant};
use wakepath_load::{LoadError, LoadProof, Loads};
use wakepath_scenario::{GpuInterface, GpuWork, LoadKind, Word};
use wakepath_test_program::not_run;

wakepath_test_program::tests![;
    vulkan_multiplies_and_says_how_long_the_device_was_at_it,
    vulkan_copies_to_the_device_and_back,
    opencl_multiplies,
    two_devices_of_one_phase_are_told_apart,
    a_program_that_is_killed_ends_its_load_and_says_so,
    a_device_that_is_not_there_is_named,
];

fn kind(work: GpuWork, interface: GpuInterface) -> LoadKind {
    LoadKind::Gpu {
        work,
        interface: Some(interface),
        device: 0,
    }
}

fn start(kinds: &[LoadKind], scratch: &Scratch) -> Loads {
    let specs: Vec<_> = kinds
        .iter()
        .map(|kind| spec(kind.clone(), 0, None))
        .collect();
    match Loads::start(&specs, &options(scratch)) {
        Ok(loads) => loads,
        Err(error @ (LoadError::MissingProgram { .. } | LoadError::NoDevice(_))) => not_run(error),
        Err(error) => panic!("{error}"),
    }
}

fn prove(work: GpuWork, interface: GpuInterface) -> LoadProof {
    let scratch = Scratch::new();
    let mut loads = start(&[kind(work, interface)], &scratch);
    loads.wait_until_working(PATIENCE).unwrap();
    let mark = mark(&loads);
    let proof = some_batches(&mut loads);
    drop(loads.stop());
    assert_nobody_left(&mark);
    assert!(proof.working && !proof.died_early, "{proof:?}");
    assert!(proof.work_done > 0.0, "{proof:?}");
    let device = proof.device.as_ref().expect("a device");
    assert_eq!(device.interface, interface.word());
    assert!(
        !device.name.is_empty() && !device.driver.is_empty(),
        "{device:?}"
    );
    let share = device.busy_seconds / proof.seconds;
    assert!((0.05..1.5).contains(&share), "{share}: {proof:?}");
    proof
}

/// Proves some batches, from the end of one. A simulated device can take a second for each.
fn some_batches(loads: &mut Loads) -> LoadProof {
    until_batches_ended(loads, 1);
    until_batches_ended(loads, 4)
}

fn until_batches_ended(loads: &mut Loads, batches: usize) -> LoadProof {
    let deadline = Instant::now() + PATIENCE;
    let before = loads.snapshot().unwrap();
    let (mut done, mut ended) = (0.0, 0);
    loop {
        std::thread::sleep(Duration::from_millis(20));
        let after = loads.snapshot().unwrap();
        let proof = loads.proof_between(&before, &after).remove(0);
        if proof.work_done > done {
            (done, ended) = (proof.work_done, ended + 1);
        }
        if ended == batches || Instant::now() > deadline {
            return proof;
        }
    }
}

fn vulkan_multiplies_and_says_how_long_the_device_was_at_it() {
    let proof = prove(GpuWork::Compute, GpuInterface::Vulkan);
    assert_eq!(proof.unit, "GFLOP");
}

fn vulkan_copies_to_the_device_and_back() {
    let proof = prove(GpuWork::Transfer, GpuInterface::Vulkan);
    assert_eq!(proof.unit, "MiB");
    assert!(
        proof.work_done >= 32.0,
        "no copy in both directions: {proof:?}"
    );
}

fn opencl_multiplies() {
    let proof = prove(GpuWork::Compute, GpuInterface::Opencl);
    assert_eq!(proof.unit, "GFLOP");
}

fn two_devices_of_one_phase_are_told_apart() {
    let scratch = Scratch::new();
    let kinds = [
        kind(GpuWork::Transfer, GpuInterface::Vulkan),
        kind(GpuWork::Transfer, GpuInterface::Opencl),
    ];
    let mut loads = start(&kinds, &scratch);
    loads.wait_until_working(PATIENCE).unwrap();
    let proofs = segment(&mut loads);
    let interfaces = proofs.iter().map(|proof| proof.device.as_ref().unwrap());
    let interfaces: Vec<&str> = interfaces.map(|device| device.interface.as_str()).collect();
    assert_eq!(interfaces, ["vulkan", "opencl"]);
    assert!(
        proofs.iter().all(|proof| proof.work_done > 0.0),
        "{proofs:?}"
    );
}

fn a_program_that_is_killed_ends_its_load_and_says_so() {
    let scratch = Scratch::new();
    let mut loads = start(&[kind(GpuWork::Transfer, GpuInterface::Vulkan)], &scratch);
    loads.wait_until_working(PATIENCE).unwrap();
    for (pid, _) in marked(&mark(&loads)) {
        let comm = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        if comm.is_ok_and(|comm| comm.trim() == "wakepath-gpu") {
            let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
            rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        }
    }
    let deadline = Instant::now() + PATIENCE;
    let mut proof = segment(&mut loads).remove(0);
    while !proof.died_early {
        assert!(Instant::now() < deadline, "{proof:?}");
        proof = segment(&mut loads).remove(0);
    }
    assert!(!proof.working);
    let why = proof.reason.unwrap();
    assert!(why.contains("wakepath-gpu ended with signal: 9"), "{why}");
}

fn a_device_that_is_not_there_is_named() {
    let scratch = Scratch::new();
    let missing = LoadKind::Gpu {
        work: GpuWork::Compute,
        interface: Some(GpuInterface::Vulkan),
        device: 200,
    };
    match Loads::start(&[spec(missing, 0, None)], &options(&scratch)) {
        Err(LoadError::NoDevice(why)) if why.contains("libvulkan") => not_run(why),
        Err(error @ LoadError::NoDevice(_)) => {
            let said = error.to_string();
            assert!(
                said.starts_with("load gpu: Vulkan: there is no device 200; "),
                "{said}"
            );
        }
        Err(error) => not_run(error),
        Ok(_) => panic!("there is a device 200"),
    }
}
