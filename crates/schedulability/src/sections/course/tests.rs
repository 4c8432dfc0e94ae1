//! The course of a kernel against stretches worked out by hand.

use super::*;
use Kind::{BeforeScheduler, Interrupt, Off, Scheduler, Switch};
use proptest::prelude::*;

const TIMER: u64 = 1;
const SYSTEM_CALL: u64 = 2;
const SCHEDULER: u64 = 3;
const CALLER: u64 = 4;
const IDLE: u64 = 5;
const POINT: u64 = 6;
const OTHER: u64 = 7;

fn role(address: u64) -> Role {
    match address {
        TIMER => Role::Interrupt,
        SYSTEM_CALL => Role::Exception,
        SCHEDULER => Role::Scheduler,
        CALLER => Role::CallsScheduler,
        IDLE => Role::Idle,
        POINT => Role::Point,
        _ => Role::Other,
    }
}

/// A class by letters: n not preemptible, h hard, s soft, w the scheduler is wanted.
fn class(letters: &str) -> Class {
    Class {
        not_preemptible: letters.contains('n'),
        hard: letters.contains('h'),
        soft: letters.contains('s'),
        needs_scheduler: letters.contains('w'),
    }
}

/// The reported stretches, as kind, beginning, end and instructions of interrupts.
fn told(preemption: Preemption, course: &[(u64, What)]) -> Vec<(Kind, u64, u64, u64)> {
    let mut of = Course::new(preemption);
    let mut told = Vec::new();
    for &(count, what) in course {
        of.push(Transition { count, what }, role, &mut told);
    }
    // A new section lets go of the one before.
    let what = What::ToKernel(OTHER);
    of.push(
        Transition {
            count: 1 << 40,
            what,
        },
        role,
        &mut told,
    );
    let told = told
        .iter()
        .map(|one| (one.kind, one.from, one.to, one.interrupts));
    told.collect()
}

fn count(letters: &str, by: u64) -> What {
    What::Count(class(letters), by)
}

#[test]
fn an_interrupt_in_a_section_wakes_a_thread_that_the_scheduler_then_takes() {
    let course = [
        (100, count("n", OTHER)),
        (200, What::Arrived(TIMER)),
        (210, count("nh", OTHER)),
        (280, count("nhw", OTHER)),
        (290, count("nw", OTHER)),
        (300, What::InterruptsOn(OTHER)),
        (300, What::Returned),
        // The section ends, and the scheduler is called at once.
        (400, count("w", OTHER)),
        (405, count("nw", CALLER)),
        (410, What::Arrived(SCHEDULER)),
        (420, What::InterruptsOff(OTHER)),
        (450, count("n", OTHER)),
        (500, What::InterruptsOn(OTHER)),
        (510, count("", OTHER)),
    ];
    let expected = [
        (Interrupt, 200, 300, 0),
        (Off, 100, 400, 100),
        (BeforeScheduler, 400, 405, 0),
        (Scheduler, 405, 510, 0),
        (Switch, 420, 510, 0),
    ];
    assert_eq!(told(Preemption::Full, &course), expected);
}

#[test]
fn softirqs_behind_an_interrupt_are_a_section_and_no_interrupt() {
    let course = [
        (100, What::ToUser),
        (200, What::ToKernel(TIMER)),
        (200, What::Arrived(TIMER)),
        (210, count("nh", OTHER)),
        (260, count("", OTHER)),
        (270, count("ns", OTHER)),
        (275, What::InterruptsOn(OTHER)),
        (400, What::InterruptsOff(OTHER)),
        (410, count("", OTHER)),
        (430, What::InterruptsOn(OTHER)),
        (430, What::Returned),
        (430, What::ToUser),
    ];
    let expected = [(Interrupt, 200, 270, 0), (Off, 200, 430, 70)];
    assert_eq!(told(Preemption::Full, &course), expected);
}

#[test]
fn a_waiting_interrupt_comes_before_anything_is_free_and_prolongs_the_section() {
    // Interrupts off for 100; the next instruction's interrupt takes 50: one section of 150.
    let course = [
        (100, What::InterruptsOff(OTHER)),
        (200, What::InterruptsOn(OTHER)),
        (201, What::Arrived(TIMER)),
        (205, count("nh", OTHER)),
        (240, count("", OTHER)),
        (251, What::InterruptsOn(OTHER)),
        (251, What::Returned),
    ];
    let expected = [(Interrupt, 201, 251, 0), (Off, 100, 251, 50)];
    assert_eq!(told(Preemption::Full, &course), expected);
    // Two instructions in between, and they are two.
    let apart = course.map(|(at, what)| (if at > 200 { at + 1 } else { at }, what));
    let told = told(Preemption::Full, &apart);
    assert_eq!(told[0], (Off, 100, 200, 0));
    assert_eq!(told[2], (Off, 202, 252, 50));
}

