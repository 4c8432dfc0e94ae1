//! The answer of a trial of one fix: changes with intervals, helped or not. Pure.

use super::turn::{FIGURES, Turn};
use std::fmt::Write;
use std::process::ExitCode;
use wakepath_report::{Cell, Table, words};
use wakepath_timeline::duration::{length, three_digits};
use wakepath_tuning::{Effect, EffectFinding};

/// The figures that decide: mean and p99 of the time from due to end. Both intervals hold together.
const DECIDING: [usize; 2] = [1, 2];
/// An improvement smaller than this ratio is none.
const WORTH: f64 = 0.9;

/// Whether a fix helped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Helped,
    DidNotHelp,
    Undecided,
}

impl Answer {
    /// From the deciding figures' effects, of logarithms.
    fn new(effects: &[Option<Effect>]) -> Self {
        let has = |wanted| effects.iter().flatten().any(|one| one.finding() == wanted);
        let excludes_help = |one: &Option<Effect>| {
            let interval = one.and_then(|one| one.interval);
            interval.is_some_and(|(low, _)| low > WORTH.ln())
        };
        match (has(EffectFinding::Helps), has(EffectFinding::Hurts)) {
            (true, false) => Self::Helped,
            (false, true) => Self::DidNotHelp,
            (false, false) if effects.iter().all(excludes_help) => Self::DidNotHelp,
            _ => Self::Undecided,
        }
    }

    /// The exit code.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Helped => 0,
            Self::DidNotHelp => 2,
            Self::Undecided => 3,
        })
    }
}

/// The change of one figure; ratios, because lateness spans powers of ten.
fn effect(pairs: &[(Turn, Turn)], figure: usize) -> Option<Effect> {
    let ln = |turn: &Turn| turn.figures[figure].max(1.0).ln();
    let ratios: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (ln(a), ln(b))).collect();
    Effect::new(&ratios, DECIDING.len())
}

/// A fix of the policy or the CPUs changes nothing in a program that sets its own.
pub fn refuse_without_change(fix: &str, without: &Turn, with: &Turn) -> Result<(), String> {
    let (ran, own) = match fix.split_once('=') {
        Some(("policy", _)) if without.policy == with.policy => {
            (format!("ran under {}", with.policy), "policy")
        }
        Some(("cpu", _)) if without.cpus == with.cpus => {
            (format!("could use CPU {}", with.cpus), "CPUs")
        }
        _ => return Ok(()),
    };
    Err(format!(
        "{fix}: the loop {ran} without the fix and with it, since the program sets its own {own}; change it in \
         the program"
    ))
}

/// The answer, and it all in one screen.
pub fn answer(pairs: &[(Turn, Turn)], columns: usize) -> (Answer, String) {
    let mut table = Table::new("time")
        .column(words("without"))
        .column(words("with"));
    table = table.column(words("change"));
    let mean = |figure: usize, of: fn(&(Turn, Turn)) -> &Turn| {
        let sum: f64 = pairs.iter().map(|pair| of(pair).figures[figure]).sum();
        three_digits((sum / pairs.len() as f64) as i64)
    };
    for (figure, name) in FIGURES.into_iter().enumerate() {
        table.row(
            name,
            vec![
                Cell::new(mean(figure, |pair| &pair.0)),
                Cell::new(mean(figure, |pair| &pair.1)),
                Cell::new(change(effect(pairs, figure))),
            ],
        );
    }
    let skipped = |of: fn(&(Turn, Turn)) -> &Turn| {
        let all: Option<u64> = pairs.iter().map(|pair| of(pair).skipped).sum();
        all.map_or_else(|| "unknown".to_owned(), |count| count.to_string())
    };
    table.row(
        "due times without a cycle",
        vec![
            Cell::new(skipped(|pair| &pair.0)),
            Cell::new(skipped(|pair| &pair.1)),
            Cell::new(""),
        ],
    );
    let deciding = DECIDING.map(|figure| effect(pairs, figure));
    let answer = Answer::new(&deciding);
    let mut text = table.to_terminal(Some(columns));
    let Some((without, with)) = pairs.first() else {
        return (Answer::Undecided, text);
    };
    let cycles: u64 = pairs.iter().map(|(a, b)| a.cycles + b.cycles).sum();
    let _ = writeln!(
        text,
        "{cycles} cycles of {}; {} without it, {} with it\nchanges: mean of {} pairs, 95 % intervals (Student's t)\n",
        length(without.period_ns),
        without.policy,
        with.policy,
        pairs.len()
    );
    let _ = match answer {
        Answer::Helped => writeln!(text, "helped"),
        Answer::DidNotHelp => writeln!(text, "did not help"),
        Answer::Undecided => writeln!(
            text,
            "undecided: more --pairs or a longer --for can show smaller changes"
        ),
    };
    (answer, text)
}

fn change(effect: Option<Effect>) -> String {
    let percent = |ln: f64| format!("{:+.0}", 100.0 * (ln.exp() - 1.0));
    match effect {
        Some(Effect {
            mean,
            interval: Some((low, high)),
        }) if low > 0.0 || high < 0.0 => {
            format!(
                "{} % ({} to {})",
                percent(mean),
                percent(low),
                percent(high)
            )
        }
        _ => "no effect shown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::CpuSet;

    fn turn(ms: f64) -> Turn {
        Turn {
            policy: wakepath_timeline::Policy::Fifo { priority: 80 },
            cpus: CpuSet::from(&[1][..]),
            period_ns: 4_000_000,
            cycles: 1000,
            skipped: Some(0),
            figures: [ms * 1e6; 4],
        }
    }

    fn pairs(without: [f64; 3], with: [f64; 3]) -> Vec<(Turn, Turn)> {
        let both = without.into_iter().zip(with);
        both.map(|(a, b)| (turn(a), turn(b))).collect()
    }

    #[test]
    fn a_policy_that_the_program_sets_itself_can_not_be_tried() {
        let turns = pairs([9.0, 10.0, 11.0], [1.0, 1.1, 0.9]);
        let (without, with) = &turns[0];
        let refused = refuse_without_change("policy=FIFO 80", without, with);
        assert!(refused.unwrap_err().contains("sets its own policy"));
        let refused = refuse_without_change("cpu=0", without, with);
        assert!(refused.unwrap_err().contains("sets its own CPUs"));
        assert_eq!(refuse_without_change("slack", without, with), Ok(()));
        let other = Turn {
            policy: wakepath_timeline::Policy::Fifo { priority: 50 },
            ..turn(9.0)
        };
        assert_eq!(
            refuse_without_change("policy=FIFO 80", &other, with),
            Ok(())
        );
    }

    #[test]
    fn a_fix_helped_did_not_help_or_is_undecided() {
        let (helped, text) = answer(&pairs([10.0, 12.0, 11.0], [0.5, 0.6, 0.5]), 100);
        assert_eq!(helped, Answer::Helped, "{text}");
        assert!(
            text.contains("-95 %") && text.ends_with("helped\n"),
            "{text}"
        );
        let (same, _) = answer(&pairs([1.0, 1.01, 1.0], [1.0, 1.0, 1.01]), 100);
        assert_eq!(same, Answer::DidNotHelp);
        let (worse, _) = answer(&pairs([1.0, 1.1, 1.0], [3.0, 3.1, 3.2]), 100);
        assert_eq!(worse, Answer::DidNotHelp);
        let (unknown, text) = answer(&pairs([1.0, 9.0, 2.0], [3.0, 1.0, 1.0]), 100);
        assert_eq!(unknown, Answer::Undecided);
        assert!(text.contains("no effect shown"), "{text}");
    }
}
