//! Root starts no file of another user.

use std::fs;
use std::os::unix::fs::chown;
use wakepath_programs::{NotFound, may_run};
use wakepath_test_program::not_run;

wakepath_test_program::tests![what_belongs_to_a_user_is_that_user_s,];

fn what_belongs_to_a_user_is_that_user_s() {
    if !rustix::process::geteuid().is_root() {
        not_run("giving a file away needs root");
    }
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("theirs");
    fs::write(&file, "").unwrap();
    chown(&file, Some(65_534), None).unwrap();
    let Err(NotFound::Distrusted { path, why, .. }) = may_run(&file) else {
        panic!("it may run");
    };
    assert_eq!(path, file);
    assert!(why.ends_with("theirs belongs to user 65534"), "{why}");
}
