//! Plain English in pages and printed strings.

use super::outcome::Outcome;
use crate::job::Job;
use crate::words;

/// Checks that pages and strings that a program prints contain no phrase that the rules list.
pub fn check(_: &Job) -> Outcome {
    let failure = match words::check() {
        Ok(found) if found.is_empty() => None,
        Ok(found) => Some(found.join("\n")),
        Err(error) => Some(error),
    };
    Outcome::new(failure)
}
