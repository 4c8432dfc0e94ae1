//! The programs' command lines: their versions, and wrong words answered in one line with code 1.

use std::process::{Command, Output};

const PROGRAMS: [(&str, &str); 2] = [
    ("wakepath-lab", env!("CARGO_BIN_EXE_wakepath-lab")),
    (
        "wakepath-experiment",
        env!("CARGO_BIN_EXE_wakepath-experiment"),
    ),
];

fn answered(program: &str, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}

#[test]
fn each_program_prints_its_version() {
    for (name, program) in PROGRAMS {
        let output = answered(program, &["--version"]);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{printed}");
        let begin = format!("{name} {} (", env!("CARGO_PKG_VERSION"));
        assert!(printed.starts_with(&begin), "{printed}");
    }
}

#[test]
fn a_wrong_command_is_one_line_and_exit_code_1() {
    for (name, program) in PROGRAMS {
        let output = answered(program, &["lsit"]);
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {printed}");
        assert_eq!(printed.lines().count(), 1, "{name}: {printed}");
        assert!(
            printed.contains("lsit: there is no such command"),
            "{name}: {printed}"
        );
        assert_eq!(output.stdout, b"", "{name}");
    }
}

#[test]
fn each_program_writes_the_man_pages_of_its_commands() {
    let place = tempfile::tempdir().unwrap();
    for (name, program) in PROGRAMS {
        let output = Command::new(program).arg("man").arg(place.path()).output();
        assert!(output.unwrap().status.success(), "{name}");
        for page in [format!("{name}.1"), format!("{name}-run.1")] {
            let text = std::fs::read_to_string(place.path().join(&page)).unwrap();
            assert!(text.contains(".SH SEE ALSO"), "{page}");
        }
    }
}
