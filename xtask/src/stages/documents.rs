//! The generated documents, compared with those committed.

use super::outcome::Outcome;
use super::programs;
use crate::documents;
use crate::job::Job;

/// Checks that each generated document is up to date. The help is that of the program built with
/// the tests, which doesn't differ from the optimised one's.
pub fn check(job: &Job) -> Outcome {
    let program = match programs::beside_the_tests(job, "wakepath") {
        Ok(program) => program,
        Err(outcome) => return outcome,
    };
    match documents::all(&program) {
        Err(error) => Outcome::of(Some(error)),
        Ok(documents) => documents
            .iter()
            .map(|document| Outcome::of(document.drift()))
            .reduce(Outcome::and)
            .unwrap_or_else(|| Outcome::of(Some("no document".into()))),
    }
}
