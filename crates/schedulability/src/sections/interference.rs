//! The most that interrupts took in any window of a length: a window slid over those that came.

/// Interrupts of a run: each with when it began and what it took.
#[derive(Debug, Clone, Default)]
pub struct Interference {
    /// When each begins and ends, in their order.
    spans: Vec<(u64, u64)>,
    /// Total time of all before each.
    before: Vec<u64>,
}

impl Interference {
    /// Of spans from one time to another, none within another.
    pub fn new(mut spans: Vec<(u64, u64)>) -> Self {
        spans.sort_unstable();
        let mut taken = 0;
        let before = spans.iter().map(|(from, to)| {
            let before = taken;
            taken += to - from;
            before
        });
        Self {
            before: before.collect(),
            spans,
        }
    }

    /// The most in any window of this length. A window that holds most begins with one of them, or
    /// ends with one.
    pub fn most_in(&self, window: u64) -> u64 {
        let starts = self.spans.iter().map(|(from, _)| *from);
        let ends = self.spans.iter().map(|(_, to)| to.saturating_sub(window));
        let at = starts.chain(ends);
        at.map(|from| self.until(from + window) - self.until(from))
            .max()
            .unwrap_or(0)
    }

    /// What interrupts took until then.
    fn until(&self, count: u64) -> u64 {
        match self.spans.partition_point(|(from, _)| *from < count) {
            0 => 0,
            next => {
                let (from, to) = self.spans[next - 1];
                self.before[next - 1] + to.min(count) - from
            }
        }
    }

    /// The least L > 0 with L = `own` + the most in any window of L.
    pub fn bound(&self, own: u64) -> u64 {
        let mut window = own.max(1);
        loop {
            let next = own + self.most_in(window);
            if next <= window {
                return next.max(own);
            }
            window = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_window_is_slid_as_by_hand() {
        // 10 at 100, 20 at 130, 5 at 400.
        let found = Interference::new(vec![(100, 110), (130, 150), (400, 405)]);
        assert_eq!(found.most_in(5), 5);
        assert_eq!(found.most_in(20), 20);
        assert_eq!(found.most_in(50), 30);
        // From 105 to 150.
        assert_eq!(found.most_in(45), 25);
        assert_eq!(found.most_in(1_000), 35);
        // 40: 20 in 40 → 60: 30 in 60 → 70: 30 → 70.
        assert_eq!(found.bound(40), 70);
        assert_eq!(Interference::default().bound(40), 40);
    }

    proptest! {
        #[test]
        fn no_window_holds_more(
            gaps in prop::collection::vec((1_u64..30, 1_u64..30), 1..12),
            window in 1_u64..200,
        ) {
            let mut at = 0;
            let spans: Vec<(u64, u64)> = gaps.iter().map(|(gap, length)| {
                at += gap + length;
                (at - length, at)
            }).collect();
            let in_window = |from: u64| -> u64 {
                let to = from + window;
                spans.iter().map(|(a, b)| (*b).min(to).saturating_sub((*a).max(from))).sum()
            };
            let most = (0..=at).map(in_window).max().unwrap();
            prop_assert_eq!(Interference::new(spans.clone()).most_in(window), most);
        }
    }
}
