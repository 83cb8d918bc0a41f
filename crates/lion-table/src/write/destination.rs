//! Where the bytes go: to a temporary file that takes the place of the old one in the end, or to standard output.

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Bytes on their way. Dropped before its end, it leaves what was there before and nothing beside it.
pub(super) struct Destination {
    to: To,
    bytes: u64,
}

enum To {
    File { writer: BufWriter<File>, temporary: TempPath, target: PathBuf },
    StandardOutput(io::Stdout),
}

impl Destination {
    /// Opens a temporary file beside `path`, or standard output for `-`.
    pub(super) fn create(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self { to: To::StandardOutput(io::stdout()), bytes: 0 });
        }
        let file = path.display().to_string();
        // A link stays one; what it leads to is replaced.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return Err(Error::NoFolder { file });
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".lion-").suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The umask is taken off this, as for any file; temporary ones are 0600 unless told otherwise.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        // The kind alone: the whole error names the temporary file, which nobody asked for.
        let refused = |error: io::Error| Error::Unwritable { file, cause: error.kind().into() };
        let (writer, temporary) = builder.tempfile_in(folder).map_err(refused)?.into_parts();
        // While it is locked, nobody takes it for one that a killed program left behind. Some systems cannot lock.
        let _ = writer.try_lock();
        Ok(Self { to: To::File { writer: BufWriter::new(writer), temporary, target }, bytes: 0 })
    }

    /// Writes `bytes` over the first ones of a file. What was written before is all that is counted.
    pub(super) fn rewrite_start(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.to {
            To::File { writer, .. } => {
                writer.rewind()?;
                writer.write_all(bytes)
            }
            To::StandardOutput(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }

    /// Puts the file, once it is safely on the disk, in the place of the old one; answers its size.
    pub(super) fn finish(self) -> io::Result<u64> {
        match self.to {
            To::File { writer, temporary, target } => {
                let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.sync_all()?;
                temporary.persist(target).map_err(|refused| refused.error)?;
            }
            To::StandardOutput(mut stdout) => stdout.flush()?,
        }
        Ok(self.bytes)
    }

    /// Writes to `writer` as if it were a new file.
    #[cfg(test)]
    pub(super) fn test(writer: File, temporary: TempPath, target: PathBuf) -> Self {
        Self { to: To::File { writer: BufWriter::new(writer), temporary, target }, bytes: 0 }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match &mut self.to {
            To::File { writer, .. } => writer.write(bytes)?,
            To::StandardOutput(stdout) => stdout.write(bytes)?,
        };
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::File { writer, .. } => writer.flush(),
            To::StandardOutput(stdout) => stdout.flush(),
        }
    }
}
