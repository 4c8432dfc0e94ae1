//! A recorder played by a test, and loops that it records.

#![allow(unsafe_code)] // The reader's promise to be the only one.

use super::*;
use crate::shared::SharedMemory;

#[test]
fn a_cycle_that_is_not_finished_ends_with_the_next_wait_and_none_ends_twice() {
    let mut cycles = Loop::new("careless", Duration::from_millis(1)).unwrap();
    let first = cycles.wait().unwrap();
    let second = cycles.wait().unwrap();
    assert!(second.cycle > first.cycle, "{first:?} {second:?}");
    assert!(second.due_ns > first.due_ns && second.wake_ns >= second.due_ns);
    cycles.finish(second);
    let skipped = cycles.skipped();
    cycles.finish(second);
    cycles.finish(first);
    assert_eq!(cycles.skipped(), skipped);
    let third = cycles.wait().unwrap();
    assert!(third.cycle > second.cycle, "{second:?} {third:?}");

    let mut driven = Loop::driven("careless", Duration::from_millis(1)).unwrap();
    let first = driven.begin_cycle(Due::Estimated).unwrap();
    std::thread::sleep(Duration::from_millis(3));
    let second = driven.begin_cycle(Due::Estimated).unwrap();
    assert!(second.cycle > first.cycle, "{first:?} {second:?}");
}

#[test]
fn a_loop_without_a_recorder_runs_and_is_not_recorded() {
    let mut cycles = Loop::new("alone", Duration::from_millis(1)).unwrap();
    assert!(!cycles.is_recorded());
    for number in 0..5 {
        let activation = cycles.wait().unwrap();
        assert!(activation.cycle >= number);
        cycles.finish(activation);
    }
}

#[test]
fn what_is_no_name_or_no_period_is_refused() {
    for name in ["", "two\nlines", &"x".repeat(33)] {
        let error = Loop::new(name, Duration::from_millis(1)).err().unwrap();
        assert!(matches!(error, LoopError::Name(_)), "{error}");
    }
    for period in [Duration::ZERO, Duration::from_secs(11)] {
        let error = Loop::new("loop", period).err().unwrap();
        assert!(matches!(error, LoopError::Period(_)), "{error}");
    }
}

/// A recorder's side, played by the test, in this process.
fn recorded(memory: &'static SharedMemory, end_cycle: u64) -> (Left, Vec<u64>) {
    recorded_after(memory, end_cycle, Overrun::Skip, |_| ())
}

/// As [`recorded`], for a loop of this overrun that does this in each cycle.
fn recorded_after(
    memory: &'static SharedMemory,
    end_cycle: u64,
    overrun: Overrun,
    mut step: impl FnMut(u64) + Send + 'static,
) -> (Left, Vec<u64>) {
    let theirs = std::thread::spawn(move || {
        let ring = (0..memory.threads())
            .find(|&ring| memory.announcement(ring).claim("inner"))
            .unwrap();
        let (start_ns, recorded) =
            begin(memory, ring, "inner", 1_000_000, Wakes::ByItself(overrun));
        let due = DueTimes {
            start_ns,
            period_ns: 1_000_000,
        };
        let mut cycles = Loop {
            cycles: Cycles::with(due, WakeUp::default(), overrun, Accounting::default(), 0)
                .unwrap(),
            period: Duration::from_millis(1),
            recorded,
            driven: None,
            under_way: None,
        };
        while let Some(activation) = cycles.wait() {
            step(activation.cycle);
            cycles.finish(activation);
        }
        assert!(cycles.wait().is_none(), "it has ended for good");
    });
    let announcement = memory.announcement(0);
    let announced = loop {
        match announcement.announced() {
            Some(announced) => break announced,
            None => std::thread::sleep(LOOK),
        }
    };
    assert_eq!(
        (announced.name.as_str(), announced.period_ns),
        ("inner", 1_000_000)
    );
    assert_eq!(announced.overrun, overrun);
    announcement.plan(0, end_cycle);
    let words = memory.words();
    words
        .start_ns
        .store(clock::monotonic_ns() + LEAD_NS, Ordering::Relaxed);
    match end_cycle {
        // No cycles: stopped before the beginning.
        0 => words.stop.store(1, Ordering::Release),
        _ => words.go.store(1, Ordering::Release),
    }
    theirs.join().unwrap();
    let mut samples = Vec::new();
    // SAFETY: the only reader of this ring.
    unsafe { memory.reader(0) }.take(&mut samples, usize::MAX);
    let (left, skipped) = (announcement.left().0, memory.indices(0).skipped());
    if left != Left::Overrun {
        let counted = samples.len() as u64 + skipped;
        assert_eq!(counted, end_cycle, "every due time is accounted for");
    }
    let cycles = samples.iter().map(|sample| sample.cycle).collect();
    (left, cycles)
}

