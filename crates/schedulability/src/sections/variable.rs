//! The stretches of one kind: how many there were, and the longest of them.

use super::stretch::Stretch;

/// The stretches of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variable {
    /// The longest, interrupts left out.
    pub longest: Option<Stretch>,
    /// How many there were.
    pub count: u64,
    /// Their total time, interrupts left out.
    pub total: u64,
}

impl Variable {
    /// Of all of these.
    pub fn new<'a>(stretches: impl Iterator<Item = &'a Stretch>) -> Self {
        let mut found = Self::default();
        for stretch in stretches {
            found.add(stretch);
        }
        found
    }

    /// With one more.
    pub fn add(&mut self, stretch: &Stretch) {
        self.count += 1;
        self.total += stretch.net();
        if self
            .longest
            .is_none_or(|longest| longest.net() < stretch.net())
        {
            self.longest = Some(*stretch);
        }
    }

    /// The longest; 0 if there was none.
    pub fn most(&self) -> u64 {
        self.longest.map_or(0, |stretch| stretch.net())
    }
}
