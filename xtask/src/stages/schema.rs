//! The scenario's JSON schema, read by validators of other projects.

use super::outcome::Outcome;
use super::programs;
use crate::job::Job;
use crate::place;
use crate::tools::wait_for_set_up;

/// Runs the test that compares ajv and check-jsonschema with the schema's own tests.
pub fn validators(job: &Job) -> Outcome {
    wait_for_set_up();
    let validators = place::target().join("schema-validators");
    if !validators.join("complete").is_file() {
        return Outcome::not_run(
            "no ajv or no check-jsonschema here, which `./test` fetches by npm and pip",
        );
    }
    let program = match programs::named(job, "scenario", "scenario") {
        Ok(program) => program,
        Err(outcome) => return outcome,
    };
    let mut command = program.command(&["other_validators::", "--ignored", "--show-output"]);
    command.env("WAKEPATH_SCHEMA_VALIDATORS", validators);
    program.outcome(job, &mut command).of_some()
}
