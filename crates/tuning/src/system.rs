//! Reads and writes settings on this machine or in a directory tree.
//!
//! A tree has no threads, so actions on threads fail there.

use crate::{Action, SettingError, Step, programs};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::{CpuSet as Affinity, Pid, sched_setaffinity};
use std::io::Write;
use std::path::{Path, PathBuf};
use wakepath_machine::Root;
use wakepath_readiness::{InterruptLines, Process, Processes};
use wakepath_timeline::CpuSet;

/// The machine or tree.
#[derive(Debug, Clone)]
pub struct System {
    directory: PathBuf,
}

impl System {
    /// This machine.
    pub fn host() -> Self {
        Self::at("/")
    }

    /// A directory tree.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// Whether it is this machine.
    pub fn is_host(&self) -> bool {
        self.directory == Path::new("/")
    }

    /// The directory at which files start.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Files as they are read.
    pub fn root(&self) -> Root {
        Root::at(&self.directory)
    }

    /// The setting's present value, or the reason why it can't be read.
    pub fn read(&self, action: &Action) -> Result<String, SettingError> {
        match action {
            Action::Write { path, .. } => self.text(path),
            Action::Interrupt { number, device, .. } => {
                self.text(&self.interrupt_file(*number, device)?)
            }
            Action::Thread {
                pid, name, started, ..
            }
            | Action::Remember { pid, name, started } => {
                let thread = self.thread(*pid, name, *started)?;
                let allowed = thread.allowed.map(|cpus| cpus.to_string());
                allowed.ok_or(SettingError::NoCpus(thread.pid))
            }
            Action::Directory { path } => Ok(if self.root().exists(path) {
                "present".to_owned()
            } else {
                "absent".to_owned()
            }),
            Action::Pause { pid, name, started } => {
                let process = programs::the_one(self, *pid, name, *started)?;
                Ok(if process.paused {
                    "paused".to_owned()
                } else {
                    "running".to_owned()
                })
            }
            // The plan creates the group empty: a program in it shows that they were moved.
            Action::Programs { from, to } => Ok(if programs::in_group(self, to)?.is_empty() {
                from.clone()
            } else {
                to.clone()
            }),
            Action::Member {
                pid,
                name,
                started,
                hierarchy,
                ..
            } => {
                programs::the_one(self, *pid, name, *started)?;
                programs::group_of(self, *pid, hierarchy)
            }
        }
    }

    /// Sets it to a value, in the form in which `read` gives it.
    pub fn set(&self, action: &Action, value: &str) -> Result<(), SettingError> {
        match action {
            Action::Write { path, .. } => self.write(path, value),
            Action::Interrupt { number, device, .. } => {
                self.write(&self.interrupt_file(*number, device)?, value)
            }
            Action::Thread {
                pid, name, started, ..
            }
            | Action::Remember { pid, name, started } => {
                if !self.is_host() {
                    return Err(SettingError::OnlyATree("threads"));
                }
                let thread = self.thread(*pid, name, *started)?;
                let cpus: CpuSet = value.parse()?;
                move_thread(thread.pid, &cpus)
            }
            Action::Directory { path } => {
                let real = self.inside(path)?;
                match value {
                    "present" => std::fs::create_dir(&real),
                    _ => {
                        self.empty(path)?;
                        std::fs::remove_dir(&real)
                    }
                }
                .map_err(|error| SettingError::io(path, error))
            }
            Action::Pause { pid, name, started } => {
                programs::pause(self, *pid, name, *started, value == "paused")
            }
            Action::Programs { from, to } => {
                if value == to {
                    programs::move_all(self, from, to)
                } else {
                    programs::move_all(self, to, from)
                }
            }
            Action::Member {
                pid,
                name,
                started,
                hierarchy,
                ..
            } => {
                programs::the_one(self, *pid, name, *started)?;
                let group = value.trim_end_matches('/');
                self.write(
                    &format!("{hierarchy}{group}/cgroup.procs"),
                    &pid.to_string(),
                )
            }
        }
    }

    /// Reason why a step can't work: one of its files exists and can't be opened. The step itself
    /// might create a missing one. Nothing is written.
    pub(crate) fn refuses(&self, step: &Step) -> Option<SettingError> {
        let writes = step.actions.iter().filter_map(|action| match action {
            Action::Write { path, .. } => Some(path),
            _ => None,
        });
        let mut refused = writes.filter_map(|path| {
            let real = self.inside(path).ok()?;
            let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
            match rustix::fs::open(&real, flags, Mode::empty()) {
                Ok(_) | Err(Errno::NOENT) => None,
                Err(error) => Some(SettingError::io(path, error)),
            }
        });
        refused.next()
    }

