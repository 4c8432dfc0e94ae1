//! The verdict and its reasons, in one screen.

use super::outcome;
use crate::markup::Markup;
use crate::next_step::next_steps;
use crate::page::Reported;
use crate::table::{Cell, Table, number, words};
use crate::text::{NO_CRITERION, criterion_text, source, tone, virtual_time_text};
use wakepath_assess::more_may_be_late;
use wakepath_timeline::condition_label;
use wakepath_verdict::{Judgement, Outcome, fraction};

/// Writes the head of a run's report.
pub(super) fn write(markup: &mut Markup, number: usize, run: &Reported<'_>) {
    let assessment = run.assessment;
    let identity = &assessment.run;
    let heading = format!("verdict-{number}");
    markup.open("header", &[("aria-labelledby", &heading)]);
    markup.open("h1", &[("id", &heading)]);
    markup.text(&identity.scenario);
    markup.raw(": ");
    outcome(markup, assessment.outcome);
    markup.close("h1");
    let facts = |label: &str| {
        let found = assessment.machine.iter().find(|(known, _)| known == label);
        found.map(|(_, text)| text.clone())
    };
    let about: Vec<String> = [
        Some(identity.started.clone()),
        facts("CPUs"),
        facts("Kernel").map(|kernel| format!("Linux {kernel}")),
        facts("Preemption").map(|found| format!("preemption {}", first_words(&found))),
        Some(match &assessment.imported {
            Some(from) if !from.is_watched() => format!(
                "imported from {} {}",
                run.manifest.tool.name, identity.wakepath
            ),
            _ => format!("wakepath {}", identity.wakepath),
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    markup.element("p", &[("class", &"about")], about.join(" · "));
    if let Some(imported) = &assessment.imported {
        markup.raw("<div class=\"remark\">");
        let source = source(imported);
        let how = match imported.is_watched() {
            true => "Watched from outside",
            false => "Imported",
        };
        markup.element("p", &[], format!("{how}: {source}. It lacks"));
        markup.raw("<ul class=\"reasons\">");
        for lack in &imported.lacks {
            markup.element("li", &[], lack);
        }
        markup.raw("</ul></div>");
    }
    if let Some(recommendation) = &assessment.overall.recommendation {
        markup.open("p", &[("class", &"lead")]);
        markup.raw("Use ");
        markup.element("strong", &[], recommendation.policy);
        let whole = recommendation.to_string();
        // The sentence begins with the policy, which stands before it in bold.
        let rest = whole.strip_prefix(&recommendation.policy.to_string());
        markup.text(rest.unwrap_or(&whole));
        markup.raw(".</p>");
    }
    if let Some(time) = &assessment.virtual_time {
        let text = format!("In virtual time: {}.", virtual_time_text(time));
        markup.element("p", &[("class", &"remark")], text);
    }
    for remark in &assessment.remarks {
        markup.element("p", &[("class", &"remark")], remark);
    }
    for step in next_steps(assessment) {
        let text = format!("Next, for {step}");
        markup.element("p", &[("class", &"remark")], text);
    }
    markup.open("p", &[]);
    markup.raw("<strong>Criterion");
    markup.text(match assessment.virtual_time {
        Some(_) => ", not judged",
        None => "",
    });
    markup.raw(":</strong> ");
    match assessment.outcome {
        Outcome::NotJudged => markup.text(NO_CRITERION),
        _ => markup.text(criterion_text(assessment)),
    };
    markup.raw(". A maximum is the largest observed, not a bound.</p><div class=\"decision\">");
    policies(markup, run);
    markup.raw("<div>");
    reasons(markup, number, run);
    markup.raw("</div></div></header>\n");
}

/// Without what stands in brackets: the machine's own section has it.
fn first_words(text: &str) -> &str {
    text.split(" (").next().unwrap_or(text)
}

fn policies(markup: &mut Markup, run: &Reported<'_>) {
    let overall = &run.assessment.overall;
    if overall.policies.is_empty() {
        super::nothing(markup, "No condition was measured.");
        return;
    }
    let mut table = Table::of("Policy")
        .caption("What became of each policy over all phases")
        .column(words("Verdict"))
        .column(words("Decided in"))
        .column(number("Missed, worst phase"))
        .column(number("Head-room"));
    let chosen = overall.recommendation.as_ref().map(|found| found.policy);
    let imported = run.assessment.imported.as_ref();
    let at_least = match imported.is_some_and(more_may_be_late) {
        true => "≥ ",
        false => "",
    };
    for policy in &overall.policies {
        let decided = match policy.outcome {
            Outcome::Passed | Outcome::VirtualTime | Outcome::NotJudged => String::new(),
            _ => policy.decided_by.join(", "),
        };
        let missed = fraction(policy.margin.miss_fraction);
        let room = match policy.margin.head_room {
            ..0.0 => "none".to_owned(),
            room => fraction(room),
        };
        let label = condition_label(policy.policy.as_ref(), None);
        let cells = vec![
            Cell::Toned(policy.outcome.to_string(), tone(policy.outcome)),
            decided.into(),
            format!("{at_least}{missed}").into(),
            room.into(),
        ];
        match chosen.is_some() && policy.policy == chosen {
            true => table.chosen(label, cells),
            false => table.row(label, cells),
        }
    }
    table.write_html(markup, "Policies");
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
        markup.raw("<h2>Why</h2><ul class=\"reasons\">");
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
        markup.raw("<h2>Not measured</h2><ul class=\"reasons\">");
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

/// The gravest condition's gravest reason, and where else it is so.
fn why(deciding: &[&Judgement], decided_by: &[String]) -> String {
    let worst = deciding
        .iter()
        .max_by(|a, b| a.margin.miss_fraction.total_cmp(&b.margin.miss_fraction));
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
    match others.is_empty() {
        true => format!("{}{reason}", worst.name),
        false => format!("{}{reason} (also {})", worst.name, others.join(", ")),
    }
}
