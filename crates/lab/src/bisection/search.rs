//! Binary search for the first kernel on which something takes longer.
//!
//! Starts between one kernel on which it doesn't and one on which it does. Pure: the caller reports
//! each outcome.

/// Outcome of measuring a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// It is as the good one.
    Good,
    /// It is as the bad one.
    Bad,
    /// It could not be measured.
    Skipped,
}

/// A search in progress, by indices in the row.
#[derive(Debug, Clone)]
pub struct Search {
    became: Vec<Option<Became>>,
}

/// The place where the row turns from good to bad.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The last that is good.
    pub good: usize,
    /// The first known bad one.
    pub bad: usize,
}

impl Turn {
    /// Kernels between the two that could not be measured: any of them might be the first bad one.
    pub fn unsure(&self) -> std::ops::Range<usize> {
        self.good + 1..self.bad
    }
}

impl Search {
    /// For a row of `length`, at least two, whose first is good and whose last is bad.
    pub fn new(length: usize) -> Self {
        let mut became = vec![None; length.max(2)];
        let last = became.len() - 1;
        (became[0], became[last]) = (Some(Became::Good), Some(Became::Bad));
        Self { became }
    }

    /// The next kernel to measure: the untried one nearest to the middle, if any is left.
    pub fn next(&self) -> Option<usize> {
        let turn = self.turn();
        let middle = turn.good + (turn.bad - turn.good) / 2;
        let untried = turn.unsure().filter(|at| self.became[*at].is_none());
        untried.min_by_key(|at| at.abs_diff(middle))
    }

    /// Most measurements left if none is skipped.
    pub fn steps_left(&self) -> u32 {
        let untried = self.turn().unsure().filter(|at| self.became[*at].is_none());
        usize::BITS - untried.count().leading_zeros()
    }

    /// Records an outcome.
    pub fn tell(&mut self, at: usize, became: Became) {
        self.became[at] = Some(became);
    }

    /// The turn, as far as it is known.
    pub fn turn(&self) -> Turn {
        let is = |at: &usize, what: Became| self.became[*at] == Some(what);
        let all = 0..self.became.len();
        let bad = all
            .clone()
            .find(|at| is(at, Became::Bad))
            .unwrap_or(all.end - 1);
        let good = (0..bad).rfind(|at| is(at, Became::Good)).unwrap_or(0);
        Turn { good, bad }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_of_eight_is_halved_as_by_hand() {
        let mut search = Search::new(8);
        assert_eq!((search.next(), search.steps_left()), (Some(3), 3));
        search.tell(3, Became::Good);
        assert_eq!((search.next(), search.steps_left()), (Some(5), 2));
        search.tell(5, Became::Bad);
        assert_eq!((search.next(), search.steps_left()), (Some(4), 1));
        search.tell(4, Became::Bad);
        assert_eq!((search.next(), search.steps_left()), (None, 0));
        assert_eq!(search.turn(), Turn { good: 3, bad: 4 });
        // Neighbours have nothing between them.
        assert_eq!(Search::new(2).next(), None);
    }

    #[test]
    fn one_that_can_not_be_measured_leaves_the_answer_open_only_where_it_must() {
        let mut search = Search::new(5);
        search.tell(2, Became::Skipped);
        assert_eq!(search.next(), Some(1));
        search.tell(1, Became::Good);
        assert_eq!(search.next(), Some(3));
        search.tell(3, Became::Bad);
        assert_eq!(search.next(), None);
        assert_eq!(search.turn().unsure(), 2..3);
    }

    proptest! {
        #[test]
        fn the_turn_is_found_in_no_more_steps_than_halving_takes(
            length in 2_usize..200, at in 0.0_f64..1.0, skipped in prop::collection::hash_set(0_usize..200, 0..6)
        ) {
            let first_bad = 1 + ((length - 2) as f64 * at) as usize;
            let mut search = Search::new(length);
            let mut steps = 0;
            let most = search.steps_left();
            while let Some(next) = search.next() {
                steps += 1;
                prop_assert!(next > 0 && next < length - 1 && steps <= length);
                search.tell(next, match () {
                    () if skipped.contains(&next) => Became::Skipped,
                    () if next < first_bad => Became::Good,
                    () => Became::Bad,
                });
            }
            let turn = search.turn();
            prop_assert!(turn.good < first_bad && first_bad <= turn.bad);
            prop_assert!(turn.unsure().all(|at| skipped.contains(&at)));
            if skipped.is_empty() {
                prop_assert_eq!(turn.bad, first_bad);
                prop_assert!(steps as u32 <= most);
            }
        }
    }
}
