//! A thread's activity each time a timer or something else woke it. Whether it is periodic is decided
//! elsewhere.
//!
//! A timer that outlives a sleep, as a timerfd's does, can expire while its thread still runs. The kernel
//! restarts it when the thread asks for it, so this is seen: the thread serves that expiry late and without
//! having slept. Of several expiries in between it serves one.

use super::activation::{Activation, ThreadActivity, is_tick, outlives_sleep, sends_signal};
use super::expiry::{Expiry, Programmed};
use super::pool;
use super::sleep_call::{CutKey, SIGNAL_SERVED};
use super::thread::Thread;
use super::waker::{Key, Open};
use super::wall_clock;
use crate::call::{starts_another, waits_at};
use crate::senders::Senders;
use crate::untold::{Untold, UntoldSwitch};
use foldhash::{HashMap, HashMapExt};
use std::collections::BTreeMap;
use std::sync::Arc;
use wakepath_timeline::{KernelEvent, Left, What};

/// Collects the activations of some threads while events go by.
#[derive(Debug)]
pub struct Activations {
    threads: HashMap<u32, Thread>,
    /// When the clock that counts from 1970 was set, and by how much, in nanoseconds.
    clock_sets: Vec<(u64, i64)>,
    cpus: HashMap<u16, Vec<Expiry>>,
    open: Open,
    senders: Senders,
    untold: Untold,
    /// Timers that were programmed, by address.
    programmed: HashMap<u64, Programmed>,
    /// Whom a timer that outlives a sleep last woke, by address.
    owners: HashMap<u64, u32>,
    /// Such timers that have expired while their owners ran, by address.
    unserved: HashMap<u64, Expiry>,
}

/// Activations of one thread that have ended: three cuts through the same time.
#[derive(Debug, Default)]
pub struct Taken {
    /// Begun by timers.
    pub timers: Vec<Activation>,
    /// Begun by something else that woke it.
    pub handed: Vec<Activation>,
    /// Between marks.
    pub marked: Vec<Activation>,
    /// As [`ThreadActivity::is_by_lasting_timers`].
    pub by_lasting_timers: bool,
    /// Whether it takes turns with others, as those of a [`ThreadActivity::pool`] do.
    pub takes_turns: bool,
}

impl Activations {
    /// Of the threads with these numbers.
    pub fn new(threads: impl IntoIterator<Item = u32>) -> Self {
        Self {
            threads: threads
                .into_iter()
                .map(|id| (id, Thread::default()))
                .collect(),
            clock_sets: Vec::new(),
            cpus: HashMap::new(),
            open: Open::default(),
            senders: Senders::default(),
            untold: Untold::default(),
            programmed: HashMap::new(),
            owners: HashMap::new(),
            unserved: HashMap::new(),
        }
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &KernelEvent) {
        if self.untold.is_within_switch(event) {
            return;
        }
        if let Some(untold) = self.untold.before(event) {
            self.untold(&untold);
        }
        self.take_in(event);
    }

