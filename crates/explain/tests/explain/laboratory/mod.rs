//! A loop of its own on the highest CPU, traced by an instance of the kernel's tracer, with
//! disturbances that know when they disturbed.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use wakepath_archive::{Trace, TraceDescription, TraceEnd, TraceWriter};
use wakepath_explain::{Explained, Explainer, LoopThread, Options, Usual};
use wakepath_probe::{Collector, EventSource, Instance, Tracefs};
use wakepath_rt::{Accounting, Cycles, Preparation, WorkOutcome, clock};
use wakepath_test_program::not_run;
use wakepath_timeline::{
    DueTimes, Interrupt, KernelEvent, Overrun, Policy, Sample, SoftIrq, WakeUp, What,
};

wakepath_test_program::tests![
    ;
    stops_its_parent,
];

const PERIOD_NS: u64 = 1_000_000;
/// `PROC_PID_INIT_INO` of `include/linux/proc_ns.h`.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";
const BUFFER_BYTES: u64 = 24 << 20;

/// One measurement at a time: they share a CPU.
static ONE: Mutex<()> = Mutex::new(());

pub struct Laboratory {
    tracefs: Tracefs,
    loop_cpu: u16,
    other_cpu: u16,
    _one: MutexGuard<'static, ()>,
}

/// What the loop does each cycle.
#[derive(Clone, Copy)]
pub enum Work {
    Spin(Duration),
    SpinOnce { cycle: u64, time: Duration },
    TouchFresh { every: u64 },
}

/// The loop that is running, to be disturbed.
pub struct Running {
    pub loop_cpu: u16,
    other_cpu: u16,
    chunks: Mutex<Vec<(u64, u64)>>,
}

pub struct Measured {
    pub cycles: Vec<Explained>,
    pub injected: Vec<(u64, u64)>,
    pub usual: Usual,
    loop_cpu: u16,
    events: Vec<KernelEvent>,
    chunks: Vec<(u64, u64)>,
}

impl Laboratory {
    /// Ends the test as not run where this machine can't do it.
    pub fn new() -> Self {
        let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let cpus = wakepath_rt::affinity::current().unwrap_or_default();
        let &[other_cpu, .., loop_cpu] = cpus.as_slice() else {
            not_run("two CPUs are needed")
        };
        if !rustix::process::geteuid().is_root() {
            not_run("tracing and real-time priorities need root")
        }
        // The kernel's events have its own thread numbers, which nobody in a container knows.
        let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        if namespace.as_os_str() != FIRST_PID_NAMESPACE {
            not_run("in a PID namespace threads can't be told in the kernel's events")
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

    /// Ends the test as not run where this kernel never holds a spinning real-time thread back.
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
            thread: number,
            cpus: vec![self.loop_cpu],
            samples,
        }];
        let mut explainer = Explainer::new(loops, Options::default());
        let mut cycles = Vec::new();
        for event in &events {
            explainer.event(event, |_, cycle| cycles.push(cycle));
        }
        explainer.finish(|_, cycle| cycles.push(cycle));
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
            fault: false,
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

impl Running {
    /// Only waits.
    pub fn wait(&self, time: Duration) -> Vec<(u64, u64)> {
        std::thread::sleep(time);
        Vec::new()
    }

    /// A thread that takes the loop's CPU for a time, several times; returns when it did.
    pub fn hog(&self, policy: Policy, time: Duration, times: usize) -> Vec<(u64, u64)> {
        self.on_the_loop_s_cpu(policy, move || {
            let mut taken = Vec::with_capacity(times + 2);
            for number in 0..times + 2 {
                std::thread::sleep(Duration::from_millis(20));
                let from_ns = clock::monotonic_ns();
                // The first time and the last are short: what is touched for the first time is
                // touched then, and the end of the thread takes time too.
                if (1..=times).contains(&number) {
                    spin(time);
                }
                taken.push((from_ns, clock::monotonic_ns()));
            }
            taken
        })
    }

