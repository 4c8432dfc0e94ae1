//! EtherCAT for loads and loops, and a ring of simulated devices.
//!
//! The calling thread itself exchanges process data with a bus; the ring answers if there are no
//! real devices. It doesn't interpret faults, and it commands no device: outputs of real ones stay
//! zero.
//!
//! The master is in the room `ethercat-master`, and the programs that have it pass it on as
//! [`StartMaster`]: `wakepath` itself has none and starts [`program()`] for such loops and loads.
//!
//! Without devices there is a [`Ring`]: a process in its own network namespace with both ends of a
//! pair of virtual Ethernet devices. It passes the master's end out as an open socket; the
//! namespace and the pair vanish with the process, and the process with its parent, however that
//! ends.

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod bus;
mod datagram;
mod device;
mod error;
mod interface;
mod kernel;
mod link;
mod master;
mod netlink;
mod program;
mod ring;
mod silence;

pub use bus::Bus;
pub use error::EthercatError;
pub use link::{FRAME, Link};
pub use master::{Exchange, Master, StartMaster};
pub use program::{NoProgram, PROGRAM, program};
pub use ring::{Ring, RingOptions, main as ring_main};
pub use silence::Silence;
