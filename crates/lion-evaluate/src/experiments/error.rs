//! Why an evaluation ended early.

use std::io;
use std::path::PathBuf;

/// Why an evaluation ended early: one sentence, and its cause behind it.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// A stage failed.
    #[error("{stage}")]
    Stage {
        /// Its name.
        stage: String,
        /// Why.
        #[source]
        cause: Box<Self>,
    },
    /// What was asked for cannot be done with this data or on this machine.
    #[error("{0}")]
    Refused(String),
    /// The digits that come along cannot be read.
    #[error("the embedded digits are damaged: {0}")]
    DamagedDigits(&'static str),
    /// Something that a later step needs was not found by an earlier one.
    #[error("{0}")]
    Missing(&'static str),
    /// A map could not be made, or rows could not be placed.
    #[error(transparent)]
    Tsne(#[from] lion_tsne::Error),
    /// A figure or the page could not be drawn.
    #[error(transparent)]
    Drawing(#[from] lion_report::Error),
    /// The folder of the report could not be made.
    #[error("the folder {} cannot be made", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// A file of the report could not be written.
    #[error("{} was not written, and a file already there is left as it was", path.display())]
    Unwritten {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Numbers could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// What an evaluation's steps return.
pub type Result<T, E = EvaluationError> = std::result::Result<T, E>;
