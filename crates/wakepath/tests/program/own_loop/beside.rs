//! Data that a recorded loop logs in addition to its samples: lines, values and runs of sections, in C, C++
//! and Rust, kept through a kill, and never trusted.

use super::*;
use crate::started::ask;
use wakepath_archive::{LineSaid, LoopLine, SegmentTold, read_lines};

wakepath_test_program::tests![
    lines_and_values_of_a_loop_in_c_are_in_the_run,
    lines_of_a_loop_in_cpp_are_written_as_its_types_are,
    sections_are_kept_one_by_one_with_their_cycle,
    what_a_loop_said_survives_a_kill,
    lines_that_nobody_takes_are_dropped_and_counted,
    formats_that_can_not_be_copied_and_sections_beyond_the_last_are_said,
    a_program_that_writes_over_what_it_said_harms_nothing_else,
    a_long_section_is_explained_with_what_ran_in_it,
];

fn lines(finished: &Finished) -> Vec<LoopLine> {
    let mut found = Vec::new();
    let whole = read_lines(&finished.directory, |line| found.push(line)).unwrap();
    assert!(whole, "{} lines", found.len());
    found
}

fn texts(lines: &[LoopLine]) -> Vec<(u64, &str)> {
    let text = |line: &'_ LoopLine| matches!(line.said, LineSaid::Text(_));
    let said = lines.iter().filter(|line| text(line));
    said.map(|line| match &line.said {
        LineSaid::Text(text) => (line.cycle, text.as_str()),
        LineSaid::Value { .. } => unreachable!("filtered"),
    })
    .collect()
}

fn lines_and_values_of_a_loop_in_c_are_in_the_run() {
    let place = Place::new();
    let each = "if (cycle.cycle % 100 == 7) { \
                    wakepath_log(loop, \"cycle %llu: %5.2f|%-4s|%d%%|%c|%hhd|%zu\", \
                                 (unsigned long long)cycle.cycle, 1.256, \"ab\", -3, 'x', (signed char)-5, (size_t)9); \
                    wakepath_value(loop, \"height\", cycle.cycle / 2.0); }";
    let program = built_of(&place, &looping("", each));
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    finished.assert_archive_is_complete();
    let lines = lines(&finished);
    let texts = texts(&lines);
    assert!(texts.len() >= 5, "{texts:?}");
    let samples = finished.samples(0);
    for &(cycle, text) in &texts {
        assert_eq!(text, format!("cycle {cycle}:  1.26|ab  |-3%|x|-5|9"));
        assert_eq!(cycle % 100, 7);
    }
    for line in lines.iter().filter(|line| line.segment == 0) {
        let sample = samples.iter().find(|of| of.cycle == line.cycle).unwrap();
        assert!(
            (sample.wake_ns..=sample.end_ns).contains(&line.at_ns),
            "{line:?}"
        );
        if let LineSaid::Value { name, is } = &line.said {
            assert_eq!((name.as_str(), *is), ("height", line.cycle as f64 / 2.0));
        }
    }
    let shown = ask("show", &finished.directory);
    assert_eq!(shown.code(), finished.code());
    let details = crate::started::Start::command(&["show", "--details"])
        .with(&[&finished.directory])
        .finish();
    assert!(
        details.output.contains("cycle 107:  1.26|ab  |-3%|x|-5|9"),
        "{}",
        details.output
    );
    assert!(details.output.contains("height"), "{}", details.output);
    // Digests hold for it as for the samples.
    std::fs::write(finished.directory.join("loop-log.jsonl"), "{}\n").unwrap();
    ask("show", &finished.directory).assert_code(1);
}

