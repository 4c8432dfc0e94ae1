//! The real command, started as a user starts it: in a place of its own, with every process that
//! comes of it marked, so that a test can find, stop and miss them. It asserts nothing about
//! measuring.

mod finished;
mod place;
mod processes;
mod running;
mod terminal;
mod witness;

pub use finished::Finished;
pub use place::Place;
pub use processes::{Role, Task, kill, marked, tasks_of};
pub use running::Running;
pub use terminal::InTerminal;
pub use witness::Witness;

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The CPUs that this process may use, ascending.
pub fn cpus() -> Vec<u16> {
    wakepath_rt::affinity::current().unwrap()
}

/// The CPU of a scenario's loop: the highest, so that the recorder gets another if there are two.
pub fn loop_cpu() -> u16 {
    *cpus().last().unwrap()
}

/// The program under test: the released one when `WAKEPATH_BINARY` names it.
pub fn binary() -> PathBuf {
    match std::env::var_os("WAKEPATH_BINARY") {
        Some(path) => path.into(),
        None => env!("CARGO_BIN_EXE_wakepath").into(),
    }
}

/// Ends a test as not run, with what could not be tested and why.
pub fn not_run(what: &str, why: &str) -> ! {
    wakepath_test_program::not_run(format!("{what}: {why}"))
}

/// Whether this process is root with all that a test may need of it.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Ends a test as not run unless this process may trace.
pub fn needs_tracing(what: &str) {
    if !is_root() {
        not_run(what, "only root may trace");
    }
}

/// The program of `tests/program/system/NAME.c`, built in this place; without a compiler the test ends as not run.
pub fn built(place: &Place, name: &str, what: &str) -> PathBuf {
    let program = place.path().join(name);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/system");
    let built = Command::new("cc")
        .args(["-O1", "-g", "-w", "-pthread", "-o"])
        .args([&program, &sources.join(name).with_extension("c")])
        .output();
    match built {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => not_run(what, &format!("cc: {error}")),
    }
    program
}

/// Requires the right to use real-time policies: without it, the test ends as not run.
pub fn needs_real_time(what: &str) {
    let outcome = std::thread::spawn(|| {
        wakepath_rt::Preparation {
            policy: wakepath_timeline::Policy::Fifo { priority: 99 },
            lock_memory: false,
            ..wakepath_rt::Preparation::default()
        }
        .apply()
        .map(drop)
    });
    if let Err(error) = outcome.join().unwrap() {
        not_run(what, &error.to_string());
    }
}

/// A command line to be started.
pub struct Start {
    place: Place,
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    user: Option<u32>,
    output_to: Option<Stdio>,
    has_own_group: bool,
    directory: PathBuf,
}

impl Start {
    /// Any command line, started in a new place.
    pub fn command(arguments: &[&str]) -> Self {
        Self::command_in(Place::new(), arguments)
    }

    /// Any command line, started in this place.
    pub fn command_in(place: Place, arguments: &[&str]) -> Self {
        Self {
            directory: place.path().join("run"),
            place,
            program: binary(),
            arguments: arguments.iter().map(Into::into).collect(),
            environment: Vec::new(),
            user: None,
            output_to: None,
            has_own_group: false,
        }
    }

    /// A line typed into a shell in this place.
    pub fn shell_in(place: Place, line: &str) -> Self {
        let mut start = Self::command_in(place, &["-c", line]);
        start.program = "/bin/sh".into();
        start
    }

    /// `wakepath run` of this scenario (without its name) into `run` in a new place, with the
    /// result as JSON.
    pub fn scenario(text: &str) -> Self {
        Self::scenario_in(Place::new(), text)
    }

    /// As [`Start::scenario`], in this place.
    pub fn scenario_in(place: Place, text: &str) -> Self {
        let file = place.path().join("scenario.toml");
        std::fs::write(&file, format!("name = \"test\"\n{text}")).unwrap();
        let mut start = Self::command_in(place, &["run", "scenario.toml", "--json"]);
        let directory = start.directory.clone();
        start = start.with(&["--directory"]).with(&[&directory]);
        start
    }

    /// With further arguments.
    pub fn with(mut self, arguments: &[impl AsRef<std::ffi::OsStr>]) -> Self {
        let more = arguments
            .iter()
            .map(|argument| argument.as_ref().to_owned());
        self.arguments.extend(more);
        self
    }

    /// With this variable in its environment.
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// As another user without groups and privileges, from a copy of the program that this user
    /// may execute.
    pub fn by_user(mut self, user: u32) -> Self {
        let copy = self.place.path().join("wakepath");
        std::fs::copy(binary(), &copy).unwrap();
        std::os::unix::fs::chown(self.place.path(), Some(user), Some(user)).unwrap();
        self.program = copy;
        self.user = Some(user);
        self
    }

    /// With another program of the release next to that copy.
    pub fn beside(self, name: &str) -> Self {
        std::fs::copy(binary().with_file_name(name), self.place.path().join(name)).unwrap();
        self
    }

    /// In a process group of its own, as a shell starts it: Ctrl-C reaches all of it.
    pub fn in_its_own_group(mut self) -> Self {
        self.has_own_group = true;
        self
    }

    /// With standard output going there instead of being kept.
    pub fn output_to(mut self, output: Stdio) -> Self {
        self.output_to = Some(output);
        self
    }

    /// Starts it.
    pub fn start(self) -> Running {
        let kept = |name: &str| File::create(self.place.path().join(name)).unwrap();
        let mark = self.place.mark().to_owned();
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(self.place.path())
            .env("WAKEPATH_TEST", &mark)
            .envs(self.environment)
            .stdin(Stdio::null())
            .stdout(self.output_to.unwrap_or_else(|| kept("stdout").into()))
            .stderr(kept("stderr"));
        if self.has_own_group {
            command.process_group(0);
        }
        if let Some(user) = self.user {
            // With `uid` alone the standard library drops all groups of a root process.
            command.uid(user).gid(user);
        }
        let child = command.spawn().unwrap();
        Running::new(child, self.place, self.directory)
    }

    /// Starts it and waits for its end.
    pub fn finish(self) -> Finished {
        self.start().finish()
    }
}

/// Far beyond every test's run and every step of one, on a machine that is busy or stalls: what takes longer hangs.
const LONGEST: Duration = Duration::from_secs(120);

/// Waits until `is_so`, looking every few milliseconds; panics if it hangs.
#[track_caller]
pub fn wait_until(what: &str, is_so: impl FnMut() -> bool) {
    wait_within(what, LONGEST, is_so);
}

/// As [`wait_until`], for what takes its time.
#[track_caller]
fn wait_within(what: &str, patience: Duration, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(
            begun.elapsed() < patience,
            "{what}: not within {patience:?}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The command line that reads or repairs a run directory, carried out.
pub fn ask(verb: &str, directory: &Path) -> Finished {
    Start::command(&[verb]).with(&[directory]).finish()
}
