//! Plain English in pages and printed strings.

use super::outcome::Outcome;
use crate::job::Job;
use crate::words;

/// Checks that no page and no string that a program prints contains a phrase that the rules list.
pub fn check(_: &Job) -> Outcome {
    let failure = match words::check() {
        Ok(found) if found.is_empty() => None,
        Ok(found) => Some(found.join("\n")),
        Err(error) => Some(error),
    };
    Outcome::of(failure)
}
