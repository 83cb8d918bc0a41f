//! The command `lion`, for the script of that name that comes with the package.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Does what the arguments ask for, the first of which is the program's own name, and returns the exit code. It is for a process
/// of its own: Ctrl-C may end it.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| lion_cli::main(args))
}
