//! A program in the field that starts its recorder itself: recorded as under `wakepath record --service`,
//! and the recorder keeps none of its files open; it runs without a recorder if there is none.

use super::*;

wakepath_test_program::tests![
    a_program_that_starts_its_recorder_is_recorded_until_it_ends,
    a_recorder_that_is_killed_comes_back_and_a_program_that_is_killed_is_said_to_be,
    a_program_without_a_recorder_says_so_and_its_loop_runs,
    what_the_recorder_refuses_is_told_to_the_program_in_one_line,
    a_program_that_is_recorded_on_the_bench_starts_no_second_recorder,
    cpp_starts_its_recorder_too,
    a_program_that_becomes_another_ends_its_loops_and_is_recorded_anew,
];

/// A loop of this number of cycles of 1 ms that requests its recorder with these options, and prints the
/// answer and the number of cycles.
fn text(options: &str, before: &str, cycles: u64) -> String {
    format!(
        "#include <wakepath.h>\n#include <stdio.h>\n#include <fcntl.h>\n#include <signal.h>\n\
         #include <unistd.h>\n#include <string.h>\n\
         int main(void) {{\n\
             char said[512] = \"\";\n\
             const char *options[] = {{{options}}};\n\
             {before}\n\
             int answer = wakepath_record_service(\"field\", options, sizeof options / sizeof *options, said, sizeof said);\n\
             printf(\"%d: %s\\n\", answer, said); fflush(stdout);\n\
             wakepath_loop *loop = wakepath_loop_create(\"loop\", 1000000, 0, 0);\n\
             wakepath_cycle cycle; unsigned long count = 0;\n\
             while (wakepath_loop_wait(loop, &cycle)) {{\n\
                 count++; wakepath_loop_finish(loop);\n\
                 if (cycle.cycle >= {cycles}) break;\n\
             }}\n\
             printf(\"%lu cycles, recorded: %d\\n\", count, wakepath_loop_is_recorded(loop));\n\
             wakepath_loop_destroy(loop);\n\
             return 7;\n\
         }}\n"
    )
}

/// As options of C, with the recorder under test and a criterion that can be met.
fn options(more: &[&str]) -> String {
    let given = ["--keep", "16MiB", "--criterion", "miss-fraction 90 %"];
    only(&[&given[..], more].concat())
}

/// These options alone, with the recorder under test.
fn only(more: &[&str]) -> String {
    let recorder = crate::started::binary().canonicalize().unwrap();
    let recorder = recorder.display().to_string();
    let words: Vec<String> = [&["--recorder", &recorder], more]
        .concat()
        .iter()
        .map(|word| format!("{word:?}"))
        .collect();
    words.join(", ")
}

