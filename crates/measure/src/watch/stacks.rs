//! Stacks of the watched threads when they block, taken by a thread of this process. If it fails, the watch continues
//! without them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use wakepath_archive::watch::Threads;
use wakepath_directory::Directory;
use wakepath_explain::Stacks as Written;
use wakepath_probe::blocking::Blocking;
use wakepath_probe::{ProbeError, Symbols};
use wakepath_stacks::{Collected, Readable};
use wakepath_verdict::counted;

/// Between two looks into the kernel's buffers: a thread may block two thousand times in a second.
const TAKE_EVERY: Duration = Duration::from_millis(25);
/// Threads whose stacks are taken, each with half a megabyte of buffer.
const MOST_THREADS: usize = 64;

/// Takes stacks until it is ended.
pub(super) struct Stacks {
    threads: Sender<BTreeMap<u32, u32>>,
    taking: JoinHandle<Taken>,
    followed: BTreeMap<u32, u32>,
}

/// The stacks.
pub(super) struct Taken {
    collected: Readable,
    /// Threads beyond those that are followed.
    others: usize,
    refused: Option<ProbeError>,
}

impl Stacks {
    /// Begins; the thread keeps to the CPUs of the one that calls.
    pub(super) fn begin() -> Option<Self> {
        let (threads, told) = channel();
        let taking = std::thread::Builder::new().name("stacks".into());
        Some(Self {
            threads,
            taking: taking.spawn(move || take(&told)).ok()?,
            followed: BTreeMap::new(),
        })
    }

    /// Follows the threads that are alive.
    pub(super) fn follow(&mut self, threads: &Threads) {
        let alive = threads.iter().filter(|(_, of)| !of.ended);
        let alive = alive.map(|(thread, of)| (*thread, of.process)).collect();
        if self.followed != alive {
            self.followed = alive;
            let _ = self.threads.send(self.followed.clone());
        }
    }

    /// Ends, while the program is still there if it can be.
    pub(super) fn end(self) -> Option<Taken> {
        drop(self.threads);
        self.taking.join().ok()
    }
}

fn take(told: &Receiver<BTreeMap<u32, u32>>) -> Taken {
    let mut collected = Collected::default();
    let mut blocking = match Blocking::new() {
        Ok(blocking) => blocking,
        Err(why) => return taken(collected, 0, Some(why)),
    };
    let mut processes: BTreeMap<u32, u32> = BTreeMap::new();
    let mut others = BTreeSet::new();
    let mut refused = None;
    loop {
        let news = told.recv_timeout(TAKE_EVERY);
        // Before those that have ended are left.
        blocking.take(|thread, said| {
            if let Some(&process) = processes.get(&thread) {
                collected.take((thread, process), said);
            }
        });
        match news {
            Ok(threads) => {
                let gone = processes.keys().filter(|of| !threads.contains_key(of));
                gone.for_each(|&thread| blocking.leave(thread));
                for &thread in threads.keys() {
                    if blocking.follows(thread) {
                        continue;
                    }
                    if blocking.followed() == MOST_THREADS {
                        others.insert(thread);
                    } else if let Err(why) = blocking.follow(thread) {
                        // One that has just ended is refused, too.
                        refused = Some(why);
                    }
                }
                processes = threads;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let refused = refused.filter(|_| collected.is_empty());
                return taken(collected, others.len(), refused);
            }
        }
    }
}

fn taken(collected: Collected, others: usize, refused: Option<ProbeError>) -> Taken {
    Taken {
        collected: collected.read_generated(),
        others,
        refused,
    }
}

impl Taken {
    /// Names the functions and writes the stacks into the run directory; returns notes for its reader.
    pub(super) fn keep(self, directory: &Directory) -> Vec<String> {
        if let Some(why) = self.refused {
            return vec![without(&why)];
        }
        let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        let stacks = self.collected.named(&mut Symbols::parse(&symbols));
        let mut notes = Vec::new();
        if self.others > 0 {
            let others = counted(self.others as u64, "thread", "threads");
            notes.push(format!(
                "no functions of {others}: the stacks of {MOST_THREADS} threads are recorded at most"
            ));
        }
        if stacks.lost > 0 {
            let lost = counted(stacks.lost, "record", "records");
            notes.push(format!(
                "{lost} of waits lost, which have no functions: the buffer for stacks was full"
            ));
        }
        let text = serde_json::to_vec(&stacks).map_err(std::io::Error::from);
        let written = text.and_then(|text| directory.put(Written::FILE_NAME, &text));
        notes.extend(written.err().map(|why| without(&why)));
        notes
    }
}

fn without(why: &dyn std::fmt::Display) -> String {
    format!("without the functions in which threads block: {why}")
}
