//! Reads, changes and writes back a working set, repeatedly from end to end.
//!
//! The size alone determines the disturbed level of the memory hierarchy.

use crate::counters::Slot;
use crate::ended::Ended;
use crate::{Cache, Caches, LoadError};
use std::hint::black_box;
use wakepath_scenario::WorkingSet;
use wakepath_timeline::Disturbance;

/// Bytes between two counts.
const CHUNK: usize = 16 * 1024;

/// More is not needed to keep a memory controller busy.
const LARGEST_BYTES: u64 = 256 << 20;

/// Smallest working set that makes sense: one page.
pub(crate) const SMALLEST_BYTES: u64 = 4096;

/// Disturbances of a working set of `bytes` in each of `workers` processes.
pub(crate) fn disturbs(bytes: u64, workers: u32, caches: &Caches) -> Vec<Disturbance> {
    match caches.last_level() {
        Some(last) if bytes.saturating_mul(sharers(last, workers)) <= last.bytes => {
            vec![Disturbance::Cache]
        }
        _ => vec![Disturbance::Cache, Disturbance::MemoryBandwidth],
    }
}

/// Bytes of one worker's working set, before the memory budget.
///
/// A cache shared by several CPUs is divided among the workers that share it: together they stay
/// within it, so that the load disturbs only the named level.
pub(crate) fn bytes(
    working_set: WorkingSet,
    workers: u32,
    caches: &Caches,
) -> Result<u64, LoadError> {
    let half = |cache: Option<Cache>, level| {
        let cache = cache.ok_or(LoadError::UnknownCache { level })?;
        Ok(cache.bytes / 2 / sharers(cache, workers))
    };
    let bytes = match working_set {
        WorkingSet::L1 => half(caches.l1d, "l1")?,
        WorkingSet::L2 => half(caches.l2, "l2")?,
        WorkingSet::L3 => half(caches.last_level(), "last-level")?,
        WorkingSet::Dram => {
            let last = caches.last_level().ok_or(LoadError::UnknownCache {
                level: "last-level",
            })?;
            last.bytes.saturating_mul(4).min(LARGEST_BYTES)
        }
        WorkingSet::Bytes(bytes) => bytes,
    };
    Ok((bytes / 8 * 8).max(SMALLEST_BYTES))
}

/// Number of `workers` that share one such cache when they are spread over the CPUs.
fn sharers(cache: Cache, workers: u32) -> u64 {
    u64::from(cache.shared_by_cpus.min(workers).max(1))
}

/// Streams through `bytes` until it is killed; counts bytes that were read and written.
pub(crate) fn run(counter: &Slot, bytes: u64) -> Result<std::convert::Infallible, Ended> {
    let words = usize::try_from(bytes / 8).map_err(|_| Ended::TooMany { bytes })?;
    // Written, not only reserved: untouched pages would all be one page of zeroes.
    let mut set: Vec<u64> = (0..words as u64).collect();
    loop {
        for chunk in set.chunks_mut(CHUNK / 8) {
            change(chunk);
            counter.add(size_of_val(chunk) as u64);
        }
    }
}

fn change(chunk: &mut [u64]) {
    for word in black_box(&mut *chunk) {
        *word = word.wrapping_add(1);
    }
    black_box(chunk);
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHES: Caches = Caches {
        l1d: Some(Cache {
            bytes: 32 << 10,
            shared_by_cpus: 1,
        }),
        l2: Some(Cache {
            bytes: 512 << 10,
            shared_by_cpus: 1,
        }),
        l3: Some(Cache {
            bytes: 8 << 20,
            shared_by_cpus: 4,
        }),
    };

    #[test]
    fn each_level_gets_half_of_its_cache_shared_among_those_who_use_it() {
        assert_eq!(bytes(WorkingSet::L1, 4, &CACHES).unwrap(), 16 << 10);
        assert_eq!(bytes(WorkingSet::L2, 4, &CACHES).unwrap(), 256 << 10);
        assert_eq!(bytes(WorkingSet::L3, 1, &CACHES).unwrap(), 4 << 20);
        assert_eq!(bytes(WorkingSet::L3, 2, &CACHES).unwrap(), 2 << 20);
        assert_eq!(bytes(WorkingSet::L3, 8, &CACHES).unwrap(), 1 << 20);
    }

    #[test]
    fn the_memory_bandwidth_set_is_four_times_the_last_level_within_reason() {
        assert_eq!(bytes(WorkingSet::Dram, 4, &CACHES).unwrap(), 32 << 20);
        let large = Cache {
            bytes: 128 << 20,
            shared_by_cpus: 1,
        };
        let caches = Caches {
            l3: Some(large),
            ..CACHES
        };
        assert_eq!(bytes(WorkingSet::Dram, 4, &caches).unwrap(), 256 << 20);
    }

    #[test]
    fn without_a_level_3_cache_the_level_2_cache_is_the_last() {
        let shared = Cache {
            bytes: 1 << 20,
            shared_by_cpus: 4,
        };
        let caches = Caches {
            l3: None,
            l2: Some(shared),
            ..CACHES
        };
        assert_eq!(bytes(WorkingSet::L3, 4, &caches).unwrap(), 128 << 10);
        assert_eq!(bytes(WorkingSet::Dram, 4, &caches).unwrap(), 4 << 20);
    }

    #[test]
    fn an_unknown_cache_is_an_error_not_a_guess() {
        let error = bytes(WorkingSet::L2, 1, &Caches::default()).unwrap_err();
        assert!(
            error.to_string().contains("l2 cache is not known"),
            "{error}"
        );
        assert_eq!(
            bytes(WorkingSet::Bytes(8192), 1, &Caches::default()).unwrap(),
            8192
        );
    }

    #[test]
    fn only_a_set_beyond_the_last_level_disturbs_memory_bandwidth() {
        assert_eq!(disturbs(2 << 20, 4, &CACHES), [Disturbance::Cache]);
        assert!(disturbs(4 << 20, 4, &CACHES).contains(&Disturbance::MemoryBandwidth));
    }

    #[test]
    fn every_word_is_changed() {
        let mut words = [1, 2, u64::MAX];
        change(&mut words);
        assert_eq!(words, [2, 3, 0]);
    }
}
