//! Programs that go wrong under `wakepath record`: what they did until then is kept, and said.

use super::*;
use crate::started::wait_until;
use rustix::process::Signal;
use std::time::Duration;

wakepath_test_program::tests![
    a_program_that_crashes_leaves_its_samples_and_says_how_it_ended,
    a_loop_that_is_given_up_makes_the_condition_invalid,
    a_program_that_writes_over_the_shared_memory_harms_nobody_else,
    a_program_that_does_not_leave_is_made_to,
    a_blackout_of_the_loop_s_own_ends_a_run_that_stops_above,
    loops_that_come_late_and_sections_that_do_not_match_are_said,
    a_killed_recording_takes_the_program_with_it_and_is_recovered,
];

/// A loop of 1 kHz that runs this in each cycle.
fn looping(headers: &str, each: &str) -> String {
    format!(
        "#define _GNU_SOURCE\n#include <wakepath.h>\n{headers}\n\
         int main(void) {{\n\
             wakepath_loop *loop = wakepath_loop_create(\"loop\", 1000000, 0, 0);\n\
             wakepath_cycle cycle;\n\
             while (wakepath_loop_wait(loop, &cycle)) {{ {each} wakepath_loop_finish(loop); }}\n\
             wakepath_loop_destroy(loop);\n\
             return 0;\n\
         }}\n"
    )
}

fn a_program_that_crashes_leaves_its_samples_and_says_how_it_ended() {
    let place = Place::new();
    let each = "if (cycle.cycle >= 500) { puts(\"the motor is gone\"); fflush(stdout); abort(); }";
    let headers = "#include <stdio.h>\n#include <stdlib.h>";
    let program = built_of(&place, &looping(headers, each));
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(1);
    let why = finished.json().to_string();
    assert!(
        why.contains("SIGABRT") && why.contains("its last line: the motor is gone"),
        "{why}"
    );
    // The cycle under way has no end.
    let cycles: Vec<u64> = finished.samples(0).iter().map(|of| of.cycle).collect();
    assert!(cycles.is_sorted() && cycles.last() < Some(&600));
    assert!(cycles.len() > 200, "{} samples", cycles.len());
}

fn a_loop_that_is_given_up_makes_the_condition_invalid() {
    let place = Place::new();
    let program = built_of(&place, &looping("", "if (cycle.cycle >= 500) break;"));
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(1);
    let why = finished.json().to_string();
    assert!(
        why.contains("gave the loop up before its last cycle"),
        "{why}"
    );
}

fn a_program_that_writes_over_the_shared_memory_harms_nobody_else() {
    for byte in ["0x00", "0x01", "0x7f", "0xff"] {
        let place = Place::new();
        let headers = "#include <string.h>\n#include <stdio.h>\n#include <inttypes.h>\n\
                       static void scribble(void) {\n\
                           FILE *maps = fopen(\"/proc/self/maps\", \"r\");\n\
                           char line[512];\n\
                           uintptr_t from, to;\n\
                           while (fgets(line, sizeof line, maps))\n\
                               if (strstr(line, \"wakepath-samples\") && \
                                   sscanf(line, \"%\" SCNxPTR \"-%\" SCNxPTR, &from, &to) == 2)\n\
                                   memset((void *)from, BYTE, to - from);\n\
                       }\n";
        let headers = headers.replace("BYTE", byte);
        let each = "if (cycle.cycle >= 500) { scribble(); _exit(0); }";
        let headers = format!("#include <unistd.h>\n{headers}");
        let program = built_of(&place, &looping(&headers, each));
        let finished = recorded(place, "2s", &[], &program);
        // Never judged as if all were well; the samples of before are there and whole.
        finished.assert_code(1);
        let samples = finished.samples(0);
        assert!(samples.len() > 200, "{byte}: {} samples", samples.len());
        let whole = samples.iter().take_while(|of| of.cycle < 400);
        assert!(
            whole
                .clone()
                .all(|of| of.wake_ns > of.due_ns && of.end_ns >= of.wake_ns)
        );
        assert!(whole.count() > 200, "{byte}");
    }
}

fn a_program_that_does_not_leave_is_made_to() {
    let place = Place::new();
    let text = looping("#include <signal.h>\n#include <unistd.h>", "")
        .replace("return 0;", "signal(SIGTERM, SIG_IGN); for (;;) pause();");
    let program = built_of(&place, &text);
    let finished = carried_out(place, "loop", "1 kHz", &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    conditions(&finished);
    let said = &finished.complaints;
    assert!(said.contains("did not leave within 5 s"), "{said}");
    assert!(
        finished.took < Duration::from_secs(25),
        "{:?} and no longer",
        finished.took
    );
}

fn a_blackout_of_the_loop_s_own_ends_a_run_that_stops_above() {
    let place = Place::new();
    let each = "if (cycle.cycle >= 500 && !slept++) usleep(300000);";
    let globals = "#include <unistd.h>\nstatic int slept;";
    let program = built_of(&place, &looping(globals, each));
    let finished = recorded(place, "4s", &["--stop-above", "150ms"], &program);
    if finished.complaints.contains("nothing was measured") {
        crate::started::not_run("stopping at a blackout", &finished.complaints);
    }
    finished.assert_code(2);
    let found = finished.json();
    assert!(found["skipped_after_it"].as_u64() > Some(200), "{found:#}");
    assert!(
        found["latency_ns"].as_u64() > Some(200_000_000),
        "{found:#}"
    );
}

fn loops_that_come_late_and_sections_that_do_not_match_are_said() {
    let place = Place::new();
    let each = "if (!late) { part = wakepath_loop_section(loop, \"part\", 0); \
                    late = wakepath_loop_create(\"late\", 1000000, 0, 0); } \
                wakepath_section_end(loop, part); wakepath_section_begin(loop, part);";
    let globals = "static wakepath_loop *late; static uint32_t part;";
    let program = built_of(&place, &looping(globals, each));
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let said = finished.complaints.clone();
    assert!(
        said.contains("1 loop more of the program is not recorded"),
        "{said}"
    );
    assert!(
        said.contains("the section `part` was begun twice or ended without"),
        "{said}"
    );
}

fn a_killed_recording_takes_the_program_with_it_and_is_recovered() {
    let place = Place::new();
    let program = built_of(&place, &looping("", ""));
    let words = [
        "record",
        "--idle",
        "--no-tui",
        "--duration",
        "60s",
        "--directory",
        "run",
        "--",
    ];
    let running = Start::command_in(place, &words).with(&[&program]).start();
    running.wait_until_recorded(0, 1000);
    running.signal(Signal::KILL);
    let finished = running.finish();
    // The recorder takes a moment to write what was left.
    wait_until("it is recovered", Duration::from_secs(10), || {
        crate::started::ask("recover", &finished.directory).code() == Some(0)
    });
    assert!(finished.samples(0).len() > 1000);
    let mine = finished.place.path().join("my-loop");
    wait_until("the program is gone", Duration::from_secs(5), || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut programs =
            processes.filter_map(|of| std::fs::read_link(of.path().join("exe")).ok());
        !programs.any(|of| of == mine)
    });
}
