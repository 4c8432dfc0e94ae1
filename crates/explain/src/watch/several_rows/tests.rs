use super::*;
use crate::watch::near_row::rounded_twice;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Turns of an event loop with tasks of these periods and offsets, in microseconds.
fn event_loop(tasks: &[(u64, u64)], turn_us: u64) -> Vec<Activation> {
    event_loop_that_asks(|milliseconds| milliseconds, tasks, turn_us)
}

fn event_loop_that_asks(
    asked: fn(u64) -> u64,
    tasks: &[(u64, u64)],
    turn_us: u64,
) -> Vec<Activation> {
    let mut next: Vec<u64> = tasks
        .iter()
        .map(|(_, offset)| MS + offset * 1_000)
        .collect();
    let (mut now_ns, mut turns) = (0, Vec::new());
    while now_ns < 8_000 * MS {
        let Some(nearest_ns) = next.iter().min().copied() else {
            break;
        };
        if nearest_ns > now_ns {
            let programmed_ns = now_ns + asked((nearest_ns - now_ns).div_ceil(MS)) * MS;
            turns.push(Activation {
                programmed_ns: Some(programmed_ns),
                asked_at_ns: Some(now_ns + 1_500),
                expiry_ns: programmed_ns + 2_000,
                ..Activation::default()
            });
            now_ns = programmed_ns;
        }
        for (due_ns, (period, _)) in next.iter_mut().zip(tasks) {
            if *due_ns <= now_ns {
                *due_ns += period * 1_000;
            }
        }
        // No two turns of a real loop are equally long.
        now_ns += turn_us * 1_000 + (turns.len() as u64 * 7_919) % 31_000;
    }
    turns
}

fn periods(turns: &[Activation]) -> Vec<u64> {
    let rows = rows(turns);
    rows.iter().map(|(of, _)| of.period_ns / MS).collect()
}

proptest! {
    // Always the same cases: of a thousand pairs one gets a multiple or a part of its period, by chance.
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(24)
    })]
    #[test]
    fn two_tasks_have_their_periods(
        one in 7..20_u64,
        other in 15..100_u64,
        offset in 0..3_000_u64,
        turn_us in 50..200_u64,
        in_python in any::<bool>(),
    ) {
        prop_assume!(other % one != 0);
        let asked = if in_python { rounded_twice } else { |of| of };
        let turns = event_loop_that_asks(asked, &[(one * 1_000, 0), (other * 1_000, offset)], turn_us);
        prop_assert_eq!(periods(&turns), [one.min(other), one.max(other)]);
    }

    #[test]
    fn short_tasks_have_their_periods_or_none(
        short in 4..9_u64,
        middle in 15..40_u64,
        offset in 0..3_000_u64,
        turn_us in 50..200_u64,
    ) {
        prop_assume!(middle % short != 0);
        let turns = event_loop(&[(short * 1_000, 0), (middle * 1_000, offset)], turn_us);
        let periods = periods(&turns);
        prop_assert!(periods.is_empty() || periods == [short, middle], "{periods:?}");
    }
}

#[test]
fn a_period_is_no_half_nor_double_of_itself_where_another_task_fills_the_gaps() {
    let tasks = [(4, 18, 961, 68), (4, 23, 1_380, 60), (4, 26, 502, 119)];
    for (short, long, offset, turn_us) in tasks {
        let turns = event_loop(&[(short * 1_000, 0), (long * 1_000, offset)], turn_us);
        assert_eq!(periods(&turns), [short, long]);
    }
}

#[test]
fn a_rare_task_has_a_row_of_its_own_too() {
    let turns = event_loop(&[(5_000, 0), (130_000, 2_300)], 100);
    assert_eq!(periods(&turns), [5, 130]);
}

#[test]
fn three_tasks_as_in_a_python_program_have_their_periods() {
    let turns = event_loop(&[(10_000, 40), (33_000, 80), (4_000, 120)], 90);
    assert_eq!(periods(&turns), [4, 10, 33]);
    let found = rows(&turns);
    let least = [1_900, 780, 235];
    assert!(
        found
            .iter()
            .zip(least)
            .all(|((_, numbers), least)| numbers.len() >= least)
    );
}

#[test]
fn one_task_has_a_row_and_time_outs_at_random_have_none() {
    let single = rows(&event_loop(&[(10_000, 0)], 100));
    assert_eq!((single.len(), single[0].0.period_ns), (1, 10 * MS));
    let (mut state, mut now_ns, mut turns) = (7_u64, MS, Vec::new());
    for _ in 0..600 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let programmed_ns = now_ns + (1 + (state >> 33) % 40) * MS;
        turns.push(Activation {
            programmed_ns: Some(programmed_ns),
            asked_at_ns: Some(now_ns + 1_500),
            ..Activation::default()
        });
        now_ns = programmed_ns + (state >> 40) % 700_000;
    }
    assert!(rows(&turns).is_empty());
}
