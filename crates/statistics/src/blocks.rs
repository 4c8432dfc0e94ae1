//! Sums over blocks of consecutive due times, for every power of two as the block's length at once:
//! a few hundred numbers for a run of any length, from which [`dispersion`](crate::dispersion)
//! reads how strongly misses depend on each other. Sums over parts of a run add up to those of the
//! whole, however it is cut.

/// Block lengths kept: 1, 2, 4, … 2³¹ due times. Two blocks of the longest are 50 days at 1 kHz.
pub(crate) const LEVELS: usize = 32;

/// Misses and due times of a block.
pub(crate) type Block = (u64, u64);

fn joined(one: Block, other: Block) -> Block {
    (one.0.saturating_add(other.0), one.1.saturating_add(other.1))
}

/// Sums over the blocks of one length in a part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Blocks {
    /// Whether the part began within a block.
    pub began_within: bool,
    /// The rest of that block, if it ended in this part.
    pub head: Option<Block>,
    /// The block that has not ended yet.
    pub open: Block,
    /// Blocks that began and ended in this part with at least one miss, and with exactly one.
    pub with_misses: u64,
    pub with_one: u64,
    /// Most misses in one of them.
    pub largest: u64,
    /// Σ misses² over blocks that began and ended in this part.
    pub squares: f64,
    /// Σ misses · due times over these.
    pub products: f64,
    /// Σ due times² over these.
    pub weights: f64,
}

impl Blocks {
    fn add(&mut self, (missed, due): Block) {
        self.with_misses = self.with_misses.saturating_add(u64::from(missed > 0));
        self.with_one = self.with_one.saturating_add(u64::from(missed == 1));
        self.largest = self.largest.max(missed);
        let (missed, due) = (missed as f64, due as f64);
        self.squares += missed * missed;
        self.products += missed * due;
        self.weights += due * due;
    }

    /// The block under way ends.
    fn end(&mut self) {
        let block = std::mem::take(&mut self.open);
        if self.began_within && self.head.is_none() {
            self.head = Some(block)
        } else {
            self.add(block)
        }
    }

    /// With the blocks that the part has cut as shorter ones.
    pub fn cut(mut self) -> Self {
        let open = std::mem::take(&mut self.open);
        self.add(open);
        if let Some(head) = self.head.take() {
            self.add(head);
        }
        self
    }

    /// Appends what came after; `goes_on`: right after, in the same recording. Otherwise the blocks
    /// that are cut stay apart.
    fn append(&mut self, later: &Self, goes_on: bool) {
        match later.head {
            Some(head) if goes_on => {
                self.open = joined(self.open, head);
                self.end();
            }
            Some(head) => {
                self.end_if_any();
                self.add(head);
            }
            None if goes_on => {}
            None => self.end_if_any(),
        }
        self.with_misses = self.with_misses.saturating_add(later.with_misses);
        self.with_one = self.with_one.saturating_add(later.with_one);
        self.largest = self.largest.max(later.largest);
        self.squares += later.squares;
        self.products += later.products;
        self.weights += later.weights;
        self.open = joined(self.open, later.open);
    }

    fn end_if_any(&mut self) {
        if self.open.1 > 0 {
            self.end();
        }
    }
}

/// How misses are spread over a part of a run: blocks of every length, and series (repetitions,
/// boots) as blocks of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// Due times of the recording before this part, and at its end.
    pub places: (u64, u64),
    /// The level's index is the block length's binary logarithm.
    pub levels: [Blocks; LEVELS],
    pub series: Blocks,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            places: (0, 0),
            levels: [Blocks::default(); LEVELS],
            series: Blocks::default(),
        }
    }
}

impl Spread {
    /// Appends what came after.
    pub fn append(&mut self, later: &Self) {
        let nothing = Self::default();
        if *self == nothing {
            *self = *later;
            return;
        }
        if *later == nothing {
            return;
        }
        let goes_on = later.places.0 > 0 && later.places.0 == self.places.1;
        for (blocks, later) in self.levels.iter_mut().zip(&later.levels) {
            blocks.append(later, goes_on);
        }
        self.series.append(&later.series, goes_on);
        self.places.1 = later.places.1;
    }
}

/// The sums under way. A due time that is met costs one addition: blocks are closed when the next
/// miss comes, about two of them for each miss where misses are many.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenBlocks {
    /// Due times before this part, and until now.
    from: u64,
    place: u64,
    missed: u64,
    last_miss: u64,
    /// Misses before the block of each level in which the last miss was.
    before: [u64; LEVELS],
    heads: [u64; LEVELS],
    with_misses: [u64; LEVELS],
    with_one: [u64; LEVELS],
    largest: [u64; LEVELS],
    squares: [f64; LEVELS],
    series: Blocks,
}

