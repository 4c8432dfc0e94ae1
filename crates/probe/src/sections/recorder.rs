//! An instance of the kernel's tracer for the events that show sections, on one CPU. Its buffer is filled in
//! a turn and emptied after it: nothing reads while events are recorded.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use wakepath_schedulability::sections::Fold;

use super::reading::{Places, Readings};
use crate::buffers::available_memory;
use crate::error::{KernelMeasureError, ProbeError};
use crate::instance::{mask, nobody_records, page_bytes};
use crate::orphans;
use crate::owner::Owner;
use crate::pages::Pages;
use crate::source::{CpuBuffer, Found};
use crate::stream::PageFormat;
use crate::symbols::Symbols;
use crate::tracefs::{Tracefs, read_text};

/// Two million events in a turn; a share of the memory if that is less.
const BUFFER_BYTES: u64 = 40 << 20;
const SHARE_OF_MEMORY: u64 = 16;

/// Without these there are no sections.
const NEEDED: [(&str, &str); 6] = [
    ("preemptirq", "irq_disable"),
    ("preemptirq", "irq_enable"),
    ("preemptirq", "preempt_disable"),
    ("preemptirq", "preempt_enable"),
    ("sched", "sched_switch"),
    ("power", "cpu_idle"),
];
/// Names of interrupts, next to those of an x86 CPU's vectors.
const NAMES: (&str, &str) = ("irq", "irq_handler_entry");

/// The instance, removed when dropped.
pub(super) struct Recorder {
    place: PathBuf,
    cpu: u16,
    page_format: PageFormat,
    page_bytes: usize,
    /// Files that switch the events.
    switches: Vec<PathBuf>,
    readings: Readings,
}

/// The outcome of a turn.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Read {
    /// Events lost.
    pub(super) lost: u64,
    /// From the first event to the last.
    pub(super) observed_ns: u64,
}

impl Recorder {
    /// Makes it, stopped.
    pub(super) fn make(tracefs: &Tracefs, cpu: u16) -> Result<Self, KernelMeasureError> {
        let lacks = |(system, name): &&(&str, &str)| {
            !tracefs
                .root()
                .join(format!("events/{system}/{name}"))
                .exists()
        };
        if let Some((system, name)) = NEEDED.iter().find(lacks) {
            return Err(KernelMeasureError::NoSections(format!(
                "{system}:{name} event"
            )));
        }
        let header = tracefs.read("events/header_page")?;
        let page_format = PageFormat::parse(&header).map_err(|error| ProbeError::NoEvents {
            events: format!("events/header_page ({error})"),
        })?;
        let owner = Owner::this_process().ok_or(ProbeError::NoEvents {
            events: "/proc/self/stat".into(),
        })?;
        let place = tracefs.instances().join(owner.second_name());
        fs::create_dir(&place).map_err(ProbeError::io("make", &place))?;
        let mut recorder = Self {
            page_bytes: page_bytes(tracefs.root(), &page_format),
            place,
            cpu,
            page_format,
            switches: Vec::new(),
            readings: Readings::default(),
        };
        recorder.write("tracing_on", "0")?;
        recorder.write("trace_clock", "mono")?;
        recorder.write("tracing_cpumask", &mask(&[cpu]))?;
        // The beginning of a turn is kept: events are lost only after it, and never in the middle of it.
        recorder.write("options/overwrite", "0")?;
        if nobody_records(tracefs.root()) {
            let _ = recorder.write("trace_options", "norecord-cmd");
        }
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let share = available_memory(&memory).unwrap_or(0) / SHARE_OF_MEMORY;
        let kibibytes = BUFFER_BYTES.min(share).max(1 << 20) / 1024;
        let size = format!("per_cpu/cpu{cpu}/buffer_size_kb");
        recorder.write(&size, &kibibytes.to_string())?;
        for (system, name) in NEEDED {
            recorder.learn(system, name)?;
        }
        // Interrupts without a name are still interrupts.
        let _ = recorder.learn(NAMES.0, NAMES.1);
        for name in recorder.vectors() {
            let _ = recorder.learn("irq_vectors", &name);
        }
        Ok(recorder)
    }

    fn vectors(&self) -> Vec<String> {
        let all = fs::read_dir(self.place.join("events/irq_vectors")).into_iter();
        let names = all.flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut entries: Vec<String> = names.filter(|name| name.ends_with("_entry")).collect();
        entries.sort_unstable();
        entries
    }

    fn learn(&mut self, system: &str, name: &str) -> Result<(), ProbeError> {
        let event = self.place.join(format!("events/{system}/{name}"));
        let format = event.join("format");
        let text = read_text(&format).map_err(ProbeError::io("read", &format))?;
        let learnt = self.readings.learn(name, &text);
        learnt.map_err(|error| ProbeError::NoEvents {
            events: format!("{system}:{name} ({error})"),
        })?;
        self.switches.push(event.join("enable"));
        Ok(())
    }

    /// How its records are read, by the kernel's `_stext`.
    pub(super) fn readings(&self, start: u64) -> Readings {
        self.readings.since(start)
    }

    /// Records from now on, into an empty buffer.
    pub(super) fn start(&self) -> Result<(), ProbeError> {
        for switch in &self.switches {
            fs::write(switch, "1").map_err(ProbeError::io("enable", switch))?;
        }
        self.write("trace", "")?;
        self.write("tracing_on", "1")
    }

    /// Records no more, and events cost nothing.
    pub(super) fn stop(&self) -> Result<(), ProbeError> {
        self.write("tracing_on", "0")?;
        self.write("events/enable", "0")
    }

    /// Folds what was recorded.
    pub(super) fn read(
        &self,
        readings: &Readings,
        fold: &mut Fold,
        symbols: &mut Symbols,
    ) -> Result<Read, ProbeError> {
        let path = self
            .place
            .join(format!("per_cpu/cpu{}/trace_pipe_raw", self.cpu));
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let file = File::options()
            .read(true)
            .custom_flags(nonblocking)
            .open(&path)
            .map_err(ProbeError::io("open", &path))?;
        let mut pages = Pages::new(file, self.page_format, self.page_bytes, self.place.clone());
        let (mut read, mut places) = (Read::default(), Places::default());
        let (mut first_ns, mut last_ns) = (None, 0);
        pages.take(&mut |found| {
            match found {
                Found::From(_) => {}
                Found::Lost { count, .. } => {
                    read.lost += count.max(1);
                    fold.hole();
                }
                Found::Record(record) => {
                    let mut place = |address| places.place(address, symbols);
                    if let Some(event) = readings.told(&record, &mut place) {
                        first_ns.get_or_insert(record.at_ns);
                        last_ns = record.at_ns;
                        fold.push(event, |address| places.role(address));
                    }
                }
            }
            Ok(())
        })?;
        fold.end();
        let stats = self.place.join(format!("per_cpu/cpu{}/stats", self.cpu));
        let text = read_text(&stats).map_err(ProbeError::io("read", &stats))?;
        let counts = crate::instance::statistics(&text);
        read.lost += counts.dropped + counts.overrun;
        read.observed_ns = last_ns - first_ns.unwrap_or(last_ns);
        Ok(read)
    }

    fn write(&self, name: &str, value: &str) -> Result<(), ProbeError> {
        let path = self.place.join(name);
        // `trace` is emptied by opening it so; the other files take no notice.
        File::options()
            .write(true)
            .truncate(true)
            .open(&path)
            .and_then(|mut file| std::io::Write::write_all(&mut file, value.as_bytes()))
            .map_err(ProbeError::io("write", &path))
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        orphans::remove(&self.place);
    }
}
