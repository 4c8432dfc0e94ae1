//! The loads of a segment's phase, and the proof of each one's work during the segment: over the whole
//! segment, and over each stretch of it, so that a load that fell silent in the middle is noticed.

use std::time::Duration;
use wakepath_load::{LoadError, Loads, Snapshot};
use wakepath_timeline::LoadProof;

/// Number of stretches that a segment is checked in ...
const STRETCHES: u32 = 4;
/// ... none of which is shorter: a load may pause, and a program's CPU time is counted in ticks.
const SHORTEST: Duration = Duration::from_secs(2);

/// The loads of a phase.
pub(super) enum PhaseLoads {
    Idle,
    Working(Box<Loads>),
    /// They could not be started: the segment is not measured, with this reason.
    Missing(String),
}

/// The loads' counters from the beginning of a segment on; nothing without loads.
#[derive(Default)]
pub(super) struct Readings {
    taken: Vec<Result<Snapshot, LoadError>>,
    /// Since the first of them, what is still to be taken, the next one last.
    due: Vec<Duration>,
}

impl Readings {
    /// The first, of a segment that lasts so long.
    pub(super) fn begin(loads: &mut PhaseLoads, lasting: Duration) -> Self {
        match loads {
            PhaseLoads::Working(loads) => Self {
                taken: vec![loads.snapshot()],
                due: boundaries(lasting),
            },
            _ => Self::default(),
        }
    }

    /// Takes the next one when it is due.
    pub(super) fn go_on(&mut self, loads: &mut PhaseLoads, since_begin: Duration) {
        let due = self.due.last().is_some_and(|&due| due <= since_begin);
        if let (true, PhaseLoads::Working(loads)) = (due, loads) {
            self.due.pop();
            self.taken.push(loads.snapshot());
        }
    }

    /// Each load's work. A load that does not answer has no proof, and its reason is given.
    pub(super) fn proofs(self, loads: &mut PhaseLoads) -> Vec<LoadProof> {
        let PhaseLoads::Working(loads) = loads else {
            return Vec::new();
        };
        if self.taken.is_empty() {
            return Vec::new();
        }
        let proofs = self.taken.into_iter().collect::<Result<Vec<_>, _>>();
        let proofs = proofs.and_then(|mut taken| {
            taken.push(loads.snapshot()?);
            let (first, last) = (&taken[0], &taken[taken.len() - 1]);
            let mut whole = loads.proof_between(first, last);
            if taken.len() > 2 {
                for two in taken.windows(2) {
                    let from_ns = two[0].at_ns.saturating_sub(first.at_ns);
                    note_silence(&mut whole, &loads.proof_between(&two[0], &two[1]), from_ns);
                }
            }
            Ok(whole)
        });
        proofs.unwrap_or_else(|error| vec![LoadProof::missing("loads", error.to_string())])
    }
}

/// The ends of the stretches, the first of them last.
fn boundaries(lasting: Duration) -> Vec<Duration> {
    let each = (lasting / STRETCHES).max(SHORTEST);
    let ends = (1..STRETCHES).map(|number| each * number);
    let mut ends: Vec<Duration> = ends.filter(|&end| end + each <= lasting).collect();
    ends.reverse();
    ends
}

/// A load that did nothing in one stretch did not work in the segment.
fn note_silence(whole: &mut [LoadProof], stretch: &[LoadProof], from_ns: u64) {
    for (whole, stretch) in whole.iter_mut().zip(stretch) {
        if let (true, Some(why)) = (whole.working, stretch.why_unproven()) {
            whole.working = false;
            let from = from_ns as f64 / 1e9;
            let until = from + stretch.seconds;
            whole.reason = Some(format!(
                "it stopped between {from:.1} s and {until:.1} s of the segment: {why}"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_has_four_stretches_and_fewer_where_it_is_short() {
        let of = |ms| {
            let ends = boundaries(Duration::from_millis(ms)).into_iter().rev();
            ends.map(|end| end.as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(of(60_000), [15_000, 30_000, 45_000]);
        assert_eq!(of(8_000), [2_000, 4_000, 6_000]);
        assert_eq!(of(5_999), [2_000]);
        assert!(of(3_999).is_empty());
    }

    #[test]
    fn a_load_that_worked_in_all_and_not_in_one_stretch_fell_silent_there() {
        let proof = |working| LoadProof {
            seconds: 2.0,
            working,
            reason: (!working).then(|| "no rounds were done".into()),
            ..LoadProof::default()
        };
        let mut whole = [proof(true), proof(true), proof(false)];
        let stretch = [proof(true), proof(false), proof(false)];
        note_silence(&mut whole, &stretch, 4_000_000_000);
        assert!(whole[0].working && whole[0].reason.is_none());
        let said = "it stopped between 4.0 s and 6.0 s of the segment: no rounds were done";
        assert_eq!(whole[1].why_unproven(), Some(said));
        assert_eq!(whole[2].why_unproven(), Some("no rounds were done"));
        // The first silence is reported.
        note_silence(&mut whole, &stretch, 6_000_000_000);
        assert_eq!(whole[1].why_unproven(), Some(said));
    }
}