fn memory() -> &'static SharedMemory {
    Box::leak(Box::new(SharedMemory::create(2, 64).unwrap()))
}

#[test]
fn a_recorded_loop_begins_when_told_and_ends_after_its_last_cycle() {
    let (left, cycles) = recorded(memory(), 20);
    assert_eq!(left, Left::AllCycles);
    assert!(cycles.is_sorted() && cycles.iter().all(|&cycle| cycle < 20));
}

/// Five of its periods, in the first cycle from 10 on that runs: on a busy machine another than 10.
fn stall() -> impl FnMut(u64) + Send {
    let mut is_over = false;
    move |cycle| {
        if cycle >= 10 && !is_over {
            is_over = true;
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_recorded_loop_skips_catches_up_or_stops_as_it_was_made_to() {
    let of = |overrun| recorded_after(memory(), 60, overrun, stall());
    let (left, cycles) = of(Overrun::Skip);
    assert_eq!(left, Left::AllCycles);
    let stalled = *cycles.iter().find(|&&cycle| cycle >= 10).unwrap();
    let run_over = stalled + 1..stalled + 5;
    assert!(
        !cycles.iter().any(|cycle| run_over.contains(cycle)),
        "{cycles:?}"
    );

    let (left, cycles) = of(Overrun::CatchUp);
    assert_eq!(left, Left::AllCycles);
    assert_eq!(cycles, (0..60).collect::<Vec<_>>(), "none is left out");

    let (left, cycles) = of(Overrun::Stop);
    assert_eq!(left, Left::Overrun);
    // On a busy machine something else might have made an earlier one overrun.
    let last = *cycles.last().unwrap();
    assert!(last <= 10, "{cycles:?}");
    assert_eq!(cycles, (0..=last).collect::<Vec<_>>());
}

#[test]
fn a_loop_that_stops_at_an_overrun_ends_without_a_recorder_too() {
    let mut cycles = Loop::with_overrun("alone", Duration::from_millis(1), Overrun::Stop).unwrap();
    let activation = cycles.wait().unwrap();
    std::thread::sleep(Duration::from_millis(3));
    cycles.finish(activation);
    assert!(cycles.wait().is_none() && cycles.wait().is_none());
}

#[test]
fn a_loop_that_is_only_asked_who_it_is_runs_no_cycle() {
    let (left, cycles) = recorded(memory(), 0);
    assert_eq!(cycles, [0; 0]);
    assert!(matches!(left, Left::AllCycles | Left::Stopped));
}

#[test]
fn a_driven_loop_that_passes_over_the_end_of_its_warm_up_forgets_it_too() {
    const PERIOD_NS: u64 = 1_000_000;
    let memory = memory();
    let announcement = memory.announcement(0);
    announcement.plan(10, 100);
    let theirs = std::thread::spawn(move || {
        assert!(announcement.claim("inner"));
        let (start_ns, recorded) = begin(memory, 0, "inner", PERIOD_NS, Wakes::ByAnother);
        let row = DueTimes {
            start_ns,
            period_ns: PERIOD_NS,
        };
        let mut cycles = Loop {
            cycles: Cycles::new(row).unwrap(),
            period: Duration::from_millis(1),
            recorded,
            driven: Some(Driven {
                clock: ForeignClock::new(PERIOD_NS),
                row,
                next: 0,
                skipped: 0,
                ended_ns: 0,
            }),
            under_way: None,
        };
        let section = cycles.section("part", None);
        // The ninth cycle would be the last of the warm-up.
        for cycle in [0, 1, 2, 14, 15] {
            let due_ns = start_ns + cycle * PERIOD_NS;
            while clock::monotonic_ns() < due_ns {
                std::thread::sleep(LOOK);
            }
            let activation = cycles.begin_cycle(Due::At(due_ns)).unwrap();
            assert_eq!(activation.cycle, cycle);
            cycles.time(section, || ());
            cycles.finish(activation);
        }
    });
    while announcement.announced().is_none() {
        std::thread::sleep(LOOK);
    }
    let words = memory.words();
    let start_ns = clock::monotonic_ns() + LEAD_NS;
    words.start_ns.store(start_ns, Ordering::Relaxed);
    words.go.store(1, Ordering::Release);
    theirs.join().unwrap();
    let sections = announcement.sections();
    let runs: Vec<u64> = sections.iter().map(|section| section.runs).collect();
    assert_eq!(runs, [2], "of the judged cycles alone");
}
