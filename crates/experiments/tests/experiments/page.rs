//! Findings and page from hand-made runs: the known answers are the figures put in.

use crate::text_of;
use wakepath_archive::{KernelLatency, StageLatency, VirtualTime};
use wakepath_experiments::{
    Agreement, Experiment, Finding, GuestRun, Measured, OVER_POLICIES, Repeated, all, findings,
    named,
};
use wakepath_explain::{CauseFigures, ConditionExplanation, Explanation, Usual};
use wakepath_report::Figures;
use wakepath_scenario::{KnownCpus, Scenario};
use wakepath_statistics::{Distribution, DistributionSummary};

wakepath_test_program::tests![
    every_cell_that_is_named_is_a_condition_of_the_scenario,
    figures_like_the_published_ones_agree_and_others_do_not,
    the_worst_over_policies_and_each_policy_are_judged_apart,
    what_a_turn_of_the_cpus_could_reverse_is_undecided,
    what_was_not_measured_is_neither_agreement_nor_contradiction,
    what_disturbs_is_counted_where_nearly_all_is_explained,
    a_page_sets_ours_beside_the_published_and_says_that_time_is_virtual,
    a_kernel_that_is_given_has_its_rows_and_one_that_is_not_says_so,
    an_experiment_s_name_finds_it_and_another_none,
];

/// How long a turn of one of several CPUs is.
const TURN_NS: u64 = 2_000;

/// Seeds of each guest: enough to decide.
const SEEDS: i64 = 5;

/// An experiment in which every guest measured the values of `latencies` for guest and phase, with
/// a few nanoseconds more for each seed.
fn repeated(name: &str, latencies: impl Fn(&str, &str) -> Vec<i64>, policies: &[&str]) -> Repeated {
    with_seeds(name, SEEDS, latencies, policies)
}

fn summary(values: Vec<i64>) -> Option<DistributionSummary> {
    Distribution::new(values).map(|values| values.summary())
}

