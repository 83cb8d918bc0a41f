//! What is asked of the writer, and what it answers.

use crate::changes::column_name;
use lion_tsne::live::{Arrival, Change, Event, Note};
use lion_tsne::{Error, Map};

/// Something to be done to the live map, all of it or nothing.
#[derive(Clone, Debug)]
pub enum Work {
    /// Changes, in order. Events have the time at which they are applied; the time of a change is its point's own. Points that
    /// are to be removed and are not there are no error.
    Changes(Vec<Change>),
    /// All points there are; those that are not in it are removed.
    Snapshot(Vec<Arrival>),
    /// What a person said.
    Note(Note),
}

/// What was done, and is on disk.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// One event for each change in order; for a snapshot, then one for each point that it removed.
    pub events: Vec<Event>,
    /// The changes that have no event, by number, because the point to be removed was not there, and its id.
    pub absent: Vec<(usize, String)>,
    /// The number of the last event that the work caused, those of the window included.
    pub last: u64,
}

/// Why work was not done. The text of each is one sentence for a person. Nothing of refused work was done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// Too much is waiting.
    #[error("{waiting} rows are waiting to be placed: try again in a moment")]
    Busy {
        /// Rows that wait.
        waiting: usize,
    },
    /// A change cannot be applied.
    #[error("{problem}")]
    Unprocessable {
        /// The change, counted from 0.
        row: usize,
        /// What is wrong with it and what to do; it names the row.
        problem: String,
    },
    /// There is no point of this id.
    #[error("there is no point {id:?}")]
    NotFound {
        /// The id.
        id: String,
    },
    /// The store could not keep it.
    #[error("{problem}")]
    Store {
        /// What is wrong and what to do.
        problem: String,
        /// Whether the disk is full.
        full: bool,
    },
    /// The service is ending.
    #[error("the service is stopping: send it again when it is back")]
    Stopping,
}

impl Work {
    /// How many changes it is, at least.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Changes(changes) => changes.len(),
            Self::Snapshot(arrivals) => arrivals.len(),
            Self::Note(_) => 1,
        }
    }

    /// Its changes, if it is changes.
    pub(crate) fn changes(&self) -> &[Change] {
        match self {
            Self::Changes(changes) => changes,
            Self::Snapshot(_) | Self::Note(_) => &[],
        }
    }

    /// Refuses a time that lies far ahead of the clock: it is in other units, and no point's own time.
    pub(crate) fn check_times(&self, now: f64) -> Result<(), Refused> {
        const AHEAD: f64 = 86_400.0;
        let late = |t: Option<f64>| t.filter(|t| *t > now + AHEAD);
        let found = match self {
            Self::Changes(changes) => (0..).zip(changes).find_map(|(row, change)| match change {
                Change::Upsert(Arrival { t, .. }) | Change::Delete { t, .. } => Some((row, late(*t)?)),
            }),
            Self::Snapshot(arrivals) => {
                (0..).zip(arrivals).find_map(|(row, arrival)| Some((row, late(arrival.t)?)))
            }
            Self::Note(_) => None,
        };
        let Some((row, t)) = found else { return Ok(()) };
        let problem = format!(
            "row {row}: t is {t}, more than a day ahead of the clock: it is in seconds since 1970, not in milliseconds"
        );
        Err(Refused::Unprocessable { row, problem })
    }
}

impl Refused {
    /// What the live map says of a change that it cannot apply.
    pub(crate) fn from_live(error: Error, map: &Map) -> Self {
        let words = error.to_string();
        match error {
            Error::NoPoint { id, .. } => Self::NotFound { id },
            Error::Change { row, .. } => Self::Unprocessable { row, problem: words },
            Error::Unusable { row: Some(row), column, fault } => {
                let name =
                    |column| column_name(map.columns().and_then(|mut names| names.nth(column)), column);
                let problem = match column.map(name) {
                    Some(name) => format!("row {row}, column {name} {fault}"),
                    None => words,
                };
                Self::Unprocessable { row, problem }
            }
            _ => Self::Unprocessable { row: 0, problem: words },
        }
    }
}
