//! An instance of the kernel's tracer of our own: buffers, clock, CPUs and events that nobody else
//! uses, so that neither disturbs the other. It is removed when it is dropped.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use wakepath_archive::{EventKind, MissingEvents};

use crate::error::{ProbeError, Result};
use crate::orphans;
use crate::owner::Owner;
use crate::stream::{Decoder, PageFormat, Tracepoint, Wanted};
use crate::symbols::Symbols;
use crate::tracefs::{Tracefs, read_text};

/// Without these no wake-up can be explained.
const NEEDED: [&str; 2] = ["sched_switch", "sched_waking"];

/// A running or stopped instance.
#[derive(Debug)]
pub struct Instance {
    directory: PathBuf,
    cpus: Vec<u16>,
    /// `enable` files of the events that are recorded.
    switches: Vec<PathBuf>,
    /// Kinds of events that are recorded.
    pub recorded: Vec<EventKind>,
    /// Events that are not, with the reason.
    pub missing: Vec<MissingEvents>,
    /// Bytes of a CPU's buffer, as the kernel says.
    pub buffer_bytes: u64,
    /// Bytes of a page of the buffer.
    pub page_bytes: usize,
    /// Layout of a page.
    pub page_format: PageFormat,
}

/// What an instance counts on one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuStatistics {
    /// Events in the buffer.
    pub entries: u64,
    /// Events overwritten.
    pub overrun: u64,
    /// Events refused while a reader held the buffer, and those lost in nesting.
    pub dropped: u64,
    /// Events read.
    pub read: u64,
}

impl Instance {
    /// Makes an instance for `cpus` with buffers of `buffer_bytes` each, all events enabled that
    /// the kernel has, stopped.
    ///
    /// # Errors
    /// [`ProbeError`], with what would help; whatever was made is removed.
    pub fn create(tracefs: &Tracefs, cpus: &[u16], buffer_bytes: u64) -> Result<(Self, Decoder)> {
        let owner = Owner::this_process().ok_or(ProbeError::NoEvents {
            events: "/proc/self/stat".into(),
        })?;
        let page_format = PageFormat::parse(&tracefs.read("events/header_page")?);
        let page_format = page_format.map_err(|error| ProbeError::NoEvents {
            events: format!("events/header_page ({error})"),
        })?;
        let directory = tracefs.instances().join(owner.name());
        fs::create_dir(&directory)
            .map_err(|error| ProbeError::refused(&directory, &tracefs.root, error))?;
        let mut instance = Self {
            directory,
            cpus: cpus.to_owned(),
            switches: Vec::new(),
            recorded: Vec::new(),
            missing: Vec::new(),
            buffer_bytes: 0,
            page_bytes: page_bytes(&tracefs.root, &page_format),
            page_format,
        };
        instance.write("tracing_on", "0")?;
        instance.write("trace_clock", "mono")?;
        instance.write("tracing_cpumask", &mask(cpus))?;
        instance.write("options/overwrite", "1")?;
        // Names come with the events that matter; the table of names costs time at every switch.
        // Older kernels have the option at the top only.
        let _ = instance.write("options/record-cmd", "0");
        instance.size_buffers(buffer_bytes)?;
        let decoder = instance.enable(tracefs)?;
        instance.write("events/enable", "0")?;
        Ok((instance, decoder))
    }

    /// CPUs that are traced.
    pub fn cpus(&self) -> &[u16] {
        &self.cpus
    }

    /// Where it lies in tracefs.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Begins to record, with empty buffers. Switching the events on changes the kernel's code on
    /// all CPUs: not while anything is measured.
    ///
    /// # Errors
    /// [`ProbeError::Io`].
    pub fn start(&self) -> Result<()> {
        for switch in &self.switches {
            fs::write(switch, "1").map_err(ProbeError::io("enable", switch))?;
        }
        // Writing anything into `trace` empties the buffers and their counts.
        self.write("trace", "")?;
        self.write("tracing_on", "1")
    }

