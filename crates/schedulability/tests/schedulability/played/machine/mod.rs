//! A machine that runs jobs: CPUs with interrupts, switches and sections that can't be preempted; fixed
//! priorities or earliest deadlines; periodic servers; and the kernel's constant-bandwidth server.

mod choice;
mod events;
mod servers;

use super::Dice;
use std::collections::VecDeque;

/// One job.
#[derive(Debug, Clone)]
pub struct Job {
    pub due: u64,
    /// From the due time, or from the end of the job that releases it, to the release.
    pub lag: u64,
    /// From the release to the interrupt that tells it.
    pub timer: u64,
    /// Time on the CPU, and the sleep after it.
    pub parts: Vec<(u64, u64)>,
}

/// One thread with all of its jobs.
#[derive(Debug, Clone)]
pub struct Thread {
    pub priority: u32,
    pub deadline: u64,
    pub jobs: Vec<Job>,
    /// The thread whose jobs' ends release its jobs.
    pub after: Option<usize>,
    /// A job, once it runs, runs to its end.
    pub whole: bool,
    /// The longest stretch that can't be preempted.
    pub stretch: u64,
    /// Cache reload of a preempted job.
    pub cold: u64,
}

/// The entities that the CPUs choose among.
#[derive(Debug, Clone)]
pub enum Entity {
    Plain {
        thread: usize,
    },
    /// A budget at each period's start, used or not.
    Periodic {
        threads: Vec<usize>,
        budget: u64,
        period: u64,
        phase: u64,
        priority: u32,
    },
    /// A constant-bandwidth server with the kernel's wake-up rule.
    Bandwidth {
        thread: usize,
        runtime: u64,
        deadline: u64,
        period: u64,
        kernel: bool,
    },
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Kernel {
    pub release: u64,
    pub switch: u64,
    pub tick: u64,
    pub tick_period: u64,
    pub between: u64,
    /// The longest stretch that something of the least importance holds a CPU.
    pub section: u64,
}

#[derive(Debug, Clone)]
pub struct Machine {
    pub cpus: usize,
    pub by_priority: bool,
    /// The CPU of each entity; `None`: any.
    pub pinned: Vec<Option<usize>>,
    pub entities: Vec<Entity>,
    pub threads: Vec<Thread>,
    pub kernel: Kernel,
    /// How often a section holds what preempts it, in percent.
    pub held: u64,
}

/// When a job was due, released and done.
#[derive(Debug, Clone, Copy)]
pub struct Done {
    pub due: u64,
    pub released: u64,
    pub end: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Idle,
    Ready,
    Sleeping(u64),
}

#[derive(Debug)]
struct Run {
    state: State,
    queue: VecDeque<usize>,
    job: usize,
    part: usize,
    left: u64,
    started: bool,
    /// Preempted since it last ran.
    cold: bool,
}

#[derive(Debug, Default, Clone)]
struct Served {
    budget: u64,
    deadline: u64,
    throttled: Option<u64>,
    last: Option<usize>,
    /// A constant-bandwidth server has had a budget.
    begun: bool,
}

#[derive(Debug, Clone, Copy)]
enum Work {
    Tick,
    Release(usize, usize),
    Budget(usize, u64),
    Switch(usize),
}

#[derive(Debug, Default)]
struct Cpu {
    work: VecDeque<(u64, Work)>,
    entity: Option<usize>,
    ran: bool,
    held: bool,
    held_until: u64,
}

impl Cpu {
    /// Interrupts come one after the other, and before the rest of a switch: what holds them up is in the
    /// timer's delay.
    fn interrupt(&mut self, cost: u64, work: Work) {
        let switch = |(_, work): &(u64, Work)| matches!(work, Work::Switch(_));
        let place = self.work.iter().position(switch);
        let place = place.unwrap_or(self.work.len());
        self.work.insert(place, (cost, work));
    }
}

struct Playing<'a> {
    machine: &'a Machine,
    dice: &'a mut Dice,
    now: u64,
    runs: Vec<Run>,
    served: Vec<Served>,
    cpus: Vec<Cpu>,
    /// Interrupts to come: time, work, and the CPU if it matters.
    timers: Vec<(u64, Work)>,
    /// Told to another CPU: ready from then.
    told: Vec<(u64, usize, usize)>,
    order: Vec<u64>,
    done: Vec<Vec<Done>>,
    released: Vec<Vec<u64>>,
    /// The latest release of each thread that another's job releases.
    latest: Vec<u64>,
    until: u64,
}

