//! The experiments of a board: each names conditions of its scenario, and recognises a boot by its
//! kernel.

use crate::text_of;
use wakepath_experiments::{
    Agreement, Experiment, GuestRun, Measured, OVER_POLICIES, Published, Repeated, SecondRun,
    Unlike, findings, guest_of, of_boards, on_a_board,
};
use wakepath_machine::PreemptionModel::{self, Full, Lazy, RealTime, Unknown, Voluntary};
use wakepath_report::Figures;
use wakepath_scenario::{KnownCpus, Scenario, builtin};
use wakepath_statistics::Distribution;

wakepath_test_program::tests![
    every_cell_that_is_named_is_a_condition_of_the_built_in_scenario,
    a_boot_is_known_by_its_preemption_and_its_isolation,
    a_frame_within_its_period_needs_ten_rounds_to_be_shown,
    rounds_of_two_boards_or_of_two_lengths_are_not_put_together,
    a_condition_that_is_no_evidence_is_named_with_its_reason_and_judged_by_nothing,
    a_kernel_that_was_not_booted_is_not_measured_and_the_page_says_how_to_go_on,
];

fn scenario(experiment: &Experiment) -> Scenario {
    let text = builtin::named(experiment.scenario).expect("built in").text;
    Scenario::parse(text, experiment.name, &KnownCpus::first(4)).expect("a scenario")
}

fn every_cell_that_is_named_is_a_condition_of_the_built_in_scenario() {
    for experiment in of_boards() {
        let scenario = scenario(experiment);
        let phases: Vec<&str> = scenario.phases.iter().map(|phase| &*phase.name).collect();
        let policies: Vec<String> = scenario.policies.iter().map(|p| p.to_string()).collect();
        // Rows of kernels that a board can't boot (Xenomai's) are the laboratory's.
        let is_booted = |one: &Published| {
            let mut guests = experiment.guests.iter();
            guests.any(|guest| guest.name == one.cell.guest)
        };
        let published: Vec<Published> = experiment.published().filter(is_booted).collect();
        let claims = experiment.claims();
        let claimed = claims.all.iter().flat_map(|claim| claim.test.conditions());
        let cells = claimed.map(|condition| condition.cell());
        let mut count = 0;
        for cell in cells.chain(published.iter().map(|one| one.cell)) {
            assert!(
                experiment.guests.iter().any(|one| one.name == cell.guest),
                "{}: {}",
                experiment.name,
                cell.guest
            );
            assert!(
                phases.contains(&cell.phase),
                "{}: {}",
                experiment.name,
                cell.phase
            );
            let policy = cell.policy.split(", ").next().unwrap();
            let is_one = policies.iter().any(|one| one == policy) || policy == OVER_POLICIES;
            assert!(is_one, "{}: {policy}", experiment.name);
            count += 1;
        }
        assert!(count > 2, "{}: {count} cells", experiment.name);
    }
}

fn a_boot_is_known_by_its_preemption_and_its_isolation() {
    let name = |experiment: &str, model: PreemptionModel, isolated| {
        let experiment = on_a_board(experiment).unwrap();
        guest_of(experiment, model, isolated).map(|guest| guest.name)
    };
    assert_eq!(name("beaglepilot", Voluntary, false), Some("vanilla"));
    assert_eq!(name("beaglepilot", Lazy, true), Some("PREEMPT"));
    assert_eq!(name("beaglepilot", RealTime, false), Some("RT_PREEMPT"));
    assert_eq!(name("pi5-250hz", Full, false), Some("standard"));
    assert_eq!(name("jetson-1khz", RealTime, false), Some("RT"));
    assert_eq!(name("jetson-1khz", RealTime, true), Some("RT, isolated"));
    // A kernel with an unreadable model is unknown: its rounds would be combined with another's.
    assert_eq!(name("beaglepilot", Unknown, false), None);
    assert!(on_a_board("pi6").is_none());
}

/// Rounds of a kernel whose every condition has these latencies, and responses twice as long.
fn rounds(name: &str, guest: &str, latencies: &[i64]) -> Repeated {
    let experiment = on_a_board(name).unwrap();
    let scenario = scenario(experiment);
    let guest = experiment.guests.iter().find(|one| one.name == guest);
    let of = |values: Vec<i64>| Distribution::new(values).map(|values| values.summary());
    let guests = latencies.iter().map(|&ns| {
        let mut conditions = Vec::new();
        for phase in &scenario.phases {
            for policy in &scenario.policies {
                conditions.push(Measured {
                    phase: phase.name.clone(),
                    policy: policy.to_string(),
                    scheduled: 2,
                    skipped: 0,
                    latency_of_wake_ups: of(vec![ns, ns + 1]),
                    latency_as_scheduled: of(vec![ns, ns + 1]),
                    execution: of(vec![ns]),
                    response: of(vec![2 * ns]),
                    invalid: None,
                    invalid_while_traced: None,
                });
            }
        }
        GuestRun {
            guest: *guest.unwrap(),
            wakepath: "0.1.0".into(),
            virtual_time: None,
            board: vec!["Raspberry Pi 5, 4 CPUs".into()],
            conditions,
            pictures: Vec::new(),
            figures: Figures::default(),
            explanation: None,
            kernel_latency: Vec::new(),
            samples_sha256: None,
        }
    });
    Repeated {
        experiment,
        claims: experiment.claims(),
        second_run: SecondRun::None,
        guests: guests.collect(),
    }
}

