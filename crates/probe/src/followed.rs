//! Threads of the watched program while they are recorded: whose system calls are, and what their
//! descriptors refer to.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::time::{Duration, Instant};

use wakepath_archive::ThreadOf;
use wakepath_timeline::{CallTarget, KernelEvent, What, decoded};

/// A thread that makes more calls in a second than this is not recorded any more: it would fill the
/// buffer, and the recording would take a part of its time that matters.
const MOST_CALLS_A_SECOND: f64 = 50_000.0;
/// Stretch of the trace over which a thread's calls are counted, in nanoseconds.
const COUNTED_NS: u64 = 300_000_000;
/// Between two looks at what a process has open: events may be read after it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Descriptors of one process that are looked at then.
const MOST_OF_PROCESS: usize = 256;
/// A descriptor that was closed so shortly ago, in nanoseconds, may be another one by the time that
/// it is looked at.
const SHORT_LIVED_NS: u64 = 1_000_000_000;
/// Descriptors that are remembered; beyond, all are looked at again.
const MOST_DESCRIPTORS: usize = 4096;

/// The threads, and what was found out of them.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    /// By thread.
    threads: HashMap<u32, Member>,
    /// By process and number.
    descriptors: HashMap<(u32, u32), Known>,
    /// Their last targets, for those whose process is gone by the time that its calls are read.
    open: HashMap<(u32, u32), CallTarget>,
    looked: Option<Instant>,
    /// Marks still to be written into the trace, before the first event from an instant on: most of those read then
    /// happened before.
    untold: Vec<(u64, What)>,
}

#[derive(Debug)]
struct Member {
    process: u32,
    /// Whether its calls are recorded.
    calls: bool,
    rate: Rate,
}

/// Calls of a thread by the trace's own time: a trace that is read late is read fast.
#[derive(Debug, Default)]
struct Rate {
    since_ns: u64,
    count: u64,
    is_too_high: bool,
}

impl Rate {
    fn count(&mut self, at_ns: u64) {
        self.count += 1;
        // Events of another CPU may be earlier ones.
        let passed_ns = at_ns.checked_sub(self.since_ns);
        if passed_ns.is_some_and(|passed_ns| passed_ns < COUNTED_NS) {
            return;
        }
        if let Some(passed_ns) = passed_ns.filter(|_| self.since_ns > 0) {
            self.is_too_high |= self.count as f64 > MOST_CALLS_A_SECOND * passed_ns as f64 / 1e9;
        }
        (self.since_ns, self.count) = (at_ns, 0);
    }
}

/// State of a descriptor.
#[derive(Debug)]
enum Known {
    /// Looked at: the trace names its target, if it has one.
    LookedAt,
    /// Closed, at this instant in nanoseconds on `CLOCK_MONOTONIC`.
    Closed(u64),
}

impl Followed {
    /// Adds threads that are not known yet; `calls`: whether system calls can be recorded at all. [`Self::begun`] says
    /// from when on they are.
    pub(crate) fn add(&mut self, threads: &[ThreadOf], calls: bool) {
        for &ThreadOf { thread, process } in threads {
            if self.threads.contains_key(&thread) {
                continue;
            }
            let calls = calls && has_own_numbers(process);
            // The files that it has opened by now.
            self.looked = None;
            self.threads.insert(
                thread,
                Member {
                    process,
                    calls,
                    rate: Rate::default(),
                },
            );
            let followed = What::Followed {
                thread,
                process,
                calls,
            };
            self.untold.push((u64::MAX, followed));
        }
    }

    /// The calls of all threads are recorded from an instant on, in nanoseconds on `CLOCK_MONOTONIC`.
    pub(crate) fn begun(&mut self, at_ns: u64) {
        for (from_ns, _) in &mut self.untold {
            *from_ns = at_ns.min(*from_ns);
        }
    }

