//! One CPU's activity as spans without a gap, made from its events. It knows nothing of loops and due times.

use crate::cause::SentBy;
use crate::holds::Hold;
use crate::wait::Handler;
use foldhash::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use wakepath_timeline::{Interrupt, KernelEvent, SoftIrq, Thread, What};

/// A CPU's activity from an instant until the next span.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub from_ns: u64,
    /// The last event in it, which changed nothing.
    pub last_ns: u64,
    pub doing: Doing,
    /// The thread in whose time it was; `None` where unknown.
    pub current: Option<u32>,
    /// How that thread has the CPU.
    pub hold: Hold,
}

/// The innermost thing a CPU did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Doing {
    /// No event has told yet, or events contradict each other.
    Unknown,
    /// The kernel reports lost events.
    Lost,
    Thread(Thread),
    Idle(Option<u32>),
    Interrupt(Interrupt, Option<SentBy>),
    SoftIrq(SoftIrq, Option<Thread>),
    Timer(Arc<str>),
}

/// Something begun and not ended, on top of what it interrupted.
#[derive(Debug, Clone)]
struct Frame {
    since_ns: u64,
    doing: Doing,
}

/// Where a thread was woken from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Context {
    /// In a timer's callback. `interrupt_ns` is the entry of the timer interrupt: of the one that
    /// runs now, or of the one that raised the SoftIRQ.
    Timer {
        interrupt_ns: Option<u64>,
        expiry_ns: u64,
        deferred: Option<(SoftIrq, Option<Thread>)>,
    },
    Interrupt(Handler),
    Thread(Thread),
    Unknown,
}

/// A sane cycle never needs more spans than this; a longer window is given up and counts as lost, rather than
/// taking all memory (about 20 MB for each CPU).
const MOST_SPANS: usize = 1 << 18;

/// Threads that are remembered by number for each CPU.
const MOST_KNOWN: usize = 1 << 14;

#[derive(Debug, Default)]
pub(crate) struct Cpu {
    last_ns: u64,
    current: Option<Thread>,
    /// As in [`Span`], of the thread that is current.
    hold: Hold,
    /// Threads that this CPU is known to have switched to, by number: some switches leave no event, and the
    /// next event then names its thread by number alone.
    known: HashMap<u32, Thread>,
    idle_state: Option<u32>,
    frames: Vec<Frame>,
    /// SoftIRQs of threads that have been switched out (only kernels with PREEMPT_RT).
    suspended: HashMap<u32, Vec<Frame>>,
    /// When a SoftIRQ was last raised, and the interrupt that did it began.
    raised: HashMap<SoftIrq, u64>,
    spans: VecDeque<Span>,
    sent: VecDeque<(u64, SentBy)>,
    pub lost: u64,
    frequency_changes: VecDeque<u64>,
}

impl Cpu {
    /// Takes one event. Stamps that go back are moved up to the event before: the order in which
    /// the kernel wrote them is what counts on one CPU. Returns the instant used.
    /// `hold`: how the thread that is current then has the CPU; how it was given that counts of a switch alone.
    pub fn event(&mut self, event: &KernelEvent, hold: Hold) -> u64 {
        let at_ns = event.at_ns.max(self.last_ns);
        if let What::Lost { count } = event.what {
            self.lose(at_ns, count);
            return at_ns;
        }
        // Every event names the thread that is current: a change without a switch means that
        // events are missing.
        let told = match &event.what {
            What::Switch { previous, .. } => previous.id,
            _ => event.current,
        };
        if self.current.as_ref().is_none_or(|known| known.id != told) {
            if self.current.is_some() {
                self.forget_since_last();
            }
            self.current = self.known.get(&told).cloned();
        }
        match &event.what {
            What::InterruptEntry(interrupt) => {
                // Hard interrupts don't nest: one that is still open has lost its exit.
                self.close(|doing| matches!(doing, Doing::Interrupt(..)));
                let sender = self.sender(interrupt);
                self.open(at_ns, Doing::Interrupt(interrupt.clone(), sender));
            }
            What::InterruptExit(interrupt) => {
                self.close(|doing| matches!(doing, Doing::Interrupt(of, _) if of == interrupt));
            }
            What::SoftIrqRaise(vector) => {
                let since = self.interrupt_since().unwrap_or(at_ns);
                self.raised.insert(*vector, since);
            }
            What::SoftIrqEntry(vector) => {
                let thread = self.current.clone().filter(runs_softirqs);
                self.open(at_ns, Doing::SoftIrq(*vector, thread));
            }
            What::SoftIrqExit(vector) => {
                self.close(|doing| matches!(doing, Doing::SoftIrq(of, _) if of == vector));
            }
            What::TimerExpiryEntry { function, .. } => {
                // One that is still open in the same interrupt or SoftIRQ has lost its exit. In a SoftIRQ it
                // can have been interrupted: it then resumes once that interrupt's own timers have expired.
                self.frames
                    .pop_if(|frame| matches!(frame.doing, Doing::Timer(_)));
                self.open(at_ns, Doing::Timer(function.clone()));
            }
            What::TimerExpiryExit { .. } => self.close(|doing| matches!(doing, Doing::Timer(_))),
            What::Switch { previous, next, .. } => {
                self.switch(previous, next);
                self.hold.given = hold.given;
            }
            What::IdleEntry { state } => self.idle_state = Some(*state),
            What::IdleExit => self.idle_state = None,
            What::Frequency { .. } => {
                if self.frequency_changes.len() == 64 {
                    self.frequency_changes.pop_front();
                }
                self.frequency_changes.push_back(at_ns);
            }
            _ => {}
        }
        let given = self.hold.given;
        self.hold = Hold { given, ..hold };
        self.last_ns = at_ns;
        self.note(at_ns);
        at_ns
    }

