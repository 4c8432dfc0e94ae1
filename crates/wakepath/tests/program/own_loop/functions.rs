//! The functions in which a recorded loop waits, and in which it runs for long, from the terminal to the timeline.

use super::*;

wakepath_test_program::tests![a_traced_loop_s_waits_and_long_work_have_functions];

const WHAT: &str = "recording where a loop waits and runs";

fn a_traced_loop_s_waits_and_long_work_have_functions() {
    let place = Place::new();
    let functions = "#include <unistd.h>\n#include <time.h>\n\
                     __attribute__((noinline)) static void ask_camera(void) { usleep(20000); __asm__ volatile(\"\"); }\n\
                     __attribute__((noinline)) static void plan_path(void) {\n\
                         struct timespec now, from;\n\
                         clock_gettime(CLOCK_MONOTONIC, &from);\n\
                         do { for (volatile int step = 0; step < 20000; step++) ;\n\
                              clock_gettime(CLOCK_MONOTONIC, &now);\n\
                         } while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec < 40000000L);\n\
                     }\n";
    let each =
        "if (cycle.cycle % 300 == 150) ask_camera(); if (cycle.cycle % 300 == 0) plan_path();";
    let program = built_of(&place, &looping(functions, each));
    let finished = recorded(place, "4s", &["--trace"], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let explained = Start::command(&["explain", "--json"])
        .with(&[&finished.directory])
        .finish();
    if explained.complaints.contains("no kernel events") {
        crate::started::not_run(WHAT, &explained.complaints);
    }
    if let Some(why) = finished
        .said()
        .lines()
        .find(|line| line.contains("without the functions"))
    {
        crate::started::not_run(WHAT, why);
    }
    let explanation = explained.json();
    let list = |of: &serde_json::Value| of.as_array().cloned().unwrap_or_default();
    let conditions = list(&explanation["conditions"]).into_iter();
    let causes: Vec<serde_json::Value> = conditions.flat_map(|of| list(&of["causes"])).collect();
    let has = |kind: &str, words: &str| {
        let is = |of: &serde_json::Value| {
            of["kind"] == kind
                && of["cause"]
                    .as_str()
                    .is_some_and(|cause| cause.contains(words))
        };
        assert!(causes.iter().any(is), "{words}: {causes:#?}");
    };
    has("own-sleep", "in `ask_camera`");
    has("user-code", "in `plan_path`");
    let files = Place::new();
    let [timeline, page] = ["timeline", "page.html"].map(|name| files.path().join(name));
    let ask = |words: &[&str]| {
        let one = Start::command(words).with(&[&finished.directory]).finish();
        assert!(one.code() == Some(0), "{}", one.said());
    };
    ask(&["explain", "--perfetto", timeline.to_str().unwrap()]);
    let bytes = std::fs::read(&timeline).unwrap();
    let holds = |word: &str| bytes.windows(word.len()).any(|at| at == word.as_bytes());
    // The stack of the program is a note of the slice.
    assert!(holds("`ask_camera`") && holds("\n`main`"));
    ask(&["report", "--output", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("Functions of the worst cycles"));
    assert!(page.contains("ask_camera") || page.contains("plan_path"));
}
