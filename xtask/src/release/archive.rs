//! A `.tar.gz` that depends on nothing but what is in it.

use std::io::Write;

use anyhow::{Result, ensure};
use flate2::{Compression, GzBuilder};

/// A file in an archive.
pub(super) struct Entry {
    name: String,
    is_program: bool,
    bytes: Vec<u8>,
}

impl Entry {
    pub(super) fn file(name: &str, bytes: Vec<u8>) -> Self {
        Self { name: name.to_owned(), is_program: false, bytes }
    }

    pub(super) fn program(name: &str, bytes: Vec<u8>) -> Self {
        Self { is_program: true, ..Self::file(name, bytes) }
    }
}

/// Bytes that a header takes, and of which everything takes a multiple.
const BLOCK: usize = 512;

/// The files in one folder, sorted by name, all from the same time.
pub(super) fn tar_gz(folder: &str, mut entries: Vec<Entry>, seconds: u64) -> Result<Vec<u8>> {
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let mut gzip = GzBuilder::new().write(Vec::new(), Compression::best());
    for entry in &entries {
        gzip.write_all(&header(&format!("{folder}/{}", entry.name), entry, seconds)?)?;
        gzip.write_all(&entry.bytes)?;
        gzip.write_all(&vec![0; entry.bytes.len().next_multiple_of(BLOCK) - entry.bytes.len()])?;
    }
    // Two empty blocks end it.
    gzip.write_all(&[0; 2 * BLOCK])?;
    Ok(gzip.finish()?)
}

/// A header of POSIX.1-1988 (ustar), owned by root.
fn header(path: &str, entry: &Entry, seconds: u64) -> Result<[u8; BLOCK]> {
    let mut header = [0; BLOCK];
    ensure!(path.len() < 100, "{path} is too long a name for the archive");
    let mode = if entry.is_program { 0o755 } else { 0o644 };
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, path);
    put(100, &format!("{mode:07o}"));
    put(108, "0000000");
    put(116, "0000000");
    put(124, &format!("{:011o}", entry.bytes.len()));
    put(136, &format!("{seconds:011o}"));
    // The sum is taken with spaces in its own place.
    put(148, "        ");
    put(156, "0");
    put(257, "ustar\0");
    put(263, "00");
    put(265, "root");
    put(297, "root");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn archive(reversed: bool) -> Vec<u8> {
        let mut entries = vec![
            Entry::program("bin/run", b"#!/bin/sh\necho ran\n".to_vec()),
            Entry::file("a.txt", vec![b'x'; 1000]),
            Entry::file("empty", Vec::new()),
        ];
        if reversed {
            entries.reverse();
        }
        tar_gz("it-1.0", entries, 1_700_000_000).unwrap()
    }

    #[test]
    fn the_order_of_files_does_not_matter() {
        assert_eq!(archive(false), archive(true));
    }

    #[cfg(unix)]
    #[test]
    fn tar_unpacks_it() {
        let folder = std::env::temp_dir().join(format!("xtask-archive-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut tar = Command::new("tar")
            .arg("xzf")
            .arg("-")
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        tar.stdin.take().unwrap().write_all(&archive(false)).unwrap();
        assert!(tar.wait().unwrap().success());
        let ran = Command::new(folder.join("it-1.0/bin/run")).output().unwrap();
        assert_eq!(ran.stdout, b"ran\n");
        assert_eq!(std::fs::read(folder.join("it-1.0/a.txt")).unwrap(), [b'x'; 1000]);
        let empty = std::fs::metadata(folder.join("it-1.0/empty")).unwrap();
        let since = empty.modified().unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
        assert_eq!((empty.len(), since.as_secs()), (0, 1_700_000_000));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_name_that_does_not_fit_is_refused() {
        assert!(tar_gz("f", vec![Entry::file(&"x".repeat(100), Vec::new())], 0).is_err());
    }
}
