//! The index of pages, as Markdown, from their entries.

use super::entry::{Entry, KernelFile, KernelOrigin, Provenance, distinct};
use super::line;
use crate::{Setting, all, of_boards};
use std::fmt::Write;

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

/// Names of all experiments that can have an entry, in the order of the index.
pub fn indexed() -> Vec<&'static str> {
    let every = all().iter().chain(of_boards());
    distinct(every.map(|experiment| experiment.name))
}

/// The index of pages with these entries, all of one setting, in their order.
pub fn index(entries: &[Entry]) -> String {
    let setting = entries.first().map(|first| first.setting);
    let mut text = match setting {
        Some(Setting::Board) => ON_A_BOARD,
        Some(Setting::Laboratory) | None => INTRODUCTION,
    }
    .to_owned();
    summary(&mut text, entries);
    versions(&mut text, entries);
    text
}

fn summary(text: &mut String, entries: &[Entry]) {
    line!(
        text,
        "\n| experiment | agrees | contradicts | undecided | not comparable | not run |"
    );
    line!(text, "|---|---:|---:|---:|---:|---:|");
    for entry in entries {
        for row in &entry.rows {
            let claims = row.claims;
            line!(
                text,
                "| [{}]({}) | {} | {} | {} | {} | {} |",
                entry.title,
                entry.page(),
                claims.agree,
                claims.contradict,
                claims.undecided,
                claims.not_comparable,
                claims.not_run
            );
        }
    }
}

/// Origin of the figures, as the last section.
fn versions(text: &mut String, entries: &[Entry]) {
    let all = || entries.iter().flat_map(|entry| &entry.rows);
    let all = || all().map(|row| &row.provenance);
    line!(text, "\n## Versions and digests\n");
    let each = |of: fn(&Provenance) -> &[String]| distinct(all().flat_map(of));
    line!(text, "- wakepath {}", joined(&each(|one| &one.wakepath)));
    for board in each(|one| &one.boards) {
        line!(text, "- {board}");
    }
    let emulators = each(|one| &one.emulators);
    if !emulators.is_empty() {
        line!(text, "- {}", joined(&emulators));
    }
    for KernelFile { from, sha256 } in distinct(all().flat_map(|one| &one.kernels)) {
        match from {
            KernelOrigin::Package(name) => line!(text, "- {name}, SHA-256 `{sha256}`"),
            KernelOrigin::GivenFor(guest) => {
                line!(text, "- a given kernel of {guest}, SHA-256 `{sha256}`");
            }
        }
    }
    for time in distinct(all().flat_map(|one| &one.virtual_time)) {
        let s = if time.cpus == 1 { "" } else { "s" };
        line!(text, "- {}; {} CPU{s}", time.cost_model, time.cpus);
    }
    let seeds = distinct(all().flat_map(|one| &one.seeds));
    if !seeds.is_empty() {
        line!(text, "- seeds {}", joined(&seeds));
    }
    for entry in entries {
        let name = &entry.experiment;
        for row in &entry.rows {
            let of = &row.provenance;
            line!(text, "- claims of {name}: SHA-256 `{}`", of.claims_sha256);
            if let Some(samples) = &of.samples {
                line!(
                    text,
                    "- all samples of the {} runs of {name}: SHA-256 `{}` (of the SHA-256 of each run's \
                     `samples.parquet`, one per line, in the table's order)",
                    samples.runs,
                    samples.sha256
                );
            }
        }
    }
}

fn joined(values: &[impl ToString]) -> String {
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    texts.join(", ")
}
