//! Whether activations come with a period, and with which. It judges no lateness.

use super::activation::{Activation, BegunBy, ThreadActivity};

/// How a thread's turns come round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// Its period, in nanoseconds: the median between two expiries.
    pub period_ns: u64,
    /// One expiry that lies on the row of due times, where expiries are a whole number of periods
    /// apart, to the nanosecond: the thread sleeps until instants. `None` for a thread that sleeps
    /// for a time, whose turns begin later by whatever the one before took.
    pub anchor_ns: Option<u64>,
    /// Whether expiries are those that the thread programmed; else the beginning of the timer's
    /// callback stands for them, and the timer's own lateness is not seen.
    pub programmed: bool,
    /// What begins its turns. Where that is no timer, the wake-up stands for the expiry.
    pub begun_by: BegunBy,
}

/// Why a thread has no period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotPeriodic {
    /// Too few timers woke it.
    TooFew {
        /// So many.
        activations: usize,
    },
    /// Timers woke it at intervals that differ.
    Irregular {
        /// Activations.
        activations: usize,
        /// A tenth of the intervals are shorter, in nanoseconds.
        low_ns: u64,
        /// A tenth are longer, in nanoseconds.
        high_ns: u64,
    },
}

/// Fewer activations tell no period.
const LEAST_ACTIVATIONS: usize = 10;
/// Of ten intervals so many must be within a tenth of the period.
const REGULAR_OF_TEN: usize = 8;
/// Of a hundred expiries so many must lie on one row to the nanosecond: a thread may sleep
/// otherwise while it starts.
const EXACT_OF_HUNDRED: usize = 95;
/// Of ten activations so many must have a programmed time that was seen.
const PROGRAMMED_OF_TEN: usize = 9;

impl ThreadActivity {
    /// The thread's rhythm: that of its cycles between marks where it passes any, else that of its
    /// timers, else that of what else wakes it.
    ///
    /// # Errors
    /// [`NotPeriodic`], of its marks or its timers.
    pub fn rhythm(&self) -> Result<Rhythm, NotPeriodic> {
        Rhythm::best(&self.activations, &self.handed, &self.marked)
    }

    /// The activations that come with a rhythm of this thread.
    pub fn turns(&self, rhythm: Rhythm) -> &[Activation] {
        match rhythm.begun_by {
            BegunBy::Timer => &self.activations,
            BegunBy::Other => &self.handed,
            BegunBy::Marks => &self.marked,
        }
    }
}

impl Rhythm {
    /// That of cycles between marks where there are any, else of timers, else of what else wakes.
    ///
    /// # Errors
    /// [`NotPeriodic`], of marks or timers.
    pub fn best(
        timers: &[Activation],
        handed: &[Activation],
        marked: &[Activation],
    ) -> Result<Self, NotPeriodic> {
        let by = |begun_by| move |rhythm| Self { begun_by, ..rhythm };
        if !marked.is_empty() {
            return Self::of(marked).map(by(BegunBy::Marks));
        }
        Self::of(timers).or_else(|why| match Self::of(handed) {
            Ok(rhythm) => Ok(by(BegunBy::Other)(rhythm)),
            Err(_) => Err(why),
        })
    }

    /// The rhythm of some activations in order.
    ///
    /// # Errors
    /// [`NotPeriodic`].
    pub fn of(activations: &[Activation]) -> Result<Self, NotPeriodic> {
        let count = activations.len();
        if count < LEAST_ACTIVATIONS {
            return Err(NotPeriodic::TooFew { activations: count });
        }
        let seen = activations.iter().filter(|of| of.programmed_ns.is_some());
        let programmed = seen.count() * 10 >= count * PROGRAMMED_OF_TEN;
        let expiries: Vec<u64> = activations
            .iter()
            .filter_map(|of| expiry_ns(of, programmed))
            .collect();
        let mut intervals: Vec<u64> = expiries
            .windows(2)
            .map(|two| two[1].saturating_sub(two[0]))
            .collect();
        intervals.sort_unstable();
        let at = |tenths: usize| intervals[(intervals.len() - 1) * tenths / 10];
        let period_ns = at(5);
        let anchor_ns = expiries[expiries.len() / 2];
        let rhythm = Self {
            period_ns,
            anchor_ns: (programmed && period_ns > 0).then_some(anchor_ns),
            programmed,
            begun_by: BegunBy::Timer,
        };
        let on_row = expiries.iter().filter(|&&at| rhythm.is_on_row(at)).count();
        let exact = on_row * 100 >= expiries.len() * EXACT_OF_HUNDRED;
        let near = |ns: &&u64| ns.abs_diff(period_ns) <= period_ns / 10;
        let regular =
            intervals.iter().filter(near).count() * 10 >= intervals.len() * REGULAR_OF_TEN;
        match (exact, regular && period_ns > 0) {
            (true, _) => Ok(rhythm),
            (false, true) => Ok(Self {
                anchor_ns: None,
                ..rhythm
            }),
            (false, false) => Err(NotPeriodic::Irregular {
                activations: count,
                low_ns: at(1),
                high_ns: at(9),
            }),
        }
    }

    /// Whether an expiry is a whole number of periods from the anchor; never without one.
    pub(crate) fn is_on_row(&self, expiry_ns: u64) -> bool {
        let from = |anchor: u64| anchor.abs_diff(expiry_ns).is_multiple_of(self.period_ns);
        self.anchor_ns.is_some_and(from)
    }
}

/// When the timer was to expire: as programmed, or when its callback began. `None` where the
/// programmed time is wanted and was not seen.
pub(crate) fn expiry_ns(of: &Activation, programmed: bool) -> Option<u64> {
    match programmed {
        true => of.programmed_ns,
        false => Some(of.expiry_ns),
    }
}
