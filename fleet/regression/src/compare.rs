//! Compares runs of one kind with runs of another, board by board.
//!
//! Exact rank tests over runs, the size of the difference with an interval, a test against the
//! declared margin, and a correction for many tests at once.

use crate::blocked::{Blocks, exchanged};
use crate::run::{Figure, History, RunFigures};
use serde::Serialize;
use wakepath_statistics::{
    adjusted_for_many, equivalence_p, least_rank_sum_p, rank_sum_test, shift_between,
};

/// Most runs of a side to compare: the last ones. Beyond it the interval can't be counted exactly.
const MOST_RUNS: usize = 50;

/// Criteria of a difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Terms {
    /// Tolerated relative increase of a figure: 0.1 for 10 %.
    pub margin: f64,
    /// Share of false findings among the regressed ones, over all boards and figures.
    pub false_findings: f64,
    /// Blocks in which runs are compared; by default all with all.
    pub blocks: Option<Blocks>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            margin: 0.1,
            false_findings: 0.05,
            blocks: None,
        }
    }
}

/// Outcome of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Outcome {
    /// The second side is higher, and not proved to be within the margin.
    Regressed,
    /// The second side is lower, and not proved to be within the margin.
    Improved,
    /// The two sides differ by less than the margin.
    Equivalent,
    /// Too few runs, or too much variation between them, for either.
    Inconclusive,
    /// A side has no run that can be trusted.
    Invalid,
}

impl Outcome {
    /// As it is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Regressed => "REGRESSED",
            Self::Improved => "IMPROVED",
            Self::Equivalent => "EQUIVALENT",
            Self::Inconclusive => "INCONCLUSIVE",
            Self::Invalid => "INVALID",
        }
    }
}

/// One figure of one board.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The board.
    pub board: String,
    /// The condition.
    pub condition: String,
    /// The figure.
    pub figure: Figure,
    /// The outcome.
    pub outcome: Outcome,
    /// Runs of each side that were compared.
    pub runs: (usize, usize),
    /// Runs of each side that were left out: invalid, or without the figure.
    pub left_out: (usize, usize),
    /// Second by first: the factor in the middle of all pairs of runs (Hodges and Lehmann).
    pub factor: Option<f64>,
    /// Its interval at 1 − 2 · `false_findings`, if there are enough runs.
    pub interval: Option<(f64, f64)>,
    /// Probability of a difference as large or larger if nothing differed, over all that was compared
    /// (Mann and Whitney, exact, or exchanges within blocks; Benjamini and Hochberg).
    pub p: Option<f64>,
    /// Probability of the observation if the sides differed by the margin or more (two one-sided
    /// tests), adjusted alike.
    pub p_equivalent: Option<f64>,
    /// The smallest probability that this number of runs can give. If it exceeds the limit, more
    /// runs are needed.
    pub least_p: Option<f64>,
}

/// Compares the runs selected by `first` with those selected by `second`, in each history.
pub fn compare(
    histories: &[History],
    figures: &[Figure],
    first: &dyn Fn(&RunFigures) -> bool,
    second: &dyn Fn(&RunFigures) -> bool,
    terms: &Terms,
) -> Vec<Compared> {
    let mut all = Vec::new();
    for history in histories {
        for &figure in figures {
            all.extend(one(history, figure, first, second, terms));
        }
    }
    adjust(&mut all, |one| &mut one.p);
    adjust(&mut all, |one| &mut one.p_equivalent);
    for one in &mut all {
        one.outcome = outcome(one, terms);
    }
    all
}

/// `None` if neither side has a run: the board was not measured.
fn one(
    history: &History,
    figure: Figure,
    first: &dyn Fn(&RunFigures) -> bool,
    second: &dyn Fn(&RunFigures) -> bool,
    terms: &Terms,
) -> Option<Compared> {
    let usable = history.logarithms(figure);
    let side = |takes: &dyn Fn(&RunFigures) -> bool| {
        let values: Vec<f64> = usable
            .iter()
            .filter(|(run, _)| takes(run))
            .map(|(_, value)| *value)
            .collect();
        let there = history.runs.iter().filter(|run| takes(run)).count();
        let left_out = there - values.len();
        (
            values[values.len().saturating_sub(MOST_RUNS)..].to_vec(),
            left_out,
        )
    };
    let ((a, a_out), (b, b_out)) = (side(first), side(second));
    if a.len() + b.len() + a_out + b_out == 0 {
        return None;
    }
    if let Some(blocks) = &terms.blocks {
        let mut runs = Vec::new();
        for &(run, value) in &usable {
            let kind = first(run)
                .then_some(false)
                .or_else(|| second(run).then_some(true));
            runs.extend(kind.map(|kind| (run, kind, value)));
        }
        let last = runs.len().saturating_sub(2 * MOST_RUNS);
        return Some(within(
            history,
            figure,
            blocks,
            &runs[last..],
            (a_out, b_out),
            terms,
        ));
    }
    let shift = shift_between(&a, &b, 1.0 - 2.0 * terms.false_findings);
    let interval = shift.and_then(|s| Some((s.lower?.exp(), s.upper?.exp())));
    Some(Compared {
        board: history.board.clone(),
        condition: history.condition.clone(),
        figure,
        outcome: Outcome::Inconclusive,
        runs: (a.len(), b.len()),
        left_out: (a_out, b_out),
        factor: shift.map(|shift| shift.estimate.exp()),
        interval,
        p: rank_sum_test(&a, &b).map(|test| test.p_two_sided),
        p_equivalent: equivalence_p(&a, &b, terms.margin.ln_1p()),
        least_p: shift.map(|_| 2.0 * least_rank_sum_p(a.len() as u64, b.len() as u64)),
    })
}

