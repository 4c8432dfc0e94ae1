//! The user's own controller in the measured loop: the examples, built by their compilers and flown;
//! libraries that are wrong, refuse or crash; Python through the same interface. Needs cc, g++ and rustc,
//! and python3 with its shared library.

pub mod built_in;
pub mod library;
pub mod python;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A directory of its own for each test, gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        let name = format!("wakepath-own-controller-{test}-{}", std::process::id());
        let place = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&place).expect("a directory for the test");
        Self(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Builds a shared library with `compiler` from a source file.
    fn build(&self, compiler: &str, options: &[&str], source: &Path, library: &str) {
        let mut command = Command::new(compiler);
        command.args(options);
        if compiler != "rustc" {
            let include = format!("{ROOT}/crates/measured-loop/include");
            command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]);
            command.args(["-I", include.as_str()]);
        }
        let output = command.arg("-o").arg(self.path(library)).arg(source);
        let output = output.arg(if compiler == "cc" { "-lm" } else { "-O" });
        let output = output.output().expect("the compiler runs");
        assert!(output.status.success(), "{}", error_of(&output));
    }

    /// Builds a library from C text.
    fn build_text(&self, text: &str, library: &str) {
        let source = self.path("source.c");
        std::fs::write(&source, text).expect("the source is written");
        self.build("cc", &["-std=c11"], &source, library);
    }

    /// Runs a loop for two seconds with this work.
    fn run(&self, work: &str) -> Output {
        let scenario = self.path("scenario.toml");
        let text = format!(
            "name = \"own\"\nrate = \"250 Hz\"\nduration = \"2 s\"\nwarm-up = \"100 ms\"\n\
             policies = [\"OTHER\"]\nwork = {work}\n[criterion]\ndeadline = \"100 periods\"\n\
             miss-fraction = \"5 %\"\n"
        );
        std::fs::write(&scenario, text).expect("the scenario is written");
        Command::new(crate::started::binary())
            .arg("run")
            .arg(&scenario)
            .arg("--json")
            .arg("--directory")
            .arg(self.path("run"))
            .output()
            .expect("wakepath runs")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn result(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", error_of(output)))
}

/// The one condition's figures; checks that the controller alone was timed in every cycle and
/// takes no longer than the region around it.
fn flown(output: &Output) -> Value {
    let result = result(output);
    let cycles = result["conditions"][0]["cycles"].clone();
    assert!(cycles["executed"].as_u64() > Some(0), "{result:#}");
    assert_eq!(cycles["work"]["count"], cycles["executed"]);
    for figure in ["min", "max"] {
        let time = |of: &str| cycles[of][figure].as_i64().expect("a time");
        assert!(time("work") <= time("execution"), "{cycles:#}");
    }
    cycles
}

fn example(name: &str) -> PathBuf {
    Path::new(ROOT).join("examples/controllers").join(name)
}

/// The one line that a run is refused with before anything is recorded.
fn refusal(place: &Place, output: &Output) -> String {
    let error = error_of(output);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(!place.path("run").exists(), "something is left behind");
    error
}
