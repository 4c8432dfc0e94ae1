//! What a thread did each time a timer woke it, and each time something else did. Whether it is
//! periodic is not asked here.
//!
//! A timer that outlives a sleep, as a timerfd's does, may expire while its thread still runs. The
//! kernel starts it anew when the thread asks for it, so that this is seen: the thread serves that
//! expiry then, late and without having slept. Of several expiries in between it serves one.

use super::activation::{Activation, CYCLE_BEGINS, CYCLE_ENDS, ThreadActivity, outlives_sleep};
use super::turns::Turns;
use super::waker::{Key, Open, Waker};
use super::wall_clock;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use wakepath_timeline::{KernelEvent, Left, What};

/// A programmed time is taken for one of `CLOCK_MONOTONIC` where the timer expires after it and not
/// later than this, in nanoseconds; clocks that count from 1970 are decades away.
const LATEST_EXPIRY_NS: u64 = 60_000_000_000;
/// No machine runs for so long (31 years), and clocks that count from 1970 are beyond it, in nanoseconds.
const WALL_CLOCK_NS: u64 = 1_000_000_000_000_000_000;
/// Stamps and clocks of different CPUs may disagree by this, in nanoseconds.
const EARLIER_NS: u64 = 50_000;

/// Collects the activations of some threads while events go by.
#[derive(Debug)]
pub struct Activations {
    threads: HashMap<u32, Thread>,
    cpus: HashMap<u16, Vec<Expiry>>,
    open: Open,
    /// Thread that is believed to be current on each CPU, and the instant of its last event.
    current: HashMap<u16, (u32, u64)>,
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
}

/// A timer that was programmed.
#[derive(Debug, Clone, Copy)]
struct Programmed {
    /// For when, on the timer's clock.
    for_ns: u64,
    /// When that was done.
    at_ns: u64,
    /// By which thread.
    by: u32,
}

/// A timer's callback under way.
#[derive(Debug, Clone)]
struct Expiry {
    timer: u64,
    function: Arc<str>,
    at_ns: u64,
    programmed: Option<Programmed>,
    has_woken: bool,
}

impl Expiry {
    /// Whether the timer is still there when the sleep is over, as one on a sleeper's stack is not.
    fn outlives_sleep(&self) -> bool {
        outlives_sleep(&self.function)
    }

    /// The tick wakes threads on others' behalf.
    fn is_tick(&self) -> bool {
        self.function.starts_with("tick_")
    }

    /// The programmed time, if it is on `CLOCK_MONOTONIC`.
    fn programmed_ns(&self) -> Option<u64> {
        let is_monotonic = |asked: &u64| {
            *asked <= self.at_ns + EARLIER_NS
                && self.at_ns.saturating_sub(*asked) < LATEST_EXPIRY_NS
        };
        self.programmed.map(|of| of.for_ns).filter(is_monotonic)
    }

    /// The programmed time, if it is on a clock that counts from 1970.
    fn wall_ns(&self) -> Option<u64> {
        let asked = self.programmed.map(|of| of.for_ns);
        asked.filter(|&asked| asked >= WALL_CLOCK_NS && self.at_ns < WALL_CLOCK_NS)
    }

    /// Whether the programmed time had passed when it was programmed.
    fn was_past(&self) -> bool {
        let times = self.programmed_ns().zip(self.programmed);
        times.is_some_and(|(for_ns, of)| for_ns <= of.at_ns)
    }

    /// The beginning of a turn of this thread.
    fn begins(&self, thread: u32) -> Activation {
        let by_itself = self.programmed.filter(|of| of.by == thread);
        Activation {
            programmed_ns: self.programmed_ns(),
            wall_ns: self.wall_ns(),
            asked_at_ns: by_itself.map(|of| of.at_ns),
            timer: self.outlives_sleep().then_some(self.timer),
            expiry_ns: self.at_ns,
            ..Activation::default()
        }
    }
}

#[derive(Debug, Default)]
struct Thread {
    activity: ThreadActivity,
    running_since: Option<u64>,
    /// Whether it sleeps and nobody has been seen waking it.
    asleep: bool,
    by_timers: Turns,
    handed: Turns,
    marked: Turns,
    /// Programmed time and expiry of the last wake-up since the last cycle between marks began.
    last_wake_up: Option<(Option<u64>, u64)>,
    wakers: HashMap<Key, u64>,
}

