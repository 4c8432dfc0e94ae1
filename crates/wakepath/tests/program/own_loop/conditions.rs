//! A recorded loop's effects on its own condition, and the recording's report of them: overruns, loops that
//! never wake, policies changed during a run, loops of other names, programs compared.

use super::*;
use crate::started::{ask, loop_cpu, needs_real_time};
use std::time::Duration;
use wakepath_timeline::SampleFlags;

wakepath_test_program::tests![
    a_loop_that_overruns_is_what_matters_first,
    cycles_that_are_caught_up_with_are_judged_late_and_none_is_skipped,
    a_loop_that_stops_at_an_overrun_of_its_own_fails_and_names_the_cycle,
    another_overrun_than_the_scenario_s_is_refused_with_what_to_say,
    a_loop_that_never_wakes_is_said_to,
    a_policy_that_the_program_changes_makes_the_condition_invalid,
    cpus_that_the_program_changes_make_the_condition_invalid,
    two_builds_of_a_program_are_compared_and_named,
    a_wrong_criterion_is_refused_before_the_program_is_started,
    a_loop_of_another_name_is_said_at_once_with_those_that_there_are,
    without_tasks_the_only_loop_is_taken_whatever_its_name,
    what_the_program_prints_is_kept_with_marks_and_bounded,
    a_note_about_deadline_is_said_once,
    a_run_beside_the_others_is_listed,
];

fn a_loop_that_overruns_is_what_matters_first() {
    let place = Place::new();
    let each = "if (cycle.cycle % 200 == 150) usleep(4500);";
    let program = built_of(&place, &looping("#include <unistd.h>", each));
    let finished = recorded(place, "3s", &[], &program);
    let shown = ask("show", &finished.directory);
    let (_, matters) = shown
        .output
        .split_once("what matters most")
        .expect(&shown.output);
    let first = matters.lines().nth(1).unwrap();
    assert!(
        first.contains("its own work outlasted its period of 1 ms"),
        "{first}"
    );
    assert!(first.contains("due times skipped"), "{first}");
}

/// A loop of 200 Hz of this overrun, whose cycle 100 of each start lasts four and a half of its periods.
fn overrunning(overrun: &str) -> String {
    format!(
        "#define _GNU_SOURCE\n#include <wakepath.h>\n#include <unistd.h>\n\
         int main(void) {{\n\
             wakepath_loop *loop = wakepath_loop_create_with(\"loop\", 5000000, {overrun}, 0, 0);\n\
             wakepath_cycle cycle;\n\
             while (wakepath_loop_wait(loop, &cycle)) {{\n\
                 if (cycle.cycle == 100) usleep(22500);\n\
                 wakepath_loop_finish(loop);\n\
             }}\n\
             wakepath_loop_destroy(loop);\n\
             return 0;\n\
         }}\n"
    )
}

fn cycles_that_are_caught_up_with_are_judged_late_and_none_is_skipped() {
    let place = Place::new();
    let program = built_of(&place, &overrunning("WAKEPATH_OVERRUN_CATCH_UP"));
    let criterion = ["--criterion", "latency 3ms, miss-fraction 50 %"];
    let finished = recorded(place, "2s", &criterion, &program);
    let text = std::fs::read_to_string(finished.directory.join("scenario.toml"));
    if let Ok(text) = text {
        assert!(text.contains("overrun = \"catch-up\""), "{text}");
    }
    let [condition] = &conditions(&finished)[..] else {
        panic!("{}", finished.said())
    };
    let cycles = &condition["cycles"];
    assert_eq!(cycles["skipped"], 0, "{cycles:#}");
    assert_eq!(cycles["executed"], cycles["scheduled"], "{cycles:#}");
    // 101 begins 17.5 ms late, 102 12.5, 103 7.5 and 104 2.5: three of four over the limit, in each of two starts where
    // cycle 100 is judged.
    let missed = cycles["misses"]["missed"].as_u64().unwrap();
    assert!(missed >= 6, "{cycles:#}");
    assert!(
        cycles["late_after_overrun"].as_u64().unwrap() >= 8,
        "{cycles:#}"
    );
    let samples = finished.samples(0);
    for (cycle, least_ns) in [(101, 17_500_000), (102, 12_500_000), (103, 7_500_000)] {
        let late = samples.iter().find(|of| of.cycle == cycle).unwrap();
        assert!(late.wake_ns - late.due_ns >= least_ns, "{late:?}");
        assert!(
            late.flags.contains(SampleFlags::DUE_ALREADY_PAST),
            "{late:?}"
        );
    }
    assert!(samples.windows(2).all(|of| of[1].cycle == of[0].cycle + 1));
}

