//! Due times of a loop that an external clock drives.
//!
//! They are given by the caller, or estimated from the times at which the cycles began. Pure; it reads
//! no clock.
//!
//! # The filter
//!
//! A cycle begins some time after it was due: arrival = due + delay, with delay ≥ 0. So the due times
//! form a straight line below all arrivals, fitted to the earliest of them (a minimum filter):
//!
//! - the line is L(k) = y + (k − k′) · p, through a point (k′, y) with the period p; at first through
//!   the first arrival, with the nominal period;
//! - cycle k is due at min(L(k), arrival). Usually k is one more than in the cycle before: a late cycle
//!   serves the due time that it was late for, and events that waited in a queue follow immediately.
//!   Due times passed without an event only if the cycle before was already late by a period, and this
//!   one comes half a period or more after it: then k increases by
//!   ⌊(arrival − due before) / p + 0.01⌋;
//!   If only the latest of several events is kept and the loop is late repeatedly, the numbers come out
//!   wrong: a loop that takes a period and a half has the same arrivals whether it serves every event
//!   late or every second one in time. Its caller can distinguish these, and gives [`Due::At`];
//! - an arrival below the line moves the line down to it: (k′, y) = (k, arrival). One that is more than
//!   half a period below shows that a cycle was numbered too high: the line goes down by p;
//! - each window of [`WINDOW`] = 64 cycles has a point P with the least residual, arrival − L(k). At its
//!   end the line is moved through P, with p + g · (s − p), where s is the slope from the window before's
//!   P to this one's and g = [`GAIN`] = 1/4; the first slope is taken whole. p stays within 5 % of the
//!   nominal period.
//!
//! With delays spread evenly over J, the least of 64 is J / 65 on average: the line is late by about
//! that, and the period wrong by about J / 65 in 64 cycles. The least delay of all, which every wake-up
//! has, can't be distinguished from the due time itself.

/// Cycles of a window.
pub const WINDOW: u64 = 64;
/// Weight of a new slope in the period.
pub const GAIN: f64 = 0.25;
/// The estimated period stays within this share of the nominal one.
const MOST_DRIFT: f64 = 0.05;
/// Share of a period by which an arrival can precede its due time and still count as on it.
const EARLY: f64 = 0.01;

/// Due time of a driven loop's cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// At this time, in nanoseconds on `CLOCK_MONOTONIC`, as the driving clock reports it.
    At(u64),
    /// Estimated by the filter from the times at which cycles begin.
    Estimated,
}

/// A cycle and a time, in nanoseconds after the first arrival.
#[derive(Debug, Clone, Copy, Default)]
struct Point {
    cycle: u64,
    ns: f64,
}

/// Follows the due times of one loop.
#[derive(Debug, Clone)]
pub struct ForeignClock {
    nominal_ns: f64,
    period_ns: f64,
    /// The first arrival: doubles are exact for months after it, and not since 1970.
    origin_ns: Option<u64>,
    /// On the line.
    on_line: Point,
    /// The cycle before, with its due time, and when it began.
    last: Point,
    /// Whether the due time that was given last can't be true.
    is_doubted: bool,
    arrived_ns: f64,
    window: u64,
    least: Option<Point>,
    least_before: Option<Point>,
    slopes: u64,
}

impl ForeignClock {
    /// For a clock with a known period, in nanoseconds.
    pub fn new(period_ns: u64) -> Self {
        Self {
            nominal_ns: period_ns as f64,
            period_ns: period_ns as f64,
            origin_ns: None,
            on_line: Point::default(),
            last: Point::default(),
            is_doubted: false,
            arrived_ns: 0.0,
            window: 0,
            least: None,
            least_before: None,
            slopes: 0,
        }
    }

    /// The number of the cycle that begins at `arrival_ns`, and when it was due.
    pub fn begin(&mut self, due: Due, arrival_ns: u64) -> (u64, u64) {
        let at_ns = match due {
            Due::At(due_ns) => due_ns,
            Due::Estimated => arrival_ns,
        };
        // Clocks differ by microseconds; a cycle can't begin a period before it is due.
        let is_ahead = at_ns > arrival_ns && (at_ns - arrival_ns) as f64 > self.nominal_ns;
        self.is_doubted = is_ahead;
        let Some(origin_ns) = self.origin_ns else {
            let at_ns = if is_ahead { arrival_ns } else { at_ns };
            self.origin_ns = Some(at_ns);
            return (0, at_ns);
        };
        let ns = at_ns.wrapping_sub(origin_ns).cast_signed() as f64;
        let periods = (ns - self.last.ns) / self.period_ns;
        let point = match due {
            Due::At(_) => {
                self.is_doubted |= periods < 0.0;
                let (periods, ns) = match self.is_doubted {
                    false => (periods.round().max(1.0), ns),
                    // An impossible due time is ignored, so that one bad timestamp doesn't affect
                    // later cycles.
                    true => {
                        let arrival = arrival_ns.wrapping_sub(origin_ns).cast_signed() as f64;
                        let next = (self.last.ns + self.period_ns).min(arrival);
                        (1.0, next.max(self.last.ns))
                    }
                };
                let cycle = self.last.cycle + periods as u64;
                self.last = Point { cycle, ns };
                return (cycle, origin_ns.saturating_add_signed(ns as i64));
            }
            Due::Estimated => Point {
                cycle: self.last.cycle + self.events_passed(ns, periods),
                ns,
            },
        };
        self.arrived_ns = ns;
        let due_ns = self.estimated(point);
        self.last = Point {
            ns: due_ns,
            ..point
        };
        let due_ns = origin_ns.saturating_add_signed(due_ns as i64);
        (point.cycle, due_ns)
    }

