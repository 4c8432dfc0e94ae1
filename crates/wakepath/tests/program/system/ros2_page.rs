//! The page of an unchanged ROS 2 node, typed from its first line to its last into one shell. `WAKEPATH_ROS2` names the
//! installation; the page's is in `/opt/ros`.

use crate::started::{Finished, Place, Start, binary, needs_tracing, not_run};
use crate::typed::{blocks, page};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

wakepath_test_program::tests![the_page_of_a_ros_2_node_works_as_typed];

const WHAT: &str = "typing the page of ROS 2";
const PAGE: &str = "docs/guide/ros2.md";
const INSTALLED: &str = "/opt/ros/jazzy";

/// The distribution's own tools: ROS 2 is built with its Python.
const TOOLS: &str = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin";

/// For root without sudo: starts the command after its options.
const SUDO: &str = "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nexec \"$@\"\n";

/// Whether something in this line is left to the reader.
fn has_blanks(line: &str) -> bool {
    line.contains('…') || line.contains("SESSION")
}

fn the_page_of_a_ros_2_node_works_as_typed() {
    let Some(prefix) = std::env::var_os("WAKEPATH_ROS2") else {
        not_run(WHAT, "WAKEPATH_ROS2 names no installation of it");
    };
    needs_tracing(WHAT);
    let is_there = |tool: &str| {
        let found = Command::new(tool).arg("--help").env("PATH", TOOLS).output();
        found.is_ok()
    };
    if !is_there("colcon") {
        not_run(WHAT, "no colcon here");
    }
    let place = Place::new();
    let programs = place.path().join("bin");
    std::fs::create_dir(&programs).unwrap();
    symlink(binary(), programs.join("wakepath")).unwrap();
    if !is_there("sudo") {
        std::fs::write(programs.join("sudo"), SUDO).unwrap();
        let may_be_started = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(programs.join("sudo"), may_be_started).unwrap();
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    symlink(examples, place.path().join("examples")).unwrap();

    let prefix = Path::new(&prefix).display().to_string();
    let lines = blocks(&page(PAGE)).into_iter();
    let lines: Vec<String> = lines.filter(|line| !has_blanks(line)).collect();
    assert!(lines.iter().any(|line| line.contains(INSTALLED)));
    let is_watch = |line: &&String| line.ends_with("/overrun");
    let watch = lines.iter().find(is_watch).expect("a watched node");
    // The page has the other way of the node in words alone.
    let fixed = format!("{watch} fixed");
    let typed: Vec<&str> = lines.iter().map(String::as_str).chain([&*fixed]).collect();
    let script = format!("set -e\n{}\n", typed.join("\n")).replace(INSTALLED, &prefix);

    let path = format!("{}:{TOOLS}", programs.display());
    let finished = Start::shell_in(place, &script)
        .environment("PATH", &path)
        .finish();
    finished.skip_unless_probed(WHAT);
    finished.assert_code(0);
    assert_holds(&finished);
}

/// The finding of the page: replanning holds the controller, until it has a thread of its own.
fn assert_holds(finished: &Finished) {
    let answers: Vec<&str> = finished.output.split("overrun watched for ").collect();
    let [_, held, fixed] = answers[..] else {
        panic!("{}", finished.said());
    };
    let late = |answer: &str| {
        let causes = answer
            .lines()
            .filter(|line| line.contains("timer 1 s ran 3"));
        causes.count()
    };
    assert!(held.contains("attitude_controller: timer 10 ms"), "{held}");
    assert!(late(held) > 0 && late(fixed) == 0, "{}", finished.said());
}
