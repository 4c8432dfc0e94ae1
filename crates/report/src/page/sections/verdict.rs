//! The verdict and its reasons, in one screen.

use super::{outcome, outcome_class};
use crate::page::Reported;
use crate::page::markup::Markup;
use wakepath_verdict::{Caution, Judgement, Outcome, fraction};

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
        facts("machine"),
        facts("kernel"),
        Some(format!("wakepath {}", identity.wakepath)),
    ]
    .into_iter()
    .flatten()
    .collect();
    markup.element("p", &[("class", &"about")], about.join(" · "));
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
    for remark in &assessment.remarks {
        markup.element("p", &[("class", &"remark")], remark);
    }
    let longest = assessment.conditions.iter().filter_map(|one| one.more);
    let longest = longest.map(|more| more.seconds).reduce(f64::max);
    if let (Outcome::Undecided, Some(seconds)) = (assessment.outcome, longest) {
        let text = format!(
            "Measuring each undecided condition {} s longer would decide.",
            seconds.ceil()
        );
        markup.element("p", &[("class", &"remark")], text);
    }
    policies(markup, run);
    markup.open("p", &[]);
    markup.raw("<strong>Criterion:</strong> ");
    markup.text(assessment.criterion_text());
    markup.raw(". A maximum is the largest observed, not a bound.</p>");
    reasons(markup, run);
    markup.raw("</header>\n");
}

fn policies(markup: &mut Markup, run: &Reported<'_>) {
    let overall = &run.assessment.overall;
    if overall.policies.is_empty() {
        super::nothing(markup, "No condition was measured.");
        return;
    }
    markup.raw(
        "<div class=\"scroll\"><table><caption>What became of each policy over all \
                phases</caption><thead><tr><th scope=\"col\">Policy</th><th scope=\"col\">Verdict</th>\
                <th scope=\"col\">Decided in</th><th scope=\"col\" class=\"number\">Missed, worst phase</th>\
                <th scope=\"col\" class=\"number\">Head-room</th></tr></thead><tbody>",
    );
    let chosen = overall.recommendation.as_ref().map(|found| found.policy);
    for policy in &overall.policies {
        let name = policy
            .policy
            .map_or("task set".into(), |policy| policy.to_string());
        let is_chosen = chosen.is_some() && policy.policy == chosen;
        markup.open("tr", &[("class", &if is_chosen { "chosen" } else { "" })]);
        markup.element("th", &[("scope", &"row")], name);
        markup.raw("<td>");
        outcome(markup, policy.outcome);
        let decided = match policy.outcome {
            Outcome::Passed => String::new(),
            _ => policy.decided_by.join(", "),
        };
        markup.raw("</td>");
        markup.element("td", &[], decided);
        let number = [("class", &"number" as &dyn std::fmt::Display)];
        markup.element("td", &number, fraction(policy.margin.miss_fraction));
        let room = policy.margin.head_room;
        let room = match room < 0.0 {
            true => "none".into(),
            false => fraction(room),
        };
        markup.element("td", &number, room);
        markup.raw("</tr>");
    }
    markup.raw("</tbody></table></div>");
}

/// What stands against each condition that did not pass, and what a reader should know beside.
fn reasons(markup: &mut Markup, run: &Reported<'_>) {
    let assessment = run.assessment;
    let told: Vec<(&Judgement, Vec<String>)> = assessment
        .conditions
        .iter()
        .filter(|judgement| judgement.outcome != Outcome::Passed)
        .map(|judgement| (judgement, against(judgement)))
        .collect();
    if !told.is_empty() {
        markup.raw("<h2>Why</h2><ul class=\"reasons\">");
        for (judgement, against) in told {
            markup.raw("<li>");
            markup.element(
                "span",
                &[("class", &outcome_class(judgement.outcome))],
                judgement.outcome,
            );
            markup.raw(" <strong>");
            markup.text(&judgement.name);
            markup.raw("</strong>: ");
            markup.text(against.join("; "));
            markup.raw("</li>");
        }
        markup.raw("</ul>");
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

fn against(judgement: &Judgement) -> Vec<String> {
    let reasons = judgement
        .reasons
        .iter()
        .filter(|reason| reason.bearing() == judgement.outcome)
        .map(ToString::to_string);
    let cautions = judgement
        .cautions
        .iter()
        .filter(|caution| !matches!(caution, Caution::MachineChanged { .. }))
        .map(|caution| format!("caution: {caution}"));
    reasons.chain(cautions).collect()
}
