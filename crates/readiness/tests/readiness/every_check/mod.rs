//! Every check on trees that make it good, bad and unknown. Each tree holds a few files over the
//! same base: two CPUs, the loop on CPU 1.

mod files;
mod interrupts_and_threads;
mod kernel_and_boot;
mod power_and_topology;
mod scheduler_and_memory;
mod the_rest;

use files::*;
use std::time::Duration;
use wakepath_machine::Root;
use wakepath_readiness::{Inspection, LoopAtHand, Program, State, all, named};

/// Inputs of each check: good, bad, unknown.
fn cases() -> impl Iterator<Item = &'static Case> {
    [
        kernel_and_boot::CASES,
        power_and_topology::CASES,
        interrupts_and_threads::CASES,
        scheduler_and_memory::CASES,
        the_rest::CASES,
    ]
    .into_iter()
    .flatten()
}

fn subject() -> LoopAtHand {
    LoopAtHand {
        period_ns: 4_000_000,
        latency_ns: Some(400_000),
        cpus: "1".parse().unwrap(),
        priority: Some(80),
        program: Some(Program {
            name: "flyer".into(),
            pid: Some(9),
        }),
    }
}

fn tree(files: Files) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in BASE.iter().chain(files) {
        let path = directory.path().join(path);
        if *content == GONE {
            std::fs::remove_file(path).unwrap();
            continue;
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    directory
}

fn state_with(id: &str, files: Files, subject: LoopAtHand) -> (State, String) {
    let directory = tree(files);
    let seen = Inspection::read(Root::at(directory.path()), subject, Duration::ZERO);
    let finding = (named(id).unwrap().judge)(&seen);
    (finding.state, format!("{finding:?}"))
}

#[test]
fn every_check_is_good_where_it_should_be_bad_where_it_should_be_and_else_unknown() {
    let mut wrong = Vec::new();
    for (id, good, bad, unknown) in cases() {
        for (files, expected) in [
            (good, State::Good),
            (bad, State::Bad),
            (unknown, State::Unknown),
        ] {
            if SEPARATE.contains(&(*id, expected)) {
                continue;
            }
            let (state, finding) = state_with(id, files, subject());
            if state != expected {
                wrong.push(format!("{id} should be {expected:?}: {finding}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Cases that the table can't contain: these have their own test below, or no such state.
const SEPARATE: &[(&str, State)] = &[
    // Only ethtool reads it: always unknown if there is a card.
    ("Q7", State::Good),
    ("Q7", State::Bad),
    ("M2", State::Good),
    ("M2", State::Bad),
    ("C2", State::Good),
    ("C2", State::Bad),
    ("C2", State::Unknown),
];

#[test]
fn no_check_is_left_out_of_the_table() {
    let tested: Vec<&str> = cases().map(|(id, ..)| *id).collect();
    let all: Vec<&str> = all().map(|check| check.id).collect();
    assert_eq!(tested, all);
}

#[test]
fn a_program_that_faults_while_it_is_watched_is_bad_and_one_that_does_not_is_good() {
    let directory = tree(&[(STAT, FLYER)]);
    let mut seen = Inspection::read(Root::at(directory.path()), subject(), Duration::ZERO);
    let now = seen.processes.all[0].clone();
    let judge = named("M2").unwrap().judge;
    seen.program_before = Some(now.clone());
    assert_eq!(judge(&seen).state, State::Good);
    seen.processes.all[0].faults = (7, 0);
    assert_eq!(judge(&seen).state, State::Bad);
    // Another process under the same number is no rate.
    seen.processes.all[0].started += 1;
    assert_eq!(judge(&seen).state, State::Unknown);
}

#[test]
fn timer_slack_concerns_an_ordinary_loop_alone() {
    let ordinary = LoopAtHand {
        priority: None,
        period_ns: 1_000_000,
        latency_ns: None,
        ..subject()
    };
    let files: [Files; 3] = [
        &[("proc/9/timerslack_ns", "1")],
        &[("proc/9/timerslack_ns", "50000")],
        &[],
    ];
    let states: Vec<State> = files
        .into_iter()
        .map(|files| state_with("C2", files, ordinary.clone()).0)
        .collect();
    assert_eq!(states, [State::Good, State::Bad, State::Unknown]);
    assert_eq!(state_with("C2", files[1], subject()).0, State::DoesNotApply);
}

#[test]
fn a_named_program_is_judged_by_its_own_rights_policy_and_cpus() {
    // This process may do anything; the program is an ordinary one without rights.
    let files: Files = &[
        (
            "proc/self/status",
            "CapEff:\t000001ffffffffff\nCpus_allowed_list:\t1\n",
        ),
        (STAT, FLYER),
        (
            STATUS,
            "CapEff:\t0000000000000000\nCpus_allowed_list:\t0-1\n",
        ),
        (LIMITS, RTPRIO),
        ("proc/9/timerslack_ns", "3000000"),
    ];
    let ordinary = || LoopAtHand {
        priority: None,
        ..subject()
    };
    for id in ["L1", "L2", "C2", "T3"] {
        let (state, finding) = state_with(id, files, ordinary());
        assert_eq!(state, State::Bad, "{id}: {finding}");
    }
    // Who has a priority already needs no right to it, and has no timer slack.
    let files: Files = &[(STAT, FLYER_FIFO), (STATUS, CPU0_ALONE), (LIMITS, RTPRIO)];
    assert_eq!(state_with("L1", files, subject()).0, State::Good);
    assert_eq!(state_with("C2", files, ordinary()).0, State::DoesNotApply);
}

#[test]
fn the_same_idle_state_is_bad_for_a_fast_loop_and_good_for_a_slow_one() {
    let slow = LoopAtHand {
        period_ns: 100_000_000,
        latency_ns: None,
        ..subject()
    };
    assert_eq!(state_with("F3", DEEP, subject()).0, State::Bad);
    assert_eq!(state_with("F3", DEEP, slow).0, State::Good);
}
