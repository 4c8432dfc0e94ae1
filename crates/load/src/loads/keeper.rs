//! The thread that starts the supervisor and stays until it has ended. It does nothing in between.
//!
//! It exists for two reasons. The kernel sends a child's death signal when the *thread* that
//! created it ends, so that thread must live as long as the loads. And only the thread that asked
//! for a PID namespace has its children created there: the rest of the process is not affected.

use super::Containment;
use crate::kernel;
use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// For the supervisor to end by itself, before it is killed.
const ORDERLY: Duration = Duration::from_secs(3);
/// Time for the kernel to end killed processes: one that waits for a slow disk dies late.
const BURIAL: Duration = Duration::from_secs(10);

pub(super) struct Keeper {
    child: Child,
    containment: Containment,
    /// Dropping it lets the thread go.
    hold: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts `command`, in a new PID namespace if wanted and allowed.
    pub(super) fn start(command: Command, use_pid_namespace: bool) -> io::Result<Self> {
        let (report, reported) = channel();
        let (hold, held) = channel();
        let thread = std::thread::Builder::new()
            .name("load-keeper".into())
            .stack_size(128 * 1024)
            .spawn(move || keep(command, use_pid_namespace, &report, &held))?;
        let answer = reported
            .recv()
            .map_err(|_| io::Error::other("the keeper thread ended"))?;
        let (child, containment) = answer?;
        Ok(Self {
            child,
            containment,
            hold: Some(hold),
            thread: Some(thread),
        })
    }

    pub(super) fn containment(&self) -> Containment {
        self.containment
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the supervisor to end as requested, and kills it if necessary.
    pub(super) fn end(&mut self) {
        if !self.wait(ORDERLY) {
            let _ = self.child.kill();
            self.wait(BURIAL);
        }
        self.hold = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    fn wait(&mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

fn keep(
    mut command: Command,
    use_pid_namespace: bool,
    report: &Sender<io::Result<(Child, Containment)>>,
    held: &Receiver<()>,
) {
    let namespace = use_pid_namespace && kernel::new_pid_namespace_for_children().is_ok();
    let containment = if namespace {
        Containment::PidNamespace
    } else {
        Containment::SubReaper
    };
    let child = command.spawn();
    // Close our copies of the child's ends before anyone waits for their end-of-file.
    drop(command);
    if report.send(child.map(|child| (child, containment))).is_ok() {
        // Returns when the sender is dropped.
        let _ = held.recv();
    }
}
