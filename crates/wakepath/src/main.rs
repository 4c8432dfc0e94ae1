//! The program `wakepath`, as the library defines it.

fn main() -> std::process::ExitCode {
    wakepath::main()
}
