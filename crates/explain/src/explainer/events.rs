//! Events as they change the state of CPUs, threads and loops.

use super::Explainer;
use crate::call::{Entered, waits_at};
use crate::cause::SentBy;
use crate::cpu::{Context, Cpu};
use crate::senders::Senders;
use crate::summary::SwitchIns;
use crate::track::Happened;
use crate::untold::UntoldSwitch;
use crate::wait::Handler;
use wakepath_timeline::{CallArgument, KernelEvent, SoftIrq, Thread, What};

impl Explainer {
    /// Takes a switch that was not recorded.
    pub(super) fn untold(&mut self, untold: &UntoldSwitch) {
        if self.by_thread.contains_key(&untold.next) {
            self.untold_switch_ins.add(SwitchIns {
                count: 1,
                uncertain_ns: untold.uncertain_ns(),
            });
        }
        if let Some(switch) = untold.out_of_idle() {
            self.take(&switch);
            return;
        }
        self.threads.untold(untold);
        let UntoldSwitch { cpu, previous, .. } = *untold;
        self.mark(previous, untold.last_ns, cpu, Happened::Gone);
        if let Some(next) = &untold.thread {
            if let Some(cpu) = self.cpus.get_mut(usize::from(cpu)) {
                cpu.learn(next);
            }
            let priority = next.priority;
            self.mark(next.id, untold.latest_ns, cpu, Happened::In { priority });
        }
    }

    pub(super) fn take(&mut self, event: &KernelEvent) -> u64 {
        let index = usize::from(event.cpu);
        if self.cpus.len() <= index {
            self.cpus.resize_with(index + 1, Cpu::default);
        }
        if let What::Lost { .. } = event.what {
            let at_ns = self.cpus[index].last_ns();
            for of in &mut self.loops {
                if of.cpus.is_empty() || of.cpus.contains(&event.cpu) {
                    of.mark(at_ns, event.cpu, Happened::Lost);
                }
            }
        }
        self.refills.event(event);
        self.reservations.event(event);
        let hold = self.holds.event(event, self.threads.given(event));
        let at_ns = self.cpus[index].event(event, hold);
        if let What::Inherits {
            thread,
            before,
            priority,
        } = event.what
        {
            let inherits = self.holds.inherits(thread, before, priority);
            self.threads.inherits(thread, priority);
            for cpu in &mut self.cpus {
                cpu.inherits(at_ns, thread, priority, inherits);
            }
        }
        self.senders.event(event);
        self.tcp_timers.event(event);
        self.ticks.event(event);
        let current = self.cpus[index].current();
        let process = || self.program.process(event.current);
        self.forks.event(&event.what, current, process);
        let by_timer = || self.tcp_timers.sent_what_comes_in(event.cpu);
        let context = || waking_context(&self.cpus[index], &self.senders, by_timer);
        self.stoppers.event(event, context);
        self.threads.event(event, at_ns, context);
        for counting in self.loops.iter_mut().filter_map(|of| of.counting.as_mut()) {
            counting.event(event);
        }
        let cpu = event.cpu;
        match &event.what {
            What::Waking { thread, .. } if self.by_thread.contains_key(&thread.id) => {
                let from = waking_context(&self.cpus[index], &self.senders, by_timer);
                let priority = thread.priority;
                self.mark(thread.id, at_ns, cpu, Happened::Waking { from, priority });
            }
            What::WakeUp { thread, .. } => {
                self.mark(thread.id, at_ns, cpu, Happened::WokenUp);
            }
            What::Migrate {
                thread,
                from_cpu,
                to_cpu,
            } => {
                let from_cpu = *from_cpu;
                self.mark(thread.id, at_ns, cpu, Happened::Moved { from_cpu });
                let mover = self.stoppers.mover(event).cloned();
                self.at(at_ns, *to_cpu, mover.as_ref(), thread);
            }
            What::Switch {
                previous,
                left,
                next,
            } => {
                self.mark(previous.id, at_ns, cpu, Happened::Out(*left));
                if let Some(at) = self.setters.iter().position(|of| *of == previous.id) {
                    self.setters.swap_remove(at);
                    for of in &mut self.loops {
                        of.placement.named(previous);
                    }
                }
                let priority = next.priority;
                self.mark(next.id, at_ns, cpu, Happened::In { priority });
                self.at(at_ns, cpu, None, next);
            }
            What::TimerStart {
                expires_ns,
                soft_expires_ns,
                ..
            } => {
                let slack = Happened::Slack {
                    asked_ns: *soft_expires_ns,
                    until_ns: *expires_ns,
                };
                self.mark(event.current, at_ns, cpu, slack);
            }
            What::PageFault { copies, .. } => {
                let process = self.program.process(event.current).filter(|_| *copies);
                let after_fork = process.and_then(|of| self.forks.by(of)).cloned();
                self.mark(event.current, at_ns, cpu, Happened::Fault { after_fork });
            }
            What::PageMapped => {
                self.mark(event.current, at_ns, cpu, Happened::Mapped);
            }
            What::SystemCallEntry { name, argument } => {
                let descriptor = argument.and_then(CallArgument::descriptor);
                let call = self.program.call(event.current, name, descriptor);
                let entered = Entered {
                    call,
                    argument: waits_at(*argument),
                };
                if self.by_thread.contains_key(&event.current) {
                    let entered = entered.clone();
                    self.mark(event.current, at_ns, cpu, Happened::CallEntered(entered));
                }
                self.threads.calls.entered(event.current, at_ns, entered);
            }
            What::SystemCallExit => {
                self.threads.calls.left(event.current, at_ns);
                self.mark(event.current, at_ns, cpu, Happened::CallLeft);
            }
            What::SetsAffinity { thread } => {
                if !self.setters.contains(&event.current) {
                    self.setters.push(event.current);
                }
                let by = self.cpus[index].current();
                for &of in self.by_thread.get(thread).into_iter().flatten() {
                    self.loops[of].placement.set_by(at_ns, by, *thread);
                }
            }
            What::Followed {
                thread,
                process,
                calls,
            } => {
                self.program.follow(*thread, *process);
                for &of in self.by_thread.get(thread).into_iter().flatten() {
                    self.loops[of].calls = *calls;
                    self.loops[of].mark(at_ns, cpu, Happened::CallsUnknown);
                }
            }
            What::Descriptor {
                process,
                descriptor,
                target,
            } => {
                let target = target.clone();
                self.program.refers_to(*process, *descriptor, target);
            }
            What::IpiSend {
                target_cpu,
                callback,
            } => {
                let by = SentBy {
                    cpu,
                    thread: self.cpus[index].current().cloned(),
                    callback: callback.clone(),
                };
                let targets = self.cpus.iter_mut().enumerate();
                for (number, target) in targets {
                    let number = u16::try_from(number).unwrap_or(u16::MAX);
                    if number != cpu && target_cpu.is_none_or(|target| target == number) {
                        target.sent(at_ns, by.clone());
                    }
                }
            }
            _ => {}
        }
        at_ns
    }

