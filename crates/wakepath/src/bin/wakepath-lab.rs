//! The program `wakepath-lab`: what it does is in the library beside it.

fn main() -> std::process::ExitCode {
    wakepath::laboratory_main()
}
