//! Records to events. One decoder serves one CPU's stream after the other; it remembers only names.

use std::collections::HashMap;
use std::sync::Arc;

use wakepath_timeline::{Call, Interrupt, KernelEvent, SoftIrq, What, decoded};

use super::call_names;
use super::calls::{SETS_AFFINITY, argument, known_as};
use super::format::{EventFormat, Field, FormatError};
use super::left::StateBits;
use super::page::Record;
use super::reading::Reading;
use super::wanted::Tracepoint;
use crate::Symbols;

/// `HRTIMER_MODE_SOFT` and `HRTIMER_MODE_HARD` of the kernel's `include/linux/hrtimer.h`.
const MODE_SOFT: i64 = 0x04;
const MODE_HARD: i64 = 0x08;
/// `PWR_EVENT_EXIT`: the state that `power:cpu_idle` gives at the end of an idle state.
const IDLE_ENDS: i64 = u32::MAX as i64;
const NO_NAME: &str = "";

/// Turns records into events.
#[derive(Debug)]
pub struct Decoder {
    readings: HashMap<u16, (Field, Reading)>,
    states: StateBits,
    symbols: Symbols,
    /// On PREEMPT_RT timers are soft unless they say hard; elsewhere hard unless they say soft.
    preempt_rt: bool,
    device_names: HashMap<u32, Arc<str>>,
    texts: HashMap<Vec<u8>, Arc<str>>,
    no_name: Arc<str>,
    not_understood: u64,
}

impl Decoder {
    /// A decoder that understands nothing yet.
    pub fn new(symbols: Symbols, preempt_rt: bool) -> Self {
        Self {
            readings: HashMap::new(),
            states: StateBits::default(),
            symbols,
            preempt_rt,
            device_names: HashMap::new(),
            texts: HashMap::new(),
            no_name: NO_NAME.into(),
            not_understood: 0,
        }
    }

    /// Teaches it a tracepoint by its `format` file; returns the event's number.
    ///
    /// # Errors
    /// [`FormatError`] where the format lacks what is needed; the event is of no use then.
    pub fn learn(&mut self, tracepoint: &Tracepoint, format: &str) -> Result<u16, FormatError> {
        let format = EventFormat::parse(format)?;
        let current = format.field("common_pid")?;
        let reading = Reading::new(tracepoint, &format)?;
        if let Reading::Switch { .. } = reading {
            self.states = StateBits::new(&format);
        }
        self.readings.insert(format.id, (current, reading));
        Ok(format.id)
    }

    /// Records of tracepoints that were not learnt, or too short for their format.
    pub fn not_understood(&self) -> u64 {
        self.not_understood
    }

    /// Gives the events of one record of `cpu` to `take`: one, or none, or one for each CPU that
    /// an interrupt is sent to.
    pub fn decode(&mut self, record: &Record<'_>, cpu: u16, mut take: impl FnMut(KernelEvent)) {
        let bytes = record.bytes;
        let id = bytes
            .first_chunk()
            .map_or(0, |two: &[u8; 2]| u16::from_le_bytes(*two));
        // Taken out for as long as names are looked up, which needs the rest of `self`.
        let Some((current, reading)) = self.readings.remove(&id) else {
            self.not_understood += 1;
            return;
        };
        let events = self.events(&current, &reading, record, cpu, &mut take);
        self.not_understood += u64::from(events.is_none());
        self.readings.insert(id, (current, reading));
    }

