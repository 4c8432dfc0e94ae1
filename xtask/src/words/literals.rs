//! What people read in a Rust source: comments, and string literals of more than one word.

use super::markdown;
use super::token::{Token, tokens};

/// The literals of what is not a test, in order.
pub fn printed(source: &str) -> Vec<Vec<Token>> {
    let end = source
        .find("#[cfg(test)]\nmod tests {")
        .unwrap_or(source.len());
    let found = Scanner::new(&source[..end]).texts();
    let literals = found.iter().filter(|of| !of.is_comment);
    let words = literals.filter(|of| of.text.contains(' '));
    words.map(|of| tokens(&of.text, of.line)).collect()
}

/// The comments, tests' included. Consecutive lines are one passage.
pub fn comments(source: &str) -> Vec<Vec<Token>> {
    let mut passages: Vec<(usize, String)> = Vec::new();
    for Text { line, text, .. } in Scanner::new(source)
        .texts()
        .into_iter()
        .filter(|of| of.is_comment)
    {
        let text = text.trim_start_matches(['/', '!']);
        match passages.last_mut() {
            Some((first, before)) if *first + before.matches('\n').count() + 1 == line => {
                *before += "\n";
                *before += text;
            }
            _ => passages.push((line, text.to_owned())),
        }
    }
    let found = passages.into_iter().flat_map(|(first, text)| {
        let mut found = markdown::passages(&text);
        let tokens = found.iter_mut().flatten();
        tokens.for_each(|token| token.line += first - 1);
        found
    });
    found.collect()
}

struct Text {
    line: usize,
    text: String,
    is_comment: bool,
}

struct Scanner<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            rest: source,
            line: 1,
        }
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn texts(mut self) -> Vec<Text> {
        let mut found = Vec::new();
        let mut push = |line, text, is_comment| {
            found.push(Text {
                line,
                text,
                is_comment,
            })
        };
        while let Some(first) = self.rest.chars().next() {
            let line = self.line;
            if self.rest.starts_with("//") {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                push(line, self.take(end).to_owned(), true);
            } else if let Some(fence) = raw_fence(self.rest) {
                self.take(fence.len());
                let close = format!("\"{}", &fence[1..fence.len() - 1]);
                let end = self.rest.find(&close).unwrap_or(self.rest.len());
                push(line, self.take(end).to_owned(), false);
                self.take(close.len());
            } else if first == '"' {
                self.take(1);
                let text = self.escaped();
                push(line, text, false);
            } else if first == '\'' {
                self.take(character(self.rest));
            } else {
                let end = self.rest[first.len_utf8()..]
                    .find(|c: char| "\"'/r".contains(c))
                    .map_or(self.rest.len(), |at| at + first.len_utf8());
                self.take(end);
            }
        }
        found
    }

    /// The rest of a literal with escapes; line breaks stay, so that the lines' numbers are right.
    fn escaped(&mut self) -> String {
        let mut text = String::new();
        loop {
            let end = self.rest.find(['"', '\\']).unwrap_or(self.rest.len());
            text += self.take(end);
            let Some(escape) = self.rest.strip_prefix('\\') else {
                self.take(1);
                return text;
            };
            let second = escape.chars().next();
            self.take(1 + second.map_or(0, char::len_utf8));
            match second {
                // Another line of what is printed.
                Some('n') => text += ". ",
                Some(kept @ ('\n' | '"')) => text.push(kept),
                _ => text.push(' '),
            }
        }
    }
}

/// The opening of a raw literal here, such as `r#"`.
fn raw_fence(rest: &str) -> Option<&str> {
    let hashes = rest.strip_prefix('r')?;
    let after = hashes.trim_start_matches('#');
    after
        .starts_with('"')
        .then(|| &rest[..1 + hashes.len() - after.len() + 1])
}

/// Length of a character's literal, or 1 for a lifetime.
fn character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), _) => rest[2..]
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '\'')
            .map_or(1, |(at, _)| at + 3),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}