/// As [`one`], within blocks: runs in a block without the other kind are left out.
fn within(
    history: &History,
    figure: Figure,
    blocks: &Blocks,
    runs: &[(&RunFigures, bool, f64)],
    (mut a_out, mut b_out): (usize, usize),
    terms: &Terms,
) -> Compared {
    let in_blocks = blocks.sorted_into(runs);
    let count = |kind: bool| in_blocks.iter().filter(|run| run.is_second == kind).count();
    let there = |kind: bool| runs.iter().filter(|run| run.1 == kind).count();
    a_out += there(false) - count(false);
    b_out += there(true) - count(true);
    let found = exchanged(&in_blocks);
    let found = found.as_ref();
    let margin = terms.margin.ln_1p();
    Compared {
        board: history.board.clone(),
        condition: history.condition.clone(),
        figure,
        outcome: Outcome::Inconclusive,
        runs: (count(false), count(true)),
        left_out: (a_out, b_out),
        factor: found.and_then(|found| Some(found.estimate()?.exp())),
        interval: found.and_then(|found| {
            let (lower, upper) = found.interval(terms.false_findings)?;
            Some((lower.exp(), upper.exp()))
        }),
        p: found.map(|found| found.p_two_sided()),
        p_equivalent: found.map(|found| found.p_below(margin).max(found.p_above(-margin))),
        least_p: found.map(|found| found.least_p()),
    }
}

fn adjust(all: &mut [Compared], p: impl Fn(&mut Compared) -> &mut Option<f64>) {
    let raw: Vec<f64> = all.iter_mut().filter_map(|one| *p(one)).collect();
    let mut adjusted = adjusted_for_many(&raw).into_iter();
    for one in all {
        let p = p(one);
        if p.is_some() {
            *p = adjusted.next();
        }
    }
}

