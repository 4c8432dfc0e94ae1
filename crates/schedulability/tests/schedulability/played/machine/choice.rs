//! The choice of what each CPU runs, and the sections and stretches that hold it.

use super::{Entity, Playing, State, Work};

impl Playing<'_> {
    /// What orders an entity; `None`: it has nothing to run.
    pub(super) fn key(&self, place: usize) -> Option<(u64, u64)> {
        let by = |priority: u32, deadline: u64| {
            if self.machine.by_priority {
                u64::from(u32::MAX - priority)
            } else {
                deadline
            }
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
    pub(super) fn thread_in(&self, place: usize) -> Option<usize> {
        match &self.machine.entities[place] {
            Entity::Plain { thread } | Entity::Bandwidth { thread, .. } => Some(*thread),
            Entity::Periodic { threads, .. } => threads
                .iter()
                .copied()
                .filter(|&thread| self.runs[thread].state == State::Ready)
                .max_by_key(|&thread| self.machine.threads[thread].priority),
        }
    }

    pub(super) fn choose(&mut self) {
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
    pub(super) fn holds(
        &mut self,
        cpu: usize,
        current: Option<usize>,
        best: Option<usize>,
    ) -> bool {
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
        let length = if self.dice.chance(70) {
            longest
        } else {
            self.dice.between(2, longest)
        };
        self.cpus[cpu].held = true;
        self.cpus[cpu].held_until = self.now - 1 + length;
        true
    }

    pub(super) fn dispatch(&mut self, cpu: usize, entity: Option<usize>) {
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
}
