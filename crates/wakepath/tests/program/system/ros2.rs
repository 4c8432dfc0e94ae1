//! `wakepath watch --ros2` on a program in C that makes the calls of two nodes, into a library that exports the functions
//! of libtracetools; and, where `WAKEPATH_ROS2` names an installation of ROS 2, on a node of its own.

use crate::started::{Finished, Place, Start, needs_tracing, not_run};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

wakepath_test_program::tests![
    callbacks_chains_and_what_held_their_executor_are_those_that_the_program_noted,
    a_watch_ends_at_the_first_callback_later_than_the_limit,
    nodes_are_watched_that_outlive_their_launcher,
    a_real_node_has_a_row_for_each_of_its_callbacks,
    a_thousand_callbacks_are_counted_and_the_answer_fits_a_screen,
    a_library_that_can_not_be_recorded_is_refused_in_one_line,
    a_program_that_makes_no_call_of_the_library_is_told_in_one_line,
];

pub(super) const WHAT: &str = "watching ROS 2";

pub(super) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/program/system")
        .join(name)
}

pub(super) fn compiled(compiler: &str, arguments: &[&str]) {
    match Command::new(compiler).args(arguments).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => not_run(WHAT, &format!("{compiler}: {error}")),
    }
}

/// Compiles the library, with this added.
pub(super) fn library(place: &Place, name: &str, option: &str) -> String {
    let library = place.path().join(name).display().to_string();
    let from = source("ros2-library.c").display().to_string();
    let options = ["-O2", "-fno-ipa-icf", "-shared", "-fPIC", "-w", option];
    compiled("cc", &[&options[..], &["-o", &library, &from]].concat());
    library
}

/// A place with this program and the library.
fn nodes(program: &str) -> Place {
    let place = Place::new();
    let library = library(&place, "libtracetools.so", "-g0");
    let directory = place.path().display().to_string();
    let rcl = place.path().join("librcl.so").display().to_string();
    let from = source("ros2-rcl.c").display().to_string();
    compiled("cc", &["-O2", "-shared", "-fPIC", "-o", &rcl, &from]);
    let from = source(program).display().to_string();
    let program = format!("{directory}/nodes");
    let path = format!("-Wl,-rpath,{directory}");
    compiled("cc", &["-O2", "-o", &program, &from, &library, &rcl, &path]);
    place
}

pub(super) fn watched(start: Start) -> Finished {
    needs_tracing(WHAT);
    let finished = start.finish();
    finished.skip_unless_probed(WHAT);
    finished
}

/// The row of a callback.
fn row<'a>(found: &'a Value, node: &str, kind: &str) -> &'a Value {
    let rows = found["ros2"]["callbacks"].as_array().unwrap();
    let is_it = |row: &&Value| row["node"] == node && row["kind"].to_string().contains(kind);
    rows.iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("{found:#}"))
}

fn callbacks_chains_and_what_held_their_executor_are_those_that_the_program_noted() {
    let place = nodes("ros2-node.c");
    let (program, library) = (
        place.path().join("nodes"),
        place.path().display().to_string(),
    );
    let words = [
        "watch",
        "--directory",
        "run",
        "--json",
        "--chain",
        "/pose:/arm/motor",
    ];
    let finished = watched(
        Start::command_in(place, &words)
            .with(&["--limit", "20ms", "--worst", "99", "--ros2", "--"])
            .with(&[&program])
            .with(&["truth"])
            .environment("LD_LIBRARY_PATH", &library),
    );
    finished.assert_code(0);
    let truth = std::fs::read_to_string(finished.place.path().join("truth")).unwrap();
    let noted: Vec<u64> = truth
        .split_whitespace()
        .map(|of| of.parse().unwrap())
        .collect();
    let found = finished.json();
    let control = row(&found, "pilot", "10000000");
    let slow = row(&found, "pilot", "250000000");
    let motor = row(&found, "/arm/motor", "/pose");
    let counts = [control, slow, motor].map(|row| row["count"].as_u64().unwrap());
    assert_eq!(counts[..], noted[..3], "{found:#}");
    let answer = row(&found, "pilot", "/plan");
    assert_eq!(answer["kind"]["handled"]["taken"], "answer", "{answer:#}");
    assert_eq!(answer["count"], noted[1], "{answer:#}");
    // Two readings of the clock a few microseconds apart may lie on both sides of 15 ms.
    let late = control["late"].as_u64().unwrap();
    assert!(
        late.abs_diff(noted[3]) <= 1 && late >= noted[1],
        "{truth}{control:#}"
    );
    let worst = control["worst"].as_array().unwrap();
    let by_the_other = worst.iter().filter(|of| {
        let holder = &of["holders"][0];
        holder["callback"] == "timer 250 ms"
            && holder["account"]["longest"]["by"]["timer"].is_object()
    });
    assert!(by_the_other.count() > 0, "{control:#}");
    let report = finished.directory.join("report.html");
    let page = std::fs::read_to_string(report).unwrap();
    for part in ["Callbacks and chains of ROS 2</h2>", "Hops of a chain"] {
        assert!(page.contains(part), "{part}");
    }
    // One thread runs all of it, and the other timer's callback sleeps for 30 ms.
    let [executor] = &found["ros2"]["executors"].as_array().unwrap()[..] else {
        panic!("{found:#}");
    };
    let runs = found["ros2"]["callbacks"].as_array().unwrap().iter();
    let runs: u64 = runs.map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!(executor["runs"], runs, "{executor:#}");
    // The timer that runs often enough is the task, and the thread's waits are none.
    let threads = found["threads"].as_array().unwrap().iter();
    let own = threads.filter(|of| of["thread_id"] == executor["threads"][0]["thread"]);
    let own = own.map(|of| (of["name"].as_str().unwrap(), of["activations"].as_u64()));
    assert_eq!(
        own.collect::<Vec<_>>(),
        [("pilot 10 ms", Some(noted[0]))],
        "{found:#}"
    );
    let longest = &executor["longest"];
    let instant = |of: &str| longest[of].as_u64().unwrap();
    assert!(
        instant("to_ns") - instant("from_ns") >= 30_000_000,
        "{executor:#}"
    );
    let chain = &found["ros2"]["chains"][0];
    assert_eq!(chain["begun"], noted[0], "{chain:#}");
    assert_eq!(chain["ended"], noted[2], "{chain:#}");
    // The timer that sleeps for 30 ms is called between the message and its taker.
    assert!(chain["above"].as_u64() >= Some(noted[1]), "{chain:#}");
}

