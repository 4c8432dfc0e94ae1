//! A program in the field under `wakepath record --service`: restarted, killed, with a recorder that is killed or
//! whose disk is full. What was recorded is accounted for to the cycle, and what was not is named.

use super::*;
use crate::started::wait_until;
use crate::started::{is_root, not_run};
use crate::whole_machine::tracers::instances;
use rustix::process::{Pid, Resource, Rlimit, kill_process, prlimit};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Instant;

wakepath_test_program::tests![
    a_service_that_is_started_again_goes_on_and_names_the_time_between,
    a_killed_recorder_is_started_again_and_what_it_lost_is_counted,
    a_full_disk_harms_no_loop_and_the_figures_go_on,
    a_segment_is_a_run_and_live_figures_are_served,
    a_service_that_can_t_be_recorded_is_refused_in_one_line,
    worst_cycles_keep_the_kernel_s_events_around_them,
    a_program_that_becomes_another_one_in_its_section_is_named,
    due_times_that_can_t_be_true_are_counted,
    a_killed_recorder_keeps_the_count_of_due_times_that_can_t_be_true,
    a_service_that_may_not_trace_says_so_once_and_is_recorded,
];

/// A program that runs for so many cycles of 1 ms, and says how many that were.
fn program(place: &Place, cycles: u64, each: &str) -> PathBuf {
    let headers = "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>";
    let each = format!(
        "if (cycle.cycle == 100) wakepath_log(loop, \"at %d\", 100);\n\
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
pub(super) fn shown(place: &Place) -> Value {
    let open = place.path().join("field");
    let mut found = Value::Null;
    wait_until("the recorder has ended", Duration::from_secs(20), || {
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

pub(super) fn count(of: &Value, what: &str) -> u64 {
    of["loops"]["loop"][what]
        .as_u64()
        .unwrap_or_else(|| panic!("{what}: {of:#}"))
}

fn due(of: &Value) -> u64 {
    count(of, "executed") + count(of, "skipped") + count(of, "lost")
}

/// The number of a process of this kind that works for the program.
pub(super) fn process_of(kind: &str, place: &Place) -> Option<u32> {
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

pub(super) fn kill(process: u32) {
    kill_process(Pid::from_raw(process.cast_signed()).unwrap(), Signal::KILL).unwrap();
}

fn a_program_that_becomes_another_one_in_its_section_is_named() {
    let place = Place::new();
    let each = "if (!part) part = 1 + wakepath_loop_section(loop, \"update\", 0); \
                wakepath_section_begin(loop, part - 1); \
                if (cycle.cycle >= 300) execl(\"/bin/true\", \"true\", (char *)0); \
                wakepath_section_end(loop, part - 1);";
    let headers = "#include <unistd.h>\nstatic uint32_t part;";
    // Long enough for the recorder to look before the next program is over.
    let each = each.replace(
        "\"/bin/true\", \"true\"",
        "\"/bin/sleep\", \"sleep\", \"2\"",
    );
    let program = built_of(&place, &looping(headers, &each));
    start(&place, &words(None, &program)).wait().unwrap();
    let found = shown(&place).to_string();
    for said in [
        "has become another one (exec)",
        "within its section `update`",
    ] {
        assert!(found.contains(said), "{said}: {found}");
    }
}

/// A program that another clock drives, which goes back twice and runs ahead once, and then goes on for so long.
fn driven_by_a_bad_clock(place: &Place, cycles: u32) -> PathBuf {
    let source = "#define _GNU_SOURCE\n#include <wakepath.h>\n#include <time.h>\n\
         int main(void) {\n\
             wakepath_loop *loop = wakepath_loop_create_driven(\"loop\", 2000000, 0, 0);\n\
             struct timespec at, nap = {0, 2000000};\n\
             for (int number = 0; number < CYCLES; number++) {\n\
                 nanosleep(&nap, 0);\n\
                 clock_gettime(CLOCK_MONOTONIC, &at);\n\
                 uint64_t due_ns = at.tv_sec * UINT64_C(1000000000) + at.tv_nsec;\n\
                 if (number == 100 || number == 101) due_ns -= UINT64_C(1000000000);\n\
                 if (number == 200) due_ns += UINT64_C(3600000000000);\n\
                 if (!wakepath_loop_begin(loop, due_ns, 0)) break;\n\
                 wakepath_loop_finish(loop);\n\
             }\n\
             wakepath_loop_destroy(loop);\n\
         }\n";
    built_of(place, &source.replace("CYCLES", &cycles.to_string()))
}

const BAD_CLOCK: [&str; 2] = ["went back 2 times", "ran ahead 1 time"];

/// The recorder alone is killed, and then it with its program and its keeper, as by a power cut: each time what was
/// counted before is said.
fn a_killed_recorder_keeps_the_count_of_due_times_that_can_t_be_true() {
    let place = Place::new();
    let program = driven_by_a_bad_clock(&place, 100_000);
    let counted = || {
        let open = place.path().join("field/open.json");
        let open = std::fs::read_to_string(open).unwrap_or_default();
        open.contains("\"went_back\":2") && open.contains("\"ran_ahead\":1")
    };
    let mut child = start(&place, &words(None, &program));
    wait_until("they are counted", Duration::from_secs(20), counted);
    let recorder = process_of("service-recorder", &place).unwrap();
    kill(recorder);
    wait_until("there is another", Duration::from_secs(10), || {
        counted() && process_of("service-recorder", &place).is_some_and(|of| of != recorder)
    });
    kill(process_of("service-keeper", &place).unwrap());
    kill(process_of("service-recorder", &place).unwrap());
    kill(child.id());
    child.wait().unwrap();
    let said = || {
        std::fs::read_dir(place.path().join("field"))
            .unwrap()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("history-"))
            .map(|entry| std::fs::read_to_string(entry.path()).unwrap())
            .collect::<String>()
    };
    assert!(!said().contains(BAD_CLOCK[0]), "nobody could say it yet");
    let next = self::program(&place, 100, "");
    start(&place, &words(None, &next)).wait().unwrap();
    let found = shown(&place);
    for wanted in BAD_CLOCK {
        assert!(said().contains(wanted), "{wanted}: {}\n{found:#}", said());
    }
}

fn due_times_that_can_t_be_true_are_counted() {
    let place = Place::new();
    let program = driven_by_a_bad_clock(&place, 300);
    start(&place, &words(None, &program)).wait().unwrap();
    let found = shown(&place);
    // An hour's stamp would be 1.8 million cycles.
    assert!(due(&found) < 3000, "{found:#}");
    for said in BAD_CLOCK {
        assert!(found.to_string().contains(said), "{said}: {found:#}");
    }
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
    // Each begins anew, and ends at its 400th cycle or, where that was skipped, later.
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

fn a_killed_recorder_is_started_again_and_what_it_lost_is_counted() {
    let place = Place::new();
    let program = program(&place, 60_000, "");
    let mut child = start(&place, &words(None, &program));
    let began = Instant::now();
    wait_until("there is a recorder", Duration::from_secs(10), || {
        began.elapsed() > Duration::from_millis(900)
            && process_of("service-recorder", &place).is_some()
    });
    let recorder = process_of("service-recorder", &place).unwrap();
    kill(recorder);
    wait_until("there is another", Duration::from_secs(10), || {
        process_of("service-recorder", &place).is_some_and(|of| of != recorder)
    });
    std::thread::sleep(Duration::from_millis(700));
    // The loop went on. Now it dies, too.
    assert!(child.try_wait().unwrap().is_none());
    kill(child.id());
    let lived_ms = began.elapsed().as_millis() as u64;
    child.wait().unwrap();
    let found = shown(&place);
    assert_eq!(found["recorder_died"], 1);
    let lost = count(&found, "lost");
    assert!(lost < 3_000, "{lost} lost");
    assert!(
        due(&found) > 1_000 && due(&found) <= lived_ms,
        "{lived_ms}: {found:#}"
    );
    assert_eq!(found["loops"]["loop"]["verdict"]["outcome"], "undecided");
    let gaps = found["gaps"].to_string();
    for named in [
        "the recorder had died",
        "its program ended while the loop ran",
    ] {
        assert!(gaps.contains(named), "{gaps}");
    }
}

fn a_full_disk_harms_no_loop_and_the_figures_go_on() {
    let place = Place::new();
    let program = program(&place, 1_500, "");
    let mut child = start(&place, &words(None, &program));
    wait_until("there is a recorder", Duration::from_secs(10), || {
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
    assert!(notes.contains("its figures go on"), "{found:#}");
}

fn a_segment_is_a_run_and_live_figures_are_served() {
    let place = Place::new();
    let program = program(&place, 700, "");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let mut child = start(&place, &words(Some(port), &program));
    let mut text = String::new();
    wait_until("figures are served", Duration::from_secs(10), || {
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

fn worst_cycles_keep_the_kernel_s_events_around_them() {
    if instances().filter(|_| is_root()).is_none() {
        not_run(
            "kernel events of a service",
            "there is no tracefs that this user may use",
        );
    }
    let place = Place::new();
    // Long in the kernel's eyes, too: it sleeps.
    let program = program(
        &place,
        3_000,
        "if (cycle.cycle % 1000 == 500) { wakepath_log(loop, \"slept\"); usleep(100000); }",
    );
    let mut words = words(None, &program);
    words.insert(3, "--trace".into());
    let output = start(&place, &words).wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said.matches("are recorded for the worst cycles").count(),
        1,
        "{said}"
    );
    let found = shown(&place);
    let worst = found["loops"]["loop"]["worst"].as_array().unwrap();
    let runs: Vec<&str> = worst
        .iter()
        .filter_map(|of| of["trace"]["run"].as_str())
        .collect();
    assert!(!runs.is_empty(), "{said}{found:#}");
    let kept = std::fs::read_dir(place.path().join("field/worst")).unwrap();
    assert_eq!(kept.count(), runs.len(), "no other run is left");
    let explained = |words: &[&str]| {
        let output = Command::new(crate::started::binary())
            .current_dir(place.path())
            .arg("explain")
            .args(words)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    let (text, said) = explained(&["field", "--json", "--worst", "100"]);
    let all: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{said}"));
    assert_eq!(all.len(), runs.len(), "{text}");
    // On a busy machine events of one may be lost: it is named all the same.
    assert!(!all[0]["cycle"].is_null(), "{text}");
    for one in all.iter().filter(|one| one["why"].is_null()) {
        let pieces = one["cycle"]["execution"].as_array().unwrap();
        assert!(!pieces.is_empty(), "{one:#}");
    }
    // Each is a run by itself.
    let run = format!("field/worst/{}", all[0]["run"].as_str().unwrap());
    let number = all[0]["cycle"]["cycle"].to_string();
    let (text, said) = explained(&[&run, "--cycle", &number]);
    assert!(text.contains("after due"), "{text}{said}");
    let (_, said) = explained(&["field", "--cycle", "3"]);
    assert!(said.contains("name one of its runs"), "{said}");
}

fn a_service_that_may_not_trace_says_so_once_and_is_recorded() {
    const NOBODY: u32 = 65_534;
    let place = Place::new();
    let program = program(&place, 300, "");
    let mut words = words(None, &program);
    words.insert(3, "--trace".into());
    let mut command = Command::new(crate::started::binary());
    if is_root() {
        std::os::unix::fs::chown(place.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    } else if instances().is_some() {
        not_run("a service that may not trace", "this user may");
    }
    command
        .args(&words)
        .current_dir(place.path())
        .stdin(Stdio::null());
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(
        said.matches("events are not recorded: ").count(),
        1,
        "{said}"
    );
    let found = shown(&place);
    assert!(count(&found, "executed") > 0, "{found:#}");
    let output = Command::new(crate::started::binary())
        .args(["explain", "field"])
        .current_dir(place.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("record the service with --trace"), "{said}");
}
