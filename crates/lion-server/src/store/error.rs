//! What can be wrong with a store, in one sentence each.

use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Every way in which a store can be refused or fail. The text of each is one sentence for a person.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another service has it open.
    #[error("{}: another service is using this store: stop it, or name another file", .0.display())]
    InUse(PathBuf),
    /// Another program holds a lock on it.
    #[error("{}: another program has locked this store: close what has it open and try again", .0.display())]
    Locked(PathBuf),
    /// It is some other file.
    #[error("{}: this is not a store of live points: name one that `lion serve --store` made, or, to serve, a file that is not there yet", .0.display())]
    NotAStore(PathBuf),
    /// It was written by a later version.
    #[error("{}: this store has version {found} and this program knows up to {known}: use a newer program", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version that can be read.
        known: i64,
    },
    /// It was written by an earlier version, and that cannot be read.
    #[error("{}: an earlier version made this store: open it once with `lion serve`, which brings it up to date", .0.display())]
    Older(PathBuf),
    /// There is nothing to show of it.
    #[error("{}: this store has no events yet: send points to its service first", .0.display())]
    Empty(PathBuf),
    /// A version of its map is nowhere to be found.
    #[error("{}: version {version} of its map (checksum {checksum}) is not beside it: name the map file with --map", path.display())]
    NoMap {
        /// The store.
        path: PathBuf,
        /// The number of the version.
        version: u64,
        /// The checksum of its map.
        checksum: String,
    },
    /// Its points lie in another map.
    #[error("{}: this store belongs to another map (checksum {theirs}, this one has {ours}): name another file", path.display())]
    OtherMap {
        /// The file.
        path: PathBuf,
        /// The checksum of the map that it was made for.
        theirs: String,
        /// The checksum of the map at hand.
        ours: String,
    },
    /// Its content makes no sense.
    #[error("{}: this store is damaged ({problem}): bring it back from a copy, or name another file", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// There is no room for more.
    #[error("{}: the disk is full: make room on it and send the points again", .0.display())]
    Full(PathBuf),
    /// The operating system refused to read or write it.
    #[error("{}: {problem}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// The live map refuses its options, or what the store holds.
    #[error(transparent)]
    Live(#[from] lion_tsne::Error),
}

impl StoreError {
    /// What SQLite says, said for the file.
    pub(crate) fn from_sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked(path),
            Some(ErrorCode::NotADatabase) => Self::NotAStore(path),
            Some(ErrorCode::DatabaseCorrupt) => {
                Self::Damaged { path, problem: "its pages do not fit together".into() }
            }
            Some(ErrorCode::DiskFull) => Self::Full(path),
            Some(ErrorCode::SystemIoFailure) => Self::Io {
                path,
                problem: "the system refused to read or write it: is the disk full, or at fault?".into(),
            },
            Some(ErrorCode::CannotOpen) => Self::Io {
                path,
                problem: "cannot be opened: is the folder there, and may it be written to?".into(),
            },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::Io {
                path,
                problem: "may not be written to: change its permissions or name another file".into(),
            },
            // Not from SQLite itself: a column holds what it never should.
            None => Self::Damaged { path, problem: error.to_string() },
            _ => Self::Io { path, problem: format!("cannot be read or written: {error}") },
        }
    }

    /// Whether more room on the disk is what is needed.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}
