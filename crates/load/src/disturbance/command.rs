//! Any command, started again when it ends with status 0; another status ends the load.

use crate::LoadError;
use crate::plan::Program;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Unknown];

/// The program runs in wakepath's working directory, so that relative paths among its arguments are
/// valid. Its version isn't queried, because an unknown program can take any argument as an order.
pub(crate) fn program(command: &[String]) -> Result<Program, LoadError> {
    let (name, arguments) = command.split_first().ok_or(LoadError::EmptyCommand)?;
    let mut program = Program::find("command", name, None)?;
    program.arguments = arguments.to_vec();
    Ok(program)
}
