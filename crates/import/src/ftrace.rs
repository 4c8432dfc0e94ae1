//! ftrace's text, as the kernel's file `trace` has it: a line for each event, with microseconds.

use crate::form::{self, Fit};
use crate::kernel_events::{MOST_EVENTS, Recording, imported};
use crate::{Asked, Form, ImportError, Imported, Use};
use std::collections::BTreeMap;
use std::sync::Arc;
use wakepath_timeline::{Interrupt, KernelEvent, Lack, Left, SoftIrq, Thread, ThreadName, What};

const NEEDED: &str = "the events sched_waking and sched_switch, and best hrtimer_start and \
                      hrtimer_expire_entry too";
/// Timers' expiries told on the events' own clock are no further from their event.
const SAME_CLOCK_NS: u64 = 1_000_000;

pub(crate) const FORM: Form = Form {
    word: "ftrace",
    written_by: "cat /sys/kernel/tracing/trace",
    uses: &[Use::Threads],
    reader: form::Reader::Text(fits, read),
};

fn fits(text: &str) -> Fit {
    Fit::certain_if(text.lines().any(|line| line.starts_with("# tracer: ")))
}

pub(crate) fn read(text: &str, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(text.lines()) {
        reader
            .line(line)
            .map_err(|why| ImportError::at(number, why.to_string()))?;
    }
    if reader.events.is_empty() {
        let why = format!("holds no event that is understood: record {NEEDED}");
        return Err(ImportError::whole(why));
    }
    let needed = NEEDED;
    imported(
        Recording {
            tool: "ftrace",
            tool_version: None,
            kernel: None,
            lost: reader.lost,
            needed,
            has_timers_clock: reader.clock_differs_ns.is_some_and(|ns| ns < SAME_CLOCK_NS),
            events: reader.events,
            lacks: vec![Lack::BelowMicroseconds],
        },
        asked,
    )
}

/// Why a line is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Wrong {
    #[error("no line of ftrace: `task-pid [cpu] flags seconds: event: fields`")]
    Line,
    #[error("its instant is no number of seconds: record with trace_clock local, global or mono")]
    Clock,
    #[error("the event's fields are not as the kernel writes them")]
    Fields,
    #[error("more than {MOST_EVENTS} events: import a part of it")]
    TooMany,
}

