//! The pages of repeated experiments, as Markdown with figures as SVG files: an index, and one page for each
//! experiment.
//!
//! It only shows figures from elsewhere. The same runs make the same page; the laboratory's has
//! neither date nor host.

mod drawn;
mod provenance;
mod tables;

use crate::{Agreement, Finding, Repeated, Setting, findings};
use drawn::Shown;
use std::fmt::Write;
use wakepath_report::Origin;

/// The pages and the files that they show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// The index, as Markdown.
    pub index: String,
    /// File name and Markdown of each experiment.
    pub experiments: Vec<(String, String)>,
    /// Names of figures, as the pages link them, and their SVG.
    pub figures: Vec<(String, String)>,
}

const INTRODUCTION: &str = "\
# Published experiments, repeated in virtual time

Written by `wakepath lab experiments`. With the same wakepath, kernels and emulator, listed at the end, it writes the
same figures again, with one CPU to the nanosecond. Each experiment has its own page, which begins with the claims.

Each experiment was published with figures of one machine. Here its kernels run in an emulator that counts
instructions (docs/concepts/virtual-time.md): our figures are **software path lengths, not latencies of any machine**.
Compare their order: which kernel is better, what a load does, whether a claim holds if only the software
differs. Caches, memory contention and hardware jitter are absent, and a largest value is not a bound.

Each claim was registered before the guests ran, in a data file whose digest is listed at the end: the quantity, its
direction, the smallest effect that counts and the number of seeds. The smallest effect is a third of the published one,
on the logarithmic scale on which ratios add up, unless a reason is given. Each guest runs with several seeds, each
run one observation. A claim *agrees* if an exact test (Mann and Whitney's; for counts of runs the sign test) shows an
effect of at least that size, and *contradicts* if it shows a smaller or the opposite one. The error probability is 5 %
for all claims of an experiment together (Holm), in both directions. Otherwise it is *undecided*, and so is every claim
with fewer seeds than were registered. *Not comparable* and *not run* have their reasons. Figures and single causes are
those of the first seed.

Emulated CPUs take turns, so figures from guests with several CPUs can be off by one turn, and two CPUs that work have
half the speed each: a load makes a path longer that has nothing to do with it. A claim that a turn, or between
different loads the speed, could reverse is undecided too.
";

const ON_A_BOARD: &str = "\
# Published experiments, repeated on a board

Written by `wakepath experiment`. Each experiment was published with figures of another machine, kernel and load:
compare their order. A largest value is not a bound.

Each claim was registered before the first round, in a data file whose digest is listed at the end: the quantity, its
direction, the smallest effect that counts and the number of rounds. The smallest effect is a third of the published
one, on the logarithmic scale on which ratios add up, unless a reason is given. Each round is one observation. A claim
*agrees* if an exact test (Mann and Whitney's; for counts of rounds the sign test) shows an effect of at least that
size, and *contradicts* if it shows a smaller or the opposite one. The error probability is 5 % for all claims of an
experiment together (Holm), in both directions. Otherwise it is *undecided*, and so is every claim with fewer rounds
than were registered. A claim about a kernel that was not booted is *not run*: boot it and resume with `--resume`.
Pictures and single causes are those of the first round. Rounds of one boot share its conditions, such as the memory
layout.
";

/// The pages of these experiments, all of one setting.
pub fn pages(experiments: &[Repeated]) -> Pages {
    let setting = experiments.first().map(|first| first.experiment.setting);
    let introduction = match setting {
        Some(Setting::Board) => ON_A_BOARD,
        Some(Setting::Laboratory) | None => INTRODUCTION,
    };
    let mut index = introduction.to_owned();
    summary(&mut index, experiments);
    provenance::write(&mut index, experiments);
    let mut written = Pages {
        index,
        experiments: Vec::new(),
        figures: Vec::new(),
    };
    for repeated in experiments {
        let mut text = String::new();
        section(&mut text, &mut written.figures, repeated);
        let file = file_of(repeated);
        // Several boards share the page of an experiment.
        match written.experiments.iter_mut().find(|one| one.0 == file) {
            Some((_, before)) => *before += &format!("\n{text}"),
            None => written.experiments.push((file, text)),
        }
    }
    written
}

fn file_of(repeated: &Repeated) -> String {
    format!("{}.md", repeated.experiment.name)
}

/// Writing to a String can't fail.
macro_rules! line {
    ($text:expr, $($words:tt)*) => {{ let _ = writeln!($text, $($words)*); }};
}
use line;

fn summary(text: &mut String, experiments: &[Repeated]) {
    line!(
        text,
        "\n| experiment | agrees | contradicts | undecided | not comparable | not run |"
    );
    line!(text, "|---|---:|---:|---:|---:|---:|");
    for repeated in experiments {
        let found = findings(repeated);
        let count = |wanted: Agreement| {
            let all = found.iter();
            all.filter(|finding| finding.agreement == wanted).count()
        };
        line!(
            text,
            "| [{}]({}) | {} | {} | {} | {} | {} |",
            repeated.experiment.title,
            file_of(repeated),
            count(Agreement::Agrees),
            count(Agreement::Contradicts),
            count(Agreement::Undecided),
            count(Agreement::NotComparable),
            count(Agreement::NotRun)
        );
    }
}

fn section(text: &mut String, figures: &mut Vec<(String, String)>, repeated: &Repeated) {
    let experiment = repeated.experiment;
    // Each of several boards has a separate section.
    match experiment.setting {
        Setting::Laboratory => line!(text, "# {}\n", experiment.title),
        Setting::Board => {
            let machine = provenance::machine(repeated);
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
        machine: provenance::machine(repeated),
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
