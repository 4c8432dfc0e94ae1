//! How many words the pages that people write can have, so that they stay short.
//!
//! Counted are words and numbers as a page shows them: without code blocks, addresses of links, texts for screen
//! readers and what is generated. A span of code is one word.

use super::{BEGIN, END};
use crate::place;
use crate::words;
use std::fs;
use std::process::ExitCode;

/// The counted part of a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// All of it: the page is read from top to bottom.
    Page,
    /// Its running text: the tables are looked up.
    Text,
}
use Counted::{Page, Text};

/// The words of some pages together.
struct Budget {
    words: usize,
    counted: Counted,
    pages: &'static [&'static str],
}

#[rustfmt::skip] // One line for each budget.
const BUDGETS: &[Budget] = &[
    Budget { words: 700, counted: Page, pages: &["README.md"] },
    Budget { words: 200, counted: Page, pages: &["docs/README.md"] },
    Budget { words: 900, counted: Page, pages: &["docs/tutorial/first-check.md"] },
    Budget { words: 1200, counted: Page, pages: &["docs/tutorial/cpp-loop.md"] },
    Budget { words: 900, counted: Page, pages: &["docs/guide/ros2.md"] },
    Budget { words: 500, counted: Page, pages: &["docs/guide/install.md"] },
    Budget { words: 700, counted: Page, pages: &["docs/guide/explain.md"] },
    Budget { words: 700, counted: Page, pages: &["docs/guide/watch.md"] },
    Budget { words: 1000, counted: Page, pages: &["docs/guide/tune.md", "docs/guide/doctor.md"] },
    Budget { words: 800, counted: Page, pages: &["docs/guide/boards.md"] },
    Budget { words: 700, counted: Page, pages: &["docs/guide/compare.md"] },
    Budget { words: 500, counted: Page, pages: &["docs/guide/report.md"] },
    Budget { words: 1200, counted: Page, pages: &["docs/guide/long-runs.md"] },
    Budget { words: 700, counted: Page, pages: &["docs/guide/import.md"] },
    Budget { words: 400, counted: Page, pages: &["docs/guide/questions.md"] },
    Budget { words: 1000, counted: Page, pages: &["docs/guide/own-loop.md", "docs/guide/own-loop-ros2.md", "docs/guide/rate.md"] },
    Budget { words: 2500, counted: Page, pages: &["docs/guide/own-loop-python.md", "docs/guide/own-controller.md", "docs/guide/logging.md", "docs/guide/gpu.md", "docs/guide/ethercat.md"] },
    Budget { words: 3000, counted: Page, pages: &["docs/guide/schedulability.md", "docs/guide/bound.md", "docs/guide/tiers.md", "docs/guide/fly.md"] },
    Budget { words: 2000, counted: Page, pages: &["docs/advanced/fleet.md", "docs/advanced/fleet-archive.md", "docs/advanced/evidence-seal.md"] },
    Budget { words: 4500, counted: Page, pages: &["docs/advanced/lab.md", "docs/advanced/cores.md", "docs/advanced/experiments.md"] },
    Budget { words: 7000, counted: Page, pages: &["docs/concepts/measuring.md", "docs/concepts/evidence.md", "docs/concepts/wake-up-path.md", "docs/concepts/tracing.md", "docs/concepts/loads.md", "docs/concepts/virtual-time.md", "docs/concepts/flight.md"] },
    Budget { words: 500, counted: Page, pages: &["docs/concepts/related-tools.md"] },
    Budget { words: 3000, counted: Text, pages: &["docs/reference/archive.md", "docs/reference/exports.md", "docs/reference/policies-and-rights.md", "docs/reference/loop-library.md", "GLOSSARY.md"] },
    Budget { words: 700, counted: Text, pages: &["docs/reference/tuning-steps.md", "docs/reference/benchmarks.md"] },
    Budget { words: 900, counted: Text, pages: &["docs/experiments/README.md"] },
    Budget { words: 900, counted: Text, pages: &["docs/experiments/aura-100hz.md"] },
    Budget { words: 900, counted: Text, pages: &["docs/experiments/aura-in-loop.md"] },
    Budget { words: 900, counted: Text, pages: &["docs/experiments/beaglepilot.md"] },
    Budget { words: 900, counted: Text, pages: &["docs/experiments/pi5-250hz.md"] },
    Budget { words: 900, counted: Text, pages: &["docs/experiments/isolation.md"] },
    Budget { words: 900, counted: Text, pages: &["docs/experiments/litmus-16core.md"] },
    Budget { words: 2500, counted: Page, pages: &["ARCHITECTURE.md"] },
    Budget { words: 1000, counted: Page, pages: &["CONTRIBUTING.md"] },
    Budget { words: 300, counted: Page, pages: &["CHANGELOG.md"] },
];