fn a_loop_that_stops_at_an_overrun_of_its_own_fails_and_names_the_cycle() {
    let place = Place::new();
    let program = built_of(&place, &overrunning("WAKEPATH_OVERRUN_STOP"));
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(2);
    let samples = finished.samples(0);
    let last = samples.last().unwrap().cycle;
    assert!(last <= 100, "{last}");
    let said = format!("\"cycle\":{last}");
    assert!(
        finished.json().to_string().contains(&said),
        "{}",
        finished.said()
    );
    assert!(
        finished.json().to_string().contains("\"kind\":\"overrun\""),
        "{}",
        finished.said()
    );
}

fn another_overrun_than_the_scenario_s_is_refused_with_what_to_say() {
    let place = Place::new();
    let program = built_of(&place, &overrunning("WAKEPATH_OVERRUN_CATCH_UP"));
    let finished = carried_out(place, "loop", "200 Hz", &program);
    // Nothing was measured, so that nothing is decided.
    finished.assert_code(3);
    let why = finished.said();
    assert!(
        why.contains("put overrun = \"catch-up\" into its task"),
        "{why}"
    );
}

fn a_loop_that_never_wakes_is_said_to() {
    let place = Place::new();
    // Its first cycle lasts longer than the segment.
    let each = "if (recording) sleep(4);";
    let globals = "#include <unistd.h>\n#define recording wakepath_loop_is_recorded(loop)";
    let program = built_of(&place, &looping(globals, each));
    let finished = recorded(place, "3s", &["--trace"], &program);
    finished.assert_code(2);
    assert!(
        !finished.complaints.contains(": 0 cycles,"),
        "{}",
        finished.said()
    );
    let explained = ask("explain", &finished.directory);
    if explained.complaints.contains("no kernel events") {
        crate::started::not_run("explaining a loop that never wakes", &explained.complaints);
    }
    let said = "the loop did not run once in the judged time of 2 traced segments";
    assert!(explained.output.contains(said), "{}", explained.said());
}

fn a_policy_that_the_program_changes_makes_the_condition_invalid() {
    let place = Place::new();
    let each = "if (FIRST_FROM(500)) wakepath_prepare_other(7, 0, 0, 0, 0);";
    let program = built_of(&place, &looping("", each));
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(1);
    let why = finished.json().to_string();
    assert!(
        why.contains("changed the loop `loop` while it was measured"),
        "{why}"
    );
    assert!(why.contains("OTHER nice 7 instead of OTHER"), "{why}");
}

fn cpus_that_the_program_changes_make_the_condition_invalid() {
    if crate::started::cpus().len() < 2 {
        crate::started::not_run("moving a loop", "there is one CPU");
    }
    let place = Place::new();
    let each =
        "if (FIRST_FROM(500)) { uint16_t cpu = CPU; wakepath_prepare_other(0, &cpu, 1, 0, 0); }";
    let each = each.replace("CPU", &crate::started::cpus()[0].to_string());
    let program = built_of(&place, &looping("", &each));
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(1);
    let why = finished.json().to_string();
    assert!(why.contains("while it was measured: CPU"), "{why}");
}

fn two_builds_of_a_program_are_compared_and_named() {
    let place = Place::new();
    let program = built_of(&place, &looping("", ""));
    let other = place.path().join("my-other-loop");
    std::fs::copy(&program, &other).unwrap();
    let run = |place: Place, program: &Path, directory: &str| {
        let words = [
            "record",
            "--idle",
            "--no-tui",
            "--duration",
            "2s",
            "--directory",
            directory,
            "--",
        ];
        let finished = Start::command_in(place, &words).with(&[program]).finish();
        assert!(finished.code() != Some(1), "{}", finished.said());
        finished.place
    };
    let place = run(place, &program, "one");
    let place = run(place, &other, "two");
    let compared = Start::command_in(place, &["compare", "--details", "one", "two"]).finish();
    assert!(compared.code() != Some(1), "{}", compared.said());
    for name in ["my-loop", "my-other-loop"] {
        assert!(
            compared.output.contains(name),
            "{name}: {}",
            compared.output
        );
    }
}

