//! Decodes a block's bytes into events.
//!
//! Pure; it accepts any bytes and returns an error for invalid ones.

use std::sync::Arc;

use wakepath_timeline::{
    Call, CallArgument, CallTarget, Interrupt, KernelEvent, SoftIrq, Thread, ThreadName, What,
};

use super::bytes::Take;
use super::encode::{CURRENT_CHANGED, LEFT, tag};

/// Names and threads of the block under way, kept between blocks for their memory.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    names: Vec<Arc<str>>,
    threads: Vec<Thread>,
}

impl Decoder {
    /// Appends the `count` events of a block; `None` if the bytes aren't a block's.
    pub(super) fn block(
        &mut self,
        bytes: &[u8],
        cpu: u16,
        count: u32,
        events: &mut Vec<KernelEvent>,
    ) -> Option<()> {
        self.names.clear();
        self.threads.clear();
        let mut take = Take(bytes);
        let (mut at_ns, mut current) = (0_u64, 0_u32);
        for _ in 0..count {
            let head = take.byte()?;
            at_ns = at_ns.wrapping_add(take.signed()? as u64);
            if head & CURRENT_CHANGED != 0 {
                current = take.fitting()?;
            }
            let what = self.what(&mut take, head & !CURRENT_CHANGED, at_ns)?;
            events.push(KernelEvent {
                at_ns,
                cpu,
                current,
                what,
            });
        }
        take.0.is_empty().then_some(())
    }

    fn what(&mut self, take: &mut Take<'_>, tag: u8, at_ns: u64) -> Option<What> {
        Some(match tag {
            tag::INTERRUPT_ENTRY => What::InterruptEntry(self.interrupt(take)?),
            tag::INTERRUPT_EXIT => What::InterruptExit(self.interrupt(take)?),
            tag::SOFT_IRQ_RAISE => What::SoftIrqRaise(SoftIrq(take.byte()?)),
            tag::SOFT_IRQ_ENTRY => What::SoftIrqEntry(SoftIrq(take.byte()?)),
            tag::SOFT_IRQ_EXIT => What::SoftIrqExit(SoftIrq(take.byte()?)),
            tag::TIMER_EXPIRY_ENTRY => What::TimerExpiryEntry {
                timer: take.number()?,
                function: self.name(take)?,
            },
            tag::TIMER_EXPIRY_EXIT => What::TimerExpiryExit {
                timer: take.number()?,
            },
            tag::TIMER_START => {
                let timer = take.number()?;
                let function = self.name(take)?;
                let soft_expires_ns = at_ns.wrapping_add(take.signed()? as u64);
                let expires_ns = soft_expires_ns.wrapping_add(take.signed()? as u64);
                What::TimerStart {
                    timer,
                    function,
                    expires_ns,
                    soft_expires_ns,
                    soft: yes_or_no(take.byte()?)?,
                }
            }
            tag::WAKING => What::Waking {
                thread: self.thread(take)?,
                target_cpu: take.fitting()?,
            },
            tag::WAKE_UP => What::WakeUp {
                thread: self.thread(take)?,
                target_cpu: take.fitting()?,
            },
            tag::SWITCH => What::Switch {
                previous: self.thread(take)?,
                left: *LEFT.get(usize::from(take.byte()?))?,
                next: self.thread(take)?,
            },
            tag::MIGRATE => What::Migrate {
                thread: self.thread(take)?,
                from_cpu: take.fitting()?,
                to_cpu: take.fitting()?,
            },
            tag::IPI_SEND => What::IpiSend {
                target_cpu: match take.number()? {
                    0 => None,
                    cpu => Some(u16::try_from(cpu - 1).ok()?),
                },
                callback: self.name(take)?,
            },
            tag::IDLE_ENTRY => What::IdleEntry {
                state: take.fitting()?,
            },
            tag::IDLE_EXIT => What::IdleExit,
            tag::FREQUENCY => What::Frequency {
                khz: take.fitting()?,
            },
            tag::PAGE_FAULT => match take.byte()? {
                flags @ 0..4 => What::PageFault {
                    user: flags & 1 != 0,
                    copies: flags & 2 != 0,
                },
                _ => return None,
            },
            tag::PAGE_MAPPED => What::PageMapped,
            tag::MARK => What::Mark {
                number: take.fitting()?,
            },
            tag::CALL => What::Call(Box::new(self.call(take)?)),
            tag::SYSTEM_CALL_ENTRY => What::SystemCallEntry {
                name: self.name(take)?,
                argument: match take.number()? {
                    0 => None,
                    number if number % 2 == 0 => Some(CallArgument::Address(number / 2 - 1)),
                    number => Some(CallArgument::Descriptor(u32::try_from(number / 2).ok()?)),
                },
            },
            tag::SYSTEM_CALL_EXIT => What::SystemCallExit,
            tag::CLOCK_SET => What::ClockSet {
                by_ns: take.signed()?,
            },
            tag::INHERITS => What::Inherits {
                thread: take.fitting()?,
                before: i32::try_from(take.signed()?).ok()?,
                priority: i32::try_from(take.signed()?).ok()?,
            },
            tag::SETS_AFFINITY => What::SetsAffinity {
                thread: take.fitting()?,
            },
            tag::FOLLOWED => What::Followed {
                thread: take.fitting()?,
                process: take.fitting()?,
                calls: yes_or_no(take.byte()?)?,
            },
            tag::DESCRIPTOR => What::Descriptor {
                process: take.fitting()?,
                descriptor: take.fitting()?,
                target: self.target(take)?,
            },
            tag::LOST => What::Lost {
                count: take.number()?,
            },
            _ => return None,
        })
    }

