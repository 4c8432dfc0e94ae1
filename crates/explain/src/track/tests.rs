use super::*;

fn mark(at_ns: u64, what: Happened) -> Mark {
    Mark {
        at_ns,
        cpu: 1,
        what,
    }
}

fn waking(at_ns: u64) -> Mark {
    let from = Context::Unknown;
    mark(at_ns, Happened::Waking { from, priority: 19 })
}

fn states(track: &Track, from_ns: u64, to_ns: u64) -> Vec<(u64, State)> {
    let intervals = track.between(from_ns, to_ns);
    intervals.iter().map(|i| (i.to_ns, i.state)).collect()
}

#[test]
fn a_thread_that_is_woken_on_its_way_to_sleep_stays_runnable() {
    let mut track = Track::default();
    track.push(mark(10, Happened::In { priority: 19 }));
    track.push(waking(20));
    track.push(mark(21, Happened::Out(Left::Sleeping)));
    track.push(mark(30, Happened::In { priority: 19 }));
    assert_eq!(
        states(&track, 15, 40),
        [
            (21, State::Running(1)),
            (30, State::Runnable),
            (40, State::Running(1))
        ]
    );
}

#[test]
fn forgetting_marks_keeps_the_state_they_led_to() {
    let mut track = Track::default();
    track.push(mark(10, Happened::In { priority: 19 }));
    track.push(mark(20, Happened::Out(Left::Sleeping)));
    track.push(waking(90));
    track.forget_before(50);
    assert_eq!(track.marks().len(), 1);
    assert_eq!(
        states(&track, 60, 100),
        [(90, State::Sleeping), (100, State::Runnable)]
    );
}

#[test]
fn forgetting_marks_keeps_whether_the_thread_is_outside_of_calls() {
    let mut track = Track::default();
    assert!(!track.is_outside_calls(5));
    track.push(mark(10, Happened::CallLeft));
    track.push(mark(20, Happened::Fault { after_fork: None }));
    track.forget_before(30);
    assert!(track.marks().is_empty() && track.is_outside_calls(40));
    track.push(mark(50, Happened::Lost));
    track.push(mark(60, Happened::Fault { after_fork: None }));
    track.forget_before(70);
    assert!(!track.is_outside_calls(80));
}

#[test]
fn marks_that_come_out_of_order_are_put_in_order() {
    let mut track = Track::default();
    track.push(mark(30, Happened::In { priority: 19 }));
    track.push(waking(25));
    assert_eq!(
        states(&track, 0, 40),
        [
            (25, State::Unknown),
            (30, State::Runnable),
            (40, State::Running(1))
        ]
    );
}
