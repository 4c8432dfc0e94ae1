//! The recorded and written trees of `fixtures/machines`, and trees that someone damaged.

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wakepath_machine::Root;
use wakepath_readiness::{Inspection, LoopAtHand, Report, Severity, State, all};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/machines/{name}"))
}

fn report(directory: &Path, cpu: u16) -> Report {
    let subject = LoopAtHand {
        period_ns: 4_000_000,
        latency_ns: Some(400_000),
        cpus: [cpu].into_iter().collect(),
        priority: Some(50),
        program: None,
    };
    Report::new(&Inspection::read(
        Root::at(directory),
        subject,
        Duration::ZERO,
    ))
}

fn states(name: &str, cpu: u16, expected: &[(&str, State)]) -> Report {
    let report = report(&folder(name), cpu);
    for (id, state) in expected {
        let judged = report.checks.iter().find(|judged| judged.id == *id);
        let finding = &judged.unwrap().finding;
        assert_eq!(finding.state, *state, "{name} {id}: {finding:?}");
    }
    report
}

#[test]
fn the_beaglebone_is_refused_fifo_and_told_that_it_has_one_cpu() {
    use State::{Bad, DoesNotApply, Good};
    let report = states(
        "beaglebone-black",
        0,
        &[
            ("S3", Bad),
            ("T1", Bad),
            ("F1", Bad),
            ("F3", Bad),
            ("Q1", DoesNotApply),
            ("W1", DoesNotApply),
            ("S2", DoesNotApply),
            ("C1", Good),
        ],
    );
    // What prevents the loop altogether comes first.
    assert_eq!(report.checks[0].id, "S3");
    assert_eq!(report.checks[0].severity, Severity::Grave);
    assert_eq!(report.exit_code(), 2);
}

#[test]
fn the_fedora_desktop_shares_cores_and_has_a_fair_server() {
    use State::{Bad, DoesNotApply, Good};
    let report = states(
        "fedora-desktop",
        3,
        &[
            ("K2", Good),
            ("S1", Good),
            ("S2", Bad),
            ("T2", Bad),
            ("F6", DoesNotApply),
            ("F7", DoesNotApply),
            ("F8", Good),
        ],
    );
    let idle = report
        .checks
        .iter()
        .find(|judged| judged.id == "F3")
        .unwrap();
    assert!(
        idle.for_this_loop
            .as_ref()
            .unwrap()
            .contains("124 µs is 3.1 % of the 4 ms period")
    );
}

#[test]
fn the_recorded_virtual_machine_has_its_interrupts_and_workqueues_on_the_loop_s_cpu() {
    use State::{Bad, DoesNotApply, Good, Unknown};
    states(
        "virtual-two-cpus",
        1,
        &[
            ("K1", Bad),
            ("K3", Good),
            ("B6", Bad),
            ("F1", DoesNotApply),
            ("Q1", Bad),
            ("Q2", Bad),
            ("W1", Bad),
            ("W2", Unknown),
            ("W4", Good),
            ("S1", Bad),
            ("S3", Good),
            ("S5", Bad),
            ("X1", Bad),
            ("D1", Bad),
        ],
    );
}

#[test]
fn the_laboratory_s_two_guests_differ_in_their_kernels_and_in_what_follows_from_them() {
    use State::{Bad, DoesNotApply, Good};
    let both = [
        ("T1", Good),
        ("X1", Bad),
        ("Q1", Bad),
        ("Q2", Bad),
        ("W1", Bad),
        ("W2", Bad),
        ("W5", Bad),
        ("S1", Bad),
        ("F1", DoesNotApply),
        ("S2", DoesNotApply),
    ];
    let stock = states("laboratory-stock", 1, &both);
    let rt = states("laboratory-rt", 1, &both);
    let of = |report: &Report, id: &str| report.state_of(id).unwrap();
    // A stock kernel preempts voluntarily, has no tracers of latency, and logs to the serial line.
    for id in ["K1", "K2", "K7", "M3", "D1"] {
        assert_eq!((of(&stock, id), of(&rt, id)), (Bad, Good), "{id}");
    }
    // The RT kernel's interrupt threads have FIFO 50, the loop's own priority.
    assert_eq!((of(&stock, "Q6"), of(&rt, "Q6")), (Good, Bad));
    let report = rt.to_string();
    assert!(report.contains("irq/4-ttyS0 (50)"), "{report}");
}

#[test]
fn the_boards_are_told_apart() {
    use State::{Bad, DoesNotApply, Good};
    states(
        "raspberry-pi-5",
        3,
        &[("F6", Good), ("F7", DoesNotApply), ("B5", Bad), ("F1", Bad)],
    );
    states(
        "jetson-orin-nano",
        3,
        &[("F6", DoesNotApply), ("F7", Bad), ("F5", Bad), ("F8", Bad)],
    );
}

#[test]
fn every_machine_s_report_survives_json_and_differs_in_nothing_from_itself() {
    for entry in std::fs::read_dir(folder("")).unwrap() {
        let path = entry.unwrap().path();
        if !path.join("proc").is_dir() {
            continue;
        }
        let report = report(&path, 0);
        let json = serde_json::to_string(&report).unwrap();
        let back: Report = serde_json::from_str(&json).unwrap();
        assert_eq!(back, report);
        assert!(report.differences(&back).is_empty());
        assert_eq!(report.checks.len(), all().count());
        assert!(!report.to_string().contains('\u{1b}'));
    }
}

#[test]
fn this_machine_is_judged_in_under_two_seconds() {
    let subject = LoopAtHand {
        period_ns: 4_000_000,
        latency_ns: None,
        cpus: [0].into_iter().collect(),
        priority: None,
        program: None,
    };
    let start = std::time::Instant::now();
    let seen = Inspection::read(Root::host(), subject, Duration::from_millis(300));
    let report = Report::new(&seen);
    assert_eq!(report.checks.len(), all().count());
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
}

/// Files that anybody's process, or a plugged device, has a hand in.
const FILES: [&str; 12] = [
    "proc/interrupts",
    "proc/9/stat",
    "proc/9/status",
    "proc/9/environ",
    "proc/9/fdinfo/3",
    "proc/irq/36/effective_affinity_list",
    "proc/irq/default_smp_affinity",
    "sys/devices/virtual/workqueue/cpumask",
    "proc/cmdline",
    "proc/timer_list",
    "dev/kmsg.recorded",
    "proc/consoles",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn hostile_files_neither_stop_a_report_nor_reach_the_terminal(
        contents in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..200),
                "[0-9a-f,:() \\-\n]{0,200}".prop_map(String::into_bytes),
                "(CPU[0-9]{1,9} ){1,3}\n *[0-9]{1,12}: [0-9 ]{1,40} \u{1b}\\[31m.{0,20}"
                    .prop_map(String::into_bytes),
                "9 \\(\u{1b}.{0,20}\\) R( [0-9\\-]{1,21}){0,50}".prop_map(String::into_bytes),
                "isolcpus=.{0,30} nohz_full=[0-9,\\-]{0,30}".prop_map(String::into_bytes),
            ],
            FILES.len(),
        )
    ) {
        let directory = tempfile::tempdir().unwrap();
        for (path, content) in FILES.iter().zip(&contents) {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let report = report(directory.path(), 1);
        prop_assert_eq!(report.checks.len(), all().count());
        let text = report.to_string();
        prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{}", text);
    }
}