    fn take_in(&mut self, event: &KernelEvent) {
        let (at_ns, cpu) = (event.at_ns, event.cpu);
        self.open.event(event);
        self.senders.event(event);
        if let What::InterruptEntry(_)
        | What::SystemCallEntry { .. }
        | What::PageFault { .. }
        | What::Mark { .. } = event.what
            && let Some(of) = self.threads.get_mut(&event.current)
        {
            of.may_have_run();
        }
        match &event.what {
            What::TimerStart {
                timer,
                soft_expires_ns,
                function,
                ..
            } => {
                let programmed = Programmed {
                    for_ns: *soft_expires_ns,
                    at_ns,
                    by: event.current,
                };
                self.programmed.insert(*timer, programmed);
                self.asked_for(event, *timer);
                if !outlives_sleep(function)
                    && !is_tick(function)
                    && let Some(of) = self.threads.get_mut(&event.current)
                {
                    of.asked(*timer, programmed);
                }
            }
            What::TimerExpiryEntry { timer, function } => {
                self.cpus.entry(cpu).or_default().push(Expiry {
                    timer: *timer,
                    function: Arc::clone(function),
                    at_ns,
                    programmed: self.programmed.remove(timer),
                    has_woken: false,
                });
            }
            What::TimerExpiryExit { timer } => {
                // Handlers above it on the stack have lost their exits.
                let open = self.cpus.entry(cpu).or_default();
                if let Some(at) = open.iter().rposition(|of| of.timer == *timer) {
                    let ended = open.drain(at..).next();
                    let unserved = ended.filter(|of| of.outlives_sleep() && !of.has_woken);
                    if let Some(expiry) = unserved {
                        let is_asked_for = expiry.was_past();
                        self.unserved.insert(*timer, expiry);
                        if is_asked_for {
                            self.asked_for(event, *timer);
                        }
                    }
                }
            }
            What::Waking { thread, .. } => {
                if !self.threads.contains_key(&thread.id) {
                    return;
                }
                let by = self.open.by(event);
                let sender = self.sender(event, &by);
                let by = match sender {
                    Some(sender) if self.open.answers_late_data(&by, sender) => Key::TcpTimer,
                    _ => by,
                };
                let open = self.cpus.get_mut(&cpu);
                let expiry = open.and_then(|open| open.last_mut());
                let expiry = expiry.filter(|of| !of.is_tick());
                if let Some(expiry) = expiry.as_deref()
                    && expiry.outlives_sleep()
                {
                    self.owners.insert(expiry.timer, thread.id);
                }
                if let Some(of) = self.threads.get_mut(&thread.id) {
                    match expiry {
                        Some(expiry)
                            if of
                                .sleeps
                                .is_own_timer(expiry.timer, sends_signal(&expiry.function)) =>
                        {
                            expiry.has_woken = true;
                            of.woken_by_timer(at_ns, cpu, expiry, thread.id);
                        }
                        Some(expiry) => {
                            expiry.has_woken = true;
                            let by = || CutKey::Timer(Arc::clone(&expiry.function));
                            of.out_of_sleep(at_ns, cpu, by);
                        }
                        None => {
                            of.handed(at_ns, cpu, by.clone(), sender);
                            of.out_of_sleep(at_ns, cpu, || CutKey::Waker(by));
                        }
                    }
                }
            }
            What::WakeUp { thread, .. } => {
                if let Some(of) = self.threads.get_mut(&thread.id) {
                    of.woken_up();
                }
            }
            What::Switch {
                previous,
                left,
                next,
            } => {
                if let Some(of) = self.threads.get_mut(&previous.id) {
                    of.out(at_ns, *left);
                    if *left == Left::Stopped {
                        of.by_timers.stopped();
                    }
                }
                if let Some(of) = self.threads.get_mut(&next.id) {
                    of.switched_in(at_ns, cpu);
                    *of.activity.priorities.entry(next.priority).or_default() += 1;
                }
            }
            What::SystemCallEntry { name, argument } => {
                if let Some(of) = self.threads.get_mut(&event.current) {
                    if starts_another(name) {
                        of.activity.started_ns.push(at_ns);
                    }
                    of.sleeps.entered(name);
                    if &**name == SIGNAL_SERVED {
                        of.signal_served(at_ns, cpu);
                    }
                    let argument = waits_at(*argument);
                    of.waits.entered(name, argument);
                    of.fetches.entered(at_ns, name, argument);
                }
            }
            What::SystemCallExit => {
                if let Some(of) = self.threads.get_mut(&event.current) {
                    of.woken_up();
                    of.left_call();
                    of.sleeps.left(at_ns);
                    of.waits.left_at(at_ns);
                    of.fetches.left();
                }
            }
            What::ClockSet { by_ns } => self.clock_sets.push((at_ns, *by_ns)),
            What::Mark { number } => {
                if let Some(of) = self.threads.get_mut(&event.current) {
                    of.passed(at_ns, cpu, *number);
                }
            }
            What::Lost { .. } => {
                self.cpus.remove(&cpu);
                self.programmed.clear();
                self.unserved.clear();
                for of in self.threads.values_mut() {
                    of.lose();
                }
            }
            _ => {}
        }
    }

