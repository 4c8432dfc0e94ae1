//! Every bad scenario is refused with the expected line.
//!
//! Its first lines `# expect: ` have that line, without the file's name.

use crate::files::folder;
use wakepath_scenario::{KnownCpus, Scenario, ScenarioErrors};

const CPUS: u16 = 4;

#[test]
fn bad_scenarios_are_refused_with_the_expected_line() {
    let mut wrong = Vec::new();
    for (name, text) in folder("bad") {
        let expected: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# expect: "))
            .map(|line| format!("{name}:{line}"))
            .collect();
        let found = match Scenario::parse(&text, &name, &KnownCpus::first(CPUS)) {
            Ok(_) => vec![format!("{name}: accepted")],
            Err(errors) => errors.to_string().lines().map(str::to_owned).collect(),
        };
        if found != expected {
            wrong.push(format!(
                "expected:\n{}\nfound:\n{}",
                expected.join("\n"),
                found.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn good_scenarios_are_accepted_with_the_expected_warnings() {
    for (name, text) in folder("good") {
        let expected: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# warns: "))
            .collect();
        match Scenario::parse_with_warnings(&text, &name, &KnownCpus::first(CPUS)) {
            Ok((_, warnings)) => {
                let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
                assert_eq!(warnings, expected, "{name}");
            }
            Err(errors) => panic!("{errors}"),
        }
    }
}

fn refused(text: &str) -> ScenarioErrors {
    Scenario::parse(text, "hostile.toml", &KnownCpus::first(CPUS)).expect_err("is refused")
}

#[test]
fn a_file_beyond_the_limit_is_refused_unread() {
    let errors = refused(&"#".repeat((1 << 20) + 1));
    let line = "hostile.toml:1:1: the file has 1048577 bytes; a scenario has at most 1 MiB";
    assert_eq!(errors.to_string(), line);
}

#[test]
fn a_file_full_of_mistakes_is_answered_with_a_few_lines() {
    let mut text = String::new();
    for number in 0..50_000 {
        text += &format!("key{number} = {number}\n");
    }
    let errors = refused(&text);
    assert_eq!(errors.errors.len(), ScenarioErrors::MOST_SHOWN);
    assert!(errors.left_out > 0);
    assert!(errors.to_string().len() < 20_000);
}

#[test]
fn deep_nesting_is_refused_without_overflow() {
    refused(&format!(
        "a = {}{}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    ));
    refused(&format!("{} = 1", vec!["a"; 100_000].join(".")));
    refused(&format!("[{}]", vec!["a"; 100_000].join(".")));
}

#[test]
fn a_hostile_name_cannot_break_the_line() {
    let errors = refused("\"a\\u001b[31m\\nb\" = 1\nname = \"x\\u202ey\"");
    for error in &errors.errors {
        assert!(
            !error
                .to_string()
                .contains(|c: char| c.is_control() || c == '\u{202e}')
        );
    }
}
