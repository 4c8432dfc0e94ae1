//! Time since a bus's last correct answer, and the reason for its silence.
//!
//! It reads no clock.

use crate::Exchange;

/// Longest silence before the bus counts as lost; at least ten periods.
const PATIENCE_NS: u64 = 1_000_000_000;

/// A bus since its last right answer.
#[derive(Debug, Clone, Copy)]
pub struct Silence {
    patience_ns: u64,
    since_ns: u64,
    heard: Exchange,
}

impl Silence {
    /// For a bus with an exchange every `period_ns` and a correct answer at `now_ns`.
    pub fn new(period_ns: u64, now_ns: u64) -> Self {
        Self {
            patience_ns: PATIENCE_NS.max(10 * period_ns),
            since_ns: now_ns,
            heard: Exchange::Unanswered,
        }
    }

    /// Records the result of an exchange. A frame that returned without a device is better evidence
    /// than later frames that were late on a busy machine.
    pub fn hear(&mut self, exchanged: Exchange, now_ns: u64) {
        match (exchanged, self.heard) {
            (Exchange::Right { .. }, _) => {
                (self.since_ns, self.heard) = (now_ns, Exchange::Unanswered);
            }
            (Exchange::Unanswered, Exchange::WrongCounter { .. }) => {}
            _ => self.heard = exchanged,
        }
    }

    /// The state of the bus, once it has been silent for too long.
    pub fn is_over(&self, now_ns: u64) -> Option<Exchange> {
        (now_ns.saturating_sub(self.since_ns) > self.patience_ns).then_some(self.heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: Exchange = Exchange::Right { clock_ns: None };
    const WRONG: Exchange = Exchange::WrongCounter { counted: 6 };

    #[test]
    fn a_device_that_is_missing_is_named_though_late_frames_follow() {
        let mut silence = Silence::new(1_000_000, 0);
        silence.hear(RIGHT, 5);
        silence.hear(Exchange::Unanswered, 6);
        assert_eq!(silence.is_over(PATIENCE_NS + 5), None);
        assert_eq!(silence.is_over(PATIENCE_NS + 6), Some(Exchange::Unanswered));
        silence.hear(WRONG, 7);
        silence.hear(Exchange::Unanswered, 8);
        assert_eq!(silence.is_over(PATIENCE_NS + 6), Some(WRONG));
        // If the link is gone, earlier participants don't matter.
        silence.hear(Exchange::NotSent, 9);
        assert_eq!(silence.is_over(PATIENCE_NS + 6), Some(Exchange::NotSent));
        silence.hear(RIGHT, PATIENCE_NS);
        silence.hear(Exchange::Unanswered, PATIENCE_NS + 1);
        assert_eq!(silence.is_over(2 * PATIENCE_NS), None);
        let over = silence.is_over(2 * PATIENCE_NS + 1);
        assert_eq!(
            over,
            Some(Exchange::Unanswered),
            "earlier answers are forgotten"
        );
    }

    #[test]
    fn a_slow_bus_has_ten_periods() {
        let silence = Silence::new(PATIENCE_NS, 0);
        assert_eq!(silence.is_over(10 * PATIENCE_NS), None);
        assert!(silence.is_over(10 * PATIENCE_NS + 1).is_some());
    }
}
