//! A guest that is ready for programs: its memory, which branches copy as they write, and the state of
//! its devices. It boots without recording, because an emulator that records writes no snapshot, and on any host CPU,
//! because each snapshot is another one anyway: the host decides when it stops the waiting guest.

use super::files::{Unnamed, path_of};
use super::qmp::Qmp;
use crate::again::{AgainError, KERNEL, Noting, Plugin, course_of, keep_symbols, kept_symbols};
use crate::emulation::{Emulation, Running, cpu_time};
use crate::guests::{Guest, Limit, Stopped};
use crate::host::Host;
use crate::initramfs::INITRAMFS;
use crate::machine::{without_recording, writing_to};
use crate::qemu::Qemu;
use crate::said::last_line;
use crate::sections::{Preemption, Roles, count_place};
use crate::window::Symbols;
use crate::{GuestError, HuntError, LabError, Result};
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use wakepath_guest::hunt::{KALLSYMS_NAME, PROGRAMS_NAME, READY};
use wakepath_guest::order::MODULE_SYMBOLS_NAME;
use wakepath_guest::sending::{FAILED, receive};
use wakepath_machine::PreemptionModel;

/// How often the guest is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes a second that the emulator may write; it is slow by default.
const BANDWIDTH: u64 = 1 << 40;
/// Programs that are none: the guest waits on.
const NOTHING: &[u8] = b"        ";

/// The models that a guest can report.
const MODELS: [PreemptionModel; 5] = [
    PreemptionModel::None,
    PreemptionModel::Voluntary,
    PreemptionModel::Full,
    PreemptionModel::Lazy,
    PreemptionModel::RealTime,
];

/// A guest ready for programs.
pub(super) struct Snapshot {
    memory: Unnamed,
    devices: Unnamed,
    /// The emulator's arguments without those of a branch.
    arguments: Vec<String>,
    plugin: Unnamed,
    memory_mib: u32,
    /// Functions of its kernel and modules.
    pub symbols: Symbols,
    /// When its kernel lets a woken thread take the CPU.
    pub preemption: Preemption,
    /// The same in the kernel's word.
    pub model: String,
    /// Orders for the plugin.
    pub noting: Noting,
}

/// The parts of this host that boot and continue a guest.
#[derive(Clone, Copy)]
pub(super) struct On<'a> {
    pub qemu: &'a Qemu,
    pub guest: &'a Guest,
    pub host: &'a Host,
    pub directory: &'a Path,
    pub limit: Limit,
    pub stopped: Stopped<'a>,
}

impl On<'_> {
    /// Starts the emulator.
    /// `output` is its standard output.
    pub fn start(
        &self,
        arguments: &[String],
        input: &UnixStream,
        output: &File,
    ) -> Result<Running> {
        Emulation {
            qemu: self.qemu,
            arguments,
            guard: &self.host.guard(),
            output,
            directory: self.directory,
            limit: self.limit.elapsed,
            cpu_limit: self.limit.cpu_time,
            input: Some(input),
        }
        .start()
    }
}

impl Snapshot {
    /// Boots the guest and takes it.
    pub fn take(on: On<'_>) -> std::result::Result<Self, AgainError> {
        let machine = &on.guest.machine;
        let memory = Unnamed::guest_memory(machine.memory_mib)?;
        let devices = Unnamed::in_memory(b"")?;
        let plugin = Unnamed::in_memory(Plugin::library(&on.qemu.version)?)?;
        let (console, sent) = (Unnamed::in_memory(b"")?, Unnamed::in_memory(b"")?);
        let nothing = Unnamed::in_memory(NOTHING)?;
        let mut arguments = on.guest.arguments()?;
        let initramfs = &on.guest.initramfs.file;
        for argument in &mut arguments {
            // Standard output is a branch's control connection.
            if argument == INITRAMFS {
                *argument = path_of(initramfs);
            }
        }
        let mut booting = writing_to(&arguments, &console.path(), &sent.path());
        booting = without_recording(&booting);
        booting.extend(programs_arguments(&nothing));
        booting.extend(memory_arguments(machine.memory_mib, &memory, "on"));
        booting.extend(control_arguments(0));
        let (ours, theirs) = UnixStream::pair()?;
        let mut running = on.start(&booting, &theirs, initramfs)?;
        drop(theirs);
        let model = ready(on, &mut running, &console)?;
        save(on, ours, &devices).map_err(|error| match running.0.try_wait() {
            Ok(Some(_)) => ended(on.qemu, &mut running),
            _ => error,
        })?;
        drop(running);
        let files = receive(&sent.content()?)
            .map_err(|why| no_snapshot(format!("the guest's list of functions: {why}")))?;
        let file = |name: &str| {
            let found = files.iter().find(|(path, _)| path == name);
            found.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
        };
        let cache = on.host.cache();
        let kernel = &on.guest.kernel.sha256;
        let (list, modules) = match file(KALLSYMS_NAME) {
            Some(all) => {
                let (modules, own): (Vec<&str>, Vec<&str>) =
                    all.lines().partition(|line| line.ends_with(']'));
                let own = own.join("\n") + "\n";
                keep_symbols(&cache, kernel, &own)?;
                (own, modules.join("\n"))
            }
            None => {
                let known = kept_symbols(&cache, kernel)?;
                (
                    known.ok_or(AgainError::NoSymbols)?,
                    file(MODULE_SYMBOLS_NAME).unwrap_or_default(),
                )
            }
        };
        let symbols = Symbols::with_modules(&list, &modules)?;
        let noting = Noting {
            transitions: true,
            kernel_from: KERNEL,
            count_at: count_place(&list).ok_or(AgainError::NoCount)?,
            watched: Roles(&symbols).watched_with_locks(),
            costs: None,
        };
        let mut models = MODELS.into_iter();
        let known = models.find(|known| known.word() == model);
        let known = known.unwrap_or(PreemptionModel::Unknown);
        Ok(Self {
            memory,
            devices,
            memory_mib: machine.memory_mib,
            arguments,
            plugin,
            symbols,
            preemption: course_of(known),
            model,
            noting,
        })
    }

