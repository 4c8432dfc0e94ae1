//! Limits of the process: the end is reported in one line, with exit code 1, and what was recorded stays.

use crate::started::{Place, binary, loop_cpu};
use std::process::{Command, Output};

wakepath_test_program::tests![
    the_limit_of_a_files_size_ends_a_run_as_a_full_disk_does,
    memory_that_runs_out_is_said_in_one_line,
];

/// The program under a limit that the shell sets.
fn limited(place: &Place, limit: &str, arguments: &[&str]) -> Output {
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit {limit}; exec \"$0\" \"$@\""))
        .arg(binary())
        .args(arguments)
        .current_dir(place.path())
        .output()
        .unwrap()
}

#[track_caller]
fn assert_one_line(output: &Output, part: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("wakepath: "))
        .collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].contains(part), "{said}");
    assert!(
        !said.contains("panicked") && !said.contains("backtrace"),
        "{said}"
    );
}

fn the_limit_of_a_files_size_ends_a_run_as_a_full_disk_does() {
    let place = Place::new();
    let text = format!(
        "name = \"limit\"\nrate = \"1 kHz\"\nduration = \"60 s\"\nwarm-up = \"0 ms\"\ncpu = {}\n\
         policies = [\"OTHER\"]\n",
        loop_cpu()
    );
    std::fs::write(place.path().join("scenario.toml"), text).unwrap();
    // Room for the rings in memory; the log keeps its last 64 KiB for its end.
    let run = ["run", "--no-tui", "--directory", "run", "scenario.toml"];
    let output = limited(&place, "-f 2000", &run);
    assert_one_line(&output, "the limit of a file's size is reached");
    let run = place.path().join("run");
    crate::started::ask("recover", &run).assert_code(0);
    let run = wakepath_archive::Run::open(&run).unwrap();
    let ending = format!("{:?}", run.manifest.ending);
    assert!(ending.contains("limit of a file's size"), "{ending}");
    assert_eq!(run.manifest.recovered, None);
}

fn memory_that_runs_out_is_said_in_one_line() {
    let place = Place::new();
    let file = std::fs::File::create(place.path().join("result.json")).unwrap();
    file.set_len(300 << 20).unwrap();
    let import = [
        "import",
        "--form",
        "rt-tests-json",
        "result.json",
        "--directory",
        "run",
    ];
    let output = limited(&place, "-v 150000", &import);
    assert_one_line(&output, "out of memory");
    assert!(!place.path().join("run").exists());
}
