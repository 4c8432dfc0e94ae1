//! In the guest of a hunt: waits for programs, and executes each in a process of its own.
//!
//! The host takes a snapshot while this waits. Each branch of the snapshot finds programs in the
//! emulator's fw_cfg device; reading a port needs no driver and no interrupt.

mod execution;
mod log;
mod ports;
mod raw;

use super::{InsideError, module_symbols};
use crate::hunt::{Grammar, KALLSYMS_NAME, Mark, PROGRAMS_NAME, Program, READY, parse_all};
use crate::order::HuntOrder;
use crate::sending::{SEND_PORT, send};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;
use wakepath_machine::Facts;

/// Directory in which programs begin.
const PLACE: &str = "/run/hunt";
/// The kernel's list of functions.
const KALLSYMS: &str = "/proc/kallsyms";
/// User and group of programs without privileges.
const NOBODY: u32 = 65534;
/// Time between two looks for programs.
const LOOK: Duration = Duration::from_millis(20);
/// Time for what a program leaves to the kernel: work queues, RCU callbacks.
const SETTLE: Duration = Duration::from_millis(1);

/// Waits for programs and executes them.
pub(super) fn hunt(order: &HuntOrder, facts: &Facts) -> Result<(), InsideError> {
    let failed = |error| InsideError::at("a hunt's programs", error);
    let mut grammar = Grammar::own();
    let read = grammar.read(&order.calls, "the order");
    read.map_err(|error| failed(io::Error::other(error)))?;
    raw::make_marks().map_err(failed)?;
    raw::be_the_first_to_run().map_err(failed)?;
    // Writing to an emulated serial line takes milliseconds with interrupts off, which no machine
    // without one has: the log goes home by the port.
    let _ = std::fs::write("/proc/sys/kernel/printk", "1");
    let mut log = log::Log::open().map_err(failed)?;
    // A bomb of processes is no section.
    let _ = std::fs::write("/proc/sys/kernel/threads-max", "1000");
    ports::open().map_err(failed)?;
    let key = ports::key(PROGRAMS_NAME)
        .ok_or_else(|| failed(io::Error::other("the emulator offers none")))?;
    send_symbols(order.all_symbols).map_err(failed)?;
    // All that the first program would otherwise be the first to need.
    let nothing = [Program::default()];
    run(&nothing, &grammar, order, &mut log)?;
    println!("{READY}{}", facts.varying.preemption.model.word());
    let _ = rustix::termios::tcdrain(io::stdout());
    let text = loop {
        match ports::text(key) {
            Some(text) => break text,
            None => std::thread::sleep(LOOK),
        }
    };
    let programs = parse_all(&text).map_err(|error| failed(io::Error::other(error)))?;
    run(&programs, &grammar, order, &mut log)?;
    raw::mark(Mark::Done);
    let _ = io::stdout().flush();
    Ok(())
}

/// Sends the list of functions before the snapshot. It has millions of bytes: a port that this process
/// may use itself takes each with one instruction.
fn send_symbols(all: bool) -> io::Result<()> {
    let files = if all {
        vec![(KALLSYMS_NAME.to_owned(), std::fs::read(KALLSYMS)?)]
    } else {
        module_symbols::file().into_iter().collect()
    };
    let mut sent = Vec::new();
    send(&mut sent, files)?;
    ports::write(SEND_PORT as u16, &sent)
}

fn run(
    programs: &[Program],
    grammar: &Grammar,
    order: &HuntOrder,
    log: &mut log::Log,
) -> Result<(), InsideError> {
    let place = Path::new(PLACE);
    for (number, program) in programs.iter().take(Mark::MOST_PROGRAMS).enumerate() {
        make(place).map_err(|error| InsideError::at(PLACE, error))?;
        raw::mark(Mark::Begins(number));
        let limit = Duration::from_nanos(order.limit_ns);
        execution::execute(program, number, grammar, order.as_root, limit)
            .map_err(|error| InsideError::at("a program", error))?;
        std::thread::sleep(SETTLE);
        raw::mark(Mark::Ended(number));
        for line in log.warnings() {
            let line = format!("{number} {line}\n");
            ports::write(SEND_PORT as u16, line.as_bytes())
                .map_err(|error| InsideError::at("the kernel's log", error))?;
        }
    }
    Ok(())
}

/// Empties the directory, for everybody.
fn make(place: &Path) -> io::Result<()> {
    use std::os::unix::fs::{PermissionsExt, chown};
    // A program can have mounted something in it; it then stays as it is.
    let _ = std::fs::remove_dir_all(place);
    std::fs::create_dir_all(place)?;
    std::fs::set_permissions(place, PermissionsExt::from_mode(0o777))?;
    chown(place, Some(NOBODY), Some(NOBODY))
}
