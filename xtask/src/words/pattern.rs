//! A phrase as a row of words.

use super::token::Token;

/// A phrase to avoid.
pub struct Rule {
    /// Whether it counts only where a sentence, heading or cell begins.
    begins: bool,
    /// A word that must not come before it.
    not_after: Option<&'static str>,
    /// Alternatives for each word.
    words: Vec<Vec<&'static str>>,
    /// A better wording.
    pub advice: &'static str,
}

impl Rule {
    /// `is|are told`: one of the alternatives for each word. `^` before it: only where a
    /// sentence, heading or cell begins that is not a question;
    /// `!there` before it: not after that word. `~a|b` for a word: any but these.
    pub fn new(phrase: &'static str, advice: &'static str) -> Self {
        let mut words: Vec<&str> = phrase.split_whitespace().collect();
        let begins = words.first() == Some(&"^");
        if begins {
            words.remove(0);
        }
        let not_after = words.first().and_then(|word| word.strip_prefix('!'));
        if not_after.is_some() {
            words.remove(0);
        }
        Self {
            begins,
            not_after,
            words: words.iter().map(|word| word.split('|').collect()).collect(),
            advice,
        }
    }

    /// Number of words of the phrase, if it is at `at`.
    pub fn matches(&self, passage: &[Token], at: usize) -> Option<usize> {
        let here = passage.get(at..at + self.words.len())?;
        let same = |(token, words): (&Token, &Vec<&str>)| match words[0].strip_prefix('~') {
            Some(first) => token.word != first && !words.contains(&token.word.as_str()),
            None => words.contains(&token.word.as_str()),
        };
        let before = at
            .checked_sub(1)
            .map(|before| passage[before].word.as_str());
        let fits = here.iter().zip(&self.words).all(same)
            && (!self.begins || here[0].begins && !is_question(&passage[at..]))
            && (self.not_after.is_none() || self.not_after != before)
            // A phrase is within one sentence.
            && here.iter().skip(1).all(|token| !token.begins);
        fits.then_some(here.len())
    }
}

/// Whether the sentence that begins these words ends with a question mark.
fn is_question(words: &[Token]) -> bool {
    let rest = words.iter().skip(1).take_while(|token| !token.begins);
    words.iter().take(1).chain(rest).any(|token| token.asks)
}
