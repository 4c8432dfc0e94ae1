//! Keeps a GPU busy, for wakepath's load `gpu`.
//!
//! Prints its work and the device's working time to standard output, line by line. It judges
//! nothing and starts nothing.

mod arguments;
mod device;
mod error;
mod matrix;
mod working;

use arguments::{Arguments, HELP, Verb};
use device::Interface;
use error::GpuError;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match carried_out() {
        Ok(code) => code,
        Err(error) => {
            // The reader might be gone.
            let _ = writeln!(io::stderr(), "wakepath-gpu: {error}");
            ExitCode::FAILURE
        }
    }
}

fn carried_out() -> Result<ExitCode, GpuError> {
    let arguments = Arguments::of_the_command_line()?;
    match arguments.verb {
        Verb::Help => say(HELP),
        Verb::Version => say(concat!("wakepath-gpu ", env!("CARGO_PKG_VERSION"), "\n")),
        Verb::List => return Ok(list()),
        Verb::Which => {
            let device = device::start(arguments.interface, arguments.device)?;
            let about = serde_json::to_string(device.about());
            say(&(about.map_err(|error| GpuError::Usage(error.to_string()))? + "\n"));
        }
        Verb::Run(work) => {
            let mut device = device::start(arguments.interface, arguments.device)?;
            working::until(&mut *device, work, arguments.length)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints each interface with its devices, or the reason why it has none; exit code 1 if none has
/// any.
fn list() -> ExitCode {
    let mut any = false;
    for interface in Interface::ALL {
        for number in 0.. {
            match device::start(Some(interface), number) {
                Ok(device) => {
                    any = true;
                    let about = device.about();
                    let kind = if about.is_software {
                        ", a program on the CPU"
                    } else {
                        ""
                    };
                    let (word, name) = (interface.word(), &about.name);
                    say(&format!(
                        "{word} {number}: {name} ({}{kind})\n",
                        about.driver
                    ));
                }
                Err(GpuError::NoDevice { .. }) if number > 0 => break,
                Err(error) => {
                    say(&format!("{error}\n"));
                    break;
                }
            }
        }
    }
    if any {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// A closed output is no fault of this program.
fn say(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}
