//! A node of ROS 2 that ran before it was watched: what its memory and its symbols show of it.

use super::ros2::{WHAT, compiled, library, source, watched};
use crate::started::{Place, Start};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

wakepath_test_program::tests![
    functions_and_topics_of_a_node_that_ran_before_are_found_in_its_memory,
];

/// Ends, whatever happens, with its input.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn running(place: &Place) -> Running {
    let library = library(place, "libtracetools.so", "-g0");
    let directory = place.path().display().to_string();
    let program = format!("{directory}/node");
    let from = source("ros2-later.cpp").display().to_string();
    let path = format!("-Wl,-rpath,{directory}");
    let options = ["-std=c++17", "-O2", "-o", &program, &from, &library, &path];
    compiled("g++", &options);
    let mut node = Command::new(&program);
    node.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut node = Running(node.spawn().expect(WHAT));
    let mut said = BufReader::new(node.0.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    node
}

fn functions_and_topics_of_a_node_that_ran_before_are_found_in_its_memory() {
    let place = Place::new();
    let node = running(&place);
    let pid = node.0.id().to_string();
    let words = ["watch", "--directory", "run", "--json", "-p", &pid];
    let finished =
        watched(Start::command_in(place, &words).with(&["--for", "4s", "--chain", "/pose:/pose"]));
    finished.assert_code(0);
    let found = finished.json();
    let rows = found["ros2"]["callbacks"].as_array();
    let rows = rows.unwrap_or_else(|| panic!("{found:#}\n{}", finished.complaints));
    let [subscriber, timer] = &rows[..] else {
        panic!("{found:#}");
    };
    assert_eq!(timer["symbol"], "Controller::timer, lambda 1", "{found:#}");
    let period_ns = timer["period_ns"].as_u64().unwrap();
    assert!(period_ns.abs_diff(10_000_000) < 2_000_000, "{found:#}");
    assert_eq!(subscriber["symbol"], "main, lambda 1", "{found:#}");
    let topic = &subscriber["kind"]["subscription"]["topic"];
    assert_eq!(topic, "/pose", "{found:#}");
    // One may be under way at either end.
    let chain = &found["ros2"]["chains"][0];
    let count = |of: &Value| of.as_u64().unwrap();
    let (begun, ended) = (count(&chain["begun"]), count(&chain["ended"]));
    assert!(ended > 50 && begun - ended <= 1, "{chain:#}");
}
