//! Which tracepoints are wanted, and what is missing without each.

use std::borrow::Cow;
use wakepath_archive::EventKind;

/// A tracepoint that is understood.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tracepoint {
    /// The kernel's subsystem: `sched`.
    pub system: Cow<'static, str>,
    /// Its name in it: `sched_switch`.
    pub name: String,
}

impl Tracepoint {
    /// As `perf` and `trace-cmd` write it.
    pub fn path(&self) -> String {
        format!("{}:{}", self.system, self.name)
    }

    /// Its directory in tracefs or in an instance.
    pub fn place(&self) -> String {
        format!("events/{}/{}", self.system, self.name)
    }
}

/// A tracepoint that is wanted, and what is missing without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The tracepoint.
    pub tracepoint: Tracepoint,
    /// Its meaning.
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
            ("sched", "sched_pi_setprio", Kind::Inherits),
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
                system: system.into(),
                name: name.into(),
            },
            kind,
        })
        .into()
    }

    /// System calls: wanted of a watched program's threads alone, since each costs two events.
    pub fn calls() -> [Self; 2] {
        ["sys_enter", "sys_exit"].map(|name| Self {
            tracepoint: Tracepoint {
                system: "raw_syscalls".into(),
                name: name.into(),
            },
            kind: EventKind::SystemCall,
        })
    }

    /// Mapped pages, which end page faults: wanted of the same threads. Before Linux 6.2 most leave no event.
    pub fn mapped_pages() -> Self {
        Self {
            tracepoint: Tracepoint {
                system: "kmem".into(),
                name: "rss_stat".into(),
            },
            kind: EventKind::PageFault,
        }
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
                system: "irq_vectors".into(),
                name: name.into(),
            },
            kind,
        })
    }
}
