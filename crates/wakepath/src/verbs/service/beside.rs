//! What runs beside a program in the field: a keeper, which starts a recorder that has died anew, and the recorder.
//! Both end when the program has ended and not when somebody asks them to: what is in the rings is not to be lost.

use super::terms::FieldTerms;
use super::{Order, READY, told};
use crate::metrics::Listening;
use crate::view::{Lines, Shared, Standing, Time};
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
use wakepath_directory::Directory;
use wakepath_measure::{LiveFigures, own_executable};
use wakepath_rt::{Preparation, attributes};
use wakepath_service::Live;
use wakepath_timeline::Policy;

type Failure = Box<dyn std::error::Error>;

/// Between the death of a recorder and the next one, times the number of deaths.
const PAUSE: Duration = Duration::from_millis(200);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Keeps a recorder beside the program, whose descriptor is its standard input. With `leaves` it starts itself again
/// and is gone, so that it is nobody's child.
pub fn keeper(leaves: bool, shared: i32, order: &Order, directory: &Path) -> Result<(), Failure> {
    let mut itself = Command::new(own_executable());
    let directory_words = told(shared, order, directory)?;
    if leaves {
        itself
            .args(["internal", "service-keeper"])
            .args(directory_words)
            .process_group(0)
            .spawn()?;
        return Ok(());
    }
    stay()?;
    let process = std::io::stdin().as_fd().try_clone_to_owned()?;
    let mut order = order.clone();
    for deaths in 1_u32.. {
        let mut recorder = Command::new(own_executable());
        recorder
            .args(["internal", "service-recorder"])
            .args(told(shared, &order, directory)?)
            .stdin(Stdio::from(process.try_clone()?));
        if order.settings.resumes {
            recorder.stdout(Stdio::null());
        }
        let mut recorder = recorder.spawn()?;
        if !order.settings.resumes {
            // Whoever waits for the recorder's word hears its end.
            close_output()?;
        }
        let status = recorder.wait()?;
        // One that ends by itself has done its work, or said why it can't.
        if status.code().is_some() {
            return match status.success() {
                true => Ok(()),
                false => Err("the recorder ended; nothing is recorded any more".into()),
            };
        }
        crate::terminal::tell!("wakepath: the recorder died ({status}) and is started again");
        order.settings.resumes = true;
        std::thread::sleep((PAUSE * deaths).min(LONGEST_PAUSE));
    }
    Ok(())
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
pub fn recorder(shared: i32, order: &Order, directory: &Path) -> Result<(), Failure> {
    stay()?;
    // Nothing that this process waits for may wait for it.
    let outcome = recorded(shared, order, directory);
    if let Err(error) = &outcome
        && !order.settings.resumes
    {
        let _ = writeln!(std::io::stdout(), "{error}");
    }
    outcome
}

fn recorded(shared: i32, order: &Order, directory: &Path) -> Result<(), Failure> {
    let memory = wakepath_measured_loop::shared_memory(shared)?;
    let trust = super::super::measured::trust(order.trusts_directory);
    let directory = Directory::to_write(directory, trust)?;
    let mut standing = Standing::new(Lines::Threads, Time::Open);
    standing.what.clone_from(&order.program);
    standing.recording = directory.path().display().to_string();
    let standing = Shared::new(standing);
    let served = order.metrics.as_deref().map(Listening::at).transpose();
    let served = match served {
        // Figures on a socket are no reason to record nothing.
        Err(error) if order.settings.resumes => {
            crate::terminal::tell!("wakepath: {error}");
            None
        }
        other => other?,
    };
    let cpus = wakepath_rt::affinity::current()?;
    let _server = served
        .map(|listening| listening.serve(standing.clone(), &cpus))
        .transpose()?;
    let terms = FieldTerms::of(order)?;
    let process = std::io::stdin();
    wakepath_service::record(
        &memory,
        &directory,
        (order.process, process.as_fd()),
        &order.settings,
        (&terms, &mut Told(standing)),
        || {
            let _ = writeln!(std::io::stdout(), "{READY}");
        },
    )?;
    Ok(())
}

/// Figures for who asks at the socket.
struct Told(Shared);

impl Live for Told {
    fn is_at(&mut self, name: &str, figures: &LiveFigures) {
        let mut standing = self.0.lock();
        let row = standing.row(name, "");
        standing.rows[row].is_at(figures);
        standing.places.retain(|(of, _)| of != name);
        let places = figures.places.iter().map(|of| (name.to_owned(), *of));
        standing.places.extend(places);
    }
}
