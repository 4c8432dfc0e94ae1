//! Capabilities, given up before code of others runs. They are a thread's own: a thread that gives
//! them up starts programs without them, while the others keep theirs. What a thread gives up does
//! not protect it from code in its own process; that takes a process that has given them up.
//!
//! Root keeps them: whoever runs a program as root means it to be root's.

use rustix::io;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Gives up all capabilities of the calling thread for good: effective, permitted, inheritable,
/// and with them those that every program would get (ambient).
///
/// # Errors
/// The kernel's.
pub fn give_up() -> io::Result<()> {
    keep_only(CapabilitySet::empty())
}

/// Gives up all capabilities of the calling thread but `kept`, which no program inherits.
///
/// # Errors
/// The kernel's.
pub fn keep_only(kept: CapabilitySet) -> io::Result<()> {
    if rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let held = capabilities(None)?;
    // The ambient set is never larger than the inheritable one: the kernel empties it as well.
    set_capabilities(
        None,
        CapabilitySets {
            effective: held.effective & kept,
            permitted: held.permitted & kept,
            inheritable: CapabilitySet::empty(),
        },
    )
}

/// Whether the calling thread has capabilities that it would give up.
pub fn any() -> bool {
    !rustix::process::geteuid().is_root()
        && capabilities(None).is_ok_and(|held| !held.permitted.is_empty())
}

/// What `start` returns, run on a thread that has given up all capabilities: a program that it
/// starts has none. The caller keeps its own.
///
/// # Errors
/// When the thread can't be had or the capabilities can't be given up.
pub fn without<T: Send>(start: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || {
            give_up()?;
            Ok(start())
        })?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::Uid;
    use rustix::thread::{
        configure_capability_in_ambient_set, set_keep_capabilities, set_thread_res_uid,
    };
    use std::process::Command;

    /// The sets that a program started here has, in hexadecimal digits: effective, permitted,
    /// inheritable, ambient.
    fn of_a_program() -> Vec<String> {
        let shell = "/bin/grep -E '^Cap(Eff|Prm|Inh|Amb)' /proc/self/status";
        let output = Command::new("/bin/sh").args(["-c", shell]).output();
        let said = String::from_utf8(output.unwrap().stdout).unwrap();
        let mut sets: Vec<_> = said.lines().map(str::to_owned).collect();
        sets.sort();
        sets
    }

    /// A thread of an ordinary user whose programs inherit two capabilities, as under a unit with
    /// AmbientCapabilities.
    fn as_in_such_a_unit(what: impl FnOnce() + Send) {
        if !rustix::process::geteuid().is_root() {
            eprintln!("not run: giving a thread capabilities needs root");
            return;
        }
        let unit = || {
            let nobody = Uid::from_raw(65_534);
            let granted = CapabilitySet::SYS_NICE | CapabilitySet::IPC_LOCK;
            set_keep_capabilities(true).unwrap();
            set_thread_res_uid(nobody, nobody, nobody).unwrap();
            let sets = CapabilitySets {
                effective: granted,
                permitted: granted,
                inheritable: granted,
            };
            set_capabilities(None, sets).unwrap();
            configure_capability_in_ambient_set(CapabilitySet::SYS_NICE, true).unwrap();
            configure_capability_in_ambient_set(CapabilitySet::IPC_LOCK, true).unwrap();
            assert!(any());
            what();
        };
        std::thread::scope(|scope| scope.spawn(unit).join().unwrap());
    }

    #[test]
    fn a_program_inherits_capabilities_unless_they_are_given_up() {
        let lines =
            |digits: &str| ["Amb", "Eff", "Inh", "Prm"].map(|set| format!("Cap{set}:\t{digits}"));
        as_in_such_a_unit(|| {
            assert_eq!(of_a_program(), lines("0000000000804000"));
            let started = without(of_a_program).unwrap();
            assert_eq!(started, lines("0000000000000000"));
            assert!(any(), "the caller keeps its own");
            give_up().unwrap();
            assert!(!any());
            assert_eq!(of_a_program(), lines("0000000000000000"));
        });
    }

    #[test]
    fn what_is_kept_is_for_this_thread_and_no_program_of_its_own() {
        as_in_such_a_unit(|| {
            keep_only(CapabilitySet::IPC_LOCK).unwrap();
            let held = capabilities(None).unwrap();
            assert_eq!(held.permitted, CapabilitySet::IPC_LOCK);
            assert_eq!(held.effective, CapabilitySet::IPC_LOCK);
            assert!(
                of_a_program()
                    .iter()
                    .all(|set| set.ends_with("\t0000000000000000"))
            );
        });
    }
}
