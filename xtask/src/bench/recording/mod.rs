//! Cost of logging in each cycle, and its effect on wake-ups.
//!
//! The loop logs through wakepath, spdlog's asynchronous logger, quill or not at all, while its
//! disk works, is full or hangs for two seconds, and its recorder is stopped or killed.

mod disk;

use super::program;
use crate::arguments::Arguments;
use crate::{place, table, tools};
use disk::Disk;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The variable that names the folder of quill's headers.
const QUILL: &str = "QUILL_INCLUDE";
/// How long the disk hangs, and a recorder is stopped.
const STALL: Duration = Duration::from_secs(2);

/// The disturbance during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Nothing,
    Full,
    Stalled,
    Stopped,
    Killed,
}

impl What {
    const ALL: [Self; 5] = [
        Self::Nothing,
        Self::Full,
        Self::Stalled,
        Self::Stopped,
        Self::Killed,
    ];

    fn text(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Full => "disk full",
            Self::Stalled => "disk stalls 2 s",
            Self::Stopped => "recorder stopped 2 s",
            Self::Killed => "recorder killed",
        }
    }

    /// Only wakepath has a separate recorder.
    fn is_of(self, way: &str) -> bool {
        way == "wakepath" || !matches!(self, Self::Stopped | Self::Killed)
    }
}

/// Prints a row for each way of logging in each situation.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let seconds: u64 = arguments.value("--seconds", 20)?;
    let wakepath = program(&mut arguments)?;
    arguments.end()?;
    let scratch = place::scratch("recording")?;
    let quill = std::env::var_os(QUILL);
    let (looping, with_spdlog) = built(&scratch, quill.as_deref())?;
    println!(
        "FIFO 80 at 1 kHz for {seconds} s, a line with three numbers in each cycle; ns, the reading of the clock taken off the call"
    );
    let mut rows = vec![
        [
            "way",
            "meanwhile",
            "cycles",
            "skipped",
            "call: median",
            "p99.9",
            "p99.99",
            "max",
            "latency: median",
            "p99.9",
            "p99.99",
            "max",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for way in ["none", "spdlog", "quill", "wakepath"] {
        if way == "quill" && quill.is_none() {
            rows.push(vec![format!(
                "quill: not run: no package of Debian 12 has it; {QUILL}=…/include names one of your own"
            )]);
            continue;
        }
        if way == "spdlog" && !with_spdlog {
            rows.push(vec![
                "spdlog: not run: no <spdlog/async.h> (libspdlog-dev)".into(),
            ]);
            continue;
        }
        for what in What::ALL.into_iter().filter(|what| what.is_of(way)) {
            let one = One {
                wakepath: &wakepath,
                looping: &looping,
                scratch: &scratch,
                way,
                what,
                seconds,
            };
            rows.push(match one.measured() {
                Ok(found) => [vec![way.to_owned(), what.text().to_owned()], found].concat(),
                Err(why) => vec![format!("{way}, {}: not run: {why}", what.text())],
            });
        }
    }
    print!(
        "{}",
        table::aligned(&rows, &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    );
    println!(
        "cactus-rt: neither its documentation nor its source has a figure of what a span or a line costs"
    );
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(ExitCode::SUCCESS)
}

/// The loop's program, with spdlog if installed, and with quill if its path is given.
fn built(scratch: &Path, quill: Option<&OsStr>) -> Result<(PathBuf, bool), String> {
    let carried_out = |command: &mut Command| {
        if tools::succeeds(command) {
            Ok(())
        } else {
            Err(format!("{command:?} fails"))
        }
    };
    carried_out(&mut tools::cargo(&[
        "build",
        "--release",
        "-p",
        "wakepath-c",
        "--lib",
    ]))?;
    let program = scratch.join("loop");
    let build = |spdlog: bool| {
        let mut command = Command::new("g++");
        command
            .args(["-std=c++17", "-O2", "-I"])
            .arg(place::root().join("crates/c-library/include"))
            .arg(place::root().join("xtask/src/bench/recording/loop.cpp"));
        if let Some(quill) = quill {
            command.args(["-DWITH_QUILL", "-I"]).arg(quill);
        }
        if spdlog {
            command.args([
                "-DWITH_SPDLOG",
                "-DSPDLOG_COMPILED_LIB",
                "-DSPDLOG_FMT_EXTERNAL",
            ]);
        }
        command.arg(place::target().join("release/libwakepath.a"));
        if spdlog {
            command.args(["-lspdlog", "-lfmt"]);
        }
        command
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&program);
        command
    };
    if tools::succeeds(&mut build(true)) {
        return Ok((program, true));
    }
    carried_out(&mut build(false))?;
    Ok((program, false))
}

/// One run.
struct One<'a> {
    wakepath: &'a Path,
    looping: &'a Path,
    scratch: &'a Path,
    way: &'a str,
    what: What,
    seconds: u64,
}

