//! Fixes of system calls that take long, or in which the loop waits.

use super::Proof::{NotHere, Tests};
use super::Who::{Programmer, Root};
use super::{Fix, rows};

rows! {
    SYNC_ELSEWHERE: Fix {
        name: "another thread writes and syncs a file",
        words: "let another thread write and sync the file; the loop puts its data into a queue",
        changes: "who calls fsync",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["another_thread_cures_syncing"]),
    };
    PRINT_ELSEWHERE: Fix {
        name: "O_NONBLOCK for a pipe or terminal",
        words: "no printing in the loop, since a full pipe or a slow terminal blocks it: put the text into a queue in memory \
                and let another thread write it, or set O_NONBLOCK and drop what does not fit",
        changes: "flag of the descriptor, or who writes",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["calls_that_wait_for_nothing_cure_waits"]),
    };
    FILE_ELSEWHERE: Fix {
        name: "another thread writes the file",
        words: "let another thread write the file; the loop puts its data into a queue in memory",
        changes: "who writes",
        who: &[Programmer],
        trial: None,
        proof: NotHere("needs a disk whose writes wait; the same change is tested with fsync"),
    };
    SEND_ELSEWHERE: Fix {
        name: "O_NONBLOCK for a socket",
        words: "let another thread send, or set O_NONBLOCK and drop what does not fit",
        changes: "flag of the descriptor, or who sends",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["calls_that_wait_for_nothing_cure_waits"]),
    };
    WRITE_ELSEWHERE: Fix {
        name: "another thread writes",
        words: "let another thread write; the loop puts its data into a queue in memory",
        changes: "who writes",
        who: &[Programmer],
        trial: None,
        proof: NotHere("printed only if the descriptor's target is unknown or a device"),
    };
    LATENCY_TIMER: Fix {
        name: "latency timer of a USB serial adapter",
        words: "a USB serial adapter may hold data back for its latency timer: echo 1 > \
                /sys/bus/usb-serial/devices/{}/latency_timer. Otherwise let another thread read, or take the answer in the next \
                cycle",
        changes: "file below `/sys`",
        who: &[Root],
        trial: None,
        proof: NotHere("needs such an adapter"),
    };
    READ_FILE_ELSEWHERE: Fix {
        name: "another thread reads the file",
        words: "let another thread read, and pass the value on in memory",
        changes: "who reads",
        who: &[Programmer],
        trial: None,
        proof: NotHere("needs a file whose reads wait; the same change is tested with fsync"),
    };
    READ_ELSEWHERE: Fix {
        name: "answer taken in a later cycle",
        words: "let another thread read, or ask in one cycle and take the answer in a later one (O_NONBLOCK)",
        changes: "when the loop reads",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["calls_that_wait_for_nothing_cure_waits"]),
    };
    POLL_WITHOUT_WAITING: Fix {
        name: "poll with a time-out of 0",
        words: "let another thread wait, or ask in one cycle and look for the answer in later ones with a time-out of 0",
        changes: "time-out of the loop's poll",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["calls_that_wait_for_nothing_cure_waits"]),
    };
    READ_DEVICE_ELSEWHERE: Fix {
        name: "answer of a device taken in a later cycle",
        words: "let another thread read, or ask in one cycle and take the answer in a later one (O_NONBLOCK). A serial \
                adapter may hold data back for its latency timer",
        changes: "when the loop reads",
        who: &[Programmer],
        trial: None,
        proof: NotHere("needs a device; the same change is tested with a socket"),
    };
    CONNECT_ELSEWHERE: Fix {
        name: "connection made before the loop, or without waiting",
        words: "connect before the loop starts, let another thread do it, or make the socket non-blocking (SOCK_NONBLOCK) and \
                look in later cycles whether it is connected",
        changes: "when the program connects, and who waits for it",
        who: &[Programmer],
        trial: None,
        proof: NotHere("the same change is tested with reading from a socket"),
    };
    ACCEPT_ELSEWHERE: Fix {
        name: "connections accepted without waiting",
        words: "let another thread accept connections, or make the listening socket non-blocking (SOCK_NONBLOCK)",
        changes: "flag of the descriptor, or who accepts",
        who: &[Programmer],
        trial: None,
        proof: NotHere("the same change is tested with reading from a socket"),
    };
    OPEN_BEFORE: Fix {
        name: "files opened before the loop",
        words: "open files before the loop starts, and let another thread work with them",
        changes: "when files are opened",
        who: &[Programmer],
        trial: None,
        proof: NotHere("needs a file system that is slow to open; a cached one takes microseconds"),
    };
    START_BEFORE: Fix {
        name: "threads and processes started before the loop",
        words: "start threads and processes before the loop",
        changes: "when they are started",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["calls_that_wait_for_nothing_cure_waits"]),
    };
    DEVICE_ELSEWHERE: Fix {
        name: "another thread talks to the device",
        words: "let another thread talk to the device, and pass its data on",
        changes: "who calls ioctl",
        who: &[Programmer],
        trial: None,
        proof: NotHere("needs a slow device"),
    };
    CALL_BEFORE: Fix {
        name: "system call made before the loop, or elsewhere",
        words: "call {}() before the loop starts, or let another thread do it",
        changes: "who makes the call, and when",
        who: &[Programmer],
        trial: None,
        proof: NotHere("for calls without a row of their own; the same change is tested with fsync"),
    };
}
