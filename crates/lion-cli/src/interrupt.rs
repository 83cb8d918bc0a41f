//! Ctrl-C, and being asked to end. Of a fit, before there is a map it ends the program; during the descent, once keeps the map reached so far,
//! twice abandons it. Other work it ends. Old files stay whole in every case.

use crate::progress::Screen;
use anyhow::{Context, Result, bail};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

/// There is nothing to keep yet.
const EARLY: u8 = 0;
/// There is a map to keep.
const WORTH_KEEPING: u8 = 1;
/// Ctrl-C was pressed: a map is to be kept, or the program is about to end.
const STOPPING: u8 = 2;
/// The work is done, and only has to be put in its place.
const TOO_LATE: u8 = 3;

/// The exit code that shells give to a program ended by Ctrl-C.
const EXIT_CODE: i32 = 130;

/// So many files any work may open. What listens to signals panics where it gets none.
#[cfg(unix)]
const HANDLES: usize = 16;

/// Refuses to work where the system allows too few open files, and lets a limit on the size of files (`ulimit -f`) refuse a
/// write, as a full disk does, instead of ending the program without a word: so it is for whoever listens to its signal,
/// from now on to the end. Where that cannot be, it stays as it was.
#[cfg(unix)]
pub(crate) fn prepare() -> Result<()> {
    use std::fs::File;
    use tokio::signal::unix::{SignalKind, signal};
    /// EMFILE, of this program, and ENFILE, of the whole system.
    const NONE_LEFT: [i32; 2] = [24, 23];
    /// SIGXFSZ on Linux (other than MIPS), macOS and the BSDs.
    const FILE_SIZE_EXCEEDED: i32 = 25;
    let opened: std::io::Result<Vec<File>> = (0..HANDLES).map(|_| File::open("/dev/null")).collect();
    if let Err(refused) = &opened
        && refused.raw_os_error().is_some_and(|code| NONE_LEFT.contains(&code))
    {
        bail!("the system allows too few open files ({refused}): raise the limit, e.g. `ulimit -n 1024`");
    }
    drop(opened);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    if let Ok(runtime) = runtime {
        let _ = runtime.block_on(async { signal(SignalKind::from_raw(FILE_SIZE_EXCEEDED)) });
    }
    Ok(())
}

/// What Ctrl-C means at present, shared with the thread that waits for it. The default waits for nothing, so that
/// Ctrl-C ends the program as it does any other.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// Takes Ctrl-C over from the system, for a fit.
    pub(crate) fn install(screen: &Screen) -> Result<Self> {
        let interrupt = Self::default();
        let (state, screen) = (interrupt.clone(), screen.clone());
        listen(move || match state.becomes(WORTH_KEEPING, STOPPING) {
            Ok(_) => screen.say("stopping: the map reached so far is kept (Ctrl-C again abandons it)"),
            Err(EARLY) => {
                end(&screen, "stopped before there was a map to keep: nothing was written", EXIT_CODE)
            }
            Err(_) => end(&screen, "abandoned: no map was written, and an old file is as it was", EXIT_CODE),
        })?;
        Ok(interrupt)
    }

    /// Takes Ctrl-C over from the system, for work of which no half is worth keeping: it ends with this sentence.
    pub(crate) fn install_ending(screen: &Screen, sentence: &'static str) -> Result<Self> {
        let interrupt = Self::default();
        let (state, screen) = (interrupt.clone(), screen.clone());
        listen(move || {
            if state.becomes(EARLY, STOPPING).is_ok() {
                end(&screen, sentence, 1);
            }
        })?;
        Ok(interrupt)
    }

    /// From now on there is a map to keep.
    pub(crate) fn worth_keeping(&self) {
        let _ = self.becomes(EARLY, WORTH_KEEPING);
    }

    /// Whether the descent is to stop.
    pub(crate) fn stopping(&self) -> bool {
        self.0.load(Ordering::SeqCst) == STOPPING
    }

    /// From now on Ctrl-C comes too late. If it has just come, this waits for the end, so that what was said, that
    /// nothing is written, stays true.
    pub(crate) fn too_late(&self) {
        while self.becomes(EARLY, TOO_LATE) == Err(STOPPING) {
            std::thread::park();
        }
    }

    fn becomes(&self, old: u8, new: u8) -> std::result::Result<u8, u8> {
        self.0.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst)
    }
}

/// Takes Ctrl-C over from the system, and the signal by which a system that shuts down ends programs: it means the same.
pub(crate) fn listen(pressed: impl FnMut() + Send + 'static) -> Result<()> {
    let pressed = Arc::new(Mutex::new(pressed));
    let press = move || {
        if let Ok(mut pressed) = pressed.lock() {
            pressed();
        }
    };
    #[cfg(unix)]
    on_termination(press.clone());
    ctrlc::set_handler(press).context("Ctrl-C cannot be listened to")
}

#[cfg(unix)]
fn on_termination(mut press: impl FnMut() + Send + 'static) {
    use tokio::signal::unix::{SignalKind, signal};
    let (listening, known) = std::sync::mpsc::channel::<()>();
    let wait = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut terminations = signal(SignalKind::terminate())?;
            drop(listening);
            while terminations.recv().await.is_some() {
                press();
            }
            Ok::<(), std::io::Error>(())
        })
    };
    // Where it cannot be listened to, it ends the program as it does any other.
    std::thread::spawn(move || drop(wait()));
    // Nothing is sent. That the sender is gone tells that the thread listens, or cannot.
    let _ = known.recv();
}

fn end(screen: &Screen, sentence: &str, code: i32) {
    remove_temporary_files();
    screen.close();
    screen.complain(sentence);
    std::process::exit(code);
}

/// Removes the temporary files that this very process has open: their names are told by the system, so that no
/// other process loses its own. Where it does not tell them, a small hidden file may stay behind.
fn remove_temporary_files() {
    let Ok(descriptors) = std::fs::read_dir("/proc/self/fd") else { return };
    for path in descriptors.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok()) {
        if lion_replace::is_temporary(&path) {
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
