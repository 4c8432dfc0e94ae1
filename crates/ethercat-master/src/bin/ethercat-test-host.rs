//! Answers the hidden verb of the ring as `wakepath` does, for the tests of this room.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let words = [arguments.next(), arguments.next()];
    match words.map(|word| word.unwrap_or_default().to_string_lossy().into_owned()) {
        [one, other] if one == "internal" && other == "ethercat-ring" => {
            wakepath_ethercat::ring_main(arguments)
        }
        _ => ExitCode::FAILURE,
    }
}
