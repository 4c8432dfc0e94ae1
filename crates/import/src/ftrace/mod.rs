//! The kernel's events as text, a line each: the kernel's file `trace`, `trace-cmd report`, `perf script`,
//! and the web pages of systrace. Useless lines are counted and skipped.

mod fields;
mod head;
mod page;

use crate::clock::TimersClock;
use crate::events::{Read, Table};
use crate::form::{self, Fit};
use crate::kernel_events::{MOST_EVENTS, Recording, imported};
use crate::{Asked, Form, ImportError, Imported, Use};
use fields::{Sentence, Text};
use head::NoHead;
pub(crate) use head::{Head, head};
use page::traced;
use std::collections::BTreeMap;
use wakepath_timeline::{KernelEvent, Lack, What};

const NEEDED: &str = "the events sched_waking and sched_switch, and best hrtimer_start and \
                      hrtimer_expire_entry too";
/// Maximum number of kinds of unused events that are counted separately.
const MOST_KINDS: usize = 64;

pub(crate) const FORM: Form = Form {
    word: "ftrace",
    written_by: "cat /sys/kernel/tracing/trace",
    uses: &[Use::Threads],
    reader: form::Reader::Text(fits, read),
};

/// So many lines show whether they are events.
const LINES_TO_KNOW: usize = 200;

fn fits(text: &str) -> Fit {
    let begins = text.trim_start();
    let is_report = begins.starts_with("cpus=") || begins.starts_with("version = ");
    let is_page = text.contains("class=\"trace-data\"") || text.contains("linuxPerfData");
    let tracer = text
        .lines()
        .find_map(|line| line.strip_prefix("# tracer: "));
    let is_kernels = tracer.is_some_and(|tracer| !crate::tracers::has_form(tracer.trim()));
    // The events themselves are the reader's concern: those of use may come much later.
    let mut lines = text.lines().take(LINES_TO_KNOW);
    let events = tracer.is_none() && lines.any(|line| head(line).is_ok_and(is_event));
    Fit::certain_if(is_report || is_page || is_kernels || events)
}

/// Whether an event's name follows the head, and not a measurement of a tracer that has a form.
fn is_event(head: Head<'_>) -> bool {
    let Some((name, _)) = uncounted(head.rest).split_once(':') else {
        return false;
    };
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

/// An event without the count that perf may write before it.
fn uncounted(event: &str) -> &str {
    event
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .trim_start()
}

pub(crate) fn read(text: &str, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let mut reader = Reader::default();
    for (number, line) in traced(text) {
        reader
            .line(&line)
            .map_err(|why| ImportError::at(number, why.to_string()))?;
    }
    reader.finish(asked)
}

/// Why a line is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Wrong {
    #[error("its time is not a number of seconds: record with trace_clock local, global or mono")]
    Clock,
    #[error("the fields of {0} are not in the kernel's form")]
    Fields(String),
    #[error("more than {MOST_EVENTS} events: import a part of the trace")]
    TooMany,
}

#[derive(Default)]
struct Reader {
    table: Table,
    events: Vec<KernelEvent>,
    clock: TimersClock,
    has_nanoseconds: bool,
    /// Events lost before the next one of a CPU.
    lost: BTreeMap<u16, u64>,
    tool: Tool,
    /// Lines that are events of other kinds, and lines that are none.
    others: BTreeMap<String, u64>,
    more_others: u64,
    no_events: u64,
    /// The last line of a file that was cut may end anywhere.
    broken: Option<Wrong>,
}

