//! Errors of a bus, one line each.

use std::io;

/// Reasons why there is no bus, or why it was lost.
#[derive(Debug, thiserror::Error)]
pub enum EthercatError {
    /// No interface has that name.
    #[error("there is no network interface {name}; there are {others}")]
    NoSuchInterface {
        /// The requested name.
        name: String,
        /// Those that there are.
        others: String,
    },
    /// Nothing is plugged in, or it is switched off.
    #[error(
        "network interface {name} has no link; plug the bus in, or bring it up: ip link set {name} up"
    )]
    LinkDown {
        /// The interface.
        name: String,
    },
    /// Raw frames are not everybody's.
    #[error("raw frames on {name} need root, or CAP_NET_RAW")]
    NotAllowed {
        /// The interface.
        name: String,
    },
    /// No namespace for the ring.
    #[error(
        "the simulated ring needs a network namespace of its own: root, or a kernel that lets \
         ordinary users make user namespaces (user.max_user_namespaces, \
         kernel.apparmor_restrict_unprivileged_userns): {0}"
    )]
    NoNamespace(io::Error),
    /// No pair of virtual devices.
    #[error("a pair of virtual Ethernet devices can't be made (kernel module veth): {0}")]
    NoPair(io::Error),
    /// The ring could not be started, or sent an unexpected message.
    #[error("the simulated ring did not start: {0}")]
    Ring(String),
    /// Nobody answered.
    #[error("no EtherCAT device answered on {bus}")]
    NoDevices {
        /// The interface, or "the simulated ring".
        bus: String,
    },
    /// More than there is room for.
    #[error("{bus} has more than {most} devices, or they have more process data than fits a frame")]
    TooManyDevices {
        /// The bus.
        bus: String,
        /// Most devices.
        most: usize,
    },
    /// Devices answered and could not be brought into operation.
    #[error("the devices on {bus} can't be {step}: {said}")]
    Setup {
        /// The bus.
        bus: String,
        /// The step that failed.
        step: &'static str,
        /// The master's message.
        said: String,
    },
    /// They have no process data.
    #[error("the devices on {bus} have no process data to exchange")]
    NoProcessData {
        /// The bus.
        bus: String,
    },
    /// A system call failed.
    #[error("{action}: {source}")]
    System {
        /// The action that failed.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl EthercatError {
    /// The system refused `action`.
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self + Copy {
        move |source| Self::System {
            action,
            source: source.into(),
        }
    }
}