    /// The emulator's arguments for a branch with these programs.
    pub fn branch(&self, console: &Unnamed, sent: &Unnamed, programs: &Unnamed) -> Vec<String> {
        let mut arguments = writing_to(&self.arguments, &console.path(), &sent.path());
        arguments.extend(programs_arguments(programs));
        arguments.extend(memory_arguments(self.memory_mib, &self.memory, "off"));
        arguments.extend(control_arguments(1));
        arguments.extend(["-plugin".to_owned(), self.plugin.path()]);
        arguments.extend(["-incoming", "defer"].map(String::from));
        arguments
    }

    /// Has the emulator of a branch continue the guest; returns the connection, which must stay open.
    pub fn load(&self, line: UnixStream) -> std::io::Result<Qmp> {
        let mut qmp = Qmp::open(line)?;
        qmp.execute("migrate-set-capabilities", &memory_stays())?;
        let uri = format!("exec:cat {}", self.devices.path());
        qmp.execute("migrate-incoming", &json!({ "uri": uri }))?;
        Ok(qmp)
    }
}

/// The capability that leaves memory which is shared with its file out of the state.
fn memory_stays() -> serde_json::Value {
    json!({ "capabilities": [{ "capability": "x-ignore-shared", "state": true }] })
}

/// The guest's memory: a file that the emulator changes if it shares it, and otherwise copies as it writes.
fn memory_arguments(mib: u32, memory: &Unnamed, share: &str) -> [String; 4] {
    let path = memory.path();
    [
        "-object".into(),
        format!("memory-backend-file,id=noted,size={mib}M,mem-path={path},share={share}"),
        "-machine".into(),
        "memory-backend=noted".into(),
    ]
}

/// The control connection on a descriptor.
fn control_arguments(descriptor: u32) -> [String; 4] {
    [
        "-chardev".into(),
        format!("socket,id=qmp,fd={descriptor}"),
        "-mon".into(),
        "chardev=qmp,mode=control".into(),
    ]
}

fn programs_arguments(programs: &Unnamed) -> [String; 2] {
    let file = format!("name={PROGRAMS_NAME},file={}", programs.path());
    ["-fw_cfg".to_owned(), file]
}

/// Waits until the guest is ready; returns its word for how it preempts.
fn ready(on: On<'_>, running: &mut Running, console: &Unnamed) -> Result<String> {
    let started = Instant::now();
    loop {
        let lines = console.lines()?;
        let after = |text: &str| {
            let mut lines = lines.iter();
            lines.find_map(|line| Some(line.split_once(text)?.1.to_owned()))
        };
        if let Some(model) = after(READY) {
            return Ok(model);
        }
        if (on.stopped)() {
            return Err(LabError::Interrupted);
        }
        let last = || {
            lines
                .last()
                .cloned()
                .unwrap_or_else(|| "the console is empty".into())
        };
        if let Some(why) = after(FAILED) {
            return Err(no_snapshot(why));
        }
        if matches!(running.0.try_wait(), Ok(Some(_))) {
            let AgainError::Lab(error) = ended(on.qemu, running) else {
                unreachable!("it is one of the laboratory's")
            };
            return Err(if lines.is_empty() {
                error
            } else {
                no_snapshot(last())
            });
        }
        let is_late = started.elapsed() > on.limit.elapsed;
        if is_late || cpu_time(running.0.id()) > on.limit.cpu_time {
            let why = format!(
                "no end after {} s; last line: {}",
                started.elapsed().as_secs(),
                last()
            );
            return Err(no_snapshot(why));
        }
        std::thread::sleep(LOOK);
    }
}

fn no_snapshot(why: String) -> LabError {
    HuntError::NoSnapshot { why }.into()
}

/// The error of an emulator that has ended.
fn ended(qemu: &Qemu, running: &mut Running) -> AgainError {
    let mut said = Vec::new();
    if let Some(mut errors) = running.0.stderr.take() {
        let _ = errors.read_to_end(&mut said);
    }
    AgainError::Lab(LabError::from(GuestError::Emulator {
        program: qemu.program.display().to_string(),
        said: last_line(&said),
    }))
}

/// Has the emulator write the state of the guest's devices into a file.
fn save(on: On<'_>, line: UnixStream, devices: &Unnamed) -> std::result::Result<(), AgainError> {
    let mut qmp = Qmp::open(line)?;
    qmp.execute(
        "migrate-set-parameters",
        &json!({ "max-bandwidth": BANDWIDTH }),
    )?;
    qmp.execute("migrate-set-capabilities", &memory_stays())?;
    let uri = format!("exec:cat > {}", devices.path());
    qmp.execute("migrate", &json!({ "uri": uri }))?;
    loop {
        let state = qmp.execute("query-migrate", &json!({}))?;
        match state["status"].as_str() {
            Some("completed") => return Ok(()),
            Some("failed" | "cancelled") => {
                let said = state["error-desc"]
                    .as_str()
                    .unwrap_or("the emulator gives no reason");
                return Err(no_snapshot(said.to_owned()).into());
            }
            _ if (on.stopped)() => return Err(LabError::Interrupted.into()),
            _ => std::thread::sleep(LOOK),
        }
    }
}
