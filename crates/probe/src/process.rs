//! The probe's process: makes the source of events, records segments when told, writes their traces. When
//! its input ends it leaves, and an instance goes with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::{ClockId, Timespec, clock_gettime};
use wakepath_archive::{
    EventKind, Kept, KernelLatency, KernelNoise, KernelSections, LogFollower, SegmentTraced,
    SelfTestFound, ThreadOf, TraceDescription, TraceEnd, TraceMode, TraceWriter, TracingSetUp,
};
use wakepath_directory::Directory;
use wakepath_rt::clock;

use crate::apart;
use crate::buffers::{BufferChoice, BufferWish, available_memory, choose};
use crate::choice::Chosen;
use crate::collect::{Collector, merged};
use crate::cost::EventCost;
use crate::error::{KernelMeasureError, ProbeError, Result};
use crate::followed::Followed;
use crate::late::late_windows;
use crate::orphans;
use crate::osnoise;
use crate::politeness;
use crate::protocol::{Command, Ready, Reply, Setting};
use crate::sections;
use crate::self_test::SelfTest;
use crate::source::EventSource;
use crate::stream::Decoder;
use crate::timerlat;
use crate::tracefs::Tracefs;

/// Between two looks into a buffer that is drained; it holds seconds of events.
const DRAIN_EVERY: Duration = Duration::from_millis(100);
/// Between two times that a drained trace's blocks are written, full or not.
const WRITE_EVERY: Duration = Duration::from_secs(1);
/// The same two if a viewer waits for an event.
const AWAITED_EVERY: Duration = Duration::from_millis(50);
/// An event has its time before it can be read, and an interrupt may come between the two.
const UNREADABLE_NS: u64 = 20_000_000;

/// Serves a run in `directory` until `commands` ends.
///
/// # Errors
/// If the first line is no [`Setting`], or the replies have no reader. Unavailable tracing is a reply and no
/// error.
pub fn run<C: Read + AsFd>(
    directory: &Directory,
    commands: C,
    mut replies: impl Write,
) -> std::io::Result<()> {
    let mut commands = BufReader::new(commands);
    let mut line = String::new();
    commands.read_line(&mut line)?;
    let setting: Setting = serde_json::from_slice(line.as_bytes())?;
    let is_awaited = setting.is_awaited;
    let made = politeness::in_a_hurry(is_awaited, || Probe::set_up(directory, setting));
    let (mut probe, ready) = match made {
        Ok(made) => made,
        Err(error) => {
            let reason = error.to_string();
            return say(&mut replies, &Reply::Unavailable { reason });
        }
    };
    say(&mut replies, &Reply::Ready(Box::new(ready)))?;
    // Whether its look has left something: it looks again at once, but takes a command first.
    let mut is_behind = false;
    loop {
        let patience = match is_behind {
            true => Duration::ZERO,
            false if is_awaited => AWAITED_EVERY,
            false => DRAIN_EVERY,
        };
        match next(&mut commands, probe.wants_to_look().then_some(patience))? {
            Next::Nothing => is_behind = probe.look(),
            Next::End => return Ok(()),
            Next::Command(Command::Begin { segment }) => {
                probe.begin(segment);
                say(&mut replies, &Reply::Begun)?;
            }
            Next::Command(Command::Follow { threads }) => {
                probe.follow(&threads);
                politeness::be_polite(is_awaited);
                say(&mut replies, &Reply::Following)?;
            }
            Next::Command(Command::Timerlat { period_ns, for_ns }) => {
                let reply = Reply::Timerlat(probe.timerlat(period_ns, for_ns));
                say(&mut replies, &reply)?;
            }
            Next::Command(Command::Osnoise { for_ns }) => {
                let reply = Reply::Osnoise(probe.osnoise(for_ns));
                say(&mut replies, &reply)?;
            }
            Next::Command(Command::Sections {
                cpus,
                period_ns,
                for_ns,
            }) => {
                // It sleeps while events are recorded; otherwise its reading would be queued after the loads.
                let look = || probe.sections(&cpus, period_ns, for_ns);
                let reply = Reply::Sections(politeness::in_a_hurry(is_awaited, look));
                say(&mut replies, &reply)?;
            }
            Next::Command(Command::End) => {
                let reply = politeness::in_a_hurry(is_awaited, || probe.end());
                say(&mut replies, &reply)?;
            }
        }
    }
}