impl Activations {
    /// Of the threads with these numbers.
    pub fn new(threads: impl IntoIterator<Item = u32>) -> Self {
        Self {
            threads: threads
                .into_iter()
                .map(|id| (id, Thread::default()))
                .collect(),
            cpus: HashMap::new(),
            open: Open::default(),
            current: HashMap::new(),
            programmed: HashMap::new(),
            owners: HashMap::new(),
            unserved: HashMap::new(),
        }
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &KernelEvent) {
        let (at_ns, cpu) = (event.at_ns, event.cpu);
        self.contradiction(event);
        self.open.event(event);
        match &event.what {
            What::TimerStart {
                timer,
                soft_expires_ns,
                ..
            } => {
                let programmed = Programmed {
                    for_ns: *soft_expires_ns,
                    at_ns,
                    by: event.current,
                };
                self.programmed.insert(*timer, programmed);
                self.asked_for(event, *timer);
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
                // What lies above it has lost its exit.
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
                let open = self.cpus.get_mut(&cpu);
                let expiry = open.and_then(|open| open.last_mut());
                let expiry = expiry.filter(|of| !of.is_tick());
                if let Some(expiry) = expiry.as_deref()
                    && expiry.outlives_sleep()
                    && self.threads.contains_key(&thread.id)
                {
                    self.owners.insert(expiry.timer, thread.id);
                }
                if let Some(of) = self.threads.get_mut(&thread.id) {
                    match expiry {
                        Some(expiry) => {
                            expiry.has_woken = true;
                            of.woken_by_timer(at_ns, cpu, expiry, thread.id);
                        }
                        None => of.handed(at_ns, cpu, self.open.by(event)),
                    }
                }
            }
            What::Switch {
                previous,
                left,
                next,
            } => {
                if let Some(of) = self.threads.get_mut(&previous.id) {
                    of.out(at_ns, *left);
                }
                if let Some(of) = self.threads.get_mut(&next.id) {
                    of.switched_in(at_ns, cpu);
                    *of.activity.priorities.entry(next.priority).or_default() += 1;
                }
            }
            What::Mark { number } => {
                if let Some(of) = self.threads.get_mut(&event.current) {
                    of.passed(at_ns, cpu, *number);
                }
            }
            What::Lost { .. } => {
                self.cpus.remove(&cpu);
                self.current.remove(&cpu);
                self.programmed.clear();
                self.unserved.clear();
                for of in self.threads.values_mut() {
                    of.lose();
                }
            }
            _ => {}
        }
    }

    /// A timer is started anew, or was started for a time that had passed: where its owner does it,
    /// and it has expired while that ran, the owner serves the expiry now.
    fn asked_for(&mut self, event: &KernelEvent, timer: u64) {
        let expiry = self.unserved.remove(&timer);
        let owner = self.owners.get(&timer);
        if let (Some(expiry), Some(owner)) = (expiry, owner)
            && *owner == event.current
            && let Some(of) = self.threads.get_mut(owner)
        {
            of.serves_late(event.at_ns, event.cpu, &expiry, *owner);
        }
    }

    /// Takes a switch that the kernel did not tell and that must have been: see
    /// [`crate::Untold`].
    pub fn untold(&mut self, switch: &KernelEvent) {
        if let What::Switch { next, .. } = &switch.what
            && let Some(of) = self.threads.get_mut(&next.id)
        {
            of.activity.untold_switches += 1;
        }
        self.event(switch);
    }

    /// Every event names the thread that is current: where that is another than the last switch
    /// made it, a switch was not told.
    fn contradiction(&mut self, event: &KernelEvent) {
        let (told, next) = match &event.what {
            What::Lost { .. } => return,
            What::Switch { previous, next, .. } => (previous.id, next.id),
            _ => (event.current, event.current),
        };
        let before = self.current.insert(event.cpu, (next, event.at_ns));
        let Some((believed, last_ns)) = before.filter(|&(believed, _)| believed != told) else {
            return;
        };
        if let Some(of) = self.threads.get_mut(&believed) {
            of.out(last_ns, Left::Stopped);
        }
        if let Some(of) = self.threads.get_mut(&told) {
            of.activity.untold_switches += 1;
            of.switched_in(event.at_ns, event.cpu);
        }
    }

    /// Looks at this thread as well from now on.
    pub fn follow(&mut self, thread: u32) {
        self.threads.entry(thread).or_default();
    }

    /// Whole activations since the last call; what is under way stays. For who looks while it goes
    /// on: what is taken is not in what [`Self::finish`] returns.
    pub fn take(&mut self) -> BTreeMap<u32, Taken> {
        let threads = self.threads.iter_mut();
        let taken = threads.map(|(id, of)| {
            let taken = Taken {
                timers: timers_on_monotonic(&mut of.by_timers.ended),
                handed: std::mem::take(&mut of.handed.ended),
                marked: std::mem::take(&mut of.marked.ended),
                by_lasting_timers: of.activity.is_by_lasting_timers(),
            };
            (*id, taken)
        });
        taken.collect()
    }

    /// What was seen, by thread number; an activation that had not ended is left out.
    pub fn finish(self) -> BTreeMap<u32, ThreadActivity> {
        let (threads, open) = (self.threads.into_iter(), self.open);
        threads.map(|(id, of)| (id, of.finish(&open))).collect()
    }
}

impl Thread {
    fn woken_by_timer(&mut self, at_ns: u64, cpu: u16, expiry: &Expiry, thread: u32) {
        let timers = &mut self.activity.timers;
        *timers.entry(Arc::clone(&expiry.function)).or_default() += 1;
        self.begin(at_ns, cpu, expiry, thread);
    }

    /// It runs, and takes what its timer has left meanwhile.
    fn serves_late(&mut self, at_ns: u64, cpu: u16, expiry: &Expiry, thread: u32) {
        self.activity.served_late += 1;
        self.begin(at_ns, cpu, expiry, thread);
    }

