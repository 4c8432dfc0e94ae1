//! Archives for guests, read by another program.

use std::io::Write;
use std::process::{Command, Stdio};
use wakepath_guest::cpio::{Entry, Kind, pack};
use wakepath_test_program::not_run;

wakepath_test_program::tests![gnu_cpio_reads_what_is_written,];

fn gnu_cpio_reads_what_is_written() {
    let entry = |path: &str, kind| Entry {
        path: path.into(),
        kind,
    };
    let archive = pack(&[
        entry("dev", Kind::Directory),
        entry("dev/console", Kind::CharacterDevice { major: 5, minor: 1 }),
        entry(
            "init",
            Kind::File {
                executable: true,
                bytes: b"hello".to_vec(),
            },
        ),
    ]);
    let started = Command::new("cpio")
        .args(["--list", "--verbose", "--numeric-uid-gid", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        not_run("cpio is not installed");
    };
    let mut input = child.stdin.take().unwrap();
    input.write_all(&archive).unwrap();
    drop(input);
    let listed = child.wait_with_output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let lines: Vec<&str> = listed.lines().collect();
    let &[directory, device, file] = &lines[..] else {
        panic!("{listed}");
    };
    assert!(
        directory.starts_with("drwxr-xr-x") && directory.ends_with(" dev"),
        "{listed}"
    );
    assert!(
        device.starts_with("crw-------") && device.contains("5,   1"),
        "{listed}"
    );
    assert!(
        file.starts_with("-rwxr-xr-x") && file.contains(" 5 "),
        "{listed}"
    );
}
