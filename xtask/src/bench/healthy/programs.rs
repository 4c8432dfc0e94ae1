//! The healthy programs, and the kinds of causes that each can't have.

use crate::tools::has_program;
use std::path::Path;

/// One program.
pub struct Healthy {
    pub name: &'static str,
    pub command: Vec<String>,
    /// Kinds of causes, as in `explanation.json`.
    pub cannot: &'static [&'static str],
}

impl Healthy {
    /// A program that this machine lacks.
    pub fn missing(&self) -> Option<&str> {
        let program = self.command.first()?;
        (!program.starts_with('/') && !has_program(program)).then_some(program)
    }
}

/// Kinds of causes: of nobody who stops, moves or limits the programs; then of memory that isn't
/// locked; then of another thread or a device.
const KINDS: &[&str] = &[
    "priority-inversion",
    "stopped",
    "frozen",
    "moved",
    "spin",
    "frequency",
    "memory-wait",
    "page-fault",
    "blocked-on-thread",
    "blocked-on-device",
];
/// Of any program here.
const ANY: &[&str] = KINDS.split_at(7).0;
/// Of several threads with locked memory.
const LOCKED: &[&str] = KINDS.split_at(8).0;
/// Of one thread with locked memory.
const ALONE: &[&str] = KINDS;
const ASYNCIO: &str = "import asyncio\nasync def main():\n while True:\n  await asyncio.sleep(0.01)\nasyncio.run(main())";
const SLEEP: &str = "import time\nwhile True: time.sleep(0.01)";
const INTERVAL: &str =
    "setInterval(() => { let sum = 0; for (let i = 0; i < 1000; i++) sum += i }, 10)";

/// All of them; the first is the program with the loops of this benchmark.
pub fn all(loops: &Path) -> Vec<Healthy> {
    let loops = loops.display().to_string();
    let own = |name, kind: &str, priority: &str, cannot| Healthy {
        name,
        command: [&*loops, kind, priority].map(str::to_owned).to_vec(),
        cannot,
    };
    let other = |name, words: &[&str], cannot| Healthy {
        name,
        command: words.iter().map(|word| (*word).to_owned()).collect(),
        cannot,
    };
    vec![
        own("clock_nanosleep until, FIFO", "absolute", "60", ALONE),
        own("nanosleep for, FIFO", "relative", "60", ALONE),
        own("timerfd, FIFO", "timerfd", "60", ALONE),
        own("poll, FIFO", "poll", "60", ALONE),
        own("epoll, FIFO", "epoll", "60", ALONE),
        own("select, FIFO", "select", "60", ALONE),
        own("condition with time-out, FIFO", "cond", "60", ALONE),
        own("semaphore with time-out, FIFO", "semaphore", "60", ALONE),
        own("POSIX timer and sigwait, FIFO", "signal", "60", ALONE),
        own("short lock, FIFO", "lock", "60", LOCKED),
        own("worker, FIFO", "worker", "60", LOCKED),
        own("pipe, FIFO", "pipe", "60", LOCKED),
        own("clock_nanosleep until, OTHER", "absolute", "0", ALONE),
        own("epoll, OTHER", "epoll", "0", ALONE),
        other(
            "cyclictest",
            &["cyclictest", "-q", "-m", "-p80", "-i1000"],
            LOCKED,
        ),
        other(
            "cyclictest, two threads",
            &["cyclictest", "-q", "-m", "-p70", "-t2", "-a", "-i2000"],
            LOCKED,
        ),
        other(
            "stress-ng, cyclic",
            &[
                "stress-ng",
                "--cyclic",
                "1",
                "--cyclic-policy",
                "fifo",
                "--cyclic-prio",
                "80",
                "--cyclic-sleep",
                "2000000",
            ],
            ANY,
        ),
        other("Python, asyncio", &["python3", "-c", ASYNCIO], ANY),
        other("Python, time.sleep", &["python3", "-c", SLEEP], ANY),
        other("Node, setInterval", &["node", "-e", INTERVAL], ANY),
    ]
}
