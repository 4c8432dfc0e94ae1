//! The processes that wakepath starts itself as. Each does one thing and dies with its parent; the
//! recorder alone outlives it for as long as it takes to write what is left.

mod ordered;

use crate::command_line::Internal;
use crate::service;
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use wakepath_directory::{Directory, DirectoryError, Trust};

/// The arguments of a built-in load's worker, if this process is one.
pub fn load_worker_arguments() -> Option<impl Iterator<Item = std::ffi::OsString>> {
    let mut arguments = std::env::args_os().skip(1);
    let is_worker = arguments.next().is_some_and(|verb| verb == "internal")
        && arguments
            .next()
            .is_some_and(|process| process == "load-worker");
    is_worker.then_some(arguments)
}

/// Runs the process and returns its exit code; errors go to standard error.
pub fn run(process: Internal) -> ExitCode {
    let outcome = match process {
        Internal::Candidates { words } => {
            return crate::verbs::documentation::print_candidates(&words);
        }
        Internal::Run => return ordered::run(),
        Internal::Watch => return ordered::watch(),
        Internal::Loop { parent, shared } => {
            wakepath_measured_loop::run_as_child(parent, shared, None)
        }
        Internal::LoopPolicies { parent } => {
            let (input, output) = (std::io::stdin().lock(), std::io::stdout());
            wakepath_measured_loop::keep_for(parent, input, output)
        }
        Internal::CoreLatency { parent, shared: _ } => {
            let (input, output) = (std::io::stdin().lock(), std::io::stdout());
            wakepath_measured_loop::measure_core_latency(parent, input, output).map_err(Into::into)
        }
        Internal::Recorder {
            parent,
            shared,
            directory,
        } => recorder_process(parent, shared, &directory),
        Internal::Probe {
            parent,
            shared: _,
            directory,
        } => probe_process(parent, &directory),
        Internal::RevertAfter => crate::verbs::tune::revert_after(std::io::stdin().lock()),
        Internal::LoadSupervisor => return wakepath_load::supervisor::main(),
        Internal::EthercatRing { options } => return wakepath_ethercat::ring_main([options]),
        Internal::Pin { parent } => {
            if wakepath_measured_loop::die_with(parent) {
                wakepath_gpio::run_as_child(std::io::stdin().lock(), std::io::stdout())
            } else {
                Err("the measuring process is gone".into())
            }
        }
        Internal::LabGuest => return crate::guest::main(),
        Internal::OwnProgram {
            parent,
            shared,
            command,
        } => own_program(parent, shared, &command),
        Internal::ServiceBeside(arguments) => {
            take_name();
            return service::from_within(&arguments);
        }
        Internal::ServiceKeeper {
            leave,
            of,
            shared,
            order,
            directory,
        } => {
            take_name();
            understood(&order).and_then(|order| {
                if leave {
                    service::leave(shared, &order, &directory)
                } else {
                    service::keeper(of, shared, &order, &directory)
                }
            })
        }
        Internal::ServiceRecorder {
            keeper,
            shared,
            order,
            directory,
        } => {
            take_name();
            understood(&order)
                .and_then(|order| service::recorder(keeper, shared, &order, &directory))
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            wakepath_console::terminal::tell_failure(&error);
            ExitCode::from(1)
        }
    }
}

fn understood(order: &str) -> Result<service::ServiceOrder, Box<dyn std::error::Error>> {
    Ok(serde_json::from_slice(order.as_bytes())?)
}

/// Becomes a program of the user's own, which dies with the measuring process and may run wherever the
/// user's programs may. What wakepath may do by its file's capabilities is not handed on.
fn own_program(parent: i32, shared: i32, command: &[std::ffi::OsString]) -> Outcome {
    if !wakepath_measured_loop::die_with(parent) {
        return Err("the measuring process is gone".into());
    }
    let (program, arguments) = command.split_first().ok_or("no program given")?;
    wakepath_rt::affinity::widen()?;
    wakepath_programs::rights::give_up()?;
    let error = std::process::Command::new(program)
        .args(arguments)
        .env(wakepath_rt::recorded::VARIABLE, shared.to_string())
        .exec();
    Err(format!("{}: {error}", program.display()).into())
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Started by a link in /proc, a process is called `exe`: explanations would not know it as ours.
fn take_name() {
    // Without its name it works all the same.
    let _ = rustix::thread::set_name(c"wakepath");
}

/// The directory in which the measuring process had this one started; it has looked whose it is.
fn its_directory(path: &std::path::Path) -> Result<Directory, DirectoryError> {
    Directory::of_this_process(path, Trust::Any)
}

fn probe_process(parent: i32, directory: &std::path::Path) -> Outcome {
    if !wakepath_measured_loop::is_child_of(parent) {
        return Err("the measuring process is gone".into());
    }
    take_name();
    let input = File::open("/proc/self/fd/0")?;
    Ok(wakepath_probe::run(
        &its_directory(directory)?,
        input,
        std::io::stdout().lock(),
    )?)
}

fn recorder_process(parent: i32, shared: i32, directory: &std::path::Path) -> Outcome {
    if !wakepath_measured_loop::is_child_of(parent) {
        return Err("the measuring process is gone".into());
    }
    take_name();
    let memory = wakepath_measured_loop::shared_memory(shared)?;
    let input = File::open("/proc/self/fd/0")?;
    let directory = its_directory(directory)?;
    let outcome =
        wakepath_measure::recorder::run(&memory, &directory, input, std::io::stdout().lock());
    if let Err(error) = outcome {
        // The measuring process shows this reply; standard error is for its absence.
        let failed = wakepath_measure::recorder::Reply::Failed {
            error: error.to_string(),
        };
        match writeln!(std::io::stdout(), "{}", serde_json::to_string(&failed)?) {
            Ok(()) => std::process::exit(1),
            Err(_) => return Err(error.into()),
        }
    }
    Ok(())
}
