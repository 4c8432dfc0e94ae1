//! Waits for the servers on loopback that programs need.

use crate::counters::Slot;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(5);

fn until<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look() {
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            found => return found,
        }
    }
}

/// The port that our own server has published in `slot`.
pub(super) fn published_port(slot: &Slot) -> Option<u16> {
    until(|| {
        u16::try_from(slot.port.load(Ordering::Acquire))
            .ok()
            .filter(|&port| port != 0)
    })
}

/// A TCP port on loopback that is free at this moment.
pub(super) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

/// Waits until someone listens on `port`, without connecting: iperf3 would take that for a test.
pub(super) fn wait_until_listening(port: u16) -> bool {
    until(|| {
        let table = std::fs::read_to_string("/proc/self/net/tcp").ok()?;
        is_listening(&table, port).then_some(())
    })
    .is_some()
}

/// Whether /proc/net/tcp's `table` has a socket in the state LISTEN (0A) on `port`.
fn is_listening(table: &str, port: u16) -> bool {
    let wanted = format!(":{port:04X}");
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let local = fields.next().is_some_and(|local| local.ends_with(&wanted));
        local && fields.nth(1) == Some("0A")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_listening_socket_on_the_port_itself_counts() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n   0: \
                     0100007F:1451 00000000:0000 0A 00000000:00000000 00:00000000\n   1: \
                     0100007F:1F90 0100007F:1451 01 00000000:00000000 00:00000000\n";
        assert!(is_listening(table, 0x1451));
        assert!(!is_listening(table, 0x1F90), "connected, not listening");
        assert!(
            !is_listening(table, 0x451),
            "another port with the same end"
        );
    }

    #[test]
    fn a_server_of_ours_is_seen_without_connecting_to_it() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(wait_until_listening(listener.local_addr().unwrap().port()));
    }
}
