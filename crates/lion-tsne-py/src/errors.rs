//! Every refusal as the exception that Python has for its cause. The words are the library's.

use lion_tsne::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use std::io;

/// The exception for an error.
pub(crate) fn exception(error: Error) -> PyErr {
    let sentence = error.to_string();
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(sentence),
        // Becomes FileNotFoundError, PermissionError and so on.
        Error::Io { cause, .. } => io::Error::new(cause.kind(), sentence).into(),
        Error::Stopped(_) => PyRuntimeError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}

/// An error in rows that come after so many others.
pub(crate) fn after(before: usize, error: Error) -> Error {
    match error {
        Error::Unusable { row: Some(row), column, fault } => {
            Error::Unusable { row: Some(before + row), column, fault }
        }
        other => other,
    }
}
