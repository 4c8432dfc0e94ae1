//! Bad input: one line with what would be right, and nothing half-done.

use std::path::Path;
use std::process::Command;

wakepath_test_program::tests![what_is_wrong_is_one_line_and_nothing_is_written];

fn what_is_wrong_is_one_line_and_nothing_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    std::fs::write(
        place.join("fleet.toml"),
        "[[boards]]\nname = \"a\"\naddress = \"a\"\n",
    )
    .unwrap();
    std::fs::write(place.join("wrong.toml"), "rate = \"400\"\n").unwrap();
    let own = env!("CARGO_BIN_EXE_wakepath-fleet");
    let cases: [(&[&str], &str); 17] = [
        (
            &["boards", "--inventory", "none.toml"],
            "none.toml: No such file",
        ),
        (
            &["boards", "--on", "tag=x"],
            "no board of the inventory matches; there are a",
        ),
        (&["boards", "--on", "x"], "a term is tag=WORD"),
        (
            &["push", "--on", "all", "--program", "fleet.toml"],
            "fleet.toml: no program for Linux",
        ),
        (&["push", "--on", "all", "--program", own], "not static"),
        (&["push", "--program", own], "--on says which boards"),
        (&["run", "aura-logging"], "--on says which boards"),
        (
            &["run", "none", "--on", "all"],
            "none: neither a file nor a built-in scenario",
        ),
        (&["run", "wrong.toml", "--on", "all"], "wrong.toml:1"),
        (
            &["run", "aura-logging", "--on", "all", "--job", "../x"],
            "--job",
        ),
        (&["status"], "no job here"),
        (
            &["schedule"],
            "fleet.toml: no schedule; each is [[schedules]]",
        ),
        (&["schedule", "--json"], "--show"),
        (
            &["tune", "--on", "all", "--", "trial"],
            "plan, apply, revert or status",
        ),
        (
            &["tune", "--on", "all", "--", "apply"],
            "nobody can be asked on a board",
        ),
        (
            &["reboot", "--on", "all", "--entry", "$(id)", "--kernel", "x"],
            "--entry",
        ),
        (
            &["authorize", "fleet.toml", "--directory", "/x"],
            "no public key of OpenSSH",
        ),
    ];
    for (arguments, expected) in cases {
        let output = Command::new(own)
            .args(arguments)
            .current_dir(place)
            .output()
            .unwrap();
        let (code, out, err) = crate::world::ended(output);
        assert_eq!((code, out.as_str()), (1, ""), "{arguments:?}");
        assert!(err.contains(expected), "{arguments:?}: {err}");
        assert_eq!(err.lines().count(), 1, "{arguments:?}: {err}");
    }
    assert!(!Path::new(&place.join("wakepath-fleet")).exists());
}
