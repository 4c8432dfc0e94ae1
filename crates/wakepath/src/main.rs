//! The program `wakepath`: what it does stands in the library beside it.

fn main() -> std::process::ExitCode {
    wakepath::main()
}