    /// A control group can't be removed while a program is in it, such as the loop.
    fn empty(&self, path: &str) -> Result<(), SettingError> {
        match path.rsplit_once('/') {
            Some((parent, _)) if self.root().exists(&format!("{path}/cgroup.procs")) => {
                programs::move_all(self, path, parent)
            }
            _ => Ok(()),
        }
    }

    fn text(&self, path: &str) -> Result<String, SettingError> {
        let read = self.root().text(path);
        match read.known() {
            Some(text) => Ok(text.trim().to_owned()),
            None => Err(SettingError::Unread(read.to_string())),
        }
    }

    /// Kernel files are written in one call, and never created or truncated. A link as the last
    /// part of the path is refused.
    pub(crate) fn write(&self, path: &str, value: &str) -> Result<(), SettingError> {
        let real = self.inside(path)?;
        let mut flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        if !self.is_host() {
            // An ordinary file keeps the rest of a longer old value.
            flags |= OFlags::TRUNC;
        }
        let file = rustix::fs::open(&real, flags, Mode::empty())
            .map_err(|error| SettingError::io(path, error))?;
        let mut file = std::fs::File::from(file);
        // A line: the kernel takes an empty one as "none", and zero bytes as no write.
        file.write_all(format!("{value}\n").as_bytes())
            .map_err(|error| SettingError::io(path, error))
    }

    /// A path to a kernel file below the directory, whose parent must not leave it by a link.
    /// Tuning never writes anything else, whatever a journal lists.
    fn inside(&self, path: &str) -> Result<PathBuf, SettingError> {
        let relative = Path::new(path.trim_start_matches('/'));
        if !["proc", "sys"].iter().any(|top| relative.starts_with(top)) {
            return Err(SettingError::NotTheKernels(path.to_owned()));
        }
        let plain = relative
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        let real = self.directory.join(relative);
        let parent = real.parent().unwrap_or(&real);
        let told = |error| SettingError::io(path, error);
        let parent = parent.canonicalize().map_err(told)?;
        let top = self.directory.canonicalize().map_err(told)?;
        if plain && parent.starts_with(top) {
            Ok(real)
        } else {
            Err(SettingError::LeadsOut {
                path: path.to_owned(),
                top: self.directory.display().to_string(),
            })
        }
    }

    /// The file of the interrupt with this device: under its number if that still is its own.
    fn interrupt_file(&self, number: u32, device: &str) -> Result<String, SettingError> {
        let lines = InterruptLines::read(&self.root()).lines;
        let own = lines.iter().filter(|line| line.action == device);
        let numbers: Vec<u32> = own.map(|line| line.number).collect();
        let found = match numbers.as_slice() {
            numbers if numbers.contains(&number) => number,
            [only] => *only,
            [] => return Err(SettingError::InterruptGone(device.to_owned())),
            _ => {
                return Err(SettingError::InterruptAmbiguous {
                    device: device.to_owned(),
                    number,
                });
            }
        };
        Ok(format!("/proc/irq/{found}/smp_affinity_list"))
    }

    /// The thread: the same one, else the kernel's only one of that name.
    fn thread(&self, pid: u32, name: &str, started: u64) -> Result<Process, SettingError> {
        let root = self.root();
        if let Some(thread) = Process::read(&root, pid)
            && thread.name == name
            && thread.started == started
        {
            return Ok(thread);
        }
        let all = Processes::read(&root);
        let mut named = all.of_kernel().filter(|thread| thread.name == name);
        match (named.next(), named.next()) {
            (Some(only), None) => Ok(only.clone()),
            _ => Err(SettingError::gone("thread", name, pid)),
        }
    }
}

fn move_thread(pid: u32, cpus: &CpuSet) -> Result<(), SettingError> {
    let mut set = Affinity::new();
    for &cpu in cpus.numbers() {
        if usize::from(cpu) >= Affinity::MAX_CPU {
            return Err(SettingError::BeyondCall(cpu));
        }
        set.set(cpu.into());
    }
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let thread = raw.ok_or(SettingError::NoProcess(pid))?;
    sched_setaffinity(Some(thread), &set)
        .map_err(|error| SettingError::io(format!("thread {pid}"), error))
}
