//! The devices' place: an interface, or a ring's process.
//!
//! It exchanges nothing.

use crate::{EthercatError, Link, Ring, RingOptions};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The program that runs; it answers the ring's hidden verb.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// The devices' place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bus {
    /// At the network interface of that name.
    Interface(String),
    /// In a ring of simulated ones.
    Simulated(RingOptions),
}

impl Bus {
    /// Opens the interface, if there is one, while the process has the right to.
    ///
    /// # Errors
    /// No such interface, no link, no right.
    pub fn open(&self) -> Result<Option<Link>, EthercatError> {
        match self {
            Self::Interface(name) => Link::open(name).map(Some),
            Self::Simulated(_) => Ok(None),
        }
    }

    /// The link to the devices, `opened` before if necessary. Starts a simulated ring, which ends
    /// with the calling thread or when it is dropped.
    ///
    /// # Errors
    /// As [`Self::open`] and [`Ring::start`].
    pub fn start(&self, opened: Option<Link>) -> Result<(Option<Ring>, Link), EthercatError> {
        match (self, opened) {
            (_, Some(link)) => Ok((None, link)),
            (Self::Interface(name), None) => Ok((None, Link::open(name)?)),
            (Self::Simulated(options), None) => {
                let (ring, link) = Ring::start(Path::new(THIS_PROGRAM), options)?;
                Ok((Some(ring), link))
            }
        }
    }
}
