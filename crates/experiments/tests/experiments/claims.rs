//! Findings from hand-made runs: the known answers are the figures put in.

use crate::runs::{
    SEEDS, beaglepilot, explanation, found, policies_of, repeated, scenario, summary, with_seeds,
};
use crate::text_of;
use wakepath_experiments::{
    Agreement, Cell, OVER_POLICIES, Repeated, Test, all, findings, of_boards,
};

wakepath_test_program::tests![
    every_cell_that_is_named_is_a_condition_of_the_scenario,
    figures_like_the_published_ones_agree_and_others_do_not,
    three_seeds_decide_nothing_and_neither_do_claims_of_later,
    each_smallest_effect_is_a_third_or_has_its_reason,
    an_effect_below_the_smallest_that_counts_contradicts,
    the_worst_over_policies_and_each_policy_are_judged_apart,
    what_a_turn_of_the_cpus_could_reverse_is_undecided,
    a_load_that_halves_the_speed_of_the_cpus_is_no_effect,
    what_was_not_run_is_neither_agreement_nor_contradiction,
    what_disturbs_is_counted_where_nearly_all_is_explained,
    invalid_traced_segments_are_used_for_no_claim_on_kernel_events_and_for_no_other_reason,
];

fn every_cell_that_is_named_is_a_condition_of_the_scenario() {
    for experiment in all() {
        let scenario = scenario(experiment);
        let phases: Vec<&str> = scenario.phases.iter().map(|phase| &*phase.name).collect();
        let policies: Vec<String> = scenario.policies.iter().map(|p| p.to_string()).collect();
        let claims = experiment.claims();
        let claimed = claims.all.iter().flat_map(|claim| claim.test.conditions());
        let cells = claimed.map(|condition| condition.cell());
        let mut count = 0;
        for cell in cells.chain(experiment.published().map(|one| one.cell)) {
            let Cell {
                guest,
                phase,
                policy,
            } = cell;
            let given = experiment.given.iter().find(|one| one.name == guest);
            let is_package = experiment.guests.iter().any(|one| one.name == guest);
            assert!(is_package || given.is_some(), "{guest}");
            assert!(phases.contains(&phase), "{}: {phase}", experiment.name);
            // The thread's name follows if each is judged individually.
            let policy = policy.split(", ").next().unwrap();
            let of_given = given.map(|given| policies_of(&given.scenario(experiment), experiment));
            let policies = of_given.as_ref().unwrap_or(&policies);
            let is_one = policies.iter().any(|one| one == policy) || policy == OVER_POLICIES;
            assert!(is_one, "{policy}");
            count += 1;
        }
        assert!(count > 3, "{}: {count} cells", experiment.name);
    }
}

fn figures_like_the_published_ones_agree_and_others_do_not() {
    let like = repeated("beaglepilot", beaglepilot, &["FIFO 99"]);
    for start in [
        "PREEMPT's largest latency is below vanilla's",
        "RT_PREEMPT's largest latency is below vanilla's",
        "PREEMPT's largest latency is below RT_PREEMPT's",
        "vanilla's smallest latency is below PREEMPT's",
        "PREEMPT's smallest latency is below RT_PREEMPT's",
    ] {
        let found = found(&like, start);
        assert_eq!(found.agreement, Agreement::Agrees, "{found:?}");
    }
    // Vanilla's mean of these three values is the highest.
    let average = found(&like, "vanilla's average is below PREEMPT's");
    assert_eq!(average.agreement, Agreement::Contradicts, "{average:?}");
    assert!(average.here.contains("75.3"), "{average:?}");
    // Twice 1 of 184 756 arrangements, of the 8 claims of which 7 have no better one: 0.01 % or more of 14.
    assert!(average.p.unwrap() < 0.001, "{average:?}");
    for finding in findings(&like) {
        if finding.claim.contains("Xenomai") && !finding.claim.contains("PREEMPT's smallest") {
            assert_eq!(finding.agreement, Agreement::NotRun, "{finding:?}");
            assert!(finding.here.starts_with("no run of Xenomai"), "{finding:?}");
        }
    }
    let same = repeated("beaglepilot", |_, _| vec![5_000; 10], &["FIFO 99"]);
    let same = found(&same, "PREEMPT's largest latency is below vanilla's");
    // No effect at all is less than a third of the published one.
    assert_eq!(same.agreement, Agreement::Contradicts, "{same:?}");
}

