//! A command as a person writes it in one argument, taken apart into words: spaces divide, quotes hold
//! together. No shell: nothing is expanded.

/// Why a command can't be taken apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    /// A quote without its end.
    #[error("{command:?}: the quote {quote} is not closed")]
    OpenQuote {
        /// All of the command.
        command: String,
        /// The quote.
        quote: char,
    },
    /// No word.
    #[error("an empty command")]
    Empty,
}

/// The words.
///
/// # Errors
/// An unclosed quote, or no word.
pub(crate) fn words(command: &str) -> Result<Vec<String>, WordsError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in command.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => word.get_or_insert_default().push(character),
            None if matches!(character, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            None if character.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    match (quote, words.is_empty()) {
        (Some(quote), _) => Err(WordsError::OpenQuote {
            command: command.into(),
            quote,
        }),
        (None, true) => Err(WordsError::Empty),
        (None, false) => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_divide_and_quotes_hold_together() {
        let found = words("tune apply  --policy 'FIFO 80' --note \"a'b\" ''").unwrap();
        let expected = ["tune", "apply", "--policy", "FIFO 80", "--note", "a'b", ""];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_open_quote_and_an_empty_command_are_refused() {
        let said = words("doctor 'a").unwrap_err().to_string();
        assert_eq!(said, "\"doctor 'a\": the quote ' is not closed");
        assert!(words("  ") == Err(WordsError::Empty));
    }
}
