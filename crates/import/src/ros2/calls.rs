//! LTTng's events of ros2_tracing as calls of libtracetools. Several sessions of one boot are on one clock: a
//! process that two of them recorded is one process, and a call that both recorded is one call.

use crate::ctf::Event;
use std::collections::BTreeMap;
use std::sync::Arc;
use wakepath_ros2::{Argument, FUNCTIONS, Function, TAKES, WAITS};
use wakepath_timeline::{Call, KernelEvent, What};

const PREFIX: &str = "ros2:";
/// Two sessions date one call so far apart at most.
const SAME_CALL_NS: u64 = 100_000;
/// Numbers from here on are of no thread.
const MADE_UP: u32 = 1 << 31;

/// A call, and the session that recorded it.
struct Recorded {
    session: usize,
    event: KernelEvent,
}

/// Calls read so far; streams of several CPUs come one after the other.
#[derive(Default)]
pub(super) struct Calls {
    all: Vec<Recorded>,
    /// Threads by process and own number. Containers number theirs alike.
    threads: BTreeMap<(u32, u32), u32>,
    /// The process of each thread.
    pub(super) processes: BTreeMap<u32, u32>,
    /// Whether an event did not name its thread.
    pub(super) is_without_threads: bool,
}

impl Calls {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Takes an event, if it is a call that something follows from. Returns the process that made it, if it is known.
    pub(super) fn event(&mut self, session: usize, event: &Event<'_>) -> Option<u32> {
        let name = event.name.strip_prefix(PREFIX);
        let call = call(name?, event)?;
        let number = |name: &str| u32::try_from(event.fields.integer(name)?).ok();
        let own_process = number("vpid");
        let process = own_process.unwrap_or(0);
        self.is_without_threads |= number("vtid").is_none();
        let thread = self.thread(process, number("vtid").unwrap_or(process));
        let cpu = event.fields.first("cpu_id").unwrap_or(0);
        self.all.push(Recorded {
            session,
            event: KernelEvent {
                at_ns: event.at_ns,
                cpu: u16::try_from(cpu).unwrap_or(0),
                current: thread,
                what: What::Call(Box::new(call)),
            },
        });
        own_process
    }

    fn thread(&mut self, process: u32, thread: u32) -> u32 {
        if let Some(known) = self.threads.get(&(process, thread)) {
            return *known;
        }
        let is_taken = self.processes.contains_key(&thread);
        let number = if is_taken || thread >= MADE_UP {
            MADE_UP.saturating_add(u32::try_from(self.threads.len()).unwrap_or(0))
        } else {
            thread
        };
        self.threads.insert((process, thread), number);
        self.processes.insert(number, process);
        number
    }

    /// The calls in order of time, each once.
    pub(super) fn finish(mut self) -> (Vec<KernelEvent>, BTreeMap<u32, u32>) {
        self.all.sort_by_cached_key(|of| of.event.at_ns);
        let mut last: BTreeMap<(u32, Arc<str>), Recorded> = BTreeMap::new();
        let several = self.all.iter().any(|of| of.session != self.all[0].session);
        let mut events = Vec::with_capacity(self.all.len());
        for Recorded { session, event } in self.all {
            if several && let What::Call(call) = &event.what {
                let key = (event.current, Arc::clone(&call.function));
                let is_again = last.get(&key).is_some_and(|before| {
                    before.session != session
                        && event.at_ns - before.event.at_ns <= SAME_CALL_NS
                        && before.event.what == event.what
                });
                if is_again {
                    continue;
                }
                let event = event.clone();
                last.insert(key, Recorded { session, event });
            }
            events.push(event);
        }
        (events, self.processes)
    }
}

fn call(name: &str, event: &Event<'_>) -> Option<Call> {
    let mut known = FUNCTIONS.iter().chain(TAKES).chain([&WAITS]);
    let Function { name, arguments } = known.find(|of| of.name == name)?;
    let mut call = Call {
        function: Arc::from(*name),
        numbers: Vec::new(),
        texts: Vec::new(),
    };
    for argument in *arguments {
        match argument {
            // An event of another version that lacks a field is as one that is not there.
            Argument::Number(_, field) | Argument::Flag(_, field) => {
                let value = event.fields.integer(field)?;
                let value = u64::try_from(value);
                let signed = || i64::try_from(event.fields.integer(field)?).ok();
                call.numbers
                    .push(value.ok().or_else(|| signed().map(i64::cast_unsigned))?);
            }
            Argument::Text(_, field) => call.texts.push(Arc::from(event.fields.text(field)?)),
            Argument::StdText(_) | Argument::Result => return None,
            // A trace has no memory.
            Argument::Caller | Argument::Word(..) | Argument::Pointed(_) | Argument::TextAt(..) => {
            }
        }
    }
    Some(call)
}
