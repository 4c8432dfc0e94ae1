//! Budgets of constant-bandwidth servers, as the kernel keeps them.

use super::{Entity, Playing, State};

impl Playing<'_> {
    /// `update_dl_entity` and `dl_check_constrained_dl`.
    pub(super) fn wake(&mut self, thread: usize) {
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
            if deadline < period {
                served.budget =
                    (u128::from(left) * u128::from(runtime) / u128::from(deadline)) as u64
            } else {
                (served.deadline, served.budget) = (now + deadline, runtime)
            }
        }
    }

    /// Budgets that are used up, and that come back.
    pub(super) fn budgets(&mut self) -> bool {
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
}