impl One<'_> {
    fn measured(&self) -> Result<Vec<String>, String> {
        let disk = Disk::made(self.scratch)?;
        let results = self.scratch.join("results");
        let _ = std::fs::remove_file(&results);
        let field = disk.path().join("field");
        let mut words: Vec<PathBuf> = vec![self.looping.into(), self.way.into()];
        words.push((self.seconds * 1000).to_string().into());
        words.extend([results.clone(), disk.path().join("log")]);
        let mut command = match self.way {
            "wakepath" => {
                let mut command = Command::new(self.wakepath);
                command.args(["record", "--keep", "16MiB", "--service"]);
                command.arg(&field).arg("--");
                command
            }
            _ => Command::new("env"),
        };
        command
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let outcome = self.meanwhile(&disk, &field, &mut child);
        let patience = Instant::now() + Duration::from_secs(self.seconds + 30);
        while child
            .try_wait()
            .map_err(|error| error.to_string())?
            .is_none()
        {
            if Instant::now() > patience {
                let _ = child.kill();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        // The recorder leaves some tenths of a second after the program.
        let gone = Instant::now() + Duration::from_secs(20);
        while self.recorder(&field).is_some() && Instant::now() < gone {
            std::thread::sleep(Duration::from_millis(50));
        }
        outcome?;
        let text = std::fs::read_to_string(&results)
            .map_err(|error| format!("the loop left no results: {error}"))?;
        let mut lines = text.lines();
        let figures = lines.next().unwrap_or_default();
        match lines.next().filter(|fell_short| !fell_short.is_empty()) {
            Some(fell_short) => Err(fell_short.to_owned()),
            None => Ok(figures.split(' ').map(str::to_owned).collect()),
        }
    }

    /// Causes the disturbance, after a third of the time.
    fn meanwhile(&self, disk: &Disk, field: &Path, child: &mut Child) -> Result<(), String> {
        std::thread::sleep(Duration::from_millis(self.seconds * 1000 / 3));
        if let Ok(Some(status)) = child.try_wait() {
            return Err(format!("it ended early: {status}"));
        }
        let recorder = || self.recorder(field).ok_or("there is no recorder");
        let signal = |process: u32, signal: Signal| {
            let process = Pid::from_raw(process.cast_signed()).ok_or("no process")?;
            kill_process(process, signal).map_err(|error| error.to_string())
        };
        match self.what {
            What::Nothing => Ok(()),
            What::Full => disk.fill(),
            What::Stalled => disk.stall(STALL),
            What::Stopped => {
                let recorder = recorder()?;
                signal(recorder, Signal::STOP)?;
                std::thread::sleep(STALL);
                signal(recorder, Signal::CONT)
            }
            What::Killed => signal(recorder()?, Signal::KILL),
        }
    }

    /// The recorder of this service.
    fn recorder(&self, field: &Path) -> Option<u32> {
        let field = field.display().to_string();
        std::fs::read_dir("/proc")
            .ok()?
            .flatten()
            .find_map(|entry| {
                let number = entry.file_name().to_str()?.parse().ok()?;
                let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
                (line.contains("\0service-recorder\0") && line.contains(&field)).then_some(number)
            })
    }
}
