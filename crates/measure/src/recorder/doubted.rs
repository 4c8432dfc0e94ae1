//! Due times that a driven loop was given and that can't be true: told from the others, and counted. Which ones those are
//! the loop decides.

use serde::{Deserialize, Serialize};

/// Due times of another clock that its loop did not believe. Such a cycle has a second sample with the due
/// time that was given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DoubtedDueTimes {
    /// The last cycle's, as it is believed.
    #[serde(skip)]
    last: Option<(u64, u64)>,
    went_back: u64,
    ran_ahead: u64,
}

impl DoubtedDueTimes {
    /// Whether this is a cycle's second, which is counted here and goes no further.
    pub fn is_another(&mut self, cycle: u64, due_ns: u64) -> bool {
        match self.last {
            Some((last, believed_ns)) if last == cycle => {
                let count = if due_ns > believed_ns {
                    &mut self.ran_ahead
                } else {
                    &mut self.went_back
                };
                *count += 1;
                true
            }
            _ => {
                self.last = Some((cycle, due_ns));
                false
            }
        }
    }

    /// The counts without the current cycle, to continue counting from.
    pub fn so_far(&self) -> Self {
        Self {
            last: None,
            ..self.clone()
        }
    }

    /// Sentences about them.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        let counted = |count| wakepath_verdict::counted(count, "time", "times");
        let (back, ahead) = (self.went_back, self.ran_ahead);
        let back = (back > 0).then(|| {
            format!(
                "the clock that drives it went back {}: a due time before its predecessor is replaced by one a \
                 period after it",
                counted(back)
            )
        });
        let ahead = (ahead > 0).then(|| {
            format!(
                "the clock that drives it ran ahead {}: a due time more than a period after the start of its \
                 cycle is replaced by one a period after its predecessor",
                counted(ahead)
            )
        });
        back.into_iter().chain(ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_a_cycle_is_what_was_not_believed() {
        let mut doubted = DoubtedDueTimes::default();
        let told = [
            (0, 100),
            (1, 200),
            (2, 300),
            (2, 50),
            (3, 400),
            (3, 9_000),
            (4, 500),
            (4, 7),
        ];
        let second = told.map(|(cycle, due_ns)| doubted.is_another(cycle, due_ns));
        assert_eq!(
            second,
            [false, false, false, true, false, true, false, true]
        );
        let said: Vec<String> = doubted.sentences().collect();
        assert!(said[0].contains("went back 2 times"), "{said:?}");
        assert!(said[1].contains("ran ahead 1 time:"), "{said:?}");
        assert_eq!(DoubtedDueTimes::default().sentences().count(), 0);
    }
}
