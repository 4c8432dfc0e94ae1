//! Which capabilities a program inherits from threads that gave theirs up, and from others.

use rustix::process::Uid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set,
    set_capabilities, set_keep_capabilities, set_thread_res_uid,
};
use std::process::Command;
use wakepath_programs::rights::{any, give_up, keep_only, without};
use wakepath_test_program::not_run;

wakepath_test_program::tests![
    a_program_inherits_capabilities_unless_they_are_given_up,
    what_is_kept_is_for_this_thread_and_no_program_of_its_own,
];

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
        not_run("giving a thread capabilities needs root");
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
