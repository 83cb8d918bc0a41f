//! Writing a file whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a new file in the folder of `path` and renames it to `path` once it is safely on the disk. If anything
/// fails, what was at `path` is as it was and nothing else is left behind.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let target = follow_links(path);
    if fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
        return Err(io::Error::other("it is not an ordinary file"));
    }
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut temporary = new_file(folder)?;
    let mut buffered = BufWriter::with_capacity(1 << 20, temporary.as_file_mut());
    write(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    // The new file is in place by now. That the folder's entry is on the disk too is worth asking for, but some
    // systems cannot do it, and then there is nothing to undo.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A temporary file, removed when dropped, with the permissions that any new file has here.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lion-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask is taken off this, as for any file; temporary ones are 0600 unless told otherwise.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder)?;
    // While it is locked, nobody takes it for one that a killed program left behind. Some systems cannot lock.
    let _ = temporary.as_file().try_lock();
    Ok(temporary)
}

/// Where `path` leads, so that a symbolic link stays one and its target is replaced, even one that is not there
/// yet. A circle of links is left for the system to refuse.
fn follow_links(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => break,
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old");
        fs::write(&path, "old").unwrap();
        let error = replace(&path, |out| {
            out.write_all(&vec![1; 3 << 20])?;
            File::options().write(true).open("/dev/full")?.write_all(b"one byte too many")
        })
        .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
