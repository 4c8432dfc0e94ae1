//! One cycle's time cut into pieces by what the thread was and what its CPU did. The usual cost of
//! the path is taken out afterwards, in `resolve`.

mod asleep;
mod ended;
mod halts;
mod holders;
mod left;
mod nagle;
mod page_waits;
mod queued;
mod retried;
mod waits;
mod within;
mod woken;

use crate::budgets::{Budgets, Refills};
use crate::cause::Cause;
use crate::cpu::{Cpu, Doing, Span, is_ipi};
use crate::cycle::{Piece, Stretch, WokenBy};
use crate::halt::HaltKind;
use crate::holds::Hold;
use crate::idle_exit::IdleExits;
use crate::stacks::Places;
use crate::threads::Threads;
use crate::track::{Happened, Interval, State, Track};
use std::cell::Cell;
use wakepath_timeline::{Sample, SampleFlags, Thread};
pub(crate) use within::{WaitWithin, is_until};
use woken::{woken_at, woken_before};

/// The window that explains a cycle.
pub(crate) struct Window<'a> {
    pub cpus: &'a [Cpu],
    pub track: &'a Track,
    pub threads: &'a Threads,
    /// The loop's thread number.
    pub thread: u32,
    /// The cycle before, if there is one.
    pub before: Option<Sample>,
    /// Due time of the next one, if there is one, in nanoseconds.
    pub next_due_ns: Option<u64>,
    /// When the loop began, if that was after its first due time, in nanoseconds.
    pub began_ns: Option<u64>,
    /// Whether its policy is a real-time one, once its program has set that.
    pub is_real_time: bool,
    /// Whether a thread that ran at an instant is wakepath's own.
    pub is_own_tool: &'a dyn Fn(&Thread, u64) -> bool,
    /// Whether a thread is known to be of the loop's own process.
    pub is_sibling: &'a dyn Fn(&Thread) -> bool,
    /// Whether a thread of this number is of the programs whose loops are explained.
    pub is_of_program: &'a dyn Fn(u32) -> bool,
    /// Whether system calls of the loop were recorded.
    pub calls_recorded: bool,
    pub idle_exits: &'a IdleExits,
    pub never_still: bool,
    /// How often the tick interrupts what runs, in nanoseconds, if that is known.
    pub tick_ns: Option<u64>,
    pub budgets: &'a Budgets,
    pub places: &'a Places,
    pub refills: &'a Refills,
    /// Those of DEADLINE threads.
    pub reservations: &'a Refills,
}

/// Pieces of the latency, and how the thread was woken.
pub(crate) fn latency(window: &Window<'_>, sample: &Sample) -> (Vec<Piece>, WokenBy) {
    if sample.wake_ns <= sample.due_ns {
        return (Vec::new(), woken_before(window, sample));
    }
    let began_ns = window.began_ns.unwrap_or(0);
    let began_ns = began_ns.clamp(sample.due_ns, sample.wake_ns);
    let intervals = left::states(window, began_ns, sample.wake_ns);
    // Where something else than a timer begins a cycle, the cycle is due when it wakes the loop.
    let woken_when_due = woken_at(window, began_ns);
    let asleep = intervals.first().is_some_and(|first| {
        let slept = first.state == State::Sleeping || woken_when_due.is_some();
        slept && !sample.flags.contains(SampleFlags::DUE_ALREADY_PAST)
    });
    let mut cut = Cut::new(window, sample);
    cut.push(
        sample.due_ns,
        began_ns,
        Stretch::NotAsleep,
        Cause::BeganLate,
    );
    let mut has_woken = asleep && woken_when_due.is_some();
    let mut woken = match (woken_when_due, intervals.first().map(|first| first.state)) {
        (Some(woken), _) if asleep => woken,
        (_, Some(State::Unknown) | None) => WokenBy::Unknown,
        _ => WokenBy::NotAsleep,
    };
    let mut has_run = false;
    for interval in &intervals {
        let waking = || {
            if asleep {
                Stretch::WakingToSwitch
            } else {
                Stretch::NotAsleep
            }
        };
        match interval.state {
            State::Sleeping if asleep && !has_woken && cut.is_frozen_asleep(interval) => {
                cut.halted(interval, Stretch::DueToInterrupt, HaltKind::Freezer);
                (woken, has_woken) = (woken_before(window, sample), true);
            }
            State::Sleeping if asleep && !has_woken && !cut.is_held(interval) => {
                woken = cut.asleep(interval);
                has_woken = true;
            }
            State::Runnable if !has_run => cut.runnable(interval, waking()),
            State::Running(cpu) => {
                has_run = true;
                cut.running(cpu, interval, asleep);
            }
            _ => {
                let stretch = if asleep && has_run {
                    Stretch::SwitchToUser
                } else {
                    waking()
                };
                cut.waiting(interval, stretch);
            }
        }
    }
    (cut.pieces, woken)
}

