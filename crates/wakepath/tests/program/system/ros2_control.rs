//! `wakepath watch --ros2` on the loop of ros2_control's manager: a program in C that calls the methods which the
//! libraries of ros2_control export.

use super::ros2::{WHAT, compiled, library, source, watched};
use crate::started::{Place, Start};

wakepath_test_program::tests![the_parts_of_a_manager_s_cycle_and_its_controllers_have_rows_by_name,];

const LISTED: &str = "share/ament_index/resource_index/controller_interface__pluginlib__plugin";

fn the_parts_of_a_manager_s_cycle_and_its_controllers_have_rows_by_name() {
    let place = Place::new();
    let prefix = place.path().to_owned();
    let at = |name: &str| prefix.join(name).display().to_string();
    for directory in ["lib", LISTED] {
        std::fs::create_dir_all(at(directory)).unwrap();
    }
    std::fs::write(at(&format!("{LISTED}/arm")), "arm.xml").unwrap();
    std::fs::write(at("arm.xml"), "<library path=\"arm\"/>").unwrap();
    let tracetools = library(&place, "lib/libtracetools.so", "-g0");
    let from = |name: &str| source(name).display().to_string();
    let shared = ["-O2", "-w", "-fno-builtin", "-shared", "-fPIC", "-o"];
    let (plug_in, manager) = (at("lib/libarm.so"), at("lib/libcontroller_manager.so"));
    compiled(
        "cc",
        &[&shared[..], &[&plug_in, &from("ros2-controller.c")]].concat(),
    );
    let parts = [&*manager, &from("ros2-manager.c"), &plug_in];
    compiled("cc", &[&shared[..], &parts].concat());
    let program = at("nodes");
    let (path, control) = (format!("-Wl,-rpath,{}", at("lib")), from("ros2-control.c"));
    compiled(
        "cc",
        &[
            "-O2",
            "-o",
            &program,
            &control,
            &manager,
            &plug_in,
            &tracetools,
            &path,
        ],
    );
    let words = ["watch", "--directory", "run", "--json", "--ros2", "--"];
    let libraries = at("lib");
    let finished = watched(
        Start::command_in(place, &words)
            .with(&[&program])
            .environment("LD_LIBRARY_PATH", &libraries)
            .environment("AMENT_PREFIX_PATH", &prefix.display().to_string()),
    );
    finished.assert_code(0);
    let found = finished.json();
    let rows = found["ros2"]["callbacks"].as_array();
    let rows = rows.unwrap_or_else(|| panic!("{WHAT}: {found:#}"));
    let named = rows.iter().map(|row| {
        let part = row["kind"]["control"]["part"].as_str().unwrap_or("none");
        let node = row["node"].as_str().unwrap_or("manager");
        (node, part, row["count"].as_u64().unwrap())
    });
    let mut named: Vec<(&str, &str, u64)> = named.collect();
    named.sort_unstable();
    assert_eq!(
        named,
        [
            ("arm", "update", 100),
            ("gripper", "update", 25),
            ("manager", "read", 100),
            ("manager", "update", 100),
            ("manager", "write", 100),
        ]
    );
}
