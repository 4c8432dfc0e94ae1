//! Streams made by hand: a clock, CPUs, one loop, and the events that the kernel would write.

use std::sync::Arc;
use wakepath_explain::{
    Budgets, Explained, Explainer, IdleExits, LoopThread, Options, Own, Places, Stretch, Usual,
};
use wakepath_timeline::{
    AllowedCpus, Interrupt, KernelEvent, Left, Sample, SampleFlags, SoftIrq, Thread, ThreadName,
    What,
};

pub const LOOP: u32 = 100;
/// Due time of cycle 0.
pub const DUE: u64 = 1_000_000_000;
pub const MS: u64 = 1_000_000;
pub const US: u64 = 1_000;

/// The usual costs in all hand-made streams.
pub const USUAL: Usual = Usual {
    delivery_ns: 2_000,
    interrupt_ns: 1_000,
    expiry_ns: 1_000,
    waking_ns: 1_000,
    switch_ns: 2_000,
    user_ns: 1_000,
    work_ns: 50_000,
    calls_ns: std::collections::BTreeMap::new(),
    awaits_events: false,
    times_out: false,
    due_at: None,
    serves_others: false,
    takes: std::collections::BTreeSet::new(),
    cpu: None,
};

pub fn thread(id: u32, name: &str, priority: i32) -> Thread {
    let name = ThreadName::new(name.as_bytes());
    Thread { id, name, priority }
}

pub fn idle() -> Thread {
    thread(0, "swapper/1", 120)
}

/// The loop, FIFO 80.
pub fn fifo() -> Thread {
    thread(LOOP, "loop", 19)
}

/// An ordinary thread.
pub fn hog() -> Thread {
    thread(200, "hog", 120)
}

pub struct Stream {
    pub events: Vec<KernelEvent>,
    pub samples: Vec<Sample>,
    pub judged_ns: Option<(u64, u64)>,
    pub cpu: u16,
    pub current: Thread,
    pub the_loop: Thread,
    pub cpus: Vec<u16>,
    pub own: Own,
    pub idle_exits: IdleExits,
    pub never_still: bool,
    pub always_ticks: bool,
    pub budgets: Budgets,
    pub places: Places,
    pub members: Vec<(u32, u32)>,
    pub until_next_wake_up: bool,
    pub is_from_start: bool,
    pub is_real_time: bool,
    pub allowed: Vec<AllowedCpus>,
}

impl Stream {
    /// CPU 1, with `running` on it since long ago, the loop asleep.
    pub fn with(running: Thread, the_loop: Thread) -> Self {
        let mut new = Self {
            events: Vec::new(),
            samples: Vec::new(),
            judged_ns: None,
            cpu: 1,
            current: the_loop.clone(),
            the_loop,
            cpus: vec![1],
            own: Own::default(),
            idle_exits: IdleExits::default(),
            never_still: false,
            always_ticks: false,
            budgets: Budgets::default(),
            places: Places::default(),
            members: Vec::new(),
            until_next_wake_up: false,
            is_from_start: false,
            is_real_time: false,
            allowed: Vec::new(),
        };
        new.switch(DUE - 5 * MS, running, Left::Sleeping);
        new
    }

    pub fn at(&mut self, at_ns: u64, what: What) -> &mut Self {
        self.events.push(KernelEvent {
            at_ns,
            cpu: self.cpu,
            current: self.current.id,
            what,
        });
        self
    }

    pub fn on(&mut self, cpu: u16, at_ns: u64, current: u32, what: What) -> &mut Self {
        self.events.push(KernelEvent {
            at_ns,
            cpu,
            current,
            what,
        });
        self
    }

    pub fn switch(&mut self, at_ns: u64, next: Thread, left: Left) -> &mut Self {
        let previous = self.current.clone();
        self.at(
            at_ns,
            What::Switch {
                previous,
                left,
                next: next.clone(),
            },
        );
        self.current = next;
        self
    }

    pub fn wake(&mut self, at_ns: u64) -> &mut Self {
        let thread = self.the_loop.clone();
        let target_cpu = self.cpu;
        self.at(
            at_ns,
            What::Waking {
                thread: thread.clone(),
                target_cpu,
            },
        );
        self.at(at_ns + 100, What::WakeUp { thread, target_cpu })
    }

    /// The timer interrupt at `at_ns` that wakes the loop directly: expiry 1 µs later, waking 1 µs
    /// after that, end of the interrupt 1 µs after the waking.
    pub fn timer(&mut self, at_ns: u64) -> &mut Self {
        self.at(at_ns, What::InterruptEntry(Interrupt::LocalTimer));
        self.expiry(at_ns + US, "hrtimer_wakeup");
        self.wake(at_ns + 2 * US);
        self.at(at_ns + 2 * US + 500, What::TimerExpiryExit { timer: 7 });
        self.at(at_ns + 3 * US, What::InterruptExit(Interrupt::LocalTimer))
    }

    pub fn expiry(&mut self, at_ns: u64, function: &str) -> &mut Self {
        let function = Arc::from(function);
        self.at(at_ns, What::TimerExpiryEntry { timer: 7, function })
    }

    pub fn softirq(&mut self, from_ns: u64, to_ns: u64, vector: u8) -> &mut Self {
        self.at(from_ns, What::SoftIrqEntry(SoftIrq(vector)));
        self.at(to_ns, What::SoftIrqExit(SoftIrq(vector)))
    }

