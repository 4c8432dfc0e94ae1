//! A command as a person writes it in one argument, taken apart into words: spaces divide, quotes hold
//! together. No shell: nothing is expanded.

/// The words.
///
/// # Errors
/// A quote that is not closed, or no word at all.
pub fn words(command: &str) -> Result<Vec<String>, String> {
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
        (Some(open), _) => Err(format!("{command:?}: the quote {open} is not closed")),
        (None, true) => Err("an empty command".into()),
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
        assert!(words("doctor 'a").unwrap_err().contains("not closed"));
        assert!(words("  ").is_err());
    }
}
