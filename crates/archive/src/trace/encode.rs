//! Encodes events of one CPU as the bytes of a block.
//!
//! Each block is independent: a name is written out once in it and then referred to by number.
//! Pure.

use std::collections::HashMap;
use std::sync::Arc;

use wakepath_timeline::{CallArgument, CallTarget, Interrupt, KernelEvent, Left, Thread, What};

use super::bytes::{put, put_bytes, put_signed};

/// Set in a tag if the current thread differs from the event before.
pub(super) const CURRENT_CHANGED: u8 = 0x80;

/// One tag for each kind of event; a number once used keeps its meaning.
#[rustfmt::skip]
pub(super) mod tag {
    pub const INTERRUPT_ENTRY: u8 = 1;
    pub const INTERRUPT_EXIT: u8 = 2;
    pub const SOFT_IRQ_RAISE: u8 = 3;
    pub const SOFT_IRQ_ENTRY: u8 = 4;
    pub const SOFT_IRQ_EXIT: u8 = 5;
    pub const TIMER_EXPIRY_ENTRY: u8 = 6;
    pub const TIMER_EXPIRY_EXIT: u8 = 7;
    pub const TIMER_START: u8 = 8;
    pub const WAKING: u8 = 9;
    pub const WAKE_UP: u8 = 10;
    pub const SWITCH: u8 = 11;
    pub const MIGRATE: u8 = 12;
    pub const IPI_SEND: u8 = 13;
    pub const IDLE_ENTRY: u8 = 14;
    pub const IDLE_EXIT: u8 = 15;
    pub const FREQUENCY: u8 = 16;
    pub const PAGE_FAULT: u8 = 17;
    pub const LOST: u8 = 18;
    pub const MARK: u8 = 19;
    pub const CALL: u8 = 20;
    pub const SYSTEM_CALL_ENTRY: u8 = 21;
    pub const SYSTEM_CALL_EXIT: u8 = 22;
    pub const FOLLOWED: u8 = 23;
    pub const DESCRIPTOR: u8 = 24;
    pub const SETS_AFFINITY: u8 = 25;
    pub const CLOCK_SET: u8 = 27;
    pub const INHERITS: u8 = 28;
    pub const PAGE_MAPPED: u8 = 26;
}

/// The order of [`Left`] in the file.
pub(super) const LEFT: [Left; 5] = [
    Left::Runnable,
    Left::Sleeping,
    Left::Blocked,
    Left::Stopped,
    Left::Dead,
];

/// A block in the making.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    pub(super) bytes: Vec<u8>,
    pub(super) count: u32,
    pub(super) losses: u32,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    at_ns: u64,
    current: u32,
    threads: HashMap<Thread, u64>,
    names: HashMap<Arc<str>, u64>,
}

