//! wget in an endless loop, reading from our own HTTP server on loopback.

use crate::LoadError;
use crate::plan::{Companion, PORT, Program};
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Network, Disturbance::SystemCalls];

/// The server publishes its port in `slot`.
pub(crate) fn program(slot: u32) -> Result<Program, LoadError> {
    let mut program = Program::find("wget", "wget", Some("wget"))?;
    let address = format!("http://127.0.0.1:{PORT}/");
    // No proxy, even if the environment names one: the load must stay on this machine.
    let arguments = [
        "--no-config",
        "--no-proxy",
        "--quiet",
        "--output-document=/dev/null",
    ];
    program.arguments = arguments
        .map(String::from)
        .into_iter()
        .chain([address])
        .collect();
    program.version_argument = Some("--version".into());
    program.companion = Some(Companion::HttpServer { slot });
    Ok(program)
}
