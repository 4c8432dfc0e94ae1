//! A separate loop on the highest CPU, traced by an instance of the kernel's tracer, with disturbances that
//! record when they happened.

mod disturbances;
mod measured;

pub use disturbances::Running;
pub use measured::*;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use wakepath_archive::{Trace, TraceDescription, TraceEnd, TraceWriter};
use wakepath_explain::{Explainer, LoopThread, Options};
use wakepath_probe::{Collector, EventSource, Instance, Tracefs};
use wakepath_rt::{Accounting, Cycles, Preparation, WorkOutcome, clock};
use wakepath_test_program::not_run;
use wakepath_timeline::{DueTimes, Overrun, Policy, Sample, WakeUp};

wakepath_test_program::tests![
    ;
    stops_its_parent,
];

const PERIOD_NS: u64 = 1_000_000;
/// `PROC_PID_INIT_INO` of `include/linux/proc_ns.h`.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";
/// For 300 ms and the storm over loopback, which makes 1.8 million events a second on a fast machine.
const BUFFER_BYTES: u64 = 48 << 20;

/// One measurement at a time: they share a CPU.
static ONE: Mutex<()> = Mutex::new(());

pub struct Laboratory {
    tracefs: Tracefs,
    loop_cpu: u16,
    other_cpu: u16,
    _one: MutexGuard<'static, ()>,
}

/// The loop's work in each cycle.
#[derive(Clone, Copy)]
pub enum Work {
    Spin(Duration),
    SpinOnce { cycle: u64, time: Duration },
    TouchFresh { every: u64 },
}

impl Laboratory {
    /// Ends the test as not run if this machine can't do it.
    pub fn new() -> Self {
        let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let cpus = wakepath_rt::affinity::current().unwrap_or_default();
        let &[other_cpu, .., loop_cpu] = cpus.as_slice() else {
            not_run("two CPUs are needed")
        };
        if !rustix::process::geteuid().is_root() {
            not_run("tracing and real-time priorities need root")
        }
        // The kernel's events have its own thread numbers, which are unknown in a container.
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        if namespace.as_os_str() != FIRST_PID_NAMESPACE {
            not_run("in a PID namespace the kernel's events have other thread numbers")
        }
        match Tracefs::find_or_mount() {
            Ok(tracefs) => Self {
                tracefs,
                loop_cpu,
                other_cpu,
                _one: one,
            },
            Err(error) => not_run(error),
        }
    }

    /// Ends the test as not run if this kernel never throttles a spinning real-time thread.
    pub fn must_throttle(&self) {
        let runtime = std::fs::read_to_string("/proc/sys/kernel/sched_rt_runtime_us");
        let unlimited = runtime.is_ok_and(|text| text.trim() == "-1");
        let fair_server = std::path::Path::new("/sys/kernel/debug/sched/fair_server").exists();
        if unlimited && !fair_server {
            not_run("neither real-time throttling nor a fair server is in effect")
        }
    }

    /// Runs the loop while `disturb` does, and explains it.
    pub fn measure(
        &self,
        policy: Policy,
        work: Work,
        disturb: impl FnOnce(&Running) -> Vec<(u64, u64)>,
    ) -> Measured {
        let cpus = [self.other_cpu, self.loop_cpu];
        let (instance, mut decoder) =
            Instance::create(&self.tracefs, &cpus, BUFFER_BYTES).expect("an instance");
        instance.start().expect("tracing starts");
        let began_ns = clock::monotonic_ns();
        let stop = Arc::new(AtomicBool::new(false));
        let (say, said) = mpsc::channel();
        let thread = {
            let (stop, cpu) = (stop.clone(), self.loop_cpu);
            let builder = std::thread::Builder::new().name("loop".into());
            let body = move || the_loop(policy, cpu, work, &stop, &say);
            builder.spawn(body).expect("a thread")
        };
        let number = said.recv().expect("the loop starts");
        // The usual is measured on the first cycles, undisturbed.
        std::thread::sleep(Duration::from_millis(300));
        let running = Running {
            loop_cpu: self.loop_cpu,
            other_cpu: self.other_cpu,
            chunks: Mutex::default(),
        };
        let injected = disturb(&running);
        std::thread::sleep(Duration::from_millis(20));
        stop.store(true, Ordering::Relaxed);
        let samples = thread.join().expect("the loop ends");
        instance.stop().expect("tracing stops");

        let directory = tempfile::tempdir().expect("a directory");
        let description = TraceDescription {
            cpus: cpus.to_vec(),
            began_ns,
            ..TraceDescription::default()
        };
        let mut writer = TraceWriter::create(directory.path(), &description).expect("a trace");
        let mut collector = Collector::new(&instance, None).expect("buffers");
        collector.take(&mut decoder, &mut writer).expect("events");
        writer.finish(&TraceEnd::default()).expect("a whole trace");
        for &cpu in &cpus {
            let statistics = instance.statistics(cpu).expect("statistics");
            assert_eq!(
                statistics.overrun, 0,
                "the buffer of CPU {cpu} is too small"
            );
        }
        let trace = Trace::open(directory.path(), 0)
            .expect("readable")
            .expect("there");
        assert_eq!(trace.cut_short(), None);
        let events: Vec<_> = trace
            .events()
            .expect("readable")
            .map(|e| e.expect("whole"))
            .collect();
        let loops = vec![LoopThread {
            name: "loop".into(),
            judged_ns: None,
            allowed: Vec::new(),
            until_next_wake_up: false,
            is_from_start: false,
            is_real_time: false,
            thread: number,
            cpus: vec![self.loop_cpu],
            samples,
        }];
        let mut explainer = Explainer::new(loops, Options::default());
        let mut cycles = Vec::new();
        for event in &events {
            explainer.event(event, |_, cycle| cycles.push(cycle.clone()));
        }
        explainer.finish(|_, cycle| cycles.push(cycle.clone()));
        for cycle in &cycles {
            let latency = u64::try_from(cycle.sample.latency_ns()).unwrap_or(0);
            assert_eq!(
                cycle.latency_ns(),
                latency,
                "the parts don't add up: {cycle:#?}"
            );
        }
        Measured {
            cycles,
            injected,
            usual: explainer.usual(0).expect("cycles"),
            loop_cpu: self.loop_cpu,
            loop_thread: number,
            events,
            chunks: running.chunks.into_inner().expect("unpoisoned"),
        }
    }
}

