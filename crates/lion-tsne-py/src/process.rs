//! Threads do not survive a fork: what holds some is made again in the child.

use pyo3::PyResult;
use std::mem;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

/// Something that works on threads of this process.
pub(crate) struct PerProcess<T>(Mutex<(u32, Arc<T>)>);

impl<T> PerProcess<T> {
    pub(crate) fn new(made: T) -> Self {
        Self::of(Arc::new(made))
    }

    pub(crate) fn of(made: Arc<T>) -> Self {
        Self(Mutex::new((process::id(), made)))
    }

    /// What was made here, or in a child that was forked off since then another one. Making it must keep the interpreter's
    /// lock: another thread may wait here with it.
    pub(crate) fn get(&self, again: impl FnOnce(&T) -> PyResult<T>) -> PyResult<Arc<T>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.0 != process::id() {
            let made = Arc::new(again(&kept.1)?);
            // Taking the old one down would wait for threads that are not there.
            mem::forget(mem::replace(&mut *kept, (process::id(), made)));
        }
        Ok(kept.1.clone())
    }
}
