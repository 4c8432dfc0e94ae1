//! Phrases of translated English in what people read: pages, comments, and the strings that programs print.

mod literals;
mod markdown;
mod pattern;
mod rules;
mod token;

use crate::arguments::Arguments;
use crate::place;
use pattern::Rule;
use rules::Rules;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use token::Token;

/// Folders without text of this repository.
const SKIPPED: [&str; 3] = ["target", "fixtures", "node_modules"];

/// The page of all help texts.
const HELP: &str = "docs/reference/command-line.md";

/// Sentences that recordings store and that are read back from them: they don't change.
const STORED: &str = "crates/timeline/src/lack.rs";

/// One phrase at one place.
#[derive(Debug, PartialEq, Eq)]
struct Hit {
    line: usize,
    phrase: String,
    advice: &'static str,
}

/// Prints each phrase of the repository that the rules list.
pub fn run(arguments: Arguments) -> Result<ExitCode, String> {
    arguments.end()?;
    let found = check()?;
    for line in &found {
        println!("{line}");
    }
    Ok(ExitCode::from(u8::from(!found.is_empty())))
}

/// Words of a page's text; a number is one, and a span of code.
pub fn length(page: &str) -> usize {
    markdown::passages(page).iter().map(Vec::len).sum()
}

/// Each phrase of the repository's pages and printed strings that the rules list, with its advice.
pub fn check() -> Result<Vec<String>, String> {
    let rules = Rules::new();
    let root = place::root();
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut found = Vec::new();
    for path in files {
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix(&root).unwrap_or(&path).display();
        for Hit {
            line,
            phrase,
            advice,
        } in hits(&path, &text, &rules)
        {
            found.push(format!("{name}:{line}: \"{phrase}\" → {advice}"));
        }
    }
    Ok(found)
}

fn hits(path: &Path, text: &str, rules: &Rules) -> Vec<Hit> {
    let (printed, comments) = match path.extension().and_then(|extension| extension.to_str()) {
        // Its blocks are help, which people read.
        Some("md") if path.ends_with(HELP) => {
            (markdown::passages(&text.replace("```", "")), Vec::new())
        }
        Some("md") => (markdown::passages(text), Vec::new()),
        _ if is_printing(path) => (literals::printed(text), literals::comments(text)),
        _ => (Vec::new(), literals::comments(text)),
    };
    let in_print = |passage: &Vec<Token>| in_passage(passage, &rules.in_print);
    let everywhere = |passage: &Vec<Token>| in_passage(passage, &rules.everywhere);
    let mut found: Vec<Hit> = printed.iter().flat_map(in_print).collect();
    found.extend(printed.iter().chain(&comments).flat_map(everywhere));
    found.sort_by_key(|hit| hit.line);
    found
}

fn in_passage(passage: &[Token], rules: &[Rule]) -> Vec<Hit> {
    let mut found = Vec::new();
    for (at, token) in passage.iter().enumerate() {
        for rule in rules {
            if let Some(length) = rule.matches(passage, at) {
                let words: Vec<&str> = passage[at..at + length]
                    .iter()
                    .map(|token| token.word.as_str())
                    .collect();
                found.push(Hit {
                    line: token.line,
                    phrase: words.join(" "),
                    advice: rule.advice,
                });
            }
        }
    }
    found
}

/// Pages and sources.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let said = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(said)? {
        let entry = entry.map_err(said)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().map_err(said)?;
        if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            collect(&entry.path(), files)?;
        } else if kind.is_file() && is_read(&entry.path()) {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn is_read(path: &Path) -> bool {
    let path = path.strip_prefix(place::root()).unwrap_or(path);
    let within = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md") => true,
        Some("rs") => !within("words"),
        _ => false,
    }
}

/// Whether the strings of this source are printed by a program.
fn is_printing(path: &Path) -> bool {
    let within = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
    within("src") && !within("tests") && !is_test && !path.ends_with(STORED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(path: &str, text: &str) -> Vec<(usize, String)> {
        let found = hits(Path::new(path), text, &Rules::new());
        found
            .into_iter()
            .map(|hit| (hit.line, hit.phrase))
            .collect()
    }

    #[test]
    fn a_phrase_is_found_in_pages_across_lines_but_not_in_code() {
        let page = "# Runs\n\nThe cause of it is\ntold late.\n\n```sh\nit goes on\n```\n\
                    Type `goes on`, beside\nanother.\n";
        let wanted = [(3, "is told".to_owned()), (9, "beside".to_owned())];
        assert_eq!(phrases("a.md", page), wanted);
    }

    #[test]
    fn a_phrase_is_found_in_comments_and_strings_but_not_in_those_of_tests() {
        let source = "// it goes\n// on; `it goes on`\nlet a = '\"';\nlet b = \"the run \\\n    goes on\";\n\
                      let c = r#\"in \"vain\" there: in vain\"#;\n\
                      #[cfg(test)]\nmod tests {\n let d = \"it goes on\";\n//! beside\n}\n";
        let vain = || (6, "in vain".to_owned());
        let goes = |line| (line, "goes on".to_owned());
        let beside = (10, "beside".to_owned());
        let wanted = [goes(1), goes(5), vain(), vain(), beside];
        assert_eq!(phrases("src/a.rs", source), wanted);
    }

    #[test]
    fn headings_and_cells_begin_with_a_noun_or_a_verb() {
        let page =
            "# What a run is\n\n| what it costs | unit |\n|---|---|\n| Ask what it costs | s |\n";
        let lines: Vec<usize> = phrases("a.md", page).iter().map(|hit| hit.0).collect();
        assert_eq!(lines, [1, 3]);
    }

    #[test]
    fn plain_english_passes() {
        let page = "There is no run yet. Records continue after the disk has room; the report shows why.\n";
        assert_eq!(phrases("a.md", page), []);
    }
}
