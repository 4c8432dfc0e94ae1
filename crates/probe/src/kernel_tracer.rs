//! One of the kernel's own measuring tracers, in our instance, on one CPU, for a while. Its callers interpret
//! its lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::borrowed::Borrowed;
use crate::error::{KernelMeasureError, ProbeError};
use crate::instance::mask;
use crate::orphans;
use crate::owner::Owner;
use crate::tracefs::{Tracefs, read_text};

/// Buffer for two lines of 40 bytes a period.
const BUFFER_KIB: u64 = 4096;

/// A tracer at work, switched off when dropped.
pub(crate) struct KernelTracer {
    instance: PathBuf,
    /// The tracers' settings are the whole kernel's.
    borrowed: Option<Borrowed>,
}

impl KernelTracer {
    /// Starts a tracer on one CPU with these settings, which are files of tracefs.
    pub(crate) fn start(
        tracefs: &Tracefs,
        name: &'static str,
        cpu: u16,
        settings: &[(&str, String)],
    ) -> Result<Self, KernelMeasureError> {
        let root = tracefs.root();
        refuse_unknown(root, name)?;
        Ok(Self::begin(root, name, cpu, settings)?)
    }

    /// Starts a tracer that has no settings on one CPU.
    pub(crate) fn start_bare(
        tracefs: &Tracefs,
        name: &'static str,
        cpu: u16,
    ) -> Result<Self, KernelMeasureError> {
        let root = tracefs.root();
        refuse_unknown(root, name)?;
        let tracer = Self::make(root)?;
        tracer.write("tracing_cpumask", &mask(&[cpu]))?;
        tracer.write("tracing_max_latency", "0")?;
        tracer.write("current_tracer", name)?;
        tracer.write("tracing_on", "1")?;
        Ok(tracer)
    }

    fn begin(
        root: &Path,
        name: &str,
        cpu: u16,
        settings: &[(&str, String)],
    ) -> crate::Result<Self> {
        let owner = owner()?;
        let mut tracer = Self::make(root)?;
        let cpus = [("osnoise/cpus", cpu.to_string())];
        let settings = [&cpus, settings].concat();
        tracer.borrowed = Some(Borrowed::set(root, &owner.second_name(), &settings)?);
        tracer.write("current_tracer", name)?;
        tracer.write("tracing_on", "1")?;
        Ok(tracer)
    }

    fn make(root: &Path) -> crate::Result<Self> {
        let owner = owner()?;
        // The probe's own instance has the plain name; both are known as this process's.
        let instance = root.join("instances").join(owner.second_name());
        fs::create_dir(&instance).map_err(ProbeError::io("make", &instance))?;
        let tracer = Self {
            instance,
            borrowed: None,
        };
        tracer.write("tracing_on", "0")?;
        tracer.write("trace_clock", "mono")?;
        tracer.write("buffer_size_kb", &BUFFER_KIB.to_string())?;
        Ok(tracer)
    }

    /// Stops it and returns its output.
    pub(crate) fn stop(self) -> crate::Result<String> {
        // Read before it is switched off, which empties the buffer.
        self.write("tracing_on", "0")?;
        let trace = self.instance.join("trace");
        read_text(&trace).map_err(ProbeError::io("read", &trace))
    }

    /// Stops it; the largest that it kept, in microseconds, and what it wrote of that.
    pub(crate) fn stop_with_largest(self) -> crate::Result<(String, String)> {
        self.write("tracing_on", "0")?;
        let [largest, trace] =
            ["tracing_max_latency", "trace"].map(|name| self.instance.join(name));
        let largest = read_text(&largest).map_err(ProbeError::io("read", &largest))?;
        let trace = read_text(&trace).map_err(ProbeError::io("read", &trace))?;
        Ok((largest, trace))
    }

    fn write(&self, name: &str, value: &str) -> crate::Result<()> {
        let path = self.instance.join(name);
        fs::write(&path, value).map_err(ProbeError::io("write", &path))
    }
}

impl Drop for KernelTracer {
    fn drop(&mut self) {
        // Anything that can't be undone now is undone by the removal of the instance, or by the next start.
        let _ = self.write("current_tracer", "nop");
        self.borrowed = None;
        orphans::remove(&self.instance);
    }
}

fn owner() -> crate::Result<Owner> {
    Owner::this_process().ok_or(ProbeError::NoEvents {
        events: "/proc/self/stat".into(),
    })
}

fn refuse_unknown(root: &Path, name: &'static str) -> Result<(), KernelMeasureError> {
    let tracers = root.join("available_tracers");
    let tracers = read_text(&tracers).map_err(ProbeError::io("read", &tracers))?;
    if tracers.split_whitespace().any(|tracer| tracer == name) {
        Ok(())
    } else {
        Err(KernelMeasureError::NoTracer(name))
    }
}

/// Waits while the kernel measures.
pub(crate) fn sleep_for(ns: u64) {
    std::thread::sleep(Duration::from_nanos(ns));
}
