//! Closes many sockets with full queues at once.
//!
//! Each is freed with all its packets after a grace period (RCU), by callbacks of which a stock
//! kernel runs at least ten in a row in a SoftIRQ, even if threads are waiting. PREEMPT_RT runs
//! them in a thread. Loopback only: no packet leaves the machine.

use crate::counters::Slot;
use crate::disturbance::storm::{next_after, now, sleep_until};
use crate::ended::Ended;
use crate::{LoadError, kernel, memory_budget};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[
    Disturbance::Rcu,
    Disturbance::SystemCalls,
    Disturbance::Network,
];

/// Sockets of one worker. Each leaves three callbacks (socket, inode, file), and a kernel runs ten
/// in a row before it checks for waiting threads (`blimit` in kernel/rcu/tree.c): all four sockets.
const ALONE: u32 = 4;
/// Requested size of a queue: four times the default maximum of an unprivileged user
/// (`net.core.rmem_max`). The kernel doubles it: 2220 packets.
const QUEUE_BYTES: usize = 851_968;
/// Limit of all workers together.
const OF_ALL_BYTES: u64 = 256 << 20;
/// Time between two storms.
const EVERY: Duration = Duration::from_millis(50);
/// Packets to send before checking the queue.
const AT_ONCE: usize = 32;

/// Number of sockets of each of `workers`.
pub(crate) fn sockets(workers: u32, budget: u64) -> Result<u32, LoadError> {
    let each = 2 * QUEUE_BYTES as u64;
    let wanted = u64::from(ALONE) * each;
    let share = memory_budget::share(wanted, workers, budget.min(OF_ALL_BYTES));
    match u32::try_from(share / each) {
        Ok(sockets @ 1..) => Ok(sockets),
        _ => Err(LoadError::TooLittleRoom {
            load: "rcu-storm".into(),
            resource: "a quarter of the available memory",
            available: budget,
            needed: each * u64::from(workers),
        }),
    }
}

/// Runs until it is killed; counts packets in the queues that it closed.
pub(crate) fn run(counter: &Slot, sockets: u32) -> Result<Infallible, Ended> {
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Ended::system("loopback"))?;
    loop {
        let full = (0..sockets).map(|_| full(&sender));
        let full: io::Result<Vec<(OwnedFd, u64)>> = full.collect();
        let full = full.map_err(Ended::system("loopback"))?;
        let packets: u64 = full.iter().map(|(_, packets)| packets).sum();
        let sockets = full.into_iter().map(|(socket, _)| socket).collect();
        // A process that is not ready by then closes its sockets in the next storm.
        sleep_until(next_after(now(), EVERY))?;
        kernel::close_at_once(sockets);
        counter.add(packets);
    }
}

/// A socket with a full queue, and the number of its packets.
fn full(sender: &UdpSocket) -> io::Result<(OwnedFd, u64)> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    match set_socket_recv_buffer_size_force(&socket, QUEUE_BYTES) {
        // Without CAP_NET_ADMIN, the maximum for any user.
        Err(Errno::PERM) => set_socket_recv_buffer_size(&socket, QUEUE_BYTES)?,
        set => set?,
    }
    let place = socket.local_addr()?;
    let mut sent = 0;
    loop {
        for _ in 0..AT_ONCE {
            sender.send_to(&[0], place)?;
            sent += 1;
        }
        match kernel::dropped(socket.as_fd())? {
            0 => {}
            dropped => return Ok((socket.into(), sent - u64::from(dropped))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::fcntl_getfd;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_full_queue_holds_as_many_packets_as_are_counted() {
        let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (socket, packets) = full(&sender).unwrap();
        let socket = UdpSocket::from(socket);
        socket.set_nonblocking(true).unwrap();
        let held = (0..).take_while(|_| socket.recv(&mut [0; 2]).is_ok());
        assert_eq!(held.count() as u64, packets);
        assert!(packets > 50, "{packets}");
    }

    #[test]
    fn workers_share_what_there_is_and_too_little_is_refused() {
        assert_eq!(sockets(1, 1 << 30).unwrap(), 4);
        assert_eq!(sockets(64, 1 << 40).unwrap(), 2);
        assert_eq!(sockets(4, 8 << 20).unwrap(), 1);
        let error = sockets(4, 1 << 20).unwrap_err();
        assert!(matches!(error, LoadError::TooLittleRoom { .. }), "{error}");
    }

    #[test]
    fn sockets_are_closed_all_and_nothing_else() {
        let open = || OwnedFd::from(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let (first, between, last) = (open(), open(), open());
        let numbers = [first.as_raw_fd(), last.as_raw_fd()];
        kernel::close_at_once(vec![last, first]);
        assert!(fcntl_getfd(&between).is_ok());
        // Another test might have opened a file since that reuses the number.
        let ours = |number: &i32| {
            let link = std::fs::read_link(format!("/proc/self/fd/{number}"));
            link.is_ok_and(|link| link.to_string_lossy().contains("socket"))
        };
        assert!(!numbers.iter().any(ours), "{numbers:?}");
    }
}
