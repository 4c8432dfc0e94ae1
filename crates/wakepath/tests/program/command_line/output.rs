//! What goes to standard output and in which form: for pipes, for scripts, for people.

use crate::started::{Place, Start, ask, loop_cpu};
use std::process::{Command, Stdio};

wakepath_test_program::tests![
    json_is_all_of_standard_output_and_says_the_same_when_shown_again,
    what_is_not_a_terminal_gets_no_escape_codes,
    a_terminal_gets_colours_unless_no_color_is_set,
    a_closed_pipe_is_no_panic_and_no_complaint,
    a_run_whose_reader_is_gone_is_still_recorded,
    without_a_directory_the_run_goes_below_the_working_directory_and_says_where,
];

const SCENARIO: &str = "rate = \"500 Hz\"\nduration = \"400 ms\"\nwarm-up = \"100 ms\"\n\
                        policies = [\"OTHER\"]\ncriterion = { miss-fraction = \"90 %\" }\n";

fn scenario() -> String {
    format!("cpu = {}\n{SCENARIO}", loop_cpu())
}

fn json_is_all_of_standard_output_and_says_the_same_when_shown_again() {
    let finished = Start::scenario(&scenario()).finish();
    finished.assert_code(0);
    let mut first = finished.json();
    let shown = Start::command(&["show", "--json"])
        .with(&[&finished.directory])
        .finish();
    shown.assert_code(0);
    assert_eq!(shown.complaints, "", "{}", shown.said());
    let mut second = shown.json();
    for json in [&mut first, &mut second] {
        json["run"]["directory"].take();
    }
    assert_eq!(first, second);
    let machine = Start::command(&["machine", "--json"]).finish();
    machine.assert_code(0);
    assert!(machine.json().is_object());
}

fn what_is_not_a_terminal_gets_no_escape_codes() {
    let place = Place::new();
    std::fs::write(
        place.path().join("my.toml"),
        format!("name = \"my\"\n{}", scenario()),
    )
    .unwrap();
    let finished = Start::command_in(place, &["run", "my.toml", "--directory", "run"]).finish();
    finished.assert_code(0);
    assert!(!finished.said().contains('\u{1b}'), "{:?}", finished.said());
    assert!(
        finished.output.contains("verdict: PASSED"),
        "{}",
        finished.said()
    );
    for words in [
        &["machine"][..],
        &["--help"],
        &["--bad"],
        &["scenario", "list"],
    ] {
        let said = Start::command(words).finish().said();
        assert!(!said.contains('\u{1b}'), "{words:?}: {said:?}");
    }
}

fn a_terminal_gets_colours_unless_no_color_is_set() {
    let finished = Start::scenario(&scenario()).finish();
    let shown = |environment: &str| {
        let command = format!(
            "{environment} {} show {}",
            crate::started::binary().display(),
            finished.directory.display()
        );
        let mut script = Command::new("script");
        script
            .args(["-qec", &command, "/dev/null"])
            .env("TERM", "xterm")
            .stdin(Stdio::null());
        script.env_remove("NO_COLOR").output()
    };
    let Ok(plain) = shown("NO_COLOR=1") else {
        crate::started::not_run("colours on a terminal", "script is not installed");
    };
    let plain = String::from_utf8_lossy(&plain.stdout).into_owned();
    assert!(plain.contains("verdict: PASSED"), "{plain:?}");
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    let coloured = String::from_utf8_lossy(&shown("").unwrap().stdout).into_owned();
    assert!(coloured.contains('\u{1b}'), "{coloured:?}");
}

fn a_closed_pipe_is_no_panic_and_no_complaint() {
    let run = Start::scenario(&scenario()).finish();
    let directory = run.directory.to_string_lossy().into_owned();
    for words in [
        &["show", &directory][..],
        &["show", &directory, "--json"],
        &["machine", "--json"],
        &["scenario", "show", "check"],
        &["scenario", "schema"],
        &["completions", "bash"],
        &["--help"],
        &["check", "--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let finished = Start::command(words).output_to(writer.into()).finish();
        assert_eq!(finished.complaints, "", "{words:?}: {}", finished.said());
        assert_eq!(finished.code(), Some(0), "{words:?}: {}", finished.said());
    }
}

fn a_run_whose_reader_is_gone_is_still_recorded() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let finished = Start::scenario(&scenario())
        .output_to(writer.into())
        .finish();
    finished.assert_code(0);
    finished.assert_archive_is_complete();
    ask("show", &finished.directory).assert_code(0);
}

fn without_a_directory_the_run_goes_below_the_working_directory_and_says_where() {
    let place = Place::new();
    std::fs::write(
        place.path().join("my.toml"),
        format!("name = \"my\"\n{}", scenario()),
    )
    .unwrap();
    let finished = Start::command_in(place, &["run", "my.toml"]).finish();
    finished.assert_code(0);
    let runs = finished.place.path().join("wakepath-runs");
    let names: Vec<_> = std::fs::read_dir(runs)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 1);
    let name = names[0].to_string_lossy().into_owned();
    assert!(name.starts_with("my-20"), "{name}");
    assert!(finished.output.contains(&name), "{}", finished.said());
}
