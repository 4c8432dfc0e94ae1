//! The program `wakepath-lab`.

fn main() -> std::process::ExitCode {
    wakepath_laboratory::main()
}
