//! Work that waits for the writer. Bounded: who comes when it is full is told so at once.

use crate::switch::Switch;
use crate::work::{Receipt, Refused, Work};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Rows that are done in one turn, about.
const ROWS_A_TURN: usize = 4096;

/// Work, and whom to tell of it.
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) answer: oneshot::Sender<Result<Receipt, Refused>>,
}

/// What the writer is to do next.
#[derive(Default)]
pub(crate) struct Turn {
    pub(crate) jobs: Vec<Job>,
    /// To be done after the jobs.
    pub(crate) switch: Option<Switch>,
}

impl Turn {
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.switch.is_none()
    }
}

/// Work in the order in which it came.
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    came: Condvar,
    most: usize,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    switch: Option<Switch>,
    rows: usize,
    closed: bool,
}

impl Queue {
    /// A queue of at most so many rows. Work of more rows is taken when nothing else waits.
    pub(crate) fn new(most: usize) -> Self {
        Self { waiting: Mutex::default(), came: Condvar::new(), most }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work at the end.
    pub(crate) fn push(&self, job: Job) -> Result<(), Refused> {
        let mut waiting = self.lock();
        let rows = job.work.rows();
        if waiting.closed {
            return Err(Refused::Stopping);
        }
        if !waiting.jobs.is_empty() && waiting.rows + rows > self.most {
            return Err(Refused::Busy { waiting: waiting.rows });
        }
        waiting.rows += rows;
        waiting.jobs.push_back(job);
        self.came.notify_one();
        Ok(())
    }

    /// Asks for a switch to another version of the map. There is one at a time.
    pub(crate) fn push_switch(&self, switch: Switch) -> Result<(), Refused> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(Refused::Stopping);
        }
        waiting.switch = Some(switch);
        self.came.notify_one();
        Ok(())
    }

    /// Takes what waits, up to a turn's worth; waits for something. Once there is some, it waits no longer than `wait`
    /// for as many as `expected`: those who were just answered tend to come back at once, and one commit serves all.
    /// Nothing is taken where none came for as long as `idle`. `None` once the queue is closed and empty.
    pub(crate) fn take(&self, expected: usize, wait: Duration, idle: Duration) -> Option<Turn> {
        let mut waiting = self.lock();
        let idle_deadline = Instant::now() + idle;
        while waiting.jobs.is_empty() && waiting.switch.is_none() {
            if waiting.closed {
                return None;
            }
            let left = idle_deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Some(Turn::default());
            }
            waiting = self.came.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let until = Instant::now() + wait;
        while waiting.switch.is_none()
            && waiting.jobs.len() < expected
            && waiting.rows < ROWS_A_TURN
            && !waiting.closed
        {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            waiting = self.came.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let (mut taken, mut rows) = (Vec::new(), 0);
        while let Some(job) = waiting.jobs.pop_front() {
            let more = job.work.rows();
            if !taken.is_empty() && rows + more > ROWS_A_TURN {
                waiting.jobs.push_front(job);
                break;
            }
            rows += more;
            taken.push(job);
        }
        waiting.rows -= rows;
        Some(Turn { jobs: taken, switch: waiting.switch.take() })
    }

    /// Lets nothing more in.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.came.notify_all();
    }

    /// Whether work is let in.
    pub(crate) fn is_open(&self) -> bool {
        !self.lock().closed
    }

    /// Closes, and refuses what waits.
    pub(crate) fn abandon(&self) {
        self.close();
        let (jobs, switch) = {
            let mut waiting = self.lock();
            (std::mem::take(&mut waiting.jobs), waiting.switch.take())
        };
        // Who waits for a switch sees that nobody will answer.
        drop(switch);
        for job in jobs {
            let _ = job.answer.send(Err(Refused::Stopping));
        }
    }

    /// Rows that wait.
    pub(crate) fn rows(&self) -> usize {
        self.lock().rows
    }
}
