//! Splits a line of a program or of the grammar into words.

/// A word of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// Letters, digits and underscores that begin with a letter.
    Name(String),
    /// A number.
    Number(u64),
    /// A text in quotes.
    Text(String),
    /// Any other character.
    Sign(char),
}

/// The words of a line; `#` begins a comment.
///
/// # Errors
/// The part that is no word.
pub(super) fn words(line: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => break,
            '"' => {
                let (text, length) = text(rest).ok_or_else(|| rest.to_owned())?;
                words.push(Word::Text(text));
                length
            }
            '-' | '0'..='9' => {
                let length = 1 + rest[1..]
                    .find(|c: char| !c.is_ascii_alphanumeric())
                    .unwrap_or(rest.len() - 1);
                let number = number(&rest[..length]).ok_or_else(|| rest[..length].to_owned())?;
                words.push(Word::Number(number));
                length
            }
            'a'..='z' | 'A'..='Z' => {
                let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
                let length = rest.find(is_end).unwrap_or(rest.len());
                words.push(Word::Name(rest[..length].to_owned()));
                length
            }
            sign => {
                words.push(Word::Sign(sign));
                sign.len_utf8()
            }
        };
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

fn number(word: &str) -> Option<u64> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let number = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative {
        number.wrapping_neg()
    } else {
        number
    })
}

/// A text in quotes as Rust's `Debug` writes it, and its length with the quotes.
fn text(rest: &str) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((text, at + 1)),
            '\\' => match characters.next()?.1 {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                '0' => text.push('\0'),
                'u' => {
                    let mut digits = String::new();
                    for (_, digit) in characters.by_ref() {
                        match digit {
                            '{' => {}
                            '}' => break,
                            digit => digits.push(digit),
                        }
                    }
                    text.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                same => text.push(same),
            },
            same => text.push(same),
        }
    }
    None
}
