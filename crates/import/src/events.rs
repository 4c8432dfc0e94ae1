//! Events of the kernel by name and fields, whichever tool wrote them as text or as a trace of LTTng:
//! one table. Records in the kernel's own layout are the probe's to read.

use std::collections::BTreeMap;
use std::sync::Arc;
use wakepath_timeline::{Interrupt, Left, SoftIrq, Thread, ThreadName, What};

/// `PWR_EVENT_EXIT`: the state that `cpu_idle` gives at the end of an idle state.
const IDLE_ENDS: i128 = u32::MAX as i128;
/// `HRTIMER_MODE_SOFT` of the kernel's `include/linux/hrtimer.h`.
const MODE_SOFT: i128 = 0x04;

/// An event's fields.
pub(crate) trait Fields {
    /// A whole number.
    fn number(&self, name: &str) -> Option<i128>;
    /// A number that is an address.
    fn address(&self, name: &str) -> Option<u64>;
    /// Text: a thread's name, an interrupt's, a function's.
    fn text(&self, name: &str) -> Option<&str>;
    /// How a thread left its CPU.
    fn left(&self, name: &str) -> Option<Left>;
}

/// Kinds of events.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Read {
    /// One or several things that happened, on the CPU of the event or another.
    Happened(Vec<(Option<u16>, What)>),
    /// An event that is of no use here.
    Useless,
    /// An event of use whose fields are not as the kernel writes them.
    Broken,
}

/// Reads events, and remembers names.
#[derive(Debug, Default)]
pub(crate) struct Table {
    devices: BTreeMap<i128, Arc<str>>,
    names: BTreeMap<String, Arc<str>>,
}

impl Table {
    /// Reads one event. `name` is the kernel's; LTTng's has the system before it.
    pub(crate) fn read(&mut self, name: &str, fields: &impl Fields) -> Read {
        if !is_of_use(name) {
            return Read::Useless;
        }
        match self.what(name, fields) {
            Some(happened) => Read::Happened(happened),
            None => Read::Broken,
        }
    }

