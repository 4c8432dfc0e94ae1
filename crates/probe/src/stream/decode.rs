//! Records to events: which tracepoint means what. One decoder serves one CPU's stream after the
//! other; it remembers only names.

use std::collections::HashMap;
use std::sync::Arc;

use wakepath_archive::EventKind;
use wakepath_timeline::{Interrupt, KernelEvent, Left, SoftIrq, Thread, ThreadName, What};

use super::format::{EventFormat, Field, FormatError};
use super::page::Record;
use crate::Symbols;

/// `HRTIMER_MODE_SOFT` and `HRTIMER_MODE_HARD` of the kernel's `include/linux/hrtimer.h`.
const MODE_SOFT: i64 = 0x04;
const MODE_HARD: i64 = 0x08;
/// `PWR_EVENT_EXIT`: the state that `power:cpu_idle` gives at the end of an idle state.
const IDLE_ENDS: i64 = u32::MAX as i64;
const NO_NAME: &str = "";

/// A tracepoint that is understood.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tracepoint {
    /// The kernel's subsystem: `sched`.
    pub system: &'static str,
    /// Its name in it: `sched_switch`.
    pub name: String,
}

impl Tracepoint {
    /// As `perf` and `trace-cmd` write it.
    pub fn path(&self) -> String {
        format!("{}:{}", self.system, self.name)
    }
}

/// A tracepoint that is wanted, and what is missing without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The tracepoint.
    pub tracepoint: Tracepoint,
    /// What it tells.
    pub kind: EventKind,
}

impl Wanted {
    /// Everything that is understood but the CPU's vectors, which differ between machines.
    pub fn all() -> Vec<Self> {
        use EventKind as Kind;
        [
            ("sched", "sched_switch", Kind::Switch),
            ("sched", "sched_waking", Kind::Waking),
            ("sched", "sched_wakeup", Kind::WakeUp),
            ("sched", "sched_wakeup_new", Kind::WakeUp),
            ("sched", "sched_migrate_task", Kind::Migrate),
            ("irq", "irq_handler_entry", Kind::DeviceInterrupt),
            ("irq", "irq_handler_exit", Kind::DeviceInterrupt),
            ("irq", "softirq_raise", Kind::SoftIrqRaise),
            ("irq", "softirq_entry", Kind::SoftIrq),
            ("irq", "softirq_exit", Kind::SoftIrq),
            ("timer", "hrtimer_start", Kind::TimerStart),
            ("timer", "hrtimer_expire_entry", Kind::TimerExpiry),
            ("timer", "hrtimer_expire_exit", Kind::TimerExpiry),
            ("ipi", "ipi_send_cpu", Kind::IpiSend),
            ("ipi", "ipi_send_cpumask", Kind::IpiSend),
            ("power", "cpu_idle", Kind::Idle),
            ("power", "cpu_frequency", Kind::Frequency),
            ("exceptions", "page_fault_user", Kind::PageFault),
            ("exceptions", "page_fault_kernel", Kind::PageFault),
        ]
        .map(|(system, name, kind)| Self {
            tracepoint: Tracepoint {
                system,
                name: name.into(),
            },
            kind,
        })
        .into()
    }

    /// A vector of an x86 CPU, from the name of its `irq_vectors` event.
    pub fn vector(name: &str) -> Option<Self> {
        let vector = name
            .strip_suffix("_entry")
            .or_else(|| name.strip_suffix("_exit"))?;
        let kind = match vector {
            "local_timer" => EventKind::LocalTimer,
            _ => EventKind::Vector,
        };
        Some(Self {
            tracepoint: Tracepoint {
                system: "irq_vectors",
                name: name.into(),
            },
            kind,
        })
    }
}

