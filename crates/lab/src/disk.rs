//! A guest's disk with a speed, in virtual time.
//!
//! The guest's kernel provides it with its module `null_blk`: it keeps the blocks in memory, and a timer ends each
//! request. Pure.

use crate::modules::Asked;
use wakepath_guest::order::OrderedDisk;
use wakepath_scenario::units::{Complaint, parse_duration, parse_size};

/// The module, as the kernel names it.
const MODULE: &str = "null_blk";
/// The file system.
const FILE_SYSTEM: &str = "ext4";
/// Checksums of the file system, a module of their own until Linux 6.14.
pub(crate) const CHECKSUMS: &str = "crc32c_generic";
/// The program that makes it, and its package.
pub(crate) const MAKES: (&str, &str) = ("mkfs.ext4", "e2fsprogs");

/// Bytes of the device's unit, and units of the file system's block.
const SECTOR: u64 = 512;
const FEWEST: u64 = 8;
/// The largest request that the kernel makes of any disk by default (BLK_DEF_MAX_SECTORS).
const MOST: u64 = 2560;
/// Longest latency: the kernel reports a stuck disk after 30 s.
const LONGEST_NS: u64 = 10_000_000_000;

/// The disk as it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Disk {
    latency_ns: u64,
    sectors: u64,
}

/// Reasons to reject a disk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiskFault {
    /// Not a disk.
    #[error("give the time of a request and the rate, such as 'latency=8ms,rate=2MiB/s'")]
    Text,
    /// A time or a rate that can't be parsed.
    #[error("{0}")]
    Quantity(Complaint),
    /// No time, or too much.
    #[error("a request takes more than nothing and at most 10 s")]
    Latency,
    /// Requests of less than a block, or more than the kernel makes.
    #[error(
        "{bytes} bytes in each request: at this latency give a rate from {least} to {most} B/s"
    )]
    Request {
        /// Product of latency and rate.
        bytes: u128,
        /// Smallest rate.
        least: u128,
        /// Largest rate.
        most: u128,
    },
}

impl Disk {
    /// Reads `latency=TIME,rate=SIZE/s`.
    pub fn parse(text: &str) -> Result<Self, DiskFault> {
        let (latency, rate) = text.split_once(',').ok_or(DiskFault::Text)?;
        let latency = latency.trim().strip_prefix("latency=");
        let rate = rate.trim().strip_prefix("rate=");
        let rate = rate.and_then(|rate| rate.strip_suffix("/s"));
        let (latency, rate) = latency.zip(rate).ok_or(DiskFault::Text)?;
        let latency_ns = parse_duration(latency).map_err(DiskFault::Quantity)?;
        let rate = parse_size(rate).map_err(DiskFault::Quantity)?;
        if !(1..=LONGEST_NS).contains(&latency_ns) {
            return Err(DiskFault::Latency);
        }
        let bytes = u128::from(rate) * u128::from(latency_ns) / 1_000_000_000;
        let rate_of = |sectors: u64| u128::from(sectors * SECTOR) * 1_000_000_000;
        let sectors = bytes / u128::from(SECTOR);
        match u64::try_from(sectors) {
            Ok(sectors) if (FEWEST..=MOST).contains(&sectors) => Ok(Self {
                latency_ns,
                // Whole blocks: a request of a block and a half would be cut in the middle of one.
                sectors: sectors - sectors % FEWEST,
            }),
            _ => Err(DiskFault::Request {
                bytes,
                least: rate_of(FEWEST).div_ceil(latency_ns.into()),
                most: rate_of(MOST) / u128::from(latency_ns),
            }),
        }
    }

    /// The modules that it needs.
    pub fn modules(self) -> [Asked; 2] {
        let Self {
            latency_ns,
            sectors,
        } = self;
        let parameters = format!(
            "memory_backed=1 irqmode=2 completion_nsec={latency_ns} max_sectors={sectors} hw_queue_depth=1 \
             submit_queues=1 gb=1 bs=512"
        );
        [(FILE_SYSTEM, String::new()), (MODULE, parameters)].map(|(name, parameters)| Asked {
            name: name.into(),
            parameters,
        })
    }

    /// Its entry in the guest's order.
    pub fn ordered(self) -> OrderedDisk {
        OrderedDisk {
            latency_ns: self.latency_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_and_rate_decide_the_size_of_a_request() {
        let disk = Disk::parse("latency=8ms,rate=2MiB/s").unwrap();
        assert_eq!((disk.latency_ns, disk.sectors), (8_000_000, 32));
        assert_eq!(Disk::parse("latency=8 ms, rate=2 MiB/s"), Ok(disk));
        let [system, device] = disk.modules();
        assert_eq!((&*system.name, &*device.name), ("ext4", "null_blk"));
        for part in [
            "completion_nsec=8000000",
            "max_sectors=32",
            "hw_queue_depth=1",
            "memory_backed=1",
        ] {
            assert!(device.parameters.contains(part), "{}", device.parameters);
        }
    }

    #[test]
    fn a_disk_that_can_not_be_is_refused_with_what_can() {
        for (text, why) in [
            ("", "such as 'latency="),
            ("rate=2MiB/s,latency=8ms", "such as 'latency="),
            ("latency=8ms,rate=2MiB", "such as 'latency="),
            ("latency=8,rate=2MiB/s", "no unit"),
            ("latency=8ms,rate=2MB/s", "give a size in B, KiB"),
            ("latency=11s,rate=2MiB/s", "at most 10 s"),
            ("latency=1ms,rate=1MiB/s", "rate from 4096000 to 1310720000"),
            ("latency=1s,rate=1GiB/s", "rate from 4096 to 1310720 B/s"),
        ] {
            let said = Disk::parse(text).unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
            assert_eq!(said.lines().count(), 1);
        }
    }
}
