//! Where the bytes go: to a temporary file that takes the place of the old one in the end, or to standard output.

use crate::error::{Error, Result};
use lion_replace::{Replacement, folder_of, target_of};
use std::io::{self, Seek, Write};
use std::path::Path;

/// Bytes on their way. Dropped before its end, it leaves what was there before and nothing beside it.
pub(super) struct Destination {
    to: To,
    bytes: u64,
}

enum To {
    File(Replacement),
    StandardOutput(io::Stdout),
}

impl Destination {
    /// Opens a temporary file beside `path`, or standard output for `-`.
    pub(super) fn create(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self { to: To::StandardOutput(io::stdout()), bytes: 0 });
        }
        let file = path.display().to_string();
        if !folder_of(&target_of(path)).is_dir() {
            return Err(Error::NoFolder { file });
        }
        // The kind alone: the whole error names the temporary file, which nobody asked for.
        let refused = |error: io::Error| Error::Unwritable { file, cause: error.kind().into() };
        Ok(Self { to: To::File(Replacement::create(path).map_err(refused)?), bytes: 0 })
    }

    /// Writes `bytes` over the first ones of a file. What was written before is all that is counted.
    pub(super) fn rewrite_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.to {
            To::File(file) => {
                file.rewind()?;
                file.write_all(bytes)
            }
            To::StandardOutput(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Puts the file, once it is safely on the disk, in the place of the old one; answers its size.
    pub(super) fn finish(self) -> io::Result<u64> {
        match self.to {
            To::File(file) => file.finish()?,
            To::StandardOutput(mut stdout) => stdout.flush()?,
        }
        Ok(self.bytes)
    }

    /// Writes to `writer` as if it were a new file.
    #[cfg(test)]
    pub(super) fn test(file: Replacement) -> Self {
        Self { to: To::File(file), bytes: 0 }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match &mut self.to {
            To::File(file) => file.write(bytes)?,
            To::StandardOutput(stdout) => stdout.write(bytes)?,
        };
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File(file) => file.flush(),
            To::StandardOutput(stdout) => stdout.flush(),
        }
    }
}
