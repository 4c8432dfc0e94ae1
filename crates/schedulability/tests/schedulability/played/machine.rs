//! A machine that runs jobs: CPUs with interrupts, switches and sections that can't be preempted; fixed
//! priorities or earliest deadlines; periodic servers; and the kernel's constant-bandwidth server.

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
    /// What a preempted job fetches again.
    pub cold: u64,
}

/// What the CPUs choose among.
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

    /// All that happens at this instant, until nothing more does.
    fn settle(&mut self) {
        loop {
            let mut changed = false;
            while self.timers.last().is_some_and(|(at, _)| *at <= self.now) {
                let (_, work) = self.timers.pop().expect("looked at");
                self.interrupt(work);
                changed = true;
            }
            for cpu in 0..self.cpus.len() {
                while self.cpus[cpu]
                    .work
                    .front()
                    .is_some_and(|(left, _)| *left == 0)
                {
                    let (_, work) = self.cpus[cpu].work.pop_front().expect("looked at");
                    self.worked(cpu, work);
                    changed = true;
                }
            }
            for place in (0..self.told.len()).rev() {
                if self.told[place].0 <= self.now {
                    let (_, thread, number) = self.told.swap_remove(place);
                    self.ready(thread, number);
                    changed = true;
                }
            }
            for thread in 0..self.runs.len() {
                if let State::Sleeping(until) = self.runs[thread].state
                    && until <= self.now
                {
                    let run = &mut self.runs[thread];
                    run.part += 1;
                    run.left = self.machine.threads[thread].jobs[run.job].parts[run.part].0;
                    run.state = State::Ready;
                    self.wake(thread);
                    changed = true;
                }
                if self.runs[thread].state == State::Ready && self.runs[thread].left == 0 {
                    self.part_done(thread);
                    changed = true;
                }
            }
            changed |= self.budgets();
            if !changed {
                return;
            }
        }
    }

    fn interrupt(&mut self, work: Work) {
        let (entity, cost) = match work {
            Work::Tick => (None, self.machine.kernel.tick),
            Work::Release(thread, _) => (Some(self.entity_of(thread)), self.machine.kernel.release),
            Work::Budget(entity, _) => (Some(entity), self.machine.kernel.release),
            Work::Switch(_) => return,
        };
        let pinned = entity.and_then(|entity| self.machine.pinned[entity]);
        match (work, pinned) {
            // A tick on each CPU.
            (Work::Tick, _) => {
                for cpu in &mut self.cpus {
                    cpu.interrupt(cost, work);
                }
            }
            (_, Some(cpu)) => self.cpus[cpu].interrupt(cost, work),
            (_, None) => {
                let cpu = self.dice.below(self.cpus.len() as u64) as usize;
                self.cpus[cpu].interrupt(cost, work);
            }
        }
    }

    fn worked(&mut self, cpu: usize, work: Work) {
        match work {
            Work::Tick | Work::Switch(_) => {}
            Work::Release(thread, number) => {
                let between = match self.machine.pinned[self.entity_of(thread)] {
                    Some(own) if own == cpu => 0,
                    _ if self.machine.cpus == 1 => 0,
                    _ => self.machine.kernel.between,
                };
                match between {
                    0 => self.ready(thread, number),
                    between => self.told.push((self.now + between, thread, number)),
                }
            }
            Work::Budget(entity, start) => {
                if let Entity::Periodic { budget, period, .. } = &self.machine.entities[entity] {
                    self.served[entity].budget = *budget;
                    self.served[entity].deadline = start + period;
                    // Nothing of the new budget has run that could hold the CPU.
                    for cpu in &mut self.cpus {
                        if cpu.entity == Some(entity) {
                            (cpu.ran, cpu.held) = (false, false);
                        }
                    }
                }
            }
        }
    }

    fn ready(&mut self, thread: usize, number: usize) {
        self.released[thread][number] = self.now;
        self.runs[thread].queue.push_back(number);
        if self.runs[thread].state == State::Idle {
            self.begin(thread);
            self.wake(thread);
        }
    }

    fn begin(&mut self, thread: usize) {
        let run = &mut self.runs[thread];
        run.cold = false;
        run.started = false;
        match run.queue.pop_front() {
            None => run.state = State::Idle,
            Some(number) => {
                (run.job, run.part) = (number, 0);
                run.left = self.machine.threads[thread].jobs[number].parts[0].0;
                run.state = State::Ready;
            }
        }
    }

    fn part_done(&mut self, thread: usize) {
        let own = &self.machine.threads[thread];
        let run = &mut self.runs[thread];
        let job = &own.jobs[run.job];
        let (_, sleep) = job.parts[run.part];
        if run.part + 1 < job.parts.len() {
            match sleep {
                0 => {
                    run.part += 1;
                    run.left = job.parts[run.part].0;
                }
                sleep => run.state = State::Sleeping(self.now + sleep),
            }
            return;
        }
        let number = run.job;
        self.done[thread].push(Done {
            due: job.due,
            released: self.released[thread][number],
            end: self.now,
        });
        self.begin(thread);
        // Its last stretch is over, whatever it runs next; a periodic server's goes on.
        let place = self.entity_of(thread);
        let own = !matches!(self.machine.entities[place], Entity::Periodic { .. });
        for cpu in &mut self.cpus {
            if own && cpu.entity == Some(place) {
                (cpu.ran, cpu.held) = (false, false);
            }
        }
        for (other, after) in self.machine.threads.iter().enumerate() {
            if after.after == Some(thread)
                && let Some(job) = after.jobs.get(number)
            {
                let apart = self.machine.pinned[self.entity_of(other)]
                    != self.machine.pinned[self.entity_of(thread)];
                let told = if apart {
                    self.machine.kernel.between
                } else {
                    0
                };
                // In their order, as those of a timer.
                let at = (self.now + job.lag + told).max(self.latest[other]);
                self.latest[other] = at;
                let place = self.timers.partition_point(|(timer, _)| *timer > at);
                self.timers
                    .insert(place, (at, Work::Release(other, number)));
            }
        }
    }

    /// `update_dl_entity` and `dl_check_constrained_dl`.
    fn wake(&mut self, thread: usize) {
        let place = self.entity_of(thread);
        let Entity::Bandwidth {
            runtime,
            deadline,
            period,
            kernel,
            ..
        } = self.machine.entities[place]
        else {
            return;
        };
        let now = self.now;
        let served = &mut self.served[place];
        if served.throttled.is_some() {
            return;
        }
        if !std::mem::replace(&mut served.begun, true) {
            (served.deadline, served.budget) = (now + deadline, runtime);
            return;
        }
        let until = served.deadline;
        if deadline < period && until < now && now + deadline < until + period {
            served.budget = 0;
            served.throttled = Some(until + period - deadline);
            return;
        }
        if until < now {
            (served.deadline, served.budget) = (now + deadline, runtime);
            return;
        }
        let unit = if kernel { 10 } else { 0 };
        let part = |ns: u64| u128::from(ns >> unit);
        let left = until - now;
        if part(deadline) * part(served.budget) > part(left) * part(runtime) {
            match deadline < period {
                true => {
                    served.budget =
                        (u128::from(left) * u128::from(runtime) / u128::from(deadline)) as u64
                }
                false => (served.deadline, served.budget) = (now + deadline, runtime),
            }
        }
    }

    /// Budgets that are used up, and that come back.
    fn budgets(&mut self) -> bool {
        let mut changed = false;
        for place in 0..self.served.len() {
            let Entity::Bandwidth {
                thread,
                runtime,
                deadline,
                period,
                ..
            } = self.machine.entities[place]
            else {
                continue;
            };
            let served = &mut self.served[place];
            if self.runs[thread].state == State::Ready
                && served.throttled.is_none()
                && served.budget == 0
            {
                served.throttled = Some(served.deadline + period - deadline);
                changed = true;
            }
            if served.throttled.is_some_and(|until| until <= self.now) {
                served.throttled = None;
                served.budget += runtime;
                served.deadline += period;
                if served.deadline < self.now {
                    (served.deadline, served.budget) = (self.now + deadline, runtime);
                }
                changed = true;
            }
        }
        changed
    }

    /// What orders an entity; `None`: it has nothing to run.
    fn key(&self, place: usize) -> Option<(u64, u64)> {
        let by = |priority: u32, deadline: u64| match self.machine.by_priority {
            true => u64::from(u32::MAX - priority),
            false => deadline,
        };
        let key = match &self.machine.entities[place] {
            Entity::Plain { thread } => {
                let (own, run) = (&self.machine.threads[*thread], &self.runs[*thread]);
                (run.state == State::Ready)
                    .then(|| by(own.priority, own.jobs[run.job].due + own.deadline))
            }
            Entity::Periodic { priority, .. } => {
                (self.served[place].budget > 0).then(|| by(*priority, self.served[place].deadline))
            }
            Entity::Bandwidth { thread, .. } => {
                let ready = self.runs[*thread].state == State::Ready;
                (ready && self.served[place].throttled.is_none()).then(|| {
                    by(
                        self.machine.threads[*thread].priority,
                        self.served[place].deadline,
                    )
                })
            }
        };
        key.map(|key| (key, self.order[place]))
    }

    /// The thread that an entity would run.
    fn thread_in(&self, place: usize) -> Option<usize> {
        match &self.machine.entities[place] {
            Entity::Plain { thread } | Entity::Bandwidth { thread, .. } => Some(*thread),
            Entity::Periodic { threads, .. } => threads
                .iter()
                .copied()
                .filter(|&thread| self.runs[thread].state == State::Ready)
                .max_by_key(|&thread| self.machine.threads[thread].priority),
        }
    }

    fn choose(&mut self) {
        let mut ready: Vec<(u64, u64, usize)> = (0..self.machine.entities.len())
            .filter_map(|place| self.key(place).map(|(key, tie)| (key, tie, place)))
            .collect();
        ready.sort_unstable();
        let pinned = self.machine.pinned.iter().any(Option::is_some);
        if pinned || self.cpus.len() == 1 {
            for cpu in 0..self.cpus.len() {
                let here = |place: usize| self.machine.pinned[place].unwrap_or(0) == cpu;
                let best = ready.iter().map(|entry| entry.2).find(|&place| here(place));
                let current = self.cpus[cpu].entity.filter(|&own| self.key(own).is_some());
                if self.cpus[cpu].work.is_empty() && !self.holds(cpu, current, best) {
                    self.dispatch(cpu, best);
                }
            }
            return;
        }
        let top: Vec<usize> = ready
            .iter()
            .take(self.cpus.len())
            .map(|entry| entry.2)
            .collect();
        let placed: Vec<Option<usize>> = self.cpus.iter().map(|cpu| cpu.entity).collect();
        let mut waiting = top
            .iter()
            .copied()
            .filter(|place| !placed.contains(&Some(*place)));
        let mut next: Vec<(usize, Option<usize>)> = Vec::new();
        for cpu in 0..self.cpus.len() {
            if !self.cpus[cpu].work.is_empty() {
                continue;
            }
            match self.cpus[cpu].entity {
                Some(own) if top.contains(&own) => next.push((cpu, Some(own))),
                _ => next.push((cpu, waiting.next())),
            }
        }
        drop(waiting);
        for (cpu, entity) in next {
            self.dispatch(cpu, entity);
        }
    }

    /// Whether what runs, or nothing, holds the CPU although something else comes first.
    fn holds(&mut self, cpu: usize, current: Option<usize>, best: Option<usize>) -> bool {
        if best.is_none() || best == current {
            return false;
        }
        let thread = current.and_then(|current| self.thread_in(current));
        let plain = |thread: usize| &self.machine.threads[thread];
        if let Some(thread) = thread
            && plain(thread).whole
            && self.runs[thread].started
        {
            return true;
        }
        // Where the one that ran is done, its stretch is over.
        let over = current.is_none() && self.cpus[cpu].entity.is_some();
        if self.cpus[cpu].held {
            return !over && self.now < self.cpus[cpu].held_until;
        }
        let stretch = thread.map_or(0, |thread| plain(thread).stretch);
        let longest = stretch.max(self.machine.kernel.section);
        if over || longest < 2 || !self.cpus[cpu].ran || !self.dice.chance(self.machine.held) {
            return false;
        }
        let length = match self.dice.chance(70) {
            true => longest,
            false => self.dice.between(2, longest),
        };
        self.cpus[cpu].held = true;
        self.cpus[cpu].held_until = self.now - 1 + length;
        true
    }

    fn dispatch(&mut self, cpu: usize, entity: Option<usize>) {
        let inner = entity.and_then(|entity| self.thread_in(entity));
        let before = self.cpus[cpu].entity;
        let within = match (before == entity, entity) {
            // Another thread of the same server.
            (true, Some(place)) => self.served[place].last != inner && inner.is_some(),
            _ => false,
        };
        if before != entity || within {
            if let Some(last) = before.and_then(|place| self.served[place].last)
                && self.runs[last].started
            {
                self.runs[last].cold = true;
            }
            let own = &mut self.cpus[cpu];
            (own.entity, own.held, own.ran) = (entity, false, false);
            if let (Some(entity), true) = (entity, self.machine.kernel.switch > 0) {
                let work = Work::Switch(entity);
                own.work.push_back((self.machine.kernel.switch, work));
            }
        }
        if let (Some(place), Some(thread)) = (entity, inner) {
            self.served[place].last = Some(thread);
            let run = &mut self.runs[thread];
            if std::mem::take(&mut run.cold) {
                run.left += self.machine.threads[thread].cold;
            }
            run.started = true;
        }
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
