//! Fixes of the loop's own way of waiting and working.

use super::Proof::{NotHere, Tests};
use super::Who::{Programmer, User};
use super::{Fix, rows};

rows! {
    ABSOLUTE_SLEEP: Fix {
        name: "sleep until a time instead of for a time",
        words: "sleep until the next due time instead, the last one + the period, not now + the period: clock_nanosleep with \
                TIMER_ABSTIME, sleep_until, or a timerfd",
        changes: "how the loop sleeps",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["ways_of_sleeping_and_serving_cure_late_timers"]),
    };
    TIME_OUT_FROM_DUE_TIME: Fix {
        name: "time-out counted from the due time",
        words: "compute each time-out from the next due time (next += period, time-out = next − now): in Python loop.call_at, \
                in Node setTimeout instead of setInterval, in C a timerfd",
        changes: "time-outs of the event loop",
        who: &[Programmer],
        trial: None,
        proof: NotHere("the same change is tested with clock_nanosleep"),
    };
    MONOTONIC_CLOCK: Fix {
        name: "CLOCK_MONOTONIC",
        words: "use CLOCK_MONOTONIC (in C++ steady_clock), which is never set",
        changes: "clock of the loop",
        who: &[Programmer],
        trial: None,
        proof: NotHere("a test that sets the machine's clock would disturb the others"),
    };
    NO_CLOCK_STEPS: Fix {
        name: "no steps of the wall clock",
        words: "let nothing step the clock while nodes run: chrony with makestep 1.0 3, no `date -s`",
        changes: "how the wall clock is corrected",
        who: &[User],
        trial: None,
        proof: NotHere("a test that sets the machine's clock would disturb the others"),
    };
    SLEEP_AGAIN: Fix {
        name: "sleep again after EINTR",
        words: "sleep again until the same due time as long as the call returns EINTR (clock_nanosleep with TIMER_ABSTIME), \
                or block the signal in this thread (pthread_sigmask)",
        changes: "the loop's answer to EINTR, or its signal mask",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["ways_of_sleeping_and_serving_cure_late_timers"]),
    };
    FIRST_DUE_TIME_LAST: Fix {
        name: "first due time after the initialisation",
        words: "fix the first due time after the initialisation: read the clock right before the loop's first sleep",
        changes: "the loop's first due time",
        who: &[Programmer],
        trial: None,
        proof: NotHere("only the first cycles show it"),
    };
    OTHER_EXECUTOR: Fix {
        name: "another thread serves other events",
        words: "let another thread serve that (in ROS 2: a callback group with an executor of its own), so that this one is \
                free when its timer expires",
        changes: "which thread serves which events",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["ways_of_sleeping_and_serving_cure_late_timers"]),
    };
    ASK_AHEAD: Fix {
        name: "no wait in each cycle",
        words: "ask in one cycle and take the answer in a later one, or let another thread wait",
        changes: "when the loop reads",
        who: &[Programmer],
        trial: None,
        proof: NotHere("the same change is tested where a cycle waits now and then"),
    };
    LOCK_IN_EACH_CYCLE: Fix {
        name: "no wait for a lock in each cycle",
        words: "if that is a lock, others should hold it for less time, or give the loop a copy. If it is an answer, take it in \
                a later cycle, or let another thread wait",
        changes: "when the loop needs what others have",
        who: &[Programmer],
        trial: None,
        proof: NotHere("the same change is tested where a cycle waits now and then"),
    };
    ASK_DEVICE_AHEAD: Fix {
        name: "no wait for a device in each cycle",
        words: "ask in one cycle and take the answer in a later one, or let another thread wait. A serial adapter may hold \
                data back for its latency timer (wakepath doctor reads it)",
        changes: "when the loop reads",
        who: &[Programmer],
        trial: None,
        proof: NotHere("needs a device; the same change is tested with a socket"),
    };
    WATCH_SENDER: Fix {
        name: "watch the sender",
        words: "watch what sends to it in the same way, on its own machine",
        changes: "nothing: it finds the cause",
        who: &[User],
        trial: None,
        proof: NotHere("it finds the cause, and cures nothing"),
    };
    WATCH_WAKER: Fix {
        name: "find out why the thread that wakes it is late",
        words: "that thread's own late cycles are explained, too, if it is watched; -p adds its process",
        changes: "nothing: it finds the cause",
        who: &[User],
        trial: None,
        proof: NotHere("it finds the cause, and cures nothing"),
    };
    ONE_TIMER_THREAD: Fix {
        name: "one thread for a timer",
        words: "let the loop's own thread do the work. Instead of SIGEV_THREAD, with which the C library starts a thread at \
                each expiry, let one wait for the timer (a timerfd and read(), or SIGEV_SIGNAL and sigwaitinfo())",
        changes: "which thread does the work",
        who: &[Programmer],
        trial: None,
        proof: NotHere("it lets the work be judged, and cures nothing"),
    };
    RECORD_CALLS: Fix {
        name: "record system calls",
        words: "which of the two is unknown: the system calls of this loop were not recorded, or no longer as there were too \
                many. One that calls sched_yield() in a loop makes so many: let it block instead",
        changes: "nothing: it finds the cause",
        who: &[User],
        trial: None,
        proof: NotHere("it finds the cause, and cures nothing"),
    };
    RECORD_STACKS: Fix {
        name: "record functions",
        words: "in which function is unknown: `wakepath watch --stacks -- PROGRAM` shows it, as far as the kernel's tick interrupts the \
                loop in it",
        changes: "nothing: it finds the cause",
        who: &[User],
        trial: None,
        proof: NotHere("it finds the cause, and cures nothing"),
    };
    SHORTEN_CODE: Fix {
        name: "shorten that code",
        words: "no setting shortens {}: make it faster, or move it to a thread that the loop does not wait for",
        changes: "the program",
        who: &[Programmer],
        trial: None,
        proof: NotHere("only its author can change the program"),
    };
    TIME_SECTIONS: Fix {
        name: "time its parts",
        words: "in which function is unknown: the kernel's tick never interrupted the loop in it; time its parts as sections",
        changes: "nothing: it finds the cause",
        who: &[Programmer],
        trial: None,
        proof: NotHere("it finds the cause, and cures nothing"),
    };
}
