//! Other programs: the laboratory, which is found as git finds its programs; and those of others, of which root starts
//! none from a directory that someone else may write.

use crate::started::{Place, Start, binary, is_root, not_run};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

wakepath_test_program::tests![
    the_laboratory_takes_no_emulator_from_a_directory_that_others_may_write_to,
    a_program_that_is_not_installed_is_one_line_with_where_to_get_it,
    a_loop_or_load_that_needs_a_program_says_where_to_get_it,
    the_laboratory_next_to_the_program_gets_its_arguments_as_they_are,
    the_laboratory_is_found_on_the_path_where_its_user_may_trust_it,
];

/// A copy of the program alone, and what it answers with this PATH.
fn alone(place: &Place, path: &Path, arguments: &[&str]) -> Output {
    let copy = place.path().join("wakepath");
    if !copy.exists() {
        install(binary().as_ref(), &copy);
    }
    let mut command = Command::new(copy);
    command.args(arguments).env("PATH", path);
    command.current_dir(place.path()).output().unwrap()
}

/// A laboratory that prints its arguments, a line for each.
fn put_a_laboratory_into(directory: &Path) {
    let text = directory.join("text-of-wakepath-lab");
    std::fs::write(&text, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 3\n").unwrap();
    install(&text, &directory.join("wakepath-lab"));
}

/// Another process writes it: a file that this one writes stays open in programs that its other threads start in the meantime, and
/// is "text file busy" until that has begun.
fn install(from: &Path, to: &Path) {
    let mut command = Command::new("install");
    let status = command.args(["-m", "755"]).args([from, to]).status();
    assert!(status.unwrap().success());
}

fn a_program_that_is_not_installed_is_one_line_with_where_to_get_it() {
    let place = Place::new();
    for (words, missing) in [
        (&["lab", "run", "quick"][..], "wakepath-lab"),
        (&["lab", "--help"], "wakepath-lab"),
        (&["lab"], "wakepath-lab"),
        (&["help", "lab"], "wakepath-lab"),
        (&["experiment", "list"], "wakepath-experiment"),
        (&["help", "experiment"], "wakepath-experiment"),
    ] {
        let output = alone(&place, Path::new("/nowhere"), words);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{words:?}: {said}");
        let begin = format!("{missing} is not installed");
        for part in [&*begin, "archive", "cargo build"] {
            assert!(said.contains(part), "{words:?}: no {part}: {said}");
        }
        assert_eq!(output.stdout, b"", "{words:?}");
    }
}

fn a_loop_or_load_that_needs_a_program_says_where_to_get_it() {
    let place = Place::new();
    for (file, work, load) in [
        ("loop.toml", "ethercat", ""),
        ("load.toml", "nothing", "\"ethercat\""),
    ] {
        let text = format!(
            "name = \"bus\"\nrate = \"1 kHz\"\ncycles = 100\npolicies = [\"OTHER\"]\nwork = \"{work}\"\n\
             phases = [{{ name = \"bus\", loads = [{load}] }}]\ncriterion = {{ miss-fraction = \"90 %\" }}\n"
        );
        std::fs::write(place.path().join(file), text).unwrap();
        let output = alone(&place, Path::new("/nowhere"), &["run", file]);
        let mut said = String::from_utf8(output.stderr).unwrap();
        said += &String::from_utf8(output.stdout).unwrap();
        assert!(!output.status.success(), "{file}: {said}");
        let line =
            "EtherCAT needs the program wakepath-ethercat, which is not installed: unpack it from";
        assert_eq!(said.matches(line).count(), 1, "{file}: {said}");
    }
}

fn the_laboratory_next_to_the_program_gets_its_arguments_as_they_are() {
    let place = Place::new();
    put_a_laboratory_into(place.path());
    let passed = |words: &[&str]| {
        let output = alone(&place, Path::new("/nowhere"), words);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let typed = [
        "lab", "run", "a b", "--kernel", "-x", "--help", "--", "--json", "",
    ];
    assert_eq!(passed(&typed), typed[1..].join("\n") + "\n");
    assert_eq!(passed(&["lab", "--version"]), "--version\n");
    assert_eq!(
        passed(&["--color", "never", "-q", "lab", "diff"]),
        "--color\nnever\n--quiet\ndiff\n"
    );
    assert_eq!(passed(&["help", "lab", "run"]), "run\n--help\n");
}

fn the_laboratory_is_found_on_the_path_where_its_user_may_trust_it() {
    let (place, theirs) = (Place::new(), Place::new());
    put_a_laboratory_into(theirs.path());
    std::fs::set_permissions(theirs.path(), Permissions::from_mode(0o777)).unwrap();
    let output = alone(&place, theirs.path(), &["lab", "diff"]);
    let said = String::from_utf8(output.stderr).unwrap();
    if is_root() {
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("others may write to"), "{said}");
    } else {
        assert_eq!(output.stdout, b"diff\n", "{said}")
    }
}

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
