//! `wakepath try` on a loop that allocates in locked memory: a fix that cures helped, and what can't be tried is one line.

use crate::started::{Place, Start, built, loop_cpu, needs_real_time, needs_tracing};
use std::path::PathBuf;

wakepath_test_program::tests![
    tunables_of_malloc_help_a_loop_that_allocates,
    a_policy_is_tried_on_the_loop_alone_and_not_on_what_makes_it_late,
    what_can_t_be_tried_is_refused_in_one_line_and_leaves_nothing,
];

const WHAT: &str = "trying a fix";

/// The loop of `cures.c`, built in this place.
pub fn cures(place: &Place) -> PathBuf {
    needs_tracing(WHAT);
    needs_real_time(WHAT);
    built(place, "cures", WHAT)
}

fn tunables_of_malloc_help_a_loop_that_allocates() {
    let _turn = super::turn();
    let place = Place::new();
    let program = cures(&place);
    let words = [
        "try", "malloc", "--for", "1500ms", "--pairs", "5", "-o", "run", "--",
    ];
    let finished = Start::command_in(place, &words)
        .with(&[program.as_os_str()])
        .with(&[&*loop_cpu().to_string(), "allocation"])
        .finish();
    finished.skip_unless_watched(WHAT);
    finished.assert_code(0);
    let said = &finished.output;
    for part in [
        "malloc for control",
        "helped",
        "MALLOC_MMAP_MAX_=0",
        "nothing stays",
    ] {
        assert!(said.contains(part), "no {part:?}: {said}");
    }
    assert!(said.lines().count() <= 24, "{said}");
}

fn a_policy_is_tried_on_the_loop_alone_and_not_on_what_makes_it_late() {
    let _turn = super::turn();
    let place = Place::new();
    let program = cures(&place);
    let words = [
        "try",
        "policy=FIFO 80",
        "--for",
        "1500ms",
        "--pairs",
        "3",
        "-o",
        "run",
        "--",
    ];
    // Its neighbour has the policy of the program.
    let finished = Start::command_in(place, &words)
        .with(&[program.as_os_str()])
        .with(&[&*loop_cpu().to_string(), "ordinary", "inherits"])
        .finish();
    finished.skip_unless_watched(WHAT);
    finished.assert_code(0);
    let said = &finished.output;
    for part in ["FIFO 80 with it", "helped", "give control FIFO 80"] {
        assert!(said.contains(part), "no {part:?}: {said}");
    }
}

fn what_can_t_be_tried_is_refused_in_one_line_and_leaves_nothing() {
    for (words, part) in [
        (&["mlockall", "--", "true"][..], "no such fix"),
        (&["policy=FIFO 100", "--", "true"], "99"),
        (&["rtprio=many", "--", "true"], "can't be tried here: "),
        (&["malloc", "--", "./nowhere"], "no such program"),
        (&["/proc/sys/nothing=1", "--", "true"], "/proc/sys/nothing"),
        (&["/etc/hostname=x", "--", "true"], "no such fix"),
        (&["malloc", "--for", "soon", "--", "true"], "--for soon"),
    ] {
        let finished = Start::command(&["try", "-o", "run"]).with(words).finish();
        finished.assert_refused(1, &[part]);
        assert!(!finished.place.path().join("run").exists());
    }
}
