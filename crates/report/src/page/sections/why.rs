//! Outcome of each policy, and the reason.

use super::outcome;
use crate::markup::Markup;
use crate::page::Reported;
use crate::page::front::is_watched;
use crate::table::{Cell, Table, number, words};
use crate::text::tone;
use wakepath_assess::more_may_be_late;
use wakepath_timeline::condition_label;
use wakepath_verdict::{Judgement, Margin, Outcome, fraction, upper_fraction};

/// Confidence of either end of a 95 % interval.
const ONE_SIDE: f64 = 0.975;

/// Writes the policies and the reasons.
pub(super) fn write(markup: &mut Markup, number: usize, run: &Reported<'_>) {
    policies(markup, run);
    reasons(markup, number, run);
}

fn policies(markup: &mut Markup, run: &Reported<'_>) {
    let overall = &run.assessment.overall;
    if overall.policies.is_empty() {
        super::nothing(markup, "No condition was measured.");
        return;
    }
    let (label, of) = if is_watched(run.assessment) {
        ("Thread", "Outcome of each thread")
    } else {
        ("Policy", "Outcome of each policy across all phases")
    };
    let mut table = Table::new(label)
        .caption(format!(
            "{of}; in parentheses the 95 % interval of the share missed."
        ))
        .column(words("Verdict"))
        .column(words("Decided in"))
        .column(number("Missed, worst phase"))
        .column(number("Headroom"));
    let chosen = overall.recommendation.as_ref().map(|found| found.policy);
    let conditions = &run.assessment.conditions;
    for policy in &overall.policies {
        let own = || -> Vec<&Judgement> {
            let all = conditions.iter();
            all.filter(|of| of.name.policy == policy.policy).collect()
        };
        let at_least = if own().iter().any(|of| more_may_be_late(run.assessment, of)) {
            "≥ "
        } else {
            ""
        };
        let decided = match policy.outcome {
            Outcome::Passed | Outcome::VirtualTime | Outcome::NotJudged => String::new(),
            _ => policy.decided_by.join(", "),
        };
        let missed = policy.margin.map(|margin| {
            let share = fraction(margin.miss_fraction);
            // Of a share that is a lower end itself there is no interval.
            let interval = worst(&own()).filter(|_| at_least.is_empty());
            let interval = interval.map_or(String::new(), |interval| format!(" ({interval})"));
            format!("{at_least}{share}{interval}")
        });
        let room = policy.margin.map(|margin| match margin.head_room {
            ..0.0 => "none".to_owned(),
            room => fraction(room),
        });
        let label = condition_label(policy.policy.as_ref(), None);
        let cells = vec![
            Cell::Toned(policy.outcome.to_string(), tone(policy.outcome)),
            decided.into(),
            missed.into(),
            room.into(),
        ];
        if chosen.is_some() && policy.policy == chosen {
            table.chosen(label, cells)
        } else {
            table.row(label, cells)
        }
    }
    table.write_html(markup, "Verdicts of the policies");
}

/// The two-sided 95 % interval of the share missed, in the condition that missed most.
fn worst(own: &[&Judgement]) -> Option<String> {
    let missed = own.iter().filter_map(|of| {
        let misses = of.cycles.misses?.tally();
        (misses.due > 0).then_some((misses, of.cycles.threads))
    });
    let (misses, threads) =
        missed.max_by(|(one, _), (other, _)| one.fraction().total_cmp(&other.fraction()))?;
    let low = misses.lower_bound(ONE_SIDE, threads);
    let high = misses.upper_bound(ONE_SIDE, threads);
    Some(match misses.missed {
        0 => format!("≤ {}", upper_fraction(high, 1.0)),
        _ => format!("{} to {}", fraction(low), upper_fraction(high, 1.0)),
    })
}

/// Why each policy that did not pass did not: what decided it, one line each. Every reason of every
/// condition is in the section on statistics.
fn reasons(markup: &mut Markup, number: usize, run: &Reported<'_>) {
    let assessment = run.assessment;
    let short_of: Vec<_> = assessment
        .overall
        .policies
        .iter()
        .filter(|policy| {
            !matches!(
                policy.outcome,
                Outcome::Passed | Outcome::VirtualTime | Outcome::NotJudged
            )
        })
        .collect();
    if !short_of.is_empty() {
        markup.raw("<h3>Reasons</h3><ul class=\"reasons\">");
        for policy in short_of {
            let deciding: Vec<&Judgement> = assessment
                .conditions
                .iter()
                .filter(|one| one.name.policy == policy.policy && one.outcome == policy.outcome)
                .collect();
            markup.raw("<li>");
            outcome(markup, policy.outcome);
            markup.raw(" ");
            markup.text(why(&deciding, &policy.decided_by));
            markup.raw("</li>");
        }
        markup.raw("</ul>");
        markup.open("p", &[("class", &"about")]);
        markup.raw("Every reason and caution of every condition: ");
        let link = format!("#statistics-{number}");
        markup.element("a", &[("href", &link)], "Statistics");
        markup.raw(".</p>");
    }
    if !assessment.not_measured.is_empty() {
        markup.raw("<h3>Not measured</h3><ul class=\"reasons\">");
        for missing in &assessment.not_measured {
            markup.raw("<li><strong>");
            markup.text(format!("{}, {}", missing.condition, missing.phase));
            markup.raw("</strong>: ");
            markup.text(&missing.reason);
            markup.raw("</li>");
        }
        markup.raw("</ul>");
    }
}

/// The worst condition's main reason, and other phases with the same outcome.
fn why(deciding: &[&Judgement], decided_by: &[String]) -> String {
    let worst = deciding
        .iter()
        .max_by(|a, b| Margin::by_misses(a.margin, b.margin));
    let Some(worst) = worst else {
        return format!("not measured in {}", decided_by.join(", "));
    };
    let reason = worst
        .reasons
        .iter()
        .find(|reason| reason.bearing() == worst.outcome);
    let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
    let others: Vec<String> = deciding
        .iter()
        .filter(|one| one.name != worst.name)
        .map(|one| one.name.phase.clone())
        .collect();
    if others.is_empty() {
        format!("{}{reason}", worst.name)
    } else {
        format!("{}{reason} (also {})", worst.name, others.join(", "))
    }
}