    fn begin(&mut self, at_ns: u64, cpu: u16, expiry: &Expiry, thread: u32) {
        let is_on_cpu = self.woken(at_ns);
        self.last_wake_up = Some((expiry.programmed_ns(), expiry.at_ns));
        let activation = Activation {
            switched_in_ns: at_ns,
            end_ns: at_ns,
            cpu,
            ..expiry.begins(thread)
        };
        self.by_timers.begin(activation, is_on_cpu);
    }

    /// Woken by something else than a timer.
    fn handed(&mut self, at_ns: u64, cpu: u16, by: Key) {
        self.activity.other_wake_ups += 1;
        *self.wakers.entry(by).or_default() += 1;
        let is_on_cpu = self.woken(at_ns);
        self.last_wake_up = Some((None, at_ns));
        self.handed.begin(woken(at_ns, cpu), is_on_cpu);
    }

    /// It passes a mark of its own program. A cycle is due when the thread was last woken before it.
    fn passed(&mut self, at_ns: u64, cpu: u16, number: u16) {
        self.asleep = false;
        // The CPU is its own from here on at the latest.
        let since_ns = self.running_since.replace(at_ns).unwrap_or(at_ns);
        match number {
            CYCLE_BEGINS => {
                self.ran(since_ns, at_ns);
                let woken_at = self.last_wake_up.take();
                self.activity.unwoken += u64::from(woken_at.is_none());
                let (programmed_ns, expiry_ns) = woken_at.unwrap_or((None, at_ns));
                let activation = Activation {
                    programmed_ns,
                    expiry_ns,
                    ..woken(at_ns, cpu)
                };
                self.marked.begin(activation, true);
            }
            CYCLE_ENDS => {
                self.ran(since_ns, at_ns);
                self.marked.close();
                // What woke it within a cycle is not what the next one waits for.
                self.last_wake_up = None;
            }
            _ => self.running_since = Some(since_ns),
        }
    }

    /// Whether it is on its CPU already: what wakes a thread that is still on its way to sleep ends
    /// its turn too.
    fn woken(&mut self, at_ns: u64) -> bool {
        self.asleep = false;
        if let Some(since) = self.running_since {
            self.ran(since, at_ns);
            self.running_since = Some(at_ns);
        }
        self.running_since.is_some()
    }

    fn switched_in(&mut self, at_ns: u64, cpu: u16) {
        if self.asleep {
            // What follows is of a turn of its own, whose beginning is not known.
            self.activity.unseen_wake_ups += 1;
            self.by_timers.close();
            self.handed.close();
        }
        self.asleep = false;
        self.running_since = Some(at_ns);
        *self.activity.cpus.entry(cpu).or_default() += 1;
        self.each(|turns| turns.switched_in(at_ns, cpu));
    }

    fn out(&mut self, at_ns: u64, left: Left) {
        if let Some(since) = self.running_since.take() {
            self.ran(since, at_ns);
        }
        self.asleep = matches!(left, Left::Sleeping | Left::Blocked);
        match left {
            Left::Runnable => self.each(Turns::preempted),
            Left::Dead => self.each(Turns::close),
            _ => {}
        }
    }

    fn ran(&mut self, since_ns: u64, until_ns: u64) {
        let ns = until_ns.saturating_sub(since_ns);
        self.activity.run_ns += ns;
        self.each(|turns| turns.ran(ns, until_ns));
    }

    fn each(&mut self, mut told: impl FnMut(&mut Turns)) {
        told(&mut self.by_timers);
        told(&mut self.handed);
        told(&mut self.marked);
    }

    fn lose(&mut self) {
        self.activity.cut_by_loss += u64::from(self.by_timers.lose());
        self.activity.handed_cut_by_loss += u64::from(self.handed.lose());
        self.activity.marked_cut_by_loss += u64::from(self.marked.lose());
        (self.running_since, self.asleep) = (None, false);
        self.last_wake_up = None;
    }

    fn finish(self, open: &Open) -> ThreadActivity {
        let mut wakers: Vec<(Waker, u64)> = self
            .wakers
            .into_iter()
            .map(|(key, count)| (open.named(key), count))
            .collect();
        wakers.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut activations = self.by_timers.ended;
        let clock_steps_ns = wall_clock::onto_monotonic(&mut activations);
        ThreadActivity {
            activations,
            clock_steps_ns,
            handed: self.handed.ended,
            marked: self.marked.ended,
            wakers,
            ..self.activity
        }
    }
}

/// Takes the turns that timers began, with their programmed times on `CLOCK_MONOTONIC`.
fn timers_on_monotonic(ended: &mut Vec<Activation>) -> Vec<Activation> {
    let mut taken = std::mem::take(ended);
    wall_clock::onto_monotonic(&mut taken);
    taken
}

/// An activation at whose beginning a thread is woken at an instant.
fn woken(at_ns: u64, cpu: u16) -> Activation {
    Activation {
        expiry_ns: at_ns,
        switched_in_ns: at_ns,
        end_ns: at_ns,
        cpu,
        ..Activation::default()
    }
}
