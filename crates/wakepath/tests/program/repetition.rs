//! A campaign against the laboratory's promise: the same guests again and again on a host that does
//! its worst to the emulator's threads, and one digest of all their samples. The stage `repetition` of
//! `./test --deep` runs it and reports the counts; on two CPUs it takes hours.

use crate::kills::Moments;
use crate::lab::{Place, emulators_of, lacking, text};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

wakepath_test_program::tests![
    ;
    guests_repeat_on_a_host_that_does_its_worst,
    twenty_seeds_are_twenty_samples_and_each_repeats,
];

/// Runs of each kernel; fewer where `WAKEPATH_REPETITIONS` says so.
const RUNS: usize = 200;
/// Programs that keep the host busy.
const BUSY: usize = 16;
/// Sleeps and wakes often, which is where an emulator's threads meet; idle and beside loads. Short: a boot
/// has most of the meetings.
const SCENARIO: &str = r#"
name = "repeated"
rate = "1 kHz"
cycles = 150
warm-up = "20 ms"
repetitions = 1
policies = ["OTHER", "FIFO 80"]
[[phases]]
name = "idle"
[[phases]]
name = "stress"
loads = ["messages", "files", "network", "timers"]
[criterion]
latency = "1 ms"
miss-fraction = "50 %"
"#;

// Ignored: the stage `repetition` runs it: hours.
fn guests_repeat_on_a_host_that_does_its_worst() {
    let runs = std::env::var("WAKEPATH_REPETITIONS").map_or(RUNS, |n| n.parse().unwrap());
    let place = Place::new("repetition");
    std::fs::write(place.0.join("scenario.toml"), SCENARIO).unwrap();
    let _busy = Busy::start();
    let ended = AtomicBool::new(false);
    let (stops, digests) = std::thread::scope(|scope| {
        let disturbing = scope.spawn(|| disturb(&place, &ended));
        let digests = std::panic::catch_unwind(|| repeated(&place, runs));
        ended.store(true, Ordering::Relaxed);
        let stops = disturbing.join().unwrap();
        match digests {
            Ok(digests) => (stops, digests),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    for (kernel, digests) in &digests {
        println!(
            "repetition: {kernel}: {} runs beside {BUSY} busy programs, {} digest{}; emulators stopped {stops} times",
            digests.values().sum::<usize>(),
            digests.len(),
            if digests.len() == 1 { "" } else { "s" },
        );
    }
    for (kernel, digests) in &digests {
        assert_eq!(digests.len(), 1, "{kernel} parted: {digests:?}");
        assert_eq!(digests.values().sum::<usize>(), runs, "{kernel}");
    }
    assert!(
        stops as usize >= runs / 2,
        "nothing was disturbed: {stops} stops"
    );
}

// Ignored: the stage `repetition` runs it: many minutes.
fn twenty_seeds_are_twenty_samples_and_each_repeats() {
    const SEEDS: usize = 20;
    let place = Place::new("seeds");
    std::fs::write(place.0.join("scenario.toml"), SCENARIO).unwrap();
    let seeds: Vec<String> = (1..=SEEDS).map(|seed| seed.to_string()).collect();
    let seeds = seeds.iter().flat_map(|seed| ["--seed", seed]);
    let guests: Vec<&str> = ["--kernel", "debian:stock"]
        .into_iter()
        .chain(seeds)
        .collect();
    let [once, again] = ["once", "again"].map(|directory| {
        let output = place.lab_run(directory, &guests).output().unwrap();
        if let Some(why) = lacking(&output) {
            wakepath_test_program::not_run(why);
        }
        assert!(output.status.success(), "{}", text(&output.stderr));
        let digest = |seed| {
            let guest = format!("{directory}/debian-stock-seed-{seed}");
            digest_of(&place.0.join(guest).join("samples.parquet"))
        };
        (1..=SEEDS).map(digest).collect::<Vec<_>>()
    });
    assert_eq!(once, again);
    let different: BTreeSet<&String> = once.iter().collect();
    println!(
        "repetition: {SEEDS} seeds, {} digests, each twice the same",
        different.len()
    );
    assert_eq!(different.len(), SEEDS);
}

fn digest_of(file: &Path) -> String {
    let digest = Command::new("sha256sum").arg(file).output().unwrap();
    text(&digest.stdout)[..12].to_owned()
}

/// Programs that never sleep. At a lower priority than the emulators, so that these get on too.
struct Busy(Vec<Child>);

impl Busy {
    fn start() -> Self {
        let start = |_| {
            let loops = ["-n", "10", "sh", "-c", "while :; do :; done"];
            Command::new("nice").args(loops).spawn().unwrap()
        };
        Self((0..BUSY).map(start).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// How often each digest of samples came, by kernel.
type Digests = BTreeMap<&'static str, BTreeMap<String, usize>>;

/// As many runs at once as there are CPUs.
fn repeated(place: &Place, runs: usize) -> Digests {
    let (next, digests) = (AtomicUsize::new(0), Mutex::new(Digests::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= runs {
                        return;
                    }
                    for (kernel, digest) in digests_of(place, &format!("run-{run}")) {
                        let mut digests = digests.lock().unwrap();
                        *digests
                            .entry(kernel)
                            .or_default()
                            .entry(digest)
                            .or_default() += 1;
                    }
                }
            });
        }
    });
    digests.into_inner().unwrap()
}

/// The digest of each kernel's samples in one run.
fn digests_of(place: &Place, directory: &str) -> [(&'static str, String); 2] {
    let kernels = ["debian:stock", "debian:rt"].map(|kernel| ["--kernel", kernel]);
    let kernels = [kernels.as_flattened(), &["--timeout", "60min"]].concat();
    let output = place.lab_run(directory, &kernels).output().unwrap();
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let run = place.0.join(directory);
    let digests = ["debian-stock", "debian-rt"]
        .map(|kernel| (kernel, digest_of(&run.join(kernel).join("samples.parquet"))));
    std::fs::remove_dir_all(run).unwrap();
    digests
}

/// Makes one of an emulator's threads wait for everybody else for a moment, by turns the one for the
/// guest's CPUs and the other, with a stop of the whole in the middle. Returns how often one was
/// stopped. A thread that waited for ever would only keep the run from its end.
fn disturb(place: &Place, ended: &AtomicBool) -> u64 {
    let mut moments = Moments::new(15);
    let mut stops = 0;
    while !ended.load(Ordering::Relaxed) {
        std::thread::sleep(moments.next(Duration::from_millis(500)));
        for emulator in emulators_of(&place.0) {
            let Some(pid) = Pid::from_raw(emulator) else {
                continue;
            };
            let main = stops % 2 == 0;
            schedule(emulator, main, "--idle");
            std::thread::sleep(moments.next(Duration::from_millis(50)));
            if kill_process(pid, Signal::STOP).is_ok() {
                stops += 1;
                std::thread::sleep(moments.next(Duration::from_millis(50)));
                let _ = kill_process(pid, Signal::CONT);
            }
            std::thread::sleep(moments.next(Duration::from_millis(100)));
            schedule(emulator, main, "--other");
        }
    }
    stops
}

/// Gives an emulator's main thread, or all its others, a scheduling policy.
fn schedule(emulator: i32, main: bool, policy: &str) {
    let tasks = std::fs::read_dir(format!("/proc/{emulator}/task"));
    for task in tasks.into_iter().flatten().flatten() {
        let id = task.file_name().into_string().unwrap();
        if (id == emulator.to_string()) != main {
            continue;
        }
        // A thread may have ended meanwhile.
        let _ = Command::new("chrt")
            .args([policy, "--pid", "0", &id])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}
