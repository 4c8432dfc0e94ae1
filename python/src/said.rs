//! A loop's log lines and values.
//!
//! Formats last as long as the program, because they are identified by their address; Python's
//! values become arguments of a line.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};
use std::collections::HashMap;
use wakepath_rt::said::{Argument, MOST_ARGUMENTS, MOST_FORMATS};

/// Formats and names that a loop has used, each once and forever.
#[derive(Default)]
pub(crate) struct Texts(HashMap<String, &'static str>);

impl Texts {
    /// The text at an address that stays.
    pub(crate) fn kept(&mut self, text: &str) -> PyResult<&'static str> {
        if let Some(kept) = self.0.get(text) {
            return Ok(kept);
        }
        if self.0.len() == MOST_FORMATS {
            return Err(PyValueError::new_err(format!(
                "a loop knows {MOST_FORMATS} formats and names of values, and {text:?} is one more: give what \
                 changes as values"
            )));
        }
        let kept: &'static str = Box::leak(text.into());
        self.0.insert(text.to_owned(), kept);
        Ok(kept)
    }
}

/// The values of a line as they are copied; `texts` holds their texts.
pub(crate) fn arguments<'a>(
    values: &'a Bound<'_, PyTuple>,
    texts: &'a mut Vec<String>,
) -> PyResult<Vec<Argument<'a>>> {
    if values.len() > MOST_ARGUMENTS {
        return Err(PyValueError::new_err(format!(
            "a line has {MOST_ARGUMENTS} values at most, not {}",
            values.len()
        )));
    }
    // First, because the arguments refer to their final addresses.
    for value in values.iter() {
        if let Ok(text) = value.cast::<PyString>() {
            texts.push(text.to_string());
        }
    }
    let mut of_text = texts.iter();
    let mut found = Vec::with_capacity(values.len());
    for value in values.iter() {
        found.push(if let Ok(truth) = value.cast::<PyBool>() {
            Argument::Text(if truth.is_true() { "True" } else { "False" })
        } else if value.cast::<PyInt>().is_ok() {
            match value.extract() {
                Ok(number) => Argument::Integer(number),
                Err(_) => Argument::Natural(value.extract()?),
            }
        } else if value.cast::<PyFloat>().is_ok() {
            Argument::Real(value.extract()?)
        } else if value.cast::<PyString>().is_ok() {
            Argument::Text(of_text.next().map_or("", String::as_str))
        } else {
            let kind = value.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "a line has values of int, float, bool and str, not {kind}"
            )));
        });
    }
    Ok(found)
}
