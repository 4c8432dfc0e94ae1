//! The scenario's JSON schema, read by validators of other projects.

use super::outcome::Outcome;
use crate::job::Job;
use crate::place;
use crate::tools::{cargo, wait_for_set_up};

/// Runs the test that compares ajv and check-jsonschema with the schema's own tests.
pub fn validators(job: &Job) -> Outcome {
    wait_for_set_up();
    let validators = place::target().join("schema-validators");
    if !validators.join("complete").is_file() {
        return Outcome::not_run(
            "no ajv or no check-jsonschema here, which `./test` fetches by npm and pip",
        );
    }
    let mut command = cargo(&[
        "test",
        "--locked",
        "--package",
        "wakepath-scenario",
        "--all-features",
    ]);
    command
        .args([
            "--test",
            "scenario",
            "other_validators::",
            "--",
            "--ignored",
        ])
        .env("WAKEPATH_SCHEMA_VALIDATORS", validators);
    Outcome::of_tests(&job.run(&mut command))
}
