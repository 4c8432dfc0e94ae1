//! Programs that go wrong under `wakepath record`: what they did until then is kept, and said.

use super::*;
use crate::started::wait_until;
use std::time::Duration;

wakepath_test_program::tests![
    a_program_that_crashes_leaves_its_samples_and_says_how_it_ended,
    a_loop_that_is_given_up_makes_the_condition_invalid,
    a_program_that_writes_over_the_shared_memory_harms_nobody_else,
    a_loop_that_names_a_thread_of_somebody_else_is_refused,
    a_program_that_does_not_leave_is_made_to,
    a_blackout_of_the_loop_s_own_ends_a_run_that_stops_above,
    loops_that_come_late_and_sections_that_do_not_match_are_said,
    a_child_that_a_program_forks_writes_nothing_of_its_loop,
    what_is_left_of_one_segment_s_program_writes_nothing_into_the_next,
    a_program_without_proc_is_recorded,
    a_killed_recording_takes_the_program_with_it_and_is_recovered,
    two_loops_of_one_name_are_refused_in_one_line,
    a_clock_that_goes_back_or_far_ahead_costs_no_cycle_and_is_said,
    a_program_that_dies_in_a_section_is_said_to_have,
    a_program_that_becomes_another_one_is_named_and_its_samples_are_kept,
    a_library_of_another_version_is_named_with_what_would_be_right,
    a_library_runs_under_a_recorder_of_another_version_and_says_its_own,
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

fn a_loop_that_names_a_thread_of_somebody_else_is_refused() {
    let place = Place::new();
    // Its number in the shared memory becomes that of process 1 before anybody can have read it: who measures
    // stands still meanwhile, for two seconds at most.
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
        said.contains("the loop `loop` says that its thread has the number 1, which is no thread"),
        "{said}"
    );
    assert!(!finished.directory.exists());
    // A scenario, whose loops are not asked for first, gives it no policy either.
    let finished = carried_out(finished.place, "loop", "1 kHz", &program);
    finished.assert_code(3);
    let why = finished.json().to_string();
    assert!(
        why.contains("has the number 1, which is no thread"),
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

fn a_child_that_a_program_forks_writes_nothing_of_its_loop() {
    let place = Place::new();
    // Both go on with the same loop, and say so in it.
    let each = "wakepath_log(loop, \"cycle %d of %d\", (int)cycle.cycle, child); \
                wakepath_section_begin(loop, part); wakepath_section_end(loop, part); \
                if (cycle.cycle >= 500 && !forked++ && fork() == 0) child = 1;";
    let headers = "#include <unistd.h>\nstatic int child, forked;\nstatic uint32_t part;\n\
                   #define wakepath_loop_destroy(of) do { \
                       if (child) puts(\"the child's loop is over\"); wakepath_loop_destroy(of); } while (0)\n\
                   #include <stdio.h>";
    let program = built_of(&place, &looping(headers, each));
    let finished = recorded(place, "3s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    for condition in conditions(&finished) {
        let scheduled = condition["cycles"]["scheduled"].as_u64();
        assert!(scheduled > Some(1000), "{condition:#}");
    }
    let samples = finished.samples(0);
    assert!(samples.is_sorted_by(|a, b| a.cycle < b.cycle));
    assert!(samples.last().unwrap().cycle > 1000);
    let lines = std::fs::read_to_string(finished.directory.join("loop-log.jsonl")).unwrap();
    let told = |of: &str| lines.lines().filter(|line| line.contains(of)).count();
    assert!(told(" of 0") > 600, "{} lines", told(" of 0"));
    assert_eq!(told(" of 1"), 0, "a child's lines are in the log");
    let said = &finished.complaints;
    assert!(
        said.contains("a child that the program forked went on with a loop of it"),
        "{said}"
    );
    assert!(printed(&finished).contains("the child's loop is over"));
}

fn what_is_left_of_one_segment_s_program_writes_nothing_into_the_next() {
    let place = Place::new();
    // The first time, the loop is that of a child in a session of its own, which outlives its program and goes on
    // when the next segment is under way.
    let program = built_of(
        &place,
        "#define _GNU_SOURCE\n#include <wakepath.h>\n#include <fcntl.h>\n#include <signal.h>\n\
         #include <sys/wait.h>\n#include <unistd.h>\n\
         int main(void) {\n\
             int first = open(\"first\", O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0;\n\
             pid_t parent = getpid(), child = first ? fork() : 0;\n\
             if (child) return waitpid(child, 0, 0) < 0;\n\
             if (first) setsid();\n\
             wakepath_loop *loop = wakepath_loop_create(\"loop\", 1000000, 0, 0);\n\
             wakepath_cycle cycle;\n\
             while (wakepath_loop_wait(loop, &cycle)) {\n\
                 if (first == 1 && cycle.cycle >= 300) { first = 2; kill(parent, SIGKILL); usleep(1200000); }\n\
                 wakepath_loop_finish(loop);\n\
             }\n\
             if (first) close(open(\"has-left\", O_CREAT | O_WRONLY, 0600));\n\
             wakepath_loop_destroy(loop);\n\
             return 0;\n\
         }\n",
    );
    let text = format!(
        "duration = \"4 s\"\nrepetitions = 2\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\n[[tasks]]\n\
         name = \"loop\"\nrate = \"1 kHz\"\nwork = {{ kind = \"program\", command = [{program:?}] }}\n"
    );
    let finished = Start::scenario_in(place, &text).finish();
    // Of the first segment it is said that its program died.
    finished.assert_code(1);
    let run = finished.run();
    let [_, second] = &run.manifest.segments[..] else {
        panic!("{}", finished.said());
    };
    // Nor of what it did later: the cycle under way when its program died has no end in the run.
    let last = run.samples(0, 0).unwrap().last().expect("a sample").cycle;
    assert!((100..600).contains(&last), "{last}");
    let thread = &second.threads[0];
    let samples = run.samples(1, 0).unwrap();
    assert!(samples.is_sorted_by(|a, b| a.cycle < b.cycle));
    let counts = (thread.written, thread.appended, thread.lost);
    assert_eq!(
        counts,
        (Some(thread.recorded), Some(thread.recorded), Some(0))
    );
    let accounted = thread.recorded + thread.skipped.unwrap();
    assert_eq!(accounted, thread.expected);
    assert!(finished.place.path().join("has-left").exists());
    finished.assert_nobody_is_left(Duration::from_secs(5));
}

fn a_program_without_proc_is_recorded() {
    if !crate::started::is_root() {
        crate::started::not_run("a program without /proc", "chroot needs root");
    }
    let place = Place::new();
    let text = looping("#include <unistd.h>", "").replace(
        "int main(void) {",
        "int main(void) { if (chroot(\".\")) return 9;",
    );
    let program = built_of(&place, &text);
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    conditions(&finished);
}

fn a_killed_recording_takes_the_program_with_it_and_is_recovered() {
    let place = Place::new();
    let program = built_of(&place, &looping("", ""));
    let finished = killed_and_recovered(place, &program, 1000);
    assert!(finished.samples(0).len() > 1000);
    let mine = finished.place.path().join("my-loop");
    wait_until("the program is gone", Duration::from_secs(5), || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut programs =
            processes.filter_map(|of| std::fs::read_link(of.path().join("exe")).ok());
        !programs.any(|of| of == mine)
    });
}

fn two_loops_of_one_name_are_refused_in_one_line() {
    let place = Place::new();
    let program = built_of(
        &place,
        "#include <wakepath.h>\n#include <pthread.h>\n\
         static void *one(void *none) {\n\
             wakepath_loop *loop = wakepath_loop_create(\"attitude\", 4000000, 0, 0);\n\
             while (wakepath_loop_wait(loop, 0)) wakepath_loop_finish(loop);\n\
             wakepath_loop_destroy(loop);\n\
             return none;\n\
         }\n\
         int main(void) {\n\
             pthread_t other;\n\
             pthread_create(&other, 0, one, 0);\n\
             one(0);\n\
             pthread_join(other, 0);\n\
             return 0;\n\
         }\n",
    );
    let finished = recorded(place, "1s", &[], &program);
    finished.assert_code(1);
    let said = finished.complaints.trim();
    assert!(
        said.contains("two loops of the name `attitude`") && said.lines().count() == 1,
        "{said}"
    );
}

/// Each hundredth stamp is a second old.
fn a_clock_that_goes_back_or_far_ahead_costs_no_cycle_and_is_said() {
    let place = Place::new();
    let program = built_of(
        &place,
        "#define _GNU_SOURCE\n#include <wakepath.h>\n#include <time.h>\n\
         int main(void) {\n\
             wakepath_loop *loop = wakepath_loop_create_driven(\"axis\", 2000000, 0, 0);\n\
             struct timespec at;\n\
             clock_gettime(CLOCK_MONOTONIC, &at);\n\
             uint64_t due_ns = at.tv_sec * UINT64_C(1000000000) + at.tv_nsec;\n\
             for (int number = 0;; number++) {\n\
                 due_ns += 2000000;\n\
                 at.tv_sec = due_ns / 1000000000;\n\
                 at.tv_nsec = due_ns % 1000000000;\n\
                 clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, 0);\n\
                 uint64_t told_ns = due_ns - (number % 100 == 50 ? UINT64_C(1000000000) : 0);\n\
                 if (number % 100 == 75) told_ns = due_ns + UINT64_C(3600000000000);\n\
                 if (!wakepath_loop_begin(loop, told_ns, 0)) break;\n\
                 wakepath_loop_finish(loop);\n\
             }\n\
             wakepath_loop_destroy(loop);\n\
             return 0;\n\
         }\n",
    );
    let finished = recorded(place, "2s", &[], &program);
    for said in ["went back", "ran ahead"] {
        let said = format!("the clock that drives it {said}");
        assert!(finished.complaints.contains(&said), "{}", finished.said());
    }
    let cycles: Vec<u64> = finished.samples(0).iter().map(|of| of.cycle).collect();
    // One after the other, but where the machine itself held the loop up.
    let apart = cycles.windows(2).filter(|two| two[1] != two[0] + 1).count();
    assert!(
        cycles.len() > 300 && apart < 20,
        "{} cycles, {apart} gaps",
        cycles.len()
    );
}

/// The run says it wherever it is read: in the terminal, as JSON and on the report's page.
fn is_said_everywhere(finished: &Finished, sentence: &str) {
    assert!(finished.samples(0).len() > 200, "{}", finished.said());
    let asked = |words: &[&str]| {
        let output = Command::new(crate::started::binary())
            .args(words)
            .arg(&finished.directory)
            .output()
            .unwrap();
        // The terminal wraps lines.
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for words in [&["show"][..], &["show", "--json"]] {
        let text = asked(words);
        assert!(text.contains(sentence), "{words:?}: {text}");
    }
    asked(&["report"]);
    let page = std::fs::read_to_string(finished.directory.join("report.html")).unwrap();
    let page = page.replace('\u{a0}', " ");
    assert!(page.contains(sentence), "not on the report's page");
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

fn a_program_that_becomes_another_one_is_named_and_its_samples_are_kept() {
    let place = Place::new();
    let each = "if (!part) part = 1 + wakepath_loop_section(loop, \"update\", 0); \
                wakepath_section_begin(loop, part - 1); \
                if (cycle.cycle >= 500) execl(\"/bin/sleep\", \"sleep\", \"60\", (char *)0); \
                wakepath_section_end(loop, part - 1);";
    let headers = "#include <unistd.h>\nstatic uint32_t part;";
    let program = built_of(&place, &looping(headers, each));
    let begun = std::time::Instant::now();
    let finished = recorded(place, "2s", &[], &program);
    // It waits neither for what the program is now nor for the cycles that never come.
    assert!(begun.elapsed() < Duration::from_secs(30));
    finished.assert_code(1);
    let sentence = "its program became another one (exec) while the loop ran: what it runs now is not recorded, \
                    within its section `update`";
    is_said_everywhere(&finished, sentence);
    finished.assert_nobody_is_left(Duration::from_secs(5));
}

fn a_library_of_another_version_is_named_with_what_would_be_right() {
    let place = Place::new();
    // What every version's library does first, here by one that is yet to come.
    let program = built_of(
        &place,
        "#define _GNU_SOURCE\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\
         #include <sys/mman.h>\n#include <unistd.h>\n\
         int main(void) {\n\
             int inherited = atoi(getenv(\"WAKEPATH_RECORDING\"));\n\
             char *memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, inherited, 0);\n\
             if (memcmp(memory, \"htapekaw\", 8) && memcmp(memory, \"wakepath\", 8)) return 3;\n\
             memcpy(memory + 32, \"9.9.9\", 6);\n\
             *(volatile uint32_t *)(memory + 12) = 77;\n\
             pause();\n\
         }\n",
    );
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(1);
    let said = &finished.complaints;
    assert_eq!(said.lines().count(), 1, "{said}");
    for words in [
        "its library is that of wakepath 9.9.9 (memory layout 77)",
        concat!(
            "link the program with the library of wakepath ",
            env!("CARGO_PKG_VERSION")
        ),
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert!(!finished.directory.exists());
}

fn a_library_runs_under_a_recorder_of_another_version_and_says_its_own() {
    let place = Place::new();
    let program = built_of(
        &place,
        "#define _GNU_SOURCE\n#include <wakepath.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         #include <string.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\
         int main(void) {\n\
             uint64_t mark = UINT64_C(0x77616b6570617468);\n\
             uint32_t layout = 77, answer = 0;\n\
             char number[16], version[16] = \"\";\n\
             int recorder = memfd_create(\"recorder\", 0);\n\
             if (ftruncate(recorder, 4096) || pwrite(recorder, &mark, 8, 0) != 8) return 2;\n\
             if (pwrite(recorder, &layout, 4, 8) != 4 || pwrite(recorder, \"9.9.9\", 6, 16) != 6) return 2;\n\
             snprintf(number, sizeof number, \"%d\", recorder);\n\
             setenv(\"WAKEPATH_RECORDING\", number, 1);\n\
             wakepath_loop *loop = wakepath_loop_create(\"alone\", 1000000, 0, 0);\n\
             if (!loop || wakepath_loop_is_recorded(loop)) return 3;\n\
             for (int cycle = 0; cycle < 20; cycle++) if (!wakepath_loop_wait(loop, 0)) return 4;\n\
             wakepath_loop_destroy(loop);\n\
             if (pread(recorder, &answer, 4, 12) != 4 || answer == 0 || answer == 77) return 5;\n\
             if (pread(recorder, version, 16, 32) != 16) return 6;\n\
             return strcmp(version, wakepath_version()) ? 7 : 0;\n\
         }\n",
    );
    let status = Command::new(program).status().unwrap();
    assert_eq!(status.code(), Some(0));
}