/// Pieces of the cycle's own work, and its waits for any event.
pub(crate) fn execution(window: &Window<'_>, sample: &Sample) -> (Vec<Piece>, Vec<WaitWithin>) {
    let mut cut = Cut::new(window, sample);
    let mut waits_within = Vec::new();
    for interval in &left::states(window, sample.wake_ns, sample.end_ns) {
        match interval.state {
            State::Running(cpu) => cut.working(cpu, interval),
            State::Sleeping => {
                waits_within.extend(within::wait_within(window, interval));
                cut.waiting(interval, Stretch::Execution);
            }
            _ => cut.waiting(interval, Stretch::Execution),
        }
    }
    (cut.pieces, waits_within)
}

/// The interrupt that woke the thread, up to an instant.
#[derive(Clone, Copy)]
struct LookedAt {
    cpu: u16,
    since_ns: u64,
    until_ns: u64,
    /// Whether there was nothing but interrupt and timers.
    unbroken: bool,
}

struct Cut<'a> {
    window: &'a Window<'a>,
    sample: &'a Sample,
    pieces: Vec<Piece>,
    /// Entry of the interrupt that woke the thread: its own handling is the path's work.
    own_interrupt_ns: Option<u64>,
    own_expiry_ns: Option<u64>,
    own_cpu: u16,
    /// How far it has been looked at: each stretch of a storm of timers is looked at once.
    looked_at: Cell<Option<LookedAt>>,
    /// Where and when the timer woke the thread, and the beginning of the interrupt that brought
    /// this to another CPU.
    woken_at: Option<(u16, u64)>,
    sent_wake_up_ns: Option<u64>,
}

impl<'a> Cut<'a> {
    fn new(window: &'a Window<'a>, sample: &'a Sample) -> Self {
        Self {
            window,
            sample,
            pieces: Vec::with_capacity(8),
            own_interrupt_ns: None,
            own_expiry_ns: None,
            own_cpu: 0,
            looked_at: Cell::new(None),
            woken_at: None,
            sent_wake_up_ns: None,
        }
    }

    fn push(&mut self, from_ns: u64, to_ns: u64, stretch: Stretch, cause: Cause) {
        if to_ns <= from_ns {
            return;
        }
        if let Some(last) = self.pieces.last_mut()
            && last.stretch == stretch
            && last.cause == cause
            && last.to_ns == from_ns
        {
            last.to_ns = to_ns;
            return;
        }
        self.pieces.push(Piece {
            from_ns,
            to_ns,
            stretch,
            cause,
        });
    }

    /// On its CPU, on the way to its first instruction, or still in the cycle before.
    fn running(&mut self, cpu: u16, interval: &Interval, asleep: bool) {
        let stretch = if asleep {
            Stretch::SwitchToUser
        } else {
            Stretch::NotAsleep
        };
        let before = self.window.before;
        let previous_end_ns = before.map_or(self.sample.due_ns, |of| of.end_ns);
        let past = self.sample.flags.contains(SampleFlags::DUE_ALREADY_PAST);
        self.spans(
            cpu,
            interval.from_ns,
            interval.to_ns,
            |cut, from, to, span| {
                let own =
                    matches!(&span.doing, Doing::Thread(thread) if thread.id == cut.window.thread);
                match own {
                    false => {
                        let cause = cut.cause_while_running(span, from);
                        cut.push(from, to, stretch, cause);
                    }
                    // The cause of the previous cycle's length is known when that cycle has been resolved.
                    true if past && from < previous_end_ns => {
                        let middle = to.min(previous_end_ns);
                        cut.push(from, middle, stretch, overrun());
                        if to > middle {
                            cut.push(middle, to, stretch, Cause::Path);
                        }
                    }
                    true => cut.push(from, to, stretch, Cause::Path),
                }
            },
        );
    }

