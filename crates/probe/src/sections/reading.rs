//! Decodes records of the events that show sections. Pure.

use std::collections::HashMap;

use wakepath_schedulability::sections::{Class, Happened, KernelTold, Role};

use crate::stream::{EventFormat, Field, FormatError, Record};
use crate::symbols::Symbols;

/// `TRACE_FLAG_…` of the kernel's `include/linux/trace_events.h`.
const NEEDS_SCHEDULER: i64 = 0x04;
const HARD: i64 = 0x08;
const SOFT: i64 = 0x10;
const SOFT_OFF: i64 = 0x80;
/// Of `common_preempt_count`: the count itself; the bits above it count how often migration is off.
const COUNT: i64 = 0x0f;
/// `PWR_EVENT_EXIT`.
const IDLE_ENDS: i64 = u32::MAX as i64;
/// Numbers of vectors, above those of devices.
const VECTORS: u16 = 1 << 15;

/// Meaning of an event.
#[derive(Debug, Clone, Copy)]
enum Kind {
    InterruptsOff,
    InterruptsOn,
    PreemptionOff,
    PreemptionOn,
    Device { number: Field },
    Vector { number: u16 },
    Switch { next: Field },
    Idle { state: Field },
}

#[derive(Debug, Clone, Copy)]
struct Reading {
    kind: Kind,
    flags: Field,
    count: Field,
    /// Of the four: where the code is that did it, and who called it.
    places: Option<(Field, Field)>,
}

/// Events that can be read, by their numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Readings {
    by_id: HashMap<u16, Reading>,
    vectors: Vec<String>,
    /// The kernel's `_stext`: places are given by their distance from it.
    start: u64,
}

impl Readings {
    /// Learns an event of this name by its `format` file.
    pub(super) fn learn(&mut self, name: &str, format: &str) -> Result<(), FormatError> {
        let format = EventFormat::parse(format)?;
        let field = |name: &str| format.field(name);
        let kind = match name {
            "irq_disable" => Kind::InterruptsOff,
            "irq_enable" => Kind::InterruptsOn,
            "preempt_disable" => Kind::PreemptionOff,
            "preempt_enable" => Kind::PreemptionOn,
            "irq_handler_entry" => Kind::Device {
                number: field("irq")?,
            },
            "sched_switch" => Kind::Switch {
                next: field("next_pid")?,
            },
            "cpu_idle" => Kind::Idle {
                state: field("state")?,
            },
            vector => {
                let number = VECTORS + self.vectors.len() as u16;
                let name = vector.strip_suffix("_entry").unwrap_or(vector);
                self.vectors.push(name.to_owned());
                Kind::Vector { number }
            }
        };
        let reading = Reading {
            kind,
            flags: field("common_flags")?,
            count: field("common_preempt_count")?,
            places: field("caller_offs")
                .and_then(|by| Ok((by, field("parent_offs")?)))
                .ok(),
        };
        self.by_id.insert(format.id, reading);
        Ok(())
    }

    /// With the kernel's `_stext`.
    pub(super) fn since(&self, start: u64) -> Self {
        Self {
            start,
            ..self.clone()
        }
    }

    /// The name that an interrupt's number means.
    pub(super) fn name(&self, number: Option<u16>) -> String {
        let vector = |number: u16| self.vectors.get(usize::from(number.checked_sub(VECTORS)?));
        match number {
            None => "without a name".into(),
            Some(number) => match vector(number) {
                Some(name) => name.clone(),
                None => format!("irq {number}"),
            },
        }
    }