    /// A thread, which may be current here, has another priority from now on: by a lock, or again its own.
    pub fn inherits(&mut self, at_ns: u64, thread: u32, priority: i32, inherits: bool) {
        if let Some(known) = self.known.get_mut(&thread) {
            known.priority = priority;
        }
        if let Some(current) = self.current.as_mut().filter(|of| of.id == thread) {
            current.priority = priority;
            self.hold.inherits = inherits;
            self.last_ns = at_ns.max(self.last_ns);
            self.note(self.last_ns);
        }
    }

    /// Remembers an interrupt that another CPU sent to this one.
    pub fn sent(&mut self, at_ns: u64, by: SentBy) {
        if self.sent.len() == 64 {
            self.sent.pop_front();
        }
        self.sent.push_back((at_ns, by));
    }

    /// Whether the frequency was changed between two instants (of the last 64 changes).
    pub fn changed_in(&self, from_ns: u64, to_ns: u64) -> bool {
        let mut changes = self.frequency_changes.iter();
        changes.any(|at| (from_ns..=to_ns).contains(at))
    }

    /// Instant of the last event.
    pub fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// The running thread, if known.
    pub fn current(&self) -> Option<&Thread> {
        self.current.as_ref()
    }

    /// Since when the interrupt that is being handled has been handled.
    pub fn interrupt_since(&self) -> Option<u64> {
        let interrupt = |frame: &&Frame| matches!(frame.doing, Doing::Interrupt(..));
        self.frames.iter().find(interrupt).map(|f| f.since_ns)
    }

    /// The context in which a thread is woken now.
    pub fn context(&self) -> Context {
        let Some(top) = self.frames.last() else {
            return match &self.current {
                Some(thread) => Context::Thread(thread.clone()),
                None => Context::Unknown,
            };
        };
        match &top.doing {
            Doing::Timer(_) => {}
            Doing::Interrupt(interrupt, _) => {
                return Context::Interrupt(Handler::Interrupt(interrupt.clone()));
            }
            Doing::SoftIrq(vector, _) => return Context::Interrupt(Handler::SoftIrq(*vector)),
            _ => return Context::Unknown,
        }
        let below = self.frames.iter().rev().nth(1).map(|frame| &frame.doing);
        let (interrupt_ns, deferred) = match below {
            Some(Doing::SoftIrq(vector, thread)) => (
                self.raised.get(vector).copied(),
                Some((*vector, thread.clone())),
            ),
            _ => (self.interrupt_since(), None),
        };
        Context::Timer {
            interrupt_ns,
            expiry_ns: top.since_ns,
            deferred,
        }
    }

    /// The CPU's spans from `from_ns` to `to_ns`, without a gap. Before the first event, and in spans that
    /// were given up, its activity is unknown.
    pub fn between(&self, from_ns: u64, to_ns: u64, mut each: impl FnMut(u64, u64, &Span)) {
        let first = self.spans.partition_point(|span| span.from_ns <= from_ns);
        let mut at = from_ns;
        if first == 0 {
            let until = self.spans.front().map_or(to_ns, |s| s.from_ns.min(to_ns));
            if until > at {
                let unknown = Span {
                    from_ns: at,
                    last_ns: at,
                    doing: Doing::Unknown,
                    current: None,
                    hold: Hold::default(),
                };
                each(at, until, &unknown);
                at = until;
            }
        }
        for index in first.saturating_sub(1)..self.spans.len() {
            if at >= to_ns {
                return;
            }
            let span = &self.spans[index];
            let until = self
                .spans
                .get(index + 1)
                .map_or(to_ns, |s| s.from_ns)
                .min(to_ns);
            if until > at {
                each(at, until, span);
                at = until;
            }
        }
    }

    /// The span that holds an instant.
    pub fn at(&self, at_ns: u64) -> Option<&Span> {
        let after = self.spans.partition_point(|span| span.from_ns <= at_ns);
        self.spans.get(after.checked_sub(1)?)
    }

