//! Corpora: inputs that reach something that no other does. A run works in `fuzz/corpus`; the repository keeps an archive for each
//! target in `fuzz/corpora`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use super::folder;
use super::fuzzer::make_folder;
use crate::shell;

/// The most bytes of an archive: larger inputs are left out until it is no larger.
const LARGEST_ARCHIVE: u64 = 100_000;

/// The inputs of a target while it runs.
pub(super) fn of(target: &str) -> PathBuf {
    folder().join("corpus").join(target)
}

fn archive(target: &str) -> PathBuf {
    folder().join("corpora").join(format!("{target}.tar.gz"))
}

/// Adds the inputs that the repository keeps to those that are there.
pub(super) fn unpack(target: &str) -> Result<()> {
    let (inputs, archive) = (of(target), archive(target));
    if archive.is_file() { extract(&archive, &inputs) } else { make_folder(&inputs) }
}

fn extract(archive: &Path, inputs: &Path) -> Result<()> {
    make_folder(inputs)?;
    shell::run(shell::program("tar", "--extract --gzip --file").arg(archive).arg("--directory").arg(inputs))
}

/// Keeps the inputs of a target in the repository: all that fit, the smallest first. The same inputs make the same archive.
pub(super) fn pack(target: &str) -> Result<()> {
    let (inputs, archive) = (of(target), archive(target));
    make_folder(&folder().join("corpora"))?;
    let mut files = smallest_first(&inputs)?;
    let all = files.len();
    loop {
        write(&inputs, &files, &archive)?;
        let size =
            fs::metadata(&archive).with_context(|| format!("cannot read {}", archive.display()))?.len();
        if size <= LARGEST_ARCHIVE {
            println!("{target}: {} of {all} inputs in {size} bytes", files.len());
            return Ok(());
        }
        files.truncate(files.len() * 9 / 10);
    }
}

fn smallest_first(inputs: &Path) -> Result<Vec<String>> {
    let unreadable = || format!("cannot read {}", inputs.display());
    let mut files = Vec::new();
    for file in fs::read_dir(inputs).with_context(unreadable)? {
        let file = file.with_context(unreadable)?;
        let size = file.metadata().with_context(unreadable)?.len();
        files.push((size, file.file_name().to_string_lossy().into_owned()));
    }
    files.sort();
    Ok(files.into_iter().map(|(_, name)| name).collect())
}

fn write(inputs: &Path, files: &[String], archive: &Path) -> Result<()> {
    // The folder first: it counts for the names that come after it.
    let mut command = shell::program("tar", "--create --directory");
    command.arg(inputs).args([
        "--files-from=-",
        "--format=ustar",
        "--mtime=@0",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mode=644",
        "--use-compress-program=gzip -9n",
        "--file",
    ]);
    let mut tar = command.arg(archive).stdin(Stdio::piped()).spawn().context("cannot start tar")?;
    tar.stdin.take().context("tar takes no names")?.write_all(files.join("\n").as_bytes())?;
    let status = tar.wait()?;
    if status.success() { Ok(()) } else { bail!("tar ended with {status}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        let folder = std::env::temp_dir().join(format!("lion-corpus-{}", std::process::id()));
        let (inputs, again) = (folder.join("inputs"), folder.join("again"));
        make_folder(&inputs).unwrap();
        for (name, bytes) in [("c", &b"long"[..]), ("b", b""), ("a", b"\xff")] {
            fs::write(inputs.join(name), bytes).unwrap();
        }
        let files = smallest_first(&inputs).unwrap();
        assert_eq!(files, ["b", "a", "c"]);
        let archives = ["one.tar.gz", "two.tar.gz"].map(|name| folder.join(name));
        archives.iter().for_each(|archive| write(&inputs, &files, archive).unwrap());
        assert_eq!(fs::read(&archives[0]).unwrap(), fs::read(&archives[1]).unwrap());
        extract(&archives[0], &again).unwrap();
        for name in files {
            assert_eq!(fs::read(again.join(&name)).unwrap(), fs::read(inputs.join(&name)).unwrap(), "{name}");
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
