//! The generated documents, compared with those committed.

use super::outcome::Outcome;
use crate::job::Job;
use crate::release::Build;
use crate::tools::missing_target;
use crate::{documents, place};

/// Each generated document is what it was made from. The program whose help is compared is the
/// static one that later stages use too.
pub fn check(job: &Job) -> Outcome {
    let build = match std::env::consts::ARCH {
        "aarch64" => Build::AARCH64,
        _ => Build::X86_64,
    };
    if let Some(why) = missing_target(build.triple) {
        return Outcome::not_run(why);
    }
    let built = job.run(&mut build.command());
    if built.failure.is_some() {
        return Outcome::of(built.failure);
    }
    match documents::all(&place::program(build.triple)) {
        Err(error) => Outcome::of(Some(error)),
        Ok(documents) => documents
            .iter()
            .map(|document| Outcome::of(document.drift()))
            .reduce(Outcome::and)
            .unwrap_or_else(|| Outcome::of(Some("no document".into()))),
    }
}
