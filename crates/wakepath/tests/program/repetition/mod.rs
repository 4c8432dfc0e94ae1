//! A campaign against the laboratory's promise: the same guests again and again on a host that does its
//! worst to the emulator's threads, and one digest of all their samples. The stage `repetition` of
//! `./test --deep` runs it and reports the counts; on two CPUs it takes hours. An interrupted campaign
//! resumes if `WAKEPATH_REPETITION_DIRECTORY` names a directory to keep its count in.

pub mod devices;
mod disturbed;
mod ledger;

use crate::lab::{Place, lacking, text};
use disturbed::{Busy, disturb};
use ledger::{Entry, Ledger};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

wakepath_test_program::tests![
    ;
    guests_repeat_on_a_host_that_does_its_worst,
    twenty_seeds_are_twenty_samples_and_each_repeats,
];

/// Runs of each kernel; `WAKEPATH_REPETITIONS` can lower it.
const RUNS: usize = 200;
/// Programs that keep the host busy.
const BUSY: usize = 16;
const KERNELS: [&str; 2] = ["debian:stock", "debian:rt"];
/// As many meetings of the emulator's threads, with fewer instructions between them.
const FEW_INSTRUCTIONS: [&str; 2] = ["--ns-per-instruction", "4"];
/// Sleeps and wakes often, which is where an emulator's threads meet; idle and under loads that prove their
/// work in a segment this short. Short: a boot has most of the meetings.
const SCENARIO: &str = r#"
name = "repeated"
rate = "1 kHz"
cycles = 150
warm-up = "20 ms"
repetitions = 1
policies = ["FIFO 80"]
[[phases]]
name = "idle"
[[phases]]
name = "stress"
loads = ["messages", "network", "timers"]
[criterion]
latency = "1 ms"
miss-fraction = "50 %"
"#;

// Ignored: the stage `repetition` runs it: hours.
fn guests_repeat_on_a_host_that_does_its_worst() {
    let runs = number("WAKEPATH_REPETITIONS").unwrap_or(RUNS);
    let place = Place::new("repetition");
    std::fs::write(place.0.join("scenario.toml"), SCENARIO).unwrap();
    let kept = std::env::var_os("WAKEPATH_REPETITION_DIRECTORY").map(PathBuf::from);
    let campaign = Campaign {
        ledger: Mutex::new(Ledger::open(&kept.unwrap_or_else(|| place.0.join("kept")))),
        stops: AtomicU64::new(0),
        begun: AtomicUsize::new(0),
        until: number("WAKEPATH_REPETITION_MINUTES").map(|minutes| {
            let minutes = Duration::from_secs(60 * minutes as u64);
            Instant::now() + minutes
        }),
        place,
    };
    let _busy = Busy::start(BUSY);
    let ended = AtomicBool::new(false);
    let guests = std::thread::scope(|scope| {
        scope.spawn(|| disturb(&campaign.place.0, &ended, &campaign.stops));
        let guests = std::panic::catch_unwind(|| campaign.carry_out(runs));
        ended.store(true, Ordering::Relaxed);
        guests.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let ledger = campaign.ledger.into_inner().unwrap();
    let all = guests.each_ref().map(String::as_str);
    let stops = ledger.stops(&all);
    let mut fewest = runs;
    for (kernel, guest) in KERNELS.iter().zip(all) {
        let digests = ledger.digests(guest);
        let done = digests.values().sum::<usize>();
        fewest = fewest.min(done);
        println!(
            "repetition: {kernel}: {done} of {runs} runs beside {BUSY} busy programs, {} digest{}; emulators \
             stopped {stops} times",
            digests.len(),
            if digests.len() == 1 { "" } else { "s" },
        );
    }
    for (kernel, guest) in KERNELS.iter().zip(all) {
        let digests = ledger.digests(guest);
        assert_eq!(digests.len(), 1, "{kernel} parted: {digests:?}");
    }
    assert!(
        stops as usize >= fewest / 2,
        "nothing was disturbed: {stops} stops"
    );
    if fewest < runs {
        wakepath_test_program::not_run(format!(
            "{fewest} of {runs} runs in the time that it had, all alike"
        ));
    }
    ledger.set_aside();
}

// Ignored: the stage `repetition` runs it: many minutes.
fn twenty_seeds_are_twenty_samples_and_each_repeats() {
    const SEEDS: usize = 20;
    let place = Place::new("seeds");
    std::fs::write(place.0.join("scenario.toml"), SCENARIO).unwrap();
    let seeds: Vec<String> = (1..=SEEDS).map(|seed| seed.to_string()).collect();
    let seeds = seeds.iter().flat_map(|seed| ["--seed", seed]);
    let kernels = KERNELS.map(|kernel| ["--kernel", kernel]);
    let guests = kernels.as_flattened().iter().copied().chain(seeds);
    let guests: Vec<&str> = guests.chain(FEW_INSTRUCTIONS).collect();
    let [once, again] = ["once", "again"].map(|directory| {
        let output = place.lab_run(directory, &guests).output().unwrap();
        if let Some(why) = lacking(&output) {
            wakepath_test_program::not_run(why);
        }
        assert!(output.status.success(), "{}", text(&output.stderr));
        KERNELS.map(|kernel| {
            let kernel = kernel.replace(':', "-");
            let digest = |seed| {
                let guest = format!("{directory}/{kernel}-seed-{seed}");
                digest_of(&place.0.join(guest).join("samples.parquet"))
            };
            (1..=SEEDS).map(digest).collect::<Vec<_>>()
        })
    });
    assert_eq!(once, again);
    for (kernel, digests) in KERNELS.iter().zip(&once) {
        let different: BTreeSet<&String> = digests.iter().collect();
        println!(
            "repetition: {kernel}: {SEEDS} seeds, {} digests, each twice the same",
            different.len()
        );
        assert_eq!(different.len(), SEEDS, "{kernel}");
    }
}

fn digest_of(file: &Path) -> String {
    let digest = Command::new("sha256sum").arg(file).output().unwrap();
    text(&digest.stdout)[..12].to_owned()
}

/// A number that a variable holds.
fn number(variable: &str) -> Option<usize> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect(variable))
}