    /// On its CPU, in the cycle's own work.
    fn working(&mut self, cpu: u16, interval: &Interval) {
        self.spans(
            cpu,
            interval.from_ns,
            interval.to_ns,
            |cut, from, to, span| match &span.doing {
                Doing::Thread(thread) if thread.id == cut.window.thread => {
                    let still_ns = cut.still_from(from, to, span.last_ns);
                    cut.own_code(from, still_ns);
                    cut.push(still_ns, to, Stretch::Execution, Cause::NothingRan);
                }
                _ => {
                    let cause = cut.cause_while_running(span, from);
                    cut.push(from, to, Stretch::Execution, cause);
                }
            },
        );
    }

    /// When its CPU was stalled from, `to_ns` if it was not: without any event for two ticks it would have been
    /// interrupted. Before the last event it ran.
    fn still_from(&self, from_ns: u64, to_ns: u64, last_ns: u64) -> u64 {
        let changes = self.window.track.calls_change(from_ns, to_ns);
        let silent_ns = changes.chain([last_ns.clamp(from_ns, to_ns)]).max();
        let silent_ns = silent_ns.unwrap_or(from_ns);
        let tick_ns = self.window.tick_ns.filter(|_| !self.window.never_still);
        match tick_ns {
            Some(tick_ns) if to_ns - silent_ns >= 2 * tick_ns => silent_ns,
            _ => to_ns,
        }
    }

    /// Its own instructions: those of its program, and the kernel's for its calls.
    fn own_code(&mut self, from_ns: u64, to_ns: u64) {
        let track = self.window.track;
        let mut at_ns = from_ns;
        for until_ns in track.calls_change(from_ns, to_ns).chain([to_ns]) {
            let cause = match track.call_at(at_ns) {
                Some(call) => Cause::SystemCall(call.clone()),
                None => Cause::OwnCode,
            };
            self.push(at_ns, until_ns, Stretch::Execution, cause);
            at_ns = until_ns;
        }
    }

    /// Neither on a CPU nor asleep until its timer.
    fn waiting(&mut self, interval: &Interval, stretch: Stretch) {
        let (from, to) = (interval.from_ns, interval.to_ns);
        match interval.state {
            State::Runnable => self.runnable(interval, stretch),
            State::Stopped | State::Blocked | State::Sleeping => {
                if let Some(kind) = self.halt(interval) {
                    return self.halted(interval, stretch, kind);
                }
                if self.is_of_sleep_before(interval) {
                    return self.push(from, to, stretch, overrun());
                }
                if let Some(asked_ns) = self.overslept(interval) {
                    return self.frozen_from(asked_ns, interval, stretch);
                }
                // A signal cut the sleep, which lasts no longer for that.
                if self.is_woken_out_of_sleep(interval) {
                    return self.push(from, to, stretch, Cause::Awaiting);
                }
                match self.page_wait(interval) {
                    Some(cause) => self.push(from, to, stretch, cause),
                    None => self.blocked(interval, stretch),
                }
            }
            State::Away | State::Unknown | State::Running(_) => self.unexplained(from, to, stretch),
        }
    }

    /// Whether the loop still slept until the cycle before, which came late: it has that one's cause.
    fn is_of_sleep_before(&self, interval: &Interval) -> bool {
        let is_past = self.sample.flags.contains(SampleFlags::DUE_ALREADY_PAST);
        let before = self.window.before.filter(|_| is_past);
        interval.state == State::Sleeping && before.is_some_and(|of| interval.to_ns <= of.wake_ns)
    }

    /// The cause that a span means if it does not depend on the loop's own state.
    fn cause(&self, span: &Span, from_ns: u64) -> Cause {
        match &span.doing {
            Doing::Unknown => Cause::NoEvents,
            Doing::Lost => Cause::EventsLost,
            Doing::Idle(state) => Cause::IdleExit { state: *state },
            Doing::SoftIrq(vector, thread) => Cause::SoftIrq {
                vector: *vector,
                thread: thread.clone(),
            },
            Doing::Interrupt(interrupt, sender) if is_ipi(interrupt) => Cause::Ipi {
                kind: interrupt.clone(),
                sender: sender.clone(),
            },
            Doing::Interrupt(..) if self.is_own_interrupt(from_ns) => Cause::Path,
            Doing::Interrupt(interrupt, _) => Cause::Interrupt(interrupt.clone()),
            Doing::Timer(_) if self.own_expiry_ns == Some(span.from_ns) => Cause::Path,
            Doing::Timer(function) => Cause::OtherTimer(function.clone()),
            Doing::Thread(thread) if thread.id == self.window.thread => Cause::Path,
            Doing::Thread(thread) => Cause::NotPreemptible(thread.clone()),
        }
    }