fn a_watch_ends_at_the_first_callback_later_than_the_limit() {
    let place = nodes("ros2-node.c");
    let (program, library) = (
        place.path().join("nodes"),
        place.path().display().to_string(),
    );
    let words = ["watch", "--directory", "run", "--no-tui"];
    let finished = watched(
        Start::command_in(place, &words)
            .with(&["--stop-above", "20ms", "--ros2", "--"])
            .with(&[&program])
            .with(&["truth", "60"])
            .environment("LD_LIBRARY_PATH", &library),
    );
    finished.assert_code(2);
    let said = &finished.output;
    // Before the timer, the message that was published before the other timer's 30 ms.
    let first = "stopped: /arm/motor: /pose: a latency of 3";
    assert!(said.contains(first), "{said}");
    assert!(said.contains("above 20 ms, at "), "{said}");
    // The program was ended before it noted anything.
    assert!(!finished.place.path().join("truth").exists());
}

/// The launcher ends before anyone can have looked at what it started, one of it in a session of its own.
fn nodes_are_watched_that_outlive_their_launcher() {
    let place = nodes("ros2-node.c");
    let (program, library) = (
        place.path().join("nodes").display().to_string(),
        place.path().display().to_string(),
    );
    // So long that looks find both on a machine that stalls for seconds.
    let launcher = format!("{program} one 3 & (setsid {program} other 4 &)");
    let words = ["watch", "--directory", "run", "--json", "--ros2", "--"];
    let finished = watched(
        Start::command_in(place, &words)
            .with(&["sh", "-c", &launcher])
            .environment("LD_LIBRARY_PATH", &library),
    );
    finished.assert_code(0);
    let found = finished.json();
    let rows = found["ros2"]["callbacks"].as_array().unwrap();
    let control = rows
        .iter()
        .filter(|row| row["node"] == "pilot" && row["kind"].to_string().contains("10000000"));
    let mut counts: Vec<u64> = control.map(|row| row["count"].as_u64().unwrap()).collect();
    let runs = |name: &str| -> u64 {
        let path = finished.place.path().join(name);
        let truth = std::fs::read_to_string(path).unwrap();
        truth.split_whitespace().next().unwrap().parse().unwrap()
    };
    let mut noted = [runs("one"), runs("other")];
    counts.sort_unstable();
    noted.sort_unstable();
    assert_eq!(counts, noted, "{found:#}");
}

