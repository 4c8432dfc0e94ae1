//! The loop's process as a program of its own: dynamically linked, so that it can load a
//! controller from a shared library, or Python. wakepath starts it with the arguments that it starts itself
//! with; a person has no use for it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [asked] = &arguments[..]
        && asked == "--version"
    {
        println!(
            "wakepath-controller-host {}, version {} of the controller interface",
            wakepath_measured_loop::VERSION,
            wakepath_measured_loop::INTERFACE
        );
        return ExitCode::SUCCESS;
    }
    if let [internal, verb, parent] = &arguments[..]
        && internal == "internal"
        && verb == "loop-policies"
        && let Ok(parent) = parent.parse()
    {
        let (input, output) = (std::io::stdin().lock(), std::io::stdout());
        return ended(wakepath_measured_loop::keep_for(parent, input, output));
    }
    let numbers = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["internal", "ethercat-ring", options] => {
            return wakepath_ethercat::ring_main([options.into()]);
        }
        ["internal", "loop", parent, shared] => parent.parse().ok().zip(shared.parse().ok()),
        _ => None,
    };
    let Some((parent, shared)) = numbers else {
        eprintln!(
            "wakepath-controller-host {}: started by wakepath for scenarios with work = {{ kind = \
             \"library\" }}; not for use by hand",
            env!("CARGO_PKG_VERSION")
        );
        return ExitCode::from(1);
    };
    ended(wakepath_measured_loop::run_as_child(
        parent,
        shared,
        Some(wakepath_ethercat_master::start),
    ))
}

fn ended(outcome: Result<(), Box<dyn std::error::Error>>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("wakepath-controller-host: {error}");
            ExitCode::from(1)
        }
    }
}
