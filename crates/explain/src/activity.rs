//! Each CPU's activity as a stream of spans, for timelines. It explains nothing.

use crate::cause::Cause;
use crate::cpu::{Cpu, Doing, Span, is_ipi};
use crate::holds::Hold;
use crate::untold::Untold;
use wakepath_timeline::KernelEvent;

/// Turns events into spans of what the CPUs did.
#[derive(Debug, Default)]
pub struct Activities {
    cpus: Vec<Cpu>,
    untold: Untold,
}

impl Activities {
    /// Takes the next event, and hands out the spans that it ends: CPU, begin and end in nanoseconds on
    /// `CLOCK_MONOTONIC`, and the activity in readable form.
    pub fn event(&mut self, event: &KernelEvent, mut out: impl FnMut(u16, u64, u64, &str)) {
        let index = usize::from(event.cpu);
        if self.cpus.len() <= index {
            self.cpus.resize_with(index + 1, Cpu::default);
        }
        let cpu = &mut self.cpus[index];
        let untold = self.untold.before(event);
        if let Some(switch) = untold.and_then(|untold| untold.out_of_idle()) {
            cpu.event(&switch, Hold::default());
        }
        cpu.event(event, Hold::default());
        while let Some((span, until_ns)) = cpu.take_ended() {
            if let Some(name) = name(&span) {
                out(event.cpu, span.from_ns, until_ns, &name);
            }
        }
    }

    /// No events were kept until this instant.
    pub fn gap(&mut self, until_ns: u64) {
        for cpu in &mut self.cpus {
            cpu.gap(until_ns);
        }
    }
}

fn name(span: &Span) -> Option<String> {
    Some(match &span.doing {
        Doing::Unknown => return None,
        Doing::Lost => Cause::EventsLost.to_string(),
        Doing::Idle(None) => "idle".into(),
        Doing::Idle(Some(state)) => format!("idle state {state}"),
        Doing::Thread(thread) => Cause::thread_name(thread),
        Doing::Interrupt(kind, sender) if is_ipi(kind) => Cause::Ipi {
            kind: kind.clone(),
            sender: sender.clone(),
        }
        .to_string(),
        Doing::Interrupt(kind, _) => Cause::Interrupt(kind.clone()).to_string(),
        Doing::SoftIrq(vector, thread) => Cause::SoftIrq {
            vector: *vector,
            thread: thread.clone(),
        }
        .to_string(),
        Doing::Timer(function) => Cause::timer_name(function),
    })
}
