//! The generated documents, compared with those committed.

use super::outcome::Outcome;
use super::programs;
use crate::documents;
use crate::job::Job;

/// Each generated document is what it was made from. The help is that of the program which is built
/// with the tests: optimisation makes no difference to it.
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