    /// The oldest span that has ended, with its end: for readers who need each once.
    pub fn take_ended(&mut self) -> Option<(Span, u64)> {
        let until_ns = self.spans.get(1)?.from_ns;
        self.spans.pop_front().map(|span| (span, until_ns))
    }

    /// No events were kept from here to `until_ns`: the activity is unknown.
    pub fn gap(&mut self, until_ns: u64) {
        self.forget_since_last();
        self.last_ns = self.last_ns.max(until_ns);
    }

    /// Drops what ended before an instant.
    pub fn forget_before(&mut self, at_ns: u64) {
        while self.spans.get(1).is_some_and(|next| next.from_ns <= at_ns) {
            self.spans.pop_front();
        }
    }

    fn switch(&mut self, previous: &Thread, next: &Thread) {
        // Nobody is switched out inside a hard interrupt: one that is open has lost its exit.
        self.frames
            .retain(|frame| !matches!(frame.doing, Doing::Interrupt(..)));
        let frames = std::mem::take(&mut self.frames);
        if !frames.is_empty() && previous.id != 0 && self.suspended.len() < 4096 {
            self.suspended.insert(previous.id, frames);
        }
        self.frames = self.suspended.remove(&next.id).unwrap_or_default();
        if next.id != 0 {
            self.idle_state = None;
        }
        self.learn(next);
        self.current = Some(next.clone());
    }

    /// Remembers a thread by its number.
    pub fn learn(&mut self, thread: &Thread) {
        if self.known.len() == MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(thread.id, thread.clone());
    }

    fn open(&mut self, since_ns: u64, doing: Doing) {
        // A real stack is three deep; more means that exits are missing.
        if self.frames.len() < 8 {
            self.frames.push(Frame { since_ns, doing });
        }
    }

    /// Ends the innermost frame of a kind, and whatever is still open above it.
    fn close(&mut self, which: impl Fn(&Doing) -> bool) {
        if let Some(at) = self.frames.iter().rposition(|frame| which(&frame.doing)) {
            self.frames.truncate(at);
        }
    }

    fn note(&mut self, at_ns: u64) {
        let doing = match (self.frames.last(), &self.current) {
            (Some(frame), _) => frame.doing.clone(),
            (None, None) => Doing::Unknown,
            (None, Some(thread)) if thread.id == 0 => Doing::Idle(self.idle_state),
            (None, Some(thread)) => Doing::Thread(thread.clone()),
        };
        let current = self.current.as_ref().map(|thread| thread.id);
        self.push(Span {
            from_ns: at_ns,
            last_ns: at_ns,
            doing,
            current,
            hold: self.hold,
        });
    }

    fn push(&mut self, span: Span) {
        if let Some(last) = self.spans.back_mut() {
            let same = last.current == span.current && last.hold == span.hold;
            if same && last.doing == span.doing {
                last.last_ns = span.from_ns;
                return;
            }
            if last.from_ns == span.from_ns {
                *last = span;
                return;
            }
        }
        if self.spans.len() == MOST_SPANS {
            self.spans.drain(..MOST_SPANS / 2);
        }
        self.spans.push_back(span);
    }

    fn lose(&mut self, at_ns: u64, count: u64) {
        self.lost += count.max(1);
        self.reset();
        // From the last event that is there until now nothing is known.
        let from_ns = self.last_ns;
        self.push(Span {
            from_ns,
            last_ns: from_ns,
            doing: Doing::Lost,
            current: None,
            hold: Hold::default(),
        });
        self.last_ns = at_ns;
        self.push(Span {
            from_ns: at_ns,
            last_ns: at_ns,
            doing: Doing::Unknown,
            current: None,
            hold: Hold::default(),
        });
    }

    /// Discards the state assumed since the last event: the new event contradicts it.
    fn forget_since_last(&mut self) {
        self.reset();
        let from_ns = self.last_ns;
        self.push(Span {
            from_ns,
            last_ns: from_ns,
            doing: Doing::Unknown,
            current: None,
            hold: Hold::default(),
        });
    }

    fn reset(&mut self) {
        self.current = None;
        self.hold = Hold::default();
        self.idle_state = None;
        self.frames.clear();
        self.suspended.clear();
    }

    fn sender(&mut self, interrupt: &Interrupt) -> Option<SentBy> {
        if !is_ipi(interrupt) {
            return None;
        }
        // Interrupts that are sent faster than they are taken are merged; the last one represents them all.
        let (_, last) = self.sent.pop_back()?;
        self.sent.clear();
        Some(last)
    }
}

/// Whether an interrupt is one that CPUs send each other.
pub(crate) fn is_ipi(interrupt: &Interrupt) -> bool {
    matches!(interrupt, Interrupt::Reschedule | Interrupt::CallFunction)
}

/// The kernel's own threads for SoftIRQs, by their fixed names.
fn runs_softirqs(thread: &Thread) -> bool {
    let name = thread.name.bytes();
    name.starts_with(b"ksoftirqd/")
        || name.starts_with(b"ktimers/")
        || name.starts_with(b"ktimersd/")
}
