//! Groups of processes that send each other short messages through sockets, in the way of
//! hackbench: every sender writes to every receiver of its group in turn.

use crate::counters::Slot;
use crate::ended::Ended;
use crate::plan::{Assignment, Job};
use crate::worker::Worker;
use crate::{OWN_ENVIRONMENT_VARIABLE, launch};
use std::convert::Infallible;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[
    Disturbance::Scheduling,
    Disturbance::SystemCalls,
    Disturbance::Cpu,
];

/// Senders of one group, and as many receivers. hackbench has 20, which on two CPUs leaves little
/// of the machine to other programs.
const PAIRS: usize = 4;

/// hackbench's message size in bytes.
const MESSAGE_BYTES: usize = 100;

/// Messages that a receiver takes between two updates of the counter, which the group shares.
const BATCH: u64 = 32;

/// Runs one group until it is killed.
pub(crate) fn run(worker: &Worker<'_>) -> Result<Infallible, Ended> {
    let &Worker {
        counters,
        assignment,
        slot,
    } = worker;
    let unique = std::env::var(OWN_ENVIRONMENT_VARIABLE).unwrap_or_default();
    let own = rustix::process::getpid().as_raw_pid();
    let address = format!("wakepath-messages-{unique}-{slot}");
    let start = |job: Job| {
        let child = Assignment {
            parent: own,
            job,
            ..assignment.clone()
        };
        launch::worker_of_a_worker(&child, counters)
            .map(drop)
            .map_err(Ended::system("cannot start a process of the group"))
    };
    for index in 0..PAIRS {
        start(Job::MessageReceiver {
            address: format!("{address}-{index}"),
        })?;
    }
    for _ in 0..PAIRS {
        start(Job::MessageSender {
            address: address.clone(),
        })?;
    }
    // None of them ends by itself; the first that does ends the group.
    let ended = rustix::process::wait(rustix::process::WaitOptions::empty());
    Err(Ended::GroupMember {
        status: format!("{ended:?}"),
    })
}

/// Receives at `address` until it is killed; counts messages.
pub(crate) fn receive(counter: &Slot, address: &str) -> Result<Infallible, Ended> {
    let describe = |source: io::Error| Ended::Socket {
        end: "receiver at",
        address: address.to_owned(),
        source,
    };
    let name = SocketAddr::from_abstract_name(address).map_err(describe)?;
    let socket = UnixDatagram::bind_addr(&name).map_err(describe)?;
    let mut message = [0; MESSAGE_BYTES];
    loop {
        for _ in 0..BATCH {
            socket.recv(&mut message).map_err(describe)?;
        }
        counter.add(BATCH);
    }
}

/// Sends to the receivers of the group in turn until it is killed.
pub(crate) fn send(group: &str) -> Result<Infallible, Ended> {
    let describe = |source: io::Error| Ended::Socket {
        end: "sender to",
        address: group.to_owned(),
        source,
    };
    let sockets: Vec<UnixDatagram> = (0..PAIRS)
        .map(|index| connect(&format!("{group}-{index}")))
        .collect::<Result<_, _>>()
        .map_err(describe)?;
    let message = [1; MESSAGE_BYTES];
    loop {
        for socket in &sockets {
            socket.send(&message).map_err(describe)?;
        }
    }
}

/// A socket connected to `address`, which its receiver might not have bound yet.
fn connect(address: &str) -> io::Result<UnixDatagram> {
    let name = SocketAddr::from_abstract_name(address)?;
    let socket = UnixDatagram::unbound()?;
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        match socket.connect_addr(&name) {
            Err(error)
                if error.kind() == io::ErrorKind::ConnectionRefused
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            other => return other.map(|()| socket),
        }
    }
}