/// How the records of one tracepoint are read.
#[derive(Debug, Clone)]
enum Reading {
    Switch {
        previous: ThreadFields,
        state: Field,
        next: ThreadFields,
    },
    Waking {
        thread: ThreadFields,
        target: Field,
        is_waking: bool,
    },
    Migrate {
        thread: ThreadFields,
        from: Field,
        to: Field,
    },
    DeviceEntry {
        number: Field,
        name: Field,
    },
    DeviceExit {
        number: Field,
    },
    SoftIrq {
        vector: Field,
        what: fn(SoftIrq) -> What,
    },
    Vector {
        interrupt: Interrupt,
        entry: bool,
    },
    TimerStart {
        timer: Field,
        function: Field,
        expires: Field,
        soft_expires: Field,
        mode: Option<Field>,
    },
    ExpiryEntry {
        timer: Field,
        function: Field,
    },
    ExpiryExit {
        timer: Field,
    },
    IpiCpu {
        cpu: Field,
        callback: Field,
    },
    IpiMask {
        mask: Field,
        callback: Field,
    },
    Idle {
        state: Field,
    },
    Frequency {
        khz: Field,
        cpu: Field,
    },
    PageFault {
        user: bool,
    },
}

#[derive(Debug, Clone, Copy)]
struct ThreadFields {
    name: Field,
    id: Field,
    priority: Field,
}

