//! The stream: events in, explained cycles out. It keeps the window that the cycles under way
//! need, and forgets the rest.

mod a_loop;
mod events;

use crate::budgets::{Budgets, LONGEST_QUOTA_PERIOD_NS, Refills};
use crate::call::Program;
use crate::cpu::Cpu;
use crate::cycle::Explained;
use crate::faults;
use crate::forks::Forks;
use crate::holds::Holds;
use crate::idle_exit::IdleExits;
use crate::interference::Interference;
use crate::loop_thread::LoopThread;
use crate::other_tasks::OtherTasks;
use crate::other_work;
use crate::overheads::Overheads;
use crate::own::Own;
use crate::path::{self, Window};
use crate::placement::Stoppers;
use crate::resolve::{Raw, Usual};
use crate::senders::Senders;
use crate::spin;
use crate::stacks::Places;
use crate::summary::SwitchIns;
use crate::tcp_timers::TcpTimers;
use crate::threads::Threads;
use crate::ticks::Ticks;
use crate::track::Happened;
use crate::untold::Untold;
use a_loop::Loop;
use foldhash::{HashMap, HashMapExt};
use std::sync::Arc;
use wakepath_timeline::{KernelEvent, Sample, Thread};

/// How to explain.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The usual costs; `None`: the medians of each loop's first cycles.
    pub usual: Option<Usual>,
    /// Wakepath's own threads, besides the loops.
    pub own: Own,
    /// What leaving an idle state takes, by its driver's word.
    pub idle_exits: IdleExits,
    /// Whether no CPU can stall: time passes with their instructions alone, as in a virtual-time guest of one
    /// CPU.
    pub never_still: bool,
    /// Whether the kernel's tick interrupts every thread that runs: no CPU is without it (`nohz_full`).
    pub always_ticks: bool,
    /// The budgets of CPU time that the loops' threads can run out of.
    pub budgets: Budgets,
    /// Where in the program threads blocked.
    pub places: Places,
    /// Threads of the program with their processes, as far as they are known beforehand.
    pub members: Vec<(u32, u32)>,
}

/// Stamps of different CPUs can disagree by this, in nanoseconds, and a reader might merge them no better: a
/// cycle is explained once events this much later have been seen.
const REORDERING_NS: u64 = 2_000_000;

/// Between two clearings of the window, in events.
const BETWEEN_CLEARINGS: u32 = 4096;

/// Explains cycles from a stream of events.
pub struct Explainer {
    cpus: Vec<Cpu>,
    holds: Holds,
    loops: Vec<Loop>,
    /// Threads that set the CPUs of others and have not left their own since.
    setters: Vec<u32>,
    /// Numbers of the loops of each thread: one with several timers has several.
    by_thread: HashMap<u32, Vec<usize>>,
    options: Options,
    overheads: Overheads,
    untold: Untold,
    untold_switch_ins: SwitchIns,
    threads: Threads,
    refills: Refills,
    reservations: Refills,
    program: Program,
    stoppers: Stoppers,
    senders: Senders,
    tcp_timers: TcpTimers,
    ticks: Ticks,
    forks: Forks,
    now_ns: u64,
    /// When the next cycle can be explained.
    next_ns: u64,
    since_clearing: u32,
    events: u64,
}