fn a_wrong_criterion_is_refused_before_the_program_is_started() {
    let place = Place::new();
    let trace = place.path().join("started");
    let program = place.path().join("my-loop");
    let text = format!("#!/bin/sh\ntouch {}\n", trace.display());
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(
        &program,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    for criterion in ["latency 200parsecs", "lateness 200us", "miss-fraction 2"] {
        let words = ["record", "--criterion", criterion, "--"];
        let refused = Start::command_in(Place::new(), &words)
            .with(&[&program])
            .finish();
        refused.assert_refused(1, &["--criterion"]);
        assert!(!trace.exists(), "{criterion}");
    }
}

fn a_loop_of_another_name_is_said_at_once_with_those_that_there_are() {
    let place = Place::new();
    let program = built_of(&place, &looping("", ""));
    let finished = carried_out(place, "attitude", "1 kHz", &program);
    finished.assert_code(3);
    let why = finished.json().to_string();
    assert!(
        why.contains("the program has no loop `attitude`; it has `loop`"),
        "{why}"
    );
    assert!(
        finished.took < Duration::from_secs(15),
        "{:?}",
        finished.took
    );
}

fn without_tasks_the_only_loop_is_taken_whatever_its_name() {
    let place = Place::new();
    let text = looping("", "").replace("\"loop\"", "\"attitude\"");
    let program = built_of(&place, &text);
    let scenario = format!(
        "duration = \"1 s\"\nwarm-up = \"100 ms\"\nrate = \"1 kHz\"\npolicies = [\"OTHER\"]\n\
         work = {{ kind = \"program\", command = [{program:?}] }}\n"
    );
    let finished = Start::scenario_in(place, &scenario).finish();
    assert!(finished.code() != Some(1), "{}", finished.said());
    conditions(&finished);
}

fn what_the_program_prints_is_kept_with_marks_and_bounded() {
    let place = Place::new();
    let text = looping("#include <stdio.h>\n#include <string.h>", "").replace(
        "return 0;",
        "static char line[1001]; memset(line, 'x', 1000); \
         for (int kilobyte = 0; kilobyte < 12000; kilobyte++) puts(line); \
         puts(\"the end\"); return 0;",
    );
    let text = text.replace(
        "int main(void) {",
        "int main(void) { puts(\"hello\"); fflush(stdout);",
    );
    let program = built_of(&place, &text);
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let printed = printed(&finished);
    assert!(
        printed.starts_with("--- listing its loops ---\nhello\n"),
        "{}",
        &printed[..100]
    );
    assert_eq!(printed.matches("--- segment ").count(), 2);
    assert!(printed.contains("--- segment 0: OTHER nice 0, idle ---\nhello\n"));
    assert!(printed.len() < (16 << 20) + 1000, "{} bytes", printed.len());
    assert!(printed.contains("more bytes were printed and not kept"));
}

fn a_note_about_deadline_is_said_once() {
    needs_real_time("DEADLINE");
    let place = Place::new();
    let program = built_of(&place, &looping("", ""));
    let cpu = loop_cpu().to_string();
    let more = ["--policy", "DEADLINE 200us", "--cpu", &cpu];
    let finished = recorded(place, "2s", &more, &program);
    let said = finished.complaints.matches("not pinned").count();
    assert_eq!(said, 1, "{}", finished.complaints);
}

fn a_run_beside_the_others_is_listed() {
    let place = Place::new();
    let program = built_of(&place, &looping("", ""));
    let finished = recorded(place, "2s", &[], &program);
    let listed = Start::command_in(finished.place, &["runs", "--json"]).finish();
    assert_eq!(listed.json()["runs"][0]["name"], "run");
    let shown = Start::command_in(listed.place, &["show"]).finish();
    assert!(
        shown.complaints.contains("the latest run: run"),
        "{}",
        shown.said()
    );
}
