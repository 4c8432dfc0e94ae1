//! Counts, bounds and stored tallies of given series.

use super::*;
use crate::miss_upper_bound;

fn tally(gap: u64, series: &[&str]) -> MissTally {
    let mut clusters = MissClusters::new(gap);
    for part in series {
        part.bytes().for_each(|byte| clusters.push(byte == b'x'));
        clusters.end_series();
    }
    clusters.tally()
}

/// As many misses as `missed` in each stretch of `stretch` due times, at its start.
fn regular(stretches: usize, stretch: usize, missed: usize) -> MissTally {
    let one = "x".repeat(missed) + &".".repeat(stretch - missed);
    tally(10, &[&one.repeat(stretches)])
}

#[test]
fn runs_and_clusters_are_told_apart() {
    let found = tally(1, &["..xx.x...x..", "xxx."]);
    assert_eq!((found.due, found.missed), (16, 7));
    assert_eq!(found.longest_run, 3);
    assert_eq!((found.clusters, found.largest_cluster), (3, 3));
    assert_eq!(tally(0, &["..xx.x...x.."]).clusters, 3);
    assert_eq!(found.extremal_index(), Some(3.0 / 7.0));
}

#[test]
fn clusters_do_not_reach_across_series() {
    let found = tally(5, &["...x", "x..."]);
    assert_eq!((found.clusters, found.longest_run), (2, 1));
}

#[test]
fn misses_pushed_together_count_as_one_by_one() {
    for (before, times) in [("", 0), ("..x", 1), ("x.", 7), ("....", 40)] {
        let mut together = MissClusters::new(2);
        before.bytes().for_each(|byte| together.push(byte == b'x'));
        let mut single = together.clone();
        together.push_missed(times);
        (0..times).for_each(|_| single.push(true));
        for clusters in [&mut together, &mut single] {
            clusters.push(false);
            clusters.push(true);
        }
        assert_eq!(together.tally(), single.tally(), "{before} {times}");
    }
}

#[test]
fn one_stall_is_one_piece_of_evidence_whose_size_is_a_guess() {
    let stall = ".".repeat(60_000) + &"x".repeat(300) + &".".repeat(59_700);
    let found = tally(10, &[&stall]);
    // 0.28 % if the misses had been independent of each other.
    assert!(found.upper_bound(0.95, 1) > 0.01, "{found:?}");
    assert!(found.lower_bound(0.95, 1) < 2e-4);
    let short = tally(10, &[&(".".repeat(50_000) + "xxx" + &".".repeat(50_000))]);
    assert!(short.upper_bound(0.95, 1) < 0.005);
}

#[test]
fn lone_misses_count_each_by_itself() {
    let alone = regular(100, 1000, 1);
    assert_eq!(alone.evidence_unit(0.95, 1), 1.0);
    assert_eq!(
        alone.upper_bound(0.95, 1),
        miss_upper_bound(100.0, 100_000.0, 0.95)
    );
}

#[test]
fn half_of_everything_missed_in_many_stretches_is_beyond_doubt_at_once() {
    assert!(regular(60, 20, 10).lower_bound(0.95, 1) > 0.3);
    // A single one that takes half of the run: Markov's inequality.
    let half = "x".repeat(600) + &".".repeat(600);
    let bound = tally(10, &[&half]).lower_bound(0.95, 1);
    assert!((bound - 0.025).abs() < 1e-12, "{bound}");
}

#[test]
fn near_misses_show_how_misses_would_come_together() {
    for used in [NearMiss::PastHalf, NearMiss::PastThreeQuarters] {
        near_misses_show(used);
    }
}

fn near_misses_show(used: NearMiss) {
    let run = |near: &dyn Fn(u64) -> bool| {
        let mut clusters = MissClusters::new(10);
        for place in 0..10_000 {
            if near(place) {
                clusters.push_near_miss(used)
            } else {
                clusters.push(false)
            }
        }
        clusters.tally()
    };
    let together = run(&|place| place % 1000 < 20 && (place / 1000) % 3 == 1);
    assert!(together.evidence_unit(0.95, 1) > 15.0);
    assert_eq!(together.missed, 0);
    let clean = run(&|_| false).upper_bound(0.95, 1);
    assert!(together.upper_bound(0.95, 1) > 15.0 * clean);
    for alone in [run(&|place| place % 100 == 7), run(&|place| place == 7)] {
        assert_eq!(alone.evidence_unit(0.95, 1), 1.0);
    }
    // Common events show nothing about rare ones.
    assert_eq!(
        run(&|place| place % 5000 < 2500).evidence_unit(0.95, 1),
        1.0
    );
}

#[test]
fn threads_that_are_hit_together_count_as_one() {
    let alone = regular(20, 1000, 1);
    assert!(alone.upper_bound(0.95, 4) > alone.upper_bound(0.95, 1));
    assert!(alone.lower_bound(0.95, 4) < alone.lower_bound(0.95, 1));
}

#[test]
fn minutes_merged_are_the_whole() {
    let mut whole = MissClusters::new(10);
    let mut by_minute = MissClusters::new(10);
    let mut merged = MissTally::default();
    for place in 0..200_000_u64 {
        for clusters in [&mut whole, &mut by_minute] {
            match place % 7000 {
                0..12 => clusters.push(true),
                12..30 | 400 => clusters.push_near_miss(NearMiss::PastThreeQuarters),
                30..45 | 500 => clusters.push_near_miss(NearMiss::PastHalf),
                _ => clusters.push(false),
            }
        }
        if place % 7777 == 0 {
            merged.merge(&by_minute.take());
        }
    }
    merged.merge(&by_minute.take());
    assert_eq!(merged, whole.tally());
}

#[test]
fn nothing_due_is_no_evidence() {
    assert_eq!(MissTally::default().upper_bound(0.95, 1), 1.0);
    assert_eq!(MissTally::default().lower_bound(0.95, 1), 0.0);
    assert_eq!(MissTally::default().extremal_index(), None);
}

#[cfg(feature = "serde")]
#[test]
fn a_tally_is_read_as_it_was_written_and_a_clean_one_is_short() {
    let mut clusters = MissClusters::new(10);
    let read_back = |clusters: &mut MissClusters| {
        let tally = clusters.take();
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(serde_json::from_str::<MissTally>(&text).unwrap(), tally);
        text
    };
    (0..5000).for_each(|_| clusters.push(false));
    assert!(!read_back(&mut clusters).contains("blocks"));
    (0..5000).for_each(|place| clusters.push(place % 500 < 7));
    assert!(read_back(&mut clusters).contains("blocks"));
    clusters.end_series();
    (0..70).for_each(|place| match place % 5 {
        0 => clusters.push_near_miss(NearMiss::PastThreeQuarters),
        1 => clusters.push_near_miss(NearMiss::PastHalf),
        _ => clusters.push(place == 33),
    });
    let both = read_back(&mut clusters);
    assert!(both.contains("close") && both.contains("halfway"));
    (0..3000).for_each(|_| clusters.push(false));
    assert!(!read_back(&mut clusters).contains("blocks"));
    assert!(read_back(&mut clusters).len() < 150);
}
