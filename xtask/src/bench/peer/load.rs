//! The load during both programs' runs: stress-ng, started once for both and checked to run.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A load under way.
pub struct Load(Child);

/// Arithmetic, memory, sockets, scheduling and timers on every CPU, the measured one included.
const ARGUMENTS: &[&str] = &[
    "--cpu",
    "0",
    "--vm",
    "1",
    "--vm-bytes",
    "64M",
    "--sock",
    "1",
    "--switch",
    "1",
    "--quiet",
];

impl Load {
    /// Starts it and lets it settle.
    pub fn start() -> Result<Self, String> {
        let mut load = Command::new("stress-ng")
            .args(ARGUMENTS)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("stress-ng: {error}"))?;
        std::thread::sleep(Duration::from_secs(2));
        match load.try_wait() {
            Ok(None) => Ok(Self(load)),
            Ok(Some(status)) => Err(format!("stress-ng ended at once: {status}")),
            Err(error) => Err(format!("stress-ng: {error}")),
        }
    }

    /// Ends it. Fails if it ended earlier, because the runs then had no load.
    pub fn stop(mut self) -> Result<(), String> {
        if let Ok(Some(status)) = self.0.try_wait() {
            return Err(format!(
                "stress-ng ended before the measured runs: {status}"
            ));
        }
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        let process = i32::try_from(self.0.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        if let Some(process) = process {
            // Its workers end with it on SIGTERM, but not when it is killed.
            let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
        }
        let _ = self.0.wait();
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            self.end();
        }
    }
}