    /// A record's meaning; `None` if it is of another event. A place in a lock's own code is replaced by that
    /// of its caller.
    pub(super) fn told(
        &self,
        record: &Record<'_>,
        role: &mut impl FnMut(u64) -> Place,
    ) -> Option<KernelTold> {
        let bytes = record.bytes;
        let id = u16::from_le_bytes(*bytes.first_chunk()?);
        let reading = self.by_id.get(&id)?;
        let flags = reading.flags.number(bytes)?;
        let has = |flag: i64| flags & flag != 0;
        let (hard, soft) = (has(HARD), has(SOFT) || has(SOFT_OFF));
        let class = Class {
            not_preemptible: reading.count.number(bytes)? & COUNT != 0,
            hard,
            soft,
            needs_scheduler: has(NEEDS_SCHEDULER),
        };
        let mut place = || {
            let (by, parent) = reading.places?;
            let [by, parent] = [by, parent].map(|field| {
                let offset = field.number(bytes)?;
                Some(self.start.wrapping_add_signed(offset))
            });
            match (role(by?), parent) {
                // Looked up too: it is asked for soon. Kernels without frame pointers give 0.
                (Place::Lock, Some(parent)) if parent != 0 => {
                    role(parent);
                    Some(parent)
                }
                _ => by,
            }
        };
        let happened = match reading.kind {
            Kind::InterruptsOff => Happened::InterruptsOff(place()?),
            Kind::InterruptsOn => Happened::InterruptsOn(place()?),
            Kind::PreemptionOff => Happened::PreemptionOff(place()?),
            Kind::PreemptionOn => Happened::PreemptionOn(place()?),
            Kind::Device { number } => {
                let number = u16::try_from(number.number(bytes)?).unwrap_or(VECTORS - 1);
                Happened::Interrupt(number.min(VECTORS - 1))
            }
            Kind::Vector { number } => Happened::Interrupt(number),
            Kind::Switch { next } => Happened::Switch {
                to_idle: next.number(bytes)? == 0,
            },
            Kind::Idle { state } => match state.number(bytes)? {
                IDLE_ENDS => Happened::IdleExit,
                _ => Happened::IdleEntry,
            },
        };
        Some(KernelTold {
            at_ns: record.at_ns,
            class,
            happened,
        })
    }
}

/// What there is at a place of the kernel's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The code of a lock, called by who takes it.
    Lock,
    /// Anything else.
    Role(Role),
}

/// The places of a kernel, each looked up once.
#[derive(Debug, Default)]
pub(super) struct Places(HashMap<u64, Place>);

impl Places {
    /// What there is at an address.
    pub(super) fn place(&mut self, address: u64, symbols: &mut Symbols) -> Place {
        let known = self.0.entry(address);
        *known.or_insert_with(|| place(&symbols.name(address)))
    }

    /// The role of an address that was looked up.
    pub(super) fn role(&self, address: u64) -> Role {
        match self.0.get(&address) {
            Some(Place::Role(role)) => *role,
            Some(Place::Lock) | None => Role::Other,
        }
    }
}

fn place(name: &str) -> Place {
    let plain = name.split('.').next().unwrap_or(name);
    match plain {
        "__schedule" => Place::Role(Role::Scheduler),
        _ if plain.contains("schedule") || plain.ends_with("cond_resched") => {
            Place::Role(Role::CallsScheduler)
        }
        _ if plain.starts_with("_raw_") => Place::Lock,
        _ => Place::Role(Role::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: irq_disable\nID: 300\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:s32 caller_offs;\toffset:8;\tsize:4;\tsigned:1;\n\
        \tfield:s32 parent_offs;\toffset:12;\tsize:4;\tsigned:1;\n";

    #[test]
    fn a_record_tells_what_went_off_where_and_in_what_state() {
        let mut readings = Readings::default();
        readings.learn("irq_disable", FORMAT).unwrap();
        let readings = readings.since(0xffff_ffff_8100_0000);
        let mut bytes = 300_u16.to_le_bytes().to_vec();
        // The scheduler is wanted, in an interrupt; migration is off twice, preemption once.
        bytes.extend([0x0c, 0x21, 7, 0, 0, 0]);
        bytes.extend(0x100_i32.to_le_bytes());
        bytes.extend((-8_i32).to_le_bytes());
        let record = Record {
            at_ns: 5,
            bytes: &bytes,
        };
        let by = |place| readings.told(&record, &mut |_| place).unwrap();
        let found = by(Place::Role(Role::Other));
        assert_eq!(
            found.happened,
            Happened::InterruptsOff(0xffff_ffff_8100_0100)
        );
        assert!(found.class.not_preemptible && found.class.hard && !found.class.soft);
        assert!(found.class.needs_scheduler);
        // The code that took the lock.
        let called = by(Place::Lock).happened;
        assert_eq!(called, Happened::InterruptsOff(0xffff_ffff_80ff_fff8));
    }

    #[test]
    fn the_scheduler_is_known_by_its_name_and_an_interrupt_by_its_vectors() {
        assert_eq!(place("__schedule"), Place::Role(Role::Scheduler));
        assert_eq!(
            place("preempt_schedule_irq"),
            Place::Role(Role::CallsScheduler)
        );
        assert_eq!(place("_raw_spin_lock_irqsave"), Place::Lock);
        let mut readings = Readings::default();
        readings.learn("local_timer_entry", FORMAT).unwrap();
        assert_eq!(readings.name(Some(VECTORS)), "local_timer");
        assert_eq!(readings.name(Some(9)), "irq 9");
    }
}
