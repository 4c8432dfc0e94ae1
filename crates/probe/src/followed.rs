//! Threads of the watched program while they are recorded: whose system calls are, and what their
//! descriptors refer to.

use std::collections::HashMap;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wakepath_timeline::{CallTarget, KernelEvent, What, decoded};

/// A thread that makes more calls in a second than this is not recorded any more: it would fill the
/// buffer, and the recording would take a part of its time that matters.
const MOST_CALLS_A_SECOND: f64 = 50_000.0;
/// Between two looks at how many calls there were.
const COUNT_EVERY: Duration = Duration::from_millis(300);
/// A descriptor that was closed so shortly ago, in nanoseconds, may be another one by the time that
/// it is looked at.
const SHORT_LIVED_NS: u64 = 1_000_000_000;
/// Descriptors that are remembered; beyond, all are looked at again.
const MOST_DESCRIPTORS: usize = 4096;

/// A thread of the watched program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadOf {
    /// The thread.
    pub thread: u32,
    /// Its process.
    pub process: u32,
}

/// The threads, and what was found out of them.
#[derive(Debug)]
pub(crate) struct Followed {
    /// By thread.
    threads: HashMap<u32, Member>,
    /// By process and number.
    descriptors: HashMap<(u32, u32), Known>,
    /// What is yet to be told in the trace, before the next event.
    untold: Vec<What>,
    counted_since: Instant,
}

#[derive(Debug)]
struct Member {
    process: u32,
    /// Whether its calls are recorded.
    calls: bool,
    /// Calls since they were last counted.
    count: u64,
}

/// What is known of a descriptor.
#[derive(Debug)]
enum Known {
    /// Looked at: the trace names its target, if it has one.
    LookedAt,
    /// Closed, at this instant in nanoseconds on `CLOCK_MONOTONIC`.
    Closed(u64),
}

impl Default for Followed {
    fn default() -> Self {
        Self {
            threads: HashMap::new(),
            descriptors: HashMap::new(),
            untold: Vec::new(),
            counted_since: Instant::now(),
        }
    }
}

impl Followed {
    /// Adds threads that are not known yet; `calls`: whether system calls can be recorded at all.
    pub(crate) fn add(&mut self, threads: &[ThreadOf], calls: bool) {
        for &ThreadOf { thread, process } in threads {
            if self.threads.contains_key(&thread) {
                continue;
            }
            let calls = calls && has_own_numbers(process);
            self.threads.insert(
                thread,
                Member {
                    process,
                    calls,
                    count: 0,
                },
            );
            self.untold.push(What::Followed {
                thread,
                process,
                calls,
            });
        }
    }

    /// Threads whose calls are recorded.
    pub(crate) fn recorded(&self) -> Vec<u32> {
        let recorded = self.threads.iter().filter(|(_, of)| of.calls);
        recorded.map(|(thread, _)| *thread).collect()
    }

    /// Takes out the threads that make too many calls; whether there are any.
    pub(crate) fn leave_out_the_busiest(&mut self) -> bool {
        let passed = self.counted_since.elapsed();
        if passed < COUNT_EVERY {
            return false;
        }
        self.counted_since = Instant::now();
        let before = self.untold.len();
        for (&thread, of) in &mut self.threads {
            let count = std::mem::take(&mut of.count);
            if of.calls && count as f64 > MOST_CALLS_A_SECOND * passed.as_secs_f64() {
                of.calls = false;
                self.untold.push(What::Followed {
                    thread,
                    process: of.process,
                    calls: false,
                });
            }
        }
        self.untold.len() > before
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
        let mut told = std::mem::take(&mut self.untold);
        told.extend(target);
        told
    }

    /// What a call's descriptor refers to, where the trace does not tell yet.
    fn descriptor(&mut self, event: &KernelEvent) -> Option<What> {
        let What::SystemCallEntry { name, descriptor } = &event.what else {
            return None;
        };
        let member = self.threads.get_mut(&event.current)?;
        member.count += 1;
        let (process, descriptor) = (member.process, (*descriptor)?);
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
            target: target(process, descriptor)?,
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

/// What a descriptor refers to now.
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
    let kind = std::fs::metadata(&link).ok()?.file_type();
    let is_terminal = ["/dev/pts/", "/dev/tty", "/dev/console", "/dev/ptmx"]
        .iter()
        .any(|beginning| text.starts_with(beginning));
    // A serial line of a device looks like a terminal to the kernel, and is none to a person.
    let is_serial = ["/dev/ttyS", "/dev/ttyUSB", "/dev/ttyACM", "/dev/ttyAMA"]
        .iter()
        .any(|beginning| text.starts_with(beginning));
    Some(match kind {
        kind if kind.is_fifo() => CallTarget::Pipe,
        kind if kind.is_char_device() && is_terminal && !is_serial => {
            CallTarget::Terminal(text.into())
        }
        kind if kind.is_char_device() || kind.is_block_device() => CallTarget::Device(text.into()),
        _ => CallTarget::File(text.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    fn call(at_ns: u64, thread: u32, name: &str, descriptor: u32) -> KernelEvent {
        KernelEvent {
            at_ns,
            cpu: 0,
            current: thread,
            what: What::SystemCallEntry {
                name: name.into(),
                descriptor: Some(descriptor),
            },
        }
    }

    #[test]
    fn a_descriptor_is_looked_at_once_and_not_right_after_it_was_closed() {
        let process = std::process::id();
        let (reader, _writer) = std::io::pipe().unwrap();
        let pipe = reader.as_raw_fd().cast_unsigned();
        let mut followed = Followed::default();
        let thread = 7;
        followed.add(&[ThreadOf { thread, process }], true);
        let known = What::Followed {
            thread,
            process,
            calls: true,
        };
        let target = What::Descriptor {
            process,
            descriptor: pipe,
            target: CallTarget::Pipe,
        };
        let found = followed.before(&call(10, thread, "read", pipe));
        assert_eq!(found, [known, target.clone()]);
        assert_eq!(followed.before(&call(20, thread, "read", pipe)), []);
        followed.before(&call(30, thread, "close", pipe));
        assert_eq!(followed.before(&call(40, thread, "read", pipe)), []);
        let later = call(40 + SHORT_LIVED_NS, thread, "read", pipe);
        assert_eq!(followed.before(&later), [target]);
        assert_eq!(followed.before(&call(50, 8, "read", pipe)), []);
    }

    #[test]
    fn calls_of_other_threads_are_left_out() {
        let mut followed = Followed::default();
        let process = std::process::id();
        followed.add(&[ThreadOf { thread: 7, process }], true);
        assert!(followed.wants(&call(1, 7, "read", 0)));
        assert!(!followed.wants(&call(1, 8, "read", 0)));
    }
}
