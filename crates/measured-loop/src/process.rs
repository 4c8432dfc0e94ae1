//! The loop's process: prepares its threads, starts them together, and reports.

use crate::policies::Policies;
use crate::protocol::{LoopSpecVersion, Versions};
use crate::refusal::Refusal;
use crate::work::LoopWork;
use crate::{Counted, LoopReply, LoopSpec, ThreadEndReport, ThreadReady, ThreadSpec};
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use wakepath_archive::{Obstacle, ThreadEnd};
use wakepath_ethercat::StartMaster;
use wakepath_rt::attributes;
use wakepath_rt::counters::Counters;
use wakepath_rt::ring::Writer;
use wakepath_rt::shared::SharedMemory;
use wakepath_rt::{CoreCounts, Cycles, PageFaults, Preparation, clock, guard};
use wakepath_timeline::{DueTimes, Policy};

/// Runs the order in the first line of `input` and reports to `output`.
///
/// # Errors
/// If there is no order, or nobody reads the report.
pub fn run(
    memory: &'static SharedMemory,
    mut input: impl BufRead,
    mut output: impl Write,
    master: Option<StartMaster>,
) -> std::io::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let say = |output: &mut dyn Write, reply: &LoopReply| -> std::io::Result<()> {
        writeln!(output, "{}", serde_json::to_string(reply)?)?;
        output.flush()
    };
    let theirs = serde_json::from_slice::<LoopSpecVersion>(line.as_bytes())?.versions;
    if let Some(reason) = Versions::own().apart_from(&theirs) {
        let refused = Refusal::OtherVersion(reason);
        return say(&mut output, &refused.into());
    }
    let spec: LoopSpec = serde_json::from_slice(line.as_bytes())?;

    if let Err(error) = guard::set(spec.guard_us, Some(&memory.words().guard_tripped)) {
        return say(&mut output, &Refusal::Guard(error).into());
    }
    let policies = Arc::new(Policies::before_threads(spec.library().is_some())?);
    let (ready_sender, ready) = mpsc::channel();
    let threads: Vec<_> = (0..)
        .zip(&spec.threads)
        .map(|(number, thread)| {
            let (policies, ready) = (Arc::clone(&policies), ready_sender.clone());
            Started::new(memory, number, thread.clone(), policies, ready, master)
        })
        .collect::<Result<_, _>>()?;

    let mut prepared: Vec<Option<ThreadReady>> = vec![None; threads.len()];
    for _ in &threads {
        match ready.recv() {
            Ok((number, Ok(thread))) => prepared[number as usize] = Some(thread),
            Ok((_, Err(refused))) => return say(&mut output, &refused.into()),
            Err(_) => {
                return Err(std::io::Error::other(
                    "a loop thread ended before it was ready",
                ));
            }
        }
    }

    policies.close();

    let start_ns = clock::monotonic_ns() + spec.lead_ns;
    for thread in &threads {
        // A thread that has died shows when it is joined.
        let _ = thread.go.send(start_ns);
    }
    let threads_ready = prepared.into_iter().flatten().collect();
    say(
        &mut output,
        &LoopReply::Ready {
            start_ns,
            threads: threads_ready,
        },
    )?;

    let ended = threads.into_iter().map(Started::join).collect();
    say(&mut output, &LoopReply::Ended { threads: ended })
}

/// A thread on its way.
struct Started {
    go: Sender<u64>,
    thread: std::thread::JoinHandle<ThreadEndReport>,
}

type ReadySender = Sender<(u32, Result<ThreadReady, Refusal>)>;

impl Started {
    fn new(
        memory: &'static SharedMemory,
        number: u32,
        spec: ThreadSpec,
        policies: Arc<Policies>,
        ready: ReadySender,
        master: Option<StartMaster>,
    ) -> std::io::Result<Self> {
        let (go, start) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name(spec.name.clone())
            .spawn(move || loop_thread(memory, number, &spec, &policies, &ready, &start, master))?;
        Ok(Self { go, thread })
    }

