//! Processes next to a program in the field: a keeper, which restarts a recorder that died, and the
//! recorder. Both end when the program has ended and not on a signal: the samples in the rings must
//! not be lost.

use super::terms::FieldTerms;
use super::{READY, ServiceOrder, process_arguments};
use crate::metrics::Listening;
use crate::view::{Lines, Shared, Standing, Time};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};
use rustix::time::Timespec;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use wakepath_console::terminal::OneLine;
use wakepath_directory::Directory;
use wakepath_measure::{LiveFigures, own_executable};
use wakepath_rt::{Preparation, attributes};
use wakepath_service::{Live, Settings};
use wakepath_timeline::Policy;

type Failure = Box<dyn std::error::Error>;

/// Between the death of a recorder and the next one, times the number of deaths.
const PAUSE: Duration = Duration::from_millis(200);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Starts the keeper and is gone, so that it is nobody's child.
pub fn leave(shared: i32, order: &ServiceOrder, directory: &Path) -> Result<(), Failure> {
    let mut itself = Command::new(own_executable());
    itself
        .args(["internal", "service-keeper"])
        .args(process_arguments(shared, order, directory)?)
        .process_group(0)
        .spawn()?;
    Ok(())
}

/// Keeps a recorder next to the program, whose descriptor is its standard input: an existing one,
/// which started this keeper because the one before had died, or one that it starts.
pub fn keeper(
    of: Option<u32>,
    shared: i32,
    order: &ServiceOrder,
    directory: &Path,
) -> Result<(), Failure> {
    stay()?;
    let process = std::io::stdin().as_fd().try_clone_to_owned()?;
    let mut order = order.clone();
    if let Some(recorder) = of {
        // One that is gone already leaves the same to do.
        if let Some(recorder) = Pid::from_raw(recorder.cast_signed())
            && let Ok(recorder) = pidfd_open(recorder, PidfdFlags::empty())
        {
            wait_for(&recorder)?;
        }
        if has_ended(&process) {
            return Ok(());
        }
        wakepath_console::terminal::tell!(
            "wakepath: recorder and keeper died; both are started again"
        );
        order.settings.resumes = true;
    }
    for deaths in 1_u32.. {
        let mut recorder = Command::new(own_executable());
        recorder
            .args(["internal", "service-recorder", "--keeper"])
            .arg(std::process::id().to_string())
            .args(process_arguments(shared, &order, directory)?)
            .stdin(Stdio::from(process.try_clone()?));
        if order.settings.resumes {
            recorder.stdout(Stdio::null());
        }
        let mut recorder = recorder.spawn()?;
        if !order.settings.resumes {
            // Those that wait for the recorder's answer see its end.
            close_output()?;
        }
        let status = recorder.wait()?;
        // A regular exit means that it has done its work, or reported why it can't.
        if status.code().is_some() {
            return if status.success() {
                Ok(())
            } else {
                Err("the recorder ended; nothing is recorded any more".into())
            };
        }
        wakepath_console::terminal::tell!(
            "wakepath: the recorder died ({status}) and is started again"
        );
        order.settings.resumes = true;
        std::thread::sleep((PAUSE * deaths).min(LONGEST_PAUSE));
    }
    Ok(())
}

/// Starts another keeper when the one that started this recorder has died: otherwise nobody would start the recorder again.
/// A thread that waits, and does nothing before.
fn keep_the_keeper(
    keeper: i32,
    shared: i32,
    order: &ServiceOrder,
    directory: &Path,
) -> Result<(), Failure> {
    let keeper = Pid::from_raw(keeper).ok_or("0 is not a process")?;
    let descriptor = pidfd_open(keeper, PidfdFlags::empty());
    // As long as it is the parent, its number is nobody else's.
    let is_it = getppid() == Some(keeper);
    let process = std::io::stdin().as_fd().try_clone_to_owned()?;
    let words = process_arguments(shared, order, directory)?;
    let watch = move || -> std::io::Result<()> {
        if let (Ok(descriptor), true) = (descriptor, is_it) {
            wait_for(&descriptor)?;
        }
        for deaths in 1_u32.. {
            std::thread::sleep((PAUSE * deaths).min(LONGEST_PAUSE));
            if has_ended(&process) {
                break;
            }
            let mut another = Command::new(own_executable());
            another
                .args(["internal", "service-keeper", "--of"])
                .arg(std::process::id().to_string())
                .args(&words)
                .stdin(Stdio::from(process.try_clone()?))
                .stdout(Stdio::null())
                .process_group(0);
            another.spawn()?.wait()?;
        }
        Ok(())
    };
    std::thread::Builder::new()
        .name("keeper".into())
        .spawn(watch)?;
    Ok(())
}

