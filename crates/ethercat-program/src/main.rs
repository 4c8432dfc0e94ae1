//! The program with an EtherCAT master. wakepath starts it, with the arguments that it starts itself with, for loops
//! and loads that exchange process data; a person has no use for it.

use std::io::Write;
use std::process::ExitCode;
use wakepath_ethercat_master::start;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let words = [arguments.next(), arguments.next()].map(Option::unwrap_or_default);
    let outcome = match words
        .each_ref()
        .map(|word| word.to_str().unwrap_or_default())
    {
        ["--version", ""] => {
            let version = wakepath_measured_loop::VERSION;
            writeln!(std::io::stdout(), "wakepath-ethercat {version}").map_err(Into::into)
        }
        ["internal", "ethercat-ring"] => return wakepath_ethercat::ring_main(arguments),
        ["internal", "load-worker"] => return wakepath_load::worker::main(arguments, Some(start)),
        ["internal", "loop-policies"] => match numbers(arguments)[..] {
            [parent] => {
                let (input, output) = (std::io::stdin().lock(), std::io::stdout());
                wakepath_measured_loop::keep_for(parent, input, output)
            }
            _ => Err(NOT_BY_HAND.into()),
        },
        ["internal", "loop"] => match numbers(arguments)[..] {
            [parent, shared] => wakepath_measured_loop::run_as_child(parent, shared, Some(start)),
            _ => Err(NOT_BY_HAND.into()),
        },
        _ => Err(NOT_BY_HAND.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody reads it if standard error is closed.
            let _ = writeln!(std::io::stderr(), "wakepath-ethercat: {error}");
            ExitCode::from(1)
        }
    }
}

const NOT_BY_HAND: &str =
    "started by wakepath for loops and loads that use EtherCAT; not for use by hand";

fn numbers(arguments: impl Iterator<Item = std::ffi::OsString>) -> Vec<i32> {
    arguments
        .filter_map(|word| word.to_str()?.parse().ok())
        .collect()
}
