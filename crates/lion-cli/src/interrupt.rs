//! Ctrl-C. Before there is a map it ends the program; during the descent, once keeps the map reached so far, twice
//! abandons it. Old files stay whole in every case.

use crate::progress::Screen;
use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// There is nothing to keep yet.
const EARLY: u8 = 0;
/// There is a map to keep.
const WORTH_KEEPING: u8 = 1;
/// Ctrl-C was pressed, and the map is to be kept.
const STOPPING: u8 = 2;

/// The exit code that shells give to a program ended by Ctrl-C.
const EXIT_CODE: i32 = 130;

/// What Ctrl-C means at present, shared with the thread that waits for it. The default waits for nothing, so that
/// Ctrl-C ends the program as it does any other.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// Takes Ctrl-C over from the system.
    pub(crate) fn install(screen: &Screen) -> Result<Self> {
        let interrupt = Self::default();
        let (state, screen) = (interrupt.0.clone(), screen.clone());
        let pressed = move || {
            let keep = state.compare_exchange(WORTH_KEEPING, STOPPING, Ordering::SeqCst, Ordering::SeqCst);
            match keep {
                Ok(_) => screen.say("stopping: the map reached so far is kept (Ctrl-C again abandons it)"),
                Err(EARLY) => end(&screen, "stopped before there was a map to keep: nothing was written"),
                Err(_) => end(&screen, "abandoned: no map was written, and an old file is as it was"),
            }
        };
        ctrlc::set_handler(pressed).context("Ctrl-C cannot be listened to")?;
        Ok(interrupt)
    }

    /// From now on there is a map to keep.
    pub(crate) fn worth_keeping(&self) {
        let _ = self.0.compare_exchange(EARLY, WORTH_KEEPING, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Whether the descent is to stop.
    pub(crate) fn stopping(&self) -> bool {
        self.0.load(Ordering::SeqCst) == STOPPING
    }
}

fn end(screen: &Screen, sentence: &str) {
    remove_temporary_files();
    screen.close();
    screen.complain(sentence);
    std::process::exit(EXIT_CODE);
}

/// Removes the temporary files that this very process has open: their names are told by the system, so that no
/// other process loses its own. Where it does not tell them, a small hidden file may stay behind.
fn remove_temporary_files() {
    let Ok(descriptors) = std::fs::read_dir("/proc/self/fd") else { return };
    for path in descriptors.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(".lion-") && name.ends_with(".tmp") {
            let _ = std::fs::remove_file(&path);
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_own_temporary_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = |prefix: &str| {
            tempfile::Builder::new().prefix(prefix).suffix(".tmp").tempfile_in(&folder).unwrap()
        };
        let (ours, other) = (file(".lion-"), file(".other-"));
        // Of another process: there, but not open here.
        let theirs = folder.path().join(".lion-theirs.tmp");
        std::fs::write(&theirs, "").unwrap();
        remove_temporary_files();
        assert!(!ours.path().exists() && other.path().exists() && theirs.exists());
    }
}