/// The source of events, and the segment under way.
struct Probe {
    directory: Directory,
    setting: Setting,
    choice: BufferChoice,
    tracefs: Tracefs,
    /// Before the source: it holds files of an instance open, and the kernel removes none whose
    /// files are open.
    segment: Option<Segment>,
    source: Box<dyn EventSource>,
    decoder: Decoder,
    /// Why the segment under way has no trace.
    problem: Option<String>,
    /// The run's log, if late cycles decide which events are kept.
    log: Option<LogFollower>,
}

struct Segment {
    number: u32,
    writer: TraceWriter,
    /// Of a drained buffer, which is read while the segment runs.
    collector: Option<Collector>,
    /// Threads of the watched program, until there is a collector.
    followed: Followed,
    began_ns: u64,
    cpu_time_ns: u64,
    /// When what was drained was last written out.
    written: Instant,
}

impl Probe {
    fn set_up(directory: &Directory, setting: Setting) -> Result<(Self, Ready)> {
        if setting.cpus.is_empty() {
            return Err(ProbeError::NoCpus);
        }
        let tracefs = Tracefs::find_or_mount()?;
        let orphans = orphans::remove_in(&tracefs);
        let meminfo = Path::new("/proc/meminfo");
        let text = std::fs::read_to_string(meminfo).map_err(ProbeError::io("read", meminfo))?;
        let wish = BufferWish {
            mode: setting.mode,
            bytes: setting.buffer_bytes,
        };
        let available = available_memory(&text).unwrap_or(0);
        let choice = choose(wish, setting.segment_ns, setting.cpus.len(), available)?;
        let Chosen {
            source,
            mut decoder,
            because,
        } = Chosen::make(
            setting.backend,
            &tracefs,
            &setting.cpus,
            choice.bytes,
            choice.mode,
            &setting.marks,
        )?;
        let mut self_tests = Vec::new();
        for &cpu in &setting.cpus {
            let test = || SelfTest::run(&*source, &mut decoder, cpu);
            let found = apart::on(setting.apart.as_ref(), cpu, test)?;
            self_tests.push(SelfTestFound {
                cpu,
                passed: found.passed(),
                text: found.to_string(),
            });
        }
        let first = source.cpus()[0];
        let measured = || EventCost::measure(&*source);
        let cost = apart::on(setting.apart.as_ref(), first, measured)?;
        let set_up = TracingSetUp {
            backend: source.name().into(),
            because,
            cpus: setting.cpus.clone(),
            mode: choice.mode,
            buffer_bytes: source.buffer_bytes(),
            ns_per_event: Some(cost.ns_per_event),
            missing: source.missing().to_vec(),
            self_tests,
        };
        let probe = Self {
            directory: directory.clone(),
            setting,
            choice,
            tracefs,
            source,
            decoder,
            segment: None,
            problem: None,
            log: None,
        };
        Ok((probe, Ready { set_up, orphans }))
    }

    /// Records the calls of more threads.
    fn follow(&mut self, threads: &[ThreadOf]) {
        let Some(segment) = &mut self.segment else {
            return;
        };
        let followed = segment.followed();
        let can = self.source.recorded().contains(&EventKind::SystemCall);
        followed.add(threads, can);
        followed.look();
        // If that fails, the trace is as good as without them.
        let _ = self.source.record_calls(&followed.recorded());
        followed.begun(clock::monotonic_ns());
    }

    fn wants_to_look(&self) -> bool {
        let segment = self.segment.as_ref();
        segment.is_some_and(|segment| segment.collector.is_some())
    }

