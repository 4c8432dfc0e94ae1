//! Our own instance of the kernel's tracer: its buffers, clock, CPUs and events are used by no other program,
//! so that neither disturbs the other. It is removed when it is dropped.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use wakepath_archive::{EventKind, MissingEvents};
use wakepath_rt::clock;

use crate::error::{ProbeError, Result};
use crate::events::KnownEvents;
use crate::orphans;
use crate::owner::Owner;
use crate::pages::Pages;
use crate::source::{CpuBuffer, CpuStatistics, EventSource};
use crate::stream::{Decoder, PageFormat, Tracepoint, filter_calls, filter_threads};
use crate::tracefs::{Tracefs, read_text};
use crate::usdt::{Mark, Registered};

/// A running or stopped instance.
#[derive(Debug)]
pub struct Instance {
    directory: PathBuf,
    cpus: Vec<u16>,
    events: KnownEvents,
    /// Bytes of a CPU's buffer, as the kernel reports them.
    pub buffer_bytes: u64,
    /// Bytes of a page of the buffer.
    pub page_bytes: usize,
    /// Layout of a page.
    pub page_format: PageFormat,
    /// Dropped after [`Instance::drop`], which ends their being recorded.
    marks: Option<Registered>,
}

impl Instance {
    /// Makes an instance for `cpus` with buffers of `buffer_bytes` each, all events enabled that
    /// the kernel has, stopped.
    ///
    /// # Errors
    /// [`ProbeError`], with what would help; whatever was made is removed.
    pub fn create(tracefs: &Tracefs, cpus: &[u16], buffer_bytes: u64) -> Result<(Self, Decoder)> {
        Self::with_marks(tracefs, cpus, buffer_bytes, &[])
    }

    /// [`Instance::create`], which records marks of programs too.
    ///
    /// # Errors
    /// [`ProbeError`], with what would help; whatever was made is removed.
    pub fn with_marks(
        tracefs: &Tracefs,
        cpus: &[u16],
        buffer_bytes: u64,
        marks: &[Mark],
    ) -> Result<(Self, Decoder)> {
        let owner = Owner::this_process().ok_or(ProbeError::NoEvents {
            events: "/proc/self/stat".into(),
        })?;
        let page_format = PageFormat::parse(&tracefs.read("events/header_page")?);
        let page_format = page_format.map_err(|error| ProbeError::NoEvents {
            events: format!("events/header_page ({error})"),
        })?;
        let directory = tracefs.instances().join(owner.name());
        fs::create_dir(&directory).map_err(|error| ProbeError::refused(&directory, error))?;
        let mut instance = Self {
            directory,
            cpus: cpus.to_owned(),
            events: KnownEvents::default(),
            buffer_bytes: 0,
            page_bytes: page_bytes(&tracefs.root, &page_format),
            page_format,
            marks: None,
        };
        let marks = Registered::all(&tracefs.root, &owner, marks)?;
        let wanted = &instance.marks.insert(marks).wanted.clone();
        instance.write("tracing_on", "0")?;
        instance.write("trace_clock", "mono")?;
        instance.write("tracing_cpumask", &mask(cpus))?;
        instance.write("options/overwrite", "1")?;
        // Names come with the events that matter; the kernel's table of names costs time at every switch and
        // wake-up. The option is listed at the top only, and an instance takes it here. It would take the
        // names from others' events too, so the option stays on while others record.
        if nobody_records(&tracefs.root) {
            let _ = instance.write("trace_options", "norecord-cmd");
        }
        instance.size_buffers(buffer_bytes)?;
        let (mut events, mut decoder) =
            KnownEvents::learn(&instance.directory, wanted, |tracepoint, _| {
                let switch = instance.directory.join(tracepoint.place()).join("enable");
                Ok(fs::write(&switch, "1")?)
            })?;
        events.learn_of_threads(&instance.directory, &mut decoder, |tracepoint| {
            let filter = instance.directory.join(tracepoint.place()).join("filter");
            Ok(fs::write(&filter, "common_pid == 0")?)
        });
        instance.events = events;
        instance.write("events/enable", "0")?;
        Ok((instance, decoder))
    }

    /// Its directory in tracefs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The pages of a CPU's buffer, never waiting for more.
    ///
    /// # Errors
    /// [`ProbeError::Io`].
    pub fn pages(&self, cpu: u16) -> Result<File> {
        let path = self
            .directory
            .join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        File::options()
            .read(true)
            .custom_flags(nonblocking)
            .open(&path)
            .map_err(ProbeError::io("open", &path))
    }

    fn write(&self, name: &str, value: &str) -> Result<()> {
        let path = self.directory.join(name);
        // `trace` is emptied by opening it so; the other files take no notice.
        File::options()
            .write(true)
            .truncate(true)
            .open(&path)
            .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()))
            .map_err(ProbeError::io("write", &path))
    }

    fn enable(&self, is_wanted: impl Fn(&Tracepoint) -> bool) -> Result<()> {
        for tracepoint in self.events.learnt.iter().filter(|of| is_wanted(of)) {
            let switch = self.directory.join(tracepoint.place()).join("enable");
            fs::write(&switch, "1").map_err(ProbeError::io("enable", &switch))?;
        }
        Ok(())
    }

    fn size_buffers(&mut self, bytes: u64) -> Result<()> {
        let kibibytes = bytes.div_ceil(1024).to_string();
        for cpu in self.cpus.clone() {
            self.write(&format!("per_cpu/cpu{cpu}/buffer_size_kb"), &kibibytes)?;
            let path = self
                .directory
                .join(format!("per_cpu/cpu{cpu}/buffer_size_kb"));
            let given = read_text(&path).map_err(ProbeError::io("read", &path))?;
            let given = given.split_whitespace().next().and_then(|n| n.parse().ok());
            self.buffer_bytes = given.unwrap_or(0) * 1024;
        }
        Ok(())
    }
}