impl OpenBlocks {
    pub fn push_met(&mut self) {
        self.place += 1;
        self.series.open.1 += 1;
    }

    /// Counts `times` consecutive misses: in at most as many steps as there are levels.
    pub fn push_missed(&mut self, times: u64) {
        let (first, last) = (self.place, self.place.saturating_add(times - 1));
        // At higher levels all of them are in the block of the miss before.
        let before = match self.missed {
            0 => first,
            _ => self.last_miss,
        };
        let others = u64::BITS - (before ^ last).leading_zeros();
        for level in 0..LEVELS.min(others as usize) {
            let block = |place: u64| place >> level;
            if block(before) != block(first) {
                self.close(level, block(before), self.missed);
            }
            if block(first) != block(last) {
                let missed = |block: u64| self.missed + ((block << level) - first);
                let (second, latest) = (block(first) + 1, block(last));
                let ends = missed(latest);
                self.close(level, block(first), missed(second));
                let whole = latest - second;
                self.with_misses[level] += whole;
                if whole > 0 {
                    self.largest[level] = self.largest[level].max(1 << level);
                    self.with_one[level] += if level == 0 { whole } else { 0 };
                }
                self.squares[level] += whole as f64 * ((1_u64 << level) as f64).powi(2);
                self.before[level] = ends;
            }
        }
        self.place = last.saturating_add(1);
        self.last_miss = last;
        self.missed = self.missed.saturating_add(times);
        self.series.open = joined(self.series.open, (times, times));
    }

    /// Ends this block of a level, with a miss in it, after `missed` misses in all.
    fn close(&mut self, level: usize, block: u64, missed: u64) {
        let misses = missed - self.before[level];
        self.before[level] = missed;
        if self.is_cut(level) && block == self.from >> level {
            self.heads[level] = misses;
        } else {
            self.squares[level] += (misses as f64).powi(2);
            self.with_misses[level] += 1;
            self.with_one[level] += u64::from(misses == 1);
            self.largest[level] = self.largest[level].max(misses);
        }
    }

    /// Whether this part began within a block of the level.
    fn is_cut(&self, level: usize) -> bool {
        self.from & ((1 << level) - 1) != 0
    }

    pub fn end_series(&mut self) {
        if self.series.open.1 > 0 || self.series.began_within && self.series.head.is_none() {
            self.series.end();
        }
    }

    /// Begins another part of the same recording.
    pub fn part(&mut self) {
        let series = &self.series;
        let is_open = series.open.1 > 0 || series.began_within && series.head.is_none();
        *self = Self {
            from: self.place,
            place: self.place,
            series: Blocks {
                began_within: is_open,
                ..Blocks::default()
            },
            ..Self::default()
        };
    }

    pub fn spread(&self) -> Spread {
        let mut spread = Spread {
            places: (self.from, self.place),
            series: self.series,
            ..Spread::default()
        };
        for (level, blocks) in spread.levels.iter_mut().enumerate() {
            let length = 1_u64 << level;
            let latest = self.missed - self.before[level];
            let mut heads = self.heads[level];
            let current = self.place >> level;
            let mut open = 0;
            blocks.with_misses = self.with_misses[level];
            blocks.with_one = self.with_one[level];
            blocks.largest = self.largest[level];
            blocks.squares = self.squares[level];
            let is_cut = self.is_cut(level);
            if latest > 0 {
                match self.last_miss >> level {
                    block if block == current => open = latest,
                    block if is_cut && block == self.from >> level => heads = latest,
                    _ => {
                        blocks.with_misses += 1;
                        blocks.with_one += u64::from(latest == 1);
                        blocks.largest = blocks.largest.max(latest);
                        blocks.squares += (latest as f64).powi(2);
                    }
                }
            }
            // Where the first whole block begins.
            let first = self.from.div_ceil(length);
            let has_head = is_cut && first <= current;
            blocks.began_within = is_cut;
            blocks.head = has_head.then(|| (heads, first * length - self.from));
            let begins = self.from.max(current * length);
            blocks.open = (open, self.place - begins);
            let whole = self.missed - open - if has_head { heads } else { 0 };
            blocks.products = whole as f64 * length as f64;
            blocks.weights = current.saturating_sub(first) as f64 * (length as f64).powi(2);
        }
        spread
    }
}

/// A part of a recording without a miss.
#[cfg(feature = "serde")]
pub(crate) fn without_misses(places: (u64, u64)) -> Spread {
    let (from, place) = places;
    let blocks = OpenBlocks {
        from,
        place: place.max(from),
        ..OpenBlocks::default()
    };
    blocks.spread()
}

#[cfg(test)]
mod tests;
