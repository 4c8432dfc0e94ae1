//! Splits a blocked loop's wait by what its waker was doing: running, ready, asleep, or blocked on a
//! thread whose time is split in turn. This is a walk along the critical path, backwards from the
//! end of the wait.

use super::Cut;
use super::ended::ended_at_last_by;
use super::halts::last_out;
use super::{nagle, retried};
use crate::call::{Call, may_be_lock};
use crate::cause::Cause;
use crate::cpu::{Context, Doing};
use crate::cycle::Stretch;
use crate::stacks::Place;
use crate::track::{Happened, Interval, State, Track};
use crate::wait::{Handler, Meanwhile, Wait};
use std::sync::Arc;
use wakepath_timeline::{SoftIrq, Thread};

/// Longest chain that is followed; the threads beyond it are part of its last link.
const LONGEST_CHAIN: usize = 16;

/// A wait of the loop while its chain is followed.
#[derive(Clone)]
struct Link<'a> {
    chain: Vec<Thread>,
    stretch: Stretch,
    uninterruptible: bool,
    /// The system call in which the loop waits.
    call: Option<Call>,
    /// Where in its program it does.
    place: Option<Arc<Place>>,
    /// Whether the switch away from it was not recorded.
    inferred: bool,
    /// The loop's priority, on the kernel's scale.
    priority: i32,
    track: &'a Track,
}