/// Waits until a process has ended, by its descriptor.
fn wait_for(process: &impl AsFd) -> std::io::Result<()> {
    let wait = || poll(&mut [PollFd::new(process, PollFlags::IN)], None);
    rustix::io::retry_on_intr(wait)?;
    Ok(())
}

fn has_ended(process: &impl AsFd) -> bool {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut asked = [PollFd::new(process, PollFlags::IN)];
    matches!(poll(&mut asked, Some(&now)), Ok(ready) if ready > 0)
}

/// Lets go of the pipe to who started this process.
fn close_output() -> std::io::Result<()> {
    let null = File::options().write(true).open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdout(null)?)
}

/// Polite requests to end are for the program, and so is a real-time priority that the service was started with. A
/// program that ignores its children's end has told its own children to, which could then wait for none.
pub(super) fn stay() -> Result<(), Failure> {
    if attributes::get(0)?.is_real_time() {
        Preparation {
            policy: Policy::Other { nice: 0 },
            lock_memory: false,
            timer_slack_ns: None,
            ..Preparation::default()
        }
        .apply()?;
    }
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGCHLD] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// Records until the program has ended, whose descriptor is its standard input.
pub fn recorder(
    keeper: i32,
    shared: i32,
    order: &ServiceOrder,
    directory: &Path,
) -> Result<(), Failure> {
    stay()?;
    // Nothing that this process waits for may wait for it.
    let outcome = recorded(keeper, shared, order, directory);
    if let Err(error) = &outcome
        && !order.settings.resumes
    {
        let _ = writeln!(std::io::stdout(), "{error}");
    }
    outcome
}

fn recorded(
    keeper: i32,
    shared: i32,
    order: &ServiceOrder,
    directory: &Path,
) -> Result<(), Failure> {
    let memory = wakepath_measured_loop::shared_memory(shared)?;
    let trust = wakepath_console::run_directory::trust(order.trusts_directory);
    let directory = Directory::to_write(directory, trust)?;
    let mut standing = Standing::new(Lines::Threads, Time::Open);
    standing.what.clone_from(&order.program);
    standing.recording = directory.path().in_one_line();
    let standing = Shared::new(standing);
    let served = order.metrics.as_deref().map(Listening::at).transpose();
    let served = match served {
        // Figures on a socket are no reason to record nothing.
        Err(error) if order.settings.resumes => {
            wakepath_console::terminal::tell!("wakepath: {error}");
            None
        }
        other => other?,
    };
    let cpus = wakepath_rt::affinity::current()?;
    let _server = served
        .map(|listening| listening.serve(standing.clone(), &cpus))
        .transpose()?;
    let terms = FieldTerms::new(order)?;
    let resumed = ServiceOrder {
        settings: Settings {
            resumes: true,
            ..order.settings.clone()
        },
        ..order.clone()
    };
    // Without it a recorder that dies later is not started again; that is no reason to record nothing.
    if let Err(error) = keep_the_keeper(keeper, shared, &resumed, directory.path()) {
        wakepath_console::terminal::tell!(
            "wakepath: the recorder's keeper is not watched: {error}"
        );
    }
    let process = std::io::stdin();
    wakepath_service::record(
        &memory,
        &directory,
        (order.process, process.as_fd()),
        &order.settings,
        (&terms, &mut SocketFigures(standing)),
        || {
            let _ = writeln!(std::io::stdout(), "{READY}");
        },
    )?;
    Ok(())
}

/// Figures for who asks at the socket.
struct SocketFigures(Shared);

impl Live for SocketFigures {
    fn is_at(&mut self, name: &str, figures: &LiveFigures) {
        let mut standing = self.0.lock();
        let row = standing.row(name, "");
        standing.rows[row].is_at(figures);
        standing.places.retain(|(of, _)| of != name);
        let places = figures.places.iter().map(|of| (name.to_owned(), *of));
        standing.places.extend(places);
    }
}