    /// An ordinary thread that keeps the loop's CPU busy, and knows when it ran.
    pub fn neighbour(&self, time: Duration) -> Vec<(u64, u64)> {
        let chunks = self.on_the_loop_s_cpu(Policy::Other { nice: 0 }, move || {
            let mut chunks = Vec::with_capacity(100_000);
            let end_ns = clock::monotonic_ns() + time.as_nanos() as u64;
            let (mut from_ns, mut last_ns) = (clock::monotonic_ns(), clock::monotonic_ns());
            while last_ns < end_ns {
                let now_ns = clock::monotonic_ns();
                // Longer than any two readings in a row take: it did not run meanwhile.
                if now_ns - last_ns > 20_000 && chunks.len() < chunks.capacity() {
                    chunks.push((from_ns, last_ns));
                    from_ns = now_ns;
                }
                last_ns = now_ns;
            }
            chunks.push((from_ns, last_ns));
            chunks
        });
        *self.chunks.lock().expect("unpoisoned") = chunks;
        Vec::new()
    }

    /// This whole process is stopped and continued by another; returns when that was done.
    pub fn stop_and_continue(&self, time: Duration, times: usize) -> Vec<(u64, u64)> {
        let output = std::process::Command::new("/proc/self/exe")
            .args([
                "--ignored",
                "--exact",
                "laboratory::stops_its_parent",
                "--nocapture",
            ])
            .env("STOP_FOR_US", time.as_micros().to_string())
            .env("STOP_TIMES", times.to_string())
            .output()
            .expect("a helper");
        let text = String::from_utf8(output.stderr).expect("text");
        let line = |line: &str| {
            let (from, to) = line.strip_prefix("stopped ")?.split_once(' ')?;
            Some((from.parse().ok()?, to.parse().ok()?))
        };
        text.lines().filter_map(line).collect()
    }

    /// Threads on the other CPU that give memory back: each time the page tables change, and the
    /// CPUs that use them are told.
    pub fn unmap_on_the_other_cpu(&self, time: Duration) -> Vec<(u64, u64)> {
        self.on_cpu(self.other_cpu, Policy::Other { nice: 0 }, move || {
            let until = std::time::Instant::now() + time;
            while std::time::Instant::now() < until {
                // Large enough to be mapped and unmapped each time, whatever the allocator learnt.
                let mut memory = vec![0_u8; 64 << 20];
                touch(&mut memory[..PAGES * 4096]);
                drop(memory);
            }
            Vec::new()
        })
    }

    /// Datagrams to a socket that nobody reads, sent on the loop's CPU: they are received there,
    /// in SoftIRQs.
    pub fn loopback_storm(&self, time: Duration) -> Vec<(u64, u64)> {
        self.on_the_loop_s_cpu(Policy::Other { nice: 0 }, move || {
            let sink = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            let source = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            source
                .connect(sink.local_addr().expect("an address"))
                .expect("a peer");
            let until = std::time::Instant::now() + time;
            let datagram = [0; 1400];
            while std::time::Instant::now() < until {
                // A full receive buffer drops it, after the SoftIRQ.
                let _ = source.send(&datagram);
            }
            Vec::new()
        })
    }

    fn on_the_loop_s_cpu<T: Send + 'static>(
        &self,
        policy: Policy,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        self.on_cpu(self.loop_cpu, policy, body)
    }

    fn on_cpu<T: Send + 'static>(
        &self,
        cpu: u16,
        policy: Policy,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let builder = std::thread::Builder::new().name("hog".into());
        let thread = builder.spawn(move || {
            let preparation = Preparation {
                policy,
                cpus: Some(vec![cpu]),
                lock_memory: false,
                ..Preparation::default()
            };
            preparation.apply().expect("the policy");
            body()
        });
        thread
            .expect("a thread")
            .join()
            .expect("the disturbance ends")
    }
}

impl Measured {
    pub fn note(&self, text: &str) {
        eprintln!("{text}; usual: {:?}", self.usual);
    }

    /// At least 99 % of the latency of the cycles later than this is explained.
    pub fn assert_explained(&self, above_ns: u64) {
        let late = self
            .cycles
            .iter()
            .filter(|cycle| cycle.latency_ns() > above_ns);
        let (mut all, mut explained, mut count) = (0, 0, 0);
        for cycle in late {
            all += cycle.latency_ns();
            explained += cycle.explained_ns();
            count += 1;
        }
        eprintln!("{count} late cycles, {explained} of {all} ns explained");
        if explained * 100 < all * 99 {
            self.show_unexplained();
            panic!("{explained} of {all} ns");
        }
    }