#[derive(Default)]
struct Reader {
    events: Vec<KernelEvent>,
    lost: u64,
    /// How far the clock of timers is from that of the events, at least.
    clock_differs_ns: Option<u64>,
    devices: BTreeMap<u32, Arc<str>>,
    names: BTreeMap<String, Arc<str>>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), Wrong> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if let Some(lost) = line.strip_prefix("CPU:") {
            return self.lost(lost).ok_or(Wrong::Line);
        }
        let Head {
            current,
            cpu,
            at_ns,
            event,
            fields,
        } = head(line)?;
        if self.events.len() >= MOST_EVENTS {
            return Err(Wrong::TooMany);
        }
        let fields = Fields(fields);
        if event == "hrtimer_expire_entry" {
            let now: u64 = fields.number("now=").ok_or(Wrong::Fields)?;
            let apart = now.abs_diff(at_ns);
            self.clock_differs_ns = Some(self.clock_differs_ns.map_or(apart, |ns| ns.min(apart)));
        }
        if let Some(what) = self.what(event, fields).ok_or(Wrong::Fields)? {
            // The frequency is of the CPU that is named, not of the one that set it.
            let cpu = match what {
                What::Frequency { .. } => fields.number("cpu_id=").ok_or(Wrong::Fields)?,
                _ => cpu,
            };
            self.events.push(KernelEvent {
                at_ns,
                cpu,
                current,
                what,
            });
        }
        Ok(())
    }

    /// `CPU:1 [LOST 123 EVENTS]`, or `[LOST EVENTS]` where the kernel does not know how many.
    fn lost(&mut self, rest: &str) -> Option<()> {
        let (cpu, rest) = rest.split_once(' ')?;
        let _: u16 = cpu.parse().ok()?;
        let told = rest.trim().strip_prefix("[LOST")?.strip_suffix("EVENTS]")?;
        let count = match told.trim() {
            "" => 1,
            told => told.parse::<u64>().ok()?,
        };
        self.lost = self.lost.saturating_add(count.max(1));
        Some(())
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        // trace-cmd's text has the offset behind it, newer kernels the module.
        let name = name.split(['/', '+']).next().unwrap_or(name);
        let known = self.names.entry(name.to_owned());
        Arc::clone(known.or_insert_with(|| name.into()))
    }

    /// What an event says; `Some(None)` for one that is of no use here.
    fn what(&mut self, event: &str, fields: Fields<'_>) -> Option<Option<What>> {
        let soft_irq = || fields.number("vec=").map(SoftIrq);
        let timer = || fields.hexadecimal("hrtimer=");
        Some(Some(match event {
            "sched_switch" => switch(fields.0)?,
            "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => {
                let thread = fields.thread("comm=", " pid=", " prio=")?;
                let target_cpu = fields.number("target_cpu=")?;
                match event {
                    "sched_waking" => What::Waking { thread, target_cpu },
                    _ => What::WakeUp { thread, target_cpu },
                }
            }
            "sched_migrate_task" => What::Migrate {
                thread: fields.thread("comm=", " pid=", " prio=")?,
                from_cpu: fields.number("orig_cpu=")?,
                to_cpu: fields.number("dest_cpu=")?,
            },
            "irq_handler_entry" => {
                let number = fields.number("irq=")?;
                let name: Arc<str> = fields.0.split_once("name=")?.1.into();
                self.devices.insert(number, Arc::clone(&name));
                What::InterruptEntry(Interrupt::Device { number, name })
            }
            "irq_handler_exit" => {
                let number = fields.number("irq=")?;
                let name = self.devices.get(&number).cloned();
                What::InterruptExit(Interrupt::Device {
                    number,
                    name: name.unwrap_or_else(|| "".into()),
                })
            }
            "softirq_raise" => What::SoftIrqRaise(soft_irq()?),
            "softirq_entry" => What::SoftIrqEntry(soft_irq()?),
            "softirq_exit" => What::SoftIrqExit(soft_irq()?),
            "hrtimer_start" => What::TimerStart {
                timer: timer()?,
                function: self.name(fields.word("function=")?),
                expires_ns: fields.number("expires=")?,
                soft_expires_ns: fields.number("softexpires=")?,
                soft: fields
                    .word("mode=")
                    .is_some_and(|mode| mode.contains("SOFT")),
            },
            "hrtimer_expire_entry" => What::TimerExpiryEntry {
                timer: timer()?,
                function: self.name(fields.word("function=")?),
            },
            "hrtimer_expire_exit" => What::TimerExpiryExit { timer: timer()? },
            "cpu_idle" => match fields.number::<u32>("state=")? {
                u32::MAX => What::IdleExit,
                state => What::IdleEntry { state },
            },
            "cpu_frequency" => What::Frequency {
                khz: fields.number("state=")?,
            },
            "page_fault_user" => What::PageFault { user: true },
            "page_fault_kernel" => What::PageFault { user: false },
            other if fields.0.starts_with("vector=") => {
                let ending = |ending| other.strip_suffix(ending);
                match (ending("_entry"), ending("_exit")) {
                    (Some(vector), _) => What::InterruptEntry(self.vector(vector)),
                    (_, Some(vector)) => What::InterruptExit(self.vector(vector)),
                    _ => return Some(None),
                }
            }
            _ => return Some(None),
        }))
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
}

/// What stands before an event's fields.
struct Head<'a> {
    current: u32,
    cpu: u16,
    at_ns: u64,
    event: &'a str,
    fields: &'a str,
}

/// A thread's name may hold anything: the CPU's brackets are the first that stand behind a number
/// and before an instant.
fn head(line: &str) -> Result<Head<'_>, Wrong> {
    let mut clock = false;
    for (at, _) in line.match_indices(" [") {
        let found = head_at(line, at, &mut clock);
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(if clock { Wrong::Clock } else { Wrong::Line })
}

fn head_at<'a>(line: &'a str, at: usize, clock: &mut bool) -> Option<Head<'a>> {
    let mut before = line[..at].trim_end();
    // The process, with the option record-tgid: `(  812)`.
    if let Some((rest, group)) = before.rsplit_once('(')
        && group.ends_with(')')
    {
        before = rest.trim_end();
    }
    let current = before.rsplit_once('-')?.1.parse().ok()?;
    let (cpu, rest) = line[at + 2..].split_once(']')?;
    let cpu = cpu.parse().ok()?;
    // Flags stand there unless they are switched off.
    let mut words = rest.split_whitespace();
    let instant = words.by_ref().take(2).find(|word| word.ends_with(':'))?;
    let (_, after) = rest.split_once(instant)?;
    let instant = instant.strip_suffix(':')?;
    *clock |= instant.bytes().all(|byte| byte.is_ascii_digit());
    let (seconds, fraction) = instant.split_once('.')?;
    if fraction.is_empty() || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let scale = 10_u64.pow(9 - u32::try_from(fraction.len()).ok()?);
    let below = fraction.parse::<u64>().ok()?.checked_mul(scale)?;
    let at_ns = seconds.parse::<u64>().ok()?;
    let at_ns = at_ns.checked_mul(1_000_000_000)?.checked_add(below)?;
    let at_ns = Some(at_ns).filter(|ns| i64::try_from(*ns).is_ok())?;
    let (event, fields) = after.trim_start().split_once(':')?;
    Some(Head {
        current,
        cpu,
        at_ns,
        event,
        fields: fields.trim_start(),
    })
}