fn the_loop(
    policy: Policy,
    cpu: u16,
    work: Work,
    stop: &AtomicBool,
    say: &mpsc::Sender<u32>,
) -> Vec<Sample> {
    // Memory is not locked: later tests of this process want page faults.
    let preparation = Preparation {
        policy,
        cpus: Some(vec![cpu]),
        lock_memory: false,
        ..Preparation::default()
    };
    preparation.apply().expect("the policy");
    let mut samples = vec![Sample::default(); 8_192];
    samples.clear();
    let mut old = vec![1_u8; PAGES * 4096];
    let mut fresh = vec![0_u8; 64 * REGION];
    let mut region = 0;
    let number = rustix::thread::gettid()
        .as_raw_nonzero()
        .get()
        .unsigned_abs();
    say.send(number).expect("somebody waits");
    let due = DueTimes {
        start_ns: clock::monotonic_ns() + 20_000_000,
        period_ns: PERIOD_NS,
    };
    let settings = (WakeUp::ClockNanosleep, Overrun::Skip, Accounting::default());
    let mut cycles = Cycles::with(due, settings.0, settings.1, settings.2, 0).expect("a timer");
    while !stop.load(Ordering::Relaxed) && samples.len() < samples.capacity() {
        let activation = cycles.wait().expect("overruns skip");
        let began_ns = clock::monotonic_ns();
        match work {
            Work::Spin(time) => spin(time),
            Work::SpinOnce { cycle, time } if activation.cycle == cycle => spin(time),
            Work::SpinOnce { .. } => spin(Duration::from_micros(50)),
            Work::TouchFresh { every } if activation.cycle.is_multiple_of(every) && region < 64 => {
                // A region for each time: a huge page must not serve two.
                touch(&mut fresh[region * REGION..][..PAGES * 4096]);
                region += 1;
            }
            Work::TouchFresh { .. } => touch(&mut old),
        }
        let work_ns = u32::try_from(clock::monotonic_ns() - began_ns).ok();
        let outcome = WorkOutcome {
            work_ns,
            ..WorkOutcome::default()
        };
        samples.push(cycles.finish_with(activation, outcome));
    }
    samples
}

const PAGES: usize = 64;
const REGION: usize = 2 << 20;

fn touch(memory: &mut [u8]) {
    for page in memory.chunks_mut(4096) {
        page[0] = page[0].wrapping_add(1);
        std::hint::black_box(&mut page[0]);
    }
}

fn spin(time: Duration) {
    let until_ns = clock::monotonic_ns() + time.as_nanos() as u64;
    while clock::monotonic_ns() < until_ns {}
}

/// Not a test: stops the process that starts it, for another test.
fn stops_its_parent() {
    use rustix::process::{Signal, getppid, kill_process};
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let (Some(time_us), Some(times)) = (number("STOP_FOR_US"), number("STOP_TIMES")) else {
        not_run("only another test starts this");
    };
    let parent = getppid().expect("a parent");
    for _ in 0..times {
        std::thread::sleep(Duration::from_millis(50));
        let from_ns = clock::monotonic_ns();
        kill_process(parent, Signal::STOP).expect("stopped");
        std::thread::sleep(Duration::from_micros(time_us));
        let to_ns = clock::monotonic_ns();
        kill_process(parent, Signal::CONT).expect("continued");
        // Standard output is the test runner's, which writes on the same line.
        eprintln!("stopped {from_ns} {to_ns}");
    }
}
