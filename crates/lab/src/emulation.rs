//! One guest under way: the emulator's process, its console, its end. It dies with this process.

use crate::console::Console;
use crate::fault::Unfinished;
use crate::host_cpu::HostCpu;
use crate::machine::{CONSOLE, SENT};
use crate::qemu::Qemu;
use crate::said::last_line;
use crate::{GuestError, LabError, Result};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use wakepath_guest::sending::{BEGUN, ENDED, FAILED, from_console, receive};

/// How often the console is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Observer of a guest.
pub trait Watcher {
    /// A line that the guest wrote on its console.
    fn line(&mut self, line: &str);
    /// Whether the guest shall be stopped.
    fn stopped(&self) -> bool;
}

/// A guest to run.
#[derive(Debug, Clone)]
pub struct Emulation<'a> {
    /// The emulator.
    pub qemu: &'a Qemu,
    /// Its arguments, those of [`crate::Machine::arguments`].
    pub arguments: &'a [String],
    /// A program, with its first arguments, that makes itself die with the process whose number
    /// follows and then becomes the command that follows that.
    pub guard: &'a [PathBuf],
    /// Its standard output, on which it prints nothing: the initramfs, which it reads from
    /// [`crate::initramfs::INITRAMFS`], or a control connection.
    pub output: &'a File,
    /// Working directory, with the console.
    pub directory: &'a Path,
    /// Time limit on this host.
    pub limit: Duration,
    /// Limit of its CPU time: on a busy host a guest waits without being hung.
    pub cpu_limit: Duration,
    /// Connection to the emulator's plugin, passed as standard input.
    pub input: Option<&'a UnixStream>,
}

/// Data sent by a guest.
#[derive(Debug)]
pub struct Home {
    /// Its files.
    pub files: Vec<(String, Vec<u8>)>,
    /// Error if the guest's program gave up early; the files hold its data until then.
    pub complaint: Option<LabError>,
}

/// The running emulator; gone when this is.
pub(crate) struct Running(pub(crate) Child, Option<HostCpu>);

impl Drop for Running {
    fn drop(&mut self) {
        // It might have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
        // From now on its CPU is free.
        drop(self.1.take());
    }
}

