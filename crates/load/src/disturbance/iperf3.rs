//! iperf3 against its own server on loopback.

use crate::LoadError;
use crate::plan::{Companion, PORT, Program};
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Network, Disturbance::SystemCalls];

pub(crate) fn program(arguments: &[String]) -> Result<Program, LoadError> {
    let mut program = Program::find("iperf3", "iperf3", Some("iperf3"))?;
    program.arguments = ["-c", "127.0.0.1", "-p", PORT].map(String::from).to_vec();
    program.arguments.extend_from_slice(arguments);
    // By default it ends after 10 s; a day is the longest that it accepts.
    let bounded = |argument: &String| {
        ["-t", "-n", "-k", "--time", "--bytes", "--blockcount"]
            .iter()
            .any(|option| argument.starts_with(option))
    };
    if !arguments.iter().any(bounded) {
        program.arguments.extend(["-t", "86400"].map(String::from));
    }
    program.version_argument = Some("--version".into());
    program.companion = Some(Companion::Iperf3Server);
    Ok(program)
}

/// Arguments of the server.
pub(crate) fn server_arguments(port: u16) -> Vec<String> {
    ["-s", "-B", "127.0.0.1", "-p"]
        .map(String::from)
        .into_iter()
        .chain([port.to_string()])
        .collect()
}