struct Campaign {
    place: Place,
    ledger: Mutex<Ledger>,
    stops: AtomicU64,
    begun: AtomicUsize,
    /// When no further run begins.
    until: Option<Instant>,
}

impl Campaign {
    /// Runs until the ledger has this number of each kernel, as many at once as there are CPUs; returns the
    /// guests, in the order of the kernels.
    fn carry_out(&self, runs: usize) -> [String; 2] {
        // The guests are known only after a run.
        let guests = self.run();
        let done = {
            let ledger = self.ledger.lock().unwrap();
            let done = guests
                .each_ref()
                .map(|guest| ledger.digests(guest).values().sum::<usize>());
            done[0].min(done[1])
        };
        if done > 1 {
            println!("the campaign resumes after {} runs", done - 1);
        }
        let left = AtomicUsize::new(runs.saturating_sub(done));
        let workers = number("WAKEPATH_REPETITIONS_BESIDE")
            .or_else(|| std::thread::available_parallelism().ok().map(usize::from));
        std::thread::scope(|scope| {
            for _ in 0..workers.unwrap_or(1) {
                scope.spawn(|| {
                    let one_less = |left: usize| left.checked_sub(1);
                    while self.until.is_none_or(|until| Instant::now() < until)
                        && left
                            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
                            .is_ok()
                    {
                        let again = self.run();
                        assert_eq!(again, guests, "program, kernel or emulator changed");
                    }
                });
            }
        });
        guests
    }

    /// Runs a guest of each kernel and keeps what came of it.
    fn run(&self) -> [String; 2] {
        let run = self.begun.fetch_add(1, Ordering::Relaxed);
        let directory = format!("run-{run}");
        let kernels = KERNELS.map(|kernel| ["--kernel", kernel]);
        let kernels = [
            kernels.as_flattened(),
            &FEW_INSTRUCTIONS,
            &["--timeout", "60min"],
        ]
        .concat();
        let output = self.place.lab_run(&directory, &kernels).output().unwrap();
        if let Some(why) = lacking(&output) {
            wakepath_test_program::not_run(why);
        }
        assert!(output.status.success(), "{}", text(&output.stderr));
        let guests = KERNELS.map(|kernel| self.keep(kernel, &self.place.0.join(&directory)));
        std::fs::remove_dir_all(self.place.0.join(directory)).unwrap();
        guests
    }

    /// Keeps a guest's line; of the first of its kind, and of one whose samples are others, the run too.
    fn keep(&self, kernel: &str, runs: &Path) -> String {
        let run = runs.join(kernel.replace(':', "-"));
        let (guest, digest) = (guest_of(&run), digest_of(&run.join("samples.parquet")));
        let mut ledger = self.ledger.lock().unwrap();
        let first = ledger.directory.join(format!("{guest}-first"));
        match ledger.digests(&guest).keys().next() {
            Some(known) if *known == digest => (),
            Some(_) => {
                let parted = ledger.directory.join(format!("{guest}-{digest}"));
                let diff = self.place.wakepath(&[
                    "lab",
                    "diff",
                    &first.display().to_string(),
                    &run.display().to_string(),
                ]);
                println!("{kernel} parted: {}", text(&diff.stdout).trim_end());
                moved(&run, &parted);
            }
            None => moved(&run, &first),
        }
        ledger.add(Entry {
            kernel: kernel.to_owned(),
            guest: guest.clone(),
            digest,
            stops: self.stops.swap(0, Ordering::Relaxed),
        });
        guest
    }
}

/// Moves a run to its final place, which can be on another file system.
fn moved(run: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    let copied = Command::new("cp").arg("-r").arg(run).arg(to).status();
    assert!(copied.unwrap().success());
}

/// A name for all that decides a guest's samples: its initramfs (program, scenario, seed), kernel and emulator.
fn guest_of(run: &Path) -> String {
    let emulator = std::fs::read(run.join("emulator.json")).unwrap();
    let emulator: Value = serde_json::from_slice(&emulator).unwrap();
    let decisive = ["version", "kernel_sha256", "initramfs_sha256"];
    let decisive = decisive.map(|key| emulator[key].as_str().unwrap());
    let digest = Sha256::digest(decisive.join(" "));
    digest[..6]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
