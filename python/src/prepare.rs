//! Preparing the calling thread, a function for each policy.

use crate::Error;
use pyo3::prelude::*;
use wakepath_rt::Preparation;
use wakepath_timeline::Policy;

/// Prepares the calling thread under `SCHED_OTHER`; returns tolerable shortfalls, a line each.
#[pyfunction]
pub(crate) fn prepare_other(
    nice: i8,
    cpus: Option<Vec<u16>>,
    lock_memory: bool,
) -> PyResult<Vec<String>> {
    prepare(Policy::Other { nice }, cpus, lock_memory)
}

/// As [`prepare_other`], under `SCHED_FIFO`.
#[pyfunction]
pub(crate) fn prepare_fifo(
    priority: u8,
    cpus: Option<Vec<u16>>,
    lock_memory: bool,
) -> PyResult<Vec<String>> {
    prepare(Policy::Fifo { priority }, cpus, lock_memory)
}

/// As [`prepare_other`], under `SCHED_RR`.
#[pyfunction]
pub(crate) fn prepare_round_robin(
    priority: u8,
    cpus: Option<Vec<u16>>,
    lock_memory: bool,
) -> PyResult<Vec<String>> {
    prepare(Policy::RoundRobin { priority }, cpus, lock_memory)
}

/// As [`prepare_other`], under FIFO on EVL, the core of Xenomai 4.
#[pyfunction]
pub(crate) fn prepare_evl_fifo(
    priority: u8,
    cpus: Option<Vec<u16>>,
    lock_memory: bool,
) -> PyResult<Vec<String>> {
    prepare(Policy::EvlFifo { priority }, cpus, lock_memory)
}

/// As [`prepare_other`], under FIFO on Cobalt, the core of Xenomai 3.
#[pyfunction]
pub(crate) fn prepare_cobalt_fifo(
    priority: u8,
    cpus: Option<Vec<u16>>,
    lock_memory: bool,
) -> PyResult<Vec<String>> {
    prepare(Policy::CobaltFifo { priority }, cpus, lock_memory)
}

/// As [`prepare_other`], under `SCHED_DEADLINE`, which has no CPUs.
#[pyfunction]
pub(crate) fn prepare_deadline(
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
    lock_memory: bool,
) -> PyResult<Vec<String>> {
    let policy = Policy::Deadline {
        runtime_ns,
        deadline_ns,
        period_ns,
    };
    prepare(policy, None, lock_memory)
}

fn prepare(policy: Policy, cpus: Option<Vec<u16>>, lock_memory: bool) -> PyResult<Vec<String>> {
    let prepared = Preparation {
        policy,
        cpus,
        lock_memory,
        ..Preparation::default()
    }
    .apply()
    .map_err(|why| Error::new_err(format!("{policy}: {why}")))?;
    Ok(prepared
        .shortfalls
        .iter()
        .map(ToString::to_string)
        .collect())
}
