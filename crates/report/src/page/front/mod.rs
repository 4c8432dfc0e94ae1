//! The first page, on one sheet of paper, for a reader who was not there: the customer, the subject and
//! place of the measurement, the verdict with its consequence in two sentences, a row for each policy, one
//! figure, the run's limits, how to repeat it. All else is in the chapters after it.

mod sentences;
mod terms;

use super::sections::figures::figure as draw;
use super::sections::{outcome, sentence};
use super::{Reported, Titles};
use crate::answer::{Answer, Class, Figures, measures_caches};
use crate::markup::Markup;
use crate::next_step::{NextCommand, Step, again, steps_of};
use crate::table::{Cell, Table, number, words};
use crate::text::{cache_delays_table, source, virtual_time_text};
use wakepath_assess::Assessment;
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::Outcome;

/// Writes the first page of a run.
pub(super) fn write(markup: &mut Markup, number: usize, run: &Reported<'_>, titles: &Titles) {
    let assessment = run.assessment;
    let answer = Answer::new(assessment, run.explanation);
    let heading = format!("verdict-{number}");
    markup.open(
        "header",
        &[("class", &"front"), ("aria-labelledby", &heading)],
    );
    people(markup, titles);
    markup.open("h1", &[("id", &heading)]);
    markup.text(titles.title(run));
    markup.raw(": ");
    outcome(markup, assessment.outcome);
    markup.close("h1");
    let lead = sentences::two(assessment, &answer);
    for sentence in &lead {
        markup.prose("p", &[("class", &"lead")], sentence);
    }
    beside(markup, number, run, &lead);
    terms(markup, run, &answer);
    let caches = measures_caches(assessment);
    if caches {
        let table = cache_delays_table(&assessment.cache_delays);
        table.write_html(markup, "Cache losses");
    } else if answer.rows.is_empty() {
        super::sections::nothing(markup, "No condition was measured.");
    } else {
        policies(&answer, assessment).write_html(markup, "Policies");
    }
    markup.raw("<div class=\"below\">");
    if let Some(figure) = run.figures.overview.as_ref().filter(|_| !caches) {
        markup.raw("<div>");
        draw(markup, figure, "h2", true);
        markup.raw("</div>");
    }
    markup.raw("<div>");
    matters(markup, number, run, &answer);
    not_shown(markup, run);
    markup.raw("</div><div>");
    repeat(markup, number, run);
    markup.raw("</div></div></header>\n");
}

/// For whom, and by whom.
fn people(markup: &mut Markup, titles: &Titles) {
    let of = |word: &str, name: &Option<String>| {
        let name = name.as_ref()?;
        Some(format!("{word} {name}"))
    };
    let parts: Vec<String> = [of("for", &titles.customer), of("by", &titles.author)]
        .into_iter()
        .flatten()
        .collect();
    if !parts.is_empty() {
        markup.element("p", &[("class", &"people")], parts.join(" · "));
    }
}

/// Remarks on the run as a whole, except those that the `lead` is made of.
fn beside(markup: &mut Markup, number: usize, run: &Reported<'_>, lead: &[String]) {
    let assessment = run.assessment;
    if let Some(imported) = &assessment.imported {
        markup.raw("<div class=\"remark\">");
        let how = if imported.is_watched() {
            "Watched from outside"
        } else {
            "Imported"
        };
        let source = source(imported);
        markup.element("p", &[], format!("{how}: {source}. It lacks"));
        markup.raw("<ul class=\"reasons\">");
        for lack in &imported.lacks {
            markup.element("li", &[], lack);
        }
        markup.raw("</ul></div>");
    }
    if let Some(time) = &assessment.virtual_time {
        let text = format!("In virtual time: {}.", virtual_time_text(time));
        markup.prose("p", &[("class", &"remark")], text);
    }
    let further = |remark: &&String| !lead.contains(&sentence(remark));
    for remark in assessment.remarks.iter().filter(further) {
        markup.prose("p", &[("class", &"remark")], remark);
    }
    for Step { of, what, command } in steps_of(assessment) {
        markup.open("p", &[("class", &"remark")]);
        markup.text(format!("Next, for {of}: {what}"));
        match command {
            // The page has them.
            Some(NextCommand::Explain { .. }) if run.explanation.is_some() => {
                markup.text(": ");
                causes_link(markup, number);
                markup.text(".");
            }
            Some(command) => {
                markup.text(": ");
                markup.command(&command.to_string());
            }
            None => {}
        }
        markup.close("p");
    }
}

fn terms(markup: &mut Markup, run: &Reported<'_>, answer: &Answer) {
    let criterion = if answer.criterion.is_empty() {
        crate::text::no_criterion(run.assessment).to_owned()
    } else {
        answer.criterion.clone()
    };
    markup.raw("<dl class=\"terms\">");
    for (term, text) in [
        ("Machine", terms::machine(run.assessment)),
        ("Loop", terms::the_loop(run)),
        ("Measured", terms::measured(run)),
        ("Criterion", criterion),
    ] {
        if !text.is_empty() {
            markup.element("dt", &[], term);
            markup.prose("dd", &[], text);
        }
    }
    markup.raw("</dl>");
}