    /// Notes what happened to a thread that has loops.
    fn mark(&mut self, thread: u32, at_ns: u64, cpu: u16, what: Happened) {
        let is_call = matches!(what, Happened::CallEntered(_) | Happened::CallLeft);
        for &of in self.by_thread.get(&thread).into_iter().flatten() {
            self.loops[of].calls |= is_call;
            self.loops[of].mark(at_ns, cpu, what.clone());
        }
    }

    /// Notes the CPU of a thread that has loops; `mover`: who had it moved there.
    fn at(&mut self, at_ns: u64, cpu: u16, mover: Option<&Thread>, thread: &Thread) {
        for &of in self.by_thread.get(&thread.id).into_iter().flatten() {
            self.loops[of].placement.at(at_ns, cpu, mover, thread);
        }
    }
}

/// The context in which a thread is woken now: the sender's, if the network delivers what that sends. `by_timer`: whether
/// it delivers what a timer sent.
fn waking_context(cpu: &Cpu, senders: &Senders, by_timer: impl Fn() -> bool) -> Context {
    match (cpu.context(), cpu.current()) {
        (Context::Interrupt(Handler::SoftIrq(vector)), Some(current))
            if senders.is_for(vector, current.id) =>
        {
            Context::Thread(current.clone())
        }
        (Context::Interrupt(Handler::SoftIrq(SoftIrq::NET_RX)), _) if by_timer() => {
            Context::Interrupt(Handler::SentByTimer)
        }
        (context, _) => context,
    }
}
