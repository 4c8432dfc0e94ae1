//! Causes by the time that they took.

use crate::cause::Cause;
use crate::fix::Fix;
use crate::remedy::advice;
use crate::summary::CauseFigures;
use crate::totals::CauseSum;
use foldhash::HashMap;

/// A cause with its figures.
pub(crate) struct Ranked<'a> {
    pub cause: &'a Cause,
    pub figures: CauseFigures,
    /// The row of its fix.
    pub fix: Option<&'static Fix>,
}

/// The causes with most time in late cycles first. `tried`: the thread that the commands which try a fix have to name, as
/// a word of a shell.
pub(crate) fn ranked<'a>(
    sums: &'a HashMap<Cause, CauseSum>,
    tried: Option<&str>,
) -> Vec<Ranked<'a>> {
    let mut ranked: Vec<Ranked<'_>> = sums
        .iter()
        .map(|(cause, sum)| {
            let advice = advice(cause);
            Ranked {
                cause,
                fix: advice.as_ref().map(|of| of.fix),
                figures: CauseFigures {
                    kind: cause.kind().into(),
                    cause: cause.to_string(),
                    because: match cause {
                        Cause::Overrun(because) => Some(because.to_string()),
                        _ => None,
                    },
                    cycles: sum.cycles,
                    late_cycles: sum.late_cycles,
                    total_ns: sum.total_ns,
                    late_ns: sum.late_ns,
                    worst_ns: sum.worst_ns,
                    worst_cycle: sum.worst_cycle,
                    late_worst_ns: sum.late_worst_ns,
                    remedy: advice.map(|of| of.printed(tried)),
                },
            }
        })
        .collect();
    // The name decides between equals, so that the order is the same every time.
    ranked.sort_unstable_by(|a, b| {
        let key = |of: &Ranked<'_>| std::cmp::Reverse((of.figures.late_ns, of.figures.total_ns));
        key(a)
            .cmp(&key(b))
            .then_with(|| a.figures.cause.cmp(&b.figures.cause))
    });
    ranked
}