/// Whether its rows are threads of a program that was watched.
pub(super) fn is_watched(assessment: &Assessment) -> bool {
    let imported = assessment.imported.as_ref();
    imported.is_some_and(|imported| imported.is_watched())
}

/// A row for each policy: its worst figures, idle and under load.
fn policies(answer: &Answer, assessment: &Assessment) -> Table {
    let (label, each) = if is_watched(assessment) {
        ("Thread", "thread")
    } else {
        ("Policy", "policy")
    };
    let mut table = Table::new(label).class("policies").caption(format!(
        "The worst figures of each {each}. Latency is how late the loop woke; – means the sample is \
         too small for that percentile. A maximum is the largest observed, not a bound.",
    ));
    for class in &answer.classes {
        let title = match class {
            Class::Idle => "idle",
            Class::UnderLoad => "under load",
            Class::All => "all phases",
        };
        table = table.group(title, "", &["missed", "median", "p99.9", "max"].map(number));
    }
    table = table.column(words("verdict").leading());
    let with_reasons = answer.rows.iter().any(|row| !row.why.reason.is_empty());
    if with_reasons {
        table = table
            .class("policies reasoned")
            .column(words("why").leading());
    }
    let chosen = assessment.overall.recommendation.as_ref();
    let chosen = chosen.map(|found| found.policy.to_string());
    for row in &answer.rows {
        let figures = row.figures.iter().flat_map(|of| cells(of.as_ref()));
        let mut cells: Vec<Cell> = figures.collect();
        cells.push(Cell::Toned(row.verdict.to_string(), row.verdict.tone()));
        if with_reasons {
            cells.push(row.why.whole().into());
        }
        if chosen.as_ref() == Some(&row.label) {
            table.chosen(row.label.as_str(), cells)
        } else {
            table.row(row.label.as_str(), cells)
        }
    }
    table
}

fn cells(figures: Option<&Figures>) -> [Cell; 4] {
    let Some(figures) = figures else {
        return [Cell::Blank, Cell::Blank, Cell::Blank, Cell::Blank];
    };
    [
        figures.missed_text(true).into(),
        figures.median_ns.map(three_digits).into(),
        figures.p999_ns.map(three_digits).into(),
        figures.max_ns.map(three_digits).into(),
    ]
}

/// Matters on the first page, which is one sheet of paper.
const MATTERS: usize = 2;

/// What cost most time, with its fix, and the way to all causes.
fn matters(markup: &mut Markup, number: usize, run: &Reported<'_>, answer: &Answer) {
    if answer.machine.is_empty() {
        return;
    }
    markup.raw("<h2>What matters most</h2><ul class=\"reasons\">");
    for matter in answer.machine.iter().take(MATTERS) {
        // Few readers of a page have the program at hand that a command would try the fix on.
        let fix = matter
            .remedy
            .split(". To try it:")
            .next()
            .unwrap_or_default();
        let fix = if fix.is_empty() {
            String::new()
        } else {
            format!(". Fix: {fix}")
        };
        let size = if matter.size.is_empty() {
            String::new()
        } else {
            format!(": {}", matter.size)
        };
        markup.prose("li", &[], format!("{}{size}{fix}", matter.what));
    }
    markup.raw("</ul>");
    if run.explanation.is_some() {
        markup.open("p", &[("class", &"about link")]);
        markup.text("All of them: ");
        causes_link(markup, number);
        markup.raw(".</p>");
    }
}

fn causes_link(markup: &mut Markup, number: usize) {
    let link = format!("#causes-{number}");
    markup.element("a", &[("href", &link)], "Causes and worst cycles");
}

fn not_shown(markup: &mut Markup, run: &Reported<'_>) {
    markup.raw("<h2>What this run does not show</h2><ul class=\"reasons\">");
    for line in sentences::not_shown(run.assessment, run.explanation) {
        markup.prose("li", &[], line);
    }
    markup.raw("</ul>");
}

fn repeat(markup: &mut Markup, number: usize, run: &Reported<'_>) {
    markup.raw("<h2>How to repeat it</h2>");
    // As another user would type it, if the command measures.
    let command = match again(run.assessment) {
        Some(command) => command.to_string(),
        None => super::sections::repeat::command_line(&run.assessment.run.command),
    };
    markup.raw("<pre>");
    markup.command(&command);
    markup.raw("</pre>");
    markup.open("p", &[("class", &"about")]);
    markup.text(format!("with wakepath {}", run.assessment.run.wakepath));
    markup.raw("<span class=\"link\">; the whole scenario is in ");
    let link = format!("#repeat-{number}");
    markup.element("a", &[("href", &link)], "How to repeat it");
    markup.raw("</span>.</p>");
    let decided = run.assessment.outcome;
    if matches!(
        decided,
        Outcome::Failed | Outcome::Invalid | Outcome::Undecided
    ) {
        markup.open("p", &[("class", &"about link")]);
        let rows = if is_watched(run.assessment) {
            "thread"
        } else {
            "policy"
        };
        markup.text(format!("Why each {rows} got its verdict: "));
        let link = format!("#why-{number}");
        markup.element("a", &[("href", &link)], "Why");
        markup.raw(".</p>");
    }
}