fn three_seeds_decide_nothing_and_neither_do_claims_of_later() {
    let three = with_seeds("beaglepilot", 3, beaglepilot, &["FIFO 99"]);
    let decided = [Agreement::Agrees, Agreement::Contradicts];
    for finding in findings(&three) {
        assert!(!decided.contains(&finding.agreement), "{finding:?}");
    }
    let found = found(&three, "PREEMPT's largest");
    assert!(
        found.here.ends_with("3 of the 10 seeds that decide it"),
        "{found:?}"
    );
    assert_eq!(found.p, None);
    let mut late = repeated("beaglepilot", beaglepilot, &["FIFO 99"]);
    late.claims = late.claims.after_the_runs();
    for finding in findings(&late) {
        assert!(!decided.contains(&finding.agreement), "{finding:?}");
    }
    let text = text_of(&[late]);
    assert!(
        text.contains("No claims were registered before the first run"),
        "{text}"
    );
}

fn each_smallest_effect_is_a_third_or_has_its_reason() {
    for experiment in all().iter().chain(of_boards()) {
        let claims = experiment.claims();
        assert!(claims.seeds >= 10, "{}", experiment.name);
        assert!(claims.all.len() >= 6, "{}", experiment.name);
        for claim in claims.all {
            assert!(!claim.published.is_empty(), "{claim:?}");
            let (Test::NotComparable { reason, .. } | Test::NotRun { reason }) = claim.test else {
                continue;
            };
            assert!(reason.len() > 20, "{reason}");
        }
    }
}

fn an_effect_below_the_smallest_that_counts_contradicts() {
    // Published: 14 against 20 µs, 1.43 times; a third is 1.126 times.
    let verdict = |rt: i64| {
        let latencies = move |guest: &str, _: &str| match guest {
            "RT_PREEMPT" => vec![rt],
            _ => vec![16_000],
        };
        let run = repeated("beaglepilot", latencies, &["FIFO 99"]);
        found(&run, "PREEMPT's smallest latency is below RT_PREEMPT's")
    };
    // 16 against 20 µs: 1.25 times, of which a third is 1.077 times.
    let little = verdict(16_112);
    assert_eq!(little.agreement, Agreement::Contradicts, "{little:?}");
    assert!(little.here.contains("1.01 times"), "{little:?}");
    assert!(
        little
            .smallest
            .starts_with("1.08 times: a third of 1.25 times"),
        "{little:?}"
    );
    assert_eq!(verdict(17_400).agreement, Agreement::Agrees);
}

fn the_worst_over_policies_and_each_policy_are_judged_apart() {
    // Under a single policy the stock kernel is as good as the other.
    let policies = ["RR 99", "FIFO 99"];
    let latencies = |guest: &str, _: &str| match guest {
        "standard" => vec![5_000, 3_000_000],
        _ => vec![5_000, 9_000],
    };
    let mut run = repeated("pi5-250hz", latencies, &policies);
    let over_all = found(&run, "under stress PREEMPT_RT's worst case");
    assert_eq!(over_all.agreement, Agreement::NotComparable, "{over_all:?}");
    let here = &over_all.here;
    assert!(here.starts_with("the paper had four CPUs"), "{here}");
    assert!(
        here.contains("PREEMPT_RT, all policies, stress: 9.01 µs"),
        "{here}"
    );
    for policy in policies {
        let found = found(&run, &format!("{policy} under stress"));
        assert_eq!(found.agreement, Agreement::Agrees, "{found:?}");
    }
    let of_stock = run
        .guests
        .iter_mut()
        .filter(|run| run.guest.name == "standard");
    for guest in of_stock {
        for one in &mut guest.conditions {
            if one.policy == "FIFO 99" {
                one.latency_of_wake_ups = summary(vec![5_000, 9_000]);
            }
        }
    }
    let [rr, fifo] = policies.map(|policy| found(&run, &format!("{policy} under stress")));
    assert_eq!(rr.agreement, Agreement::Agrees, "{rr:?}");
    assert_eq!(fifo.agreement, Agreement::Contradicts, "{fifo:?}");
}

fn what_a_turn_of_the_cpus_could_reverse_is_undecided() {
    // Published: 56 to 24 µs with isolation; a third is 1.326 times.
    let isolation = |isolated: i64, rt: i64| {
        let latencies = move |guest: &str, _: &str| match guest {
            "RT, isolated" => vec![isolated],
            _ => vec![rt],
        };
        let run = repeated("isolation", latencies, &["FIFO 80"]);
        found(&run, "combined load: isolation lowers")
    };
    // Both have an error of up to 2 µs: 15 against 24.7 can be 17 against 22.7.
    let near = isolation(15_000, 24_400);
    assert_eq!(near.agreement, Agreement::Undecided, "{near:?}");
    assert!(
        near.here
            .ends_with("too close for CPUs that take turns of 2 µs"),
        "{near:?}"
    );
    assert_eq!(isolation(15_000, 25_000).agreement, Agreement::Agrees);
    assert_eq!(isolation(17_100, 13_000).agreement, Agreement::Contradicts);

    let latencies = |guest: &str, _: &str| match guest {
        "RT, isolated" => vec![1_000],
        _ => vec![900_000],
    };
    let mut turns_unknown = repeated("isolation", latencies, &["FIFO 80"]);
    for guest in &mut turns_unknown.guests {
        guest.virtual_time.as_mut().unwrap().turn_ns = None;
    }
    let unknown = found(&turns_unknown, "combined load: isolation lowers");
    assert_eq!(unknown.agreement, Agreement::Undecided);
}

