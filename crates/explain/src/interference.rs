//! What else ran on a loop's CPUs from its first judged cycle to its last, or while it should have run: interrupts, SoftIRQs and
//! threads, each time counted, whether a cycle was late or not. It is what isolation takes away; it
//! blames nothing for a latency.

use crate::cause::Cause;
use crate::cpu::{Cpu, Doing, Span, is_ipi};
use crate::holds::Hold;
use crate::loop_thread::LoopThread;
use crate::own::Own;
use foldhash::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use wakepath_timeline::{Interrupt, KernelEvent, Thread, What};

/// Names beyond these are counted together: they are the kernel's, and a hostile program can make
/// endless new ones.
const MOST_NAMES: usize = 10_000;
/// Names that are listed one by one in the figures.
const MOST_LISTED: usize = 50;

/// Counts over one or more stretches of time.
#[derive(Debug, Clone, Default)]
pub struct Interference {
    cpus: BTreeSet<u16>,
    observed_ns: u64,
    sums: HashMap<(Kind, String), Sum>,
}

/// What ran instead of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Interrupts of timers and devices; the loop's own timer interrupts are among them.
    Interrupt,
    /// Interrupts that other CPUs sent.
    Ipi,
    /// SoftIRQs, by vector, wherever they ran.
    Softirq,
    /// Other threads.
    Thread,
    /// Threads of wakepath.
    OwnTool,
}

impl Kind {
    /// As a person reads it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupts",
            Self::Ipi => "interrupts from other CPUs",
            Self::Softirq => "SoftIRQs",
            Self::Thread => "other threads",
            Self::OwnTool => "wakepath itself",
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: u64,
    total_ns: u64,
}

impl Interference {
    /// Adds another stretch's.
    pub fn merge(&mut self, other: &Self) {
        self.cpus.extend(&other.cpus);
        self.observed_ns += other.observed_ns;
        for ((kind, name), sum) in &other.sums {
            let into = self.sum(*kind, name.clone());
            into.count += sum.count;
            into.total_ns += sum.total_ns;
        }
    }

    /// The figures, if anything was observed.
    pub fn figures(&self) -> Option<InterferenceFigures> {
        if self.observed_ns == 0 {
            return None;
        }
        let mut kinds: BTreeMap<Kind, KindFigures> = BTreeMap::new();
        let mut most = Vec::new();
        for ((kind, name), sum) in &self.sums {
            let all = kinds.entry(*kind).or_insert(KindFigures {
                kind: *kind,
                names: 0,
                count: 0,
                total_ns: 0,
            });
            all.names += 1;
            all.count += sum.count;
            all.total_ns += sum.total_ns;
            most.push(InterfererFigures {
                kind: *kind,
                name: name.clone(),
                count: sum.count,
                total_ns: sum.total_ns,
            });
        }
        most.sort_unstable_by(|a, b| {
            let key = |of: &InterfererFigures| std::cmp::Reverse((of.total_ns, of.count));
            key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
        });
        most.truncate(MOST_LISTED);
        Some(InterferenceFigures {
            cpus: self.cpus.iter().copied().collect(),
            observed_ns: self.observed_ns,
            kinds: kinds.into_values().collect(),
            most,
        })
    }

    fn sum(&mut self, kind: Kind, name: String) -> &mut Sum {
        let full = self.sums.len() >= MOST_NAMES;
        let key = if full && !self.sums.contains_key(&(kind, name.clone())) {
            (kind, "names beyond the first 10 000".to_owned())
        } else {
            (kind, name)
        };
        self.sums.entry(key).or_default()
    }
}

/// What else ran on the CPUs of a condition's loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterferenceFigures {
    /// The CPUs that the loop may run on.
    pub cpus: Vec<u16>,
    /// Time that the events cover, in nanoseconds, all these CPUs and repetitions together.
    pub observed_ns: u64,
    /// Each kind, all its names together.
    pub kinds: Vec<KindFigures>,
    /// The names that took most time, 50 at most.
    pub most: Vec<InterfererFigures>,
}

impl InterferenceFigures {
    /// The names of a kind that took most time, `listed` at most, and how many more there are: for a
    /// person.
    pub fn names(&self, all: &KindFigures, listed: usize) -> String {
        let of_kind = self.most.iter().filter(|one| one.kind == all.kind);
        let mut names: Vec<String> = of_kind
            .take(listed)
            .map(|one| format!("{} × {}", one.count, one.name))
            .collect();
        let more = all.names.saturating_sub(names.len() as u64);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        names.join(", ")
    }
}

/// All of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindFigures {
    /// The kind.
    pub kind: Kind,
    /// Different names.
    pub names: u64,
    /// How often one began: an interrupt or SoftIRQ entered, a thread switched to.
    pub count: u64,
    /// Time in it, without what interrupted it, in nanoseconds.
    pub total_ns: u64,
}