#[test]
fn the_idle_thread_ends_a_switch_and_a_halt_ends_its_section() {
    let course = [
        (0, What::InterruptsOn(OTHER)),
        (100, count("n", CALLER)),
        (110, What::Arrived(SCHEDULER)),
        (120, What::InterruptsOff(OTHER)),
        (180, What::InterruptsOn(OTHER)),
        (200, What::Arrived(IDLE)),
        (210, What::InterruptsOff(OTHER)),
        (290, What::InterruptsOn(OTHER)),
        (291, What::Halted),
        (291, What::Arrived(TIMER)),
        (300, count("nh", OTHER)),
        (360, count("n", OTHER)),
        (371, What::InterruptsOn(OTHER)),
        (371, What::Returned),
        (420, What::Arrived(SCHEDULER)),
        (430, What::InterruptsOff(OTHER)),
        (520, What::InterruptsOn(OTHER)),
        (530, count("", OTHER)),
    ];
    let expected = [
        (Scheduler, 100, 200, 0),
        (Switch, 120, 200, 0),
        (Off, 200, 291, 0),
        (Interrupt, 291, 371, 0),
        (Off, 291, 420, 80),
        (Scheduler, 420, 530, 0),
        (Switch, 430, 530, 0),
    ];
    assert_eq!(told(Preemption::Full, &course), expected);
}

#[test]
fn a_kernel_that_is_not_preempted_by_itself_gives_way_at_points_and_to_programs() {
    let course = [
        (100, What::ToUser),
        (200, What::ToKernel(SYSTEM_CALL)),
        (200, What::Arrived(SYSTEM_CALL)),
        (210, What::InterruptsOn(OTHER)),
        (300, What::Arrived(POINT)),
        (310, count("n", OTHER)),
        // Not here: something is against it.
        (320, What::Arrived(POINT)),
        (330, count("", OTHER)),
        (700, What::InterruptsOff(OTHER)),
        (720, What::ToUser),
    ];
    let expected = [(Off, 200, 300, 0), (Off, 300, 720, 0)];
    assert_eq!(told(Preemption::Voluntary, &course), expected);
    let full = told(Preemption::Full, &course);
    assert_eq!(
        full,
        [(Off, 200, 210, 0), (Off, 310, 330, 0), (Off, 700, 720, 0)]
    );
}

#[test]
fn a_page_fault_in_an_interrupt_does_not_end_it() {
    let course = [
        (0, What::InterruptsOn(OTHER)),
        (200, What::Arrived(TIMER)),
        (210, count("nh", OTHER)),
        (220, What::Arrived(SYSTEM_CALL)),
        (240, What::Returned),
        (280, count("", OTHER)),
        (300, What::InterruptsOn(OTHER)),
        (300, What::Returned),
    ];
    assert_eq!(told(Preemption::Full, &course)[0], (Interrupt, 200, 300, 0));
}

proptest! {
    /// Whatever happens: stretches of one kind never overlap, and none is shorter than its interrupts.
    #[test]
    fn stretches_never_overlap(steps in prop::collection::vec((1_u64..50, 0_usize..14), 0..200)) {
        let mut at = 0;
        let course: Vec<(u64, What)> = steps.into_iter().map(|(step, which)| {
            at += step;
            let what = [
                What::InterruptsOff(OTHER), What::InterruptsOn(OTHER), What::ToUser,
                What::ToKernel(SYSTEM_CALL), What::Halted, What::Returned, What::Arrived(TIMER),
                What::Arrived(SCHEDULER), What::Arrived(IDLE), What::Arrived(POINT),
                count("n", OTHER), count("nh", OTHER), count("w", OTHER), count("nw", CALLER),
            ][which];
            (at, what)
        }).collect();
        for preemption in [Preemption::Full, Preemption::Voluntary] {
            let told = told(preemption, &course);
            for kind in [Off, BeforeScheduler, Scheduler, Switch] {
                let mine: Vec<_> = told.iter().filter(|one| one.0 == kind).collect();
                for pair in mine.windows(2) {
                    prop_assert!(pair[0].2 <= pair[1].1, "{:?}", pair);
                }
                for (_, from, to, interrupts) in mine {
                    prop_assert!(from <= to && *interrupts <= to - from);
                }
            }
        }
    }
}
