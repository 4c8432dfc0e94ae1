//! Every command of wakepath in a string of the sources: the program reads it with its blanks filled, and each is typed, by
//! the test that this file or a row names, or is listed with the reason why none types it here.

use super::printed_rows::{ROWS, Row, Typed};
use crate::started::{Finished, Place, Start, is_root, loop_cpu, not_run};
use crate::typed::page;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

wakepath_test_program::tests![
    every_command_in_the_sources_has_a_row_and_no_row_is_left_over,
    every_command_in_the_sources_is_read_by_the_program,
    every_command_that_can_be_typed_here_does_what_its_line_says,
    every_command_of_the_fleet_in_its_sources_has_a_verb,
    commands_are_found_in_literals_and_in_calls,
];

fn every_command_in_the_sources_has_a_row_and_no_row_is_left_over() {
    let found = sources();
    let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.printed).collect();
    assert_eq!(rows.len(), ROWS.len(), "a row is there twice");
    let missing: Vec<_> = found
        .iter()
        .filter(|(command, _)| !rows.contains(command.as_str()))
        .collect();
    assert!(missing.is_empty(), "no row for {missing:#?}");
    let left: Vec<&&str> = rows
        .iter()
        .filter(|row| !found.contains_key(**row))
        .collect();
    assert!(left.is_empty(), "printed nowhere: {left:#?}");
}

fn every_command_in_the_sources_is_read_by_the_program() {
    let tests = tests();
    let mut wrong = Vec::new();
    for row in ROWS {
        let line = row.line();
        let read = match row.typed {
            Typed::Name => crate::typed::is_known(&line),
            Typed::By(test) if !tests.contains(test) => Err(format!("there is no test {test}")),
            _ => crate::typed::is_read(&line),
        };
        if let Err(why) = read {
            wrong.push(format!("`{}` as `{line}`: {why}", row.printed));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names of this program's tests and of their files.
fn tests() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root().join("crates/wakepath/tests/program")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let functions = text.split("\nfn ").skip(1);
                found.extend(functions.filter_map(|it| it.split('(').next().map(str::to_owned)));
            }
            found.insert(name);
        }
    }
    found
}

fn every_command_that_can_be_typed_here_does_what_its_line_says() {
    let mut place = prepared();
    let (mut count, mut wrong, mut not_typed) = (0, Vec::new(), Vec::new());
    for row in ROWS {
        let (codes, promise) = match row.typed {
            Typed::Here(codes, promise) => (codes, promise),
            Typed::Not(why) => {
                not_typed.push(format!("`{}`: {why}", row.printed));
                continue;
            }
            Typed::Name | Typed::By(_) => continue,
        };
        let line = row.line();
        let finished = typed(place, &line);
        let said = finished.said();
        let is_right = finished.code().is_some_and(|code| codes.contains(&code));
        if !is_right || !said.contains(promise) {
            wrong.push(format!("`{line}` promises \"{promise}\": {said}"));
        }
        place = finished.place;
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count >= 20, "{count}");
    assert!(!not_typed.is_empty());
    not_run("some commands that are printed", &not_typed.join("; "));
}

/// A directory with the runs and files that commands are about: the latest run, one whose name has a space, one without an
/// end, and a scenario.
fn prepared() -> Place {
    let place = Place::new();
    let here = place.path().to_owned();
    let recorded = root().join("fixtures/runs/format-1");
    for run in ["wakepath-runs/check-20260101T120000Z", "my run"] {
        std::fs::create_dir_all(here.join(run)).unwrap();
        for file in ["manifest.json", "samples.parquet"] {
            std::fs::copy(recorded.join(file), here.join(run).join(file)).unwrap();
        }
    }
    let log = root().join("crates/archive/tests/fixtures/format-1/log/samples.log");
    std::fs::create_dir_all(here.join("kept/cut short")).unwrap();
    std::fs::copy(log, here.join("kept/cut short/samples.log")).unwrap();
    let scenario = typed(place, "wakepath scenario show quick");
    scenario.assert_code(0);
    std::fs::write(here.join("my loop.toml"), &scenario.output).unwrap();
    scenario.place
}

fn typed(place: Place, line: &str) -> Finished {
    let own = crate::started::binary();
    let others = std::env::var("PATH").unwrap_or_default();
    Start::shell_in(place, line)
        .environment(
            "PATH",
            &format!("{}:{others}", own.parent().unwrap().display()),
        )
        .environment("BROWSER", "true")
        .finish()
}