/// Bits of `prev_state`, as this kernel prints them.
#[derive(Debug, Clone, Copy, Default)]
struct StateBits {
    sleeping: u64,
    stopped: u64,
    dead: u64,
    /// Preempted: the thread could have run on, whatever else is set.
    preempted: u64,
}

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

    /// Teaches it a tracepoint by its `format` file.
    ///
    /// # Errors
    /// [`FormatError`] where the format lacks what is needed; the event is of no use then.
    pub fn learn(&mut self, tracepoint: &Tracepoint, format: &str) -> Result<(), FormatError> {
        let format = EventFormat::parse(format)?;
        let current = format.field("common_pid")?;
        let reading = reading(tracepoint, &format)?;
        if let Reading::Switch { .. } = reading {
            self.states = state_bits(&format);
        }
        self.readings.insert(format.id, (current, reading));
        Ok(())
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
                give(match is_waking {
                    true => What::Waking { thread, target_cpu },
                    false => What::WakeUp { thread, target_cpu },
                });
            }
            Reading::Migrate { thread, from, to } => give(What::Migrate {
                thread: thread.thread(bytes)?,
                from_cpu: narrow(from)?,
                to_cpu: narrow(to)?,
            }),
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
            Reading::Vector { interrupt, entry } => give(match entry {
                true => What::InterruptEntry(interrupt.clone()),
                false => What::InterruptExit(interrupt.clone()),
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
                    soft: match self.preempt_rt {
                        true => mode & MODE_HARD == 0,
                        false => mode & MODE_SOFT != 0,
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
            Reading::PageFault { user } => give(What::PageFault { user: *user }),
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
        let text: Arc<str> = String::from_utf8_lossy(bytes).into();
        self.texts.insert(bytes.to_owned(), Arc::clone(&text));
        text
    }
}

impl ThreadFields {
    fn of(format: &EventFormat, prefix: &str) -> Result<Self, FormatError> {
        Ok(Self {
            name: format.field(&format!("{prefix}comm"))?,
            id: format.field(&format!("{prefix}pid"))?,
            priority: format.field(&format!("{prefix}prio"))?,
        })
    }

    fn thread(&self, record: &[u8]) -> Option<Thread> {
        Some(Thread {
            id: u32::try_from(self.id.number(record)?).ok()?,
            name: ThreadName::new(self.name.bytes(record)?),
            priority: i32::try_from(self.priority.number(record)?).ok()?,
        })
    }
}

impl StateBits {
    fn left(&self, state: u64) -> Left {
        let bits = state & (self.preempted | self.preempted.wrapping_sub(1));
        match bits {
            0 => Left::Runnable,
            bits if bits & self.preempted != 0 => Left::Runnable,
            bits if bits & self.dead != 0 => Left::Dead,
            bits if bits & self.stopped != 0 => Left::Stopped,
            bits if bits & self.sleeping != 0 => Left::Sleeping,
            _ => Left::Blocked,
        }
    }
}

/// The letters are those of `/proc/PID/stat`. I is a kernel thread without work: it sleeps.
fn state_bits(format: &EventFormat) -> StateBits {
    let names = format.printed_names();
    let of = |letters: &[&str]| {
        let mine = names
            .iter()
            .filter(|(_, name)| letters.contains(&name.as_str()));
        mine.fold(0, |bits, (bit, _)| bits | bit)
    };
    StateBits {
        sleeping: of(&["S", "I"]),
        stopped: of(&["T", "t"]),
        dead: of(&["X", "Z"]),
        // `TASK_REPORT_MAX`: the bit above all that have a letter.
        preempted: names.iter().map(|(bit, _)| bit << 1).max().unwrap_or(0),
    }
}

fn reading(tracepoint: &Tracepoint, format: &EventFormat) -> Result<Reading, FormatError> {
    let field = |name: &str| format.field(name);
    Ok(match tracepoint.name.as_str() {
        "sched_switch" => Reading::Switch {
            previous: ThreadFields::of(format, "prev_")?,
            state: field("prev_state")?,
            next: ThreadFields::of(format, "next_")?,
        },
        name @ ("sched_waking" | "sched_wakeup" | "sched_wakeup_new") => Reading::Waking {
            thread: ThreadFields::of(format, "")?,
            target: field("target_cpu")?,
            is_waking: name == "sched_waking",
        },
        "sched_migrate_task" => Reading::Migrate {
            thread: ThreadFields::of(format, "")?,
            from: field("orig_cpu")?,
            to: field("dest_cpu")?,
        },
        "irq_handler_entry" => Reading::DeviceEntry {
            number: field("irq")?,
            name: field("name")?,
        },
        "irq_handler_exit" => Reading::DeviceExit {
            number: field("irq")?,
        },
        "softirq_raise" => Reading::SoftIrq {
            vector: field("vec")?,
            what: What::SoftIrqRaise,
        },
        "softirq_entry" => Reading::SoftIrq {
            vector: field("vec")?,
            what: What::SoftIrqEntry,
        },
        "softirq_exit" => Reading::SoftIrq {
            vector: field("vec")?,
            what: What::SoftIrqExit,
        },
        "hrtimer_start" => Reading::TimerStart {
            timer: field("hrtimer")?,
            function: field("function")?,
            expires: field("expires")?,
            soft_expires: field("softexpires")?,
            mode: field("mode").ok(),
        },
        "hrtimer_expire_entry" => Reading::ExpiryEntry {
            timer: field("hrtimer")?,
            function: field("function")?,
        },
        "hrtimer_expire_exit" => Reading::ExpiryExit {
            timer: field("hrtimer")?,
        },
        "ipi_send_cpu" => Reading::IpiCpu {
            cpu: field("cpu")?,
            callback: field("callback")?,
        },
        "ipi_send_cpumask" => Reading::IpiMask {
            mask: field("cpumask")?,
            callback: field("callback")?,
        },
        "cpu_idle" => Reading::Idle {
            state: field("state")?,
        },
        "cpu_frequency" => Reading::Frequency {
            khz: field("state")?,
            cpu: field("cpu_id")?,
        },
        "page_fault_user" => Reading::PageFault { user: true },
        "page_fault_kernel" => Reading::PageFault { user: false },
        name if tracepoint.system == "irq_vectors" => {
            let (vector, entry) = match (name.strip_suffix("_entry"), name.strip_suffix("_exit")) {
                (Some(vector), _) => (vector, true),
                (_, Some(vector)) => (vector, false),
                _ => return Err(FormatError("is of no vector's entry or exit".into())),
            };
            Reading::Vector {
                interrupt: match vector {
                    "local_timer" => Interrupt::LocalTimer,
                    "reschedule" => Interrupt::Reschedule,
                    "call_function" | "call_function_single" => Interrupt::CallFunction,
                    "irq_work" => Interrupt::IrqWork,
                    other => Interrupt::Vector(other.into()),
                },
                entry,
            }
        }
        _ => return Err(FormatError("belongs to no event that is understood".into())),
    })
}
