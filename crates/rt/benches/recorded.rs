//! What being recorded costs a loop in each cycle: its end with the sample on its way, a timed section, a line of its
//! log with three arguments, a value.
//!
//! `cargo bench -p wakepath-rt`. The program starts itself as the recorded one; the reading of the clock
//! around each part is taken off.
#![allow(missing_docs)]

use rustix::fd::{AsFd, AsRawFd};
use rustix::io::{FdFlags, fcntl_setfd};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wakepath_rt::recorded::VARIABLE;
use wakepath_rt::shared::SharedMemory;
use wakepath_rt::{Loop, Preparation, clock, log};
use wakepath_timeline::Policy;

const PERIOD: Duration = Duration::from_micros(200);
const CYCLES: u64 = 50_000;

fn main() {
    match std::env::var_os(VARIABLE) {
        Some(_) => recorded(),
        None => recorder(),
    }
}

/// The recorder's side: takes the samples out while the other runs.
fn recorder() {
    let memory = SharedMemory::create_with(1, 1 << 14, 1 << 19).expect("shared memory");
    memory.announcement(0).plan(0, CYCLES);
    let shared = memory.file();
    let shared = shared.as_fd();
    fcntl_setfd(shared, FdFlags::empty()).expect("an inherited descriptor");
    let own = std::env::current_exe().expect("this program");
    let mut child = Command::new(own)
        .env(VARIABLE, shared.as_raw_fd().to_string())
        .spawn()
        .expect("this program again");
    while memory.announcement(0).announced().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let words = memory.words();
    let start_ns = clock::monotonic_ns() + 20_000_000;
    words.start_ns.store(start_ns, Ordering::Relaxed);
    words.go.store(1, Ordering::Release);
    #[allow(unsafe_code)]
    // SAFETY: the only reader of this ring.
    let mut reader = unsafe { memory.reader(0) };
    let mut samples = Vec::with_capacity(CYCLES as usize);
    let mut said_reader = memory.said_reader(0);
    let mut said = 0_u64;
    while child.try_wait().expect("its state").is_none() {
        reader.take(&mut samples, usize::MAX);
        said_reader.take(|_| said += 1);
        std::thread::sleep(Duration::from_millis(50));
    }
    reader.take(&mut samples, usize::MAX);
    said_reader.take(|_| said += 1);
    let dropped = memory.said_indices(0).dropped();
    println!("{said} sections, lines and values came, {dropped} were dropped");
    let lost = memory.indices(0).lost();
    println!("{} samples came, {lost} were lost", samples.len());
}

fn recorded() {
    // As far as this user may: the figures are the same, their tail is not.
    let real_time = Preparation {
        policy: Policy::Fifo { priority: 80 },
        ..Preparation::default()
    };
    if real_time.apply().is_err() {
        println!("without FIFO 80: this user may not");
    }
    let mut clocks: Vec<u64> = (0..10_000)
        .map(|_| {
            let before = clock::monotonic_ns();
            clock::monotonic_ns() - before
        })
        .collect();
    clocks.sort_unstable();
    let clock_ns = clocks[clocks.len() / 2];

    let mut cycles = Loop::new("bench", PERIOD).expect("a loop");
    assert!(cycles.is_recorded());
    let section = cycles.section("part", Some(Duration::from_micros(1)));
    let taken = || Vec::with_capacity(CYCLES as usize);
    let [mut ends, mut sections, mut numbers, mut texts, mut values] = [(); 5].map(|()| taken());
    while let Some(activation) = cycles.wait() {
        let before = clock::monotonic_ns();
        cycles.begin(section);
        cycles.end(section);
        let sectioned = clock::monotonic_ns();
        log!(
            cycles,
            "cycle {} at {} of {:.3}",
            activation.cycle,
            before,
            0.5
        );
        let numbered = clock::monotonic_ns();
        log!(cycles, "{} of {} is {}", "height", 7, "in metres");
        let said = clock::monotonic_ns();
        cycles.value("height", 0.5);
        let between = clock::monotonic_ns();
        cycles.finish(activation);
        let after = clock::monotonic_ns();
        for (to, from, until) in [
            (&mut sections, before, sectioned),
            (&mut numbers, sectioned, numbered),
            (&mut texts, numbered, said),
            (&mut values, said, between),
            (&mut ends, between, after),
        ] {
            to.push((until - from).saturating_sub(clock_ns));
        }
    }
    println!("reading the clock: {clock_ns} ns");
    told("the end of a cycle, with its sample", &mut ends);
    told("a section", &mut sections);
    told("a line with three numbers", &mut numbers);
    told("a line with two texts and a number", &mut texts);
    told("a value", &mut values);
}

fn told(what: &str, taken: &mut [u64]) {
    taken.sort_unstable();
    let at = |share: f64| taken[((taken.len() - 1) as f64 * share) as usize];
    println!(
        "{what}: median {} ns, p99 {} ns, p99.99 {} ns, of {}",
        at(0.5),
        at(0.99),
        at(0.9999),
        taken.len()
    );
}
