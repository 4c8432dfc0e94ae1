//! In the guest: its first process.
//!
//! It mounts Linux's own file systems, follows the order, sends the files home and ends the
//! machine. The caller passes the function that measures a run; this process evaluates nothing.

mod clock;
mod commands;
mod disk;
mod effective;
mod entropy;
mod error;
#[cfg(target_arch = "x86_64")]
mod hunting;
mod module_symbols;
mod mounted;
mod network;
mod nodes;
mod prepared;

pub use error::InsideError;

use crate::order::{ORDER_PATH, Order};
use crate::sending::{
    BEGUN, ENDED, FAILED, SEND_PORT, SPEAKER_ON, SPEAKER_PORT, send, send_by_console,
};
use commands::Files;
use rustix::system::RebootCommand;
use rustix::termios;
use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use wakepath_archive::VirtualTime;
use wakepath_machine::{Facts, Root};

/// A PC's I/O ports, if its kernel provides them (CONFIG_DEVPORT). On other machines the file can
/// exist without any ports.
const PORTS: &str = "/dev/port";
/// Directory of a measurement's run until it is sent.
const RUN: &str = "/run/run";

/// A measurement of the order.
pub struct Ordered<'a> {
    /// The order.
    pub order: &'a Order,
    /// Its scenario, as TOML.
    pub scenario: &'a str,
    /// The run's directory.
    pub directory: &'a Path,
    /// Facts about the guest's kernel.
    pub facts: &'a Facts,
    /// Parameters without effect, a sentence for each.
    pub in_vain: Vec<String>,
}

/// The virtual time of this machine, if it is a guest of the laboratory. Whatever measures in a
/// guest must report it, including a command that the user added.
pub fn virtual_time_here() -> Option<VirtualTime> {
    let order = Path::new(ORDER_PATH);
    if !order.is_file() {
        return None;
    }
    let order = Order::from_bytes(&std::fs::read(order).ok()?).ok()?;
    Some(order.virtual_time())
}

/// Carries a measurement out.
pub type Measure<'a> = &'a dyn Fn(Ordered<'_>) -> Result<(), Box<dyn Error>>;

/// Runs as the first process; returns only if the machine can't be ended.
///
/// # Errors
/// [`InsideError::NotFirst`] in any other process.
pub fn first_process(measure: Measure<'_>) -> Result<(), InsideError> {
    if std::process::id() != 1 {
        return Err(InsideError::NotFirst);
    }
    println!("{BEGUN}");
    match guest(measure) {
        Ok(()) => println!("{ENDED}"),
        Err(error) => println!("{FAILED}{error}"),
    }
    let _ = termios::tcdrain(std::io::stdout());
    // Without a first process the kernel panics, which the host sees as well.
    let _ = rustix::system::reboot(RebootCommand::Restart);
    Ok(())
}

fn guest(measure: Measure<'_>) -> Result<(), InsideError> {
    mounted::mount_all()?;
    let order = std::fs::read(ORDER_PATH).map_err(|error| InsideError::at(ORDER_PATH, error))?;
    let order = Order::from_bytes(&order).map_err(InsideError::Order)?;
    entropy::give_enough(order.seed)?;
    prepared::load(&order.modules)?;
    let untaken = prepared::write(&order.writes)?;
    if let Some(disk) = &order.disk {
        disk::mount_new(disk)?;
    }
    // A kernel without a network has no loads that use one.
    if let Err(error) = network::bring_loopback_up() {
        println!("warning: {}", InsideError::Loopback(error));
    }
    if order.turn_ns.is_some() {
        ports()?
            .write_all_at(&[SPEAKER_ON], SPEAKER_PORT)
            .map_err(|error| InsideError::at(PORTS, error))?;
    }
    if order.scenario.is_some() {
        clock::wait_for_the_last_one();
    }
    let facts = Facts::read(&Root::host());
    let mut in_vain = effective::ignored(&facts, &effective::log());
    in_vain.extend(untaken);
    for vain in &in_vain {
        println!("warning: {vain}");
    }
    let mut files = Vec::new();
    // The available data is sent even after a failure.
    let outcome = follow(&order, &facts, in_vain, measure, &mut files);
    send_home(files)?;
    outcome
}

fn follow(
    order: &Order,
    facts: &Facts,
    in_vain: Vec<String>,
    measure: Measure<'_>,
    files: &mut Files,
) -> Result<(), InsideError> {
    commands::run(&order.commands, files)?;
    #[cfg(target_arch = "x86_64")]
    if let Some(hunt) = &order.hunt {
        return hunting::hunt(hunt, facts);
    }
    let Some(scenario) = &order.scenario else {
        return Ok(());
    };
    let outcome = measure(Ordered {
        order,
        scenario,
        directory: Path::new(RUN),
        facts,
        in_vain,
    });
    // A measurement that never began has no directory.
    if outcome.is_ok() || Path::new(RUN).exists() {
        let found = commands::files_in(Path::new(RUN), "");
        files.extend(found.map_err(|error| InsideError::at(RUN, error))?);
    }
    // Reading the list takes time, so it comes last.
    files.extend(module_symbols::file());
    outcome.map_err(InsideError::Measuring)
}

fn send_home(mut files: Files) -> Result<(), InsideError> {
    files.sort_unstable();
    let ports = if cfg!(target_arch = "x86_64") {
        ports().ok()
    } else {
        None
    };
    let Some(ports) = ports else {
        // Keeps the kernel's own lines off the console.
        let _ = std::fs::write("/proc/sys/kernel/printk", "0");
        return send_by_console(std::io::stdout().lock(), files)
            .map_err(|error| InsideError::at("the console", error));
    };
    let mut sent = Vec::new();
    send(&mut sent, files).expect("memory takes what is written");
    // Several bytes at once would go to as many ports.
    for byte in sent {
        ports
            .write_all_at(&[byte], SEND_PORT)
            .map_err(|error| InsideError::at(PORTS, error))?;
    }
    Ok(())
}

fn ports() -> Result<File, InsideError> {
    let ports = File::options().write(true).open(PORTS);
    ports.map_err(|error| InsideError::at(PORTS, error))
}
