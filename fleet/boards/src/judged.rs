//! Assesses a fetched run from its files only, without the board's account.

use crate::job::Outcome;
use std::path::Path;
use wakepath_archive::Run;
use wakepath_assess::Assessment;

/// A run's outcome, and the reason if it does not pass.
///
/// # Errors
/// If it can't be assessed: it is missing, unreadable, or differs from what was written or sealed.
pub fn judged(run: &Path) -> Result<(Outcome, Option<String>), String> {
    if !run.join(wakepath_archive::MANIFEST_NAME).is_file() {
        return Err("no finished run came back".into());
    }
    let run = Run::open(run).map_err(|error| error.to_string())?;
    let found = Assessment::new(&run).map_err(|error| error.to_string())?;
    let outcome = match found.outcome {
        wakepath_verdict::Outcome::Passed => return Ok((Outcome::Passed, None)),
        wakepath_verdict::Outcome::Failed => Outcome::Failed,
        wakepath_verdict::Outcome::Invalid => Outcome::Invalid,
        wakepath_verdict::Outcome::Undecided
        | wakepath_verdict::Outcome::VirtualTime
        | wakepath_verdict::Outcome::NotJudged => Outcome::Undecided,
    };
    let decided = found.conditions.iter();
    let mut decided = decided.filter(|condition| condition.outcome == found.outcome);
    let remark = found.remarks.first().cloned();
    let reason = remark.or_else(|| match outcome {
        Outcome::Failed => Some("the criterion is not met".into()),
        Outcome::Undecided => Some("too little evidence".into()),
        _ => Some(decided.next()?.reasons.first()?.to_string()),
    });
    Ok((outcome, reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_fleet_made_up::{MadeUp, seal_run};

    /// Outcome of a run with `cycles` due times whose latencies are larger by `slower_by_ns`.
    fn shown(cycles: u64, slower_by_ns: i64, change: fn(&Path)) -> Result<Outcome, String> {
        let place = tempfile::tempdir().unwrap();
        let run = place.path().join("run");
        let made_up = MadeUp {
            cycles,
            slower_by_ns,
            ..MadeUp::number(1)
        };
        made_up.write(&run);
        seal_run(&run, "pi5-07");
        change(&run);
        judged(&run).map(|(outcome, reason)| {
            assert_eq!(reason.is_none(), outcome == Outcome::Passed, "{reason:?}");
            outcome
        })
    }

    #[test]
    fn a_run_is_what_its_files_show() {
        assert_eq!(shown(MadeUp::PASSES, 0, |_| ()), Ok(Outcome::Passed));
        assert_eq!(shown(100, 0, |_| ()), Ok(Outcome::Undecided));
        assert_eq!(shown(MadeUp::PASSES, 200_000, |_| ()), Ok(Outcome::Failed));
        let why = shown(MadeUp::PASSES, 0, |run| {
            std::fs::write(run.join("more"), "").unwrap();
        });
        assert!(why.unwrap_err().contains("its seal is broken"));
        let why = shown(MadeUp::PASSES, 0, |run| {
            std::fs::remove_file(run.join("manifest.json")).unwrap();
        });
        assert_eq!(why.unwrap_err(), "no finished run came back");
    }
}
