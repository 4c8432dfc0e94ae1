//! Cost of being recorded to a loop in each cycle.
//!
//! Measures the end of a cycle with its sample, a timed section, a log line with three arguments,
//! and a value: once, as the first of its kind after a sleep, and ten in a row, with warm caches.
//!
//! `cargo bench -p wakepath-rt [-- PERIOD_US [CYCLES [MIB]]]`. The program starts itself as the
//! recorded one; the cost of reading the clock around each part is subtracted. With MIB the loop
//! walks through that much memory after each cycle, so that caches hold nothing of the next one:
//! the same cold start in each cycle, whatever else the machine does.
#![allow(missing_docs)]

use rustix::fd::{AsFd, AsRawFd};
use rustix::io::{FdFlags, fcntl_setfd};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wakepath_rt::recorded::VARIABLE;
use wakepath_rt::shared::SharedMemory;
use wakepath_rt::{Loop, Preparation, Section, clock, log};
use wakepath_timeline::Policy;

/// Number of repetitions of one kind.
const ROW: u64 = 10;

fn main() {
    // Cargo passes `--bench`.
    let numbers: Vec<u64> = std::env::args()
        .filter_map(|one| one.parse().ok())
        .collect();
    let period = Duration::from_micros(numbers.first().copied().unwrap_or(200));
    let cycles = numbers.get(1).copied().unwrap_or(50_000);
    let walked = numbers.get(2).copied().unwrap_or(0) as usize * (1 << 20);
    match std::env::var_os(VARIABLE) {
        Some(_) => recorded(period, cycles, walked),
        None => recorder(cycles),
    }
}

/// The recorder's side: takes the samples while the loop runs.
fn recorder(cycles: u64) {
    let memory = SharedMemory::create_with(1, 1 << 14, 1 << 19).expect("shared memory");
    memory.announcement(0).plan(0, cycles);
    let shared = memory.file();
    let shared = shared.as_fd();
    fcntl_setfd(shared, FdFlags::empty()).expect("an inherited descriptor");
    let own = std::env::current_exe().expect("this program");
    let mut child = Command::new(own)
        .args(std::env::args_os().skip(1))
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
    let mut samples = Vec::with_capacity(cycles as usize);
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

fn recorded(period: Duration, count: u64, walked: usize) {
    // As far as this user's rights allow: only the tail of the figures depends on it.
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

    let mut cycles = Loop::new("bench", period).expect("a loop");
    assert!(cycles.is_recorded());
    let section = cycles.section("part", Some(Duration::from_micros(1)));
    let taken = || Vec::with_capacity(count as usize);
    let mut first = [(); 5].map(|()| taken());
    let mut row = [(); 5].map(|()| taken());
    let mut whole = taken();
    let mut woken = taken();
    let mut others = vec![0_u8; walked];
    while let Some(activation) = cycles.wait() {
        let mut at = [clock::monotonic_ns(); 11];
        let mut mark = |place: usize| at[place] = clock::monotonic_ns();
        one_section(&mut cycles, section);
        mark(1);
        numbers(&mut cycles, activation.cycle);
        mark(2);
        texts(&mut cycles);
        mark(3);
        cycles.value("height", 0.5);
        mark(4);
        (0..ROW).for_each(|_| one_section(&mut cycles, section));
        mark(5);
        (0..ROW).for_each(|_| numbers(&mut cycles, activation.cycle));
        mark(6);
        (0..ROW).for_each(|_| texts(&mut cycles));
        mark(7);
        (0..ROW).for_each(|_| cycles.value("height", 0.5));
        mark(8);
        cycles.begin(section);
        (0..ROW).for_each(|_| cycles.switch(section, section));
        cycles.end(section);
        mark(9);
        cycles.finish(activation);
        mark(10);
        let took = |place: usize| (at[place] - at[place - 1]).saturating_sub(clock_ns);
        for (place, to) in [1, 2, 3, 4, 10].into_iter().zip(&mut first) {
            to.push(took(place));
        }
        woken.push((at[0] - activation.wake_ns).saturating_sub(clock_ns));
        whole.push((at[4] - activation.wake_ns).saturating_sub(5 * clock_ns));
        for (place, to) in [5, 6, 7, 8, 9].into_iter().zip(&mut row) {
            to.push(took(place) / ROW);
        }
        others
            .iter_mut()
            .step_by(64)
            .for_each(|byte| *byte = byte.wrapping_add(1));
    }
    println!("reading the clock: {clock_ns} ns");
    let whats = [
        "a section",
        "a line with three numbers",
        "a line with two texts and a number",
        "a value",
        "the end of a cycle, with its sample",
    ];
    for (what, taken) in whats.iter().zip(&mut first) {
        told(what, taken);
    }
    told("from the wake-up until `wait` returns", &mut woken);
    told(
        "from the wake-up through the first four of these",
        &mut whole,
    );
    let whats = [&whats[..4], &["a section that begins where another ends"]].concat();
    for (what, taken) in whats.iter().zip(&mut row) {
        told(&format!("{what}, {ROW} in a row, each"), taken);
    }
}

fn one_section(cycles: &mut Loop, section: Section) {
    cycles.begin(section);
    cycles.end(section);
}

fn numbers(cycles: &mut Loop, cycle: u64) {
    log!(cycles, "cycle {} at {} of {:.3}", cycle, cycle * 7, 0.5);
}

fn texts(cycles: &mut Loop) {
    log!(cycles, "{} of {} is {}", "height", 7, "in metres");
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