/// An event's fields as text.
#[derive(Clone, Copy)]
struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    /// What stands behind the last such name: what a thread calls itself comes first.
    fn word(self, name: &str) -> Option<&'a str> {
        let at = self.0.rfind(name)? + name.len();
        self.0[at..].split_whitespace().next()
    }

    fn number<T: std::str::FromStr>(self, name: &str) -> Option<T> {
        self.word(name)?.parse().ok()
    }

    fn hexadecimal(self, name: &str) -> Option<u64> {
        let word = self.word(name)?;
        u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
    }

    fn thread(self, name: &str, id: &str, priority: &str) -> Option<Thread> {
        let (before, after) = self.0.split_at(self.0.rfind(id)?);
        let own = before.split_once(name)?.1;
        let rest = Fields(after);
        Some(Thread {
            id: rest.number(id)?,
            name: ThreadName::new(own.as_bytes()),
            priority: rest.number(priority)?,
        })
    }
}

fn switch(fields: &str) -> Option<What> {
    const ARROW: &str = " ==> next_comm=";
    let arrow = fields.rfind(ARROW)?;
    let (previous, next) = (Fields(&fields[..arrow]), Fields(&fields[arrow + 5..]));
    let state = previous.word("prev_state=")?;
    Some(What::Switch {
        previous: previous.thread("prev_comm=", " prev_pid=", " prev_prio=")?,
        // As /proc/PID/stat has them; `+` stands for preempted.
        left: match state {
            _ if state.contains('+') => Left::Runnable,
            "R" => Left::Runnable,
            _ if state.contains(['X', 'Z']) => Left::Dead,
            _ if state.contains(['T', 't']) => Left::Stopped,
            _ if state.contains(['S', 'I']) => Left::Sleeping,
            _ => Left::Blocked,
        },
        next: next.thread("next_comm=", " next_pid=", " next_prio=")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Result<Vec<KernelEvent>, Wrong> {
        let mut reader = Reader::default();
        reader.line(line)?;
        Ok(reader.events)
    }

    #[test]
    fn a_thread_may_call_itself_what_it_likes() {
        let line = "a [001] b-7-812     (  812) [003] d..2.   12.000345: sched_switch: \
                    prev_comm=a [001] b-7 prev_pid=812 prev_prio=19 prev_state=S ==> \
                    next_comm=x ==> y next_pid=9 next_prio=120";
        let found = one(line).unwrap();
        assert_eq!(
            (found[0].cpu, found[0].current, found[0].at_ns),
            (3, 812, 12_000_345_000)
        );
        let What::Switch {
            previous,
            left,
            next,
        } = &found[0].what
        else {
            panic!("{found:?}");
        };
        assert_eq!(
            (previous.id, previous.priority, *left),
            (812, 19, Left::Sleeping)
        );
        assert_eq!(previous.name, ThreadName::new(b"a [001] b-7"));
        assert_eq!((next.id, next.name), (9, ThreadName::new(b"x ==> y")));
    }

    #[test]
    fn lines_that_are_no_events_are_refused_or_passed_over() {
        assert_eq!(one("# tracer: nop"), Ok(vec![]));
        assert_eq!(one("hello"), Err(Wrong::Line));
        assert_eq!(
            one("a-1 [000] 123456: sched_waking: comm=x"),
            Err(Wrong::Clock)
        );
        assert_eq!(
            one("a-1 [000] 1.5: sched_waking: comm=x"),
            Err(Wrong::Fields)
        );
        assert_eq!(one("a-1 [000] 1.5: bprint: hello"), Ok(vec![]));
        assert_eq!(
            one("a-1 [000] 99999999999999999999.5: x: y"),
            Err(Wrong::Line)
        );
        let mut reader = Reader::default();
        reader.line("CPU:1 [LOST 17 EVENTS]").unwrap();
        reader.line("CPU:1 [LOST EVENTS]").unwrap();
        assert_eq!(reader.lost, 18);
    }
}