    fn join(self) -> ThreadEndReport {
        self.thread.join().unwrap_or_else(|_| ThreadEndReport {
            why: ThreadEnd::failed("the loop's thread panicked"),
            page_faults: PageFaults::default(),
            counted: None,
            on_a_core: None,
            modules: Vec::new(),
        })
    }
}

#[allow(unsafe_code)] // The writer's promise to be the only one.
fn loop_thread(
    memory: &'static SharedMemory,
    number: u32,
    spec: &ThreadSpec,
    policies: &Policies,
    ready: &ReadySender,
    start: &Receiver<u64>,
    master: Option<StartMaster>,
) -> ThreadEndReport {
    // The work's memory is allocated before memory is locked and before the thread becomes
    // real-time.
    let failed = |why: ThreadEnd| ThreadEndReport {
        why,
        page_faults: PageFaults::default(),
        counted: None,
        on_a_core: None,
        modules: Vec::new(),
    };
    let refuse = |refusal: Refusal| {
        let why = refusal.thread_end();
        // The waiting process reads it, or is gone and needs nothing.
        let _ = ready.send((number, Err(refusal)));
        failed(why)
    };
    let mut work = match LoopWork::new(&spec.work, spec.period_ns, master) {
        Ok(work) => work,
        Err(error) => return refuse(Refusal::Work(error)),
    };
    let whole = Preparation {
        policy: spec.preparation.policy.of_a_loop(spec.period_ns),
        ..spec.preparation.clone()
    };
    let mut prepared = match whole.apply_with(|policy| policies.set(policy)) {
        Ok(prepared) => prepared,
        Err(error) => return refuse(Refusal::Preparation(error)),
    };
    // The requested form of the name, which omits the loop's own period.
    if prepared.effective.policy == whole.policy {
        prepared.effective.policy = spec.preparation.policy;
    }
    if let Err(error) = guard::watch_this_thread() {
        return refuse(Refusal::Guard(error));
    }
    let (counters, no_counters) = match spec.counters.then(Counters::open) {
        None => (None, None),
        Some(Ok(counters)) => (Some(counters), None),
        Some(Err(error)) => (None, Some(error.to_string())),
    };
    let _ = ready.send((
        number,
        Ok(ThreadReady {
            thread_id: rustix::thread::gettid()
                .as_raw_nonzero()
                .get()
                .unsigned_abs(),
            effective: prepared.effective,
            shortfalls: prepared.shortfalls,
            no_counters,
        }),
    ));
    let Ok(start_ns) = start.recv() else {
        return failed(ThreadEnd::failed("the loop was given up before it began"));
    };

    let due = DueTimes {
        start_ns,
        period_ns: spec.period_ns,
    };
    let cycles = Cycles::with(
        due,
        spec.wake_up,
        spec.overrun,
        spec.accounting,
        spec.first_judged_cycle,
    );
    let mut cycles = match cycles {
        Ok(cycles) => cycles,
        Err(error) => return failed(ThreadEnd::failed(error.to_string())),
    };
    // SAFETY: ring `number` belongs to this thread; the measuring process resets it only while no
    // loop's process exists.
    let mut writer = unsafe { memory.writer(number) };
    work.begin(start_ns);
    let report = measure(
        spec,
        due,
        &mut cycles,
        &mut work,
        counters.as_ref(),
        &mut writer,
        &memory.words().stop,
    );
    match changed_policy(spec.preparation.policy) {
        Some(why) if !matches!(report.why, ThreadEnd::Failed { .. }) => ThreadEndReport {
            why: ThreadEnd::failed(why),
            ..report
        },
        _ => report,
    }
}

/// A change of this thread's policy by someone else during the measurement. Not checked on a
/// real-time core, whose policy Linux doesn't know.
fn changed_policy(asked: Policy) -> Option<String> {
    if asked.in_linux() != asked {
        return None;
    }
    let is = attributes::get(0).ok()?;
    (is != asked)
        .then(|| format!("its policy was changed while it was measured: {is} instead of {asked}"))
}

