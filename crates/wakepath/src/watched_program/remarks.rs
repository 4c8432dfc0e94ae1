//! Facts that a reader needs to read a watched thread's line correctly.

use wakepath_assess::watched::{Finding, WakerKind, Watched, WokenBy};
use wakepath_timeline::duration;
use wakepath_verdict::counted;

/// Activations for each switch-in with another priority, from which on those are not remarked.
const OTHERS_OF: u64 = 100;

/// A remark on a thread, if it applies.
type Remark = fn(&Watched) -> Option<String>;

/// Remarks after the findings, the weightiest first: those on cycles that are missing in its line.
const REMARKS: &[Remark] = &[
    |of| {
        let activations = ["activation", "activations"];
        count(
            of.left_out,
            activations,
            "left out: events missing, or off the period grid",
        )
    },
    |of| {
        let cycles = counted(of.activations, "cycle", "cycles");
        (of.unwoken > 0).then(|| {
            format!(
                "it was not woken before {} of {cycles}: the latency of those is not known and counts as 0",
                of.unwoken
            )
        })
    },
    |of| {
        count(
            of.outside,
            ["run", "runs"],
            "of sections outside of its cycles left out",
        )
    },
    |of| {
        let marks = ["mark of a section", "marks of sections"];
        count(
            of.unpaired,
            marks,
            "without the other half of its pair left out",
        )
    },
    |of| {
        let declared = of.declared.filter(|&declared| declared != of.policy)?;
        Some(format!(
            "meant to have {declared}, in effect is {}",
            of.policy
        ))
    },
    |of| {
        let earlier: Vec<String> = of
            .earlier_policies
            .iter()
            .map(ToString::to_string)
            .collect();
        (!earlier.is_empty()).then(|| format!("had {} before", earlier.join(", ")))
    },
    |of| {
        let times = counted(of.other_priorities, "time", "times");
        // Some before its policy is set are no news.
        (of.other_priorities * OTHERS_OF > of.activations).then(|| {
            format!(
                "switched in {times} with another priority than its policy's (before it was set, while \
                 it had another, or inherited by a lock)"
            )
        })
    },
    |of| {
        let WokenBy {
            waker,
            kind,
            times,
            of,
        } = of.woken_by.as_ref()?;
        let wakes = match kind {
            WakerKind::Threads => "wake",
            _ => "wakes",
        };
        Some(format!(
            "{waker} {wakes} it, {times} of {of} times, and not a timer: latency counts from its being \
             woken"
        ))
    },
    |of| {
        (of.has_row && !of.exact).then(|| {
            "computes the time to its next due time and sleeps for that: its due times are those of its timer, some \
             microseconds after its own, or up to two milliseconds if it asks for whole ones"
                .to_owned()
        })
    },
    |of| {
        let is_one = !of.is_periodic && of.activations == 1;
        is_one.then(|| "one cycle only: its period, if any, is unknown".to_owned())
    },
    |of| {
        let [low, high] = [of.apart_ns.0, of.apart_ns.1].map(three_digits);
        let moves = |finding: &Finding| matches!(finding, Finding::Moves { .. });
        let moves = of.findings.iter().any(moves);
        (!of.is_periodic && of.activations > 1 && !moves).then(|| {
            format!(
                "without a period: most of its cycles begin {low} to {high} apart. Late cycles are unknown; its \
                 wake-up latencies and run times are as measured"
            )
        })
    },
    |of| {
        let sleeps_for = |finding: &Finding| matches!(finding, Finding::SleepsFor { .. });
        if of.has_row || !of.is_periodic || of.findings.iter().any(sleeps_for) {
            return None;
        }
        let mean = duration::length(of.mean_interval_ns?);
        Some(if of.woken_by.is_some() {
            format!("on average a turn each {mean}; no due time can be called skipped")
        } else {
            format!(
                "does not sleep until instants a whole number of periods apart: on average a turn \
                 each {mean}, and no due time can be called skipped"
            )
        })
    },
    |of| {
        (!of.programmed && of.woken_by.is_none() && !of.marked).then(|| {
            "its timer's programmed time is on another clock or was not seen: latency counts from \
             the timer's callback"
                .to_owned()
        })
    },
    |of| {
        let wake_ups = ["wake-up", "wake-ups"];
        count(
            of.unseen_wake_ups,
            wake_ups,
            "from CPUs that are not traced; --cpu adds them",
        )
    },
    |of| {
        let those = if of.untold_switches == 1 {
            "that latency"
        } else {
            "those latencies"
        };
        let switches = counted(of.untold_switches, "switch-in was", "switch-ins were");
        (of.untold_switches > 0).then(|| {
            format!(
                "{switches} not recorded by this kernel, which makes {those} uncertain by up to {}, the time \
                 between the events before and after",
                duration::three_digits(i64::try_from(of.untold_switch_ns).unwrap_or(i64::MAX))
            )
        })
    },
    |of| {
        let change = match (of.is_new, of.ended) {
            (true, true) => "came and went",
            (true, false) => "came",
            (false, true) => "ended",
            (false, false) => return None,
        };
        Some(format!("{change} while it was watched"))
    },
];

/// On due times of which nobody knows what became. If they were left out, each cost a period.
fn unseen(of: &Watched) -> Option<(u64, String)> {
    let known = of.skipped.and(count(
        of.unseen,
        ["due time", "due times"],
        "passed before the cycle under way had ended, and it slept again until the next one. It made no call for \
         these: it ran them at once, or left them out; --cycle with two probes in the program shows which",
    ));
    known.map(|remark| (of.unseen.saturating_mul(of.period_ns), remark))
}

/// All remarks on a thread, each with the time that it is about, in nanoseconds; `cycle` describes the boundaries of its
/// cycles, if probes mark them.
pub(super) fn remarks(of: &Watched, cycle: Option<&str>) -> Vec<(u64, String)> {
    let findings = of.findings.iter();
    let findings = findings.map(|found| (found.lost_ns(of.activations), found.with_fix()));
    let cycle = cycle.filter(|_| of.marked);
    let cycle = cycle.map(|cycle| format!("its cycles lie {cycle}"));
    let others = REMARKS.iter().filter_map(|remark| remark(of));
    let others = cycle.into_iter().chain(others);
    let others = others.map(|remark| (0, remark));
    findings.chain(unseen(of)).chain(others).collect()
}

/// A remark on a count: `3 runs left out`.
fn count(number: u64, [one, many]: [&str; 2], remark: &str) -> Option<String> {
    (number > 0).then(|| format!("{} {remark}", counted(number, one, many)))
}

fn three_digits(ns: u64) -> String {
    duration::three_digits(ns.cast_signed())
}
