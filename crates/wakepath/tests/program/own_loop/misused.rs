//! Programs that misuse the library, or are driven by a wrong clock: each gets a message of one line, and
//! everything recordable is recorded.

use super::*;

wakepath_test_program::tests![
    loops_that_come_late_and_sections_that_do_not_match_are_said,
    two_loops_of_one_name_are_refused_in_one_line,
    a_clock_that_goes_back_or_far_ahead_costs_no_cycle_and_is_said,
    a_blackout_of_the_loop_s_own_ends_a_run_that_stops_above,
];

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
        said.contains("1 more loop of the program is not recorded"),
        "{said}"
    );
    assert!(
        said.contains("the section `part` was begun twice or ended without"),
        "{said}"
    );
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
        said.contains("two loops have the name `attitude`") && said.lines().count() == 1,
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
