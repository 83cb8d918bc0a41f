//! Files that are written whole or not at all: a temporary file beside the old one takes its place once it is safely on
//! the disk. If anything fails, what was there is as it was, and nothing else is left behind.
//!
//! ```
//! use std::io::Write;
//!
//! # fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("numbers.txt");
//! lion_replace::replace(&path, |out| writeln!(out, "1 2 3"))?;
//! assert_eq!(std::fs::read_to_string(&path)?, "1 2 3\n");
//! # Ok(())
//! # }
//! ```

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempPath;

/// What the names of temporary files begin and end with.
const NAME: (&str, &str) = (".lion-", ".tmp");
/// How old a temporary file is, at least, that is taken for left behind: a new one may not be locked yet.
const LEFT_BEHIND: Duration = Duration::from_secs(60);
const BUFFER: usize = 1 << 16;

/// A file that is being written and will take the place of another. Dropped before its end, it leaves nothing.
#[derive(Debug)]
pub struct Replacement {
    writer: BufWriter<File>,
    temporary: TempPath,
    target: PathBuf,
}

impl Replacement {
    /// Opens a temporary file in the folder of `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        let target = target_of(path);
        if fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::other("it is not an ordinary file"));
        }
        let (file, temporary) = new_file(folder_of(&target))?.into_parts();
        // Who may read the old file, and nobody else, may read the new one.
        if let Ok(there) = fs::metadata(&target) {
            file.set_permissions(there.permissions())?;
        }
        Ok(Self::through(file, temporary, target))
    }

    /// The same with a temporary file that is there, and whatever its bytes go through: for tests of full disks.
    pub fn through(file: File, temporary: TempPath, target: PathBuf) -> Self {
        Self { writer: BufWriter::with_capacity(BUFFER, file), temporary, target }
    }

    /// Puts the file, once it is safely on the disk, in the place of the old one.
    pub fn finish(mut self) -> io::Result<()> {
        let file = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        // By the standard library, whose calls the test of power cuts records.
        fs::rename(&self.temporary, &self.target)?;
        self.temporary.disable_cleanup(true);
        // The new file is in place by now. That the folder's entry is on the disk too is worth asking for, but some
        // systems cannot do it, and then there is nothing to undo.
        let _ = File::open(folder_of(&self.target)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Seek for Replacement {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.writer.seek(to)
    }
}

/// Writes a new file and puts it in the place of `path`.
pub fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut replacement = Replacement::create(path)?;
    write(&mut replacement)?;
    replacement.finish()
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Where `path` leads, so that a symbolic link stays one and its target is replaced, even one that is not there
/// yet. A circle of links is left for the system to refuse.
pub fn target_of(path: &Path) -> PathBuf {
    let mut target = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => break,
        }
    }
    target
}

/// Whether a file has the name of a temporary one.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(NAME.0) && name.ends_with(NAME.1)
}

/// Removes the temporary files that killed programs left in a folder: those that nobody has locked.
pub fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_old = || entry.metadata().ok()?.modified().ok()?.elapsed().ok().map(|age| age >= LEFT_BEHIND);
        if is_temporary(&entry.path()) && is_old() == Some(true) {
            let free = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
            if free {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// A temporary file, removed when dropped, with the permissions that any new file has here.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(NAME.0).suffix(NAME.1);
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::SystemTime;

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

    #[test]
    fn a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let (link, path) = (folder.path().join("link"), folder.path().join("new"));
        std::os::unix::fs::symlink("new", &link).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert!(link.is_symlink() && !path.is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

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

    /// As formats do whose head says what follows it.
    #[test]
    fn what_was_written_first_can_be_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        let mut out = Replacement::create(&path).unwrap();
        out.write_all(b"????rows").unwrap();
        assert_eq!(out.seek(SeekFrom::Start(0)).unwrap(), 0);
        out.write_all(b"four").unwrap();
        assert_eq!(out.seek(SeekFrom::End(0)).unwrap(), 8);
        out.write_all(b", whole").unwrap();
        out.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"fourrows, whole");
    }

    #[test]
    fn what_was_flushed_is_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut out = Replacement::create(&folder.path().join("table")).unwrap();
        out.write_all(b"so far").unwrap();
        out.flush().unwrap();
        let entry = fs::read_dir(folder.path()).unwrap().next().expect("a temporary file").unwrap();
        assert_eq!(fs::read(entry.path()).unwrap(), b"so far");
        drop(out);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_name_alone_is_a_file_of_the_working_folder() {
        for (path, folder) in [("t.csv", "."), ("data/t.csv", "data"), ("/t.csv", "/"), ("/", ".")] {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder), "{path}");
        }
    }
}
