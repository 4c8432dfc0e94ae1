//! The program started by a person: it prints its purpose, and starts no loop.
//!
//! The command's own tests cover its work for wakepath.

use std::process::{Command, Output};

fn answered(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wakepath-ethercat"));
    command.args(arguments).output().unwrap()
}

#[test]
fn by_hand_it_says_its_version_or_who_starts_it_and_does_nothing() {
    let version = answered(&["--version"]);
    let said = String::from_utf8_lossy(&version.stdout).into_owned();
    assert!(version.status.success(), "{said}");
    assert!(said.contains(env!("CARGO_PKG_VERSION")), "{said}");
    for arguments in [
        &[][..],
        &["internal", "loop", "one", "two"],
        &["internal", "loop", "1"],
        &["internal", "loop-policies"],
        &["internal", "another"],
    ] {
        let refused = answered(arguments);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
        assert!(
            said.contains("started by wakepath"),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn a_worker_or_ring_with_a_wrong_order_ends_with_one_line() {
    for verb in ["load-worker", "ethercat-ring"] {
        let refused = answered(&["internal", verb, "no order"]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{verb}: {said}");
        assert_eq!(said.lines().count(), 1, "{verb}: {said}");
    }
}
