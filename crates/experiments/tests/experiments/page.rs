//! Pages from hand-made runs.

use crate::runs::{SEEDS, beaglepilot, found, repeated};
use crate::text_of;
use wakepath_archive::{KernelLatency, StageLatency};
use wakepath_experiments::{Agreement, Repeated, SecondRun, all, named};

wakepath_test_program::tests![
    a_page_sets_ours_beside_the_published_and_says_that_time_is_virtual,
    a_kernel_that_is_given_has_its_rows_and_one_that_is_not_says_so,
    a_page_says_by_how_much_a_second_run_differs,
    an_experiment_s_name_finds_it_and_another_none,
];

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
        "| standard | FIFO 99 | stress | 30 | 0 | 4.00 µs | 1.00 ms |",
        "| standard | all policies | stress | | | 4.00 µs | | | 3.00 ms (3.00 ms – 3.00 ms) | \
         30.0 ms (30.0 ms – 30.0 ms) | – / – / 9 ms |",
        "latency of wake-ups, virtual time: min | mean | p99 | max | latency as scheduled: max |",
        "\nCost model: 1 instruction = 1 ns, string instructions unknown.",
        "| PREEMPT_RT | stress | 593 ns | 2.81 µs | 4.36 µs | 6.45 µs | 6.00 µs | 9.00 µs |",
        "- seeds 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
        "- claims of pi5-250hz: SHA-256 `",
        // yes "$(printf 'a\nb')" | head -20 | sha256sum
        "- all samples of the 20 runs of pi5-250hz: SHA-256 `ba02c8fbf3d869ad9d465c5e84a8feb7a85224d9ed48de41d3eb768e09116f64`",
        "# Eight policies at 250 Hz (arXiv 2604.19275)\n\n| claim | published | ours | smallest effect | verdict |\n\
         |---|---|---|---|---|\n| under stress the standard kernel's worst case exceeds 9 ms | above 9 ms | 9 ms is",
        "Registered for 10 seeds; probabilities are corrected for 10 tested claims.",
        "3.42 times: a third of 40.00 times | **agrees, p",
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
               | | | | | | 15 µs / 23 µs / 630 µs |";
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
    // Its largest is above vanilla's; its average of these three too, and above RT_PREEMPT's.
    for (start, expected) in [
        (
            "vanilla's largest latency is below Xenomai's",
            Agreement::Agrees,
        ),
        (
            "Xenomai's average is below RT_PREEMPT's",
            Agreement::Contradicts,
        ),
    ] {
        assert_eq!(found(&run, start).agreement, expected, "{start}");
    }
    let text = text_of(std::slice::from_ref(&run));
    assert!(!text.contains("no such kernel"), "{text}");
    assert!(
        text.contains("| Xenomai | COBALT FIFO 99 | stress | 30 | 0 |"),
        "{text}"
    );
}

fn a_page_says_by_how_much_a_second_run_differs() {
    let mut repeated = repeated("beaglepilot", beaglepilot, &["FIFO 99"]);
    let page = |of: Repeated| text_of(&[of]);
    repeated.second_run = SecondRun::Differs {
        guest: "RT_PREEMPT",
        cycles: 3,
        of: 800,
        largest_ns: 430,
    };
    let text = page(repeated);
    assert!(
        text.contains("a second run of RT_PREEMPT with the first seed differs in 3 of 800 latencies, by up to 430 ns"),
        "{text}"
    );
}

fn an_experiment_s_name_finds_it_and_another_none() {
    for experiment in all() {
        assert_eq!(named(experiment.name).unwrap().title, experiment.title);
    }
    assert!(named("pi5").is_none());
}
