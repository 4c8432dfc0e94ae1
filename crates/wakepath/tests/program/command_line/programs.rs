//! Programs of others, as root starts them: none comes from where somebody else may have put it.

use crate::started::{Place, Start, is_root, not_run};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

wakepath_test_program::tests![
    the_laboratory_takes_no_emulator_from_a_directory_that_others_may_write_to,
];

fn the_laboratory_takes_no_emulator_from_a_directory_that_others_may_write_to() {
    if !is_root() {
        not_run("whose programs root takes", "needs root");
    }
    let theirs = Place::new();
    let emulator = theirs.path().join("qemu-system-x86_64");
    let marker = theirs.path().join("was-started");
    let text = format!(
        "#!/bin/sh\n: > {}\necho QEMU emulator version 11.0.0\n",
        marker.display()
    );
    std::fs::write(&emulator, text).unwrap();
    for file in [theirs.path(), &emulator] {
        std::fs::set_permissions(file, Permissions::from_mode(0o777)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", theirs.path().display());
    let asked = |more: &[&str]| {
        Start::command(&["lab", "exec", "--kernel", "no:such:kernel"])
            .with(more)
            .with(&["--", "true"])
            .environment("PATH", &path)
            .finish()
    };
    let finished = asked(&[]);
    finished.assert_code(1);
    assert!(!marker.exists(), "{}", finished.said());
    // Named by its path it is the user's own word; and it shows that this emulator could be started.
    let named = asked(&["--emulator", emulator.to_str().unwrap()]);
    assert!(marker.exists(), "{}", named.said());
}