fn lines_of_a_loop_in_cpp_are_written_as_its_types_are() {
    let place = Place::new();
    let source = place.path().join("source.cpp");
    std::fs::write(
        &source,
        "#include <wakepath.hpp>\n\
         enum Mode { manual = 4 };\n\
         int main() {\n\
             wakepath::Loop loop(\"control\", std::chrono::milliseconds(1));\n\
             loop.run([&](const wakepath_cycle &cycle) {\n\
                 static bool said;\n\
                 if (cycle.cycle >= 500 && !said) {\n\
                     said = true;\n\
                     loop.log(\"{} {:.2f} {:>4} {} {} {{}}\", std::uint64_t{500}, 0.5f, \"ab\", std::string(\"long\"), true);\n\
                     loop.log(\"{} {} {:x}\", manual, -1, 255u);\n\
                     loop.log(\"nothing\");\n\
                     loop.value(\"duty\", 0.25);\n\
                 }\n\
             });\n\
         }\n",
    )
    .unwrap();
    let program = built(&place, "g++", &["-std=c++17"], &source);
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let lines = lines(&finished);
    let texts = texts(&lines);
    let wanted = ["500 0.50   ab long true {}", "4 -1 ff", "nothing"];
    assert_eq!(texts[..3].iter().map(|of| of.1).collect::<Vec<_>>(), wanted);
}

fn sections_are_kept_one_by_one_with_their_cycle() {
    let place = Place::new();
    let each = "if (!outer) { outer = wakepath_loop_section(loop, \"outer\", 0) + 1; \
                              inner = wakepath_loop_section(loop, \"inner\", 200000) + 1; } \
                wakepath_section_begin(loop, outer - 1); \
                wakepath_section_begin(loop, inner - 1); \
                if (FIRST_FROM(700)) usleep(3000); \
                wakepath_section_end(loop, inner - 1); \
                wakepath_section_end(loop, outer - 1);";
    let globals = "#include <unistd.h>\nstatic uint32_t outer, inner;";
    let program = built_of(&place, &looping(globals, each));
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let told = SegmentTold::read(&finished.directory, 0).unwrap().unwrap();
    assert!(told.is_whole);
    let told = &told.threads[&0];
    assert_eq!(told.names, ["outer", "inner"]);
    for sample in finished.samples(0) {
        let [inner, outer] = told.spans_of(sample.cycle) else {
            panic!("cycle {}: {:?}", sample.cycle, told.spans_of(sample.cycle));
        };
        assert_eq!((inner.section, outer.section), (1, 0));
        assert!(sample.wake_ns <= outer.from_ns && outer.from_ns <= inner.from_ns);
        assert!(inner.to_ns <= outer.to_ns && outer.to_ns <= sample.end_ns);
    }
    // In the table too: the longest of them is known, and what is usual.
    let found = finished.json();
    let module = &found["modules"][1];
    assert_eq!(module["name"], "inner");
    let spread = &module["spread"];
    assert!(
        spread["min_ns"].as_u64() < spread["p99_ns"].as_u64(),
        "{module:#}"
    );
    assert!(spread["max_ns"].as_u64() >= Some(3_000_000), "{module:#}");
}

fn what_a_loop_said_survives_a_kill() {
    let place = Place::new();
    let each = "if (cycle.cycle % 10 == 0) wakepath_log(loop, \"cycle %llu\", (unsigned long long)cycle.cycle);";
    let program = built_of(&place, &looping("", each));
    let finished = killed_and_recovered(place, &program, 2000);
    let lines = lines(&finished);
    assert!(lines.len() >= 150, "{} lines", lines.len());
    let last = finished.samples(0).last().unwrap().cycle;
    let said = lines.last().unwrap().cycle;
    assert!(said + 1000 > last, "{said} of {last}");
}

fn lines_that_nobody_takes_are_dropped_and_counted() {
    let place = Place::new();
    // Some 200 000 words in a cycle; the ring has half a million.
    let each = "if (FIRST_FROM(500)) for (int line = 0; line < 200000; line++) \
                    wakepath_log(loop, \"line %d\", line);";
    let program = built_of(&place, &looping("", each));
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let lines = lines(&finished);
    let first = lines.iter().filter(|line| line.segment == 0).count();
    assert!(first > 1_000 && first < 200_000, "{first} lines");
    let said = &finished.complaints;
    let dropped = format!(
        "{} lines, values or times of sections were dropped",
        200_000 - first
    );
    assert!(said.contains(&dropped), "{dropped}: {said}");
}

