//! Guests as processes and as machines: they end with who started them, leave nothing, and have the CPUs that they were
//! given.

use super::{Place, emulators_of, lacking, text};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

wakepath_test_program::tests![
    ;
    a_guest_dies_with_its_wakepath_and_an_interrupted_run_leaves_no_guest,
    a_guest_of_two_cpus_isolates_one_as_its_parameters_say,
];

// Ignored: the stage `lab` runs it: minutes of a CPU.
fn a_guest_dies_with_its_wakepath_and_an_interrupted_run_leaves_no_guest() {
    for (name, signal, code) in [("killed", "-KILL", None), ("interrupted", "-INT", Some(1))] {
        let place = Place::new(name);
        let mut running = place
            .lab_run("run", &["--kernel", "debian:stock"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let console = place.0.join("run/debian-stock/console.log");
        if !wait_for(|| console.exists() || running.try_wait().unwrap().is_some()) {
            let _ = running.kill();
            panic!("no guest began");
        }
        if running.try_wait().unwrap().is_some() {
            let again = place.lab_run("again", &["--kernel", "debian:stock"]);
            let output = { again }.output().unwrap();
            let why = lacking(&output).unwrap_or_else(|| panic!("{}", text(&output.stderr)));
            wakepath_test_program::not_run(why);
        }
        assert!(emulator_of(&place.0), "a guest runs");
        kill(&running, signal);
        assert_eq!(running.wait().unwrap().code(), code);
        assert!(
            wait_for(|| !emulator_of(&place.0)),
            "{name}: its guest still runs"
        );
        let left = files_below(&place.0.join("run"));
        assert!(
            left.iter().all(|path| !path.contains("initramfs")),
            "{name}: {left:?}"
        );
        // Its remains block nothing: the next complaint is about the kernel.
        let again = place.lab_run("run", &["--kernel", "no-such-kernel"]);
        let said = text(&{ again }.output().unwrap().stderr);
        assert!(said.contains("is not a kernel: give"), "{name}: {said}");
    }
}

// Ignored: the stage `lab` runs it: minutes of a CPU.
fn a_guest_of_two_cpus_isolates_one_as_its_parameters_say() {
    let place = Place::new("isolated");
    // The guest mounts something over /tmp, and finds it all the same.
    let cat = place.0.join("cat").display().to_string();
    std::fs::copy("/bin/cat", &cat).unwrap();
    let output = place.wakepath(&[
        "lab",
        "exec",
        "--kernel",
        "debian:rt isolcpus=1",
        "--cpus",
        "2",
        "--directory",
        "out",
        "--",
        &cat,
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/isolated",
    ]);
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    let said = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        text(&output.stderr)
    );
    assert_eq!(said, "0-1\n1\n");
    let guest = place.0.join("out/debian-rt-isolcpus=1");
    let ends = std::fs::read_to_string(guest.join("commands.json")).unwrap();
    assert!(ends.contains("\"exit_code\": 0"), "{ends}");
}

/// The names of all files below a directory.
fn files_below(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.flat_map(|entry| {
        if entry.path().is_dir() {
            files_below(&entry.path())
        } else {
            vec![entry.file_name().to_string_lossy().into_owned()]
        }
    });
    names.collect()
}

fn kill(child: &Child, signal: &str) {
    let number = child.id().to_string();
    let sent = Command::new("kill").args([signal, &number]).status();
    assert!(sent.unwrap().success());
}

fn emulator_of(place: &Path) -> bool {
    !emulators_of(place).is_empty()
}

fn wait_for(mut met: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(120) {
        if met() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}