    pub fn interrupt(&mut self, from_ns: u64, to_ns: u64, which: Interrupt) -> &mut Self {
        self.at(from_ns, What::InterruptEntry(which.clone()));
        self.at(to_ns, What::InterruptExit(which))
    }

    /// The loop comes on the CPU, its first instruction runs 1 µs later, its work takes 50 µs.
    pub fn run(&mut self, at_ns: u64, due_ns: u64, left: Left) -> &mut Self {
        let next = self.the_loop.clone();
        self.switch(at_ns, next, left);
        self.sample(due_ns, at_ns + US, at_ns + 51 * US)
    }

    pub fn sample(&mut self, due_ns: u64, wake_ns: u64, end_ns: u64) -> &mut Self {
        self.flagged(due_ns, wake_ns, end_ns, SampleFlags::default())
    }

    pub fn flagged(
        &mut self,
        due_ns: u64,
        wake_ns: u64,
        end_ns: u64,
        flags: SampleFlags,
    ) -> &mut Self {
        self.samples.push(Sample {
            cycle: (due_ns - DUE) / MS,
            due_ns,
            wake_ns,
            end_ns,
            cpu: self.cpu,
            flags,
            ..Sample::default()
        });
        self
    }

    pub fn explainer(&self, usual: Option<Usual>) -> Explainer {
        self.explainer_of(1, usual)
    }

    /// For this number of equal timers of the loop's thread.
    pub fn explainer_of(&self, timers: usize, usual: Option<Usual>) -> Explainer {
        let thread = LoopThread {
            name: "loop".into(),
            judged_ns: self.judged_ns,
            until_next_wake_up: self.until_next_wake_up,
            is_from_start: self.is_from_start,
            is_real_time: self.is_real_time,
            thread: LOOP,
            cpus: self.cpus.clone(),
            allowed: self.allowed.clone(),
            samples: self.samples.clone(),
        };
        let options = Options {
            usual,
            own: self.own.clone(),
            idle_exits: self.idle_exits.clone(),
            never_still: self.never_still,
            always_ticks: self.always_ticks,
            budgets: self.budgets.clone(),
            places: self.places.clone(),
            members: self.members.clone(),
        };
        Explainer::new(vec![thread; timers], options)
    }

    pub fn explain(&self) -> Vec<Explained> {
        explained(self.explainer(Some(USUAL)), self.events.iter())
    }
}

pub fn explained<'a>(
    mut explainer: Explainer,
    events: impl Iterator<Item = &'a KernelEvent>,
) -> Vec<Explained> {
    let mut cycles = Vec::new();
    for event in events {
        explainer.event(event, |_, cycle| cycles.push(cycle.clone()));
    }
    explainer.finish(|_, cycle| cycles.push(cycle.clone()));
    for cycle in &cycles {
        assert_adds_up(cycle);
    }
    cycles
}

/// Pieces tile the latency and the execution: no gap, no overlap, to the nanosecond.
pub fn assert_adds_up(cycle: &Explained) {
    let sample = &cycle.sample;
    for (pieces, from_ns, to_ns) in [
        (&cycle.latency, sample.due_ns, sample.wake_ns),
        (&cycle.execution, sample.wake_ns, sample.end_ns),
    ] {
        let mut at = from_ns;
        for piece in pieces {
            assert_eq!(piece.from_ns, at, "gap or overlap in {cycle:#?}");
            assert!(piece.to_ns > piece.from_ns, "empty piece in {cycle:#?}");
            at = piece.to_ns;
        }
        assert_eq!(at, to_ns.max(from_ns), "{cycle:#?}");
    }
}

/// The parts of a cycle's latency beyond the usual: kind and nanoseconds.
pub fn beyond_usual(cycle: &Explained) -> Vec<(String, u64)> {
    let pieces = cycle.latency.iter().filter(|piece| !piece.cause.is_usual());
    pieces.map(|p| (p.cause.to_string(), p.ns())).collect()
}

pub fn stretches(cycle: &Explained) -> Vec<(Stretch, &'static str, u64)> {
    let pieces = cycle.latency.iter();
    pieces
        .map(|p| (p.stretch, p.cause.kind(), p.ns()))
        .collect()
}

/// Kinds of the causes of a latency, in order.
pub fn kinds(cycle: &Explained) -> Vec<&'static str> {
    cycle
        .latency
        .iter()
        .map(|piece| piece.cause.kind())
        .collect()
}

pub fn of_kind(cycle: &Explained, kind: &str) -> u64 {
    let pieces = cycle.latency.iter().chain(&cycle.execution);
    pieces
        .filter(|p| p.cause.kind() == kind)
        .map(|p| p.ns())
        .sum()
}

/// A page that the loop touches is not there.
pub const FAULT: What = What::PageFault {
    user: true,
    copies: false,
};

/// The loop runs from its due time on, its calls are recorded.
pub fn running_with_calls() -> Stream {
    let mut stream = Stream::with(hog(), fifo());
    let followed = What::Followed {
        thread: LOOP,
        process: 90,
        calls: true,
    };
    stream.at(DUE - 4 * MS, followed).timer(DUE + 2 * US);
    stream.run(DUE + 7 * US, DUE, Left::Runnable);
    // It leaves its last call.
    stream.at(DUE + 7 * US + 500, What::SystemCallExit);
    stream
}
