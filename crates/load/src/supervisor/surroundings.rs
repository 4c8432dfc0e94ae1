//! How the supervisor is tied to its parent and its descendants to it.

use crate::control::Control;
use crate::ended::Ended;
use crate::{kernel, process_tree};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper,
    set_parent_process_death_signal, wait,
};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// If we are init of a PID namespace, makes the kernel kill us with our parent, which kills all
/// descendants too. Otherwise we must survive it for a moment, to kill them ourselves: the closed
/// control socket shows its end. Returns whether we are init.
pub(super) fn tie_to_parent() -> Result<bool, Ended> {
    let is_init = getpid() == Pid::INIT;
    if is_init {
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(Ended::system("cannot ask for the parent's death signal"))?;
    }
    Ok(is_init)
}

/// Takes the control socket from standard input and puts the null device in its place: a child
/// that inherited it would hide the parent's end.
pub(super) fn take_control() -> Result<Control, Ended> {
    let describe = Ended::system::<std::io::Error>("cannot take over the control socket");
    let socket = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(describe)?;
    let null = std::fs::File::open("/dev/null").map_err(describe)?;
    rustix::stdio::dup2_stdin(&null).map_err(|error| describe(error.into()))?;
    Ok(Control::new(UnixStream::from(socket)))
}

/// Makes orphaned descendants ours.
pub(super) fn gather_descendants(is_init: bool) -> Result<(), Ended> {
    if is_init {
        // Programs that look themselves up in /proc by their process id need the namespace's own.
        // Without it they see the outer one; the loads' accounts can do with either.
        let _ = mount_own_proc();
        Ok(())
    } else {
        set_child_subreaper(Some(getpid()))
            .map_err(Ended::system("cannot become the reaper of the loads"))
    }
}

fn mount_own_proc() -> rustix::io::Result<()> {
    kernel::new_mount_namespace()?;
    // First of all, make mounts private: nothing mounted here must be visible outside.
    mount_change(
        "/",
        MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC,
    )?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None)
}

/// Kills all descendants of `own`, until none is left or about two seconds have passed. A process
/// whose parent dies becomes our child, so none can get away between two rounds.
pub(super) fn kill_descendants(own: i32) {
    for _ in 0..200 {
        let alive: Vec<_> = process_tree::descendants(own)
            .into_iter()
            .filter(|process| process.state != b'Z')
            .collect();
        for process in &alive {
            if let Some(pid) = Pid::from_raw(process.pid) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        if alive.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