/// Whether no event is switched on anywhere in the kernel's tracer.
pub(crate) fn nobody_records(root: &Path) -> bool {
    let instances = fs::read_dir(root.join("instances")).into_iter().flatten();
    let places = instances.flatten().map(|entry| entry.path());
    let mut places = places.chain([root.to_owned()]);
    // `0`: none; `1` or `X`: all or some.
    places.all(|place| {
        let enabled = read_text(&place.join("events/enable"));
        enabled.is_ok_and(|text| text.trim() == "0")
    })
}

impl EventSource for Instance {
    fn name(&self) -> &'static str {
        "tracefs instance"
    }

    fn place(&self) -> &Path {
        &self.directory
    }

    fn cpus(&self) -> &[u16] {
        &self.cpus
    }

    fn buffer_bytes(&self) -> u64 {
        self.buffer_bytes
    }

    fn recorded(&self) -> &[EventKind] {
        &self.events.recorded
    }

    fn missing(&self) -> &[MissingEvents] {
        &self.events.missing
    }

    fn start(&self) -> Result<()> {
        self.enable(|_| true)?;
        self.resume()
    }

    fn start_without_marks(&self) -> Result<()> {
        let marks = self.marks.iter().flat_map(|marks| &marks.wanted);
        let marks: Vec<&Tracepoint> = marks.map(|wanted| &wanted.tracepoint).collect();
        self.enable(|tracepoint| !marks.contains(&tracepoint))?;
        self.resume()
    }

    fn pause(&self) -> Result<()> {
        self.write("tracing_on", "0")
    }

    fn resume(&self) -> Result<()> {
        // Writing anything into `trace` empties the buffers and their counts.
        self.write("trace", "")?;
        self.write("tracing_on", "1")
    }

    fn stop(&self) -> Result<u64> {
        self.pause()?;
        let ended_ns = clock::monotonic_ns();
        self.write("events/enable", "0")?;
        Ok(ended_ns)
    }

    fn record_calls(&self, threads: &[u32]) -> Result<bool> {
        // The exits first: a call without its exit would seem to last.
        let calls = self.events.calls.iter().rev();
        let calls = calls.map(|tracepoint| (tracepoint, filter_calls(threads)));
        let mapped = self.events.mapped.iter();
        let mapped = mapped.map(|tracepoint| (tracepoint, filter_threads(threads)));
        for (tracepoint, filter) in calls.chain(mapped) {
            let place = self.directory.join(tracepoint.place());
            let write = |name: &str, value: &str| {
                let path = place.join(name);
                fs::write(&path, value).map_err(ProbeError::io("write", &path))
            };
            match filter {
                // A filter is replaced while the event is recorded.
                Some(text) => {
                    write("filter", &text)?;
                    write("enable", "1")?;
                }
                None => write("enable", "0")?,
            }
        }
        Ok(!self.events.calls.is_empty())
    }

    fn statistics(&self, cpu: u16) -> Result<CpuStatistics> {
        let path = self.directory.join(format!("per_cpu/cpu{cpu}/stats"));
        let text = read_text(&path).map_err(ProbeError::io("read", &path))?;
        Ok(statistics(&text))
    }

    fn buffer(&self, cpu: u16) -> Result<Box<dyn CpuBuffer>> {
        Ok(Box::new(Pages::new(
            self.pages(cpu)?,
            self.page_format,
            self.page_bytes,
            self.directory.clone(),
        )))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // One that can't be removed now is an orphan for the next start.
        orphans::remove(&self.directory);
    }
}

/// Reads `per_cpu/cpuN/stats`.
pub(crate) fn statistics(text: &str) -> CpuStatistics {
    let of = |key: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(key));
        value
            .and_then(|value| value.trim().parse().ok())
            .unwrap_or(0)
    };
    CpuStatistics {
        entries: of("entries:"),
        overrun: of("overrun:"),
        dropped: of("dropped events:") + of("commit overrun:"),
        read: of("read events:"),
    }
}

/// Bytes of a page: the head and the 4080 or so bytes after it, or a larger sub-buffer if the kernel has
/// them.
pub(crate) fn page_bytes(root: &Path, format: &PageFormat) -> usize {
    let larger = fs::read_to_string(root.join("buffer_subbuf_size_kb"))
        .ok()
        .and_then(|size| size.trim().parse::<usize>().ok())
        .map(|kibibytes| kibibytes * 1024);
    larger
        .unwrap_or_else(rustix::param::page_size)
        .max(format.head_bytes() + 64)
}

/// CPUs as the kernel's masks are written: 32 bits a word, highest first.
pub(crate) fn mask(cpus: &[u16]) -> String {
    let highest = cpus.iter().copied().max().unwrap_or(0);
    let mut words = vec![0_u32; usize::from(highest / 32) + 1];
    for cpu in cpus {
        words[usize::from(cpu / 32)] |= 1 << (cpu % 32);
    }
    let words: Vec<String> = words
        .iter()
        .rev()
        .map(|word| format!("{word:08x}"))
        .collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_beyond_the_first_word_have_their_own() {
        assert_eq!(mask(&[0, 3]), "00000009");
        assert_eq!(mask(&[33]), "00000002,00000000");
    }

    #[test]
    fn the_kernels_counts_are_read_by_their_names() {
        let text = "entries: 12\noverrun: 3\ncommit overrun: 1\nbytes: 900\n\
            oldest event ts:  2725.1\nnow ts:  2726.2\ndropped events: 4\nread events: 5\n";
        let found = statistics(text);
        assert_eq!((found.entries, found.overrun), (12, 3));
        assert_eq!((found.dropped, found.read), (5, 5));
    }
}
