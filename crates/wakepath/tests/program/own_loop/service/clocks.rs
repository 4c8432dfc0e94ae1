//! A service whose loop another clock drives, which goes back and runs ahead: counted, also by a recorder that is killed.

use super::*;

wakepath_test_program::tests![
    a_killed_recorder_keeps_the_count_of_due_times_that_can_t_be_true,
    due_times_that_can_t_be_true_are_counted,
];

/// A program that another clock drives, which goes back twice and runs ahead once, for this number of
/// cycles.
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

/// The recorder alone is killed, and then it with its program and its keeper, as by a power cut: each time
/// the earlier counts are reported.
fn a_killed_recorder_keeps_the_count_of_due_times_that_can_t_be_true() {
    let place = Place::new();
    let program = driven_by_a_bad_clock(&place, 100_000);
    let counted = || {
        let open = place.path().join("field/open.json");
        let open = std::fs::read_to_string(open).unwrap_or_default();
        open.contains("\"went_back\":2") && open.contains("\"ran_ahead\":1")
    };
    let mut child = start(&place, &words(None, &program));
    wait_until("they are counted", counted);
    let recorder = process_of("service-recorder", &place).unwrap();
    kill(recorder);
    wait_until("there is another", || {
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