    /// The estimated period, in nanoseconds.
    pub fn period_ns(&self) -> f64 {
        self.period_ns
    }

    /// Whether the last given due time was rejected as impossible: it was before the previous one,
    /// or more than a period after the cycle began. The cycle then counts as due a period after the
    /// previous one, or when it began if that is earlier.
    pub fn is_doubted(&self) -> bool {
        self.is_doubted
    }

    /// Number of events since the due time before, given an arrival `periods` after it.
    fn events_passed(&self, arrival_ns: f64, periods: f64) -> u64 {
        let late_before_ns = self.arrived_ns - self.last.ns;
        let was_late = late_before_ns >= (1.0 - EARLY) * self.period_ns;
        let is_apart = arrival_ns - self.arrived_ns >= 0.5 * self.period_ns;
        if was_late && is_apart {
            (periods + EARLY).floor().max(1.0) as u64
        } else {
            1
        }
    }

    fn line_ns(&self, cycle: u64) -> f64 {
        let apart = cycle.wrapping_sub(self.on_line.cycle).cast_signed();
        self.on_line.ns + apart as f64 * self.period_ns
    }

    fn residual_ns(&self, point: Point) -> f64 {
        point.ns - self.line_ns(point.cycle)
    }

    fn estimated(&mut self, arrival: Point) -> f64 {
        let mut residual_ns = self.residual_ns(arrival);
        if residual_ns < -0.5 * self.period_ns {
            self.on_line.ns -= self.period_ns;
            residual_ns += self.period_ns;
            // Earlier points have the old numbering.
            (self.least, self.least_before) = (None, None);
        }
        if residual_ns < 0.0 {
            self.on_line = arrival;
        }
        let is_least = self
            .least
            .is_none_or(|least| residual_ns < self.residual_ns(least));
        if is_least {
            self.least = Some(arrival);
        }
        if arrival.cycle - self.window >= WINDOW {
            self.end_window(arrival.cycle);
        }
        self.line_ns(arrival.cycle).min(arrival.ns)
    }

