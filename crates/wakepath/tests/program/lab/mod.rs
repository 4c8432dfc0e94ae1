//! The laboratory with a real emulator and real kernels: it must repeat exactly and leave nothing behind.
//! The stage `lab` runs these, because each takes minutes of a CPU.

pub mod core_latencies;
pub mod core_recorded;
pub mod core_sets;
pub mod cores;
pub mod experiments;
pub mod given;
pub mod guests;
pub mod hunt;
pub mod litmus;
pub mod pins;
pub mod refused;
pub mod repeated;
pub mod sections;
pub mod tuned;

use crate::started::binary;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SCENARIO: &str = r#"
name = "repeated"
rate = "1 kHz"
cycles = 60
warm-up = "20 ms"
repetitions = 1
policies = ["OTHER", "FIFO 80"]
[[phases]]
name = "idle"
[[phases]]
name = "stress"
loads = ["cpu", "memory l2", "messages", "processes", "files", "network", "timers"]
[criterion]
latency = "1 ms"
miss-fraction = "50 %"
"#;

/// A directory of this test alone, removed at its end.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(name: &str) -> Self {
        let name = format!("wakepath-lab-test-{name}-{}", std::process::id());
        let place = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir(&place).unwrap();
        std::fs::write(place.join("scenario.toml"), SCENARIO).unwrap();
        Self(place)
    }

    pub fn lab_run(&self, directory: &str, more: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .current_dir(&self.0)
            .args(["lab", "run", "scenario.toml"]);
        command.args(["--directory", directory]).args(more);
        command
    }

    pub fn wakepath(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(binary());
        command
            .current_dir(&self.0)
            .args(arguments)
            .output()
            .unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Why a laboratory run could not be tried on this machine, if a requirement is missing. Anything else is a
/// failure.
pub fn lacking(output: &Output) -> Option<String> {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lacking = [
        "is not installed",
        "is known here",
        "apt-get ",
        "is too old",
        "no wakepath for",
    ];
    let mut lines = said.lines().filter(|line| line.starts_with("wakepath: "));
    let line = lines.find(|line| lacking.iter().any(|lack| line.contains(lack)))?;
    Some(line.to_owned())
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The processes that are emulators and work in a directory below that one.
pub fn emulators_of(place: &Path) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let emulators = processes.filter(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let works_in = std::fs::read_link(process.path().join("cwd"));
        text(&line).contains("qemu-system") && works_in.is_ok_and(|at| at.starts_with(place))
    });
    let id = |process: std::fs::DirEntry| process.file_name().to_str()?.parse().ok();
    emulators.filter_map(id).collect()
}

/// A kernel with a real-time core, or the reason why the test can't be run: no package has one, so it is taken from
/// the directory that a variable names.
pub fn core_kernel(file: &str, needs: &str) -> PathBuf {
    const DIRECTORY: &str = "WAKEPATH_CORE_KERNELS";
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        wakepath_test_program::not_run(format!(
            "{DIRECTORY} names no directory with {file}: {needs}"
        ));
    };
    let kernel = PathBuf::from(directory).join(file);
    if !kernel.is_file() {
        wakepath_test_program::not_run(format!("{} is not there", kernel.display()));
    }
    kernel
}
