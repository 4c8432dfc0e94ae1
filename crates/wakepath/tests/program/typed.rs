//! Commands as pages show them: taken out of the text, and read by the program's own command line. It
//! carries none out.

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
    let of_the_root = [
        "README.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "GLOSSARY.md",
    ];
    let mut found: Vec<String> = of_the_root.map(str::to_owned).into();
    for folder in [
        "docs",
        "docs/reference",
        "docs/decisions",
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

/// The command lines of a page's blocks of `sh`, without their comments; continued lines are joined.
pub fn blocks(page: &str) -> Vec<String> {
    lines_of(page, "sh", |line| Some(line))
}

/// The command lines after the prompts of a page's blocks of `console`.
pub fn prompts(page: &str) -> Vec<String> {
    lines_of(page, "console", |line| line.strip_prefix("$ "))
}

/// The programs that a page's units of systemd start.
pub fn units(page: &str) -> Vec<String> {
    let lines = lines_of(page, "ini", |line| Some(line)).into_iter();
    let commands = lines.filter_map(|line| Some(line.strip_prefix("ExecStart=")?.to_owned()));
    commands
        .map(|line| line.replace("/usr/bin/wakepath", "wakepath"))
        .collect()
}

/// Lines of the blocks of a kind for which `command` has one, continued lines joined.
fn lines_of(page: &str, kind: &str, command: fn(&str) -> Option<&str>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    let mut begun = String::new();
    for line in page.lines() {
        match line.trim_start().strip_prefix("```") {
            Some(of) => inside = !inside && of.trim() == kind,
            None if inside => {
                let Some(line) = command(line) else {
                    continue;
                };
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

/// Commands suggested by an answer: its lines that begin with `begin`. Several spaces separate a command
/// from its purpose.
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

/// Asserts that the program reads this command line, with the values of its options.
#[track_caller]
pub fn assert_is_known(line: &str) {
    if let Err(why) = is_known(line) {
        panic!("`{line}`: {why}");
    }
}

/// Why the program does not read it.
pub fn is_known(line: &str) -> Result<(), String> {
    let line = line.strip_prefix("sudo ").unwrap_or(line);
    let words = words_of(line);
    let Some((first, words)) = words.split_first() else {
        return Ok(());
    };
    if first != "wakepath" {
        return Ok(());
    }
    let end = words
        .iter()
        .position(|word| ["|", ">", "2>", "&&", "&", "||"].contains(&word.as_str()));
    let words: Vec<&str> = words[..end.unwrap_or(words.len())]
        .iter()
        .map(String::as_str)
        .collect();
    // Programs of their own read these, so only their help is at hand.
    if let Some(&("lab" | "experiment")) = words.first() {
        return has_its_options(&words);
    }
    match wakepath::read_command(&words) {
        Err(_) if has_blanks(&words) => has_its_options(&words),
        outcome => outcome,
    }
}

/// Why the program does not read a line without blanks.
pub fn is_read(line: &str) -> Result<(), String> {
    let words = words_of(line.strip_prefix("sudo ").unwrap_or(line));
    let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
    match words.first() {
        // Programs of their own read these, so only their help is at hand.
        Some(&("lab" | "experiment")) => has_its_options(&words),
        _ => wakepath::read_command(&words),
    }
}

/// Whether the program has a verb of this name.
pub fn is_verb(word: &str) -> bool {
    !word.is_empty() && lists(&help_of(&[]), word)
}

/// Whether something is left to the reader: a word in capitals, an ellipsis, or a verb, perhaps with one option, that
/// is only named.
fn has_blanks(words: &[&str]) -> bool {
    let policies = ["OTHER", "BATCH", "IDLE"];
    let is_blank = |word: &&str| {
        let value = word.rsplit('=').next().unwrap_or(word);
        let is_in_capitals = value.starts_with(|c: char| c.is_ascii_uppercase())
            && value
                .chars()
                .all(|c| c.is_ascii_uppercase() || "-_,:".contains(c));
        word.contains('…') || is_in_capitals && !policies.contains(&value)
    };
    let verbs = match words {
        [verbs @ .., option] if option.starts_with('-') => verbs,
        verbs => verbs,
    };
    let is_verb = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase());
    let is_named_only = verbs.len() <= 2 && verbs.iter().all(is_verb);
    words.iter().any(is_blank)
        || is_named_only && lists(&help_of(&[]), words.first().unwrap_or(&""))
}

/// Which part of a line with blanks the program lacks: its verbs and options must be in its help.
fn has_its_options(words: &[&str]) -> Result<(), String> {
    let mut verbs: Vec<&str> = Vec::new();
    let mut help = help_of(&verbs);
    while let Some(word) = words.get(verbs.len()) {
        // VERB, RUN and their like are placeholders.
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
    // A word with blanks is a value.
    let is_option = |word: &&&str| word.starts_with('-') && word.len() > 1 && !word.contains(' ');
    for option in options.filter(is_option) {
        let name = option.split('=').next().unwrap_or(option);
        let name = name.trim_end_matches([',', ';', ')', ']', '…']);
        let is_there = help
            .split(|character: char| character.is_whitespace() || ",;[]=.".contains(character))
            .any(|word| word == name);
        if !is_there {
            return Err(format!("wakepath {} has no {name}", verbs.join(" ")));
        }
    }
    Ok(())
}

/// The words of a line, as a shell splits it.
fn words_of(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut begun, mut quoted) = (String::new(), false, None);
    for character in line.chars() {
        match (quoted, character) {
            (None, '\'' | '"') => (quoted, begun) = (Some(character), true),
            (Some(quote), _) if quote == character => quoted = None,
            (None, ' ') => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            _ => {
                word.push(character);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

/// Whether help lists this verb among its commands: those of the whole program are in families.
fn lists(help: &str, verb: &str) -> bool {
    let is_whole = help.starts_with("Usage: wakepath COMMAND");
    let commands = help
        .lines()
        .skip_while(|line| !is_whole && *line != "Commands:")
        .skip(1);
    let mut commands = commands.take_while(|line| is_whole || line.starts_with("  "));
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
    if !verbs.is_empty() {
        return finished.output;
    }
    // The first page has the options, and the page of all commands lists them in families.
    let every = Start::command(&["help", "--all"]).finish();
    every.assert_code(0);
    every.output + &finished.output
}