    fn end_window(&mut self, cycle: u64) {
        self.window = cycle;
        let Some(least) = self.least.take() else {
            return;
        };
        if let Some(before) = self.least_before.replace(least)
            && least.cycle > before.cycle
        {
            let slope_ns = (least.ns - before.ns) / (least.cycle - before.cycle) as f64;
            let gain = if self.slopes == 0 { 1.0 } else { GAIN };
            self.slopes += 1;
            let period_ns = self.period_ns + gain * (slope_ns - self.period_ns);
            let (low, high) = (1.0 - MOST_DRIFT, 1.0 + MOST_DRIFT);
            self.period_ns = period_ns.clamp(self.nominal_ns * low, self.nominal_ns * high);
        }
        self.on_line = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD_NS: u64 = 1_000_000;

    /// SplitMix64 (Steele, Lea, Flood 2014): the same delays each time.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (mixed ^ (mixed >> 31)) % end
        }
    }

    /// Estimated minus true due times of each cycle, for a clock that is `slow_ppm` parts per
    /// million slow, with delays up to `jitter_ns`, one in a hundred of which is half a period
    /// longer.
    fn errors(slow_ppm: i64, jitter_ns: u64, cycles: u64) -> (Vec<i64>, ForeignClock) {
        let mut clock = ForeignClock::new(PERIOD_NS);
        let mut random = Random(7);
        let errors = (0..cycles).map(|number| {
            let elapsed_ns = number * PERIOD_NS;
            let drift_ns = elapsed_ns.cast_signed() * slow_ppm / 1_000_000;
            let due_ns = (1_000_000_000 + elapsed_ns).saturating_add_signed(drift_ns);
            let seldom_ns = if random.below(100) == 0 {
                PERIOD_NS / 2
            } else {
                0
            };
            let arrival_ns = due_ns + random.below(jitter_ns) + seldom_ns;
            let (cycle, found_ns) = clock.begin(Due::Estimated, arrival_ns);
            assert_eq!(cycle, number);
            assert!(found_ns <= arrival_ns, "due after it came");
            found_ns.cast_signed() - due_ns.cast_signed()
        });
        let errors = errors.collect();
        (errors, clock)
    }

    #[test]
    fn due_times_of_a_drifting_clock_are_found_below_its_jitter() {
        for slow_ppm in [-200, 0, 50, 1_000] {
            let (errors, clock) = errors(slow_ppm, 100_000, 20_000);
            let settled = &errors[4 * WINDOW as usize..];
            let worst = settled.iter().map(|error| error.abs()).max().unwrap();
            assert!(worst <= 15_000, "{slow_ppm} ppm: {worst} ns of 100 µs");
            let mean = settled.iter().sum::<i64>() / settled.len() as i64;
            assert!((-500..4_000).contains(&mean), "{slow_ppm} ppm: {mean} ns");
            let drift_ppm = (clock.period_ns() / PERIOD_NS as f64 - 1.0) * 1e6;
            assert!((drift_ppm - slow_ppm as f64).abs() < 60.0, "{drift_ppm}");
        }
    }

    #[test]
    fn without_jitter_the_line_is_the_clock() {
        let (errors, clock) = errors(300, 1, 2_000);
        let worst = errors[4 * WINDOW as usize..]
            .iter()
            .map(|error| error.abs());
        assert!(worst.max() < Some(200));
        assert!((clock.period_ns() - 1_000_300.0).abs() < 2.0);
    }

    #[test]
    fn a_due_time_that_passed_without_a_cycle_leaves_a_gap_in_the_numbers() {
        let mut clock = ForeignClock::new(PERIOD_NS);
        let mut numbers = [0_u64, 1, 2, 5, 6].map(|number| {
            let arrival_ns = 7_000_000 + number * PERIOD_NS + 20_000;
            clock.begin(Due::Estimated, arrival_ns).0
        });
        // The first one after the gap could have waited; the next one shows that it did not.
        assert_eq!(numbers, [0, 1, 2, 3, 6]);
        let mut clock = ForeignClock::new(PERIOD_NS);
        numbers = [0, 1, 2, 5, 6].map(|number| {
            let due_ns = 7_000_000 + number * PERIOD_NS;
            let (cycle, due) = clock.begin(Due::At(due_ns), 99_000_000);
            assert_eq!(due, due_ns);
            cycle
        });
        assert_eq!(numbers, [0, 1, 2, 5, 6]);
    }

    #[test]
    fn events_that_wait_in_a_queue_do_not_shift_the_clock() {
        let mut clock = ForeignClock::new(PERIOD_NS);
        for number in 0..300_u64 {
            // Cycle 100 comes 1.4 periods late, 101 immediately after it.
            let late_ns = match number {
                100 => 1_400_000,
                101 => 450_000,
                _ => 10_000,
            };
            let true_ns = 5_000_000 + number * PERIOD_NS;
            let (_, due_ns) = clock.begin(Due::Estimated, true_ns + late_ns);
            if number > 101 {
                let error_ns = due_ns.cast_signed() - true_ns.cast_signed();
                assert!((0..=20_000).contains(&error_ns), "{number}: {error_ns} ns");
            }
        }
    }

    #[test]
    fn a_clock_that_goes_back_is_not_believed_until_it_is_there_again() {
        let mut clock = ForeignClock::new(PERIOD_NS);
        let mut begin = |due_ms: u64, arrival_ms: u64| {
            let due = Due::At(due_ms * PERIOD_NS);
            let (cycle, due_ns) = clock.begin(due, arrival_ms * PERIOD_NS + 500);
            (cycle, due_ns / PERIOD_NS, clock.is_doubted())
        };
        assert_eq!(begin(9, 9), (0, 9, false));
        assert_eq!(begin(10, 10), (1, 10, false));
        // One bad timestamp: the next cycle has the number that it would have had.
        assert_eq!(begin(3, 11), (2, 11, true));
        assert_eq!(begin(12, 12), (3, 12, false));
        // The clock stays behind: each cycle counts as due a period after the one before.
        assert_eq!(begin(4, 13), (4, 13, true));
        assert_eq!(begin(5, 14), (5, 14, true));
        // One that begins before that was due when it began, and never before the one ahead.
        assert_eq!(begin(6, 14), (6, 14, true));
        assert_eq!(begin(17, 17), (9, 17, false));
    }

    #[test]
    fn a_due_time_far_ahead_moves_no_number() {
        let mut clock = ForeignClock::new(PERIOD_NS);
        let mut begin = |due_ms: u64, arrival_ms: u64| {
            let due = Due::At(due_ms * PERIOD_NS);
            let (cycle, due_ns) = clock.begin(due, arrival_ms * PERIOD_NS + 500);
            (cycle, due_ns / PERIOD_NS, clock.is_doubted())
        };
        // The first one too: it would be the origin of all.
        assert_eq!(begin(9_000_000, 9), (0, 9, true));
        assert_eq!(begin(10, 10), (1, 10, false));
        assert_eq!(begin(5_000, 11), (2, 11, true));
        assert_eq!(begin(u64::MAX / PERIOD_NS, 12), (3, 12, true));
        assert_eq!(begin(13, 13), (4, 13, false));
        // A little ahead is how two clocks differ; due times that passed without a cycle are passed over.
        assert_eq!(begin(15, 14), (6, 15, false));
        assert_eq!(begin(20, 20), (11, 20, false));
    }
}
