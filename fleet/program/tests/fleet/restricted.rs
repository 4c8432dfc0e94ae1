//! A board's account with a forced command: only the script's commands work.

use crate::world::{Like, World, stand_in};
use std::fs;

wakepath_test_program::tests![a_restricted_account_runs_what_lies_there_and_nothing_else];

fn a_restricted_account_runs_what_lies_there_and_nothing_else() {
    let world = World::new(&[Like::default()]);
    let program = stand_in().to_str().unwrap();
    world.told(&["push", "--on", "all", "--program", program]);
    let directory = world.home(1).join(".wakepath-fleet");
    let (code, line, err) = world.told(&["boards"]);
    assert_eq!(code, 0, "{line}{err}");
    let output = world.command(env!("CARGO_BIN_EXE_wakepath-fleet"));
    let mut output = output;
    output
        .args(["authorize", "controller.pub", "--directory"])
        .arg(&directory);
    let (code, line, err) = crate::world::ended(output.output().unwrap());
    assert_eq!(code, 0, "{err}");
    fs::write(world.path("keys1"), line).unwrap();

    let ssh =
        |words: &str| world.shell(&format!("ssh -F ssh_config board1 '{words}' 2>&1 || true"));
    for words in [
        "id",
        "sh -c id",
        "sh .wakepath-fleet/board take-program x",
        "sh .wakepath-fleet/board carry-out a b c d e",
        "sh .wakepath-fleet/board hello; id",
        "",
    ] {
        let said = ssh(words);
        assert!(!said.contains("uid="), "{words}: {said}");
        if !words.contains("hello") {
            assert!(said.contains("refused: this account"), "{words}: {said}");
        }
    }
    for name in [
        "../../../etc/passwd",
        "run/../../../keys",
        "/etc/passwd",
        "$(id)",
        "run/*",
    ] {
        let said = ssh(&format!("sh .wakepath-fleet/board read a {name} 0"));
        assert!(said.contains("refused"), "{name}: {said}");
    }
    let (code, out, _) = world.told(&["push", "--on", "all", "--program", program]);
    assert_eq!(code, 1);
    assert!(out.contains("not pushed: this account"), "{out}");

    fs::write(
        world.path("own.toml"),
        "name = \"own\"\nrate = \"100 Hz\"\nduration = \"1 s\"\npolicies = [\"OTHER\"]\n",
    )
    .unwrap();
    let (code, out, err) = world.told(&["run", "own.toml", "--on", "all", "--job", "a"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(
        out.contains("scenarios of allowed/ and built-in ones alone"),
        "{out}{err}"
    );
    let (code, out, err) = world.told(&["run", "aura-logging", "--on", "all", "--job", "b"]);
    assert_eq!(code, 0, "{out}{err}");
    world.shell("until [ -e home1/.wakepath-fleet/spool/b/exit ]; do sleep 0.1; done");
    world.told(&["status", "--ask"]);
    let (code, out, _) = world.told(&["fetch", "--remove"]);
    assert_eq!(code, 0, "{out}");
    assert!(!directory.join("spool/b").exists());
}