impl Emulation<'_> {
    /// Boots the guest, follows it to its end, and returns the files that it sent.
    ///
    /// # Errors
    /// If the guest fails or hangs; the console stays in the directory.
    pub fn run(&self, watcher: &mut dyn Watcher) -> Result<Home> {
        let sent = self.directory.join(SENT);
        let outcome = match self.follow(watcher) {
            Ok(()) => self.sent(&sent).map(|files| Home {
                files,
                complaint: None,
            }),
            // It might have failed before it could send anything.
            Err(complaint @ LabError::Guest(GuestError::Failed { .. })) => match self.sent(&sent) {
                Ok(files) => Ok(Home {
                    files,
                    complaint: Some(complaint),
                }),
                Err(_) => Err(complaint),
            },
            Err(error) => Err(error),
        };
        let _ = fs::remove_file(&sent);
        outcome
    }

    fn sent(&self, sent: &Path) -> Result<Vec<(String, Vec<u8>)>> {
        let bytes = match fs::read(sent) {
            Ok(bytes) if !bytes.is_empty() => bytes,
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(LabError::io("read", sent, error));
            }
            // A machine without the port, or a kernel that does not give it, sends by way of its console.
            _ => self.taken_from_console()?,
        };
        let received = receive(&bytes).map_err(|why| GuestError::Incomplete {
            why: why.into(),
            console: self.console(),
        });
        Ok(received?)
    }

    /// Extracts the sent data from the console, which keeps its other lines.
    fn taken_from_console(&self) -> Result<Vec<u8>> {
        let console = self.console();
        let bytes = fs::read(&console).map_err(|e| LabError::io("read", &console, e))?;
        let (sent, rest) = from_console(&String::from_utf8_lossy(&bytes));
        fs::write(&console, rest).map_err(|e| LabError::io("write", &console, e))?;
        Ok(sent)
    }

    fn console(&self) -> PathBuf {
        self.directory.join(CONSOLE)
    }

    fn follow(&self, watcher: &mut dyn Watcher) -> Result<()> {
        let started = Instant::now();
        let mut guest = self.start()?;
        let mut console = Console::new(self.console());
        let status = loop {
            let ended = guest.0.try_wait();
            let ended = ended.map_err(|e| LabError::io("wait for", &self.qemu.program, e))?;
            console.read(|line| watcher.line(line));
            // A signal to all of a terminal's processes ends the emulator too.
            if watcher.stopped() {
                return Err(LabError::Interrupted);
            }
            if let Some(status) = ended {
                break status;
            }
            let used = cpu_time(guest.0.id());
            if started.elapsed() > self.limit || used > self.cpu_limit {
                return Err(GuestError::Hung {
                    seconds: started.elapsed().as_secs(),
                    cpu_seconds: used.as_secs(),
                    last: console.last(),
                    console: self.console(),
                }
                .into());
            }
            std::thread::sleep(LOOK);
        };
        let mut said = Vec::new();
        if let Some(mut errors) = guest.0.stderr.take() {
            let _ = errors.read_to_end(&mut said);
        }
        Ok(self.judge(status, &said, &console)?)
    }

    /// Starts the emulator.
    pub(crate) fn start(&self) -> Result<Running> {
        let (program, first) = self.guard.split_first().expect("a guard is a program");
        let input = match self.input.map(UnixStream::try_clone) {
            None => Stdio::null(),
            Some(Ok(line)) => Stdio::from(OwnedFd::from(line)),
            Some(Err(error)) => return Err(LabError::io("share a line with", program, error)),
        };
        let output = self.output.try_clone();
        let output = output.map_err(|e| LabError::io("share a file with", program, e))?;
        let mut command = Command::new(program);
        command
            .args(first)
            .arg(std::process::id().to_string())
            .arg(&self.qemu.program)
            .args(&self.qemu.arguments)
            .args(self.arguments)
            .current_dir(self.directory)
            // The terminal's Ctrl-C is for this process, which then ends its guests in order.
            .env_remove("QEMU_AUDIO_DRV")
            .stdin(input)
            // Passing the initramfs as a descriptor leaves no file to clean up.
            .stdout(Stdio::from(output))
            .stderr(Stdio::piped());
        let cpu = HostCpu::for_guest(self.arguments);
        let started = match &cpu {
            Some(cpu) => cpu.started(|| command.spawn()),
            None => command.spawn(),
        };
        started
            .map(|child| Running(child, cpu))
            .map_err(|e| LabError::io("start", &self.qemu.program, e))
    }

    /// Interprets the guest's console after its end.
    fn judge(
        &self,
        status: ExitStatus,
        said: &[u8],
        console: &Console,
    ) -> std::result::Result<(), GuestError> {
        if !status.success() {
            let said = match last_line(said) {
                said if said == last_line(&[]) => status.to_string(),
                said => said,
            };
            return Err(GuestError::Emulator {
                program: self.qemu.program.display().to_string(),
                said,
            });
        }
        let path = self.console();
        let find = |text: &str| console.lines().iter().find(|line| line.contains(text));
        if let Some(line) = find("Kernel panic") {
            let (line, console) = (line.clone(), path);
            return Err(GuestError::Panic { line, console });
        }
        if let Some(line) = find(FAILED) {
            let why = line
                .split_once(FAILED)
                .map_or("", |(_, why)| why)
                .to_owned();
            return Err(GuestError::Failed { why, console: path });
        }
        if find(BEGUN).is_none() {
            let mut why = console.last();
            if console.lines().is_empty() {
                why += ": a kernel prints nothing if its memory is too small (`--memory`), or if it \
                        is made for another machine";
            }
            return Err(GuestError::NeverStarted { why, console: path });
        }
        if find(ENDED).is_none() {
            let why = Unfinished::EndedAt {
                last: console.last(),
            };
            return Err(GuestError::Incomplete { why, console: path });
        }
        Ok(())
    }
}

