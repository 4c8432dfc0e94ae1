//! Topology of a guest's CPUs: sockets, cores, threads.
//!
//! Each socket is a NUMA node with a share of the memory, as on real machines. Pure; emulators
//! don't model the distance between sockets.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Number of sockets, cores of a socket and threads of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Topology {
    sockets: u16,
    cores: u16,
    threads: u16,
}

/// Reasons why a topology is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// Not a topology.
    #[error(
        "give sockets, cores of each and threads of each, such as sockets=2,cores=8 or \
         sockets=1,cores=4,threads=2"
    )]
    Text,
    /// Another number of CPUs.
    #[error(
        "--topology {topology}: makes {makes} CPUs, and the guest has {cpus}; say --cpus {makes}"
    )]
    Cpus {
        /// As given.
        topology: Topology,
        /// Its product.
        makes: u32,
        /// The guest's.
        cpus: u16,
    },
    /// The memory isn't divisible into whole MiB for each socket.
    #[error(
        "--topology {topology}: {memory_mib} MiB of memory can't be divided among {sockets} sockets; give \
         --memory a multiple of {sockets}",
        sockets = topology.sockets
    )]
    Memory {
        /// As given.
        topology: Topology,
        /// The guest's.
        memory_mib: u32,
    },
    /// Only tested on one architecture.
    #[error("--topology {topology}: is for guests of x86-64")]
    Architecture {
        /// As given.
        topology: Topology,
    },
}

impl Topology {
    /// Number of CPUs.
    pub fn cpus(self) -> u32 {
        u32::from(self.sockets) * u32::from(self.cores) * u32::from(self.threads)
    }

    /// Checks that a guest with this number of CPUs and this memory can have it.
    ///
    /// # Errors
    /// What doesn't fit.
    pub(crate) fn fits(self, cpus: u16, memory_mib: u32) -> Result<(), TopologyError> {
        let topology = self;
        if self.cpus() != u32::from(cpus) {
            return Err(TopologyError::Cpus {
                topology,
                makes: self.cpus(),
                cpus,
            });
        }
        if memory_mib.is_multiple_of(self.sockets.into()) {
            Ok(())
        } else {
            Err(TopologyError::Memory {
                topology,
                memory_mib,
            })
        }
    }

    /// The part of `-smp` after the number of CPUs.
    pub(crate) fn of_smp(self) -> String {
        let Self {
            sockets,
            cores,
            threads,
        } = self;
        format!(",sockets={sockets},cores={cores},threads={threads}")
    }

    /// The emulator's arguments for one memory node for each socket; none for a single socket.
    pub(crate) fn nodes(self, memory_mib: u32) -> Vec<String> {
        if self.sockets == 1 {
            return Vec::new();
        }
        let each = self.cores * self.threads;
        let share = memory_mib / u32::from(self.sockets);
        let of = |node: u16| {
            let (first, last) = (node * each, (node + 1) * each - 1);
            [
                "-object".to_owned(),
                format!("memory-backend-ram,id=node{node},size={share}M"),
                "-numa".to_owned(),
                format!("node,nodeid={node},cpus={first}-{last},memdev=node{node}"),
            ]
        };
        (0..self.sockets).flat_map(of).collect()
    }
}

impl FromStr for Topology {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let wrong = || TopologyError::Text;
        let (mut sockets, mut cores, mut threads) = (None, None, None);
        for part in text.split(',') {
            let (name, number) = part.split_once('=').ok_or_else(wrong)?;
            let number = number.parse::<u16>().ok();
            let number = number.filter(|number| (1..=256).contains(number));
            let place = match name.trim() {
                "sockets" => &mut sockets,
                "cores" => &mut cores,
                "threads" => &mut threads,
                _ => return Err(wrong()),
            };
            if place.replace(number.ok_or_else(wrong)?).is_some() {
                return Err(wrong());
            }
        }
        Ok(Self {
            sockets: sockets.ok_or_else(wrong)?,
            cores: cores.ok_or_else(wrong)?,
            threads: threads.unwrap_or(1),
        })
    }
}

impl TryFrom<String> for Topology {
    type Error = TopologyError;

    fn try_from(text: String) -> Result<Self, TopologyError> {
        text.parse()
    }
}

impl From<Topology> for String {
    fn from(topology: Topology) -> Self {
        topology.to_string()
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sockets, cores, threads) = (self.sockets, self.cores, self.threads);
        write!(f, "sockets={sockets},cores={cores}")?;
        match threads {
            1 => Ok(()),
            more => write!(f, ",threads={more}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topology_is_what_its_words_multiply_to() {
        let two: Topology = "sockets=2,cores=8".parse().unwrap();
        assert_eq!(
            (two.cpus(), two.to_string().as_str()),
            (16, "sockets=2,cores=8")
        );
        assert_eq!(two.of_smp(), ",sockets=2,cores=8,threads=1");
        assert_eq!(
            two.nodes(1024).join(" "),
            "-object memory-backend-ram,id=node0,size=512M -numa node,nodeid=0,cpus=0-7,memdev=node0 \
             -object memory-backend-ram,id=node1,size=512M -numa node,nodeid=1,cpus=8-15,memdev=node1"
        );
        let one: Topology = "cores=4,sockets=1,threads=2".parse().unwrap();
        assert_eq!((one.cpus(), one.nodes(1024).len()), (8, 0));
        let json = serde_json::to_string(&one).unwrap();
        assert_eq!(serde_json::from_str::<Topology>(&json).unwrap(), one);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        for text in [
            "",
            "2x8",
            "sockets=2",
            "sockets=2,cores=0",
            "sockets=1,cores=1,cores=1",
            "dies=2",
        ] {
            let said = text.parse::<Topology>().unwrap_err().to_string();
            assert!(said.contains("such as sockets=2,cores=8"), "{said}");
        }
        let two: Topology = "sockets=2,cores=8".parse().unwrap();
        assert_eq!(two.fits(16, 1024), Ok(()));
        let said = two.fits(8, 1024).unwrap_err().to_string();
        assert!(
            said.ends_with("makes 16 CPUs, and the guest has 8; say --cpus 16"),
            "{said}"
        );
        let said = two.fits(16, 1023).unwrap_err().to_string();
        assert!(said.ends_with("give --memory a multiple of 2"), "{said}");
    }
}
