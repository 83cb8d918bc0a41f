//! A folder to work in, small tables in every format, and a way to run `lion` there.

use arrow_array::{ArrayRef, Float32Array, RecordBatch};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// What takes longer does not end, even on a machine that does much else at the time.
pub(crate) const LONG: Duration = Duration::from_secs(240);

/// A temporary folder with commands run in it, so that messages name files as people type them.
pub(crate) struct Folder(tempfile::TempDir);

/// What a finished `lion` left behind.
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The names of the files there are.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// `lion` in this folder, not started yet; `args` are separated by spaces.
    pub(crate) fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lion"));
        command.current_dir(self.0.path()).args(args.split_whitespace()).stdin(Stdio::null());
        command
    }

    pub(crate) fn lion(&self, args: &str) -> Finished {
        Finished::of(self.command(args))
    }

    /// Runs `lion` with text on its standard input.
    pub(crate) fn lion_reading(&self, args: &str, input: &str) -> Finished {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Finished::from(child.wait_with_output().unwrap())
    }

    /// Runs `lion` with bytes on its standard input, all of which it need not read.
    pub(crate) fn lion_fed(&self, args: &str, input: &[u8]) -> Finished {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input);
        Finished::from(child.wait_with_output().unwrap())
    }

    /// Runs `lion --json`, which must succeed, and returns the object it prints.
    pub(crate) fn json(&self, args: &str) -> serde_json::Value {
        let done = self.lion(&format!("{args} --json"));
        assert_eq!(done.code, Some(0), "{args}: {}", done.stderr);
        serde_json::from_str(&done.stdout).unwrap()
    }
}

impl Finished {
    pub(crate) fn of(mut command: Command) -> Self {
        Self::from(command.output().unwrap())
    }

    /// Failed with this code, and its last word on standard error is one sentence with all of these in it.
    #[track_caller]
    pub(crate) fn refuses(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "", "data of a failed run");
        let sentence = self.stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or("");
        for part in parts {
            assert!(sentence.contains(part), "{part:?} is not in {:?}", self.stderr);
        }
        // Wrong usage is followed by the usage; work that failed by nothing.
        assert!(code == 2 || self.stderr.trim_end().lines().count() == 1, "{}", self.stderr);
    }
}

impl From<std::process::Output> for Finished {
    fn from(output: std::process::Output) -> Self {
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        for word in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
            assert!(!stderr.contains(word), "{stderr}");
        }
        Self { code: output.status.code(), stdout, stderr }
    }
}

/// A small table: three clusters of 40 rows of 4 whole numbers from 0 to 255.
pub(crate) struct SampleTable {
    pub(crate) rows: Vec<[u8; 4]>,
    pub(crate) labels: Vec<&'static str>,
}

impl SampleTable {
    pub(crate) fn new() -> Self {
        Self::of(120)
    }

    pub(crate) fn of(rows: usize) -> Self {
        let mut state = 7u64;
        let mut noise = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u8 % 32
        };
        let centre = [[20, 20, 20, 20], [200, 20, 100, 60], [60, 200, 20, 220]];
        Self {
            rows: (0..rows).map(|i| centre[i % 3].map(|c: u8| c + noise())).collect(),
            labels: (0..rows).map(|i| ["oak", "elm", "ash"][i % 3]).collect(),
        }
    }

    pub(crate) fn values(&self) -> Vec<f32> {
        self.rows.iter().flatten().map(|&v| f32::from(v)).collect()
    }

    pub(crate) fn csv(&self) -> String {
        let rows = self.rows.iter().map(|[a, b, c, d]| format!("{a},{b},{c},{d}\n"));
        "a,b,c,d\n".to_owned() + &rows.collect::<String>()
    }

    /// With a name and a label for each row.
    pub(crate) fn named_csv(&self) -> String {
        let rows = self.rows.iter().zip(&self.labels).enumerate();
        let rows = rows.map(|(i, ([a, b, c, d], label))| format!("r{i},{a},{b},{c},{d},{label}\n"));
        "name,a,b,c,d,kind\n".to_owned() + &rows.collect::<String>()
    }

    pub(crate) fn jsonl(&self) -> String {
        let rows = self.rows.iter();
        rows.map(|[a, b, c, d]| format!("{{\"a\":{a},\"b\":{b},\"c\":{c},\"d\":{d}}}\n")).collect()
    }

    pub(crate) fn idx(&self) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, 3];
        bytes.extend([self.rows.len() as u32, 2, 2].iter().flat_map(|size| size.to_be_bytes()));
        bytes.extend(self.rows.iter().flatten());
        bytes
    }

    pub(crate) fn npy(&self) -> Vec<u8> {
        npy(self.rows.len(), 4, &self.values())
    }

    pub(crate) fn parquet(&self) -> Vec<u8> {
        let batch = self.batch();
        let mut bytes = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    pub(crate) fn arrow(&self) -> Vec<u8> {
        let batch = self.batch();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn batch(&self) -> RecordBatch {
        let column = |c: usize| -> ArrayRef {
            Arc::new(self.rows.iter().map(|row| f32::from(row[c])).collect::<Float32Array>())
        };
        RecordBatch::try_from_iter(["a", "b", "c", "d"].into_iter().zip((0..4).map(column))).unwrap()
    }
}

/// An npy file of `f32`.
pub(crate) fn npy(rows: usize, cols: usize, values: &[f32]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
