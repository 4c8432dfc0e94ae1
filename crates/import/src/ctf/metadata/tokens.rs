//! The signs, words and values of metadata, one after the other. It doesn't interpret them.

use super::BrokenMetadata;

/// Words of one name, at most, as `unsigned long int` has them.
pub(super) const MOST_WORDS: usize = 8;

pub(super) type Read<T> = Result<T, BrokenMetadata>;

/// The unread rest of the metadata.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a> {
    pub(super) rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn wrong<T>(&self) -> Read<T> {
        let near: String = self.rest.chars().take(30).collect();
        Err(BrokenMetadata::Near(near))
    }

    pub(super) fn skip_blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let comment = |end: &str, length: usize, rest: &'a str| {
                let at = rest.find(end).map(|at| at + length);
                &rest[at.unwrap_or(rest.len())..]
            };
            if self.rest.starts_with("/*") {
                self.rest = comment("*/", 2, self.rest);
            } else if self.rest.starts_with("//") {
                self.rest = comment("\n", 1, self.rest);
            } else {
                return;
            }
        }
    }

    /// Takes a sign if it is next.
    pub(super) fn takes(&mut self, sign: &str) -> bool {
        self.skip_blanks();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn needs(&mut self, sign: &str) -> Read<()> {
        if self.takes(sign) {
            Ok(())
        } else {
            self.wrong()
        }
    }

    /// A word of letters, digits and what names are made of, or nothing.
    pub(super) fn word(&mut self) -> &'a str {
        self.skip_blanks();
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !inside(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Whether a word comes next, which is taken.
    pub(super) fn takes_word(&mut self, wanted: &str) -> bool {
        let before = self.rest;
        if self.word() == wanted {
            return true;
        }
        self.rest = before;
        false
    }

    pub(super) fn number(&mut self) -> Read<i128> {
        let negative = self.takes("-");
        let word = self.word();
        let word = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let value = match word.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16),
            None => word.parse(),
        };
        match value {
            Ok(value) => Ok(if negative { -value } else { value }),
            Err(_) => self.wrong(),
        }
    }

    pub(super) fn quoted(&mut self) -> Read<String> {
        self.needs("\"")?;
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                c => text.push(c),
            }
        }
        self.wrong()
    }

    /// The value after `name =`, as text.
    pub(super) fn value(&mut self) -> Read<String> {
        self.skip_blanks();
        if self.rest.starts_with('"') {
            return self.quoted();
        }
        let end = self.rest.find([';', '}', '{']).unwrap_or(self.rest.len());
        let (value, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(value.trim().to_owned())
    }

    /// Words up to a sign, such as `unsigned long`.
    pub(super) fn several_words(&mut self) -> Read<String> {
        let mut words = Vec::new();
        loop {
            let word = self.word();
            if word.is_empty() {
                return Ok(words.join(" "));
            }
            words.push(word);
            if words.len() > MOST_WORDS {
                return self.wrong();
            }
        }
    }

    /// `name = value;` or a type's `name := type;` that is of no interest.
    pub(super) fn setting(&mut self) -> Read<(String, String)> {
        let mut name = self.word().to_owned();
        let mut words = 1;
        while self.takes(".") && words < MOST_WORDS {
            name = format!("{name}.{}", self.word());
            words += 1;
        }
        if name.is_empty() {
            return self.wrong();
        }
        self.needs("=")?;
        let value = self.value()?;
        self.needs(";")?;
        Ok((name, value))
    }
}
