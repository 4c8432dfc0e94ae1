//! The program `wakepath-experiment`.

fn main() -> std::process::ExitCode {
    wakepath_laboratory::experiment_main()
}
