//! Keeps a GPU busy with the program `wakepath-gpu`.
//!
//! A separate program, because this static one can't load a driver's libraries. It is asked for its
//! device before anything starts, and reports its work line by line.

use crate::capture::Capture;
use crate::counters::Slot;
use crate::disturbance::glmark2;
use crate::ended::Ended;
use crate::plan::{Assignment, Device, Job, Program, Work};
use crate::{LoadError, asked, launch, programs};
use rustix::process::getpid;
use std::convert::Infallible;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wakepath_scenario::{GpuInterface, GpuWork, Word};
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Gpu, Disturbance::MemoryBandwidth];

const PROGRAM: &str = "wakepath-gpu";
/// Time limit for drivers to list their devices.
const DRIVERS_PATIENCE: Duration = Duration::from_secs(20);

/// Means to run the load on this machine.
pub(crate) struct Planned {
    pub(crate) work: Work,
    /// `None` for glmark2.
    pub(crate) device: Option<Device>,
    pub(crate) unit: (&'static str, u64),
    pub(crate) disturbs: Vec<Disturbance>,
    pub(crate) notes: Vec<String>,
}

/// The means to do `work`: a device, or glmark2 off screen if there is no device and the user
/// didn't choose an interface.
pub(crate) fn plan(
    work: GpuWork,
    interface: Option<GpuInterface>,
    number: u32,
    cpus: &[u16],
    launcher: &Path,
) -> Result<Planned, LoadError> {
    let path = programs::find("gpu", PROGRAM, None).map_err(|error| match error {
        LoadError::MissingProgram { load, program, .. } => LoadError::MissingProgram {
            load,
            program,
            remedy: "it comes with wakepath's release for glibc; put it into /usr/local/bin".into(),
        },
        other => other,
    })?;
    let mut arguments = vec!["--device".into(), number.to_string()];
    if let Some(interface) = interface {
        arguments.extend(["--interface".into(), interface.word().into()]);
    }
    let device = match which(launcher, &path, &arguments, cpus) {
        Ok(device) => device,
        Err(why) => {
            let refused = LoadError::NoDevice(why.clone());
            if interface.is_some() || number != 0 {
                return Err(refused);
            }
            return off_screen(&why).ok_or(refused);
        }
    };
    let asked = ["--interface", &device.interface, "--work", work.word()];
    let mut all = vec!["run".to_owned(), "--device".into(), number.to_string()];
    all.extend(asked.map(str::to_owned));
    let mut disturbs = DISTURBS.to_vec();
    let mut notes = Vec::new();
    if device.is_software {
        disturbs.push(Disturbance::Cpu);
        notes.push(format!("{} is a software renderer, not a GPU", device.name));
    }
    Ok(Planned {
        work: Work::BuiltIn(Job::Gpu {
            path,
            arguments: all,
        }),
        device: Some(device),
        // It counts millions of operations, and bytes.
        unit: match work {
            GpuWork::Compute => ("GFLOP", 1000),
            GpuWork::Transfer => ("MiB", 1 << 20),
        },
        disturbs,
        notes,
    })
}

/// The device that the program would use, or the reason why there is none.
fn which(
    launcher: &Path,
    path: &Path,
    arguments: &[String],
    cpus: &[u16],
) -> Result<Device, String> {
    let question = [&["which".to_owned()], arguments].concat();
    let asked = asked::ask(launcher, path, &question, None, cpus, DRIVERS_PATIENCE);
    let said = asked
        .map_err(|error| format!("{}: {error}", path.display()))?
        .ok_or_else(|| {
            let seconds = DRIVERS_PATIENCE.as_secs();
            format!(
                "{} got no answer from the drivers within {seconds} s",
                path.display()
            )
        })?;
    if said.status.success() {
        return serde_json::from_slice(said.output.text().as_bytes())
            .map_err(|error| format!("{} which: {error}", path.display()));
    }
    Err(why_it_ended(&said.errors, &said.status.to_string()))
}

/// The last line of the program's errors.
fn why_it_ended(errors: &Capture, status: &str) -> String {
    match errors.last_line() {
        Some(line) => without_name(&line).to_owned(),
        None => format!("{PROGRAM} ended with {status}"),
    }
}

fn without_name(line: &str) -> &str {
    let line = line.trim();
    let rest = line
        .strip_prefix(PROGRAM)
        .and_then(|rest| rest.strip_prefix(": "));
    rest.unwrap_or(line)
}

fn off_screen(why: &str) -> Option<Planned> {
    let program: Program = glmark2::program(&["--off-screen".to_owned()]).ok()?;
    Some(Planned {
        work: Work::Program(program),
        device: None,
        unit: ("CPU seconds", 1_000_000),
        disturbs: glmark2::DISTURBS.to_vec(),
        notes: vec![format!("glmark2 off screen, since {why}")],
    })
}

/// Has the program work until this process is killed, and counts.
pub(crate) fn run(
    counter: &Slot,
    assignment: &Assignment,
    path: PathBuf,
    arguments: Vec<String>,
) -> Result<Infallible, Ended> {
    let child = Assignment {
        parent: getpid().as_raw_pid(),
        slot: None,
        cpus: assignment.cpus.clone(),
        job: Job::Program {
            path,
            arguments,
            directory: None,
        },
    };
    // A driver that complains without end must not hold the program up.
    let complaints = Capture::new().and_then(|one| Ok((one.descriptor()?, one)));
    let (errors, complaints) = complaints.map_err(Ended::system("cannot listen to the program"))?;
    let mut child = launch::worker(&child, Stdio::null(), Stdio::piped(), errors)
        .map_err(Ended::system("cannot start the program"))?;
    let output = child.stdout.take().map(BufReader::new);
    let mut last = [0; 2];
    for line in output
        .into_iter()
        .flat_map(BufRead::lines)
        .map_while(Result::ok)
    {
        let Some(now) = read(&line) else {
            return Err(Ended::Gpu(format!("{PROGRAM} printed {line:?}")));
        };
        counter.add(now[0].saturating_sub(last[0]));
        let busy_ns = now[1].saturating_sub(last[1]);
        counter.device_ns.fetch_add(busy_ns, Ordering::Relaxed);
        last = now;
        complaints.keep_short();
    }
    let status = child
        .wait()
        .map_err(Ended::system("cannot wait for the program"))?;
    Err(Ended::Gpu(why_it_ended(&complaints, &status.to_string())))
}

/// Work done, and the device's working time in nanoseconds.
fn read(line: &str) -> Option<[u64; 2]> {
    let (done, busy_ns) = line.split_once(' ')?;
    Some([done.parse().ok()?, busy_ns.parse().ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_two_numbers_is_read_and_no_other() {
        assert_eq!(read("1342 1369954445"), Some([1342, 1_369_954_445]));
        for line in ["", "1342", "1342 x", "-1 2", "1 2 3"] {
            assert_eq!(read(line), None, "{line:?}");
        }
    }
}
