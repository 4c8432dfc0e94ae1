//! ROS 2's tracepoints (ros2_tracing), with the kernel's events if LTTng recorded them too: all callbacks as
//! `wakepath-ros2` accounts for them, and each timer a task whose callbacks are the cycles.

mod calls;
mod sessions;
mod timers;

use crate::ctf::{Metadata, Stream};
use crate::form::{Fit, Reader};
use crate::{Form, ImportError, Imported, KernelTrace, Part, Ros2Calls, Use, Values, lttng};
use calls::Calls;
use sessions::{Session, Sessions};
use timers::Timers;
use wakepath_ros2::{Kind, Recorder, TAKES};
use wakepath_timeline::{Lack, What};

const MOST_CALLS: usize = 50_000_000;

const NEEDED: &str = "record C++ nodes with `ros2 trace -u 'ros2:*'`: nothing marks callbacks of Python nodes (rclpy)";

pub(crate) const FORM: Form = Form {
    word: "ros2",
    written_by: "ros2 trace",
    uses: &[Use::Callbacks],
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

/// Everything below a directory: traces of programs and of the kernel, of one session or several.
#[derive(Default)]
struct Traces {
    calls: Calls,
    kernel: lttng::Seen,
    sessions: Sessions,
    /// Traces of programs, and of the kernel.
    count: (usize, usize),
    /// The clock of the first, and its path.
    clock: Option<(String, String)>,
    lost: u64,
}

impl Traces {
    fn read(&mut self, parts: &[Part], part: &Part) -> Result<(), ImportError> {
        let at = |what: String| ImportError::whole(format!("{}: {what}", part.path));
        let metadata = Metadata::parse(&part.bytes).map_err(|error| at(error.to_string()))?;
        if let Some(clock) = metadata.clock() {
            match &self.clock {
                Some((first, path)) if first != clock => {
                    return Err(at(format!(
                        "was recorded on another machine or another boot than {path}: \
                         import each separately"
                    )));
                }
                Some(_) => {}
                None => self.clock = Some((clock.to_owned(), part.path.clone())),
            }
        }
        if metadata.environment("domain") == Some("kernel") {
            self.count.1 += 1;
            if self.count.1 > 1 {
                let why = "a second trace of the kernel is there: import each separately";
                return Err(at(why.to_owned()));
            }
            self.kernel.trace(parts, part, &metadata)?;
            let mut session = Session::default();
            let instants = self.kernel.events.iter().map(|event| event.at_ns);
            instants.for_each(|at_ns| session.event(at_ns, None));
            self.sessions.add(&part.path, session);
            return Ok(());
        }
        self.count.0 += 1;
        let mut session = Session::default();
        for stream in lttng::streams(parts, part) {
            let mut reader = Stream::new(&metadata, &stream.bytes);
            let read = reader.each(|event| {
                let process = self.calls.event(self.count.0, &event);
                session.event(event.at_ns, process);
            });
            read.map_err(|error| ImportError::whole(format!("{}: {error}", stream.path)))?;
            self.lost = self.lost.saturating_add(reader.lost);
        }
        self.sessions.add(&part.path, session);
        if self.calls.len() > MOST_CALLS {
            return Err(at(format!("more than {MOST_CALLS} events of ROS 2")));
        }
        Ok(())
    }
}

pub(crate) fn read(parts: &[Part]) -> Result<Imported, ImportError> {
    let mut traces = Traces::default();
    for part in lttng::metadata(parts) {
        traces.read(parts, part)?;
    }
    if let Some(why) = traces.sessions.apart() {
        return Err(ImportError::whole(why));
    }
    let Traces {
        calls,
        mut kernel,
        count: (programs, _),
        lost,
        ..
    } = traces;
    if programs == 0 {
        let why = "holds no trace of programs: no file `metadata` of LTTng's below it";
        return Err(ImportError::whole(why));
    }
    let is_without_threads = calls.is_without_threads;
    let (events, processes) = calls.finish();
    let has_kernel = !kernel.events.is_empty();
    kernel.events.extend(events);
    let mut events = kernel.events;
    events.sort_by_cached_key(|event| event.at_ns);
    kernel.clock.moves(&mut events);
    let mut recorder = Recorder::default();
    for event in &events {
        recorder.event(event, |thread| processes.get(&thread).copied());
    }
    let seen = recorder.finish();
    if seen.runs.is_empty() {
        let why = format!("holds no callback (ros2:callback_start and callback_end); {NEEDED}");
        return Err(ImportError::whole(why));
    }
    let timers = Timers::new(&seen, lost);
    let mut lacks = timers.lacks;
    if lost > 0 {
        lacks.push(Lack::Other(format!(
            "{lost} events that LTTng discarded: callbacks that they touch are left out"
        )));
    }
    if is_without_threads {
        lacks.push(Lack::Other(
            "threads: record with the contexts vpid and vtid, as `ros2 trace` does; each process counts as one thread"
                .into(),
        ));
    }
    let unknown = seen.callbacks.iter().filter(|of| of.kind == Kind::Unknown);
    if let count @ 1.. = unknown.count() {
        lacks.push(Lack::Other(format!(
            "node, topic and due times of {count} callbacks: record from before their nodes start"
        )));
    }
    let has = |wanted: fn(&What) -> bool| events.iter().any(|event| wanted(&event.what));
    let is_take = |what: &What| match what {
        What::Call(call) => TAKES.iter().any(|of| *of.name == *call.function),
        _ => false,
    };
    if seen.has_unmarked && !has(is_take) {
        lacks.push(Lack::Other(
            "answers to clients and requests to actions, if there were any: tracetools before 8.5 records neither; \
             `wakepath watch --ros2 -- PROGRAM` does"
                .into(),
        ));
    }
    if !has(|what| matches!(what, What::Switch { .. })) {
        lacks.push(Lack::Other(
            "threads' time on a CPU and their waits: record sched_switch, sched_waking and \
             timer_hrtimer_expire_entry too (`ros2 trace -k …`)"
                .into(),
        ));
    }
    lacks.extend([
        Lack::Other(
            "first instructions: a cycle begins with its callback, and what the executor waited for \
             before it is in its latency"
                .into(),
        ),
        Lack::AfterLastLine,
        Lack::Untraced,
        Lack::WarmUp,
        Lack::EffectivePolicy,
        Lack::Machine,
    ]);
    let mut cpus: Vec<u16> = events.iter().map(|event| event.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let (trace, events) = if has_kernel {
        (Some(KernelTrace { events, cpus }), Vec::new())
    } else {
        (None, events)
    };
    let periods = timers.threads.iter().map(|thread| match &thread.values {
        Values::Row(row) => row.due.period_ns,
        _ => u64::MAX,
    });
    Ok(Imported {
        tool: "ROS 2",
        measures: "callbacks of timers",
        lacks,
        period_ns: periods.min(),
        has_tasks: true,
        threads: timers.threads,
        trace,
        ros2: Some(Ros2Calls { events, processes }),
        ..Imported::default()
    })
}
