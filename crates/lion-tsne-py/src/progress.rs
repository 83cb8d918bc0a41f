//! Long work beside Python: it is done on a thread of its own, while the thread that called listens to Ctrl-C and tells how
//! far it is.

use crate::errors::exception;
use lion_tsne::{Observer, Progress, Stage};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Between two looks at Ctrl-C and at how far the work is.
const TICK: Duration = Duration::from_millis(50);
/// How long work that was told to stop is waited for. What takes longer ends by itself, at its next step.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far the work is.
#[derive(Clone, Copy, PartialEq)]
struct Heard {
    stage: Stage,
    done: u64,
    total: u64,
    /// As of the last time that it was computed in this stage.
    kl: Option<f64>,
}

/// What the two threads say to each other.
#[derive(Default)]
struct ProgressLine {
    heard: Mutex<Option<Heard>>,
    stop: AtomicBool,
}

impl ProgressLine {
    fn hear(&self, progress: &Progress<'_>) -> ControlFlow<()> {
        let &Progress { stage, done, total, kl, .. } = progress;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let before = heard.filter(|before| before.stage == stage).and_then(|before| before.kl);
        *heard = Some(Heard { stage, done, total, kl: kl.or(before) });
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn heard(&self) -> Option<Heard> {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Does the work without the interpreter's lock. `progress(stage, done, total, kl)` is called on this thread, a few times a
/// second at most and once at the end; if it answers False, the work is told to stop. If it raises, or Ctrl-C is
/// pressed, the work is abandoned.
pub(crate) fn observed<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&mut Observer<'_>) -> lion_tsne::Result<T> + Send + 'static,
) -> PyResult<T> {
    let line = Arc::new(ProgressLine::default());
    let (send, mut outcome) = sync_channel(1);
    let heard = line.clone();
    thread::Builder::new().name("liontsne".into()).spawn(move || {
        let done = work(&mut |progress| heard.hear(progress));
        // Nobody listens to work that was abandoned.
        let _ = send.send(done);
    })?;
    let mut teller = Teller { progress, told: None };
    loop {
        match wait(py, &mut outcome, TICK) {
            Ok(done) => {
                let done = done.map_err(exception)?;
                teller.tell(&line)?;
                return Ok(done);
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals().and_then(|()| teller.tell(&line)) {
                    line.stop();
                    let _ = wait(py, &mut outcome, PATIENCE);
                    return Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "the work ended before its time, which is an error of liontsne",
                ));
            }
        }
    }
}

fn wait<T: Send>(py: Python<'_>, outcome: &mut Receiver<T>, long: Duration) -> Result<T, RecvTimeoutError> {
    // Moved in as the only one who looks: a shared receiver could not go without the lock.
    py.detach(move || outcome.recv_timeout(long))
}

/// Tells what is new to whoever wants to know.
struct Teller<'a, 'py> {
    progress: Option<&'a Bound<'py, PyAny>>,
    told: Option<Heard>,
}

impl Teller<'_, '_> {
    fn tell(&mut self, line: &ProgressLine) -> PyResult<()> {
        let (Some(progress), Some(heard)) = (self.progress, line.heard()) else { return Ok(()) };
        if self.told == Some(heard) {
            return Ok(());
        }
        self.told = Some(heard);
        let Heard { stage, done, total, kl } = heard;
        let answer = progress.call1((stage.to_string(), done, total, kl))?;
        if answer.extract::<bool>().is_ok_and(|go_on| !go_on) {
            line.stop();
        }
        Ok(())
    }
}