fn a_load_that_halves_the_speed_of_the_cpus_is_no_effect() {
    // Published: 2.4 and 5.3 µs; a third is 1.30 times.
    let storage = |idle: i64, loaded: i64| {
        let latencies = move |_: &str, phase: &str| match phase {
            "idle" => vec![idle],
            _ => vec![loaded],
        };
        let run = repeated("isolation", latencies, &["FIFO 80"]);
        found(&run, "storage load raises")
    };
    // The loads keep the other CPU busy: 18 µs can be 8 µs, less than 1.3 times 10 + 2.
    let near = storage(10_000, 18_000);
    assert_eq!(near.agreement, Agreement::Undecided, "{near:?}");
    assert!(
        near.here
            .ends_with("turns of 2 µs and have 1/2 of the speed while all work"),
        "{near:?}"
    );
    assert_eq!(storage(10_000, 34_000).agreement, Agreement::Agrees);
    assert_eq!(storage(10_000, 3_000).agreement, Agreement::Contradicts);
}

fn what_was_not_run_is_neither_agreement_nor_contradiction() {
    let nothing = Repeated {
        guests: Vec::new(),
        ..repeated("pi5-250hz", |_, _| Vec::new(), &["FIFO 99"])
    };
    let found = findings(&nothing);
    let count = |wanted| found.iter().filter(|one| one.agreement == wanted).count();
    assert_eq!(count(Agreement::NotRun), 10, "{found:?}");
    assert_eq!(count(Agreement::NotComparable), 5, "{found:?}");
    let text = text_of(&[nothing]);
    assert!(
        text.contains("| no run of standard, OTHER nice 0, idle |"),
        "{text}"
    );
    assert!(!text.contains("| kernel | policy |"), "{text}");
    let unused = repeated("pi5-250hz", |_, _| Vec::new(), &["FIFO 99"]);
    let woken = self::found(&unused, "on PREEMPT_RT the timer's interrupt");
    assert_eq!(woken.agreement, Agreement::Undecided);
    assert!(
        woken.here.contains("no kernel events of PREEMPT_RT"),
        "{woken:?}"
    );
}

fn what_disturbs_is_counted_where_nearly_all_is_explained() {
    let latencies = |_: &str, _: &str| vec![4_000; 10];
    let found = |explained_when_isolated: u64| {
        let mut run = repeated("isolation", latencies, &["FIFO 80"]);
        for guest in &mut run.guests {
            guest.explanation = Some(if guest.guest.name.ends_with("isolated") {
                explanation(explained_when_isolated, 1)
            } else {
                explanation(1_000_000, 5)
            });
        }
        self::found(&run, "combined load: fewer threads")
    };
    assert_eq!(found(990_000).agreement, Agreement::Agrees);
    let little = found(989_999);
    assert_eq!(little.agreement, Agreement::Undecided, "{little:?}");
    assert!(
        little.here.contains("too little of RT, isolated"),
        "{little:?}"
    );
}

fn invalid_traced_segments_are_used_for_no_claim_on_kernel_events_and_for_no_other_reason() {
    let latencies = |_: &str, _: &str| vec![4_000; 10];
    let found = |is_invalid: fn(usize) -> bool| {
        let mut run = repeated("isolation", latencies, &["FIFO 80"]);
        for (at, guest) in run.guests.iter_mut().enumerate() {
            guest.explanation = Some(explanation(1_000_000, 5));
            for condition in &mut guest.conditions {
                condition.invalid_while_traced = is_invalid(at).then(|| "no proof".into());
            }
        }
        let events = self::found(&run, "combined load: fewer threads");
        let largest = self::found(&run, "combined load: isolation");
        (events, largest, text_of(&[run]))
    };
    let (events, largest, text) = found(|_| false);
    assert_eq!(events.agreement, Agreement::Contradicts, "{events:?}");
    assert!(!text.contains("Invalid"), "{text}");
    let (few, ..) = found(|run| run % SEEDS as usize == 0);
    assert_eq!(few.agreement, Agreement::Undecided, "{few:?}");
    assert!(few.here.contains("9 of the 10 seeds"), "{few:?}");
    let (unused, same, text) = found(|_| true);
    assert_eq!(unused.agreement, Agreement::Undecided, "{unused:?}");
    assert!(unused.here.contains("no valid figures"), "{unused:?}");
    assert_eq!(same.here, largest.here);
    assert!(
        text.contains("Invalid while traced, and used for no claim on kernel events:"),
        "{text}"
    );
    assert!(!text.contains("Invalid, and used"), "{text}");
}
