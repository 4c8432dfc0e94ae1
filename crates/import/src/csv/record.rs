//! A table's text as records of cells (RFC 4180, and with semicolons or tabs). It doesn't interpret their
//! contents.

use crate::ImportError;
use std::borrow::Cow;

/// More columns than any table of cycles has.
const MOST_CELLS: usize = 1024;

/// Records one after the other, each with its first line's number.
pub(super) struct Records<'a> {
    rest: &'a str,
    line: usize,
    separator: u8,
}

impl<'a> Records<'a> {
    /// Of a text. The separator is the one that its first record has.
    pub(super) fn new(text: &'a str) -> Self {
        let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
        let first = rest.lines().find(|line| !is_passed_over(line));
        let has = |separator: char| first.is_some_and(|line| line.contains(separator));
        let separator = match (has('\t'), has(';'), has(',')) {
            (true, ..) => b'\t',
            (_, true, false) => b';',
            _ => b',',
        };
        Self {
            rest,
            line: 1,
            separator,
        }
    }

    /// Whether a comma in a number is its decimal point: it separates no cells.
    pub(super) fn decimal_comma(&self) -> bool {
        self.separator != b','
    }

    /// The next record's line and cells; `None` after the last.
    pub(super) fn next(
        &mut self,
        cells: &mut Vec<Cow<'a, str>>,
    ) -> Result<Option<usize>, ImportError> {
        cells.clear();
        while let Some(end) = self.rest.find('\n') {
            if !is_passed_over(&self.rest[..end]) {
                break;
            }
            (self.rest, self.line) = (&self.rest[end + 1..], self.line + 1);
        }
        if is_passed_over(self.rest.lines().next().unwrap_or("")) {
            return Ok(None);
        }
        let line = self.line;
        loop {
            if cells.len() == MOST_CELLS {
                let why = format!("more than {MOST_CELLS} cells");
                return Err(ImportError::at(line, why));
            }
            let (cell, more) = match self.rest.strip_prefix('"') {
                Some(quoted) => self.quoted(line, quoted)?,
                None => self.plain(),
            };
            cells.push(cell);
            if !more {
                return Ok(Some(line));
            }
        }
    }

    fn plain(&mut self) -> (Cow<'a, str>, bool) {
        let ends = |byte: u8| byte == self.separator || byte == b'\n';
        let end = self.rest.bytes().position(ends);
        let end = end.unwrap_or(self.rest.len());
        let cell = self.rest[..end].trim();
        (Cow::Borrowed(cell), self.step_over(end))
    }

    /// A quoted cell, in which two quotes mean one; the opening quote has been read.
    fn quoted(&mut self, line: usize, from: &'a str) -> Result<(Cow<'a, str>, bool), ImportError> {
        let mut cell = String::new();
        let mut rest = from;
        loop {
            let Some((before, after)) = rest.split_once('"') else {
                return Err(ImportError::at(line, "a quote that is never closed"));
            };
            cell.push_str(before);
            match after.strip_prefix('"') {
                Some(further) => {
                    cell.push('"');
                    rest = further;
                }
                None => {
                    rest = after;
                    break;
                }
            }
        }
        self.line += cell.bytes().filter(|&byte| byte == b'\n').count();
        let gap = rest.len() - rest.trim_start_matches([' ', '\r']).len();
        self.rest = &rest[gap..];
        match self.rest.as_bytes().first() {
            None => Ok((Cow::Owned(cell), false)),
            Some(&byte) if byte == self.separator || byte == b'\n' => {
                Ok((Cow::Owned(cell), self.step_over(0)))
            }
            Some(_) => Err(ImportError::at(line, "text after a closing quote")),
        }
    }

    /// Steps over what ended a cell, and says whether another one follows in its record.
    fn step_over(&mut self, end: usize) -> bool {
        let more = self.rest.as_bytes().get(end) == Some(&self.separator);
        self.line += usize::from(self.rest.as_bytes().get(end) == Some(&b'\n'));
        self.rest = self.rest.get(end + 1..).unwrap_or("");
        more
    }
}

/// Empty lines and remarks hold no record.
fn is_passed_over(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<(usize, Vec<String>)>, ImportError> {
        let mut records = Records::new(text);
        let (mut cells, mut found) = (Vec::new(), Vec::new());
        while let Some(line) = records.next(&mut cells)? {
            found.push((line, cells.iter().map(|cell| cell.to_string()).collect()));
        }
        Ok(found)
    }

    #[test]
    fn cells_are_split_unquoted_and_numbered_by_line() {
        let text = "\u{feff}# by a logger\r\na,\"b, \"\"c\"\"\nd\" ,\r\n\r\n1,2,3";
        let found = all(text).unwrap();
        assert_eq!(
            found,
            [
                (2, vec!["a".into(), "b, \"c\"\nd".into(), String::new()]),
                (5, ["1", "2", "3"].map(String::from).to_vec()),
            ]
        );
        assert_eq!(all("a;b\n1;2\n").unwrap()[1].1, ["1", "2"]);
        assert_eq!(all("a\tb,c\n").unwrap()[0].1, ["a", "b,c"]);
        assert!(all("\n \n# x").unwrap().is_empty());
    }

    #[test]
    fn open_quotes_and_endless_records_are_refused() {
        assert_eq!(all("a,b\n\"1,2\n3").unwrap_err().line, Some(2));
        assert!(all("\"a\"b").is_err());
        assert!(all(&",".repeat(2000)).is_err());
    }
}
