//! Documents generated from the program.
//!
//! The reference of scenarios, their JSON Schema, the table of combinations that can be analysed,
//! the catalogue of fixes, the texts of `--help`, the index of published experiments, and the picture of an answer.

pub mod budgets;
pub mod links;
mod picture;

use crate::arguments::Arguments;
use crate::place;
use crate::release::PROGRAMS;
use crate::tools::cargo;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// One generated document.
pub struct Document {
    /// Its path in the repository.
    path: &'static str,
    text: String,
}

impl Document {
    /// Difference between the committed text and the generated one.
    pub fn drift(&self) -> Option<String> {
        let path = place::root().join(self.path);
        let remedy = "`cargo xtask docs` renews it";
        let there = match fs::read_to_string(&path) {
            Ok(there) => there,
            Err(error) => return Some(format!("{}: {error}; {remedy}", self.path)),
        };
        if there == self.text {
            return None;
        }
        let same = there
            .lines()
            .zip(self.text.lines())
            .take_while(|(one, other)| one == other);
        Some(format!(
            "{}:{}: out of date; {remedy}",
            self.path,
            same.count() + 1
        ))
    }

    fn write(&self) -> Result<(), String> {
        let path = place::root().join(self.path);
        fs::write(&path, &self.text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Writes the documents, or with `--check` lists those that differ.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let check = arguments.flag("--check");
    arguments.end()?;
    let documents = all(&quickly_built_program()?)?;
    let mut code = ExitCode::SUCCESS;
    for document in documents {
        if !check {
            document.write()?;
        } else if let Some(drift) = document.drift() {
            eprintln!("{drift}");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// The program without the release's optimisation, which makes no difference to its help.
fn quickly_built_program() -> Result<PathBuf, String> {
    let packages = PROGRAMS.iter().flat_map(|name| ["--package", name]);
    let status = cargo(&["build"]).args(packages).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("wakepath can't be built".into());
    }
    Ok(place::target().join("debug").join("wakepath"))
}

/// All documents, with the help and the index of experiments that `program` prints.
pub fn all(program: &Path) -> Result<Vec<Document>, String> {
    let schema = serde_json::to_string_pretty(&wakepath_scenario::json_schema())
        .map_err(|error| format!("the schema of scenarios: {error}"))?;
    Ok(vec![
        Document {
            path: "docs/reference/scenario.md",
            text: wakepath_scenario::reference(),
        },
        Document {
            path: "docs/reference/scenario.schema.json",
            text: schema + "\n",
        },
        Document {
            path: "docs/reference/schedulability.md",
            text: wakepath_schedulability::matrix::page(),
        },
        Document {
            path: EXPLAIN,
            text: with_fixes()?,
        },
        Document {
            path: "docs/reference/command-line.md",
            text: command_line(program)?,
        },
        Document {
            path: "docs/experiments/README.md",
            text: index_of_experiments(program)?,
        },
        Document {
            path: "docs/answer.svg",
            text: picture()?,
        },
    ])
}

const EXPLAIN: &str = "docs/guide/explain.md";
const BEGIN: &str =
    "<!-- Made from the catalogue of fixes; `cargo xtask docs` writes it again. -->\n\n";
const END: &str = "\n<!-- End of the catalogue. -->\n";

/// The guide, with the catalogue of fixes as it is now.
fn with_fixes() -> Result<String, String> {
    let path = place::root().join(EXPLAIN);
    let text = fs::read_to_string(&path).map_err(|error| format!("{EXPLAIN}: {error}"))?;
    let parts = text.split_once(BEGIN);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("{EXPLAIN}: no place for the catalogue"))?;
    Ok([before, BEGIN, &wakepath_explain::fix::table(), END, after].concat())
}

fn picture() -> Result<String, String> {
    let readme = place::root().join("README.md");
    let text = fs::read_to_string(&readme);
    picture::of_readme(&text.map_err(|error| format!("{}: {error}", readme.display()))?)
}

/// The index of the committed pages, from their entries.
fn index_of_experiments(program: &Path) -> Result<String, String> {
    let pages = place::root().join("docs").join("experiments");
    let said = |what: String| format!("{} lab experiments --index: {what}", program.display());
    let output = Command::new(program)
        .args(["lab", "experiments", "--index"])
        .arg(pages)
        .output()
        .map_err(|error| said(error.to_string()))?;
    if !output.status.success() {
        return Err(said(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    String::from_utf8(output.stdout).map_err(|error| said(error.to_string()))
}

/// The help of the program and of each verb that its help lists.
fn command_line(program: &Path) -> Result<String, String> {
    let mut page = String::from(
        "# Command line\n\n<!-- Made from `wakepath --help`; `cargo xtask docs` renews it. \
         -->\n",
    );
    section(program, &[], &mut page)?;
    Ok(page)
}

fn section(program: &Path, verbs: &[String], page: &mut String) -> Result<(), String> {
    let help = help(program, verbs)?;
    let name = [&["wakepath".to_owned()], verbs].concat().join(" ");
    *page += &format!("\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end());
    let listed = match verbs {
        [] => every_verb(program)?,
        _ => None,
    };
    for verb in listed.unwrap_or_else(|| verbs_of(&help)) {
        section(program, &[verbs, &[verb]].concat(), page)?;
    }
    Ok(())
}

fn help(program: &Path, verbs: &[String]) -> Result<String, String> {
    let said = |what: String| format!("{} {} --help: {what}", program.display(), verbs.join(" "));
    let output = Command::new(program)
        .args(verbs)
        .arg("--help")
        .env("COLUMNS", "100")
        .output()
        .map_err(|error| said(error.to_string()))?;
    if !output.status.success() {
        return Err(said(output.status.to_string()));
    }
    let text = String::from_utf8(output.stdout).map_err(|error| said(error.to_string()))?;
    Ok(text
        .lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n"))
}

/// The verbs that `help --all` lists in families, if the program has that page.
fn every_verb(program: &Path) -> Result<Option<Vec<String>>, String> {
    let output = Command::new(program)
        .args(["help", "--all"])
        .output()
        .map_err(|error| format!("{} help --all: {error}", program.display()))?;
    let page = String::from_utf8_lossy(&output.stdout);
    let verbs: Vec<String> = page.lines().filter_map(verb_of).collect();
    Ok((output.status.success() && !verbs.is_empty()).then_some(verbs))
}

/// A verb is indented by two columns; further lines of its text by more.
fn verb_of(line: &str) -> Option<String> {
    let rest = line.strip_prefix("  ")?;
    let verb = rest.split_whitespace().next()?;
    (!rest.starts_with(' ')).then(|| verb.to_owned())
}

/// The verbs under `Commands:`.
fn verbs_of(help: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter_map(verb_of)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_read_from_help_without_the_lines_that_continue_a_text() {
        let help = "About.\n\nCommands:\n  check  Measure a loop\n           and judge it\n  \
                    run    Carry out\n\nOptions:\n  -h, --help";
        assert_eq!(verbs_of(help), ["check", "run"]);
        assert!(verbs_of("Usage: x\n\nOptions:\n  -h").is_empty());
    }
}
