//! Programs that go wrong under `wakepath record`: everything until then is kept and reported.

use super::*;
use crate::started::wait_until;
use std::time::Duration;

wakepath_test_program::tests![
    a_program_that_crashes_leaves_its_samples_and_says_how_it_ended,
    a_loop_that_is_given_up_makes_the_condition_invalid,
    a_program_that_writes_over_the_shared_memory_harms_nobody_else,
    a_loop_that_names_a_thread_of_somebody_else_is_refused,
    a_program_that_does_not_leave_is_made_to,
    a_killed_recording_takes_the_program_with_it_and_is_recovered,
    a_program_that_dies_in_a_section_is_said_to_have,
];

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
    // As an exception does that runs destructors first and is printed then.
    let each = "if (cycle.cycle >= 500) { wakepath_loop_destroy(loop); usleep(100000); puts(\"no more set points\"); \
                return 3; }";
    let headers = "#include <stdio.h>\n#include <unistd.h>";
    let program = built_of(&place, &looping(headers, each));
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(1);
    let why = finished.json().to_string();
    assert!(
        why.contains("ended the loop before its last cycle; its last line: no more set points"),
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

fn a_loop_that_names_a_thread_of_somebody_else_is_refused() {
    let place = Place::new();
    // Its number in the shared memory becomes that of process 1 before anyone can have read it: the
    // measuring process is stopped for up to two seconds.
    let program = built_of(
        &place,
        "#define _GNU_SOURCE\n#include <wakepath.h>\n#include <inttypes.h>\n#include <pthread.h>\n\
         #include <signal.h>\n#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\n\
         static uint32_t own;\n\
         static void *swap(void *none) {\n\
             char line[512];\n\
             uintptr_t from, to;\n\
             int looks = 0, swapped = 0;\n\
             for (;; usleep(1000)) {\n\
                 FILE *maps = fopen(\"/proc/self/maps\", \"r\");\n\
                 while (fgets(line, sizeof line, maps))\n\
                     if (strstr(line, \"wakepath-samples\") && \
                         sscanf(line, \"%\" SCNxPTR \"-%\" SCNxPTR, &from, &to) == 2)\n\
                         for (volatile uint32_t *at = (void *)from; at < (uint32_t *)to; at++)\n\
                             if (*at == own) *at = 1, swapped = 1;\n\
                 fclose(maps);\n\
                 if (swapped || ++looks > 2000) kill(getppid(), SIGCONT);\n\
             }\n\
             return none;\n\
         }\n\
         int main(void) {\n\
             pthread_t thread;\n\
             own = (uint32_t)gettid();\n\
             kill(getppid(), SIGSTOP);\n\
             pthread_create(&thread, 0, swap, 0);\n\
             wakepath_loop *loop = wakepath_loop_create(\"loop\", 1000000, 0, 0);\n\
             while (wakepath_loop_wait(loop, 0)) wakepath_loop_finish(loop);\n\
             return 0;\n\
         }\n",
    );
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(1);
    let said = &finished.complaints;
    assert!(
        said.contains("the loop `loop` reports thread 1, which is not a thread"),
        "{said}"
    );
    assert!(!finished.directory.exists());
    // A scenario, whose loops are not asked for first, gives it no policy either.
    let finished = carried_out(finished.place, "loop", "1 kHz", &program);
    finished.assert_code(3);
    let why = finished.json().to_string();
    assert!(
        why.contains("reports thread 1, which is not a thread"),
        "{why}"
    );
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
    assert!(said.contains("did not exit within 5 s"), "{said}");
    assert!(
        finished.took < Duration::from_secs(25),
        "{:?} and no longer",
        finished.took
    );
}

fn a_killed_recording_takes_the_program_with_it_and_is_recovered() {
    let place = Place::new();
    let program = built_of(&place, &looping("", ""));
    let finished = killed_and_recovered(place, &program, 1000);
    assert!(finished.samples(0).len() > 1000);
    let mine = finished.place.path().join("my-loop");
    wait_until("the program is gone", || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut programs =
            processes.filter_map(|of| std::fs::read_link(of.path().join("exe")).ok());
        !programs.any(|of| of == mine)
    });
}

fn a_program_that_dies_in_a_section_is_said_to_have() {
    let place = Place::new();
    let each = "if (!part) part = 1 + wakepath_loop_section(loop, \"update\", 0); \
                wakepath_section_begin(loop, part - 1); \
                if (cycle.cycle >= 500) kill(getpid(), SIGKILL); \
                wakepath_section_end(loop, part - 1);";
    let headers = "#include <signal.h>\n#include <unistd.h>\nstatic uint32_t part;";
    let program = built_of(&place, &looping(headers, each));
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(1);
    is_said_everywhere(&finished, "within its section `update`");
}