fn with_seeds(
    name: &str,
    seeds: i64,
    latencies: impl Fn(&str, &str) -> Vec<i64>,
    policies: &[&str],
) -> Repeated {
    let experiment = named(name).unwrap();
    let phases = phases(experiment);
    let guests = experiment.guests.iter();
    let guests = guests.flat_map(|guest| (1..=seeds).map(move |seed| (guest, seed)));
    let guests = guests.map(|(guest, seed)| {
        let mut conditions = Vec::new();
        for phase in &phases {
            for policy in policies {
                let values = latencies(guest.name, phase);
                let values: Vec<i64> = values.into_iter().map(|ns| ns + seed - 1).collect();
                // One more due time was skipped, for ten times the longest latency.
                let skipped = values.iter().max().map(|ns| 10 * ns);
                let scheduled = values.iter().copied().chain(skipped).collect();
                conditions.push(Measured {
                    phase: phase.clone(),
                    policy: (*policy).into(),
                    scheduled: values.len() as u64,
                    skipped: 0,
                    latency_of_wake_ups: summary(values),
                    latency_as_scheduled: summary(scheduled),
                    execution: None,
                    response: None,
                    invalid: None,
                });
            }
        }
        GuestRun {
            guest: *guest,
            wakepath: "0.1.0".into(),
            virtual_time: Some(VirtualTime {
                ns_per_instruction: 1,
                seed: seed as u64,
                cpus: experiment.cpus,
                turn_ns: (experiment.cpus > 1).then_some(TURN_NS),
                emulator: None,
            }),
            board: Vec::new(),
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
        guests: guests.collect(),
    }
}

fn policies_of(scenario: &str, experiment: &Experiment) -> Vec<String> {
    let known = KnownCpus::new(0..experiment.cpus).unwrap();
    let scenario = Scenario::parse(scenario, experiment.name, &known).unwrap();
    scenario.policies.iter().map(|p| p.to_string()).collect()
}

fn scenario(experiment: &Experiment) -> Scenario {
    let known = KnownCpus::new(0..experiment.cpus).unwrap();
    Scenario::parse(experiment.scenario, experiment.name, &known).unwrap()
}

fn phases(experiment: &Experiment) -> Vec<String> {
    let phases = scenario(experiment).phases;
    phases.into_iter().map(|phase| phase.name).collect()
}

fn every_cell_that_is_named_is_a_condition_of_the_scenario() {
    for experiment in all() {
        let scenario = scenario(experiment);
        let phases: Vec<&str> = scenario.phases.iter().map(|phase| &*phase.name).collect();
        let policies: Vec<String> = scenario.policies.iter().map(|p| p.to_string()).collect();
        let published: Vec<_> = experiment.published().collect();
        let said = format!("{:?} {published:?}", experiment.claims);
        let cells = said.split("Cell { guest: ").skip(1);
        let mut count = 0;
        for cell in cells {
            let words: Vec<&str> = cell.split('"').collect();
            let (guest, phase, policy) = (words[1], words[3], words[5]);
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
    let like = |guest: &str, _: &str| match guest {
        "vanilla" => vec![14_000, 19_000, 193_000],
        "PREEMPT" => vec![16_000, 21_000, 68_000],
        _ => vec![20_000, 27_000, 91_000],
    };
    let found = findings(&repeated("beaglepilot", like, &["FIFO 99"]));
    assert_eq!(found.len(), 8);
    // Claims about the kernel that was not given.
    for finding in &found[5..] {
        assert_eq!(finding.agreement, Agreement::NotMeasured, "{finding:?}");
    }
    for finding in &found[..4] {
        assert_eq!(finding.agreement, Agreement::Agrees, "{finding:?}");
    }
    // Vanilla's mean of these three values is the highest.
    assert_eq!(found[4].agreement, Agreement::Contradicts);
    assert!(found[4].here.contains("75.3"), "{}", found[4].here);

    assert!(found[4].here.ends_with("p = 0.40 %"), "{}", found[4].here);

    let same = |_: &str, _: &str| vec![5_000; 10];
    let found = findings(&repeated("beaglepilot", same, &["FIFO 99"]));
    let undecided = |one: &Finding| one.agreement == Agreement::Undecided;
    assert!(found[..5].iter().all(undecided), "{found:?}");
    let found = findings(&with_seeds("beaglepilot", 2, like, &["FIFO 99"]));
    assert!(found[..5].iter().all(undecided), "{found:?}");
    let why = &found[0].here;
    assert!(why.ends_with("too few seeds to decide"), "{why}");
}

fn the_worst_over_policies_and_each_policy_are_judged_apart() {
    // Under a single policy the stock kernel is as good as the other.
    let policies = ["RR 99", "FIFO 99"];
    let latencies = |guest: &str, _: &str| match guest {
        "standard" => vec![5_000, 3_000_000],
        _ => vec![5_000, 9_000],
    };
    let mut run = repeated("pi5-250hz", latencies, &policies);
    let found = findings(&run);
    let of = |found: &[Finding], at: usize| found[at].agreement;
    for over_all in [0, 2] {
        assert_eq!(of(&found, over_all), Agreement::NotComparable, "{found:?}");
        let here = &found[over_all].here;
        assert!(here.starts_with("the paper had four CPUs"), "{here}");
        assert!(
            here.contains("PREEMPT_RT, all policies, stress: 9.002 µs"),
            "{here}"
        );
    }
    assert_eq!(
        [1, 3].map(|at| of(&found, at)),
        [Agreement::Agrees; 2],
        "{found:?}"
    );
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
    let found = findings(&run);
    assert_eq!(found[1].agreement, Agreement::Undecided, "{found:?}");
    let each = &found[1].here;
    assert!(
        each.contains("agrees under RR 99; contradicts under FIFO 99"),
        "{each}"
    );
    assert_eq!(found[3].agreement, Agreement::Contradicts, "{found:?}");
}

fn what_a_turn_of_the_cpus_could_reverse_is_undecided() {
    // Published: RT's largest is lower with isolation, and a stock kernel's 318 / 56 as high.
    let isolation = |isolated: i64, rt: i64, stock: i64| {
        let latencies = move |guest: &str, _: &str| match guest {
            "RT, isolated" => vec![isolated],
            "RT" => vec![rt],
            _ => vec![stock],
        };
        let found = findings(&repeated("isolation", latencies, &["FIFO 80"]));
        [found[0].clone(), found[1].clone()]
    };
    // Both have an error of up to 2 µs: 4 µs can be no difference, 4.1 µs must be one.
    let [closer, agreeing] = isolation(13_000, 17_000, 300_000);
    assert_eq!(closer.agreement, Agreement::Undecided);
    assert!(
        closer
            .here
            .ends_with("too close for CPUs that take turns of 2 µs"),
        "{}",
        closer.here
    );
    assert_eq!(agreeing.agreement, Agreement::Agrees);
    let [apart, _] = isolation(13_000, 17_100, 300_000);
    assert_eq!(apart.agreement, Agreement::Agrees);
    let [reversed, _] = isolation(17_100, 13_000, 300_000);
    assert_eq!(reversed.agreement, Agreement::Contradicts);

    let latencies = |guest: &str, _: &str| match guest {
        "RT, isolated" => vec![1_000],
        _ => vec![900_000],
    };
    let mut turns_unknown = repeated("isolation", latencies, &["FIFO 80"]);
    for guest in &mut turns_unknown.guests {
        guest.virtual_time.as_mut().unwrap().turn_ns = None;
    }
    assert_eq!(findings(&turns_unknown)[0].agreement, Agreement::Undecided);
}

fn what_was_not_measured_is_neither_agreement_nor_contradiction() {
    let nothing = |_: &str, _: &str| Vec::new();
    let found = findings(&repeated("pi5-250hz", nothing, &["FIFO 99"]));
    let count = |wanted| found.iter().filter(|one| one.agreement == wanted).count();
    assert_eq!(count(Agreement::NotMeasured), 6, "{found:?}");
    assert_eq!(count(Agreement::NotVisible), 2, "{found:?}");
    assert!(
        found[4].here.contains("no kernel events of PREEMPT_RT"),
        "{found:?}"
    );
}

/// FIFO 80 under stress: 1 ms of latency, of which `all_explained_ns` are explained, and `others`
/// other threads.
fn explanation(all_explained_ns: u64, others: u32) -> Explanation {
    let cause = |number: u32| CauseFigures {
        kind: "thread".into(),
        cause: format!("thread {number}"),
        because: None,
        cycles: 10,
        late_cycles: 0,
        total_ns: 1_000,
        late_ns: 0,
        worst_ns: 100,
        worst_cycle: 0,
        late_worst_ns: 0,
        remedy: None,
    };
    let condition = ConditionExplanation {
        doubts: Vec::new(),
        phase: "stress".into(),
        condition: "FIFO 80".into(),
        thread: "loop".into(),
        threshold_ns: 100_000,
        threshold_from: "the criterion".into(),
        cycles: 100,
        not_covered: 0,
        silent_segments: 0,
        woken: Default::default(),
        late: 0,
        overran: 0,
        response_limit_ns: 0,
        late_ns: 0,
        late_explained_ns: 0,
        all_ns: 1_000_000,
        all_explained_ns,
        usual: Usual::default(),
        causes: (0..others).map(cause).collect(),
        causes_rest: None,
        inflation: Vec::new(),
        inflation_rest: None,
        execution_ns: 0,
        interference: None,
        worst: Vec::new(),
        longest: Vec::new(),
        median: None,
        p999: None,
    };
    Explanation {
        version: Explanation::VERSION,
        events: 1_000,
        events_lost: 0,
        switches_untold: 0,
        own_by_name: false,
        not_in_trace: Vec::new(),
        conditions: vec![condition],
    }
}

fn what_disturbs_is_counted_where_nearly_all_is_explained() {
    let latencies = |_: &str, _: &str| vec![4_000; 10];
    let found = |explained_when_isolated: u64| {
        let mut run = repeated("isolation", latencies, &["FIFO 80"]);
        for guest in &mut run.guests {
            guest.explanation = Some(match guest.guest.name.ends_with("isolated") {
                true => explanation(explained_when_isolated, 1),
                false => explanation(1_000_000, 5),
            });
        }
        findings(&run)[2].clone()
    };
    assert_eq!(found(990_000).agreement, Agreement::Agrees);
    let little = found(989_999);
    assert_eq!(little.agreement, Agreement::NotMeasured, "{little:?}");
    assert!(
        little.here.contains("too little of RT, isolated"),
        "{little:?}"
    );
}

fn a_page_sets_ours_beside_the_published_and_says_that_time_is_virtual() {
    let values = |guest: &str, _: &str| match guest {
        "standard" => vec![4_000, 5_000, 3_000_000],
        _ => vec![4_000, 5_000, 9_000],
    };
    let mut pi5 = repeated("pi5-250hz", values, &["FIFO 99"]);
    let stage = |median_ns, largest_ns| StageLatency {
        samples: 100,
        least_ns: 1,
        median_ns,
        p99_ns: largest_ns,
        largest_ns,
    };
    pi5.guests[SEEDS as usize].kernel_latency = vec![KernelLatency {
        phase: "stress".into(),
        cpu: 0,
        period_ns: 1_000_000,
        interrupt: stage(593, 2_813),
        thread: stage(4_360, 6_448),
        not_available: None,
    }];
    for (run, samples) in pi5.guests.iter_mut().zip(["a", "b"].iter().cycle()) {
        run.samples_sha256 = Some((*samples).into());
    }
    let text = text_of(std::slice::from_ref(&pi5));
    assert!(text.contains("not latencies of any machine"));
    for row in [
        "| standard | FIFO 99 | stress | 15 | 0 | 4.00 | 1003.00 |",
        "| standard | all policies | stress | | | 4.00 | | | 3000.00 (3000.00 – 3000.00) | \
         30000.02 (30000.00 – 30000.04) | – / – / 9000 |",
        "latency of wake-ups: min, virtual µs | mean, virtual µs | p99, virtual µs | max, virtual µs | latency as \
         scheduled: max, virtual µs |",
        "\nCost model: 1 instruction = 1 ns, string instructions unknown.",
        "| PREEMPT_RT | stress | 0.59 | 2.81 | 4.36 | 6.45 | 6.00 | 9.00 |",
        "- seeds 1, 2, 3, 4, 5",
        // yes "$(printf 'a\nb')" | head -10 | sha256sum
        "- all samples of the 10 runs of pi5-250hz: SHA-256 `25ac60f9f8930b37a2001b5f82daaba074a5393029eafceb09c199f52a2fd686`",
        "# Eight policies at 250 Hz (arXiv 2604.19275)\n\n| claim | published | ours | verdict |\n|---|---|---|---|\n\
         | under stress the real-time kernel's worst case is lower | nearly 88 % lower | the paper had four CPUs;",
        "| **not comparable** |",
        "| [Eight policies at 250 Hz (arXiv 2604.19275)](pi5-250hz.md) |",
    ] {
        assert!(text.contains(row), "{row}\n{text}");
    }
    assert!(!text.to_lowercase().contains("passed"), "{text}");
    // A run with unknown samples is in no digest.
    pi5.guests[3].samples_sha256 = None;
    assert!(!text_of(&[pi5]).contains("all samples of the"));
}

fn a_kernel_that_is_given_has_its_rows_and_one_that_is_not_says_so() {
    let like = |guest: &str, _: &str| match guest {
        "vanilla" => vec![14_000, 19_000, 193_000],
        "PREEMPT" => vec![16_000, 21_000, 68_000],
        _ => vec![20_000, 27_000, 91_000],
    };
    let mut run = repeated("beaglepilot", like, &["FIFO 99"]);
    let row = "| Xenomai | COBALT FIFO 99 | stress | not measured: needs `--kernel xenomai=BZIMAGE` | \
               | | | | | | 15 / 23 / 630 |";
    let text = text_of(std::slice::from_ref(&run));
    assert!(text.contains(row), "{text}");

    let of_another = repeated(
        "beaglepilot",
        |_, _| vec![-500, 200, 900_000],
        &["COBALT FIFO 99"],
    );
    let given = of_another.guests.into_iter();
    run.guests.extend(given.filter_map(|mut one| {
        let is_first = one.guest.name == "vanilla";
        one.guest.name = "Xenomai";
        is_first.then_some(one)
    }));
    let agreements: Vec<Agreement> = findings(&run)[5..]
        .iter()
        .map(|one| one.agreement)
        .collect();
    // Its largest is above vanilla's, its average of these three too.
    let expected = [Agreement::Contradicts, Agreement::Agrees, Agreement::Agrees];
    assert_eq!(agreements, expected);
    let text = text_of(std::slice::from_ref(&run));
    assert!(!text.contains("no such kernel"), "{text}");
    assert!(
        text.contains("| Xenomai | COBALT FIFO 99 | stress | 15 | 0 |"),
        "{text}"
    );
}

fn an_experiment_s_name_finds_it_and_another_none() {
    for experiment in all() {
        assert_eq!(named(experiment.name).unwrap().title, experiment.title);
    }
    assert!(named("pi5").is_none());
}
