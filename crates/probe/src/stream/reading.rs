//! How the records of one tracepoint are read: which field means what.

use std::sync::Arc;
use wakepath_timeline::{Interrupt, SoftIrq, Thread, ThreadName, What};

use super::format::{EventFormat, Field, FormatError};
use super::wanted::Tracepoint;

/// How the records of one tracepoint are read.
#[derive(Debug, Clone)]
pub(super) enum Reading {
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
    Inherits {
        thread: Field,
        before: Field,
        priority: Field,
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
        error: Option<Field>,
    },
    PageMapped {
        /// Whether it is of the current thread's own memory.
        is_own: Field,
    },
    Mark {
        number: u16,
    },
    Call {
        function: Arc<str>,
        numbers: Vec<Field>,
        texts: Vec<Field>,
    },
    SystemCallEntry {
        number: Field,
        first: Field,
    },
    SystemCallExit,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadFields {
    name: Field,
    id: Field,
    priority: Field,
}

impl ThreadFields {
    fn new(format: &EventFormat, prefix: &str) -> Result<Self, FormatError> {
        Ok(Self {
            name: format.field(&format!("{prefix}comm"))?,
            id: format.field(&format!("{prefix}pid"))?,
            priority: format.field(&format!("{prefix}prio"))?,
        })
    }

    pub(super) fn thread(&self, record: &[u8]) -> Option<Thread> {
        Some(Thread {
            id: u32::try_from(self.id.number(record)?).ok()?,
            name: ThreadName::new(self.name.bytes(record)?),
            priority: i32::try_from(self.priority.number(record)?).ok()?,
        })
    }
}

impl Reading {
    /// The reading of a tracepoint with this format.
    pub(super) fn new(tracepoint: &Tracepoint, format: &EventFormat) -> Result<Self, FormatError> {
        let field = |name: &str| format.field(name);
        Ok(match tracepoint.name.as_str() {
            "sched_switch" => Self::Switch {
                previous: ThreadFields::new(format, "prev_")?,
                state: field("prev_state")?,
                next: ThreadFields::new(format, "next_")?,
            },
            name @ ("sched_waking" | "sched_wakeup" | "sched_wakeup_new") => Self::Waking {
                thread: ThreadFields::new(format, "")?,
                target: field("target_cpu")?,
                is_waking: name == "sched_waking",
            },
            "sched_migrate_task" => Self::Migrate {
                thread: ThreadFields::new(format, "")?,
                from: field("orig_cpu")?,
                to: field("dest_cpu")?,
            },
            "sched_pi_setprio" => Self::Inherits {
                thread: field("pid")?,
                before: field("oldprio")?,
                priority: field("newprio")?,
            },
            "irq_handler_entry" => Self::DeviceEntry {
                number: field("irq")?,
                name: field("name")?,
            },
            "irq_handler_exit" => Self::DeviceExit {
                number: field("irq")?,
            },
            "softirq_raise" => Self::SoftIrq {
                vector: field("vec")?,
                what: What::SoftIrqRaise,
            },
            "softirq_entry" => Self::SoftIrq {
                vector: field("vec")?,
                what: What::SoftIrqEntry,
            },
            "softirq_exit" => Self::SoftIrq {
                vector: field("vec")?,
                what: What::SoftIrqExit,
            },
            "hrtimer_start" => Self::TimerStart {
                timer: field("hrtimer")?,
                function: field("function")?,
                expires: field("expires")?,
                soft_expires: field("softexpires")?,
                mode: field("mode").ok(),
            },
            "hrtimer_expire_entry" => Self::ExpiryEntry {
                timer: field("hrtimer")?,
                function: field("function")?,
            },
            "hrtimer_expire_exit" => Self::ExpiryExit {
                timer: field("hrtimer")?,
            },
            "ipi_send_cpu" => Self::IpiCpu {
                cpu: field("cpu")?,
                callback: field("callback")?,
            },
            "ipi_send_cpumask" => Self::IpiMask {
                mask: field("cpumask")?,
                callback: field("callback")?,
            },
            "cpu_idle" => Self::Idle {
                state: field("state")?,
            },
            "cpu_frequency" => Self::Frequency {
                khz: field("state")?,
                cpu: field("cpu_id")?,
            },
            "page_fault_user" | "page_fault_kernel" => Self::PageFault {
                user: tracepoint.name == "page_fault_user",
                error: field("error_code").ok(),
            },
            "rss_stat" => Self::PageMapped {
                is_own: field("curr")?,
            },
            "sys_enter" => Self::SystemCallEntry {
                number: field("id")?,
                first: first_of(field("args")?, field("id")?),
            },
            "sys_exit" => Self::SystemCallExit,
            name if tracepoint.system == "irq_vectors" => {
                let (vector, entry) =
                    match (name.strip_suffix("_entry"), name.strip_suffix("_exit")) {
                        (Some(vector), _) => (vector, true),
                        (_, Some(vector)) => (vector, false),
                        _ => return Err(FormatError("is of no vector's entry or exit".into())),
                    };
                Self::Vector {
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
            name if name.starts_with("mark_") => Self::Mark {
                number: name
                    .split('_')
                    .nth(1)
                    .and_then(|number| number.parse().ok())
                    .ok_or_else(|| FormatError("is of a mark without a number".into()))?,
            },
            name if name.starts_with("call_") => Self::Call {
                function: name
                    .splitn(3, '_')
                    .nth(2)
                    .ok_or_else(|| FormatError("is of a call without a name".into()))?
                    .into(),
                numbers: fields(format, 'n'),
                texts: fields(format, 't'),
            },
            _ => return Err(FormatError("belongs to no event that is understood".into())),
        })
    }
}

/// The fields `n0`, `n1` … of a format, as far as they go.
fn fields(format: &EventFormat, letter: char) -> Vec<Field> {
    let found = (0..).map(|number| format.field(&format!("{letter}{number}")));
    found.map_while(Result::ok).collect()
}

/// The first of a call's arguments, each of which is a `long` as its number is.
fn first_of(arguments: Field, number: Field) -> Field {
    Field {
        size: number.size,
        ..arguments
    }
}
