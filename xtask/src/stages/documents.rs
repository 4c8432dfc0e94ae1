//! The generated documents, compared with those committed; the words of the others.

use super::outcome::Outcome;
use super::programs;
use crate::documents;
use crate::job::Job;

/// Checks that no page exceeds its budget of words, that each link leads somewhere, and that each generated document is
/// up to date. The help is that of the program built with the tests, which doesn't differ from the optimised one's.
pub fn check(job: &Job) -> Outcome {
    let of_pages = |found: Result<Vec<String>, String>| match found {
        Ok(broken) if broken.is_empty() => Outcome::new(None),
        Ok(broken) => Outcome::new(Some(broken.join("\n"))),
        Err(error) => Outcome::new(Some(error)),
    };
    let words = of_pages(documents::budgets::broken());
    let links = of_pages(documents::links::broken());
    let program = match programs::beside_the_tests(job, "wakepath") {
        Ok(program) => program,
        Err(outcome) => return outcome,
    };
    match documents::all(&program) {
        Err(error) => Outcome::new(Some(error)),
        Ok(documents) => documents
            .iter()
            .map(|document| Outcome::new(document.drift()))
            .fold(words.and(links), Outcome::and),
    }
}
