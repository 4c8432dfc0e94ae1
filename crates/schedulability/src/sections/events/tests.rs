//! Events against stretches worked out by hand.

use super::Happened::{InterruptsOff, InterruptsOn, PreemptionOff, PreemptionOn, Switch};
use super::*;

const CODE: u64 = 0xffff_ffff_8100_0000;
const CALLER: u64 = CODE + 0x1000;
const SCHEDULE: u64 = CODE + 0x2000;

fn role(address: u64) -> Role {
    match address {
        SCHEDULE => Role::Scheduler,
        CALLER => Role::CallsScheduler,
        _ => Role::Other,
    }
}

/// The stretches as kind, beginning, end and what interrupts took. Letters: n not preemptible, h hard, s soft,
/// w the scheduler is wanted.
fn told(events: &[(u64, &str, Happened)]) -> Vec<(Kind, u64, u64, u64)> {
    let (mut course, mut told) = (KernelCourse::default(), Vec::new());
    // It is certain that nothing was off.
    let begin = [(0, "", InterruptsOff(CODE)), (1, "", InterruptsOn(CODE))];
    for &(at_ns, letters, happened) in begin.iter().chain(events) {
        let class = Class {
            not_preemptible: letters.contains('n'),
            hard: letters.contains('h'),
            soft: letters.contains('s'),
            needs_scheduler: letters.contains('w'),
        };
        let event = KernelTold {
            at_ns,
            class,
            happened,
        };
        course.push(event, role, &mut told);
    }
    course.hole(&mut told);
    let told = told.iter().skip_while(|one| one.to <= 1);
    told.map(|one| (one.kind, one.from, one.to, one.interrupts))
        .collect()
}

#[test]
fn what_is_off_within_what_is_off_is_one_section() {
    // A lock with interrupts off, within another lock; the kernel tells only the outermost of each.
    let found = told(&[
        (10_000, "n", PreemptionOff(CODE)),
        (11_000, "n", InterruptsOff(CODE)),
        (12_000, "n", InterruptsOn(CODE)),
        (13_000, "n", PreemptionOn(CODE)),
        (20_000, "", InterruptsOff(CODE)),
        (21_000, "n", PreemptionOff(CODE)),
        (22_000, "n", InterruptsOn(CODE)),
        (23_000, "n", PreemptionOn(CODE)),
    ]);
    assert_eq!(
        found,
        [
            (Kind::Off, 10_000, 13_000, 0),
            (Kind::Off, 20_000, 23_000, 0)
        ]
    );
}

#[test]
fn an_interrupt_is_taken_out_of_a_section_and_its_softirqs_are_not() {
    let found = told(&[
        (10_000, "n", PreemptionOff(CODE)),
        (11_000, "n", InterruptsOff(CODE)),
        (11_100, "nh", Happened::Interrupt(3)),
        // Softirqs follow, with interrupts on.
        (12_000, "ns", InterruptsOn(CODE)),
        (15_000, "ns", InterruptsOff(CODE)),
        (15_200, "n", InterruptsOn(CODE)),
        (16_000, "n", PreemptionOn(CODE)),
    ]);
    assert_eq!(
        found,
        [
            (Kind::Interrupt, 11_000, 12_000, 0),
            (Kind::Off, 10_000, 16_000, 1_000)
        ]
    );
}

#[test]
fn an_interrupt_that_waited_for_a_section_goes_on_with_it_and_a_later_one_does_not() {
    let interrupt = |at: u64| {
        [
            (at, "", InterruptsOff(CODE)),
            (at + 100, "nh", PreemptionOff(CODE)),
            (at + 1_000, "nh", PreemptionOn(CODE)),
            (at + 1_100, "", InterruptsOn(CODE)),
        ]
    };
    let section = [
        (10_000, "", InterruptsOff(CODE)),
        (15_000, "", InterruptsOn(CODE)),
    ];
    let waited = told(&[&section[..], &interrupt(15_500)].concat());
    let off = |found: &[(Kind, u64, u64, u64)]| {
        let off = found.iter().filter(|one| one.0 == Kind::Off);
        off.map(|one| (one.1, one.2, one.3)).collect::<Vec<_>>()
    };
    assert_eq!(off(&waited), [(10_000, 16_600, 1_100)]);
    let later = told(&[&section[..], &interrupt(17_000)].concat());
    assert_eq!(off(&later), [(10_000, 15_000, 0), (17_000, 18_100, 1_100)]);
}

