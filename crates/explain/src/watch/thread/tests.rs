use super::super::activation::TimedWait;
use super::*;

/// When a turn first waits for others, if it sleeps like this from 110 to 500 ns in this call, or in one that is not
/// known, and again from 600 ns.
fn first_wait(call: Option<&str>, left: Left) -> Option<(u64, u64)> {
    let mut thread = Thread::default();
    thread.by_timers.begin(woken(0, 0), false);
    thread.switched_in(10, 0);
    if let Some(name) = call {
        thread.waits.entered(&name.into(), None);
    }
    thread.out(110, left);
    thread.handed(500, 0, Key::Thread(2), Some(2));
    thread.switched_in(510, 0);
    thread.out(600, left);
    thread.by_timers.close();
    let [turn] = thread.by_timers.ended[..] else {
        panic!("{:?}", thread.by_timers);
    };
    assert_eq!((turn.end_ns, turn.run_ns), (600, 190));
    turn.first_wait
}

#[test]
fn a_turn_first_waits_for_others_in_a_futex_or_where_the_call_was_not_recorded_yet() {
    assert_eq!(first_wait(Some("futex"), Left::Sleeping), Some((110, 100)));
    assert_eq!(first_wait(None, Left::Sleeping), Some((110, 100)));
    // A device, or a page.
    assert_eq!(first_wait(Some("read"), Left::Sleeping), None);
    assert_eq!(first_wait(None, Left::Blocked), None);
}

#[test]
fn a_turn_s_wait_is_the_last_one_for_the_earliest_time() {
    let mut thread = Thread::default();
    thread.by_timers.begin(woken(0, 0), false);
    thread.switched_in(10, 0);
    let waits = [
        (110, 50_000_000),
        (210, 9_000_000),
        (310, 9_001_000),
        (410, 19_000_000),
    ];
    for (at_ns, for_ns) in waits {
        thread.waits.entered(&"ppoll".into(), None);
        let programmed = Programmed {
            for_ns,
            at_ns,
            by: 1,
        };
        thread.asked(1, programmed);
    }
    thread.by_timers.close();
    assert_eq!(
        thread.by_timers.ended[0].timed_wait,
        Some(TimedWait {
            for_ns: 9_001_000,
            end_ns: 310,
            run_ns: 300,
        })
    );
}

/// End of a turn that a wait for any event began, that sleeps at 110 ns in this call, is stopped within it from 500 to
/// 900 ns, and runs for `then_ns` after that.
fn end_of_stopped(call: &str, then_ns: u64) -> u64 {
    let mut thread = Thread::default();
    let began = Activation {
        woken_in: WokenIn::Events,
        ..woken(0, 0)
    };
    thread.by_timers.begin(began, false);
    thread.switched_in(10, 0);
    thread.waits.entered(&call.into(), None);
    thread.out(110, Left::Sleeping);
    thread.handed(500, 0, Key::Thread(2), Some(2));
    thread.switched_in(500, 0);
    thread.out(510, Left::Stopped);
    thread.by_timers.stopped();
    thread.handed(900, 0, Key::Thread(2), Some(2));
    thread.switched_in(900, 0);
    thread.out(900 + then_ns, Left::Sleeping);
    thread.by_timers.close();
    thread.by_timers.ended[0].end_ns
}

#[test]
fn a_stop_of_a_thread_that_waits_for_its_next_cycle_is_no_part_of_the_one_before() {
    assert_eq!(end_of_stopped("epoll_wait", 100_000), 110);
    // It was stopped in its work.
    assert_eq!(end_of_stopped("epoll_wait", 1_000_000), 1_000_900);
    assert_eq!(end_of_stopped("recvfrom", 100_000), 100_900);
}

/// A turn at 0 ns, and one at 1000 ns for which a timer was programmed at 1000 + `early_ns`, in which the thread ends in
/// this call: how many turns remain by timers and by others.
fn left_after_end(call: &str, early_ns: u64) -> [usize; 2] {
    let mut thread = Thread::default();
    for (at_ns, for_ns) in [(0, 0), (1_000, 1_000 + early_ns)] {
        let turn = Activation {
            programmed_ns: Some(for_ns),
            ..woken(at_ns, 0)
        };
        thread.woken(at_ns);
        thread.by_timers.begin(turn, false);
        thread.handed.begin(woken(at_ns, 0), false);
        thread.switched_in(at_ns + 10, 0);
        thread.waits.entered(&call.into(), None);
        let left = if at_ns == 0 {
            Left::Sleeping
        } else {
            Left::Dead
        };
        thread.out(at_ns + 100, left);
    }
    [thread.by_timers.ended.len(), thread.handed.ended.len()]
}

#[test]
fn a_turn_in_which_the_program_ends_or_that_a_kill_began_is_no_cycle() {
    assert_eq!(left_after_end("exit_group", 0), [1, 1]);
    assert_eq!(left_after_end("clock_nanosleep", 500), [1, 1]);
    // Killed while it ran too long.
    assert_eq!(left_after_end("read", 0), [2, 1]);
}