    fn events(
        &mut self,
        current: &Field,
        reading: &Reading,
        record: &Record<'_>,
        cpu: u16,
        take: &mut impl FnMut(KernelEvent),
    ) -> Option<()> {
        let bytes = record.bytes;
        let current = u32::try_from(current.number(bytes)?).ok()?;
        let mut give = |what| {
            take(KernelEvent {
                at_ns: record.at_ns,
                cpu,
                current,
                what,
            });
        };
        let address = |field: &Field| Some(field.number(bytes)? as u64);
        let narrow = |field: &Field| u16::try_from(field.number(bytes)?).ok();
        match reading {
            Reading::Switch {
                previous,
                state,
                next,
            } => give(What::Switch {
                previous: previous.thread(bytes)?,
                left: self.states.left(state.number(bytes)? as u64),
                next: next.thread(bytes)?,
            }),
            Reading::Waking {
                thread,
                target,
                is_waking,
            } => {
                let thread = thread.thread(bytes)?;
                let target_cpu = narrow(target)?;
                give(if *is_waking {
                    What::Waking { thread, target_cpu }
                } else {
                    What::WakeUp { thread, target_cpu }
                });
            }
            Reading::Migrate { thread, from, to } => give(What::Migrate {
                thread: thread.thread(bytes)?,
                from_cpu: narrow(from)?,
                to_cpu: narrow(to)?,
            }),
            Reading::Inherits {
                thread,
                before,
                priority,
            } => {
                let number = |field: &Field| i32::try_from(field.number(bytes)?).ok();
                give(What::Inherits {
                    thread: u32::try_from(thread.number(bytes)?).ok()?,
                    before: number(before)?,
                    priority: number(priority)?,
                });
            }
            Reading::DeviceEntry { number, name } => {
                let number = u32::try_from(number.number(bytes)?).ok()?;
                let name = self.text(name.bytes(bytes)?);
                self.device_names.insert(number, Arc::clone(&name));
                give(What::InterruptEntry(Interrupt::Device { number, name }));
            }
            Reading::DeviceExit { number } => {
                let number = u32::try_from(number.number(bytes)?).ok()?;
                // The kernel names the action at its beginning only.
                let name = self.device_names.get(&number).unwrap_or(&self.no_name);
                let name = Arc::clone(name);
                give(What::InterruptExit(Interrupt::Device { number, name }));
            }
            Reading::SoftIrq { vector, what } => {
                let vector = u8::try_from(vector.number(bytes)?).ok()?;
                give(what(SoftIrq(vector)));
            }
            Reading::Vector { interrupt, entry } => give(if *entry {
                What::InterruptEntry(interrupt.clone())
            } else {
                What::InterruptExit(interrupt.clone())
            }),
            Reading::TimerStart {
                timer,
                function,
                expires,
                soft_expires,
                mode,
            } => {
                let mode = match mode {
                    Some(mode) => mode.number(bytes)?,
                    None => 0,
                };
                give(What::TimerStart {
                    timer: address(timer)?,
                    function: self.symbols.name(address(function)?),
                    expires_ns: address(expires)?,
                    soft_expires_ns: address(soft_expires)?,
                    soft: if self.preempt_rt {
                        mode & MODE_HARD == 0
                    } else {
                        mode & MODE_SOFT != 0
                    },
                });
            }
            Reading::ExpiryEntry { timer, function } => give(What::TimerExpiryEntry {
                timer: address(timer)?,
                function: self.symbols.name(address(function)?),
            }),
            Reading::ExpiryExit { timer } => give(What::TimerExpiryExit {
                timer: address(timer)?,
            }),
            Reading::IpiCpu { cpu, callback } => give(What::IpiSend {
                target_cpu: Some(narrow(cpu)?),
                callback: self.callback(address(callback)?),
            }),
            Reading::IpiMask { mask, callback } => {
                let callback = self.callback(address(callback)?);
                for (byte, bits) in mask.bytes(bytes)?.iter().enumerate() {
                    for bit in (0..8).filter(|bit| bits & (1 << bit) != 0) {
                        give(What::IpiSend {
                            target_cpu: Some(u16::try_from(byte * 8 + bit).ok()?),
                            callback: Arc::clone(&callback),
                        });
                    }
                }
            }
            Reading::Idle { state } => give(match state.number(bytes)? {
                IDLE_ENDS => What::IdleExit,
                state => What::IdleEntry {
                    state: u32::try_from(state).ok()?,
                },
            }),
            Reading::Frequency { khz, cpu: of } => {
                // Set from another CPU: its place in that CPU's order is not known here.
                if narrow(of)? == cpu {
                    let khz = u32::try_from(khz.number(bytes)?).ok()?;
                    give(What::Frequency { khz });
                }
            }
            Reading::Mark { number } => give(What::Mark { number: *number }),
            Reading::Call {
                function,
                numbers,
                texts,
            } => {
                let numbers = numbers
                    .iter()
                    .map(|field| Some(field.number(bytes)? as u64));
                let numbers = numbers.collect::<Option<_>>()?;
                let texts = texts
                    .iter()
                    .map(|field| Some(self.text(field.bytes(bytes)?)));
                let texts = texts.collect::<Option<_>>()?;
                give(What::Call(Box::new(Call {
                    function: Arc::clone(function),
                    numbers,
                    texts,
                })));
            }
            Reading::SystemCallEntry { number, first } => {
                let number = number.number(bytes)?;
                let first = first.number(bytes)? as u64;
                // Flags and thread numbers are the lower half.
                let low = first as u32;
                let name = match call_names::name(number) {
                    Some(name) => self.text(known_as(name, low).as_bytes()),
                    None => self.text(format!("number {number}").as_bytes()),
                };
                if &*name == SETS_AFFINITY {
                    // 0 is the caller itself.
                    let thread = if low == 0 { current } else { low };
                    give(What::SetsAffinity { thread });
                }
                let argument = argument(&name, first);
                give(What::SystemCallEntry { name, argument });
            }
            Reading::SystemCallExit => give(What::SystemCallExit),
            Reading::PageFault { user, error } => {
                let error = error.and_then(|error| error.number(bytes));
                give(What::PageFault {
                    user: *user,
                    copies: error.is_some_and(is_write_to_present),
                });
            }
            Reading::PageMapped { is_own } => {
                if is_own.number(bytes)? != 0 {
                    give(What::PageMapped);
                }
            }
        }
        Some(())
    }

    /// A callback's name; none for an interrupt that only asks for a reschedule.
    fn callback(&mut self, address: u64) -> Arc<str> {
        match address {
            0 => Arc::clone(&self.no_name),
            address => self.symbols.name(address),
        }
    }

    /// Bytes up to their first NUL as text that was seen before, if it was.
    fn text(&mut self, bytes: &[u8]) -> Arc<str> {
        let end = bytes.iter().position(|&byte| byte == 0);
        let bytes = &bytes[..end.unwrap_or(bytes.len())];
        if let Some(known) = self.texts.get(bytes) {
            return Arc::clone(known);
        }
        let text: Arc<str> = decoded(bytes).into();
        self.texts.insert(bytes.to_owned(), Arc::clone(&text));
        text
    }
}

/// Whether a page fault's error code is that of a write to a page that is there; the codes of other machines differ.
fn is_write_to_present(error: i64) -> bool {
    const PRESENT_AND_WRITE: i64 = 0b11;
    cfg!(any(target_arch = "x86_64", target_arch = "x86"))
        && error & PRESENT_AND_WRITE == PRESENT_AND_WRITE
}