fn formats_that_can_not_be_copied_and_sections_beyond_the_last_are_said() {
    let place = Place::new();
    let each = "if (cycle.cycle == 0) { \
                    static char name[3]; \
                    for (int number = 0; number < 18; number++) { \
                        snprintf(name, sizeof name, \"%02d\", number); \
                        wakepath_loop_section(loop, name, 0); \
                    } } \
                if (FIRST_FROM(500)) wakepath_log(loop, \"%*d\", 3, 4);";
    let program = built_of(&place, &looping("#include <stdio.h>", each));
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let said = &finished.complaints;
    assert!(
        said.contains("2 sections above a loop's maximum of"),
        "{said}"
    );
    assert!(said.contains("1 lines or values were left out"), "{said}");
    // The same once for each segment, and counted.
    assert!(
        said.contains("times in all: loop: 2 sections above"),
        "{said}"
    );
}

fn a_program_that_writes_over_what_it_said_harms_nothing_else() {
    let place = Place::new();
    let headers = "#include <string.h>\n#include <stdio.h>\n#include <unistd.h>\n#include <inttypes.h>\n\
                   static void scribble(void) {\n\
                       FILE *maps = fopen(\"/proc/self/maps\", \"r\");\n\
                       char line[512];\n\
                       uintptr_t from, to;\n\
                       while (fgets(line, sizeof line, maps))\n\
                           if (strstr(line, \"wakepath-samples\") && \
                               sscanf(line, \"%\" SCNxPTR \"-%\" SCNxPTR, &from, &to) == 2)\n\
                               memset((void *)(to - 1024 * 1024), 0xa5, 1024 * 1024);\n\
                   }\n";
    // The log records follow the samples: the end of the memory belongs only to them.
    let each =
        "wakepath_log(loop, \"cycle %d\", (int)cycle.cycle); if (FIRST_FROM(500)) scribble();";
    let program = built_of(&place, &looping(headers, each));
    let finished = recorded(place, "2s", &[], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let samples = finished.samples(0);
    assert!(samples.len() > 600, "{} samples", samples.len());
}

fn a_long_section_is_explained_with_what_ran_in_it() {
    let place = Place::new();
    let each = "if (!part) part = wakepath_loop_section(loop, \"compute\", 2000000) + 1; \
                wakepath_section_begin(loop, part - 1); \
                if (cycle.cycle % 500 == 450) { \
                    usleep(5000); \
                    wakepath_log(loop, \"slow in cycle %d\", (int)cycle.cycle); } \
                wakepath_section_end(loop, part - 1);";
    let program = built_of(
        &place,
        &looping("#include <unistd.h>\nstatic uint32_t part;", each),
    );
    let finished = recorded(place, "4s", &["--trace"], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let explained = Start::command(&["explain", "--all"])
        .with(&[&finished.directory])
        .finish();
    if explained.complaints.contains("no kernel events") {
        crate::started::not_run("explaining sections", &explained.complaints);
    }
    let (_, longest) = explained
        .output
        .split_once("longest cycles, by their own work")
        .expect(&explained.output);
    let line = longest.lines().nth(1).unwrap();
    assert!(
        line.contains("in section compute, over its budget of 2.00 ms: "),
        "{line}"
    );
    let number = line
        .split_once("cycle ")
        .unwrap()
        .1
        .split_once(':')
        .unwrap()
        .0;
    let number: u64 = number.parse().unwrap();
    let ask = |words: &[&str]| {
        let one = Start::command(words).with(&[&finished.directory]).finish();
        assert!(one.code() == Some(0), "{}", one.said());
        one.output
    };
    let one = ask(&["explain", "--cycle", &number.to_string()]);
    assert!(one.contains("section compute, over its budget"), "{one}");
    if number % 500 == 450 {
        assert!(
            one.contains(&format!("the loop said: slow in cycle {number}")),
            "{one}"
        );
    }
    let files = Place::new();
    let [timeline, page] = ["timeline", "page.html"].map(|name| files.path().join(name));
    ask(&["explain", "--perfetto", timeline.to_str().unwrap()]);
    let bytes = std::fs::read(&timeline).unwrap();
    let holds = |word: &str| bytes.windows(word.len()).any(|at| at == word.as_bytes());
    assert!(holds("sections") && holds("compute"));
    // On a busy machine other cycles can be longer than the ones marked as slow.
    assert!(holds("slow in cycle ") || number % 500 != 450);
    ask(&["report", "--output", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("Sections of the longest cycles") && page.contains("section compute"));
}
