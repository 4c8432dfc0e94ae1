//! Stacks of a program's threads when they block, taken by a thread of this process. If it fails, what is measured or
//! watched continues without them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use wakepath_directory::Directory;
use wakepath_explain::Stacks as Written;
use wakepath_probe::blocking::{Blocking, Opened, Opener};
use wakepath_probe::{ProbeError, Symbols};
use wakepath_stacks::Collected;
use wakepath_verdict::counted;

/// Between two looks into the kernel's buffers: a thread may block two thousand times in a second.
const TAKE_EVERY: Duration = Duration::from_millis(25);
/// Threads whose stacks are taken, each with half a megabyte of buffer.
const MOST_THREADS: usize = 64;

/// Takes stacks until it is ended.
pub(crate) struct Stacks {
    news: Sender<News>,
    taking: JoinHandle<Taken>,
    followed: BTreeMap<u32, u32>,
    /// `None` if there are no stacks.
    opener: Option<Opener>,
}

/// Messages to the thread that takes stacks.
enum News {
    /// The threads that are alive, with their processes.
    Alive(BTreeMap<u32, u32>),
    /// A program is about to be started, as soon as the answer has come.
    Started(Opened, Sender<()>),
}

/// The stacks.
#[derive(Default)]
pub(crate) struct Taken {
    collected: Collected,
    /// Threads beyond those that are followed.
    others: usize,
    refused: Option<ProbeError>,
}

impl Stacks {
    /// Begins, after what was taken of other programs; the thread keeps to the CPUs of the one that calls.
    pub(crate) fn begin(before: Taken) -> Option<Self> {
        let (news, told) = channel();
        let (ready, opener) = channel();
        let taking = std::thread::Builder::new().name("stacks".into());
        Some(Self {
            news,
            taking: taking.spawn(move || take(before, &told, &ready)).ok()?,
            followed: BTreeMap::new(),
            opener: opener.recv().ok(),
        })
    }

    /// Starts a program, which is recorded on these CPUs from its first instruction on. Without the right to that, its
    /// threads are followed once they are known.
    pub(crate) fn start<T: Send>(&self, cpus: &[u16], start: impl FnOnce() -> T + Send) -> T {
        // All that the thread with the events starts has them.
        let started = std::thread::scope(|scope| {
            let with_events = || {
                let events = self.opener.and_then(|opener| opener.open(cpus).ok());
                let (mapped, answer) = channel();
                if let Some(events) = events
                    && self.news.send(News::Started(events, mapped)).is_ok()
                {
                    // One that ends without an answer records nothing.
                    let _ = answer.recv();
                }
                start()
            };
            scope.spawn(with_events).join()
        });
        started.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Follows the threads that are alive, each with its process.
    pub(crate) fn follow(&mut self, alive: BTreeMap<u32, u32>) {
        if self.followed != alive {
            self.followed = alive;
            let _ = self.news.send(News::Alive(self.followed.clone()));
        }
    }

    /// Ends, while the program is still there if it can be.
    pub(crate) fn end(self) -> Option<Taken> {
        drop(self.news);
        self.taking.join().ok()
    }
}

fn take(mut taken: Taken, told: &Receiver<News>, ready: &Sender<Opener>) -> Taken {
    let mut blocking = match Blocking::new() {
        Ok(blocking) => blocking,
        Err(why) => return taken.with(0, Some(why)),
    };
    let _ = ready.send(blocking.opener());
    let mut others = BTreeSet::new();
    let mut refused = None;
    loop {
        let news = told.recv_timeout(TAKE_EVERY);
        // Before those that have ended are left.
        blocking.take(|said| taken.collected.take(said));
        match news {
            Ok(News::Started(events, mapped)) => {
                refused = blocking.record_started(events).err();
                let _ = mapped.send(());
            }
            Ok(News::Alive(_)) if blocking.records_started() => {}
            Ok(News::Alive(threads)) => {
                blocking.leave_others(|thread| threads.contains_key(&thread));
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
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let refused = refused.filter(|_| taken.collected.is_empty());
                return taken.with(others.len(), refused);
            }
        }
    }
}

impl Taken {
    /// With all of a program.
    fn with(mut self, others: usize, refused: Option<ProbeError>) -> Self {
        self.collected.read_generated();
        self.others += others;
        self.refused = self.refused.or(refused);
        self
    }

    /// Names the functions and writes the stacks into the run directory; returns notes for its reader.
    pub(crate) fn keep(self, directory: &Directory) -> Vec<String> {
        if let Some(why) = self.refused {
            return vec![without(&why)];
        }
        let symbols = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        let stacks = self.collected.named(&mut Symbols::parse(&symbols));
        let mut notes = Vec::new();
        if self.others > 0 {
            let others = counted(self.others as u64, "thread", "threads");
            notes.push(format!(
                "no functions of {others}: stacks are recorded for at most {MOST_THREADS} threads"
            ));
        }
        if stacks.lost > 0 {
            let lost = counted(stacks.lost, "record", "records");
            notes.push(format!(
                "{lost} of waits lost: the buffer for stacks was full"
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
