//! A trace's clock compared with the clock that timers are programmed in, from the two times in
//! `hrtimer_expire_entry`. It converts events to CLOCK_MONOTONIC if they are on another clock.

use wakepath_probe::stream::{EventFormat, Field, Record};
use wakepath_timeline::{KernelEvent, What};

/// The kernel reads the time as the interrupt begins and traces the expiry soon after it. Where the
/// soonest is within this, both are one clock; text has whole microseconds.
const SAME_NS: std::ops::Range<i64> = -2_000..20_000;
/// Clocks that count from elsewhere, such as CLOCK_REALTIME, are further apart than this.
const APART_NS: i64 = 1_000_000_000;
/// The soonest expiry of each such stretch shows how far the clocks are apart there.
const STRETCH_NS: u64 = 1_000_000_000;

/// What expiries say of both clocks.
#[derive(Debug, Default)]
pub(crate) struct TimersClock {
    /// Instant of the event, and the timers' time in it.
    seen: Vec<(u64, u64)>,
    now: Option<(u16, Field)>,
    is_monotonic: bool,
}

/// How the trace's clock is to CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    Monotonic,
    /// Another one, and the events were moved.
    Moved,
    /// No expiry says it.
    Unknown,
}

impl TimersClock {
    /// Of a file that says that its clock is CLOCK_MONOTONIC.
    pub(crate) fn monotonic() -> Self {
        Self {
            is_monotonic: true,
            ..Self::default()
        }
    }

    /// Learns where records of `hrtimer_expire_entry` have the timers' time.
    pub(crate) fn learn(&mut self, format: &str) {
        let format = EventFormat::parse(format).ok();
        self.now = format.and_then(|format| Some((format.id, format.field("now").ok()?)));
    }

    /// Takes a record, of whichever event.
    pub(crate) fn record(&mut self, record: &Record<'_>) {
        let id = record
            .bytes
            .first_chunk::<2>()
            .map(|two| u16::from_le_bytes(*two));
        if let Some((of, field)) = &self.now
            && id == Some(*of)
            && let Some(now) = field.number(record.bytes)
        {
            self.sees(record.at_ns, now.cast_unsigned());
        }
    }

    /// Takes what one expiry says.
    pub(crate) fn sees(&mut self, at_ns: u64, now_ns: u64) {
        self.seen.push((at_ns, now_ns));
    }

    /// Moves events, in order of time, onto CLOCK_MONOTONIC.
    pub(crate) fn moves(mut self, events: &mut [KernelEvent]) -> Clock {
        if self.is_monotonic {
            return Clock::Monotonic;
        }
        self.seen.sort_unstable();
        let marks = soonest(&self.seen);
        if marks.is_empty() {
            return Clock::Unknown;
        }
        let same = marks.iter().filter(|(_, off)| SAME_NS.contains(off));
        if same.count() * 2 > marks.len() {
            return Clock::Monotonic;
        }
        let mut at = 0;
        let mut last_ns = 0;
        for event in events {
            while at + 2 < marks.len() && marks[at + 1].0 <= event.at_ns {
                at += 1;
            }
            let moved = i128::from(event.at_ns) - i128::from(between(&marks[at..], event.at_ns));
            // Times stay in order and above 0.
            last_ns = u64::try_from(moved).unwrap_or(0).max(last_ns);
            event.at_ns = last_ns;
        }
        Clock::Moved
    }
}

/// For each stretch its middle and how much later events are than the timers' time at least, of the
/// clock that most expiries are on.
fn soonest(seen: &[(u64, u64)]) -> Vec<(u64, i64)> {
    let off = |&(at, now): &(u64, u64)| at.cast_signed().wrapping_sub(now.cast_signed());
    let mut all: Vec<i64> = seen.iter().map(off).collect();
    all.sort_unstable();
    let clusters = all.chunk_by(|one, next| next.saturating_sub(*one) < APART_NS);
    let Some(most) = clusters.max_by_key(|cluster| cluster.len()) else {
        return Vec::new();
    };
    let range = most[0]..=most[most.len() - 1];
    let mut marks: Vec<(u64, i64)> = Vec::new();
    let mut stretch = None;
    for one in seen.iter().filter(|one| range.contains(&off(one))) {
        let begun = one.0 / STRETCH_NS;
        if stretch != Some(begun) {
            stretch = Some(begun);
            marks.push((one.0, i64::MAX));
        }
        if let Some(mark) = marks.last_mut()
            && off(one) < mark.1
        {
            *mark = (one.0, off(one));
        }
    }
    marks
}

/// How far the clocks are apart at an instant: on a line between the marks around it.
fn between(marks: &[(u64, i64)], at_ns: u64) -> i64 {
    match marks {
        [one] => one.1,
        [from, to, ..] if to.0 > from.0 && (from.0..=to.0).contains(&at_ns) => {
            let (part, whole) = (i128::from(at_ns - from.0), i128::from(to.0 - from.0));
            let more = (i128::from(to.1) - i128::from(from.1)) * part / whole;
            i64::try_from(i128::from(from.1) + more).unwrap_or(from.1)
        }
        [_, to, ..] if at_ns > to.0 => to.1,
        [from, ..] => from.1,
        [] => 0,
    }
}

/// Drops what was programmed, on a clock that can't be compared with what happened.
pub(crate) fn without_programmed(events: &mut Vec<KernelEvent>) {
    events.retain(|event| !matches!(event.what, What::TimerStart { .. }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at_ns: u64) -> KernelEvent {
        KernelEvent {
            at_ns,
            cpu: 0,
            current: 0,
            what: What::IdleExit,
        }
    }

    #[test]
    fn a_clock_that_drifts_is_followed_and_those_of_the_wall_are_left_out() {
        // 5 ms ahead and 50 ppm faster; the soonest trace is 1 µs after the interrupt.
        let mut clock = TimersClock::default();
        let own = |mono: u64| mono + 5_000_000 + mono / 20_000;
        for k in 0..4_000_u64 {
            let mono = 10_000_000_000 + k * 1_000_000;
            clock.sees(own(mono) + 1_000 + k % 7 * 300, mono);
            if k % 5 == 0 {
                clock.sees(own(mono) + 1_000, mono + 1_700_000_000_000_000_000);
            }
        }
        let at: Vec<u64> = (0..40).map(|k| 10_000_000_000 + k * 100_000_000).collect();
        let mut events: Vec<KernelEvent> = at.iter().map(|at| event(own(*at))).collect();
        assert_eq!(clock.moves(&mut events), Clock::Moved);
        for (event, true_ns) in events.iter().zip(at) {
            let off = event.at_ns.abs_diff(true_ns);
            // One stretch's drift at the trace's ends, 1 µs between marks.
            assert!(off < 52_000, "{off}");
            if (11_000_000_000..13_000_000_000).contains(&true_ns) {
                assert!(off < 2_000, "{off} at {true_ns}");
            }
        }
    }

    #[test]
    fn the_timers_own_clock_moves_nothing_and_without_expiries_nothing_is_known() {
        let mut clock = TimersClock::default();
        clock.sees(1_000_900, 1_000_000);
        let mut events = [event(1_000_900)];
        assert_eq!(clock.moves(&mut events), Clock::Monotonic);
        assert_eq!(events[0].at_ns, 1_000_900);
        assert_eq!(TimersClock::default().moves(&mut events), Clock::Unknown);
    }
}