    fn what(&mut self, name: &str, fields: &impl Fields) -> Option<Vec<(Option<u16>, What)>> {
        let soft_irq = || Some(SoftIrq(u8::try_from(fields.number("vec")?).ok()?));
        let cpu = |name: &str| u16::try_from(fields.number(name)?).ok();
        let here = |what| Some(vec![(None, what)]);
        here(match name {
            "sched_switch" => What::Switch {
                previous: thread(fields, "prev_")?,
                left: fields.left("prev_state")?,
                next: thread(fields, "next_")?,
            },
            "sched_waking" => What::Waking {
                thread: thread(fields, "")?,
                target_cpu: cpu("target_cpu")?,
            },
            "sched_wakeup" | "sched_wakeup_new" => What::WakeUp {
                thread: thread(fields, "")?,
                target_cpu: cpu("target_cpu")?,
            },
            "sched_migrate_task" => What::Migrate {
                thread: thread(fields, "")?,
                from_cpu: cpu("orig_cpu")?,
                to_cpu: cpu("dest_cpu")?,
            },
            "sched_pi_setprio" => What::Inherits {
                thread: u32::try_from(fields.number("pid")?).ok()?,
                before: i32::try_from(fields.number("oldprio")?).ok()?,
                priority: i32::try_from(fields.number("newprio")?).ok()?,
            },
            "irq_handler_entry" => {
                let number = fields.number("irq")?;
                let action = self.name(fields.text("name")?);
                self.devices.insert(number, Arc::clone(&action));
                What::InterruptEntry(device(number, action)?)
            }
            "irq_handler_exit" => {
                let number = fields.number("irq")?;
                // The kernel names the action at its beginning only.
                let action = self.devices.get(&number).cloned();
                What::InterruptExit(device(number, action.unwrap_or_else(|| "".into()))?)
            }
            "softirq_raise" => What::SoftIrqRaise(soft_irq()?),
            "softirq_entry" => What::SoftIrqEntry(soft_irq()?),
            "softirq_exit" => What::SoftIrqExit(soft_irq()?),
            "hrtimer_start" => What::TimerStart {
                timer: fields.address("hrtimer")?,
                function: self.function(fields)?,
                expires_ns: u64::try_from(fields.number("expires")?).ok()?,
                soft_expires_ns: u64::try_from(fields.number("softexpires")?).ok()?,
                soft: match fields.number("mode") {
                    Some(mode) => mode & MODE_SOFT != 0,
                    None => fields
                        .text("mode")
                        .is_some_and(|mode| mode.contains("SOFT")),
                },
            },
            "hrtimer_expire_entry" => What::TimerExpiryEntry {
                timer: fields.address("hrtimer")?,
                function: self.function(fields)?,
            },
            "hrtimer_expire_exit" => What::TimerExpiryExit {
                timer: fields.address("hrtimer")?,
            },
            "cpu_idle" => match fields.number("state")? {
                IDLE_ENDS | -1 => What::IdleExit,
                state => What::IdleEntry {
                    state: u32::try_from(state).ok()?,
                },
            },
            "cpu_frequency" => {
                let khz = u32::try_from(fields.number("state")?).ok()?;
                // The frequency is of the CPU that is named, not of the one that set it.
                return Some(vec![(Some(cpu("cpu_id")?), What::Frequency { khz })]);
            }
            "page_fault_user" => What::PageFault {
                user: true,
                copies: false,
            },
            "page_fault_kernel" => What::PageFault {
                user: false,
                copies: false,
            },
            "ipi_send_cpu" => What::IpiSend {
                target_cpu: Some(cpu("cpu")?),
                callback: self.callback(fields),
            },
            "ipi_send_cpumask" => {
                let callback = self.callback(fields);
                let all = targets(fields.text("cpumask")?)?;
                let sent = all.into_iter().map(|target| {
                    let callback = Arc::clone(&callback);
                    let target_cpu = Some(target);
                    (
                        None,
                        What::IpiSend {
                            target_cpu,
                            callback,
                        },
                    )
                });
                return Some(sent.collect());
            }
            other => {
                fields.number("vector")?;
                match (other.strip_suffix("_entry"), other.strip_suffix("_exit")) {
                    (Some(vector), _) => What::InterruptEntry(self.vector(vector)),
                    (_, Some(vector)) => What::InterruptExit(self.vector(vector)),
                    _ => return None,
                }
            }
        })
    }

    fn vector(&mut self, name: &str) -> Interrupt {
        match name {
            "local_timer" => Interrupt::LocalTimer,
            "reschedule" => Interrupt::Reschedule,
            "call_function" | "call_function_single" => Interrupt::CallFunction,
            "irq_work" => Interrupt::IrqWork,
            other => Interrupt::Vector(self.name(other)),
        }
    }

    /// A function by its name, or by its address if there is no name.
    fn function(&mut self, fields: &impl Fields) -> Option<Arc<str>> {
        match fields.text("function") {
            // In trace-cmd's text the offset follows, in newer kernels' the module.
            Some(name) => Some(self.name(name.split(['/', '+']).next().unwrap_or(name))),
            None => {
                let address = format!("{:#x}", fields.address("function")?);
                Some(self.name(&address))
            }
        }
    }

    fn callback(&mut self, fields: &impl Fields) -> Arc<str> {
        let name = fields.text("callback").unwrap_or("");
        let name = name.split(['/', '+']).next().unwrap_or(name);
        match name {
            // An interrupt that only asks for a reschedule has none.
            "0x0" | "(nil)" | "(null)" => self.name(""),
            name => self.name(name),
        }
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return Arc::clone(known);
        }
        let known: Arc<str> = name.into();
        self.names.insert(name.to_owned(), Arc::clone(&known));
        known
    }
}

/// x86's vectors that are recorded, by the names of their events.
const VECTORS: [&str; 13] = [
    "local_timer",
    "reschedule",
    "call_function",
    "call_function_single",
    "irq_work",
    "error_apic",
    "spurious_apic",
    "thermal_apic",
    "threshold_apic",
    "deferred_error_apic",
    "x86_platform_ipi",
    "apic_timer",
    "hyperv_stimer0",
];