/// Who wrote the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tool {
    #[default]
    Kernel,
    TraceCmd,
    Perf,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), Wrong> {
        if let Some(wrong) = self.broken.take() {
            return Err(wrong);
        }
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if line.starts_with("cpus=") || line.starts_with("version = ") {
            self.tool = Tool::TraceCmd;
            return Ok(());
        }
        if let Some((cpu, count)) = lost(line) {
            let of_cpu = self.lost.entry(cpu).or_default();
            *of_cpu = of_cpu.saturating_add(count);
            return Ok(());
        }
        let head = match head(line) {
            Ok(head) => head,
            Err(NoHead::Clock) => return Err(Wrong::Clock),
            Err(NoHead::Other) => {
                self.no_events += 1;
                return Ok(());
            }
        };
        self.has_nanoseconds |= head.has_nanoseconds;
        self.take_lost(&head);
        let Some((event, fields)) = head.rest.split_once(": ") else {
            self.other(head.rest);
            return Ok(());
        };
        // perf names the system too.
        let (system, event) = event.rsplit_once(':').unwrap_or(("", event));
        if !system.is_empty() {
            self.tool = Tool::Perf;
        }
        self.event(&head, event, fields.trim_start())
    }

    fn event(&mut self, head: &Head<'_>, event: &str, fields: &str) -> Result<(), Wrong> {
        if self.events.len() >= MOST_EVENTS {
            return Err(Wrong::TooMany);
        }
        let text = Text(fields);
        let is_plain = fields.contains("comm=") || !event.starts_with("sched_");
        let read = match (is_plain, Sentence::new(fields)) {
            (false, Some(sentence)) => self.table.read(event, &sentence),
            _ => self.table.read(event, &text),
        };
        let happened = match read {
            Read::Happened(happened) => happened,
            Read::Useless => {
                self.other(event);
                return Ok(());
            }
            Read::Broken => {
                // The next line shows whether it was the last.
                self.broken = Some(Wrong::Fields(event.to_owned()));
                return Ok(());
            }
        };
        if event == "hrtimer_expire_entry" {
            use crate::events::Fields;
            let now = text.number("now").and_then(|now| u64::try_from(now).ok());
            match now {
                Some(now) => self.clock.sees(head.at_ns, now),
                None => return Err(Wrong::Fields(event.to_owned())),
            }
        }
        for (cpu, what) in happened {
            self.events.push(KernelEvent {
                at_ns: head.at_ns,
                cpu: cpu.unwrap_or(head.cpu),
                current: head.current,
                what,
            });
        }
        Ok(())
    }

    /// An event that is of no use: counted by its name, which ends where its text begins.
    fn other(&mut self, event: &str) {
        let event = uncounted(event);
        let name = event.split(['(', ' ', ':']).next().unwrap_or(event);
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let known = self.others.contains_key(name) || self.others.len() < MOST_KINDS;
        if known && !name.is_empty() && name.len() < 40 && name.chars().all(is_name) {
            *self.others.entry(name.to_owned()).or_default() += 1
        } else {
            self.more_others += 1
        }
    }

    /// Events that are missing before this one of its CPU.
    fn take_lost(&mut self, head: &Head<'_>) {
        if let Some(count) = self.lost.remove(&head.cpu) {
            self.events.push(KernelEvent {
                at_ns: head.at_ns,
                cpu: head.cpu,
                current: head.current,
                what: What::Lost { count },
            });
        }
    }

    fn finish(mut self, asked: &Asked<'_>) -> Result<Imported, ImportError> {
        let last_ns = self.events.last().map_or(0, |last| last.at_ns);
        for (cpu, count) in std::mem::take(&mut self.lost) {
            self.events.push(KernelEvent {
                at_ns: last_ns,
                cpu,
                current: 0,
                what: What::Lost { count },
            });
        }
        if self.events.is_empty() {
            let others: Vec<&str> = self.others.keys().take(4).map(String::as_str).collect();
            let found = match others[..] {
                [] if self.more_others > 0 => "contains only other events".to_owned(),
                [] => "holds no line of an event (`task-pid [cpu] flags seconds: event: fields`)"
                    .to_owned(),
                _ => format!("contains only other events ({})", others.join(", ")),
            };
            return Err(ImportError::whole(format!("{found}: record {NEEDED}")));
        }
        let mut lacks = Vec::new();
        if !self.has_nanoseconds {
            lacks.push(Lack::BelowMicroseconds);
        }
        if self.broken.is_some() {
            lacks.push(Lack::Other("the end: its last line is truncated".into()));
        }
        let useless = self.useless();
        lacks.extend(useless.map(Lack::Other));
        imported(
            Recording {
                tool: match self.tool {
                    Tool::Kernel => "ftrace",
                    Tool::TraceCmd => "trace-cmd report",
                    Tool::Perf => "perf script",
                },
                tool_version: None,
                command: Vec::new(),
                kernel: None,
                needed: NEEDED,
                clock: self.clock,
                events: self.events,
                lacks,
            },
            asked,
        )
    }

    /// The skipped lines, in a sentence.
    fn useless(&self) -> Option<String> {
        let events: u64 = self.others.values().sum::<u64>() + self.more_others;
        let mut kinds: Vec<(&String, &u64)> = self.others.iter().collect();
        kinds.sort_by_cached_key(|(_, count)| std::cmp::Reverse(**count));
        let kinds: Vec<&str> = kinds
            .iter()
            .take(4)
            .map(|(name, _)| name.as_str())
            .collect();
        let lines = |count: u64| match count {
            1 => "1 line".to_owned(),
            more => format!("{more} lines"),
        };
        let mut told = Vec::new();
        if events > 0 {
            let more = if self.others.len() > kinds.len() {
                ", …"
            } else {
                ""
            };
            let kinds = match kinds[..] {
                [] => String::new(),
                _ => format!(" ({}{more})", kinds.join(", ")),
            };
            told.push(format!("{} of other events{kinds}", lines(events)));
        }
        if self.no_events > 0 {
            told.push(format!("{} of stacks and functions", lines(self.no_events)));
        }
        (!told.is_empty()).then(|| format!("use for {}", told.join(" and ")))
    }
}

