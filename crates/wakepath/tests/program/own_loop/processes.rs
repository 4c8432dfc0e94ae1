//! Programs under `wakepath record` that fork, leave a process behind, become another program or live without `/proc`:
//! a loop is one process's, and nobody else writes for it.

use super::*;
use std::time::Duration;

wakepath_test_program::tests![
    a_child_that_a_program_forks_writes_nothing_of_its_loop,
    what_is_left_of_one_segment_s_program_writes_nothing_into_the_next,
    a_program_that_becomes_another_one_is_named_and_its_samples_are_kept,
    a_program_without_proc_is_recorded,
];

fn a_child_that_a_program_forks_writes_nothing_of_its_loop() {
    let place = Place::new();
    // Both continue with the same loop, and log that in it.
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
        said.contains("a forked child of the program continued one of its loops"),
        "{said}"
    );
    assert!(printed(&finished).contains("the child's loop is over"));
}

fn what_is_left_of_one_segment_s_program_writes_nothing_into_the_next() {
    let place = Place::new();
    // The first time, the loop is that of a child in a separate session, which outlives its program and
    // continues during the next segment.
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
             int ran = 0;\n\
             while (wakepath_loop_wait(loop, &cycle)) {\n\
                 if (first == 1 && ++ran > 300) { first = 2; kill(parent, SIGKILL); usleep(1200000); }\n\
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
    // The first segment reports that its program died.
    finished.assert_code(1);
    let run = finished.run();
    let [_, second] = &run.manifest.segments[..] else {
        panic!("{}", finished.said());
    };
    // Nor of what it did later: the cycle under way when its program died has no end in the run.
    let ended = run.samples(0, 0).unwrap().len();
    assert!((100..=300).contains(&ended), "{ended}");
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
    finished.wait_until_nobody_is_left();
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
    let sentence = "its program executed another program (exec) while the loop ran; the new program is not recorded, \
                    within its section `update`";
    is_said_everywhere(&finished, sentence);
    finished.wait_until_nobody_is_left();
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
