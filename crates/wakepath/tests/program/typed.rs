//! Commands as pages show them: taken out of the text, and held against the program's own help. It
//! types none.

use crate::started::Start;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A page by its path in the repository.
pub fn page(name: &str) -> String {
    let path = root().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every page that people write, by its path in the repository.
pub fn pages() -> Vec<String> {
    let mut found = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for folder in [
        "docs/tutorial",
        "docs/guide",
        "docs/advanced",
        "docs/concepts",
        "docs/experiments",
    ] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let pages = names.filter(|name| name.ends_with(".md"));
        found.extend(pages.map(|name| format!("{folder}/{name}")));
    }
    found.sort();
    found
}

/// The command lines of a page's blocks of `sh`, without their comments and prompts; lines that go on
/// are one.
pub fn blocks(page: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    let mut begun = String::new();
    for line in page.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(kind) => inside = !inside && kind.trim() == "sh",
            None if inside => {
                let line = without_comment(line).trim();
                match line.strip_suffix('\\') {
                    Some(part) => begun += &format!("{} ", part.trim_end()),
                    None if line.is_empty() => {}
                    None => {
                        lines.push(std::mem::take(&mut begun) + line);
                    }
                }
            }
            None => {}
        }
    }
    lines
}

/// From a `#` on that begins a word outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quoted = None;
    let mut before = ' ';
    for (at, character) in line.char_indices() {
        match (quoted, character) {
            (None, '#') if before.is_whitespace() => return &line[..at],
            (None, '\'' | '"') => quoted = Some(character),
            (Some(quote), _) if quote == character => quoted = None,
            _ => {}
        }
        before = character;
    }
    line
}

/// Lines of an answer that begin so: what it says to type next. What stands behind several spaces tells
/// what it is for.
pub fn spans(output: &str, begin: &str) -> Vec<String> {
    let lines = output.lines().filter(|line| line.starts_with(begin));
    let typed = lines.map(|line| line.trim().split("   ").next().unwrap_or_default());
    typed.map(str::to_owned).collect()
}

/// The pieces in backquotes of a page's text that begin with the program's name.
pub fn inline(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            let pieces = line.split('`').skip(1).step_by(2);
            found.extend(
                pieces
                    .filter(|piece| piece.starts_with("wakepath "))
                    .map(str::to_owned),
            );
        }
    }
    found
}

/// Asserts that the program has the verb and the options of this command line.
#[track_caller]
pub fn assert_is_known(line: &str) {
    if let Err(why) = is_known(line) {
        panic!("`{line}`: {why}");
    }
}

/// What of it the program has not.
pub fn is_known(line: &str) -> Result<(), String> {
    let line = line.strip_prefix("sudo ").unwrap_or(line);
    let words = words_of(line);
    let Some((&"wakepath", words)) = words.split_first() else {
        return Ok(());
    };
    let end = words
        .iter()
        .position(|word| ["|", ">", "&&", "&", "||"].contains(word));
    let words = &words[..end.unwrap_or(words.len())];
    let mut verbs: Vec<&str> = Vec::new();
    let mut help = help_of(&verbs);
    while let Some(word) = words.get(verbs.len()) {
        // VERB, RUN and their like stand for something.
        if !word.starts_with(|first: char| first.is_ascii_lowercase()) {
            break;
        }
        let listed = lists(&help, word);
        match (listed, verbs.len()) {
            (true, _) => verbs.push(word),
            (false, 0) => return Err(format!("there is no verb {word}")),
            (false, _) => break,
        }
        help = help_of(&verbs);
    }
    let options = words[verbs.len()..]
        .iter()
        .take_while(|word| **word != "--");
    for option in options.filter(|word| word.starts_with('-') && word.len() > 1) {
        let name = option.split('=').next().unwrap_or(option);
        let name = name.trim_end_matches([',', ';', ')', ']', '…']);
        let is_there = help
            .split(|character: char| character.is_whitespace() || ",[]=.".contains(character))
            .any(|word| word == name);
        let is_number = name[1..].starts_with(|first: char| first.is_ascii_digit());
        if !is_there && !is_number {
            return Err(format!("wakepath {} has no {name}", verbs.join(" ")));
        }
    }
    Ok(())
}

/// The words of a line; what is in quotes is a part of one.
fn words_of(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut begin, mut quoted) = (0, None);
    for (at, character) in line.char_indices() {
        match (quoted, character) {
            (None, '\'' | '"') => quoted = Some(character),
            (Some(quote), _) if quote == character => quoted = None,
            (None, ' ') => {
                words.push(&line[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    words.push(&line[begin..]);
    words.retain(|word| !word.is_empty());
    words
}

/// Whether help lists this verb among its commands.
fn lists(help: &str, verb: &str) -> bool {
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let mut commands = commands.take_while(|line| line.starts_with("  "));
    let begin = format!("  {verb} ");
    commands.any(|line| line.starts_with(&begin))
}

fn help_of(verbs: &[&str]) -> String {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known
        .entry(verbs.join(" "))
        .or_insert_with(|| asked(verbs))
        .clone()
}

fn asked(verbs: &[&str]) -> String {
    let finished = Start::command(verbs).with(&["--help"]).finish();
    finished.assert_code(0);
    finished.output
}
