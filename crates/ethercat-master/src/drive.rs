//! Polls the master's futures in the calling thread: sends the frames that they leave, sleeps until an
//! answer or their next timeout, hands the answer back. The master's clock is the monotonic one.

use embassy_time_driver::{Driver, TICK_HZ, time_driver_impl};
use ethercrab::error::Error;
use ethercrab::{PduRx, PduTx};
use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use wakepath_ethercat::{FRAME, Link};

/// Sends and receives for the futures of one master.
pub(crate) struct Wire {
    pub(crate) tx: PduTx<'static>,
    pub(crate) rx: PduRx<'static>,
    pub(crate) link: Link,
    /// Answers that nobody waited for any more.
    pub(crate) late: u64,
}

/// Why a future did not end.
#[derive(Debug)]
pub(crate) enum NotDriven {
    /// Its time was over.
    Expired,
    /// A frame could not be sent or received.
    Broken(io::Error),
}

impl Wire {
    /// Polls until the future has ended, at most until `deadline_ns` of the monotonic clock.
    pub(crate) fn drive<F: Future>(
        &mut self,
        deadline_ns: u64,
        future: F,
    ) -> Result<F::Output, NotDriven> {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            NEXT_TIMEOUT.set(u64::MAX);
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Ok(output);
            }
            let sent = self.send_all().map_err(NotDriven::Broken)?;
            let received = self.receive_all().map_err(NotDriven::Broken)?;
            if received {
                continue;
            }
            let now_ns = now_ns();
            if now_ns >= deadline_ns {
                return Err(NotDriven::Expired);
            }
            let until_ns = deadline_ns.min(NEXT_TIMEOUT.get().saturating_mul(NS_IN_A_TICK));
            // The next poll sees a timeout that has passed already.
            if until_ns > now_ns || sent {
                let wait = until_ns.saturating_sub(now_ns);
                self.link.wait(Duration::from_nanos(wait));
                self.receive_all().map_err(NotDriven::Broken)?;
            }
        }
    }

    fn send_all(&mut self) -> io::Result<bool> {
        let mut sent = false;
        while let Some(frame) = self.tx.next_sendable_frame() {
            let mut failure = None;
            let link = &self.link;
            let answer = frame.send_blocking(|bytes| {
                link.send(bytes).map_err(|error| {
                    failure = Some(error);
                    Error::SendFrame
                })
            });
            match (answer, failure) {
                (Ok(_), _) => sent = true,
                // A full queue: the frame stays, and is tried again.
                (Err(_), Some(error)) if error.raw_os_error() == Some(libc::ENOBUFS) => break,
                (Err(_), Some(error)) => return Err(error),
                (Err(_), None) => return Err(io::Error::other("a frame was sent in part")),
            }
        }
        Ok(sent)
    }

    fn receive_all(&mut self) -> io::Result<bool> {
        let mut received = false;
        let mut frame = [0; FRAME];
        while let Some(length) = self.link.receive(&mut frame)? {
            match self.rx.receive_frame(&frame[..length]) {
                Ok(_) => received = true,
                // Its exchange is over.
                Err(_) => self.late += 1,
            }
        }
        Ok(received)
    }

    /// Takes the frames that have come since, all of them late.
    pub(crate) fn drain(&mut self) -> io::Result<()> {
        self.receive_all().map(drop)
    }
}

pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

const NS_IN_A_TICK: u64 = 1_000_000_000 / TICK_HZ;

thread_local! {
    /// The earliest time, in ticks, at which the polled future wants to be polled again.
    static NEXT_TIMEOUT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The clock of the master's timeouts. It wakes nobody: the polling code reads [`NEXT_TIMEOUT`].
struct Monotonic;

impl Driver for Monotonic {
    fn now(&self) -> u64 {
        now_ns() / NS_IN_A_TICK
    }

    fn schedule_wake(&self, at: u64, _: &Waker) {
        NEXT_TIMEOUT.set(NEXT_TIMEOUT.get().min(at));
    }
}

time_driver_impl!(static MONOTONIC: Monotonic = Monotonic);