#[test]
fn a_switch_within_the_scheduler_ends_the_callers_section_and_the_next_threads_begins_none() {
    let found = told(&[
        (10_000, "n", PreemptionOff(CALLER)),
        (10_400, "n", InterruptsOff(SCHEDULE)),
        (11_000, "n", Switch { to_idle: false }),
        (11_500, "n", InterruptsOn(CODE)),
        (12_000, "n", PreemptionOn(CALLER)),
        (20_000, "", InterruptsOff(CODE)),
    ]);
    assert_eq!(
        found,
        [
            (Kind::Scheduler, 10_000, 12_000, 0),
            (Kind::Switch, 10_400, 12_000, 0)
        ]
    );
}

#[test]
fn an_idle_cpu_has_no_section_while_it_halts_with_interrupts_on_or_off() {
    let to_idle = [
        (10_000, "n", PreemptionOff(CALLER)),
        (10_400, "n", InterruptsOff(SCHEDULE)),
        (11_000, "n", Switch { to_idle: true }),
        (11_500, "n", InterruptsOn(CODE)),
        (12_000, "n", InterruptsOff(CODE)),
        (12_500, "n", Happened::IdleEntry),
    ];
    // HLT: interrupts on; one comes and asks for the scheduler.
    let halted = [
        (12_600, "n", InterruptsOn(CODE)),
        (900_000, "n", InterruptsOff(CODE)),
        (900_100, "nh", Happened::Interrupt(1)),
        (901_000, "nw", InterruptsOn(CODE)),
        (901_100, "nw", Happened::IdleExit),
        (902_000, "nw", InterruptsOff(SCHEDULE)),
        (903_000, "n", Switch { to_idle: false }),
        (903_500, "n", InterruptsOn(CODE)),
        (904_000, "n", PreemptionOn(CALLER)),
    ];
    let found = told(&[&to_idle[..], &halted].concat());
    let expected = [
        (Kind::Scheduler, 10_000, 11_500, 0),
        (Kind::Switch, 10_400, 11_500, 0),
        (Kind::Off, 11_500, 12_600, 0),
        (Kind::Interrupt, 900_000, 901_000, 0),
        (Kind::Off, 900_000, 902_000, 1_000),
        (Kind::Scheduler, 902_000, 904_000, 0),
        (Kind::Switch, 902_000, 904_000, 0),
    ];
    assert_eq!(found, expected);
    // MWAIT: interrupts stay off until the idle thread has reported its exit.
    let waited = [
        (900_000, "n", Happened::IdleExit),
        (900_200, "n", InterruptsOn(CODE)),
        (900_500, "n", InterruptsOff(CODE)),
        (900_600, "nh", Happened::Interrupt(1)),
        (901_000, "nw", InterruptsOn(CODE)),
        (902_000, "nw", InterruptsOff(SCHEDULE)),
        (903_500, "n", InterruptsOn(CODE)),
        (904_000, "n", PreemptionOn(CALLER)),
    ];
    let found = told(&[&to_idle[..], &waited].concat());
    let off: Vec<_> = found.iter().filter(|one| one.0 == Kind::Off).collect();
    assert_eq!(
        off,
        [
            &(Kind::Off, 11_500, 12_500, 0),
            &(Kind::Off, 900_000, 902_000, 500)
        ]
    );
}

#[test]
fn an_interrupt_between_the_word_and_the_deed_lengthens_nothing() {
    // The event reported preemption on, but the count was still set when an interrupt arrived.
    let found = told(&[
        (10_000, "n", PreemptionOff(CODE)),
        (11_000, "n", PreemptionOn(CODE)),
        (11_050, "n", InterruptsOff(CODE)),
        (11_100, "nh", Happened::Interrupt(1)),
        (11_500, "n", InterruptsOn(CODE)),
        (900_000, "", InterruptsOff(CODE)),
        (900_100, "", InterruptsOn(CODE)),
    ]);
    let longest = found.iter().map(|(_, from, to, _)| to - from).max();
    assert_eq!(longest, Some(1_500));
}