    fn begin(&mut self, number: u32) {
        self.problem = None;
        match self.try_to_begin(number) {
            Ok(segment) => self.segment = Some(segment),
            Err(error) => self.problem = Some(error.to_string()),
        }
    }

    fn try_to_begin(&mut self, number: u32) -> Result<Segment> {
        // Events are switched on, and pages had, before the loop's first due time.
        self.source.start()?;
        let began_ns = clock::monotonic_ns();
        let description = TraceDescription {
            segment: number,
            cpus: self.setting.cpus.clone(),
            backend: self.source.name().into(),
            clock: "CLOCK_MONOTONIC".into(),
            mode: self.choice.mode,
            buffer_bytes: self.source.buffer_bytes(),
            recorded: self.source.recorded().to_vec(),
            missing: self.source.missing().to_vec(),
            began_ns,
        };
        let writer = TraceWriter::create_in(&self.directory, &description)?;
        let collector = match self.choice.mode {
            TraceMode::Drained => Some(Collector::new(&*self.source, None)?),
            _ => None,
        };
        Ok(Segment {
            number,
            writer,
            collector,
            followed: Followed::default(),
            began_ns,
            cpu_time_ns: own_cpu_time_ns(),
            written: Instant::now(),
        })
    }

    /// Has the kernel measure by itself, one CPU after the other.
    fn timerlat(&self, period_ns: u64, for_ns: u64) -> Vec<KernelLatency> {
        let measured = |&cpu: &u16| {
            timerlat::measure(&self.tracefs, cpu, period_ns, for_ns).unwrap_or_else(|reason| {
                KernelLatency {
                    cpu,
                    period_ns,
                    not_available: Some(reason.to_string()),
                    ..KernelLatency::default()
                }
            })
        };
        self.setting.cpus.iter().map(measured).collect()
    }

    /// Has the kernel measure what takes a CPU away, one CPU after the other.
    fn osnoise(&self, for_ns: u64) -> Vec<KernelNoise> {
        let measured = |&cpu: &u16| {
            osnoise::measure(&self.tracefs, cpu, for_ns).unwrap_or_else(|reason| KernelNoise {
                cpu,
                not_available: Some(reason.to_string()),
                ..KernelNoise::default()
            })
        };
        self.setting.cpus.iter().map(measured).collect()
    }

    /// Looks at the sections of kernel code, one CPU after the other.
    fn sections(&self, cpus: &[u16], period_ns: u64, for_ns: u64) -> Vec<KernelSections> {
        let told = |&cpu: &u16| {
            let look = || Ok(sections::measure(&self.tracefs, cpu, period_ns, for_ns));
            let found = apart::on(self.setting.apart.as_ref(), cpu, look);
            let found = found.map_err(KernelMeasureError::from).flatten();
            found.unwrap_or_else(|reason| KernelSections {
                cpu,
                not_available: Some(reason.to_string()),
                ..KernelSections::default()
            })
        };
        cpus.iter().map(told).collect()
    }

    /// Empties a drained buffer, or a part of it: whether there may be more.
    fn look(&mut self) -> bool {
        let Some(segment) = &mut self.segment else {
            return false;
        };
        let mut may_be_more = false;
        if let Some(collector) = &mut segment.collector {
            collector.followed.look();
            let begun_ns = clock::monotonic_ns();
            let mut outcome = collector
                .take_some(&mut self.decoder, &mut segment.writer)
                .map(|more| may_be_more = more);
            if collector.followed.leave_out_the_busiest() {
                let _ = self.source.record_calls(&collector.followed.recorded());
            }
            // A kill takes a second away, however few the events are.
            let write_every = if self.setting.is_awaited {
                AWAITED_EVERY
            } else {
                WRITE_EVERY
            };
            if outcome.is_ok() && segment.written.elapsed() >= write_every {
                segment.written = Instant::now();
                let complete_ns = begun_ns.saturating_sub(UNREADABLE_NS);
                let written = match may_be_more {
                    false => segment.writer.complete_until(complete_ns),
                    true => segment.writer.flush(),
                };
                outcome = written.map_err(ProbeError::from);
            }
            if let Err(error) = outcome {
                self.problem.get_or_insert(error.to_string());
            }
        }
        may_be_more
    }

