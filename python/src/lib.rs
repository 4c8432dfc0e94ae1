//! The loop's library for Python: classes around `wakepath-rt`.
//!
//! The package's Python files define what users call, with its types and documentation; nothing is
//! decided here.

mod cycles;
mod prepare;
mod said;
mod service;

use pyo3::prelude::*;

pyo3::create_exception!(
    _native,
    Error,
    pyo3::exceptions::PyException,
    "Something isn't available; the reason in one line."
);

/// The compiled half of the package `wakepath`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<Error>())?;
    module.add_class::<cycles::Loop>()?;
    module.add_class::<cycles::Cycle>()?;
    module.add_class::<cycles::Section>()?;
    module.add_function(wrap_pyfunction!(prepare::prepare_other, module)?)?;
    module.add_function(wrap_pyfunction!(prepare::prepare_fifo, module)?)?;
    module.add_function(wrap_pyfunction!(prepare::prepare_round_robin, module)?)?;
    module.add_function(wrap_pyfunction!(prepare::prepare_evl_fifo, module)?)?;
    module.add_function(wrap_pyfunction!(prepare::prepare_cobalt_fifo, module)?)?;
    module.add_function(wrap_pyfunction!(prepare::prepare_deadline, module)?)?;
    module.add_function(wrap_pyfunction!(service::record_service, module)?)?;
    Ok(())
}