/// `CPU:1 [LOST 123 EVENTS]`, or `[LOST EVENTS]` where the kernel does not know how many; trace-cmd has
/// `CPU:1 [123 EVENTS DROPPED]`.
fn lost(line: &str) -> Option<(u16, u64)> {
    let (cpu, rest) = line.strip_prefix("CPU:")?.split_once(' ')?;
    let inner = rest.trim().strip_prefix('[')?.strip_suffix(']')?;
    let mut words = inner.split_whitespace();
    let count = words.clone().find_map(|word| word.parse::<u64>().ok());
    let known = words.any(|word| word == "EVENTS");
    known.then_some(())?;
    Some((cpu.parse().ok()?, count.unwrap_or(1).max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::{Left, ThreadName};

    fn one(line: &str) -> Result<Vec<KernelEvent>, Wrong> {
        let mut reader = Reader::default();
        reader.line(line)?;
        match reader.broken {
            Some(wrong) => Err(wrong),
            None => Ok(reader.events),
        }
    }

    #[test]
    fn a_switch_is_the_same_in_every_tools_text() {
        for line in [
            "a [001] b-7-812 [003] d..2. 12.000345: sched_switch: prev_comm=a [001] b-7 \
             prev_pid=812 prev_prio=19 prev_state=S ==> next_comm=x ==> y next_pid=9 next_prio=120",
            "a [001] b-7-812 [003] 12.000345: sched_switch:     prev_comm=a [001] b-7 prev_pid=812 \
             prev_prio=19 prev_state=0x1 next_comm=x ==> y next_pid=9 next_prio=120",
            "a [001] b-7 812 [003] 12.000345: sched:sched_switch: prev_comm=a [001] b-7 \
             prev_pid=812 prev_prio=19 prev_state=S ==> next_comm=x ==> y next_pid=9 next_prio=120",
        ] {
            let found = one(line).unwrap();
            assert_eq!((found[0].cpu, found[0].current), (3, 812), "{line}");
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
    }

    #[test]
    fn what_is_no_event_of_use_is_counted_and_broken_fields_are_refused() {
        let mut reader = Reader::default();
        for line in [
            "# tracer: nop",
            "a-1 [000] 1.5: <stack trace>",
            " => hrtimer_interrupt",
            "a-1 [000] 1.5: hrtimer_wakeup <-__hrtimer_run_queues",
            " 1)   0.633 us    |  _raw_spin_lock();",
            "a-1 [000] 1.5: sys_clock_nanosleep -> 0x0",
            "a-1 [000] 1.5: sys_write(fd: 1, buf: 7f, count: 3)",
            "a-1 [000] 1.5: bprint: do_it: hello",
        ] {
            assert_eq!(reader.line(line), Ok(()), "{line}");
        }
        assert!(reader.events.is_empty());
        let told = reader.useless().unwrap();
        assert!(told.contains("5 lines of other events"), "{told}");
        assert!(told.contains("2 lines of stacks and functions"), "{told}");
        assert_eq!(
            one("a-1 [000] 123456: sched_waking: comm=x"),
            Err(Wrong::Clock)
        );
        let wrong = Wrong::Fields("sched_waking".into());
        assert_eq!(one("a-1 [000] 1.5: sched_waking: comm=x"), Err(wrong));
    }

    #[test]
    fn lost_events_stand_before_the_next_event_of_their_cpu() {
        for (line, lost_there) in [
            ("CPU:1 [LOST 17 EVENTS]", 17),
            ("CPU:1 [LOST EVENTS]", 1),
            ("CPU:1 [17 EVENTS DROPPED]", 17),
            ("CPU:1 [EVENTS DROPPED]", 1),
        ] {
            assert_eq!(lost(line), Some((1, lost_there)), "{line}");
        }
        let mut reader = Reader::default();
        reader.line("CPU:1 [LOST 17 EVENTS]").unwrap();
        reader
            .line("a-1 [000] 1.5: cpu_idle: state=1 cpu_id=0")
            .unwrap();
        reader
            .line("a-1 [001] 1.6: cpu_idle: state=1 cpu_id=1")
            .unwrap();
        let found: Vec<(u16, u64)> = reader.events.iter().map(|of| (of.cpu, of.at_ns)).collect();
        assert_eq!(
            found,
            [(0, 1_500_000_000), (1, 1_600_000_000), (1, 1_600_000_000)]
        );
        assert_eq!(reader.events[1].what, What::Lost { count: 17 });
    }

    #[test]
    fn a_trace_without_its_head_is_known_by_any_event_and_is_no_page() {
        let first =
            "          <idle>-0     [000] d..2  1136.097253: clock_enable: a state=1 cpu_id=0";
        let later = "b-1 [001] 1136.1: cpu_idle: state=1 cpu_id=1";
        let text = format!("{}\n{later}\n", [first; LINES_TO_KNOW].join("\n"));
        assert_eq!(fits(&text), Fit::Certain);
        assert_eq!(Form::of_file(text.as_bytes()), Ok(&FORM));
        assert_eq!(traced(&text).count(), LINES_TO_KNOW + 1);
        for (line, known) in [
            (
                "perf 47118 [011] 51499.088689:          1 page-faults:",
                Fit::Certain,
            ),
            (
                "a-1 [003] 3843.7: ext4_da_write_end:  dev 8,13 ino 5, 6",
                Fit::Certain,
            ),
            ("a 1 [003] 3843.7: 1 sched:sched_switch: x", Fit::Certain),
            (
                "a-1 [003] 3843.7: #1 context irq timer_latency 5 ns",
                Fit::No,
            ),
            ("a-1 [003] 3843.7: 5000 5 99.9", Fit::No),
        ] {
            assert_eq!(fits(line), known, "{line}");
        }
        let refused = |line: &str| read(line, &Asked::default()).unwrap_err().to_string();
        let words = refused("perf 47118 [011] 51499.088689:          1 page-faults:");
        assert!(words.contains("only other events (page-faults)"), "{words}");
        let words = refused("a-1 [000] 1.5: 0: B|12|draw");
        assert!(words.contains("contains only other events:"), "{words}");
    }
}