    /// A timer is started again, or was started for a time that had passed: where its owner does it,
    /// and it has expired while that ran, the owner serves the expiry now.
    fn asked_for(&mut self, event: &KernelEvent, timer: u64) {
        let expiry = self.unserved.remove(&timer);
        let owner = self.owners.get(&timer);
        if let (Some(expiry), Some(owner)) = (expiry, owner)
            && *owner == event.current
            && let Some(of) = self.threads.get_mut(owner)
        {
            if sends_signal(&expiry.function) && !of.waits.takes_signal(event.at_ns) {
                of.notes_signal();
            } else {
                of.serves_late(event.at_ns, event.cpu, &expiry, *owner);
            }
        }
    }

    /// The thread that causes a wake-up: the waker, or where the network's reception is that, the thread in whose call to
    /// send it runs.
    fn sender(&self, event: &KernelEvent, waker: &Key) -> Option<u32> {
        match waker {
            Key::Thread(id) => Some(*id),
            Key::SoftIrq(vector) => {
                let is_own = self.senders.is_for(*vector, event.current);
                is_own.then_some(event.current)
            }
            _ => None,
        }
    }

    /// Takes a switch that was not recorded.
    fn untold(&mut self, untold: &UntoldSwitch) {
        if let Some(of) = self.threads.get_mut(&untold.next) {
            of.activity.untold_switches += 1;
            let worst_ns = &mut of.activity.untold_switch_ns;
            *worst_ns = untold.uncertain_ns().max(*worst_ns);
        }
        if let Some(switch) = untold.out_of_idle() {
            return self.take_in(&switch);
        }
        if let Some(of) = self.threads.get_mut(&untold.previous) {
            of.out(untold.last_ns, Left::Stopped);
        }
        if let Some(of) = self.threads.get_mut(&untold.next) {
            of.switched_in(untold.latest_ns, untold.cpu);
        }
    }

    /// Looks at this thread as well from now on.
    pub fn follow(&mut self, thread: u32) {
        self.threads.entry(thread).or_default();
    }

    /// Whole activations since the last call; unfinished ones stay. For callers that look while recording
    /// continues: [`Self::finish`] does not return activations taken here.
    pub fn take(&mut self) -> BTreeMap<u32, Taken> {
        let pools = pool::find(&self.threads);
        let threads = self.threads.iter_mut();
        let taken = threads.map(|(id, of)| {
            of.fetches.take();
            let taken = Taken {
                timers: timers_on_monotonic(&mut of.by_timers.ended),
                handed: std::mem::take(&mut of.handed.ended),
                marked: std::mem::take(&mut of.marked.ended),
                by_lasting_timers: of.activity.is_by_lasting_timers(),
                takes_turns: pools.iter().any(|of| of.contains(id)),
            };
            (*id, taken)
        });
        taken.collect()
    }

    /// Observations by thread number; an activation that had not ended is left out.
    pub fn finish(self) -> BTreeMap<u32, ThreadActivity> {
        let pools = pool::find(&self.threads);
        let (threads, open) = (self.threads.into_iter(), self.open);
        let finished = threads.map(|(id, of)| (id, of.finish(&open)));
        let mut finished: BTreeMap<u32, ThreadActivity> = finished.collect();
        if !self.clock_sets.is_empty() {
            for of in finished.values_mut() {
                of.clock_set_ns = self.clock_sets.iter().map(|(at_ns, _)| *at_ns).collect();
                of.clock_steps_ns = self.clock_sets.iter().map(|(_, by_ns)| *by_ns).collect();
            }
        }
        for members in &pools {
            pool::put_together(members, &mut finished);
        }
        finished
    }
}

/// Takes the turns that timers began, with their programmed times on `CLOCK_MONOTONIC`.
fn timers_on_monotonic(ended: &mut Vec<Activation>) -> Vec<Activation> {
    let mut taken = std::mem::take(ended);
    wall_clock::onto_monotonic(&mut taken);
    taken
}