    /// Looks at what the processes have open now, if that is some time ago.
    pub(crate) fn look(&mut self) {
        if self.looked.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return;
        }
        self.looked = Some(Instant::now());
        let recorded = self.threads.values().filter(|of| of.calls);
        let processes: BTreeSet<u32> = recorded.map(|of| of.process).collect();
        if self.open.len() >= MOST_DESCRIPTORS {
            self.open.clear();
        }
        for process in processes {
            for descriptor in open_descriptors(process) {
                if let Some(target) = target(process, descriptor) {
                    self.open.insert((process, descriptor), target);
                }
            }
        }
    }

    /// All threads, by number.
    pub(crate) fn members(&self) -> Vec<ThreadOf> {
        let threads = self.threads.iter().map(|(&thread, of)| ThreadOf {
            thread,
            process: of.process,
        });
        let mut members: Vec<ThreadOf> = threads.collect();
        members.sort_unstable_by_key(|of| of.thread);
        members
    }

    /// Threads whose calls are recorded.
    pub(crate) fn recorded(&self) -> Vec<u32> {
        let recorded = self.threads.iter().filter(|(_, of)| of.calls);
        recorded.map(|(thread, _)| *thread).collect()
    }

    /// Takes out the threads that make too many calls; whether there are any.
    pub(crate) fn leave_out_the_busiest(&mut self) -> bool {
        let before = self.untold.len();
        for (&thread, of) in &mut self.threads {
            if of.calls && of.rate.is_too_high {
                of.calls = false;
                let left_out = What::Followed {
                    thread,
                    process: of.process,
                    calls: false,
                };
                self.untold.push((0, left_out));
            }
        }
        self.untold.len() > before
    }

    /// Puts this into the trace before the first event from an instant on.
    pub(crate) fn tell(&mut self, from_ns: u64, what: What) {
        self.untold.push((from_ns, what));
    }

    /// Whether an event belongs into the trace: a call of a thread that is not followed does not.
    pub(crate) fn wants(&self, event: &KernelEvent) -> bool {
        match event.what {
            What::SystemCallEntry { .. } | What::SystemCallExit => {
                let member = self.threads.get(&event.current);
                member.is_some_and(|of| of.calls)
            }
            _ => true,
        }
    }

    /// Looks at an event of the trace; returns what belongs into the trace before it.
    pub(crate) fn before(&mut self, event: &KernelEvent) -> Vec<What> {
        let target = self.descriptor(event);
        if self.untold.is_empty() && target.is_none() {
            return Vec::new();
        }
        let is_told = |(from_ns, _): &mut (u64, What)| *from_ns <= event.at_ns;
        let told = self.untold.extract_if(.., is_told);
        told.map(|(_, what)| what).chain(target).collect()
    }

    /// The target of a call's descriptor, if the trace does not have it yet.
    fn descriptor(&mut self, event: &KernelEvent) -> Option<What> {
        let What::SystemCallEntry { name, argument } = &event.what else {
            return None;
        };
        let member = self.threads.get_mut(&event.current)?;
        member.rate.count(event.at_ns);
        let (process, descriptor) = (member.process, (*argument)?.descriptor()?);
        if self.descriptors.len() == MOST_DESCRIPTORS {
            self.descriptors.clear();
        }
        let key = (process, descriptor);
        if matches!(&**name, "close" | "dup2" | "dup3") {
            self.descriptors.insert(key, Known::Closed(event.at_ns));
            return None;
        }
        match self.descriptors.get(&key) {
            Some(Known::LookedAt) => return None,
            Some(Known::Closed(at_ns)) if event.at_ns.saturating_sub(*at_ns) < SHORT_LIVED_NS => {
                return None;
            }
            _ => {}
        }
        self.descriptors.insert(key, Known::LookedAt);
        Some(What::Descriptor {
            process,
            descriptor,
            target: target(process, descriptor).or_else(|| self.open.get(&key).cloned())?,
        })
    }
}

/// Whether a process numbers its calls as this program does: one built for another word size does
/// not.
fn has_own_numbers(process: u32) -> bool {
    let class = |path: &str| {
        let mut head = [0; 5];
        let mut file = std::fs::File::open(path).ok()?;
        file.read_exact(&mut head).ok()?;
        head.starts_with(b"\x7fELF").then_some(head[4])
    };
    let own = class("/proc/self/exe");
    own.is_some() && class(&format!("/proc/{process}/exe")) == own
}

/// Descriptors that a process has open now; none of one that has ended.
fn open_descriptors(process: u32) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(format!("/proc/{process}/fd"));
    let entries = entries.into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.take(MOST_OF_PROCESS)
}

/// Whether a character device is a terminal, whatever its path. A serial line, which looks like one to the kernel, is
/// none to a person. Numbers from the kernel's `Documentation/admin-guide/devices.txt`.
fn is_terminal(device: u64) -> bool {
    const FIRST_SERIAL_LINE: u32 = 64;
    match rustix::fs::major(device) {
        4 => rustix::fs::minor(device) < FIRST_SERIAL_LINE,
        major => matches!(major, 5 | 136..=143),
    }
}

/// The current target of a descriptor.
fn target(process: u32, descriptor: u32) -> Option<CallTarget> {
    let link = format!("/proc/{process}/fd/{descriptor}");
    let text = std::fs::read_link(&link).ok()?;
    let text = decoded(text.as_os_str().as_encoded_bytes());
    let text: &str = &text;
    if text.starts_with("pipe:") {
        return Some(CallTarget::Pipe);
    }
    if text.starts_with("socket:") {
        return Some(CallTarget::Socket);
    }
    if let Some(word) = text.strip_prefix("anon_inode:") {
        let word = word.trim_start_matches('[').trim_end_matches(']');
        return Some(CallTarget::Other(word.into()));
    }
    let file = std::fs::metadata(&link).ok()?;
    let kind = file.file_type();
    Some(match kind {
        kind if kind.is_fifo() => CallTarget::Pipe,
        kind if kind.is_char_device() && is_terminal(file.rdev()) => {
            CallTarget::Terminal(text.into())
        }
        kind if kind.is_char_device() || kind.is_block_device() => CallTarget::Device(text.into()),
        _ => CallTarget::File(text.into()),
    })
}

#[cfg(test)]
mod tests;