impl Machine {
    /// Runs it, and says when each thread's jobs were done.
    pub fn play(&self, until: u64, dice: &mut Dice) -> Vec<Vec<Done>> {
        let order = (0..self.entities.len())
            .map(|_| dice.below(1 << 30))
            .collect();
        let mut playing = Playing {
            machine: self,
            now: 0,
            runs: self
                .threads
                .iter()
                .map(|_| Run {
                    state: State::Idle,
                    queue: VecDeque::new(),
                    job: 0,
                    part: 0,
                    left: 0,
                    started: false,
                    cold: false,
                })
                .collect(),
            served: vec![Served::default(); self.entities.len()],
            cpus: (0..self.cpus).map(|_| Cpu::default()).collect(),
            timers: Vec::new(),
            told: Vec::new(),
            order,
            done: vec![Vec::new(); self.threads.len()],
            released: self
                .threads
                .iter()
                .map(|own| vec![0; own.jobs.len()])
                .collect(),
            latest: vec![0; self.threads.len()],
            until,
            dice,
        };
        playing.set_timers();
        playing.run();
        playing.done
    }
}

impl Playing<'_> {
    fn set_timers(&mut self) {
        for (thread, own) in self.machine.threads.iter().enumerate() {
            if own.after.is_none() {
                for (number, job) in own.jobs.iter().enumerate() {
                    let at = job.due + job.lag + job.timer;
                    self.timers.push((at, Work::Release(thread, number)));
                }
            }
        }
        for (place, entity) in self.machine.entities.iter().enumerate() {
            if let Entity::Periodic { period, phase, .. } = entity {
                let mut start = *phase;
                while start < self.until {
                    self.timers.push((start, Work::Budget(place, start)));
                    start += period;
                }
            }
        }
        let kernel = &self.machine.kernel;
        if kernel.tick > 0 && kernel.tick_period > 0 {
            let mut at = self.dice.below(kernel.tick_period);
            while at < self.until {
                self.timers.push((at, Work::Tick));
                at += kernel.tick_period;
            }
        }
        // From the back, the earliest first, and of equal ones the job with the lower number.
        self.timers.reverse();
        self.timers.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    }

    fn run(&mut self) {
        while self.now < self.until {
            self.settle();
            self.choose();
            let next = self.next();
            if next == u64::MAX {
                return;
            }
            self.advance(next);
        }
    }

    fn entity_of(&self, thread: usize) -> usize {
        let is = |entity: &Entity| match entity {
            Entity::Plain { thread: own } | Entity::Bandwidth { thread: own, .. } => *own == thread,
            Entity::Periodic { threads, .. } => threads.contains(&thread),
        };
        let place = self.machine.entities.iter().position(is);
        place.expect("each thread is in an entity")
    }

    fn next(&self) -> u64 {
        let mut next = self.timers.last().map_or(u64::MAX, |(at, _)| *at);
        for (at, ..) in &self.told {
            next = next.min(*at);
        }
        for run in &self.runs {
            if let State::Sleeping(until) = run.state {
                next = next.min(until);
            }
        }
        for served in &self.served {
            next = next.min(served.throttled.unwrap_or(u64::MAX));
        }
        for cpu in &self.cpus {
            if let Some((left, work)) = cpu.work.front() {
                next = next.min(self.now + left);
                if let Work::Switch(place) = work
                    && matches!(self.machine.entities[*place], Entity::Periodic { .. })
                {
                    next = next.min(self.now + self.served[*place].budget.max(1));
                }
                continue;
            }
            if cpu.held && cpu.held_until > self.now {
                next = next.min(cpu.held_until);
            }
            let Some(place) = cpu.entity else { continue };
            match &self.machine.entities[place] {
                Entity::Plain { .. } => {}
                _ => next = next.min(self.now + self.served[place].budget.max(1)),
            }
            if let Some(thread) = self.thread_in(place) {
                next = next.min(self.now + self.runs[thread].left);
            }
        }
        next.max(self.now)
    }

    fn advance(&mut self, next: u64) {
        let passed = next - self.now;
        for cpu in 0..self.cpus.len() {
            if let Some((left, work)) = self.cpus[cpu].work.front_mut() {
                *left -= passed;
                if let Work::Switch(place) = *work
                    && matches!(self.machine.entities[place], Entity::Periodic { .. })
                {
                    let budget = &mut self.served[place].budget;
                    *budget = budget.saturating_sub(passed);
                }
                continue;
            }
            self.cpus[cpu].ran |= passed > 0;
            let Some(place) = self.cpus[cpu].entity else {
                continue;
            };
            let budget = &mut self.served[place].budget;
            *budget = budget.saturating_sub(passed);
            if let Some(thread) = self.thread_in(place)
                && self.runs[thread].state == State::Ready
            {
                self.runs[thread].left -= passed;
            }
        }
        self.now = next;
    }
}
