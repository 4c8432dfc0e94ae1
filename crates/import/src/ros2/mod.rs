//! ROS 2's tracepoints (ros2_tracing): each timer of a node a task, its callbacks the cycles. When a
//! timer was due no event tells; it is worked out from when it was made and its period.

mod row;

use crate::ctf::{Event, Metadata, Stream};
use crate::form::{Fit, Reader};
use crate::lttng;
use crate::{Form, ImportError, Imported, Part, Thread, Values};
use row::{Cycle, row};
use std::collections::BTreeMap;
use wakepath_timeline::Lack;
use wakepath_timeline::duration::exact;

/// Fewer callbacks tell nothing of a timer.
const LEAST_CALLBACKS: usize = 10;
/// As many timers as a scenario has tasks.
const MOST_TIMERS: usize = 256;
const MOST_CALLBACKS: usize = 50_000_000;

const NEEDED: &str = "record with `ros2 trace -e ros2:*`";

pub(crate) const FORM: Form = Form {
    word: "ros2",
    written_by: "ros2 trace",
    uses: &[],
    reader: Reader::Directory(fits, |parts, _| read(parts)),
};

/// A trace of the kernel alone is LTTng's.
fn fits(parts: &[Part]) -> Fit {
    let is_programs = |part: &Part| {
        let read = Metadata::parse(&part.bytes);
        !read.is_ok_and(|read| read.environment("domain") == Some("kernel"))
    };
    Fit::certain_if(lttng::metadata(parts).any(is_programs))
}

pub(crate) fn read(parts: &[Part]) -> Result<Imported, ImportError> {
    let mut seen = Seen::default();
    let mut traces = 0;
    for part in lttng::metadata(parts) {
        let at = |what: String| ImportError::whole(format!("{}: {what}", part.path));
        let metadata = Metadata::parse(&part.bytes).map_err(|error| at(error.to_string()))?;
        // The kernel's own events have nothing of ROS.
        if metadata.environment("domain") == Some("kernel") {
            continue;
        }
        traces += 1;
        seen.process += 1 << 32;
        for stream in lttng::streams(parts, part) {
            let mut reader = Stream::new(&metadata, &stream.bytes);
            let read = reader.each(|event| seen.event(&event));
            read.map_err(|error| ImportError::whole(format!("{}: {error}", stream.path)))?;
            seen.lost = seen.lost.saturating_add(reader.lost);
        }
        if seen.calls.len() > MOST_CALLBACKS {
            return Err(at(format!("more than {MOST_CALLBACKS} callbacks")));
        }
    }
    if traces == 0 {
        let why = "holds no trace of programs: no file `metadata` of LTTng's below it";
        return Err(ImportError::whole(why));
    }
    seen.imported()
}

/// A process of a trace, and a handle in it.
type Handle = (u64, i128);

#[derive(Debug, Clone)]
struct Timer {
    handle: Handle,
    made_ns: u64,
    period_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Call {
    at_ns: u64,
    cpu: u16,
    callback: Handle,
    thread: i128,
    begins: bool,
}

/// What the events say; streams of several CPUs come one after the other.
#[derive(Default)]
struct Seen {
    /// Tells traces apart whose processes have the same number.
    process: u64,
    timers: Vec<Timer>,
    /// Instant, timer, callback.
    callbacks: Vec<(u64, Handle, Handle)>,
    nodes: BTreeMap<Handle, String>,
    node_of_timer: BTreeMap<Handle, Handle>,
    symbols: BTreeMap<Handle, String>,
    calls: Vec<Call>,
    lost: u64,
}

impl Seen {
    fn event(&mut self, event: &Event<'_>) {
        let fields = &event.fields;
        let process = fields.integer("vpid").unwrap_or(0);
        let process = self.process + u64::from(u32::try_from(process).unwrap_or(0));
        let handle = |name: &str| Some((process, fields.integer(name)?));
        let at_ns = event.at_ns;
        let mut take = || {
            match event.name {
                "ros2:rcl_node_init" => {
                    let name = fields.text("node_name")?;
                    self.nodes.insert(handle("node_handle")?, name.to_owned());
                }
                "ros2:rcl_timer_init" => self.timers.push(Timer {
                    handle: handle("timer_handle")?,
                    made_ns: at_ns,
                    period_ns: u64::try_from(fields.integer("period")?).ok()?,
                }),
                "ros2:rclcpp_timer_callback_added" => {
                    let both = (handle("timer_handle")?, handle("callback")?);
                    self.callbacks.push((at_ns, both.0, both.1));
                }
                "ros2:rclcpp_timer_link_node" => {
                    let node = handle("node_handle")?;
                    self.node_of_timer.insert(handle("timer_handle")?, node);
                }
                "ros2:rclcpp_callback_register" => {
                    let symbol = fields.text("symbol")?.to_owned();
                    self.symbols.insert(handle("callback")?, symbol);
                }
                "ros2:callback_start" | "ros2:callback_end" => {
                    let cpu = fields.integer("cpu_id").unwrap_or(0);
                    self.calls.push(Call {
                        at_ns,
                        cpu: u16::try_from(cpu).unwrap_or(0),
                        callback: handle("callback")?,
                        thread: fields.integer("vtid").unwrap_or(0),
                        begins: event.name.ends_with("start"),
                    });
                }
                _ => {}
            }
            Some(())
        };
        // An event of another version without what is needed is as one that is not there.
        let _ = take();
    }