fn outcome(one: &Compared, terms: &Terms) -> Outcome {
    let (Some(p), Some(p_equivalent), Some(factor)) = (one.p, one.p_equivalent, one.factor) else {
        return Outcome::Invalid;
    };
    // Within the margin is equivalent, however certain the difference.
    if p_equivalent <= terms.false_findings {
        Outcome::Equivalent
    } else if p <= terms.false_findings {
        if factor > 1.0 {
            Outcome::Regressed
        } else {
            Outcome::Improved
        }
    } else {
        Outcome::Inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use wakepath_statistics::SplitMix;

    fn run(kernel: &str, number: usize, p999: i64, is_invalid: bool) -> RunFigures {
        RunFigures {
            run_id: format!("{kernel}-{number}"),
            started: format!("2026-11-{:02}", number + 1),
            is_invalid,
            figures: BTreeMap::from([(Figure::P999, p999)]),
            facts: BTreeMap::from([("kernel".to_owned(), kernel.to_owned())]),
        }
    }

    fn history(board: &str, first: &[i64], second: &[i64]) -> History {
        let of = |kernel, values: &[i64]| {
            let runs = values.iter().enumerate();
            runs.map(|(i, &p999)| run(kernel, i, p999, false))
                .collect::<Vec<_>>()
        };
        let runs = [of("old", first), of("new", second)].concat();
        History::new(board.to_owned(), "idle, FIFO 80".to_owned(), runs)
    }

    fn kernel(name: &'static str) -> impl Fn(&RunFigures) -> bool {
        move |run| run.facts["kernel"] == name
    }

    fn found(histories: &[History]) -> Vec<Compared> {
        compare(
            histories,
            &[Figure::P999],
            &kernel("old"),
            &kernel("new"),
            &Terms::default(),
        )
    }

    #[test]
    fn the_four_outcomes_and_an_improvement_are_told_apart() {
        let near = [
            10_000, 10_100, 10_200, 10_300, 10_400, 10_500, 10_600, 10_700,
        ];
        let times = |factor: f64| near.map(|value| (value as f64 * factor) as i64);
        let all = [
            history("worse", &near, &times(1.5)),
            history("better", &times(1.5), &near),
            history("alike", &near, &times(1.003)),
            history("few", &near[..3], &times(1.5)[..3]),
            history("one-sided", &near, &[]),
        ];
        let outcomes: Vec<_> = found(&all).iter().map(|one| one.outcome.word()).collect();
        let expected = [
            "REGRESSED",
            "IMPROVED",
            "EQUIVALENT",
            "INCONCLUSIVE",
            "INVALID",
        ];
        assert_eq!(outcomes, expected);
    }

    #[test]
    fn figures_are_those_of_scipy() {
        // scipy.stats.mannwhitneyu(b, a, alternative='two-sided', method='exact').pvalue of the logarithms,
        // and the median of all quotients of a pair, by numpy.
        let a = [10_500, 9_800, 11_200, 10_050, 9_900, 10_800];
        let b = [12_600, 11_100, 12_050, 10_900, 13_400, 11_900];
        let one = &found(&[history("x", &a, &b)])[0];
        assert!(
            (one.p.unwrap() - 0.008_658_008_658_008_658).abs() < 1e-15,
            "{:?}",
            one.p
        );
        assert!(
            (one.factor.unwrap() - 1.140_453_822).abs() < 1e-9,
            "{:?}",
            one.factor
        );
        assert!((one.least_p.unwrap() - 2.0 / 924.0).abs() < 1e-15);
    }

    #[test]
    fn within_blocks_a_drift_that_hides_a_difference_hides_it_no_more() {
        // The room warms up: each pair is later than the one before by far more than the kernels differ.
        let drift: Vec<i64> = (0..10).map(|day| 10_000 + 3_000 * day).collect();
        let slower: Vec<i64> = drift.iter().map(|value| value * 125 / 100).collect();
        let history = history("x", &drift, &slower);
        let by = |blocks: Option<Blocks>| {
            let terms = Terms {
                blocks,
                ..Terms::default()
            };
            let history = std::slice::from_ref(&history);
            compare(
                history,
                &[Figure::P999],
                &kernel("old"),
                &kernel("new"),
                &terms,
            )
            .remove(0)
        };
        assert_eq!(by(None).outcome, Outcome::Inconclusive);
        // Runs of one number began on one day.
        let within = by(Some(Blocks::Day));
        assert_eq!(within.outcome, Outcome::Regressed, "{within:?}");
        assert!((within.factor.unwrap() - 1.25).abs() < 1e-3, "{within:?}");
        assert!(
            (within.p.unwrap() - 2.0 / 1024.0).abs() < 1e-12,
            "{within:?}"
        );
        assert_eq!((within.runs, within.left_out), ((10, 10), (0, 0)));
        // A fact that never is the same for both kinds.
        let none = by(Some(Blocks::Fact("kernel".to_owned())));
        assert_eq!((none.outcome, none.left_out), (Outcome::Invalid, (10, 10)));
    }

    #[test]
    fn invalid_runs_are_counted_and_compared_with_none() {
        let mut history = history("x", &[10, 11, 12, 13], &[10, 11, 12, 13]);
        let invalid: Vec<_> = (0..4).map(|i| run("new", i, 1_000_000, true)).collect();
        history.runs.extend(invalid);
        let one = &found(&[history])[0];
        assert_eq!((one.runs, one.left_out), ((4, 4), (0, 4)));
        assert!((one.factor.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn among_boards_of_which_none_got_worse_few_are_called_so() {
        // A/A: 40 rounds of 50 boards, ten runs a side. Without adjustment 5 % of 2000 would be 100.
        let mut random = SplitMix::from_state(19);
        let mut rounds_with_findings = 0;
        for _ in 0..40 {
            let boards: Vec<History> = (0..50)
                .map(|board| {
                    let mut draw = || (9_000.0 * (1.0 + random.unit().powi(3) * 4.0)) as i64;
                    let values: Vec<i64> = (0..20).map(|_| draw()).collect();
                    history(&format!("b{board}"), &values[..10], &values[10..])
                })
                .collect();
            let called =
                |one: &Compared| matches!(one.outcome, Outcome::Regressed | Outcome::Improved);
            rounds_with_findings += usize::from(found(&boards).iter().any(called));
        }
        // 5 % of 40 is 2; 7 or more has a probability below 0.4 %.
        assert!(rounds_with_findings < 7, "{rounds_with_findings}");
    }
}