impl Row {
    /// With its blanks filled, as it is typed.
    fn line(&self) -> String {
        let cpu = loop_cpu().to_string();
        let mut line = match self.filled {
            "" => self.printed.to_owned(),
            filled => filled.to_owned(),
        };
        if is_root() {
            line = line.replace("sudo ", "");
        }
        line.replace("CPU", &cpu)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each command with the file that prints it.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for source in rooms("crates").into_iter().chain(rooms("fleet")) {
        let mut folders = vec![source];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.map(Result::unwrap) {
                let path = entry.path();
                let name = entry.file_name().into_string().unwrap();
                // Examples of help are in the reference, which another test reads.
                let is_help = name.starts_with("command_line") || name == "manual.rs";
                if path.is_dir() && !is_help {
                    folders.push(path);
                } else if name.ends_with(".rs") && name != "tests.rs" && !is_help {
                    let path = path.strip_prefix(root()).unwrap().display().to_string();
                    for command in commands_of(&page(&path)) {
                        found.entry(command).or_insert_with(|| path.clone());
                    }
                }
            }
        }
    }
    found
}

/// The sources of each room below a folder.
fn rooms(below: &str) -> Vec<PathBuf> {
    let rooms = std::fs::read_dir(root().join(below)).unwrap();
    rooms.map(|room| room.unwrap().path().join("src")).collect()
}

fn every_command_of_the_fleet_in_its_sources_has_a_verb() {
    let definition = page("fleet/program/src/command_line.rs");
    let variants = definition.lines().filter_map(|line| {
        let (variant, content) = line.trim().strip_suffix("),")?.split_once('(')?;
        (variant == content).then(|| variant.to_lowercase())
    });
    let verbs: BTreeSet<String> = variants.collect();
    let (mut count, mut wrong) = (0, Vec::new());
    let mut folders = rooms("fleet");
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let path = path.strip_prefix(root()).unwrap().display().to_string();
            for literal in literals(&page(&path)) {
                for begin in ["`wakepath-fleet ", ": wakepath-fleet ", ">wakepath-fleet "] {
                    for after in literal.split(begin).skip(1) {
                        let verb = after.split(|c: char| !c.is_ascii_lowercase()).next();
                        count += 1;
                        if verb.is_none_or(|verb| !verbs.contains(verb)) {
                            wrong.push(format!("{path}: {begin}{after}"));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count >= 8, "{count}");
}

/// Ends of a command in a sentence.
const ENDS: [&str; 31] = [
    "`",
    "<",
    "; ",
    ", ",
    ". ",
    " (",
    ": ",
    ")",
    " to ",
    " lists",
    " shows",
    " && ",
    " would ",
    " names ",
    " says ",
    " makes ",
    " takes ",
    " reads ",
    " or ",
    " measures ",
    " was ",
    " printed",
    " as root",
    " placed",
    "'s ",
    "\\n",
    "   ",
    " again",
    " asks ",
    " holds ",
    " if ",
];

/// The commands in a source's literals outside of its tests, and those that it makes about a run.
fn commands_of(source: &str) -> Vec<String> {
    let own = source
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    let own = own.split("#[cfg(test)]\n// ").next().unwrap_or_default();
    let lines = own
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    let mut found = Vec::new();
    for call in text.split("command_about(").skip(1) {
        if let Some(verb) = call
            .trim_start()
            .strip_prefix('"')
            .and_then(|it| it.split('"').next())
        {
            found.push(format!("wakepath {verb} RUN"));
        }
    }
    for literal in literals(&text) {
        for (at, _) in literal.match_indices("wakepath ") {
            let rest = &literal[at..];
            let end = ENDS.iter().filter_map(|end| rest.find(end)).min();
            let command =
                rest[..end.unwrap_or(rest.len())].trim_end_matches(['.', ',', ';', ':', ' ']);
            let verb = command.split([' ', '{']).nth(1).unwrap_or_default();
            if crate::typed::is_verb(verb) {
                found.push(command.to_owned());
            }
        }
    }
    found
}

/// String literals, continued lines joined.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside: Option<String> = None;
    let mut characters = text.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        match (&mut inside, character) {
            (None, '"') if before != '\'' => inside = Some(String::new()),
            (Some(_), '"') => found.extend(inside.take()),
            (Some(literal), '\\') => match characters.next() {
                Some('\n') => {
                    while characters.peek().is_some_and(|next| next.is_whitespace()) {
                        characters.next();
                    }
                }
                Some('"') => literal.push('"'),
                Some(other) => literal.extend(['\\', other]),
                None => {}
            },
            (Some(literal), other) => literal.push(other),
            (None, _) => {}
        }
        before = character;
    }
    found
}

fn commands_are_found_in_literals_and_in_calls() {
    let source = "// wakepath show\nlet a = \"first: `wakepath tune \\\n    revert`; wakepath shows it, then wakepath runs\\n\";\n\
                  let b = command_about(\"bound\", run, \"--all\");\n#[cfg(test)]\nmod tests { \"wakepath fly\" }\n";
    let wanted = [
        "wakepath bound RUN",
        "wakepath tune revert",
        "wakepath runs",
    ];
    assert_eq!(commands_of(source), wanted);
}