    fn imported(mut self) -> Result<Imported, ImportError> {
        if self.timers.is_empty() || self.calls.is_empty() {
            let missing = match self.timers.is_empty() {
                true => "rcl_timer_init: it must be recorded from before the nodes start",
                false => "callback_start",
            };
            let why = format!("holds no event ros2:{missing}; {NEEDED}");
            return Err(ImportError::whole(why));
        }
        self.calls.sort_by_key(|call| (call.at_ns, call.begins));
        self.timers.sort_by_key(|timer| timer.made_ns);
        self.callbacks.sort_by_key(|(at_ns, ..)| *at_ns);
        // A handle is an address, which may be given again: what holds is what came before a call.
        let mut cycles: BTreeMap<usize, Vec<Cycle>> = BTreeMap::new();
        let mut open: BTreeMap<(Handle, i128), (u64, u16)> = BTreeMap::new();
        for call in &self.calls {
            let key = (call.callback, call.thread);
            if call.begins {
                open.insert(key, (call.at_ns, call.cpu));
                continue;
            }
            let Some((start_ns, cpu)) = open.remove(&key) else {
                continue;
            };
            if let Some(timer) = self.timer_of(call.callback, start_ns) {
                cycles.entry(timer).or_default().push(Cycle {
                    start_ns,
                    end_ns: call.at_ns,
                    cpu,
                });
            }
        }
        let mut threads: Vec<Thread> = Vec::new();
        let mut lacks = Vec::new();
        let mut left_out = Vec::new();
        for (number, mut cycles) in cycles {
            let timer = &self.timers[number];
            cycles.sort_by_key(|cycle| cycle.start_ns);
            let name = self.name(timer, &threads);
            if cycles.len() < LEAST_CALLBACKS || threads.len() == MOST_TIMERS {
                left_out.push(format!("{name} ({} callbacks)", cycles.len()));
                continue;
            }
            if timer.period_ns == 0 {
                left_out.push(format!("{name} (no period)"));
                continue;
            }
            let Some((row, how)) = row(timer, &cycles, self.lost) else {
                return Err(ImportError::whole(format!(
                    "callbacks of {name} come more often than its period: it is not on the \
                     trace's clock (simulated time?), and nothing can be said of when it was due"
                )));
            };
            let symbol = self.symbol(timer);
            lacks.push(Lack::Other(format!(
                "due times of {name}{symbol}: {}",
                how.text()
            )));
            threads.push(Thread::new(name, None, Values::Row(row)));
        }
        if threads.is_empty() {
            let why = format!(
                "holds no timer with {LEAST_CALLBACKS} callbacks or more: {}; {NEEDED}",
                if left_out.is_empty() {
                    "none at all".to_owned()
                } else {
                    left_out.join(", ")
                }
            );
            return Err(ImportError::whole(why));
        }
        if !left_out.is_empty() {
            left_out.truncate(8);
            lacks.push(Lack::Other(format!(
                "timers: left out {}",
                left_out.join(", ")
            )));
        }
        lacks.extend([
            Lack::Other(
                "first instructions: a cycle begins with its callback, and what the executor \
                 waited for before it is in its latency"
                    .into(),
            ),
            Lack::AfterLastLine,
            Lack::Untraced,
            Lack::WarmUp,
            Lack::EffectivePolicy,
            Lack::Machine,
        ]);
        let periods = threads.iter().map(|thread| match &thread.values {
            Values::Row(row) => row.due.period_ns,
            _ => u64::MAX,
        });
        Ok(Imported {
            tool: "ROS 2",
            measures: "callbacks of timers",
            lacks,
            period_ns: periods.min(),
            has_tasks: true,
            threads,
            ..Imported::default()
        })
    }

    /// The timer that a callback was added to last before an instant.
    fn timer_of(&self, callback: Handle, at_ns: u64) -> Option<usize> {
        let added = self.callbacks.iter().rev();
        let mut added = added.filter(|(at, _, own)| *own == callback && *at <= at_ns);
        let (_, timer, _) = added.next()?;
        let made = |of: &Timer| of.handle == *timer && of.made_ns <= at_ns;
        self.timers.iter().rposition(made)
    }

    /// Node and period: a name that no other timer has.
    fn name(&self, timer: &Timer, threads: &[Thread]) -> String {
        let node = self.node_of_timer.get(&timer.handle);
        let node = node.and_then(|node| self.nodes.get(node));
        let node = node.map_or("timer", String::as_str);
        let kept = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let node: String = node.chars().filter(|c| kept(*c)).take(40).collect();
        let base = format!("{node} {}", exact(timer.period_ns));
        let names = (1_u32..).map(|n| match n {
            1 => base.clone(),
            n => format!("{base} {n}"),
        });
        let mut free = names.filter(|name| threads.iter().all(|of| of.name != *name));
        free.next().unwrap_or(base.clone())
    }

    /// The function that its callback is, in brackets.
    fn symbol(&self, timer: &Timer) -> String {
        let mut added = self
            .callbacks
            .iter()
            .filter(|(_, own, _)| *own == timer.handle);
        let symbol = added
            .next()
            .and_then(|(.., callback)| self.symbols.get(callback));
        symbol.map_or(String::new(), |symbol| {
            let shown: String = symbol
                .chars()
                .filter(|c| !c.is_control())
                .take(60)
                .collect();
            format!(" ({shown})")
        })
    }
}
