//! Cycles and sections that a program marks, with known answers from streams made by hand.

use crate::hand_made::{HOG, LOOP, MS, SLOW, START, Stream, US};
use wakepath_explain::watch::{BegunBy, MarkedRun, MarkedSections, row};
use wakepath_timeline::{KernelEvent, Left, What};

wakepath_test_program::tests![
    cycles_between_marks_begin_and_end_there_and_are_due_when_the_thread_was_woken,
    a_loop_that_never_sleeps_has_its_cycles_by_marks_and_they_are_told_as_unwoken,
    sections_between_marks_are_paired_by_thread_and_what_is_unpaired_is_counted,
];

const MARK: fn(u16) -> What = |number| What::Mark { number };

/// Woken twice in each turn, as a loop that waits for its sensor within the cycle; the cycle is between
/// marks.
fn cycles_between_marks_begin_and_end_there_and_are_due_when_the_thread_was_woken() {
    let mut stream = Stream::new();
    for k in 0..21 {
        let due = START + k * 4 * MS;
        stream
            .expire(due + 3 * US, LOOP)
            .switch(due + 7 * US, LOOP, Left::Runnable)
            .at(due + 12 * US, MARK(0))
            .switch(due + 20 * US, HOG, Left::Sleeping)
            .wake(due + 30 * US, LOOP)
            .switch(due + 35 * US, LOOP, Left::Runnable)
            .at(due + 50 * US, MARK(1))
            .program(due + 60 * US, LOOP, due + 4 * MS)
            .switch(due + 70 * US, HOG, Left::Sleeping);
    }
    let activity = stream.activity();
    let of = &activity[&LOOP];
    let rhythm = of.rhythm().unwrap();
    assert_eq!(
        (rhythm.period_ns, rhythm.begun_by),
        (4 * MS, BegunBy::Marks)
    );
    assert!(rhythm.programmed && rhythm.anchor_ns.is_some());
    assert_eq!((of.unwoken, of.marked.len()), (0, 21));
    // The first one's timer was programmed before anything was recorded.
    let row = row(&of.turns(rhythm), rhythm);
    assert_eq!((row.samples.len(), row.left_out), (20, 1));
    for sample in &row.samples {
        // Without the 15 µs in which it waited, and nothing of what follows the second mark.
        assert_eq!(
            (sample.latency_ns(), sample.execution_ns()),
            (12_000, 38_000)
        );
        assert_eq!(sample.cpu_time_ns, 23_000);
    }
}

fn a_loop_that_never_sleeps_has_its_cycles_by_marks_and_they_are_told_as_unwoken() {
    let mut stream = Stream::new();
    stream.switch(START, LOOP, Left::Runnable);
    for k in 1..=20 {
        let due = START + k * MS;
        stream.at(due, MARK(0));
        if k == 10 {
            stream.switch(due + 10 * US, HOG, Left::Runnable).switch(
                due + 110 * US,
                LOOP,
                Left::Runnable,
            );
        }
        // Its wait within a cycle does not set the next cycle's due time.
        stream
            .switch(due + 150 * US, HOG, Left::Sleeping)
            .wake(due + 160 * US, LOOP)
            .switch(due + 170 * US, LOOP, Left::Runnable)
            .at(due + 200 * US, MARK(1));
    }
    let activity = stream.activity();
    let of = &activity[&LOOP];
    let rhythm = of.rhythm().unwrap();
    assert_eq!((rhythm.period_ns, rhythm.begun_by), (MS, BegunBy::Marks));
    assert_eq!((of.unwoken, of.activations.len()), (20, 0));
    let row = row(&of.turns(rhythm), rhythm);
    assert_eq!(row.samples.len(), 20);
    let tenth = row.samples[9];
    assert_eq!((tenth.latency_ns(), tenth.execution_ns()), (0, 200_000));
    assert_eq!((tenth.cpu_time_ns, tenth.involuntary_switches), (80_000, 1));
}

fn sections_between_marks_are_paired_by_thread_and_what_is_unpaired_is_counted() {
    let mut sections = MarkedSections::default();
    let mut pass = |at_ns: u64, current: u32, what: What| {
        sections.event(&KernelEvent {
            at_ns,
            cpu: 1,
            current,
            what,
        });
    };
    pass(10, LOOP, MARK(0)); // A cycle is not a section.
    pass(20, LOOP, MARK(2));
    pass(25, SLOW, MARK(2)); // Another thread in the same section.
    pass(30, LOOP, MARK(4)); // One within the other.
    pass(40, LOOP, MARK(5));
    pass(50, LOOP, MARK(3));
    pass(60, SLOW, MARK(3));
    pass(70, LOOP, MARK(3)); // An end without a begin.
    pass(80, LOOP, MARK(2));
    pass(90, LOOP, MARK(2)); // A begin without an end.
    pass(95, LOOP, What::Lost { count: 1 });
    pass(99, SLOW, MARK(5)); // Its begin may have been lost, or not.
    let (threads, beyond) = sections.finish();
    let run = |section, from_ns, to_ns| MarkedRun {
        section,
        from_ns,
        to_ns,
    };
    assert_eq!(threads[&LOOP].runs, [run(1, 30, 40), run(0, 20, 50)]);
    assert_eq!(threads[&SLOW].runs, [run(0, 25, 60)]);
    assert_eq!((threads[&LOOP].unpaired, threads[&SLOW].unpaired), (2, 1));
    assert_eq!(beyond, 0);
}
