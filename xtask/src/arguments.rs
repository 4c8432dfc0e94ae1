//! The few arguments that these commands take. Not the command line of wakepath itself.

use std::str::FromStr;

/// Arguments that haven't been taken yet.
pub struct Arguments(Vec<String>);

impl Arguments {
    pub fn of_this_process() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    #[cfg(test)]
    fn new(words: &[&str]) -> Self {
        Self(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// Takes the first word.
    pub fn word(&mut self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    /// Takes `name` if it is there.
    pub fn flag(&mut self, name: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|word| word != name);
        self.0.len() < before
    }

    /// Takes every `name VALUE`.
    pub fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        while let Some(at) = self.0.iter().position(|word| word == name) {
            if at + 1 == self.0.len() {
                return Err(format!("{name} needs a value"));
            }
            found.push(self.0.remove(at + 1));
            self.0.remove(at);
        }
        Ok(found)
    }

    /// Takes `name VALUE`; the last one if there are several.
    pub fn value<T: FromStr>(&mut self, name: &str, without: T) -> Result<T, String> {
        match self.texts(name)?.pop() {
            None => Ok(without),
            Some(text) => text
                .parse()
                .map_err(|_| format!("{name}: {text:?} is not what is meant here")),
        }
    }

    /// Refuses arguments that nobody took.
    pub fn end(self) -> Result<(), String> {
        match self.0.first() {
            None => Ok(()),
            Some(word) => Err(format!(
                "unknown argument {word:?}; `cargo xtask` alone lists all"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_flags_and_words_are_taken_and_the_rest_is_refused() {
        let mut arguments = Arguments::new(&["peer", "--rounds", "3", "--check", "--odd"]);
        assert_eq!(arguments.word().as_deref(), Some("peer"));
        assert_eq!(arguments.value("--rounds", 10_usize), Ok(3));
        assert_eq!(arguments.value("--seconds", 5_usize), Ok(5));
        assert!(arguments.flag("--check"));
        assert!(arguments.end().unwrap_err().contains("--odd"));
    }

    #[test]
    fn a_value_that_is_missing_or_no_number_is_an_error() {
        assert!(Arguments::new(&["--rounds"]).value("--rounds", 1).is_err());
        assert!(
            Arguments::new(&["--rounds", "many"])
                .value("--rounds", 1)
                .is_err()
        );
    }
}
