//! Answers the hidden verbs as `wakepath` does, and holds loads until it is killed, for the tests
//! of this room.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use wakepath_load::{Loads, StartOptions, supervisor, worker};
use wakepath_scenario::{LoadKind, LoadSpec};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let verb = arguments.next().unwrap_or_default();
    match verb.to_str() {
        Some("internal") => match arguments.next().as_deref().and_then(|verb| verb.to_str()) {
            Some("load-supervisor") => supervisor::main(),
            Some("ethercat-ring") => wakepath_ethercat::ring_main(arguments),
            Some("load-worker") => worker::main(arguments, None),
            _ => ExitCode::FAILURE,
        },
        // hold SCRATCH NAMESPACE(yes|no) [stress-ng arguments]: starts every built-in load and
        // stress-ng, prints a line, and waits to be killed.
        Some("hold") => hold(&mut arguments.map(|text| text.to_string_lossy().into_owned())),
        _ => ExitCode::FAILURE,
    }
}

fn hold(arguments: &mut dyn Iterator<Item = String>) -> ExitCode {
    let scratch = arguments.next().unwrap_or_default();
    let executable = std::env::current_exe().expect("own path");
    let mut options = StartOptions::new(executable, scratch);
    options.use_pid_namespace = arguments.next().as_deref() == Some("yes");
    let mut kinds = vec![
        LoadKind::Cpu,
        LoadKind::Messages,
        LoadKind::Processes,
        LoadKind::Files,
    ];
    let command: Vec<String> = arguments.collect();
    if !command.is_empty() {
        kinds.push(LoadKind::Command { command });
    }
    let specs: Vec<LoadSpec> = kinds
        .into_iter()
        .map(|kind| LoadSpec {
            kind,
            workers: 1,
            cpus: None,
        })
        .collect();
    let mut loads = Loads::start(&specs, &options).expect("start");
    loads
        .wait_until_working(Duration::from_secs(20))
        .expect("working");
    println!("{}", loads.supervisor_pid().unwrap_or(0));
    std::io::stdout().flush().expect("standard output");
    std::thread::sleep(Duration::from_secs(60));
    ExitCode::SUCCESS
}