    /// The same, if the loop's track has it on this CPU. A CPU that idles or runs another thread then
    /// contradicts that: the switch away from the loop left no event, and nothing shows what it waited for.
    fn cause_while_running(&self, span: &Span, from_ns: u64) -> Cause {
        match span.doing {
            Doing::Thread(_) | Doing::Idle(_) => Cause::NoEvents,
            _ => self.cause(span, from_ns),
        }
    }

    /// A CPU that was idle. If it stayed so for far longer than its driver's figure for leaving the state,
    /// only the end is the state's.
    fn idle(&mut self, cpu: u16, span_ns: (u64, u64), stretch: Stretch, state: Option<u32>) {
        let (from_ns, to_ns) = span_ns;
        let idle_exits = self.window.idle_exits;
        let leaving_ns = match idle_exits.exceeded(cpu, state, to_ns - from_ns) {
            Some(figure_ns) if !self.window.never_still => to_ns - figure_ns,
            _ => from_ns,
        };
        self.push(from_ns, leaving_ns, stretch, Cause::NothingRan);
        self.push(leaving_ns, to_ns, stretch, Cause::IdleExit { state });
    }

    /// Whether an instant is in the interrupt that woke the thread: nothing but interrupt and timers between
    /// its entry and then.
    fn is_own_interrupt(&self, at_ns: u64) -> bool {
        let Some(since_ns) = self.own_interrupt_ns.filter(|&since| since <= at_ns) else {
            return false;
        };
        let Some(cpu) = self.window.cpus.get(usize::from(self.own_cpu)) else {
            return false;
        };
        let known = self.looked_at.get().filter(|known| {
            (known.cpu, known.since_ns) == (self.own_cpu, since_ns) && known.until_ns <= at_ns
        });
        let from_ns = known.map_or(since_ns, |known| known.until_ns);
        let mut unbroken = known.is_none_or(|known| known.unbroken);
        if unbroken {
            cpu.between(from_ns, at_ns, |_, _, span| {
                unbroken &= matches!(span.doing, Doing::Interrupt(..) | Doing::Timer(_));
            });
        }
        self.looked_at.set(Some(LookedAt {
            cpu: self.own_cpu,
            since_ns,
            until_ns: at_ns,
            unbroken,
        }));
        unbroken
    }

    fn spans(
        &mut self,
        cpu: u16,
        from_ns: u64,
        to_ns: u64,
        mut each: impl FnMut(&mut Self, u64, u64, &Span),
    ) {
        if to_ns <= from_ns {
            return;
        }
        let cpus = self.window.cpus;
        match cpus.get(usize::from(cpu)) {
            Some(found) => {
                found.between(from_ns, to_ns, |from, to, span| each(self, from, to, span))
            }
            None => each(
                self,
                from_ns,
                to_ns,
                &Span {
                    from_ns,
                    last_ns: from_ns,
                    doing: Doing::Unknown,
                    current: None,
                    hold: Hold::default(),
                },
            ),
        }
    }

    /// The thread's state is unknown. If the kernel reports lost events, they are the reason.
    fn unexplained(&mut self, from_ns: u64, to_ns: u64, stretch: Stretch) {
        let marks = self.window.track.marks().iter().rev();
        let mut before = marks.filter(|mark| mark.at_ns <= from_ns);
        let last = before.find(|mark| {
            let what = &mark.what;
            !matches!(
                what,
                Happened::Slack { .. } | Happened::Fault { .. } | Happened::Mapped
            )
        });
        let lost = last.is_some_and(|mark| mark.what == Happened::Lost);
        let cause = if lost {
            Cause::EventsLost
        } else {
            Cause::NoEvents
        };
        self.push(from_ns, to_ns, stretch, cause);
    }
}

/// An overrun whose cause is not known yet; `resolve` puts it in.
pub(crate) fn overrun() -> Cause {
    Cause::Overrun(Box::new(Cause::OwnCode))
}
