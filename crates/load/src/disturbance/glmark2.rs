//! glmark2, restarted when it ends.
//!
//! Its CPU time is the evidence of its work on the GPU, for which no common interface has counters.

use crate::LoadError;
use crate::plan::Program;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[
    Disturbance::Gpu,
    Disturbance::MemoryBandwidth,
    Disturbance::Cpu,
];

pub(crate) fn program(arguments: &[String]) -> Result<Program, LoadError> {
    let mut program = Program::find("glmark2", "glmark2", Some("glmark2"))?;
    program.arguments = arguments.to_vec();
    program.version_argument = Some("--version".into());
    Ok(program)
}
