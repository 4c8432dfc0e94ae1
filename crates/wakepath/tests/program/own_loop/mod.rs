//! Programs of the user's own under `wakepath record`: the examples in three languages, built by their
//! compilers; programs without a loop, that crash, give up, or write over what they share. Needs cc, g++.

pub mod beside;
pub mod conditions;
pub mod examples;
pub mod functions;
pub mod hostile;
pub mod languages;
pub mod logging;
pub mod misused;
pub mod packaged;
pub mod processes;
pub mod ros2;
pub mod service;
pub mod tutorial;
pub mod versions;

use crate::started::{Finished, Place, Start, ask, wait_until};
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use wakepath_timeline::Policy;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Where cargo puts the libraries that it builds for the tests.
fn libraries() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    tests.parent().unwrap().to_owned()
}

/// Builds a program of this source with the loop's library in it; its path.
fn built(place: &Place, compiler: &str, options: &[&str], source: &Path) -> PathBuf {
    let program = place.path().join("my-loop");
    let output = Command::new(compiler)
        .args(options)
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(format!("{ROOT}/crates/c-library/include"))
        .arg(source)
        .arg(libraries().join("libwakepath.a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    program
}

/// Builds a program of this C text.
pub fn built_of(place: &Place, text: &str) -> PathBuf {
    let source = place.path().join("source.c");
    std::fs::write(&source, text).unwrap();
    built(place, "cc", &["-std=c11"], &source)
}

/// Records the program, idle, for as long as this, with the result as JSON.
pub fn recorded(place: Place, duration: &str, more: &[&str], program: &Path) -> Finished {
    let words = [
        "record",
        "--idle",
        "--no-tui",
        "--json",
        "--duration",
        duration,
    ];
    let words = [&words[..], &["--directory", "run"], more, &["--"]].concat();
    Start::command_in(place, &words).with(&[program]).finish()
}

/// A recording that is killed once it has this number of samples, and recovered.
fn killed_and_recovered(place: Place, program: &Path, samples: u64) -> Finished {
    let words = [
        "record",
        "--idle",
        "--no-tui",
        "--duration",
        "60s",
        "--directory",
        "run",
        "--",
    ];
    let running = Start::command_in(place, &words).with(&[program]).start();
    running.wait_until_recorded(0, samples);
    running.signal(Signal::KILL);
    let finished = running.finish();
    // The recorder takes a moment to write what was left.
    wait_until("it is recovered", || {
        ask("recover", &finished.directory).code() == Some(0)
    });
    finished
}

/// Carries out a scenario of one second with one loop of this program.
fn carried_out(place: Place, name: &str, rate: &str, program: &Path) -> Finished {
    let text = format!(
        "duration = \"1 s\"\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\n[[tasks]]\nname = {name:?}\n\
         rate = {rate:?}\nwork = {{ kind = \"program\", command = [{program:?}] }}\n"
    );
    Start::scenario_in(place, &text).finish()
}

/// The judged conditions; each due time of each is accounted for.
fn conditions(finished: &Finished) -> Vec<Value> {
    let found = finished.json();
    let conditions = found["conditions"].as_array().unwrap().clone();
    for condition in &conditions {
        let count = |of: &str| condition["cycles"][of].as_u64().unwrap();
        assert!(count("executed") > 0, "{condition:#}");
        assert_eq!(count("executed") + count("skipped"), count("scheduled"));
    }
    conditions
}

/// The policy that a condition is of.
fn policy(condition: &Value) -> Policy {
    serde_json::from_value(condition["name"]["policy"].clone()).unwrap()
}

/// Output of the program.
fn printed(finished: &Finished) -> String {
    std::fs::read_to_string(finished.place.path().join("run/program.log")).unwrap()
}

/// The run says it wherever it is read: in the terminal, as JSON and on the report's page.
fn is_said_everywhere(finished: &Finished, sentence: &str) {
    assert!(finished.samples(0).len() > 200, "{}", finished.said());
    let asked = |words: &[&str]| {
        let output = Command::new(crate::started::binary())
            .args(words)
            .arg(&finished.directory)
            .output()
            .unwrap();
        // The terminal wraps lines.
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for words in [&["show"][..], &["show", "--json"]] {
        let text = asked(words);
        assert!(text.contains(sentence), "{words:?}: {text}");
    }
    asked(&["report"]);
    let page = std::fs::read_to_string(finished.directory.join("report.html")).unwrap();
    let page = page.replace('\u{a0}', " ");
    assert!(page.contains(sentence), "not on the report's page");
}

/// A loop of 1 kHz that runs this in each cycle; `FIRST_FROM(500)` in it holds once, in cycle 500 or, if
/// that was skipped, in the next that runs: no cycle of a given number is sure to run.
fn looping(headers: &str, each: &str) -> String {
    format!(
        "#define _GNU_SOURCE\n#include <wakepath.h>\n{headers}\n\
         #define FIRST_FROM(number) (cycle.cycle >= (number) && !passed++)\n\
         int main(void) {{\n\
             int passed = 0; (void)passed;\n\
             wakepath_loop *loop = wakepath_loop_create(\"loop\", 1000000, 0, 0);\n\
             wakepath_cycle cycle;\n\
             while (wakepath_loop_wait(loop, &cycle)) {{ {each} wakepath_loop_finish(loop); }}\n\
             wakepath_loop_destroy(loop);\n\
             return 0;\n\
         }}\n"
    )
}
