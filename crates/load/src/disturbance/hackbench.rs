//! hackbench from rt-tests, started again when it ends.

use crate::LoadError;
use crate::plan::Program;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[
    Disturbance::Scheduling,
    Disturbance::SystemCalls,
    Disturbance::Cpu,
];

pub(crate) fn program(arguments: &[String]) -> Result<Program, LoadError> {
    let mut program = Program::find("hackbench", "hackbench", Some("rt-tests"))?;
    program.arguments = arguments.to_vec();
    // It has no option for its version; the first line of its help contains it.
    program.version_argument = Some("--help".into());
    Ok(program)
}
