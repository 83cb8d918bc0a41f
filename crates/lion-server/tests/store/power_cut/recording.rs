//! The calls that a child process made, and power cuts among them.

use super::disk::{Chance, Disk, Operation};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder that a child is to work in.
const CHILD: &str = "LION_POWER_CHILD";
/// A child appends here what was acknowledged, a line each. What was said is known for good: it is no part of the disk.
const ACKNOWLEDGED: &str = "acknowledged";
/// The beginning of a recording, where a store is made, opened and closed a few times, gets half of the cuts.
const BEGINNING: usize = 3000;

/// In a child: the folder to work in, and where to say what was acknowledged.
pub(super) fn child() -> Option<(PathBuf, std::fs::File)> {
    let folder = PathBuf::from(std::env::var_os(CHILD)?);
    let said = std::fs::File::create(folder.join(ACKNOWLEDGED)).unwrap();
    Some((folder, said))
}

/// The calls of a program that worked in a folder.
pub(super) struct Recording {
    log: Vec<u8>,
    /// Name, inode and bytes of what the folder had in the beginning.
    before: Vec<(String, u64, Vec<u8>)>,
}

impl Recording {
    /// Runs a test of this binary as a child that works in a folder.
    pub(super) fn of(test: &str, folder: &Path) -> Self {
        let file = |entry: std::fs::DirEntry| {
            let bytes = std::fs::read(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().ino(), bytes)
        };
        let before = std::fs::read_dir(folder).unwrap().map(|entry| file(entry.unwrap())).collect();
        let log = tempfile::NamedTempFile::new().unwrap();
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--test-threads=1"])
            .env("LD_PRELOAD", recorder())
            .env("LION_RECORD_FOLDER", folder)
            .env("LION_RECORD_LOG", log.path())
            .env(CHILD, folder)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && said.contains("1 passed"), "{said}{done:?}");
        Self { log: std::fs::read(log.path()).unwrap(), before }
    }

    /// All calls, in order.
    pub(super) fn operations(&self) -> Vec<Operation<'_>> {
        let (mut rest, mut operations) = (self.log.as_slice(), Vec::new());
        while let Some((head, after)) = rest.split_first_chunk::<40>() {
            let number = |at: usize| u64::from_le_bytes(head[8 * at..][..8].try_into().unwrap());
            let (a, after) = after.split_at(number(3) as usize);
            let (b, after) = after.split_at(number(4) as usize);
            let text = |bytes| std::str::from_utf8(bytes).unwrap();
            let (file, at) = (number(1), number(2) as usize);
            operations.push(match number(0) {
                1 => Operation::Create { file, name: text(a) },
                2 => Operation::Write { file, position: at, bytes: a },
                3 => Operation::Truncate { file, length: at },
                4 => Operation::Sync { file },
                5 => Operation::SyncFolder,
                6 => Operation::Rename { file, from: text(a), to: text(b) },
                7 => Operation::Unlink { name: text(a) },
                other => panic!("operation {other}"),
            });
            rest = after;
        }
        operations
    }

    /// Cuts the power at random points of these operations. Shows each time the folder that is left and the lines that
    /// were acknowledged, and gives what was found wrong.
    pub(super) fn cut(
        &self,
        operations: &[Operation<'_>],
        cuts: u64,
        mut check: impl FnMut(&Path, &[&str]) -> Result<(), String>,
    ) -> Vec<String> {
        let mut chance = Chance::new(cuts);
        let beginning = operations.len().min(BEGINNING) as u64;
        let mut points: Vec<usize> = (0..cuts)
            .map(|cut| 1 + chance.below([beginning, operations.len() as u64][cut as usize % 2]) as usize)
            .collect();
        points.sort_unstable();
        let mut disk = Disk::default();
        for (name, inode, bytes) in &self.before {
            disk.put(name, *inode, bytes.clone());
        }
        let (mut done, mut said, mut acknowledged, mut wrong) = (0, None, Vec::new(), Vec::new());
        for point in points {
            for &operation in &operations[done..point] {
                match operation {
                    Operation::Create { file, name: ACKNOWLEDGED } => said = Some(file),
                    Operation::Write { file, bytes, .. } if Some(file) == said => {
                        acknowledged.extend(std::str::from_utf8(bytes).unwrap().lines());
                    }
                    operation => disk.apply(operation),
                }
            }
            done = point;
            let folder = scratch();
            disk.cut(&mut chance, folder.path());
            if let Err(problem) = check(folder.path(), &acknowledged) {
                wrong.push(format!("cut at {point} of {}: {problem}", operations.len()));
            }
        }
        wrong
    }
}

/// An empty folder, in memory if there is such a file system: nothing here need outlive the test.
pub(super) fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
    tempfile::tempdir_in(folder).unwrap()
}

/// The recorder, compiled. Whoever could link this test has a C compiler.
fn recorder() -> &'static Path {
    static RECORDER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, library) = RECORDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("recorder.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/store/power_cut/recorder.c");
        let compiler = std::env::var("CC").unwrap_or("cc".into());
        let made = Command::new(&compiler)
            .args(["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source, "-ldl", "-o"])
            .arg(&library)
            .status()
            .unwrap_or_else(|e| panic!("{compiler}: {e}: this test needs a C compiler, as linking does"));
        assert!(made.success(), "{compiler} cannot compile {source}");
        (folder, library)
    });
    library
}
