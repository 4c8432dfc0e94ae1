//! Outcome of a run on a board, from the board's account, its clocks, and the fetched run.
//!
//! Any irregularity becomes a reason, and never a pass. Pure.

use crate::answer::Clocks;
use crate::job::Outcome;

/// Tolerated difference between a board's clock and the controller's, in seconds.
pub const CLOCK_TOLERANCE: u64 = 10;

/// Tolerated difference between a board's two clocks in a run, in seconds: both are read in whole
/// seconds, and a disciplined clock is slewed.
const STEP_TOLERANCE: u64 = 3;

/// A disk with less than this, KiB, is full.
const FULL_KIB: u64 = 512;

/// Exit codes of `timeout`.
const TIMED_OUT: [u8; 2] = [124, 137];

/// Fault of a board's clock, compared with the controller's.
pub fn clock(board: u64, ours: u64) -> Option<String> {
    let ahead = board > ours;
    let by = board.abs_diff(ours);
    (by > CLOCK_TOLERANCE).then(|| {
        let way = if ahead { "ahead" } else { "behind" };
        format!("its clock is {by} s {way} of the controller's: set it (chrony, timedatectl)")
    })
}

/// Outcome of a run that has ended, by the board's own, unverified account.
pub fn ended(
    code: u8,
    free_kib: u64,
    begun: &Clocks,
    ended: &Clocks,
    limit: u64,
    last_line: &str,
) -> (Outcome, Option<String>) {
    if begun.boot != ended.boot {
        return invalid("the board rebooted during the run");
    }
    let by_clock = ended.time.abs_diff(begun.time);
    let by_uptime = ended.up.saturating_sub(begun.up);
    if ended.time < begun.time || by_clock.abs_diff(by_uptime) > STEP_TOLERANCE {
        let sign = if ended.time < begun.time { "-" } else { "" };
        return invalid(&format!(
            "its clock was set in mid-run: {sign}{by_clock} s passed by it, {by_uptime} s by its uptime"
        ));
    }
    match code {
        0 => (Outcome::Passed, None),
        2 => (Outcome::Failed, Some("the criterion is not met".into())),
        3 => (Outcome::Undecided, Some("too little evidence".into())),
        code if TIMED_OUT.contains(&code) => {
            invalid(&format!("hung: ended after {limit} s, its limit"))
        }
        // A full disk leaves no space for its message either.
        _ if free_kib < FULL_KIB => invalid("its disk is full: the run could not be written"),
        1 => invalid(match last_line {
            "" => "the run is invalid",
            line => line,
        }),
        code => invalid(&format!("the program ended with {code}: {last_line}")),
    }
}

/// Final outcome: the run's assessment here, and never better than the board's own account.
pub fn held_against(
    account: (Outcome, Option<String>),
    run: Result<(Outcome, Option<String>), String>,
) -> (Outcome, Option<String>) {
    match (account, run) {
        (account @ (Outcome::Invalid, _), _) => account,
        (_, Err(why)) => invalid(&why),
        ((Outcome::Passed, _), Ok(found)) => found,
        ((said, _), Ok((Outcome::Passed, _))) => invalid(&format!(
            "the run that came back passes, but its program ended as {}: it is another run",
            said.name()
        )),
        (_, Ok(found)) => found,
    }
}

/// Outcome of a run without a recorded end.
pub fn gone(begun: &Clocks, now: &Clocks, free_kib: u64) -> (Outcome, Option<String>) {
    if begun.boot != now.boot {
        return invalid("the board rebooted during the run");
    }
    if free_kib < FULL_KIB {
        invalid("its disk is full: the run's end could not be written")
    } else {
        invalid("the run was killed: nobody measures, and no end was written")
    }
}

/// Invalid, for a reason.
pub fn invalid(why: &str) -> (Outcome, Option<String>) {
    (Outcome::Invalid, Some(why.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(time: u64, up: u64, boot: &str) -> Clocks {
        let boot = boot.into();
        Clocks { time, up, boot }
    }

    #[test]
    fn nothing_but_a_whole_run_passes() {
        let begun = clocks(1000, 50, "a");
        let of = |code, time, up, boot| {
            ended(
                code,
                9999,
                &begun,
                &clocks(time, up, boot),
                300,
                "no rights",
            )
        };
        assert_eq!(of(0, 1100, 150, "a"), (Outcome::Passed, None));
        assert_eq!(of(0, 1102, 150, "a").0, Outcome::Passed);
        for (code, outcome) in [
            (1, Outcome::Invalid),
            (2, Outcome::Failed),
            (3, Outcome::Undecided),
        ] {
            assert_eq!(of(code, 1100, 150, "a").0, outcome);
        }
        for wrong in [
            of(0, 1100, 10, "b"),
            of(0, 4700, 150, "a"),
            of(0, 900, 150, "a"),
            of(0, 1000, 150, "a"),
            of(124, 1100, 150, "a"),
            of(139, 1100, 150, "a"),
        ] {
            assert_eq!(wrong.0, Outcome::Invalid, "{wrong:?}");
            assert!(wrong.1.is_some());
        }
        assert_eq!(of(1, 1100, 150, "a").1.as_deref(), Some("no rights"));
        let full = ended(1, 3, &begun, &clocks(1100, 150, "a"), 300, "").1;
        assert!(full.unwrap().contains("disk is full"));
    }

    #[test]
    fn what_a_run_shows_counts_and_never_more_than_its_board_says() {
        let account = |outcome| (outcome, Some("as the board says".to_owned()));
        let shows = |outcome| Ok((outcome, None));
        let of = |said, run| held_against(account(said), run).0;
        assert_eq!(of(Outcome::Passed, shows(Outcome::Passed)), Outcome::Passed);
        for (said, shown, is) in [
            (Outcome::Passed, Outcome::Failed, Outcome::Failed),
            (Outcome::Passed, Outcome::Undecided, Outcome::Undecided),
            (Outcome::Passed, Outcome::Invalid, Outcome::Invalid),
            (Outcome::Failed, Outcome::Passed, Outcome::Invalid),
            (Outcome::Undecided, Outcome::Failed, Outcome::Failed),
            (Outcome::Invalid, Outcome::Passed, Outcome::Invalid),
        ] {
            assert_eq!(of(said, shows(shown)), is, "{said:?}, {shown:?}");
        }
        let none = of(Outcome::Passed, Err("no finished run came back".into()));
        assert_eq!(none, Outcome::Invalid);
    }

    #[test]
    fn a_clock_far_off_has_a_reason() {
        assert_eq!(clock(1000, 1010), None);
        assert!(clock(1000, 1011).unwrap().contains("11 s behind"));
        assert!(clock(4600, 1000).unwrap().contains("3600 s ahead"));
        let begun = clocks(1000, 50, "a");
        assert!(
            gone(&begun, &clocks(1, 1, "b"), 9999)
                .1
                .unwrap()
                .contains("booted")
        );
        assert!(
            gone(&begun, &clocks(1, 99, "a"), 3)
                .1
                .unwrap()
                .contains("disk is full")
        );
        assert!(
            gone(&begun, &clocks(1, 99, "a"), 9999)
                .1
                .unwrap()
                .contains("killed")
        );
    }
}
