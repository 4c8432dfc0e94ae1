//! All that happens at one instant: interrupts, releases, ends of jobs and of their parts.

use super::{Done, Entity, Playing, State, Work};

impl Playing<'_> {
    /// All that happens at this instant, until nothing more does.
    pub(super) fn settle(&mut self) {
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

    pub(super) fn interrupt(&mut self, work: Work) {
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

    pub(super) fn worked(&mut self, cpu: usize, work: Work) {
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

    pub(super) fn ready(&mut self, thread: usize, number: usize) {
        self.released[thread][number] = self.now;
        self.runs[thread].queue.push_back(number);
        if self.runs[thread].state == State::Idle {
            self.begin(thread);
            self.wake(thread);
        }
    }

    pub(super) fn begin(&mut self, thread: usize) {
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

    pub(super) fn part_done(&mut self, thread: usize) {
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
        // Its last stretch is over, whatever it runs next; a periodic server's continues.
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
}
