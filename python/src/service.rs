//! A recorder started by the interpreter's process.

use crate::Error;
use pyo3::prelude::*;
use std::path::PathBuf;
use wakepath_rt::{Recording, Service};

/// Starts it, and waits with the lock let go; whether it was started now.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // Each is an option by its name.
pub(crate) fn record_service(
    py: Python<'_>,
    directory: PathBuf,
    criterion: Option<String>,
    keep: Option<String>,
    worst: Option<u16>,
    metrics: Option<String>,
    trace: bool,
    trust_directory: bool,
    recorder: PathBuf,
) -> PyResult<bool> {
    let service = Service {
        directory,
        criterion,
        keep,
        worst,
        metrics,
        trace,
        trust_directory,
        recorder: Some(recorder),
        ..Service::default()
    };
    match py.detach(|| service.start()) {
        Ok(recording) => Ok(recording == Recording::Beside),
        Err(why) => Err(Error::new_err(why.to_string())),
    }
}
