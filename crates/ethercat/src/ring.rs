//! The ring of simulated devices: a process with both ends of a virtual link in a separate network
//! namespace.
//!
//! It passes one end out and answers at the other, until its parent is gone.

use crate::device::Device;
use crate::link::{FRAME, Link};
use crate::{EthercatError, datagram, kernel, netlink};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;
use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

/// The hidden verb that a program must answer with [`main`].
const VERB: [&str; 2] = ["internal", "ethercat-ring"];
/// Name of its bus for messages.
const NAME: &str = "the simulated ring";
/// From one device to the next, and back: cable and controller.
const BETWEEN_NS: u64 = 500;
/// Largest error of a crystal, in billionths.
const CLOCK_ERROR: u64 = 20_000;

/// Priority of a prompt ring: below the highest, which a loop can have.
const PRIORITY: libc::c_int = 98;

/// Properties of the ring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingOptions {
    /// Number of devices, at least 1.
    pub devices: u16,
    /// Longest delay of an answer, in nanoseconds; random up to that.
    pub jitter_ns: u64,
    /// Number of frames lost at random in a million.
    pub lost_per_million: u32,
    /// Time in operation after which the last device stops taking part.
    pub stops_after_ns: Option<u64>,
    /// Whether the ring answers before ordinary threads run, if this user has the right to that: as
    /// devices do, which answer in hardware.
    pub is_prompt: bool,
    /// Seed of the random faults.
    pub seed: u64,
}

impl Default for RingOptions {
    fn default() -> Self {
        Self {
            devices: 3,
            jitter_ns: 0,
            lost_per_million: 0,
            stops_after_ns: None,
            is_prompt: false,
            seed: 1,
        }
    }
}

/// A ring's process. It ends with this value, and with this process.
#[derive(Debug)]
pub struct Ring {
    process: Child,
    /// Its end makes the ring leave.
    _control: UnixStream,
}

