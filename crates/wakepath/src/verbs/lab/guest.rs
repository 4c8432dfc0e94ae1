//! The first process of a guest: mounts what Linux keeps its facts in, carries the order out as any
//! run, sends the run's files home and ends the machine. It judges nothing and finishes nothing.

use super::{commands, effective};
use crate::beginning::run_started;
use crate::verbs::measured;
use crate::view;
use rustix::mount::{MountFlags, mount};
use rustix::net::{self, AddressFamily, SendFlags, SocketType, netlink};
use rustix::system::RebootCommand;
use rustix::termios;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use wakepath_archive::VirtualTime;
use wakepath_lab::{BEGUN, ENDED, FAILED, ORDER_PATH, Order, SEND_PORT, SPEAKER_ON, SPEAKER_PORT};
use wakepath_load::{Cache, Caches};
use wakepath_machine::{Facts, Root};
use wakepath_measure::{Interrupt, Measurement, Plan};
use wakepath_readiness::{Inspection, Report};
use wakepath_scenario::{KnownCpus, Scenario, Warning};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// What is mounted where. The run lies in memory: a disk's emulation would be part of every load.
const MOUNTS: [(&str, &str, &str); 8] = [
    ("proc", "/proc", "proc"),
    ("sysfs", "/sys", "sysfs"),
    ("devtmpfs", "/dev", "devtmpfs"),
    ("tmpfs", "/run", "tmpfs"),
    ("tmpfs", "/tmp", "tmpfs"),
    ("tracefs", "/sys/kernel/tracing", "tracefs"),
    ("debugfs", "/sys/kernel/debug", "debugfs"),
    ("cgroup2", "/sys/fs/cgroup", "cgroup2"),
];
/// What a kernel may lack: that is then a fact like any other.
const OPTIONAL: [&str; 3] = ["tracefs", "debugfs", "cgroup2"];
/// A PC's I/O ports. Other machines may have the file too, and nothing behind it.
const PORTS: &str = "/dev/port";
const RUN: &str = "/run/run";

/// Runs as the first process; does not return there.
pub fn main() -> ExitCode {
    if std::process::id() != 1 {
        eprintln!("wakepath: this is the first process of a laboratory's guest and nothing else");
        return ExitCode::from(1);
    }
    println!("{BEGUN}");
    match guest() {
        Ok(()) => println!("{ENDED}"),
        Err(error) => println!("{FAILED}{error}"),
    }
    let _ = termios::tcdrain(std::io::stdout());
    // Without a first process the kernel panics, which tells the host as well.
    let _ = rustix::system::reboot(RebootCommand::Restart);
    ExitCode::from(1)
}

fn guest() -> Outcome {
    for (source, place, kind) in MOUNTS {
        let mounted = mount(source, place, kind, MountFlags::empty(), None);
        if !OPTIONAL.contains(&kind) {
            mounted.map_err(|error| format!("{place} can't be mounted: {error}"))?;
        }
    }
    bring_loopback_up().map_err(|error| format!("loopback can't be brought up: {error}"))?;
    let order = std::fs::read(ORDER_PATH).map_err(|error| format!("{ORDER_PATH}: {error}"))?;
    let order = Order::from_bytes(&order).map_err(|error| {
        format!("{ORDER_PATH}: {error} (is this wakepath of another version than the host's?)")
    })?;
    if order.turn_ns.is_some() {
        ports()?.write_all_at(&[SPEAKER_ON], SPEAKER_PORT)?;
    }
    for vain in effective::ignored(&Facts::read(&Root::host()), &effective::log()) {
        println!("warning: {vain}");
    }
    let mut files = Vec::new();
    // What there is comes home even where something failed.
    let outcome = follow(&order, &mut files);
    send(files)?;
    outcome
}

fn follow(order: &Order, files: &mut Vec<(String, Vec<u8>)>) -> Outcome {
    commands::run(&order.commands, files)?;
    let Some(scenario) = &order.scenario else {
        return Ok(());
    };
    let outcome = measure(order, scenario);
    // A measurement that never began has no directory.
    if outcome.is_ok() || Path::new(RUN).exists() {
        files.extend(commands::files_in(Path::new(RUN), "")?);
    }
    outcome
}

