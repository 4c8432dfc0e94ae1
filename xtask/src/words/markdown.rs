//! Prose of a Markdown page: without blocks of code, addresses and markup.

use super::token::{Token, tokens};

/// Each paragraph, heading, list item and table row. A paragraph's lines are one passage.
pub fn passages(page: &str) -> Vec<Vec<Token>> {
    let mut found: Vec<Vec<Token>> = Vec::new();
    let mut fenced = false;
    let mut joins = false;
    for (number, line) in page.lines().enumerate() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            fenced = !fenced;
            joins = false;
            continue;
        }
        if fenced || trimmed.is_empty() {
            joins = false;
            continue;
        }
        let marked = ["#", "|", "- ", "* ", ">"]
            .iter()
            .any(|mark| trimmed.starts_with(mark));
        let mut words = tokens(&without_code(trimmed), number + 1);
        match found.last_mut() {
            Some(last) if joins && !marked => {
                if let (Some(before), Some(first)) = (last.last(), words.first_mut()) {
                    first.begins = ends_sentence(page, before.line);
                }
                last.extend(words);
            }
            _ => found.push(words),
        }
        joins = !trimmed.starts_with(['#', '|']);
    }
    found
}

/// Whether the line's text ends a sentence.
fn ends_sentence(page: &str, line: usize) -> bool {
    let text = page.lines().nth(line - 1).unwrap_or_default();
    text.trim_end().ends_with(['.', ':', ';', '?', '!'])
}

/// Code spans become `` `x` ``, and links their text.
fn without_code(line: &str) -> String {
    let mut plain = String::new();
    for (at, piece) in line.split('`').enumerate() {
        plain += if at % 2 == 0 { piece } else { "`x`" };
    }
    let mut found = String::new();
    let mut rest = plain.as_str();
    while let Some((text, address)) = rest.split_once("](") {
        found += text;
        rest = address.split_once(')').map_or("", |(_, rest)| rest);
    }
    (found + rest).replace(['[', ']', '*'], "")
}
