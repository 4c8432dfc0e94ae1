//! glmark2, started again when it ends. Its CPU time stands for its work on the GPU, which no
//! common interface counts.

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