/// Whether an event of this name is in the table.
pub(crate) fn is_of_use(name: &str) -> bool {
    let vector = name.strip_suffix("_entry").or(name.strip_suffix("_exit"));
    vector.is_some_and(|vector| VECTORS.contains(&vector))
        || matches!(
            name,
            "sched_switch"
                | "sched_waking"
                | "sched_wakeup"
                | "sched_wakeup_new"
                | "sched_migrate_task"
                | "irq_handler_entry"
                | "irq_handler_exit"
                | "softirq_raise"
                | "softirq_entry"
                | "softirq_exit"
                | "hrtimer_start"
                | "hrtimer_expire_entry"
                | "hrtimer_expire_exit"
                | "cpu_idle"
                | "cpu_frequency"
                | "page_fault_user"
                | "page_fault_kernel"
                | "ipi_send_cpu"
                | "ipi_send_cpumask"
        )
}

fn thread(fields: &impl Fields, prefix: &str) -> Option<Thread> {
    let number = |name: &str| fields.number(&format!("{prefix}{name}"));
    Some(Thread {
        // LTTng says tid.
        id: u32::try_from(number("pid").or_else(|| number("tid"))?).ok()?,
        name: ThreadName::new(fields.text(&format!("{prefix}comm"))?.as_bytes()),
        priority: i32::try_from(number("prio")?).ok()?,
    })
}

fn device(number: i128, name: Arc<str>) -> Option<Interrupt> {
    let number = u32::try_from(number).ok()?;
    Some(Interrupt::Device { number, name })
}

/// How a thread left, by the letters of `/proc/PID/stat`; `+` means preempted.
pub(crate) fn left_of_letters(state: &str) -> Left {
    match state {
        _ if state.contains('+') => Left::Runnable,
        "R" | "" => Left::Runnable,
        _ if state.contains(['X', 'Z', 'x']) => Left::Dead,
        _ if state.contains(['T', 't']) => Left::Stopped,
        _ if state.contains(['S', 'I']) => Left::Sleeping,
        _ => Left::Blocked,
    }
}

/// How a thread left, by the kernel's bits (`TASK_INTERRUPTIBLE` …, `include/linux/sched.h`), of which
/// the lowest are the same in all versions.
pub(crate) fn left_of_bits(state: i128) -> Left {
    match state & 0xff {
        0 => Left::Runnable,
        bits if bits & 0x1 != 0 => Left::Sleeping,
        // An idle kernel thread has `TASK_NOLOAD` as well: it sleeps.
        bits if bits & 0x2 != 0 && state & 0x400 != 0 => Left::Sleeping,
        bits if bits & 0x2 != 0 => Left::Blocked,
        bits if bits & 0xc != 0 => Left::Stopped,
        bits if bits & 0x30 != 0 => Left::Dead,
        _ => Left::Blocked,
    }
}

/// CPUs of a mask as the kernel prints it: words of hexadecimal digits, the highest first.
fn targets(mask: &str) -> Option<Vec<u16>> {
    let digits: Vec<u8> = mask.bytes().rev().filter(|byte| *byte != b',').collect();
    let mut cpus = Vec::new();
    for (place, digit) in (0_u16..).zip(digits.into_iter().take(1 << 11)) {
        let bits = char::from(digit).to_digit(16)?;
        cpus.extend(
            (0..4)
                .filter(|bit| bits >> bit & 1 == 1)
                .map(|bit| place * 4 + bit),
        );
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_states_are_read_as_the_kernel_prints_them() {
        assert_eq!(targets("00000000,00000006"), Some(vec![1, 2]));
        assert_eq!(targets("1,00000000"), Some(vec![32]));
        assert_eq!(targets("0-3"), None);
        let letters = ["R", "R+", "S", "D", "I", "Z", "T", "D|K", "S|R+"].map(left_of_letters);
        use Left::{Blocked, Dead, Runnable, Sleeping, Stopped};
        assert_eq!(
            letters,
            [
                Runnable, Runnable, Sleeping, Blocked, Sleeping, Dead, Stopped, Blocked, Runnable
            ]
        );
        let bits = [0, 0x100, 0x1, 0x2, 0x402, 0x10, 0x8].map(left_of_bits);
        assert_eq!(
            bits,
            [
                Runnable, Runnable, Sleeping, Blocked, Sleeping, Dead, Stopped
            ]
        );
    }
}