    /// The events of the cycle of which most is unexplained.
    fn show_unexplained(&self) {
        let missing = |cycle: &&Explained| cycle.latency_ns() - cycle.explained_ns();
        let Some(cycle) = self.cycles.iter().max_by_key(missing) else {
            return;
        };
        eprintln!("{cycle:#?}");
        let within = cycle.sample.due_ns.saturating_sub(100_000)..=cycle.sample.wake_ns + 100_000;
        for event in self
            .events
            .iter()
            .filter(|event| within.contains(&event.at_ns))
        {
            eprintln!("{event:?}");
        }
    }

    /// How long the neighbour ran between two instants, as it counted itself.
    pub fn neighbour_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        let chunk = |&(from, to): &(u64, u64)| to.min(to_ns).saturating_sub(from.max(from_ns));
        self.chunks.iter().map(chunk).sum()
    }

    /// Time of such interrupts between a cycle's due time and its end, straight from the events.
    pub fn interrupt_ns(&self, cycle: &Explained, which: impl Fn(&Interrupt) -> bool) -> u64 {
        let sample = &cycle.sample;
        self.sum(sample.due_ns, sample.end_ns, |what| match what {
            What::InterruptEntry(interrupt) if which(interrupt) => Some(true),
            What::InterruptExit(interrupt) if which(interrupt) => Some(false),
            _ => None,
        })
    }

    /// Time of a SoftIRQ between a cycle's due time and its wake-up, less interrupts within.
    pub fn softirq_ns(&self, cycle: &Explained, vector: u8) -> u64 {
        let (from_ns, to_ns) = (cycle.sample.due_ns, cycle.sample.wake_ns);
        let mut within = false;
        let whole = self.sum(from_ns, to_ns, |what| match what {
            What::SoftIrqEntry(of) if *of == SoftIrq(vector) => Some(true),
            What::SoftIrqExit(of) if *of == SoftIrq(vector) => Some(false),
            _ => None,
        });
        let interrupts = self.sum(from_ns, to_ns, |what| match what {
            What::SoftIrqEntry(of) if *of == SoftIrq(vector) => {
                within = true;
                None
            }
            What::SoftIrqExit(of) if *of == SoftIrq(vector) => {
                within = false;
                None
            }
            What::InterruptEntry(_) if within => Some(true),
            What::InterruptExit(_) if within => Some(false),
            _ => None,
        });
        whole - interrupts
    }

    fn sum(&self, from_ns: u64, to_ns: u64, mut edge: impl FnMut(&What) -> Option<bool>) -> u64 {
        let mut begun = None;
        let mut sum = 0;
        // A softirq or interrupt under way began a millisecond earlier at most.
        let first = self
            .events
            .partition_point(|e| e.at_ns + 1_000_000 < from_ns);
        let near = self.events[first..]
            .iter()
            .take_while(|e| e.at_ns <= to_ns + 1_000_000);
        for event in near.filter(|event| event.cpu == self.loop_cpu) {
            match edge(&event.what) {
                Some(true) => begun = Some(event.at_ns),
                Some(false) => {
                    if let Some(begun) = begun.take() {
                        let end = event.at_ns.min(to_ns);
                        sum += end.saturating_sub(begun.max(from_ns));
                    }
                }
                None => {}
            }
        }
        sum
    }
}

pub fn of_kind(cycle: &Explained, kind: &str) -> u64 {
    let pieces = cycle.latency.iter().chain(&cycle.execution);
    pieces
        .filter(|p| p.cause.kind() == kind)
        .map(|p| p.ns())
        .sum()
}

/// Within 10 % or 5 µs.
pub fn assert_close(found: u64, known: u64, cycle: &Explained) {
    assert_close_share(found, known, 0.10, cycle);
}

pub fn assert_close_share(found: u64, known: u64, share: f64, cycle: &Explained) {
    let allowed = (share * known as f64).max(5_000.0);
    assert!(
        found.abs_diff(known) as f64 <= allowed,
        "{found} ns found, {known} ns known, in {cycle:#?}"
    );
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
