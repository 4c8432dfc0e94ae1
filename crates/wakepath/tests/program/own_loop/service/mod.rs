//! A program in the field under `wakepath record --service`: started again, on a full disk, refused. Every
//! recorded cycle is accounted for, and gaps are named.

pub mod clocks;
pub mod deaths;
pub mod traced;
pub mod within;

use super::*;
use rustix::process::{Pid, Resource, Rlimit, kill_process, prlimit};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

wakepath_test_program::tests![
    a_service_that_is_started_again_goes_on_and_names_the_time_between,
    a_full_disk_harms_no_loop_and_the_figures_go_on,
    a_segment_is_a_run_and_live_figures_are_served,
    a_service_that_can_t_be_recorded_is_refused_in_one_line,
];

/// A program that runs for this number of cycles of 1 ms.
fn program(place: &Place, cycles: u64, each: &str) -> PathBuf {
    let headers = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>";
    let each = format!(
        "if (FIRST_FROM(100)) wakepath_log(loop, \"at %d\", 100);\n\
         if (cycle.cycle >= {cycles}) break;\n{each}"
    );
    built_of(place, &looping(headers, &each))
}

/// The words that start it; the criterion can be met.
fn words(port: Option<u16>, program: &Path) -> Vec<String> {
    let mut words: Vec<String> = [
        "record",
        "--service",
        "field",
        "--keep",
        "16MiB",
        "--criterion",
    ]
    .map(str::to_owned)
    .to_vec();
    words.push("miss-fraction 90 %".into());
    words.extend(
        port.into_iter()
            .flat_map(|port| ["--metrics".into(), port.to_string()]),
    );
    words.push("--".into());
    words.push(program.display().to_string());
    words
}

fn start(place: &Place, words: &[String]) -> Child {
    let mut command = Command::new(crate::started::binary());
    command.args(words).current_dir(place.path());
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The service as JSON, once its program has ended and all is written.
fn shown(place: &Place) -> Value {
    let open = place.path().join("field");
    let mut found = Value::Null;
    wait_until("the recorder has ended", || {
        let output = Command::new(crate::started::binary())
            .args(["show", "--json"])
            .arg(&open)
            .output()
            .unwrap();
        found = serde_json::from_slice(&output.stdout).unwrap_or_default();
        found["service"]["ended"] == true
    });
    found["service"].clone()
}

fn count(of: &Value, what: &str) -> u64 {
    of["loops"]["loop"][what]
        .as_u64()
        .unwrap_or_else(|| panic!("{what}: {of:#}"))
}

fn due(of: &Value) -> u64 {
    count(of, "executed") + count(of, "skipped") + count(of, "lost")
}

/// The number of a process of this kind that works for the program.
fn process_of(kind: &str, place: &Place) -> Option<u32> {
    let wanted = place.path().canonicalize().unwrap().join("field");
    let wanted = wanted.display().to_string();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .find_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
            let mut words = line.split('\0');
            (words.any(|word| word == kind) && line.contains(&wanted)).then_some(number)
        })
}

fn kill(process: u32) {
    kill_process(Pid::from_raw(process.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

fn a_service_that_is_started_again_goes_on_and_names_the_time_between() {
    let place = Place::new();
    let program = program(&place, 400, "");
    for _ in 0..2 {
        let status = start(&place, &words(None, &program)).wait().unwrap();
        assert!(status.success(), "it is the program's: {status}");
    }
    let found = shown(&place);
    assert_eq!((&found["starts"], count(&found, "lost")), (&2.into(), 0));
    // Each begins again, and ends at its 400th cycle, or later if that was skipped.
    assert!(due(&found) >= 800 - 40, "{found:#}");
    assert_eq!(found["loops"]["loop"]["verdict"]["outcome"], "passed");
    assert!(
        found["gaps"]
            .to_string()
            .contains("the program did not run"),
        "{found:#}"
    );
    let worst = found["loops"]["loop"]["worst"].as_array().unwrap();
    assert_eq!(worst.len(), 100);
    assert!(
        worst
            .iter()
            .any(|of| of["lines"].to_string().contains("at 100")),
        "{worst:?}"
    );
    // The text has it in one screen.
    let output = ask("show", &place.path().join("field"));
    assert_eq!(output.code(), Some(0));
}

fn a_full_disk_harms_no_loop_and_the_figures_go_on() {
    let place = Place::new();
    let program = program(&place, 1_500, "");
    let mut child = start(&place, &words(None, &program));
    wait_until("there is a recorder", || {
        process_of("service-recorder", &place).is_some()
    });
    // None of its files grows beyond 24 KiB: half a second of samples.
    let recorder = process_of("service-recorder", &place).unwrap();
    let limit = Rlimit {
        current: Some(24 << 10),
        maximum: Some(24 << 10),
    };
    let recorder = Pid::from_raw(recorder.cast_signed());
    prlimit(recorder, Resource::Fsize, limit).unwrap();
    assert!(child.wait().unwrap().success());
    let found = shown(&place);
    assert_eq!(count(&found, "lost"), 0);
    assert!((1_500 - 60..=1_500).contains(&due(&found)), "{found:#}");
    let notes = found["notes"].to_string();
    assert!(notes.contains("its figures continue"), "{found:#}");
}

fn a_segment_is_a_run_and_live_figures_are_served() {
    let place = Place::new();
    let program = program(&place, 700, "");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut child = start(&place, &words(Some(port), &program));
    let mut text = String::new();
    wait_until("figures are served", || {
        text.clear();
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
            return false;
        };
        let asked = stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
        asked.is_ok()
            && stream.read_to_string(&mut text).is_ok()
            && text.contains("thread=\"loop\"")
    });
    child.wait().unwrap();
    let found = shown(&place);
    let segments: Vec<_> = std::fs::read_dir(place.path().join("field/segments"))
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(segments.len(), 1);
    // It ended with its program: its figures are there, and the run says that it was interrupted.
    let output = Command::new(crate::started::binary())
        .args(["show", "--json"])
        .arg(segments[0].path())
        .output()
        .unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cycles = &run["conditions"][0]["cycles"];
    assert_eq!(cycles["executed"], count(&found, "executed"), "{run:#}");
}

fn a_service_that_can_t_be_recorded_is_refused_in_one_line() {
    let place = Place::new();
    let program = program(&place, 10, "");
    let refused = |change: &dyn Fn(&mut Vec<String>), wanted: &str| {
        let mut words = words(None, &program);
        change(&mut words);
        let output = start(&place, &words).wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_ne!(output.status.code(), Some(0), "{said}");
        assert!(said.contains(wanted), "{wanted}: {said}");
        assert!(said.lines().count() <= 2, "{said}");
    };
    refused(&|words| words[4] = "1MiB".into(), "16 MiB or more");
    refused(&|words| words[4] = "much".into(), "--keep much");
    refused(&|words| words[6] = "latency never".into(), "--criterion");
    assert!(!place.path().join("field").exists(), "nothing is written");
    std::fs::create_dir(place.path().join("field")).unwrap();
    std::fs::write(place.path().join("field/mine"), "mine").unwrap();
    refused(&|_| (), "holds files that are not a service's");
    let names = std::fs::read_dir(place.path().join("field"))
        .unwrap()
        .count();
    assert_eq!(names, 1);
}