/// CPU time that a process has used (proc(5), fields 14 and 15 of stat); zero if it has ended.
pub(crate) fn cpu_time(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name can contain anything, blanks too, and ends with the last bracket.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = after_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1_000 / rustix::param::clock_ticks_per_second())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    struct Nobody;

    impl Watcher for Nobody {
        fn line(&mut self, _: &str) {}
        fn stopped(&self) -> bool {
            false
        }
    }

    /// Runs a shell script instead of the emulator: a guest's failures all appear on its console.
    fn with_script(script: &str) -> Result<Home> {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("emulator");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let guard = directory.path().join("guard");
        fs::write(&guard, "#!/bin/sh\nshift\nexec \"$@\"\n").unwrap();
        fs::set_permissions(&guard, PermissionsExt::from_mode(0o755)).unwrap();
        Emulation {
            qemu: &Qemu {
                program,
                version: "QEMU 0".into(),
                arguments: Vec::new(),
            },
            arguments: &[],
            guard: &[guard],
            output: &File::open("/dev/null").unwrap(),
            directory: directory.path(),
            limit: Duration::from_secs(2),
            cpu_limit: Duration::from_secs(1),
            input: None,
        }
        .run(&mut Nobody)
    }

    fn said(script: &str) -> String {
        with_script(script).unwrap_err().to_string()
    }

    #[test]
    fn a_panic_a_hang_and_a_guest_that_never_starts_are_told_apart() {
        let panic = "[ 1.0] Kernel panic - not syncing: VFS: Unable to mount root fs";
        let panicked = said(&format!("echo '{panic}' > console.log"));
        assert!(
            panicked.contains("panicked: [ 1.0] Kernel panic - not syncing: VFS"),
            "{panicked}"
        );
        let never = said("printf 'Failed to execute /bin/wakepath (error -8)\\r\\n' > console.log");
        assert!(
            never
                .contains("never started its program (Failed to execute /bin/wakepath (error -8))"),
            "{never}"
        );
        let silent = said("exit 0");
        assert!(
            silent.contains("the console is empty: a kernel prints nothing"),
            "{silent}"
        );
        let hung = said("echo 'wakepath-lab: begun' > console.log; exec sleep 60");
        assert!(
            hung.contains("no end after 2 s and 0 s of CPU time"),
            "{hung}"
        );
        assert!(hung.contains("last line: wakepath-lab: begun"), "{hung}");
    }

    #[test]
    fn the_time_that_a_process_computed_is_counted_and_not_its_sleep() {
        assert_eq!(cpu_time(u32::MAX), Duration::ZERO, "nobody has that number");
        let own = std::process::id();
        let before = cpu_time(own);
        let began = Instant::now();
        // A busy machine can take arbitrarily long, but the CPU time must be counted.
        while cpu_time(own) < before + Duration::from_millis(50) {
            assert!(
                began.elapsed() < Duration::from_secs(60),
                "nothing is counted"
            );
        }
    }

    #[test]
    fn the_guests_own_complaint_and_the_emulators_are_passed_on() {
        let failed =
            said("printf 'wakepath-lab: begun\\nwakepath-lab: failed: no CPU 3\\n' > console.log");
        assert!(failed.starts_with("in the guest: no CPU 3; "), "{failed}");
        let emulator = said("echo 'qemu: -icount: bad' >&2; exit 1");
        assert!(
            emulator.ends_with("failed: qemu: -icount: bad"),
            "{emulator}"
        );
    }

    #[test]
    fn what_a_guest_had_before_it_failed_comes_home_with_its_complaint() {
        let mut sent = Vec::new();
        wakepath_guest::sending::send(&mut sent, vec![("command-1.out".into(), b"half".to_vec())])
            .unwrap();
        let octal: String = sent.iter().map(|byte| format!("\\{byte:03o}")).collect();
        let lines = "printf 'wakepath-lab: begun\nwakepath-lab: failed: no\n' > console.log";
        let home = with_script(&format!("{lines}; printf '{octal}' > sent.partial")).unwrap();
        assert_eq!(home.files, [("command-1.out".to_owned(), b"half".to_vec())]);
        assert!(matches!(
            home.complaint,
            Some(LabError::Guest(GuestError::Failed { .. }))
        ));
    }

    #[test]
    fn half_of_what_was_sent_is_nothing() {
        let begun = "printf 'wakepath-lab: begun\\nwakepath-lab: ended\\n' > console.log";
        let nothing = said(&format!("{begun}; : > sent.partial"));
        assert!(nothing.contains("nothing was sent"), "{nothing}");
        let half = said(&format!(
            "{begun}; echo wakepath-lab-files 500 00 > sent.partial"
        ));
        assert!(half.contains("0 of 500 bytes came"), "{half}");
        let cut = said("echo 'wakepath-lab: begun' > console.log");
        assert!(cut.contains("it ended at: wakepath-lab: begun"), "{cut}");
    }
}
