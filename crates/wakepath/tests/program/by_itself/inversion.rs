//! A recorded loop with a priority inversion: the section that waits, the lock's holder and what kept that off its CPU
//! are what matters first.

use crate::own_loop::{built_of, recorded};
use crate::started::{Place, Start, ask, loop_cpu, needs_real_time, needs_tracing, not_run};
use serde_json::Value;
use std::path::PathBuf;

wakepath_test_program::tests![a_recorded_loop_s_priority_inversion_is_what_matters_first];

const WHAT: &str = "recording a priority inversion";

/// `planner` keeps `logger` off the loop's CPU for 20 ms of each 50 ms; that holds a lock two fifths of its time.
fn program(place: &Place) -> PathBuf {
    let text = format!(
        "#define _GNU_SOURCE\n#include <pthread.h>\n#include <sched.h>\n#include <stdio.h>\n#include <sys/prctl.h>\n\
         #include <time.h>\n#include <unistd.h>\n#include <wakepath.h>\n\
         static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
         static void compute(long us) {{\n\
             struct timespec now;\n\
             long end = us * 1000, since = 0;\n\
             do {{\n\
                 clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);\n\
                 long at = now.tv_sec * 1000000000L + now.tv_nsec;\n\
                 since = since ? since : at;\n\
                 if (at - since >= end) return;\n\
             }} while (1);\n\
         }}\n\
         static void settle(const char *name, int priority) {{\n\
             struct sched_param parameters = {{.sched_priority = priority}};\n\
             cpu_set_t set;\n\
             CPU_ZERO(&set); CPU_SET({cpu}, &set);\n\
             prctl(PR_SET_NAME, name);\n\
             sched_setaffinity(0, sizeof set, &set);\n\
             sched_setscheduler(0, priority ? SCHED_FIFO : SCHED_OTHER, &parameters);\n\
         }}\n\
         static void *logger(void *nothing) {{\n\
             settle(\"logger\", 0);\n\
             for (;;) {{\n\
                 pthread_mutex_lock(&lock); compute(1000); pthread_mutex_unlock(&lock);\n\
                 usleep(1500);\n\
             }}\n\
             return nothing;\n\
         }}\n\
         static void *planner(void *nothing) {{\n\
             settle(\"planner\", 50);\n\
             /* At each phase of the logger, which begins anew when this ends. */\n\
             for (long turn = 0;; turn++) {{ usleep(30000 + turn % 5 * 500); compute(20000); }}\n\
             return nothing;\n\
         }}\n\
         int main(void) {{\n\
             char said[256] = \"\";\n\
             uint16_t cpus[] = {{{cpu}}};\n\
             pthread_t thread;\n\
             pthread_create(&thread, 0, logger, 0);\n\
             pthread_create(&thread, 0, planner, 0);\n\
             if (wakepath_prepare_fifo(80, cpus, 1, said, sizeof said)) {{ puts(said); return 1; }}\n\
             wakepath_loop *loop = wakepath_loop_create(\"control\", 4000000, 0, 0);\n\
             uint32_t section = wakepath_loop_section(loop, \"lock\", 500000);\n\
             while (wakepath_loop_wait(loop, 0)) {{\n\
                 wakepath_section_begin(loop, section);\n\
                 pthread_mutex_lock(&lock); compute(100); pthread_mutex_unlock(&lock);\n\
                 wakepath_section_end(loop, section);\n\
                 wakepath_loop_finish(loop);\n\
             }}\n\
             _exit(0);\n\
         }}\n",
        cpu = loop_cpu()
    );
    built_of(place, &text)
}

fn a_recorded_loop_s_priority_inversion_is_what_matters_first() {
    needs_tracing(WHAT);
    needs_real_time(WHAT);
    let _turn = super::turn();
    let place = Place::new();
    let program = program(&place);
    let finished = recorded(place, "6s", &["--trace"], &program);
    assert!(finished.code() != Some(1), "{}", finished.said());
    let explained = Start::command(&["explain", "--json"])
        .with(&[&finished.directory])
        .finish();
    if explained.complaints.contains("no kernel events") {
        not_run(WHAT, &explained.complaints);
    }
    let explanation = explained.json();
    let condition = &explanation["conditions"][0];
    let first = &condition["causes"][0];
    let is_named = |of: &Value| {
        let cause = of["cause"].as_str().unwrap_or_default();
        of["kind"] == "priority-inversion"
            && ["on logger", "planner (FIFO/RR 50) had its CPU"]
                .iter()
                .all(|part| cause.contains(part))
    };
    assert!(is_named(first), "{condition:#}");
    let fix = first["remedy"].as_str().unwrap_or_default();
    assert!(fix.contains("PTHREAD_PRIO_INHERIT"), "{fix}");
    // The cycles in whose time others were skipped are explained too.
    let (late, explained) = (&condition["late_ns"], &condition["late_explained_ns"]);
    assert!(
        explained.as_u64().unwrap() * 10 >= late.as_u64().unwrap() * 9,
        "{condition:#}"
    );
    let shown = ask("show", &finished.directory);
    let (_, matters) = shown
        .output
        .split_once("what matters most")
        .expect(&shown.output);
    let first: Vec<&str> = matters.lines().skip(1).take(2).collect();
    assert!(first.join(" ").contains("blocked on logger"), "{matters}");
}