impl Cut<'_> {
    /// The loop is neither on a CPU nor ready.
    pub(super) fn blocked(&mut self, interval: &Interval, stretch: Stretch) {
        let track = self.window.track;
        let priority = match super::ended::ended_by(track, interval) {
            Some(Happened::Waking { priority, .. }) => *priority,
            _ => i32::MAX,
        };
        let place = self.place(self.window.thread, track, interval.from_ns);
        let recorded = track.call_at(interval.from_ns).cloned();
        let link = Link {
            chain: Vec::new(),
            stretch,
            uninterruptible: interval.state == State::Blocked,
            call: recorded.or_else(|| place.as_ref()?.call()),
            place,
            inferred: track.left_unseen(interval.from_ns),
            priority,
            track,
        };
        self.follow(&link, interval);
    }

    /// A thread's wait, by what ended it.
    fn follow(&mut self, link: &Link<'_>, interval: &Interval) {
        let Interval { from_ns, to_ns, .. } = *interval;
        let from = ended_at_last_by(link.track, interval).map(|from| (from, to_ns));
        let from = from.and_then(|from| match (from.0, interval.ended_by) {
            (Context::Timer { .. }, Some(at)) => {
                let end_ns = self.sample.end_ns;
                retried::ended_by(link.track, at, end_ns).or(Some(from))
            }
            _ => Some(from),
        });
        let (from, woken_ns) = from.map_or((Context::Unknown, to_ns), |(from, at_ns)| {
            (from.clone(), at_ns)
        });
        let meanwhile = match from {
            Context::Thread(waker) => {
                let waiter = link.chain.last().map_or(self.window.thread, |of| of.id);
                let mut at_ns = from_ns;
                for (holder, until_ns) in self.holders(waiter, from_ns, (waker, woken_ns)) {
                    let until_ns = until_ns.clamp(at_ns, to_ns);
                    match self.next_link(link, holder) {
                        _ if at_ns == until_ns => {}
                        Some(next) => self.spent_by(&next, at_ns, until_ns),
                        None => self.wait(link, at_ns, until_ns, Meanwhile::Unknown),
                    }
                    at_ns = until_ns;
                }
                return self.wait(link, at_ns, to_ns, Meanwhile::Unknown);
            }
            Context::Timer { .. } => Meanwhile::Slept,
            Context::Interrupt(Handler::SentByTimer)
                if link.chain.len() == 1 && nagle::held_back(self.window.track, to_ns) =>
            {
                Meanwhile::HeldBack
            }
            Context::Interrupt(Handler::SentByTimer) => {
                Meanwhile::Device(Handler::SoftIrq(SoftIrq::NET_RX))
            }
            Context::Interrupt(handler) => Meanwhile::Device(handler),
            Context::Unknown => Meanwhile::Unknown,
        };
        self.wait(link, from_ns, to_ns, meanwhile);
    }

    fn next_link<'a>(&self, link: &Link<'a>, mut waker: Thread) -> Option<Link<'a>>
    where
        Self: 'a,
    {
        let is_loop = waker.id == self.window.thread;
        let is_known = link.chain.iter().any(|thread| thread.id == waker.id);
        if waker.id == 0 || is_loop || is_known || link.chain.len() == LONGEST_CHAIN {
            return None;
        }
        let track = self.window.threads.track(waker.id);
        waker.name = track.and_then(|of| of.name).unwrap_or(waker.name);
        let mut chain = link.chain.clone();
        chain.push(waker);
        Some(Link {
            chain,
            ..link.clone()
        })
    }

    /// Splits a stretch of time by the state of the chain's last thread.
    fn spent_by(&mut self, link: &Link<'_>, from_ns: u64, to_ns: u64) {
        let threads = self.window.threads;
        let Some(track) = link.chain.last().and_then(|last| threads.track(last.id)) else {
            return self.wait(link, from_ns, to_ns, Meanwhile::Unknown);
        };
        let link = &Link {
            track,
            ..link.clone()
        };
        for interval in track.between(from_ns, to_ns) {
            let (from_ns, to_ns) = (interval.from_ns, interval.to_ns);
            match interval.state {
                State::Running(_) => self.wait(link, from_ns, to_ns, Meanwhile::Ran),
                State::Runnable => self.kept_off(link, from_ns, to_ns),
                State::Sleeping | State::Blocked => self.follow(link, &interval),
                State::Stopped => self.wait(link, from_ns, to_ns, Meanwhile::Stopped),
                State::Away | State::Unknown => {
                    self.wait(link, from_ns, to_ns, Meanwhile::Unknown);
                }
            }
        }
    }

    /// The last thread of a chain was ready to run.
    fn kept_off(&mut self, link: &Link<'_>, from_ns: u64, to_ns: u64) {
        let Some(queues) = link.track.queues(from_ns, to_ns) else {
            return self.wait(link, from_ns, to_ns, Meanwhile::Unknown);
        };
        let Some(Thread { id, priority, .. }) = link.chain.last().cloned() else {
            return;
        };
        let mut at_ns = from_ns;
        for (until_ns, cpu) in queues {
            self.spans(cpu, at_ns, until_ns, |cut, from, to, span| {
                let meanwhile = match &span.doing {
                    Doing::Thread(by) if by.id == id => Meanwhile::Ran,
                    // The loop waits: a switch away from it was not recorded, nor who had the CPU.
                    Doing::Thread(by) if by.id == cut.window.thread => Meanwhile::Unknown,
                    Doing::Thread(by) if (cut.window.is_own_tool)(by, from) => {
                        let cause = Cause::OwnTool(by.clone());
                        return cut.push(from, to, link.stretch, cause);
                    }
                    Doing::Thread(by) => Meanwhile::KeptOff {
                        by: by.clone(),
                        // It runs by right before the one that is waited for, or shares the CPU
                        // with it by weight, and has no right to run before the loop.
                        inversion: may_be_lock(link.call.as_ref(), link.uninterruptible)
                            && link.priority < 100
                            && by.priority > link.priority
                            && (by.priority <= priority || priority >= 100),
                    },
                    Doing::Idle(_) => Meanwhile::Ran,
                    _ => {
                        let cause = cut.cause(span, from);
                        return cut.push(from, to, link.stretch, cause);
                    }
                };
                cut.wait(link, from, to, meanwhile);
            });
            at_ns = until_ns;
        }
    }

    /// Where in its program a thread waits at an instant.
    pub(super) fn place(&self, thread: u32, track: &Track, at_ns: u64) -> Option<Arc<Place>> {
        let left = last_out(track, at_ns)?;
        let left_ns = track.marks()[left].at_ns;
        self.window.places.at(thread, left_ns).cloned()
    }

    fn wait(&mut self, link: &Link<'_>, from_ns: u64, to_ns: u64, meanwhile: Meanwhile) {
        let waits = matches!(meanwhile, Meanwhile::Slept | Meanwhile::Device(_));
        let last = link.chain.last().filter(|_| waits);
        let there = last.and_then(|last| {
            let track = self.window.threads.track(last.id)?;
            self.place(last.id, track, from_ns)
        });
        let calls = &self.window.threads.calls;
        let doing = last.and_then(|last| calls.at(last.id, from_ns)).cloned();
        let wait = Wait {
            chain: link.chain.clone(),
            meanwhile,
            uninterruptible: link.uninterruptible,
            call: link.call.clone(),
            place: link.place.clone(),
            inferred: link.inferred,
            there,
            doing,
        };
        self.push(from_ns, to_ns, link.stretch, Cause::Blocked(wait.into()));
    }
}