/// All of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfererFigures {
    /// Its kind.
    pub kind: Kind,
    /// As a person reads it.
    pub name: String,
    /// How often one began.
    pub count: u64,
    /// Time in it, without what interrupted it, in nanoseconds.
    pub total_ns: u64,
}

/// Counts for one loop while events go by.
#[derive(Debug)]
pub(crate) struct Counting {
    thread: u32,
    from_ns: u64,
    to_ns: u64,
    own: Own,
    cpus: BTreeMap<u16, Cpu>,
    found: Interference,
}

impl Counting {
    /// For a loop; none for one whose thread or cycles are not known.
    pub fn new(of: &LoopThread, own: &Own) -> Option<Self> {
        let judged = || of.samples.iter().filter(|sample| !sample.is_warm_up());
        let (from_ns, to_ns) = match (judged().next(), judged().next_back()) {
            (Some(first), Some(last)) => (first.due_ns, last.end_ns),
            _ => of.judged_ns?,
        };
        let cpus: BTreeSet<u16> = if of.cpus.is_empty() {
            judged().map(|sample| sample.cpu).collect()
        } else {
            of.cpus.iter().copied().collect()
        };
        (of.thread != u32::MAX).then(|| Self {
            thread: of.thread,
            from_ns,
            to_ns,
            own: own.clone(),
            found: Interference {
                cpus: cpus.clone(),
                ..Interference::default()
            },
            cpus: cpus.into_iter().map(|cpu| (cpu, Cpu::default())).collect(),
        })
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &KernelEvent) {
        let Some(cpu) = self.cpus.get_mut(&event.cpu) else {
            return;
        };
        // A timer's callback is part of the interrupt or SoftIRQ that it runs in.
        if matches!(
            event.what,
            What::TimerExpiryEntry { .. } | What::TimerExpiryExit { .. }
        ) {
            return;
        }
        let at_ns = cpu.event(event, Hold::default());
        let mut ended = Vec::new();
        while let Some(span) = cpu.take_ended() {
            ended.push(span);
        }
        for (span, until_ns) in ended {
            self.spent(&span, until_ns);
        }
        let inside = (self.from_ns..self.to_ns).contains(&at_ns);
        if let Some((kind, name)) = self.begun(&event.what, at_ns).filter(|_| inside) {
            self.found.sum(kind, name).count += 1;
        }
    }

    /// No events were kept until this instant.
    pub fn gap(&mut self, until_ns: u64) {
        for cpu in self.cpus.values_mut() {
            cpu.gap(until_ns);
        }
    }

    /// The counts so far.
    pub fn found(&self) -> &Interference {
        &self.found
    }

    fn spent(&mut self, span: &Span, until_ns: u64) {
        let from_ns = span.from_ns.max(self.from_ns);
        let ns = until_ns.min(self.to_ns).saturating_sub(from_ns);
        if ns == 0 || matches!(span.doing, Doing::Unknown | Doing::Lost) {
            return;
        }
        self.found.observed_ns += ns;
        let who = match &span.doing {
            Doing::Thread(thread) => self.other(thread, from_ns),
            Doing::Interrupt(interrupt, _) => Some(interrupted(interrupt)),
            Doing::SoftIrq(vector, _) => Some((Kind::Softirq, vector.name().to_owned())),
            Doing::Idle(_) | Doing::Timer(_) | Doing::Unknown | Doing::Lost => None,
        };
        if let Some((kind, name)) = who {
            self.found.sum(kind, name).total_ns += ns;
        }
    }

    fn begun(&self, what: &What, at_ns: u64) -> Option<(Kind, String)> {
        match what {
            What::InterruptEntry(interrupt) => Some(interrupted(interrupt)),
            What::SoftIrqEntry(vector) => Some((Kind::Softirq, vector.name().to_owned())),
            What::Switch { next, .. } => self.other(next, at_ns),
            _ => None,
        }
    }

    /// A thread that is neither the loop nor idle, at an instant.
    fn other(&self, thread: &Thread, at_ns: u64) -> Option<(Kind, String)> {
        if thread.id == 0 || thread.id == self.thread {
            return None;
        }
        let kind = if self.own.is_own(thread, at_ns) {
            Kind::OwnTool
        } else {
            Kind::Thread
        };
        // Threads of one name and urgency are counted together: their numbers are never the same.
        let nameless = Thread {
            id: 0,
            ..thread.clone()
        };
        Some((kind, Cause::thread_name(&nameless)))
    }
}

fn interrupted(interrupt: &Interrupt) -> (Kind, String) {
    let kind = if is_ipi(interrupt) {
        Kind::Ipi
    } else {
        Kind::Interrupt
    };
    (kind, Cause::interrupt_name(interrupt))
}
