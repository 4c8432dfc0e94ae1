//! Fixes of waits for other threads, and of those who halt the loop.

use super::Proof::{NotHere, Tests};
use super::Who::{Programmer, Root};
use super::{Fix, rows};

rows! {
    PRIORITY_INHERITANCE: Fix {
        name: "priority inheritance (PTHREAD_PRIO_INHERIT)",
        words: "if the loop waits for a lock that {} holds: make it a mutex with priority inheritance \
                (PTHREAD_PRIO_INHERIT). Otherwise give {} a priority above that of {}",
        changes: "protocol of the mutex",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["priorities_and_cpus_cure_more_urgent_threads"]),
    };
    MUTEX_FOR_SPIN_LOCK: Fix {
        name: "mutex with priority inheritance instead of a spin lock",
        words: "if the loop spins on a lock that {} holds: a mutex with priority inheritance (PTHREAD_PRIO_INHERIT) instead, \
                which lets the holder run",
        changes: "kind of the lock",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["a_mutex_cures_spinning_for_a_lock"]),
    };
    BLOCK_INSTEAD: Fix {
        name: "a wait that blocks instead of sched_yield()",
        words: "a loop that calls sched_yield() until something has happened spins, and takes the CPU of those that are less \
                urgent: block on a lock, a condition or a descriptor instead, or look again in the next cycle",
        changes: "how the loop waits",
        who: &[Programmer],
        trial: None,
        proof: NotHere("the same change is tested with a spin lock"),
    };
    HOLDER_ELSEWHERE: Fix {
        name: "CPU or priority for the thread that the loop waits for",
        words: "give {} another CPU than {} or a priority above it, or let the loop not wait for it",
        changes: "CPUs or priority of that thread",
        who: &[Programmer],
        trial: None,
        proof: NotHere("the same change is tested where a more urgent thread keeps the loop itself off its CPU"),
    };
    SHORT_HOLD: Fix {
        name: "short work under the lock",
        words: "the loop waits while {} works: shorten what {} does under the lock, or until its result is there \
                (a future, a joined thread), or pass the data without waiting",
        changes: "how long the lock is held",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["calls_that_wait_for_nothing_cure_waits"]),
    };
    NO_SAFEPOINTS: Fix {
        name: "no pauses of Java's garbage collector",
        words: "Java stops all threads of a program while its VM Thread works, mostly to collect garbage: call no System.gc(), \
                allocate less, or let it collect while they run (-XX:+UseZGC, -XX:+UseShenandoahGC)",
        changes: "when Java's virtual machine stops the program",
        who: &[Programmer],
        trial: None,
        proof: NotHere("needs Java"),
    };
    NO_WAIT_UNDER_LOCK: Fix {
        name: "no waiting under the lock",
        words: "if {} holds a lock: take what it waits for (a sleep, a file, a device) out of the work under the lock. Otherwise \
                pass the data without waiting",
        changes: "how long the lock is held",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["calls_that_wait_for_nothing_cure_waits"]),
    };
    NO_DELAY: Fix {
        name: "TCP_NODELAY",
        words: "TCP sends a small packet of the loop's only when the one before it is acknowledged: set TCP_NODELAY on the \
                loop's socket, or send all parts in one call",
        changes: "when TCP sends the loop's data",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["data_sent_at_once_cure_delayed_acknowledgements"]),
    };
    NO_WAIT_FOR: Fix {
        name: "another thread waits for a thread",
        words: "the loop waits for {}: let another thread do what waits for it",
        changes: "who waits",
        who: &[Programmer],
        trial: None,
        proof: NotHere("for waits without a row of their own; the same change is tested with fsync"),
    };
    LOCK_IN_TIME: Fix {
        name: "a lock that is free in time",
        words: "nobody gave the loop the lock or signalled the condition that it waited for in time: shorten what others do \
                before that, or don't wait for it in the loop. In Python it may be the interpreter's own lock: move the other \
                threads' work into another process",
        changes: "how long the lock is held",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["calls_that_wait_for_nothing_cure_waits"]),
    };
    NO_SLEEP: Fix {
        name: "no sleep within a cycle",
        words: "take sleeps and calls with a time-out out of the loop's work",
        changes: "the loop's work",
        who: &[Programmer],
        trial: None,
        proof: NotHere("a sleep within a cycle looks like the one that ends it"),
    };
    INPUT_ELSEWHERE: Fix {
        name: "another thread waits for the device",
        words: "let another thread do the input and output that waits for this device",
        changes: "who waits",
        who: &[Programmer],
        trial: None,
        proof: NotHere("needs a slow device; the same change is tested with fsync"),
    };
    NO_FILES: Fix {
        name: "no files or devices in the loop",
        words: "keep files, memory mappings and devices out of the loop's work",
        changes: "the loop's work",
        who: &[Programmer],
        trial: None,
        proof: NotHere("printed if no system call was recorded; the same change is tested with fsync"),
    };
    NO_STOP: Fix {
        name: "no SIGSTOP or debugger",
        words: "no SIGSTOP, job control or debugger for {} while the loop runs: {}",
        changes: "others' actions while the loop runs",
        who: &[Programmer, Root],
        trial: None,
        proof: NotHere("nothing is left to apply: it takes away what halts the loop"),
    };
    NO_FREEZE: Fix {
        name: "a control group that nothing freezes",
        words: "keep the loop in a control group that nothing freezes (docker pause, systemctl freeze, snapshots): {}",
        changes: "the loop's control group",
        who: &[Root],
        trial: None,
        proof: NotHere("nothing is left to apply: it takes away what halts the loop"),
    };
}