fn a_frame_within_its_period_needs_ten_rounds_to_be_shown() {
    let agreement = |latencies: &[i64]| {
        let found = findings(&rounds("aura-100hz", "this kernel", latencies));
        (found[0].agreement, found[0].here.clone(), found[0].p)
    };
    // A response of 8 ms in a period of 10, ten times of ten: twice 1/1024 by chance; the other claim is decided more clearly.
    let (shown, here, p) = agreement(&[4_000_000; 10]);
    assert_eq!(shown, Agreement::Agrees, "{here}");
    assert!(here.contains("10 rounds"), "{here}");
    assert_eq!(p, Some(2.0 / 1024.0));
    let (few, here, _) = agreement(&[4_000_000; 9]);
    assert_eq!(few, Agreement::Undecided);
    assert!(
        here.ends_with("9 of the 10 rounds that decide it"),
        "{here}"
    );
    assert_eq!(agreement(&[6_000_000; 10]).0, Agreement::Contradicts);
    let mut mixed = [4_000_000; 10];
    mixed[..3].fill(6_000_000);
    assert_eq!(agreement(&mixed).0, Agreement::Undecided);
}

fn rounds_of_two_boards_or_of_two_lengths_are_not_put_together() {
    let measured = || rounds("beaglepilot", "vanilla", &[5_000, 6_000, 7_000]);
    let put_together = |change: fn(&mut GuestRun)| {
        let mut one = measured();
        change(&mut one.guests[1]);
        Repeated::of_rounds(one.experiment, one.claims, one.guests).map(|all| all.guests.len())
    };
    assert_eq!(put_together(|_| {}), Ok(3));
    let boards = put_together(|round| round.board[0] = "Jetson Orin".into());
    let said = boards.unwrap_err().to_string();
    assert!(
        said.contains("Raspberry Pi 5") && said.contains("Jetson Orin"),
        "{said}"
    );
    assert_eq!(
        put_together(|round| round.conditions[0].scheduled = 3),
        Err(Unlike::Lengths { guest: "vanilla" })
    );
    let without_a_load = put_together(|round| {
        round.conditions[0].scheduled = 0;
        round.conditions[0].invalid = Some("its load is not installed".into());
    });
    assert_eq!(without_a_load, Ok(3));
    let less_conditions = put_together(|round| round.conditions.truncate(0));
    assert_eq!(less_conditions, Err(Unlike::Lengths { guest: "vanilla" }));
}

fn a_condition_that_is_no_evidence_is_named_with_its_reason_and_judged_by_nothing() {
    let mut measured = rounds("aura-100hz", "this kernel", &[4_000_000; 10]);
    let before = findings(&measured);
    for round in &mut measured.guests {
        for condition in &mut round.conditions {
            condition.invalid = Some("the load files did not prove its work".into());
        }
    }
    let lines = text_of(&[measured]);
    let first = "this kernel, ";
    let told = lines.lines().find(|line| {
        line.contains(first) && line.contains("did not prove") && !line.starts_with('|')
    });
    assert!(
        told.unwrap().contains(" (10 rounds): the load files"),
        "{lines}"
    );
    assert!(
        lines.contains("Invalid, and used for no claim on latencies:"),
        "{lines}"
    );
    assert_eq!(before[0].agreement, Agreement::Agrees);
    assert!(
        lines.contains("no valid figures of this kernel") && !lines.contains("**agrees"),
        "{lines}"
    );
}

fn a_kernel_that_was_not_booted_is_not_measured_and_the_page_says_how_to_go_on() {
    let vanilla = rounds("beaglepilot", "vanilla", &[5_000, 6_000, 7_000]);
    for finding in findings(&vanilla) {
        let decided = [Agreement::Agrees, Agreement::Contradicts];
        assert!(!decided.contains(&finding.agreement), "{finding:?}");
        if finding.claim.starts_with("PREEMPT's largest") {
            assert_eq!(finding.agreement, Agreement::NotRun);
            assert!(finding.here.starts_with("no run of PREEMPT"), "{finding:?}");
        }
    }
    let untraced = findings(&rounds("pi5-250hz", "standard", &[5_000, 6_000, 7_000]));
    let woken = untraced.iter().find(|one| one.claim.contains("SoftIRQ"));
    assert!(
        woken
            .unwrap()
            .here
            .ends_with("was measured without --trace"),
        "{woken:?}"
    );
    let vanilla = rounds("beaglepilot", "vanilla", &[6_000; 10]);
    let both = Repeated {
        guests: [
            vanilla.guests,
            rounds("beaglepilot", "RT_PREEMPT", &[50_000; 10]).guests,
        ]
        .into_iter()
        .flatten()
        .collect(),
        ..vanilla
    };
    let said = |start: &str| {
        let found = findings(&both);
        let one = found.into_iter().find(|one| one.claim.starts_with(start));
        one.unwrap().agreement
    };
    assert_eq!(said("RT_PREEMPT's largest"), Agreement::Contradicts);
    assert_eq!(
        said("PREEMPT's largest latency is below vanilla's"),
        Agreement::NotRun
    );
    let text = text_of(&[both]);
    for expected in [
        "on a board",
        "--resume",
        "wakepath experiment run beaglepilot",
        "latency of wake-ups: min | mean |",
        "20 µs / 27 µs / 91 µs",
        "- Raspberry Pi 5, 4 CPUs",
        "10 rounds",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    for foreign in ["virtual", "seed"] {
        assert!(!text.contains(foreign), "{foreign}: {text}");
    }
}