    /// Ends recording; what was recorded stays. The events are switched off too: an event that is
    /// enabled costs time also when nobody keeps it.
    ///
    /// # Errors
    /// [`ProbeError::Io`].
    pub fn stop(&self) -> Result<()> {
        self.write("tracing_on", "0")?;
        self.write("events/enable", "0")
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

    /// What the kernel counts on a CPU.
    ///
    /// # Errors
    /// [`ProbeError::Io`].
    pub fn statistics(&self, cpu: u16) -> Result<CpuStatistics> {
        let path = self.directory.join(format!("per_cpu/cpu{cpu}/stats"));
        let text = read_text(&path).map_err(ProbeError::io("read", &path))?;
        Ok(CpuStatistics::parse(&text))
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

    fn enable(&mut self, tracefs: &Tracefs) -> Result<Decoder> {
        // Hidden addresses leave functions without names, which is no reason not to trace.
        let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        let version = fs::read_to_string("/proc/version").unwrap_or_default();
        let mut decoder = Decoder::new(Symbols::parse(&symbols), version.contains("PREEMPT_RT"));
        let mut wanted = Wanted::all();
        wanted.extend(vectors(tracefs));
        for Wanted { tracepoint, kind } in wanted {
            match self.enable_one(&tracepoint, &mut decoder) {
                Ok(switch) => {
                    self.switches.push(switch);
                    if !self.recorded.contains(&kind) {
                        self.recorded.push(kind);
                    }
                }
                Err(reason) if NEEDED.contains(&tracepoint.name.as_str()) => {
                    return Err(ProbeError::NoEvents {
                        events: format!("{} ({reason})", tracepoint.path()),
                    });
                }
                Err(reason) => self.missing.push(MissingEvents {
                    events: tracepoint.path(),
                    kind,
                    reason,
                }),
            }
        }
        Ok(decoder)
    }

    fn enable_one(
        &self,
        tracepoint: &Tracepoint,
        decoder: &mut Decoder,
    ) -> std::result::Result<PathBuf, String> {
        let Tracepoint { system, name } = tracepoint;
        let event = self.directory.join(format!("events/{system}/{name}"));
        let format = match read_text(&event.join("format")) {
            Ok(format) => format,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err("this kernel does not have it".into());
            }
            Err(error) => return Err(error.to_string()),
        };
        decoder
            .learn(tracepoint, &format)
            .map_err(|error| error.to_string())?;
        let switch = event.join("enable");
        fs::write(&switch, "1").map_err(|error| error.to_string())?;
        Ok(switch)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // One that can't be removed now is an orphan for the next start.
        orphans::remove(&self.directory);
    }
}

impl CpuStatistics {
    /// Reads `per_cpu/cpuN/stats`.
    fn parse(text: &str) -> Self {
        let of = |key: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(key));
            value
                .and_then(|value| value.trim().parse().ok())
                .unwrap_or(0)
        };
        Self {
            entries: of("entries:"),
            overrun: of("overrun:"),
            dropped: of("dropped events:") + of("commit overrun:"),
            read: of("read events:"),
        }
    }
}

/// The vectors of an x86 CPU; an Arm kernel has none, and its interrupts all have numbers.
fn vectors(tracefs: &Tracefs) -> Vec<Wanted> {
    let Ok(entries) = fs::read_dir(tracefs.root.join("events/irq_vectors")) else {
        return Vec::new();
    };
    let names = entries
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok());
    let mut found: Vec<Wanted> = names.filter_map(|name| Wanted::vector(&name)).collect();
    found.sort_by(|a, b| a.tracepoint.name.cmp(&b.tracepoint.name));
    found
}

/// Bytes of a page: the head and the 4080 or so bytes behind it, or a larger sub-buffer where the
/// kernel has them.
fn page_bytes(root: &Path, format: &PageFormat) -> usize {
    let larger = fs::read_to_string(root.join("buffer_subbuf_size_kb"))
        .ok()
        .and_then(|size| size.trim().parse::<usize>().ok())
        .map(|kibibytes| kibibytes * 1024);
    larger
        .unwrap_or_else(rustix::param::page_size)
        .max(format.head_bytes() + 64)
}

/// CPUs as the kernel's masks are written: 32 bits a word, highest first.
fn mask(cpus: &[u16]) -> String {
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
        let found = CpuStatistics::parse(text);
        assert_eq!((found.entries, found.overrun), (12, 3));
        assert_eq!((found.dropped, found.read), (5, 5));
    }
}