fn measure(order: &Order, scenario: &str) -> Outcome {
    let host = measured::host_cpus()?;
    let known = KnownCpus::new(host.for_a_loop()).ok_or("no CPU may be used")?;
    let (scenario, warnings) = Scenario::parse_with_warnings(scenario, "the order", &known)?;
    let subject = crate::verbs::subject::loop_of(&scenario, &host);
    let plan = Plan::new(&scenario, host);
    let readiness = Report::of(&Inspection::read(Root::host(), subject, Duration::ZERO));
    let facts = Facts::read(&Root::host());
    let interrupt = Interrupt::listen()?;
    let bearing = |warning: &&Warning| !matches!(warning, Warning::TooShortToPass { .. });
    let notes = warnings.iter().filter(bearing).map(ToString::to_string);
    let clock_source = measured::clock_source(&facts);
    let mut start = run_started(&scenario, clock_source, notes.collect(), SystemTime::now())?;
    start
        .notes
        .extend(effective::ignored(&facts, &effective::log()));
    start.virtual_time = Some(VirtualTime {
        ns_per_instruction: order.ns_per_instruction,
        seed: order.seed,
        cpus: order.cpus,
        turn_ns: order.turn_ns,
        emulator: None,
    });
    let mut observer = view::fitting(true);
    Measurement {
        scenario: &scenario,
        plan: &plan,
        directory: Path::new(RUN),
        start,
        caches: caches(order, &facts),
        readiness: serde_json::to_value(&readiness)?,
        observer: observer.as_mut(),
        interrupt: &interrupt,
    }
    .carry_out()?;
    Ok(())
}

/// The caches that loads are made for: those that the kernel knows, otherwise those of the order.
fn caches(order: &Order, facts: &Facts) -> Caches {
    let known = measured::caches(facts);
    let Some(ordered) = order.caches_bytes.filter(|_| known == Caches::default()) else {
        return known;
    };
    let [l1d, l2, l3] = ordered.map(|bytes| {
        let shared_by_cpus = 1;
        (bytes > 0).then_some(Cache {
            bytes,
            shared_by_cpus,
        })
    });
    Caches { l1d, l2, l3 }
}

/// Sends files home.
fn send(mut files: Vec<(String, Vec<u8>)>) -> Outcome {
    files.sort();
    if !cfg!(target_arch = "x86_64") {
        // No line of the kernel's own may come between.
        let _ = std::fs::write("/proc/sys/kernel/printk", "0");
        wakepath_lab::send_by_console(std::io::stdout().lock(), files)?;
        return Ok(());
    }
    let mut sent = Vec::new();
    wakepath_lab::send(&mut sent, files)?;
    let ports = ports()?;
    // More than one byte at once would go to as many ports.
    for byte in sent {
        ports.write_all_at(&[byte], SEND_PORT)?;
    }
    Ok(())
}

fn ports() -> Result<File, String> {
    let ports = File::options().write(true).open(PORTS);
    ports.map_err(|error| format!("{PORTS}: {error}"))
}

/// Sets the loopback interface up, for loads that use the network (rtnetlink(7), RTM_NEWLINK).
fn bring_loopback_up() -> std::io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const UP: u32 = 1;
    const LOOPBACK_INDEX: i32 = 1;
    let mut message = Vec::new();
    message.extend(32_u32.to_ne_bytes()); // the whole length
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]); // sequence, sender
    message.extend([0; 4]); // family, padding, kind of device
    message.extend(LOOPBACK_INDEX.to_ne_bytes());
    message.extend(UP.to_ne_bytes()); // flags
    message.extend(UP.to_ne_bytes()); // which of them change
    let socket = net::socket(
        AddressFamily::NETLINK,
        SocketType::RAW,
        None, // protocol 0: NETLINK_ROUTE
    )?;
    let kernel = netlink::SocketAddrNetlink::new(0, 0);
    net::sendto(&socket, &message, SendFlags::empty(), &kernel)?;
    let mut answer = [0; 64];
    let (length, _) = net::recv(&socket, &mut answer, net::RecvFlags::empty())?;
    // A head of 16 bytes, then the error as a negative number.
    let error = answer.get(16..20).filter(|_| length >= 20);
    match error.and_then(|bytes| bytes.try_into().ok()) {
        Some(bytes) => match i32::from_ne_bytes(bytes) {
            0 => Ok(()),
            error => Err(std::io::Error::from_raw_os_error(-error)),
        },
        None => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}