impl Encoder {
    /// Forgets everything but the memory it holds.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.threads.clear();
        self.names.clear();
        (self.count, self.losses, self.at_ns, self.current) = (0, 0, 0, 0);
        (self.first_ns, self.last_ns) = (0, 0);
    }

    pub(super) fn add(&mut self, event: &KernelEvent) {
        if self.count == 0 {
            (self.first_ns, self.last_ns) = (event.at_ns, event.at_ns);
        }
        self.first_ns = self.first_ns.min(event.at_ns);
        self.last_ns = self.last_ns.max(event.at_ns);
        self.count += 1;
        self.what(event);
    }

    fn head(&mut self, event: &KernelEvent, tag: u8) {
        let changed = event.current != self.current;
        let flag = if changed { CURRENT_CHANGED } else { 0 };
        self.bytes.push(tag | flag);
        // Timestamps can go backwards a little; the wrapping difference handles any pair.
        put_signed(&mut self.bytes, event.at_ns.wrapping_sub(self.at_ns) as i64);
        if changed {
            put(&mut self.bytes, event.current.into());
        }
        (self.at_ns, self.current) = (event.at_ns, event.current);
    }

    fn what(&mut self, event: &KernelEvent) {
        match &event.what {
            What::InterruptEntry(interrupt) => {
                self.head(event, tag::INTERRUPT_ENTRY);
                self.interrupt(interrupt);
            }
            What::InterruptExit(interrupt) => {
                self.head(event, tag::INTERRUPT_EXIT);
                self.interrupt(interrupt);
            }
            What::SoftIrqRaise(vector) => {
                self.head(event, tag::SOFT_IRQ_RAISE);
                self.bytes.push(vector.0);
            }
            What::SoftIrqEntry(vector) => {
                self.head(event, tag::SOFT_IRQ_ENTRY);
                self.bytes.push(vector.0);
            }
            What::SoftIrqExit(vector) => {
                self.head(event, tag::SOFT_IRQ_EXIT);
                self.bytes.push(vector.0);
            }
            What::TimerExpiryEntry { timer, function } => {
                self.head(event, tag::TIMER_EXPIRY_ENTRY);
                self.number(*timer);
                self.name(function);
            }
            What::TimerExpiryExit { timer } => {
                self.head(event, tag::TIMER_EXPIRY_EXIT);
                self.number(*timer);
            }
            What::TimerStart {
                timer,
                function,
                expires_ns,
                soft_expires_ns,
                soft,
            } => {
                self.head(event, tag::TIMER_START);
                self.number(*timer);
                self.name(function);
                put_signed(
                    &mut self.bytes,
                    soft_expires_ns.wrapping_sub(event.at_ns) as i64,
                );
                put_signed(
                    &mut self.bytes,
                    expires_ns.wrapping_sub(*soft_expires_ns) as i64,
                );
                self.bytes.push(u8::from(*soft));
            }
            What::Waking { thread, target_cpu } => {
                self.head(event, tag::WAKING);
                self.thread(thread);
                self.number((*target_cpu).into());
            }
            What::WakeUp { thread, target_cpu } => {
                self.head(event, tag::WAKE_UP);
                self.thread(thread);
                self.number((*target_cpu).into());
            }
            What::Switch {
                previous,
                left,
                next,
            } => {
                self.head(event, tag::SWITCH);
                self.thread(previous);
                let left = LEFT.iter().position(|known| known == left);
                self.bytes
                    .push(left.expect("every way to leave has a number") as u8);
                self.thread(next);
            }
            What::Migrate {
                thread,
                from_cpu,
                to_cpu,
            } => {
                self.head(event, tag::MIGRATE);
                self.thread(thread);
                self.number((*from_cpu).into());
                self.number((*to_cpu).into());
            }
            What::IpiSend {
                target_cpu,
                callback,
            } => {
                self.head(event, tag::IPI_SEND);
                self.number(target_cpu.map_or(0, |cpu| u64::from(cpu) + 1));
                self.name(callback);
            }
            What::IdleEntry { state } => {
                self.head(event, tag::IDLE_ENTRY);
                self.number((*state).into());
            }
            What::IdleExit => self.head(event, tag::IDLE_EXIT),
            What::Frequency { khz } => {
                self.head(event, tag::FREQUENCY);
                self.number((*khz).into());
            }
            What::PageFault { user, copies } => {
                self.head(event, tag::PAGE_FAULT);
                self.bytes.push(u8::from(*user) | u8::from(*copies) << 1);
            }
            What::PageMapped => self.head(event, tag::PAGE_MAPPED),
            What::Mark { number } => {
                self.head(event, tag::MARK);
                self.number((*number).into());
            }
            What::Call(call) => {
                self.head(event, tag::CALL);
                self.name(&call.function);
                self.number(call.numbers.len() as u64);
                for number in &call.numbers {
                    self.number(*number);
                }
                self.number(call.texts.len() as u64);
                for text in &call.texts {
                    self.name(text);
                }
            }
            What::SystemCallEntry { name, argument } => {
                self.head(event, tag::SYSTEM_CALL_ENTRY);
                self.name(name);
                self.number(match argument {
                    None => 0,
                    Some(CallArgument::Descriptor(number)) => u64::from(*number) * 2 + 1,
                    Some(CallArgument::Address(at)) => at * 2 + 2,
                });
            }
            What::SystemCallExit => self.head(event, tag::SYSTEM_CALL_EXIT),
            What::ClockSet { by_ns } => {
                self.head(event, tag::CLOCK_SET);
                put_signed(&mut self.bytes, *by_ns);
            }
            What::Inherits {
                thread,
                before,
                priority,
            } => {
                self.head(event, tag::INHERITS);
                self.number((*thread).into());
                put_signed(&mut self.bytes, (*before).into());
                put_signed(&mut self.bytes, (*priority).into());
            }
            What::SetsAffinity { thread } => {
                self.head(event, tag::SETS_AFFINITY);
                self.number((*thread).into());
            }
            What::Followed {
                thread,
                process,
                calls,
            } => {
                self.head(event, tag::FOLLOWED);
                self.number((*thread).into());
                self.number((*process).into());
                self.bytes.push(u8::from(*calls));
            }
            What::Descriptor {
                process,
                descriptor,
                target,
            } => {
                self.head(event, tag::DESCRIPTOR);
                self.number((*process).into());
                self.number((*descriptor).into());
                self.target(target);
            }
            What::Lost { count } => {
                self.head(event, tag::LOST);
                self.number(*count);
                self.losses += 1;
            }
        }
    }

    fn number(&mut self, value: u64) {
        put(&mut self.bytes, value);
    }

    fn interrupt(&mut self, interrupt: &Interrupt) {
        match interrupt {
            Interrupt::LocalTimer => self.bytes.push(0),
            Interrupt::Reschedule => self.bytes.push(1),
            Interrupt::CallFunction => self.bytes.push(2),
            Interrupt::IrqWork => self.bytes.push(3),
            Interrupt::Vector(name) => {
                self.bytes.push(4);
                self.name(name);
            }
            Interrupt::Device { number, name } => {
                self.bytes.push(5);
                self.number((*number).into());
                self.name(name);
            }
        }
    }

    fn target(&mut self, target: &CallTarget) {
        let (number, name) = match target {
            CallTarget::File(path) => (0, Some(path)),
            CallTarget::Device(path) => (1, Some(path)),
            CallTarget::Terminal(path) => (2, Some(path)),
            CallTarget::Pipe => (3, None),
            CallTarget::Socket => (4, None),
            CallTarget::Other(word) => (5, Some(word)),
        };
        self.bytes.push(number);
        if let Some(name) = name {
            self.name(name);
        }
    }

    fn name(&mut self, name: &Arc<str>) {
        if let Some(&number) = self.names.get(name) {
            return put(&mut self.bytes, number);
        }
        let number = self.names.len() as u64;
        put(&mut self.bytes, number);
        put_bytes(&mut self.bytes, name.as_bytes());
        self.names.insert(Arc::clone(name), number);
    }

    fn thread(&mut self, thread: &Thread) {
        if let Some(&number) = self.threads.get(thread) {
            return put(&mut self.bytes, number);
        }
        let number = self.threads.len() as u64;
        put(&mut self.bytes, number);
        put(&mut self.bytes, thread.id.into());
        put_signed(&mut self.bytes, thread.priority.into());
        put_bytes(&mut self.bytes, thread.name.bytes());
        self.threads.insert(thread.clone(), number);
    }
}