fn a_real_node_has_a_row_for_each_of_its_callbacks() {
    let Some(prefix) = std::env::var_os("WAKEPATH_ROS2") else {
        not_run(WHAT, "WAKEPATH_ROS2 names no installation of it");
    };
    let place = Place::new();
    let prefix = PathBuf::from(prefix).display().to_string();
    let program = place.path().join("node").display().to_string();
    let from = source("ros2-node.cpp").display().to_string();
    let line = format!(
        ". {prefix}/setup.sh && g++ -std=c++17 -O1 $(for at in {prefix}/include/*; do \
         test -d $at/$(basename $at) && echo -I$at; done) \
         -o {program} {from} -L{prefix}/lib -lrclcpp -lrcl -lrcutils -lrcpputils -lrmw -ltracetools \
         -lrcl_interfaces__rosidl_typesupport_cpp \
         -lstatistics_msgs__rosidl_typesupport_cpp -lrosidl_runtime_c -llibstatistics_collector \
         -Wl,-rpath,{prefix}/lib -Wl,--allow-shlib-undefined"
    );
    compiled("sh", &["-c", &line]);
    let line = format!(
        ". {prefix}/setup.sh && exec {} watch --directory run --json -- {program}",
        crate::started::binary().display()
    );
    let finished = watched(Start::shell_in(place, &line));
    let found = finished.json();
    let noted = finished.complaints.lines();
    let mut noted = noted.filter_map(|line| line.strip_prefix("runs "));
    let noted: u64 = noted.next().unwrap().parse().unwrap();
    let control = row(&found, "pilot", "10000000");
    assert_eq!(control["count"], noted, "{found:#}");
    let holder = &control["worst"][0]["holders"][0];
    assert_eq!(holder["callback"], "timer 250 ms", "{found:#}");
}

fn a_thousand_callbacks_are_counted_and_the_answer_fits_a_screen() {
    let watched = |words: &[&str]| {
        let place = nodes("ros2-many.c");
        let (program, library) = (place.path().join("nodes"), place.path().to_owned());
        let start = Start::command_in(place, &["watch", "--directory", "run", "--no-tui"]);
        watched(
            start
                .with(words)
                .with(&["--ros2", "--"])
                .with(&[&program])
                .environment("LD_LIBRARY_PATH", &library.display().to_string()),
        )
    };
    let finished = watched(&["--json"]);
    let found = finished.json();
    let rows = found["ros2"]["callbacks"].as_array().unwrap();
    assert_eq!(rows.len(), 1000);
    assert!(rows.iter().all(|row| row["count"] == 3), "{found:#}");
    let finished = watched(&["--all"]);
    let said = &finished.output;
    assert!(said.contains("and 990 more callbacks"), "{said}");
    let rows = said.lines().filter(|line| line.starts_with("many: timer "));
    // Ten, once in each half of a narrow table, and at most three with their late runs.
    assert!(rows.count() <= 23, "{said}");
}

fn a_library_that_can_not_be_recorded_is_refused_in_one_line() {
    needs_tracing(WHAT);
    let place = Place::new();
    let whole = library(&place, "whole", "-g0");
    let whole = std::fs::read(whole).unwrap();
    let damaged = |name: &str, damage: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        std::fs::write(place.path().join(name), bytes).unwrap();
        place.path().join(name)
    };
    let one_code = "-Wl,--defsym=ros_trace_callback_end=ros_trace_callback_start";
    let folded = PathBuf::from(library(&place, "folded", one_code));
    let libraries = [
        (folded, "are one piece of code"),
        (
            PathBuf::from("/bin/true"),
            "has no function ros_trace_callback_start",
        ),
        (place.path().join("nowhere"), "No such file"),
        (
            damaged("text", &|bytes| *bytes = b"library".to_vec()),
            "not an ELF program",
        ),
        (
            damaged("cut", &|bytes| bytes.truncate(bytes.len() / 2)),
            "its ELF file is damaged",
        ),
        // Machine 22 is none that wakepath is built for.
        (
            damaged("other", &|bytes| bytes[18..20].copy_from_slice(&[22, 0])),
            "it is built for",
        ),
        (damaged("narrow", &|bytes| bytes[4] = 1), "it is built for"),
        (
            damaged("no-sections", &|bytes| {
                bytes[40..48].fill(0);
                bytes[58..64].fill(0);
            }),
            "no table of exported functions",
        ),
    ];
    for (library, why) in libraries {
        let option = format!("--ros2={}", library.display());
        let words = ["watch", "--directory", "run", &option, "--", "/bin/true"];
        let finished = watched(Start::command_in(Place::new(), &words));
        finished.assert_code(1);
        let said = finished.complaints.trim();
        assert!(said.contains(why), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!finished.directory.exists());
    }
}

fn a_program_that_makes_no_call_of_the_library_is_told_in_one_line() {
    let place = Place::new();
    let option = format!("--ros2={}", library(&place, "libtracetools.so", "-g0"));
    let words = [
        "watch",
        "--directory",
        "run",
        "--no-tui",
        &option,
        "--",
        "/bin/true",
    ];
    let finished = watched(Start::command_in(place, &words));
    let said = finished.complaints.lines();
    let said = said.filter(|line| line.contains("no node made a call of libtracetools.so"));
    assert_eq!(said.count(), 1, "{}", finished.complaints);
}