impl Explainer {
    /// For these loops; their order gives the numbers that cycles come out with.
    pub fn new(loops: Vec<LoopThread>, options: Options) -> Self {
        let mut by_thread: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, of) in loops.iter().enumerate() {
            by_thread.entry(of.thread).or_default().push(at);
        }
        let others = OtherTasks::new(&loops);
        let loops = loops.into_iter().zip(others);
        let loops = loops.map(|(of, others)| Loop::new(of, others, &options));
        let mut program = Program::default();
        for (thread, process) in &options.members {
            program.follow(*thread, *process);
        }
        let mut new = Self {
            cpus: Vec::new(),
            holds: Holds::default(),
            loops: loops.collect(),
            setters: Vec::new(),
            by_thread,
            options,
            overheads: Overheads::default(),
            untold: Untold::default(),
            untold_switch_ins: SwitchIns::default(),
            threads: Threads::default(),
            refills: Refills::of_quotas(),
            reservations: Refills::of_reservations(),
            program,
            stoppers: Stoppers::default(),
            senders: Senders::default(),
            tcp_timers: TcpTimers::default(),
            ticks: Ticks::default(),
            forks: Forks::default(),
            now_ns: 0,
            next_ns: 0,
            since_clearing: 0,
            events: 0,
        };
        new.next_ns = new.next_end();
        new
    }

    /// Takes the next event; cycles that it completes are handed out with their loop's number.
    pub fn event(&mut self, event: &KernelEvent, mut out: impl FnMut(usize, &Explained)) {
        self.events += 1;
        let event = self.options.own.named(event);
        let event = &*event;
        if self.untold.is_within_switch(event) {
            return;
        }
        if let Some(untold) = self.untold.before(event) {
            self.untold(&untold);
        }
        let at_ns = self.take(event);
        // Not of an untold switch: its instant is none that could be measured with.
        self.overheads.event(event, at_ns);
        self.now_ns = self.now_ns.max(at_ns);
        if self.now_ns > self.next_ns {
            self.explain(self.now_ns - REORDERING_NS, &mut out);
        }
        self.since_clearing += 1;
        if self.since_clearing == BETWEEN_CLEARINGS {
            self.since_clearing = 0;
            self.clear();
        }
    }

    /// Says that no events were kept between those given so far and `until_ns`: cycles in between
    /// have no events, and nothing that was true before is taken to be true after.
    pub fn gap(&mut self, until_ns: u64) {
        for cpu in &mut self.cpus {
            cpu.gap(until_ns);
        }
        self.threads.clear();
        self.holds = Holds::default();
        let now_ns = self.now_ns;
        for of in &mut self.loops {
            of.mark(now_ns, 0, Happened::Gap);
            if let Some(counting) = &mut of.counting {
                counting.gap(until_ns);
            }
        }
    }

    /// The end of the stream: hands out all cycles that are left.
    pub fn finish(&mut self, mut out: impl FnMut(usize, &Explained)) {
        self.explain(u64::MAX, &mut out);
        for (number, of) in self.loops.iter_mut().enumerate() {
            of.settle(number, &mut out);
        }
    }

    /// Events taken.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Events that the kernel reported as lost, on all CPUs.
    pub fn lost(&self) -> u64 {
        self.cpus.iter().map(|cpu| cpu.lost).sum()
    }

    /// Switches that the kernel did not record, and that must have happened.
    pub fn untold_switches(&self) -> u64 {
        self.untold.count
    }

    /// Those of them that gave a loop its CPU.
    pub fn untold_switch_ins(&self) -> SwitchIns {
        self.untold_switch_ins
    }

    /// The usual costs of a loop; `None` before its first cycles have been explained.
    pub fn usual(&self, number: usize) -> Option<Usual> {
        self.loops.get(number)?.usual.clone()
    }

    /// What else ran on a loop's CPUs; `None` where its thread or its cycles are not known.
    pub fn interference(&self, number: usize) -> Option<&Interference> {
        Some(self.loops.get(number)?.counting.as_ref()?.found())
    }

    /// Costs of the kernel's own work, over the whole stream.
    pub fn overheads(&self) -> &Overheads {
        &self.overheads
    }

    /// Explains the cycles that ended before an instant.
    fn explain(&mut self, before_ns: u64, out: &mut impl FnMut(usize, &Explained)) {
        for number in 0..self.loops.len() {
            while let Some(sample) = self.loops[number].next_ended(before_ns) {
                self.loops[number].begins(&sample);
                let raw = self.raw(number, sample);
                self.overheads.cycle(&raw.explained);
                self.loops[number].before = Some(sample);
                self.loops[number].hand(number, raw, out);
                // Every look at the marks goes through all of them.
                self.loops[number].forget();
            }
        }
        self.next_ns = self.next_end();
    }

    fn raw(&self, number: usize, sample: Sample) -> Raw {
        let of = &self.loops[number];
        let own = &self.options.own;
        let is_own_tool = |thread: &Thread, at_ns: u64| {
            own.is_own(thread, at_ns) && !self.by_thread.contains_key(&thread.id)
        };
        let is_sibling = |thread: &Thread| self.program.is_of_one_process(thread.id, of.thread);
        let is_of_program = |thread: u32| self.program.process(thread).is_some();
        let window = Window {
            cpus: &self.cpus,
            track: &of.track,
            threads: &self.threads,
            thread: of.thread,
            before: of.before,
            next_due_ns: of.next_sample().map(|next| next.due_ns),
            began_ns: of.began_ns,
            is_real_time: of.is_real_time,
            is_own_tool: &is_own_tool,
            is_sibling: &is_sibling,
            is_of_program: &is_of_program,
            calls_recorded: of.calls,
            idle_exits: &self.options.idle_exits,
            never_still: self.options.never_still,
            tick_ns: self.ticks.period_ns().filter(|_| self.options.always_ticks),
            budgets: &self.options.budgets,
            places: &self.options.places,
            refills: &self.refills,
            reservations: &self.reservations,
        };
        let (latency, woken) = path::latency(&window, &sample);
        let (execution, waits_within) = path::execution(&window, &sample);
        let faulted = |from_ns, to_ns| faults::stretches(&of.track, from_ns, to_ns);
        let ready_ns = |thread: &Thread, from_ns, to_ns| {
            let track = self.threads.track(thread.id);
            track.map_or(0, |track| track.ready_ns(from_ns, to_ns))
        };
        let cpu = self.cpus.get(usize::from(sample.cpu));
        let due_in = of.track.entered_at(sample.due_ns);
        let ran = self
            .options
            .places
            .ran(of.thread, sample.wake_ns, sample.end_ns);
        Raw {
            ran: ran
                .map(|(at_ns, place)| (at_ns, Arc::clone(place)))
                .collect(),
            faults_on_the_way: faulted(sample.due_ns, sample.wake_ns),
            faults_in_work: faulted(sample.wake_ns, sample.end_ns),
            faults_are: faults::cause(&of.track, sample.due_ns, sample.end_ns),
            never_still: self.options.never_still,
            served: other_work::served_at(&of.track, sample.due_ns),
            calls_recorded: of.calls,
            stacks_recorded: self.options.places.are_recorded(),
            until_next_wake_up: of.until_next_wake_up,
            awaited_events: due_in.is_some_and(|of| of.call.is_for_any_event()),
            due_at: due_in.and_then(|of| of.argument),
            timed_out: path::is_until(&of.track, sample.due_ns, sample.due_ns),
            waits_within,
            spins_for: spin::spins_for(&execution, is_sibling, ready_ns),
            placed: of.placement.in_cycle(&sample),
            frequency_changed: cpu.is_some_and(|cpu| cpu.changed_in(sample.wake_ns, sample.end_ns)),
            explained: Explained {
                sample,
                woken,
                latency,
                execution,
            },
        }
    }

    /// When the next cycle can be explained: its end and the reordering of stamps.
    fn next_end(&mut self) -> u64 {
        let ends = self.loops.iter().filter_map(Loop::next_sample);
        let first = ends.map(|sample| sample.end_ns).min();
        first.map_or(u64::MAX, |end| end.saturating_add(REORDERING_NS))
    }

    /// Forgets what no cycle to come needs.
    fn clear(&mut self) {
        let mut oldest = u64::MAX;
        for of in &mut self.loops {
            oldest = oldest.min(of.forget());
        }
        let oldest = oldest.min(self.now_ns);
        for cpu in &mut self.cpus {
            cpu.forget_before(oldest);
        }
        let kept_ns = match &self.options.budgets.quota {
            Some(_) => LONGEST_QUOTA_PERIOD_NS,
            None => 0,
        };
        self.threads.forget_before(oldest.saturating_sub(kept_ns));
    }
}
