//! Explains a generated run of ten minutes at 1 kHz with a full trace, 10 million events, and holds
//! it against the target: under 10 s and under 500 MB. `cargo bench -p wakepath-explain`.

use std::sync::Arc;
use std::time::Instant;
use wakepath_explain::{Bands, Explainer, LoopThread, Options, Totals};
use wakepath_timeline::{Interrupt, KernelEvent, Left, Sample, SoftIrq, Thread, ThreadName, What};

const CYCLES: u64 = 600_000;
const PERIOD_NS: u64 = 1_000_000;
const START_NS: u64 = 1_000_000_000;
const LOOP: u32 = 100;

fn thread(id: u32, name: &str, priority: i32) -> Thread {
    let name = ThreadName::new(name.as_bytes());
    Thread { id, name, priority }
}

struct Names {
    wakeup: Arc<str>,
    tick: Arc<str>,
    disk: Arc<str>,
    the_loop: Thread,
    hog: Thread,
    other: Thread,
}

/// Late by a little pseudo-random amount, every 500th cycle by a millisecond's half.
fn late_ns(cycle: u64) -> u64 {
    let noise = cycle.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
    2_000 + noise + if cycle % 500 == 7 { 400_000 } else { 0 }
}

fn sample(cycle: u64) -> Sample {
    let due_ns = START_NS + cycle * PERIOD_NS;
    let wake_ns = due_ns + late_ns(cycle) + 6_000;
    Sample {
        cycle,
        due_ns,
        wake_ns,
        end_ns: wake_ns + 50_000,
        cpu: 1,
        ..Sample::default()
    }
}

/// Seventeen events of one cycle.
fn events(cycle: u64, names: &Names, out: &mut Vec<KernelEvent>) {
    let due_ns = START_NS + cycle * PERIOD_NS;
    let at = due_ns + late_ns(cycle);
    let hog = names.hog.id;
    let mut on = |cpu, at_ns, current, what| {
        out.push(KernelEvent {
            at_ns,
            cpu,
            current,
            what,
        });
    };
    let disk = Interrupt::Device {
        number: 36,
        name: names.disk.clone(),
    };
    on(0, due_ns - 400_000, 0, What::InterruptEntry(disk.clone()));
    on(0, due_ns - 395_000, 0, What::InterruptExit(disk));
    on(1, at, hog, What::InterruptEntry(Interrupt::LocalTimer));
    let function = match cycle % 4 {
        0 => names.tick.clone(),
        _ => names.wakeup.clone(),
    };
    on(
        1,
        at + 300,
        hog,
        What::TimerExpiryEntry { timer: 3, function },
    );
    on(1, at + 600, hog, What::TimerExpiryExit { timer: 3 });
    let function = names.wakeup.clone();
    on(
        1,
        at + 700,
        hog,
        What::TimerExpiryEntry { timer: 7, function },
    );
    let (thread, target_cpu) = (names.the_loop.clone(), 1);
    on(
        1,
        at + 900,
        hog,
        What::Waking {
            thread: thread.clone(),
            target_cpu,
        },
    );
    on(1, at + 1_000, hog, What::WakeUp { thread, target_cpu });
    on(1, at + 1_200, hog, What::TimerExpiryExit { timer: 7 });
    on(1, at + 1_300, hog, What::SoftIrqRaise(SoftIrq(9)));
    on(
        1,
        at + 2_000,
        hog,
        What::InterruptExit(Interrupt::LocalTimer),
    );
    on(1, at + 2_100, hog, What::SoftIrqEntry(SoftIrq(9)));
    on(1, at + 3_100, hog, What::SoftIrqExit(SoftIrq(9)));
    let switch = |previous: &Thread, left, next: &Thread| What::Switch {
        previous: previous.clone(),
        left,
        next: next.clone(),
    };
    on(
        1,
        at + 5_000,
        hog,
        switch(&names.hog, Left::Runnable, &names.the_loop),
    );
    let start = What::TimerStart {
        timer: 7,
        function: names.wakeup.clone(),
        expires_ns: due_ns + PERIOD_NS,
        soft_expires_ns: due_ns + PERIOD_NS,
        soft: false,
    };
    on(1, at + 57_000, LOOP, start);
    on(
        1,
        at + 58_000,
        LOOP,
        switch(&names.the_loop, Left::Sleeping, &names.other),
    );
    on(
        1,
        at + 70_000,
        names.other.id,
        switch(&names.other, Left::Sleeping, &names.hog),
    );
}

/// Largest memory of this process so far, in kilobytes, as the kernel reports it.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn main() {
    // `cargo test --benches` asks each bench for its tests; this one has none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let names = Names {
        wakeup: "hrtimer_wakeup".into(),
        tick: "tick_nohz_handler".into(),
        disk: "virtio1-req.0".into(),
        the_loop: thread(LOOP, "loop", 19),
        hog: thread(200, "stress-ng-cpu", 120),
        other: thread(300, "kworker/1:1H", 100),
    };
    let began = Instant::now();
    let samples: Vec<Sample> = (0..CYCLES).map(sample).collect();
    let mut latencies: Vec<u64> = samples.iter().map(|s| s.wake_ns - s.due_ns).collect();
    let bands = Bands::new(&mut latencies);
    drop(latencies);
    let mut totals = Totals::new(200_000, 0, 10, bands);
    let loops = vec![LoopThread {
        name: "loop".into(),
        judged_ns: None,
        allowed: Vec::new(),
        until_next_wake_up: false,
        is_from_start: false,
        is_real_time: false,
        thread: LOOP,
        cpus: vec![1],
        samples,
    }];
    let mut explainer = Explainer::new(loops, Options::default());
    let mut of_cycle = Vec::with_capacity(32);
    for cycle in 0..CYCLES {
        events(cycle, &names, &mut of_cycle);
        for event in of_cycle.drain(..) {
            explainer.event(&event, |_, cycle| totals.add(cycle));
        }
    }
    explainer.finish(|_, cycle| totals.add(cycle));
    let seconds = began.elapsed().as_secs_f64();
    let megabytes = peak_kb() as f64 / 1024.0;
    let count = explainer.events();
    println!(
        "{count} events, {} cycles, {} late: {seconds:.2} s, {:.0} ns/event, {megabytes:.0} MB at most (making the events included)",
        totals.cycles,
        totals.late,
        seconds * 1e9 / count as f64,
    );
    assert_eq!(totals.cycles, CYCLES);
    assert_eq!(totals.late, CYCLES / 500);
    assert!(count >= 10_000_000, "too few events for the claim");
    assert!(seconds < 10.0 && megabytes < 500.0, "the target is missed");
}
