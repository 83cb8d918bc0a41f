//! What leaves the program: files that are whole or not there at all, and text on standard output.

use crate::args::Common;
use anyhow::{Context, Result, bail};
pub(crate) use lion_replace::folder_of;
use lion_replace::{Replacement, remove_leftovers};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

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
    tempfile::tempfile_in(folder).with_context(|| format!("{shown} cannot be written"))?;
    remove_leftovers(folder);
    Ok(())
}

/// Writes a new file and, once it is safely on the disk, puts it in the place of `path`. A failure leaves what was
/// there.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_with(path, |out| Ok(out.write_all(bytes)?))
}

/// The same with a file that is written bit by bit.
pub(crate) fn replace_with(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let write = || -> Result<()> {
        let mut file = Replacement::create(path)?;
        fill(&mut file)?;
        Ok(file.finish()?)
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
