//! An instance of tracefs as anyone sets it up by hand: the same events, the kernel's default options,
//! nobody who reads.

use super::tracer::INSTANCES;
use std::fs;
use std::path::{Path, PathBuf};

/// An instance that records until it is finished or dropped.
pub struct Instance {
    directory: PathBuf,
    cpu: usize,
}

impl Instance {
    /// Makes it and lets it record `events` (`system:name`) on one CPU.
    pub fn start(
        name: &str,
        cpu: usize,
        buffer_bytes: u64,
        events: &[String],
    ) -> Result<Self, String> {
        let directory = Path::new(INSTANCES).join(name);
        fs::create_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let made = Self { directory, cpu };
        made.write("tracing_on", "0")?;
        made.write("trace_clock", "mono")?;
        made.write("tracing_cpumask", &format!("{:x}", 1_u64 << cpu))?;
        let kibibytes = (buffer_bytes / 1024).to_string();
        made.write(&format!("per_cpu/cpu{cpu}/buffer_size_kb"), &kibibytes)?;
        for event in events {
            made.write(&format!("events/{}/enable", event.replace(':', "/")), "1")?;
        }
        made.write("tracing_on", "1")?;
        Ok(made)
    }

    /// Ends the recording: events recorded and lost, as the kernel counts them.
    pub fn finish(self) -> Result<(Option<u64>, Option<u64>), String> {
        self.write("tracing_on", "0")?;
        let path = self
            .directory
            .join(format!("per_cpu/cpu{}/stats", self.cpu));
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let value = |key: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok())
        };
        let kept = value("entries:");
        let overwritten = value("overrun:");
        let lost = overwritten.zip(value("dropped events:"));
        Ok((
            kept.zip(overwritten).map(|(kept, over)| kept + over),
            lost.map(|(overwritten, dropped)| overwritten + dropped),
        ))
    }

    fn write(&self, name: &str, value: &str) -> Result<(), String> {
        let path = self.directory.join(name);
        fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.directory);
    }
}
