//! Reasons why a device isn't available, or failed.

use crate::device::Interface;

/// One line each.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// The library of an interface is not here, or refuses.
    #[error("{}: {why}", interface.name())]
    NoInterface {
        /// Which.
        interface: Interface,
        /// In its loader's words.
        why: String,
    },
    /// It has no device of this number.
    #[error("{}: there is no device {wanted}; {there} here", interface.name())]
    NoDevice {
        /// Which interface.
        interface: Interface,
        /// The requested number.
        wanted: usize,
        /// The available ones.
        there: String,
    },
    /// No interface has a device.
    #[error("no GPU can be used: {}", .0.join("; "))]
    Nothing(Vec<String>),
    /// A call of the interface failed.
    #[error("{}: {action}: {why}", interface.name())]
    Call {
        /// Its interface.
        interface: Interface,
        /// The action that failed.
        action: &'static str,
        /// In its words.
        why: String,
    },
    /// It computes wrongly.
    #[error("{}: the product is wrong: row {row}, column {column} is {found} and should be {right}", interface.name())]
    Wrong {
        /// Its interface.
        interface: Interface,
        /// Row of the fault.
        row: usize,
        /// Column of the fault.
        column: usize,
        /// The device's value there.
        found: f32,
        /// The correct value.
        right: f32,
    },
    /// The command line.
    #[error("{0}")]
    Usage(String),
}

impl GpuError {
    /// A call that failed.
    pub fn call<E: std::fmt::Display>(
        interface: Interface,
        action: &'static str,
    ) -> impl Fn(E) -> Self + Copy {
        move |why| Self::Call {
            interface,
            action,
            why: why.to_string(),
        }
    }
}