/// The loop. Everything it uses has been allocated and touched before.
fn measure(
    spec: &ThreadSpec,
    due: DueTimes,
    cycles: &mut Cycles,
    work: &mut LoopWork,
    counters: Option<&Counters>,
    writer: &mut Writer<'_>,
    stop: &AtomicU32,
) -> ThreadEndReport {
    let mut faults_before = PageFaults::of_this_thread();
    let mut on_a_core_before = CoreCounts::of_this_thread();
    let mut counted = Counted::default();
    let mut warming_up = spec.first_judged_cycle > 0;
    let why = loop {
        if cycles.next_cycle() >= spec.end_cycle {
            // The last cycle might have skipped due times after the planned end.
            let beyond = cycles.next_cycle() - spec.end_cycle;
            writer.note_skipped(cycles.skipped() - beyond);
            break ThreadEnd::AllCycles;
        }
        if stop.load(Ordering::Relaxed) != 0 {
            break ThreadEnd::Stopped;
        }
        if guard::has_tripped() {
            break ThreadEnd::Failed {
                obstacle: Obstacle::Guard,
                reason: "the guard stopped the loop: it took the CPU without sleeping".into(),
            };
        }
        // Both readings are outside the timed region: in a virtual machine each can cost
        // microseconds. A sleeping thread counts next to nothing in user space.
        let counted_before = counters.and_then(Counters::read);
        let skipped = cycles.skipped();
        let Some(activation) = cycles.wait() else {
            break ThreadEnd::Overrun;
        };
        let outcome = work.step();
        let sample = cycles.finish_with(activation, outcome);
        let counted_after = counters.and_then(Counters::read);
        writer.note_skipped(skipped);
        writer.push(sample);
        if let (Some(before), Some(after), false) = (counted_before, counted_after, warming_up) {
            counted.add(after.since(before));
        }
        if let Err(error) = work.after(&sample, due.due_ns(cycles.next_cycle())) {
            break ThreadEnd::failed(error.to_string());
        }
        if warming_up && cycles.next_cycle() >= spec.first_judged_cycle {
            warming_up = false;
            work.end_warm_up();
            faults_before = PageFaults::of_this_thread();
            cycles.pass_over_mode_switches();
            // After the requests to Linux, which count as a switch.
            on_a_core_before = CoreCounts::of_this_thread();
        }
    };
    // Before any request to Linux.
    let on_a_core = CoreCounts::of_this_thread();
    ThreadEndReport {
        why,
        page_faults: PageFaults::of_this_thread().since(faults_before),
        counted: (counted.cycles > 0).then_some(counted),
        on_a_core: on_a_core
            .zip(on_a_core_before)
            .map(|(now, before)| now.since(before)),
        modules: work.modules(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_another_version_refuses_whatever_else_it_is_told() {
        let memory = Box::leak(Box::new(SharedMemory::create(1, 8).unwrap()));
        let mut output = Vec::new();
        let line = "{\"versions\":{\"wakepath\":\"99.0.0\"},\"unheard\":\"of\"}\n";
        run(memory, line.as_bytes(), &mut output, None).unwrap();
        let said = String::from_utf8(output).unwrap();
        assert!(
            said.contains("cannot-run") && said.contains("99.0.0"),
            "{said}"
        );
    }

    #[test]
    fn the_same_version_with_another_interface_or_other_messages_is_refused_too() {
        let own = Versions::own();
        assert_eq!(own.apart_from(&own), None);
        let other = |interface, wording| Versions {
            wakepath: own.wakepath.clone(),
            interface,
            wording,
        };
        let line = own.apart_from(&other(Some(7), own.wording)).unwrap();
        assert!(line.contains("wakepath has version 7"), "{line}");
        let line = own.apart_from(&other(own.interface, Some(1))).unwrap();
        assert!(line.contains("another build"), "{line}");
        assert!(own.apart_from(&other(None, None)).is_some());
    }
}