/// Pages that the program writes, or whose words nobody limits.
const FREE: [&str; 3] = [
    "docs/reference/command-line.md",
    "docs/reference/scenario.md",
    "docs/reference/schedulability.md",
];

/// Prints the words of each page with its budget; exit code 1 if one is exceeded.
pub fn run() -> Result<ExitCode, String> {
    for budget in BUDGETS {
        let mut sum = 0;
        for page in budget.pages {
            let words = words_of(page, budget.counted)?;
            sum += words;
            println!("{words:>6}        {page}");
        }
        println!("{sum:>6} of {:<5}", budget.words);
    }
    let broken = broken()?;
    for line in &broken {
        eprintln!("{line}");
    }
    Ok(ExitCode::from(u8::from(!broken.is_empty())))
}

/// Each budget that is exceeded, and each page of the documents that has none.
pub fn broken() -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    for budget in BUDGETS {
        let words = budget
            .pages
            .iter()
            .map(|page| words_of(page, budget.counted));
        let words: usize = words.sum::<Result<usize, String>>()?;
        if words > budget.words {
            let pages = budget.pages.join(", ");
            found.push(format!("{pages}: {words} words, budget {}", budget.words));
        }
    }
    let has_one = |page: &str| {
        FREE.contains(&page) || BUDGETS.iter().any(|budget| budget.pages.contains(&page))
    };
    let without = pages()?.into_iter().filter(|page| !has_one(page));
    found.extend(without.map(|page| format!("{page}: no budget of words")));
    Ok(found)
}

fn words_of(page: &str, counted: Counted) -> Result<usize, String> {
    let text = fs::read_to_string(place::root().join(page));
    let text = text.map_err(|error| format!("{page}: {error}"))?;
    Ok(length(&text, counted))
}

fn length(text: &str, counted: Counted) -> usize {
    let written = match text.split_once(BEGIN) {
        Some((before, rest)) => {
            let after = rest.split_once(END).map_or("", |(_, after)| after);
            [before, after].concat()
        }
        None => text.to_owned(),
    };
    let is_counted = |line: &&str| {
        let line = line.trim_start();
        let is_looked_up = counted == Text && line.starts_with('|');
        !(line.starts_with("![") || is_looked_up)
    };
    let lines: Vec<&str> = written.lines().filter(is_counted).collect();
    words::length(&lines.join("\n"))
}

/// Every page below `docs` but the decisions.
fn pages() -> Result<Vec<String>, String> {
    let docs = place::root().join("docs");
    let said = |error: std::io::Error| format!("{}: {error}", docs.display());
    let mut found = Vec::new();
    for folder in fs::read_dir(&docs).map_err(said)? {
        let folder = folder.map_err(said)?;
        let name = folder.file_name().to_string_lossy().into_owned();
        if !folder.path().is_dir() || name == "decisions" {
            continue;
        }
        for file in fs::read_dir(folder.path()).map_err(said)? {
            let file = file
                .map_err(said)?
                .file_name()
                .to_string_lossy()
                .into_owned();
            if file.ends_with(".md") {
                found.push(format!("docs/{name}/{file}"));
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_as_a_page_shows_them() {
        let page = "# Two words\n\n```sh\nnot these at all\n```\n\n![nor this](a.svg)\n\nA [link](to/a/page.md), \
                    `one span of code` and 12.5 of 100.\n\n| a | table |\n|---|---|\n";
        assert_eq!(length(page, Page), 11);
        assert_eq!(length(page, Text), 9);
        let generated = format!("One.\n{BEGIN}| not this |\n{END}Two.\n");
        assert_eq!(length(&generated, Page), 2);
    }

    #[test]
    fn every_page_has_one_budget() {
        let mut all: Vec<&str> = BUDGETS
            .iter()
            .flat_map(|budget| budget.pages)
            .copied()
            .collect();
        all.extend(FREE);
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