    /// Counts are never trusted with memory: each argument has at least a byte of its own.
    fn call(&mut self, take: &mut Take<'_>) -> Option<Call> {
        let function = self.name(take)?;
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        for _ in 0..take.number()? {
            numbers.push(take.number()?);
        }
        for _ in 0..take.number()? {
            texts.push(self.name(take)?);
        }
        Some(Call {
            function,
            numbers,
            texts,
        })
    }

    fn interrupt(&mut self, take: &mut Take<'_>) -> Option<Interrupt> {
        Some(match take.byte()? {
            0 => Interrupt::LocalTimer,
            1 => Interrupt::Reschedule,
            2 => Interrupt::CallFunction,
            3 => Interrupt::IrqWork,
            4 => Interrupt::Vector(self.name(take)?),
            5 => Interrupt::Device {
                number: take.fitting()?,
                name: self.name(take)?,
            },
            _ => return None,
        })
    }

    fn target(&mut self, take: &mut Take<'_>) -> Option<CallTarget> {
        Some(match take.byte()? {
            0 => CallTarget::File(self.name(take)?),
            1 => CallTarget::Device(self.name(take)?),
            2 => CallTarget::Terminal(self.name(take)?),
            3 => CallTarget::Pipe,
            4 => CallTarget::Socket,
            5 => CallTarget::Other(self.name(take)?),
            _ => return None,
        })
    }

    fn name(&mut self, take: &mut Take<'_>) -> Option<Arc<str>> {
        let number: usize = take.fitting()?;
        if number == self.names.len() {
            let name = std::str::from_utf8(take.bytes()?).ok()?;
            self.names.push(name.into());
        }
        self.names.get(number).cloned()
    }

    fn thread(&mut self, take: &mut Take<'_>) -> Option<Thread> {
        let number: usize = take.fitting()?;
        if number == self.threads.len() {
            let id = take.fitting()?;
            let priority = i32::try_from(take.signed()?).ok()?;
            let name = ThreadName::new(take.bytes()?);
            self.threads.push(Thread { id, name, priority });
        }
        self.threads.get(number).cloned()
    }
}

fn yes_or_no(byte: u8) -> Option<bool> {
    match byte {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}