fn start(place: &Place, program: &Path) -> Child {
    let mut command = Command::new(program);
    command.current_dir(place.path()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Its output and exit code.
fn ended(child: Child) -> (String, Option<i32>) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    (format!("{printed}{said}"), output.status.code())
}

fn a_program_that_starts_its_recorder_is_recorded_until_it_ends() {
    let place = Place::new();
    // As a daemon may have it: its children's end ignored, a file open for all that it starts.
    let before =
        "signal(SIGCHLD, SIG_IGN); int bus = open(\"bus\", O_CREAT | O_RDWR, 0600); (void)bus;";
    let program = built_of(&place, &text(&options(&["--worst", "5"]), before, 800));
    let mut executed = 0;
    for _ in 0..2 {
        let child = start(&place, &program);
        let number = child.id();
        wait_until("there is a recorder", || {
            process_of("service-recorder", &place).is_some()
        });
        for kind in ["service-keeper", "service-recorder"] {
            let process = process_of(kind, &place).unwrap();
            let open = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
            let has_bus = open
                .flatten()
                .filter_map(|entry| std::fs::read_link(entry.path()).ok())
                .any(|path| path.ends_with("bus"));
            assert!(!has_bus, "{kind} keeps the program's file open");
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
            assert!(!stat.contains(&format!(" S {number} ")), "it is its child");
        }
        let (said, code) = ended(child);
        assert_eq!(code, Some(7), "{said}");
        assert!(said.starts_with("0: \n"), "{said}");
        assert!(said.contains("recorded: 1"), "{said}");
        let cycles = said.lines().nth(1).and_then(|of| of.split_once(' '));
        executed += cycles.unwrap().0.parse::<u64>().unwrap();
        shown(&place);
    }
    let found = shown(&place);
    assert_eq!((&found["starts"], count(&found, "lost")), (&2.into(), 0));
    assert_eq!(count(&found, "executed"), executed, "{found:#}");
    assert_eq!(found["loops"]["loop"]["verdict"]["outcome"], "passed");
    assert_eq!(found["loops"]["loop"]["worst"].as_array().unwrap().len(), 5);
    let command = found["command"].to_string();
    assert!(command.contains("my-loop"), "{command}");
}

fn a_recorder_that_is_killed_comes_back_and_a_program_that_is_killed_is_said_to_be() {
    let place = Place::new();
    let program = built_of(&place, &text(&options(&[]), "", 60_000));
    let mut child = start(&place, &program);
    wait_until("a segment is there", || {
        let segments = place.path().join("field/segments");
        std::fs::read_dir(segments).is_ok_and(|mut of| of.next().is_some())
    });
    std::thread::sleep(Duration::from_millis(700));
    let recorder = process_of("service-recorder", &place).unwrap();
    kill(recorder);
    wait_until("there is another", || {
        process_of("service-recorder", &place).is_some_and(|of| of != recorder)
    });
    std::thread::sleep(Duration::from_millis(700));
    assert!(child.try_wait().unwrap().is_none(), "the loop still runs");
    kill(child.id());
    child.wait().unwrap();
    let found = shown(&place);
    assert_eq!(found["recorder_died"], 1);
    assert!(count(&found, "executed") > 1_000, "{found:#}");
    assert!(count(&found, "lost") < 3_000, "{found:#}");
    // Of a cycle that is lost nobody knows what became.
    let outcome = match count(&found, "lost") {
        0 => "undecided",
        _ => "invalid",
    };
    assert_eq!(found["loops"]["loop"]["verdict"]["outcome"], outcome);
    let gaps = found["gaps"].to_string();
    assert!(
        gaps.contains("its program ended while the loop ran"),
        "{gaps}"
    );
}

fn a_program_without_a_recorder_says_so_and_its_loop_runs() {
    let place = Place::new();
    let nowhere = "\"--recorder\", \"/nowhere/wakepath\"";
    let program = built_of(&place, &text(nowhere, "", 50));
    let (said, code) = ended(start(&place, &program));
    assert_eq!(code, Some(7), "{said}");
    assert!(
        said.starts_with("-1: the program /nowhere/wakepath is not installed"),
        "{said}"
    );
    assert!(said.contains("recorded: 0"), "{said}");
    assert!(!place.path().join("field").exists());
    // Something else of that name.
    let program = built_of(&place, &text("\"--recorder\", \"/bin/true\"", "", 50));
    let (said, _) = ended(start(&place, &program));
    assert!(said.contains("/bin/true started no recorder"), "{said}");
    assert!(said.contains("recorded: 0"), "{said}");
}

fn what_the_recorder_refuses_is_told_to_the_program_in_one_line() {
    let place = Place::new();
    let refused = |options: &str, wanted: &str| {
        let program = built_of(&place, &text(options, "", 20));
        let (said, code) = ended(start(&place, &program));
        assert_eq!(code, Some(7), "the loop runs: {said}");
        let line = said.lines().next().unwrap();
        assert!(line.starts_with("-1: "), "{said}");
        assert!(line.contains(wanted), "{wanted}: {said}");
        assert!(said.contains("recorded: 0"), "{said}");
    };
    refused(&only(&["--keep", "1MiB"]), "--keep");
    refused(&only(&["--criterion", "latency never"]), "--criterion");
    refused(&only(&["--later", "1"]), "does not know these options");
    refused("\"--recorder\"", "say where the program is");
    assert!(!place.path().join("field").exists(), "nothing is written");
    std::fs::create_dir(place.path().join("field")).unwrap();
    std::fs::write(place.path().join("field/mine"), "mine").unwrap();
    refused(&options(&[]), "holds files that are not a service's");
}

fn a_program_that_is_recorded_on_the_bench_starts_no_second_recorder() {
    let place = Place::new();
    let program = built_of(&place, &text(&options(&[]), "", 100_000));
    let finished = recorded(place, "4s", &["--policy", "OTHER"], &program);
    conditions(&finished);
    assert!(printed(&finished).contains("1: it is recorded already"));
    assert!(!finished.place.path().join("field").exists());
}

fn cpp_starts_its_recorder_too() {
    let place = Place::new();
    let recorder = crate::started::binary().canonicalize().unwrap();
    let source = place.path().join("source.cpp");
    let text = format!(
        "#include <wakepath.hpp>\n#include <iostream>\n\
         using namespace std::chrono_literals;\n\
         int main() {{\n\
             wakepath::Service service{{\"field\"}};\n\
             service.criterion = \"miss-fraction 90 %\";\n\
             service.keep = \"16MiB\";\n\
             service.worst = 3;\n\
             service.recorder = {recorder:?};\n\
             std::cout << wakepath::record(service) << wakepath::record(service) << std::endl;\n\
             wakepath::Loop loop(\"loop\", 1ms);\n\
             while (const auto cycle = loop.wait()) {{\n\
                 loop.finish();\n\
                 if (cycle->cycle >= 300) break;\n\
             }}\n\
             try {{ wakepath::record({{\"elsewhere\"}}); std::cout << \"already\" << std::endl; }}\n\
             catch (const wakepath::Error &error) {{ std::cout << error.what() << std::endl; }}\n\
         }}\n"
    );
    std::fs::write(&source, text).unwrap();
    let program = built(&place, "g++", &["-std=c++17"], &source);
    let (said, code) = ended(start(&place, &program));
    assert_eq!((said.as_str(), code), ("10\nalready\n", Some(0)));
    let found = shown(&place);
    assert!(count(&found, "executed") > 200, "{found:#}");
    assert_eq!(found["loops"]["loop"]["worst"].as_array().unwrap().len(), 3);
}

fn a_program_that_becomes_another_ends_its_loops_and_is_recorded_anew() {
    let place = Place::new();
    let text = text(&options(&[]), "", 300);
    // The first time it executes itself again instead of ending.
    let text = text.replace(
        "if (cycle.cycle >= 300) break;",
        "if (cycle.cycle >= 300 && !getenv(\"AGAIN\")) { setenv(\"AGAIN\", \"1\", 1); \
         execl(\"/proc/self/exe\", \"my-loop\", NULL); }\n if (cycle.cycle >= 300) break;",
    );
    let program = built_of(
        &place,
        &format!("#define _GNU_SOURCE\n#include <stdlib.h>\n{text}"),
    );
    let (said, code) = ended(start(&place, &program));
    assert_eq!(code, Some(7), "{said}");
    assert_eq!(
        said.matches("0: \n").count(),
        2,
        "each has its recorder: {said}"
    );
    let found = shown(&place);
    assert_eq!(found["starts"], 2, "{found:#}");
    assert_eq!(found["loops"]["loop"]["died"], 1);
    assert!(
        found["notes"]
            .to_string()
            .contains("another program (exec)"),
        "{found:#}"
    );
    assert!(count(&found, "executed") > 300, "{found:#}");
}
