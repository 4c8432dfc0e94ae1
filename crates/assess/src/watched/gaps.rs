//! Meaning of a due time without an activation, while a program is watched and at its end.

use super::Finding;
use wakepath_explain::watch::{BegunBy, Rhythm};
use wakepath_verdict::Gaps;

/// Whether each cycle begins with an event, even one before which its thread did not sleep: at a mark, or at a wait for
/// a timer that counts its expiries.
pub fn shows_each_cycle(begun_by: BegunBy, by_lasting_timers: bool) -> bool {
    match begun_by {
        BegunBy::Marks => true,
        BegunBy::Timer => by_lasting_timers,
        BegunBy::Other => false,
    }
}

/// The meaning of a gap in the row of a thread with this rhythm.
pub fn gaps(rhythm: Rhythm, shows_each_cycle: bool) -> Gaps {
    match rhythm.anchor_ns {
        None => Gaps::Unseen,
        Some(_) if shows_each_cycle => Gaps::Skipped,
        Some(_) => Gaps::UnseenWhileRunning,
    }
}

/// The same of a thread with these findings.
pub fn with_passed(gaps: Gaps, findings: &[Finding]) -> Gaps {
    let has_run = findings
        .iter()
        .any(|of| matches!(of, Finding::RanPassed { .. }));
    match gaps {
        Gaps::UnseenWhileRunning if has_run => Gaps::RanAfterwards,
        gaps => gaps,
    }
}
