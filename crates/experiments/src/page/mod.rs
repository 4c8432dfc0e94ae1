//! The pages of repeated experiments, as Markdown with figures as SVG files: one page for each experiment, its entry,
//! and an index of entries.
//!
//! It only shows figures from elsewhere. The same runs make the same page; the laboratory's has
//! neither date nor host.

mod drawn;
mod entry;
mod index;
mod tables;

pub use entry::{
    Entry, GuestTime, KernelFile, KernelOrigin, Provenance, Row, SamplesDigest, Verdicts,
};
pub use index::{index, indexed};

use crate::{Finding, Repeated, Setting, findings};
use drawn::Shown;
use entry::distinct;
use std::fmt::Write;
use wakepath_report::Origin;

/// The pages and the files that they show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// The entry of each page for the index.
    pub entries: Vec<Entry>,
    /// File name and Markdown of each page.
    pub experiments: Vec<(String, String)>,
    /// Names of figures, as the pages link them, and their SVG.
    pub figures: Vec<(String, String)>,
}

/// The pages of these experiments, all of one setting.
pub fn pages(experiments: &[Repeated]) -> Pages {
    let mut written = Pages {
        entries: Vec::new(),
        experiments: Vec::new(),
        figures: Vec::new(),
    };
    for repeated in experiments {
        let name = repeated.experiment.name;
        let mut text = String::new();
        section(&mut text, &mut written.figures, repeated);
        // Several boards share the page of an experiment.
        let mut entries = written.entries.iter_mut();
        match entries.find(|entry| entry.experiment == name) {
            Some(entry) => entry.rows.push(Row::new(repeated)),
            None => written.entries.push(Entry::new(repeated)),
        }
        let file = file_of(name);
        match written.experiments.iter_mut().find(|one| one.0 == file) {
            Some((_, before)) => *before += &format!("\n{text}"),
            None => written.experiments.push((file, text)),
        }
    }
    written
}

fn file_of(experiment: &str) -> String {
    format!("{experiment}.md")
}

/// Writing to a String can't fail.
macro_rules! line {
    ($text:expr, $($words:tt)*) => {{ let _ = writeln!($text, $($words)*); }};
}
use line;

fn section(text: &mut String, figures: &mut Vec<(String, String)>, repeated: &Repeated) {
    let experiment = repeated.experiment;
    // Each of several boards has a separate section.
    match experiment.setting {
        Setting::Laboratory => line!(text, "# {}\n", experiment.title),
        Setting::Board => {
            let machine = machine(repeated);
            line!(text, "# {}: {machine}\n", experiment.title);
        }
    }
    claims(text, repeated);
    line!(text, "Published: {}\n", experiment.source);
    line!(text, "Here:\n");
    for differs in experiment.differs {
        line!(text, "- {differs}");
    }
    let is_of_guests = experiment.setting == Setting::Laboratory && !repeated.guests.is_empty();
    if let Some(words) = repeated.second_run.in_words().filter(|_| is_of_guests) {
        line!(text, "- Repetition: {words}.");
    }
    let given = experiment.given.iter();
    let given = given.filter(|one| repeated.runs_of(one.name).next().is_some());
    let given: String = given
        .map(|one| format!(" --kernel {}=BZIMAGE", one.key))
        .collect();
    line!(
        text,
        "\n```sh\n{} {}{given}\n```\n",
        experiment.setting.command(),
        experiment.name
    );
    if repeated.guests.is_empty() {
        return;
    }
    tables::latencies(text, repeated);
    // Neither date nor host: the same runs make the same page.
    let origin = Origin {
        of: format!("{} ({})", experiment.title, experiment.setting.command()),
        machine: machine(repeated),
        date: String::new(),
    };
    for shown in drawn::figures(repeated) {
        let Shown {
            file,
            heading,
            figure,
        } = shown;
        let is_taken = figures.iter().any(|(name, _)| *name == file);
        let file = if is_taken {
            format!("{}-{file}", figures.len() + 1)
        } else {
            file
        };
        let alternative = figure.alternative.replace(['[', ']'], "");
        line!(text, "\n*{heading}*\n\n![{alternative}]({file})");
        figures.push((file, figure.to_svg(&origin)));
    }
    tables::woken(text, repeated);
    tables::by_kernel(text, repeated);
}

/// Each claim with the published figures, ours and the verdict; nothing without claims.
fn claims(text: &mut String, repeated: &Repeated) {
    let found = findings(repeated);
    if found.is_empty() {
        return;
    }
    line!(
        text,
        "| claim | published | ours | smallest effect | verdict |"
    );
    line!(text, "|---|---|---|---|---|");
    for finding in found {
        let verdict = finding.verdict();
        let Finding {
            claim,
            published,
            here,
            smallest,
            ..
        } = finding;
        let [published, smallest] = [published, smallest].map(|text| {
            if text.is_empty() {
                "–".to_owned()
            } else {
                text
            }
        });
        line!(
            text,
            "| {claim} | {published} | {here} | {smallest} | **{verdict}** |"
        );
    }
    if !repeated.claims.before_the_runs {
        line!(
            text,
            "\nNo claims were registered before the first run: they decide nothing.\n"
        );
        return;
    }
    line!(
        text,
        "\nRegistered for {} {}; probabilities are corrected for {} tested claims.\n",
        repeated.claims.seeds,
        repeated.experiment.setting.replicates(),
        repeated.claims.tested()
    );
}

/// The machine of an experiment's figures, in a few words.
fn machine(repeated: &Repeated) -> String {
    let guests = repeated.guests.iter();
    match distinct(guests.filter_map(|guest| guest.board.first().cloned())) {
        none if none.is_empty() => "virtual time".into(),
        some => some.join(", "),
    }
}
