//! What leaves the program: files that are whole or not there at all, and text on standard output.

use crate::args::Common;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Refuses, before any work, a file that could not be written in the end or would replace one of `inputs`.
pub(crate) fn check(path: &Path, inputs: &[&Path]) -> Result<()> {
    let shown = path.display();
    if path.as_os_str() == "-" {
        bail!("a map cannot go to standard output: give -o a file");
    }
    if path.is_dir() {
        bail!("{shown} is a folder: give -o a file in it");
    }
    if path.metadata().is_ok_and(|there| !there.is_file()) {
        bail!("{shown} is not an ordinary file, and would be replaced by one: give -o another name");
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        bail!("{shown} cannot be written, its folder does not exist: make the folder first");
    }
    if let Ok(target) = path.canonicalize()
        && let Some(input) = inputs.iter().find(|input| input.canonicalize().is_ok_and(|it| it == target))
    {
        bail!("{shown} would replace {}, which is read: give -o another name", input.display());
    }
    tempfile::tempfile_in(&folder).with_context(|| format!("{shown} cannot be written"))?;
    remove_leftovers(&folder);
    Ok(())
}

/// How old a temporary file is, at least, that is taken for left behind: a new one may not be locked yet.
const LEFT_BEHIND: Duration = Duration::from_secs(60);

/// Removes the temporary files that killed programs left in a folder: those that nobody has locked.
fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_old = || entry.metadata().ok()?.modified().ok()?.elapsed().ok().map(|age| age >= LEFT_BEHIND);
        if name.starts_with(".lion-") && name.ends_with(".tmp") && is_old() == Some(true) {
            let free = fs::File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
            if free {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Writes a new file and, once it is safely on the disk, puts it in the place of `path`. A failure leaves what was
/// there.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_with(path, |out| Ok(out.write_all(bytes)?))
}

/// The same with a file that is written bit by bit.
pub(crate) fn replace_with(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let write = || -> Result<()> {
        // A link stays one; what it leads to is replaced.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let mut builder = tempfile::Builder::new();
        builder.prefix(".lion-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The umask is taken off this, as for any file; temporary ones are 0600 unless told otherwise.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut temporary = builder.tempfile_in(folder_of(&target))?;
        // While it is locked, nobody takes it for one that a killed program left behind. Some systems cannot lock.
        let _ = temporary.as_file().try_lock();
        let mut out = BufWriter::new(&mut temporary);
        fill(&mut out)?;
        out.flush()?;
        drop(out);
        temporary.as_file().sync_all()?;
        temporary.persist(&target)?;
        Ok(())
    };
    write().with_context(|| left_as_it_was(path))
}

/// What to say of a file that could not be written.
pub(crate) fn left_as_it_was(path: &Path) -> String {
    format!("{} was not written, and a file already there is left as it was", path.display())
}

/// Prints the summary: as JSON if that was asked for, else in words unless quiet.
pub(crate) fn present<T: Serialize>(
    common: &Common,
    summary: &T,
    words: impl FnOnce() -> String,
) -> Result<()> {
    if common.json {
        print(&(serde_json::to_string(summary)? + "\n"))
    } else if common.quiet {
        Ok(())
    } else {
        print(&words())
    }
}

/// Prints text, without the panic of `print!` where standard output is closed or full.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output cannot be written")
}

/// Whether the error is that the reader of our output has gone.
pub(crate) fn nobody_listens(error: &anyhow::Error) -> bool {
    let plain = error.downcast_ref::<io::Error>();
    let of_table = match error.downcast_ref() {
        Some(lion_table::Error::Unwritable { cause, .. }) => Some(cause),
        _ => None,
    };
    plain.or(of_table).is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A number of bytes as people say it.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.0} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::File;
    use std::time::SystemTime;

    #[test]
    fn only_what_was_left_behind_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, age: u64| {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
            file
        };
        let being_written = file(".lion-a.tmp", 3600);
        being_written.try_lock().unwrap();
        // The others are closed at once, as those of killed programs are.
        let others = [(".lion-b.tmp", 3600), (".lion-c.tmp", 5), (".other.tmp", 3600), ("lion-d.tmp", 3600)];
        others.into_iter().for_each(|(name, age)| drop(file(name, age)));
        remove_leftovers(folder.path());
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        left.sort_unstable();
        assert_eq!(left, [".lion-a.tmp", ".lion-c.tmp", ".other.tmp", "lion-d.tmp"]);
    }
}
