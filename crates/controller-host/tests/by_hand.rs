//! The program started by a person: it prints its purpose, and starts no loop.
//!
//! The command's own tests cover its work for wakepath.

use std::process::Command;

#[test]
fn by_hand_it_says_its_version_or_who_starts_it_and_does_nothing() {
    let answered = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wakepath-controller-host"));
        command.args(arguments).output().unwrap()
    };
    let version = answered(&["--version"]);
    let said = String::from_utf8_lossy(&version.stdout).into_owned();
    assert!(version.status.success(), "{said}");
    assert!(said.contains(env!("CARGO_PKG_VERSION")), "{said}");
    assert!(said.contains("of the controller interface"), "{said}");
    for arguments in [&[][..], &["internal", "loop", "one", "two"]] {
        let refused = answered(arguments);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains("started by wakepath"), "{said}");
    }
}