    fn end(&mut self) -> Reply {
        let stopped = self.source.stop();
        let Some(segment) = self.segment.take() else {
            let trace = None;
            let problem = self.problem.take();
            return Reply::Ended { trace, problem };
        };
        match stopped.and_then(|ended_ns| self.write(segment, ended_ns)) {
            Ok(trace) => Reply::Ended {
                trace: Some(trace),
                problem: self.problem.take(),
            },
            Err(error) => Reply::Ended {
                trace: None,
                problem: Some(error.to_string()),
            },
        }
    }

    fn write(&mut self, segment: Segment, ended_ns: u64) -> Result<SegmentTraced> {
        // The probe's CPU time while the segment ran; the rest of its work disturbs nothing.
        let cpu_time_ns = own_cpu_time_ns().saturating_sub(segment.cpu_time_ns);
        let wall_ns = ended_ns.saturating_sub(segment.began_ns);
        let Segment {
            number,
            mut writer,
            followed,
            ..
        } = segment;
        let windows = match (self.setting.keep_above_ns, self.choice.mode) {
            (Some(above_ns), TraceMode::FlightRecorder) => {
                let log = match &mut self.log {
                    Some(open) => open,
                    none => none.insert(LogFollower::open_in(&self.directory)?),
                };
                Some(merged(late_windows(log, number, above_ns)?))
            }
            _ => None,
        };
        let mut collector = match segment.collector {
            Some(collector) => collector,
            None => {
                let mut new = Collector::new(&*self.source, windows.clone())?;
                new.followed = followed;
                new
            }
        };
        collector.take(&mut self.decoder, &mut writer)?;
        let cpus = collector.counted(&*self.source, self.choice.mode)?;
        let of = |value: fn(&wakepath_archive::CpuCount) -> u64| cpus.iter().map(value).sum();
        let traced = SegmentTraced {
            segment: number,
            events: of(|count| count.events),
            taken: of(|count| count.taken),
            lost: of(|count| count.lost),
            lost_cpus: Vec::new(),
            overwritten: of(|count| count.overwritten),
            bytes: 0,
            cpu_time_ns,
            wall_ns,
            own: None,
        };
        let end = TraceEnd {
            ended_ns,
            kept: match windows {
                Some(windows) => Kept::Windows { windows },
                None => Kept::All,
            },
            cpus,
            members: collector.followed.members(),
        };
        let bytes = writer.finish(&end)?;
        Ok(SegmentTraced { bytes, ..traced })
    }
}

impl Segment {
    fn followed(&mut self) -> &mut Followed {
        match &mut self.collector {
            Some(collector) => &mut collector.followed,
            None => &mut self.followed,
        }
    }
}

enum Next {
    Command(Command),
    Nothing,
    End,
}

/// The next command; [`Next::Nothing`] after a while if `look` is asked for.
fn next<C: Read + AsFd>(
    commands: &mut BufReader<C>,
    look_after: Option<Duration>,
) -> std::io::Result<Next> {
    if let Some(patience) = look_after
        && commands.buffer().is_empty()
    {
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: patience.subsec_nanos() as _,
        };
        let input = commands.get_ref();
        let mut descriptors = [PollFd::new(input, PollFlags::IN)];
        if !matches!(poll(&mut descriptors, Some(&timeout)), Ok(ready) if ready > 0) {
            return Ok(Next::Nothing);
        }
    }
    let mut line = String::new();
    match commands.read_line(&mut line)? {
        0 => Ok(Next::End),
        _ => Ok(Next::Command(serde_json::from_slice(line.as_bytes())?)),
    }
}

fn say(replies: &mut impl Write, reply: &Reply) -> std::io::Result<()> {
    serde_json::to_writer(&mut *replies, reply)?;
    replies.write_all(b"\n")?;
    replies.flush()
}

fn own_cpu_time_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