impl Ring {
    /// Starts `program` as a ring; returns the link to it.
    ///
    /// # Errors
    /// One line: no namespace, no virtual link.
    pub fn start(program: &Path, options: &RingOptions) -> Result<(Self, Link), EthercatError> {
        let (ours, theirs) =
            UnixStream::pair().map_err(EthercatError::system("create a socket"))?;
        let text = serde_json::to_string(options)
            .map_err(|error| EthercatError::Ring(error.to_string()))?;
        let process = Command::new(program)
            .arg0("wakepath")
            .args(VERB)
            .arg(text)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .spawn()
            .map_err(EthercatError::system("start the simulated ring"))?;
        let mut ring = Self {
            process,
            _control: ours,
        };
        let socket = ring.take_link()?;
        Ok((ring, Link::new(socket, NAME)))
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The ring's first message: its link, or the reason why there is none.
    fn take_link(&mut self) -> Result<OwnedFd, EthercatError> {
        let mut text = [0; 1024];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let length = recvmsg(
            &self._control,
            &mut [IoSliceMut::new(&mut text)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        )
        .map_err(EthercatError::system("hear from the simulated ring"))?
        .bytes;
        let sent = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut sent) => sent.next(),
            _ => None,
        });
        match (sent, std::str::from_utf8(&text[..length])) {
            (Some(socket), _) => Ok(socket),
            (None, Ok("")) | (None, Err(_)) => {
                let status = self.process.wait();
                let said = status.map_or_else(|error| error.to_string(), |it| it.to_string());
                Err(EthercatError::Ring(said))
            }
            (None, Ok(said)) => Err(refusal(said)),
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A refusal in transfer: its subject, and the system's error number.
fn refusal(said: &str) -> EthercatError {
    let (what, number) = said.split_once(' ').unwrap_or((said, "0"));
    let error = io::Error::from_raw_os_error(number.parse().unwrap_or(0));
    match what {
        "namespace" => EthercatError::NoNamespace(error),
        "pair" => EthercatError::NoPair(error),
        _ => EthercatError::Ring(said.into()),
    }
}

/// The ring's process: runs until its parent is gone. `arguments` are those after the verb.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let text = arguments.into_iter().next().unwrap_or_default();
    match run(&text.to_string_lossy()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The reader might be gone.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(text: &str) -> Result<(), EthercatError> {
    let options: RingOptions = serde_json::from_slice(text.as_bytes())
        .map_err(|_| EthercatError::Ring("this command is internal to wakepath".into()))?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(EthercatError::system(
        "cannot ask for the parent's death signal",
    ))?;
    let _ = rustix::thread::set_name(c"wakepath-ring");
    if options.is_prompt {
        // Refused without a right: then it answers when it gets a CPU.
        let _ = kernel::set_fifo(PRIORITY);
    }
    let control = io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(EthercatError::system("take over the control socket"))?;
    let (masters, own) = match links() {
        Ok(links) => links,
        Err((what, error)) => {
            let said = format!("{what} {}", error.raw_os_error().unwrap_or(0));
            let nothing = &mut SendAncillaryBuffer::default();
            let _ = sendmsg(
                &control,
                &[IoSlice::new(said.as_bytes())],
                nothing,
                SendFlags::NOSIGNAL,
            );
            return Ok(());
        }
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let sent = [masters.as_fd()];
    ancillary.push(SendAncillaryMessage::ScmRights(&sent));
    sendmsg(
        &control,
        &[IoSlice::new(b"link")],
        &mut ancillary,
        SendFlags::NOSIGNAL,
    )
    .map_err(EthercatError::system("hand out the link"))?;
    drop(masters);
    serve(&control, &Link::new(own, NAME), &options)
}

/// Both ends of a virtual link in a new namespace.
fn links() -> Result<(OwnedFd, OwnedFd), (&'static str, io::Error)> {
    let own = UnshareFlags::NEWNET;
    kernel::new_namespaces(own)
        // Without the right to create one, a user namespace might allow it.
        .or_else(|_| kernel::new_namespaces(UnshareFlags::NEWUSER | own))
        .map_err(|error| ("namespace", error.into()))?;
    let pair = |error| ("pair", error);
    let [masters, own] = netlink::pair("master", "devices").map_err(pair)?;
    let own = Link::bound(own).map_err(pair)?;
    let masters = Link::bound(masters).map_err(pair)?;
    Ok((masters, own))
}

fn serve(control: &OwnedFd, link: &Link, options: &RingOptions) -> Result<(), EthercatError> {
    let mut chance = Chance(options.seed | 1);
    let mut devices: Vec<Device> = (0..options.devices)
        .map(|index| {
            // The first device's clock is the reference: it is right.
            let error = match index {
                0 => 0,
                _ => (chance.below(2 * CLOCK_ERROR)).cast_signed() - CLOCK_ERROR.cast_signed(),
            };
            Device::new(index, options.devices, error, BETWEEN_NS)
        })
        .collect();
    let mut operational_since = None;
    let mut frame = [0; FRAME];
    loop {
        let mut both = [
            PollFd::new(link, PollFlags::IN),
            PollFd::new(control, PollFlags::IN),
        ];
        let _ = poll(&mut both, None);
        // The parent's end was closed: nothing else is ever sent here.
        if !both[1].revents().is_empty() {
            return Ok(());
        }
        let Some(length) = link
            .receive(&mut frame)
            .map_err(EthercatError::system("receive a frame"))?
        else {
            continue;
        };
        let frame = &mut frame[..length];
        if !datagram::is_ethercat(frame) {
            continue;
        }
        let now_ns = now_ns();
        if operational_since.is_none() && devices.iter().all(Device::is_operational) {
            operational_since = Some(now_ns);
        }
        // While a master sets the devices up, there are no faults.
        if let Some(since) = operational_since {
            if chance.below(1_000_000) < u64::from(options.lost_per_million) {
                continue;
            }
            let stopped = options
                .stops_after_ns
                .is_some_and(|after| now_ns.saturating_sub(since) >= after);
            if stopped && let Some(last) = devices.last_mut() {
                last.takes_part = false;
            }
            if options.jitter_ns > 0 {
                sleep(chance.below(options.jitter_ns));
            }
        }
        pass(&mut devices, frame, now_ns);
        // As a device's controller does, to distinguish an answer from a request.
        frame[6] |= 2;
        // A full queue is a lost frame.
        let _ = link.send(frame);
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

/// Lets a frame pass all devices, the first at `now_ns`.
fn pass(devices: &mut [Device], frame: &mut [u8], now_ns: u64) {
    for (device, behind) in devices.iter_mut().zip(0..) {
        let at_ns = now_ns + behind * BETWEEN_NS;
        datagram::for_each(frame, |mut one| device.pass(&mut one, at_ns));
    }
}

fn sleep(ns: u64) {
    let ns = i64::try_from(ns).unwrap_or(i64::MAX);
    let _ = rustix::thread::nanosleep(&Timespec {
        tv_sec: ns / 1_000_000_000,
        tv_nsec: (ns % 1_000_000_000) as _,
    });
}

/// Marsaglia's xorshift with 64 bits ("Xorshift RNGs", 2003): the same seed gives the same
/// sequence.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * u128::from(limit)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_even_and_the_same_again() {
        let row = |seed| {
            let mut chance = Chance(seed);
            (0..100_000)
                .map(move |_| chance.below(1_000_000))
                .collect::<Vec<_>>()
        };
        assert_eq!(row(1), row(1));
        let few = row(3).iter().filter(|&&drawn| drawn < 10_000).count();
        // 1000 are expected, 31 is the standard deviation.
        assert!((875..1125).contains(&few), "{few}");
    }
}
