//! How fast tables are read: megabytes of file per second, best of three. `cargo bench -p lion-table`.

use arrow_array::{ArrayRef, Float32Array, RecordBatch};
use lion_table::{ReadOptions, read};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

const ROWS: usize = 100_000;
const COLS: usize = 128;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let values = values();
    let csv = csv(&values);
    for path in [
        write("t.csv", csv.as_bytes()),
        write("t.csv.gz", &gz(&csv)),
        write("t.jsonl", jsonl(&csv).as_bytes()),
        write("t.npy", &npy(&values)),
        write("t.parquet", &parquet(&values)),
        write("t.arrow", &arrow(&values)),
    ] {
        measure(&path, values.len());
    }
}

fn measure(path: &PathBuf, values: usize) {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let table = read(path, &ReadOptions::default()).unwrap();
        best = best.min(start.elapsed().as_secs_f64());
        assert_eq!(table.data.len(), values);
    }
    let size = std::fs::metadata(path).unwrap().len() as f64 / 1e6;
    let name = path.file_name().unwrap().to_string_lossy();
    println!(
        "{name:10} {size:6.1} MB {best:6.3} s {:7.0} MB/s {:7.0} million values/s",
        size / best,
        values as f64 / best / 1e6
    );
}

/// Numbers with six digits after the point, as tables of measurements have them.
fn values() -> Vec<f32> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f32 / 1e4).round() / 1e2 - 8.0 + (state >> 44) as f32 * 1e-6
    };
    (0..ROWS * COLS).map(|_| next()).collect()
}

fn csv(values: &[f32]) -> String {
    let mut text = (0..COLS).map(|c| format!("f{c}")).collect::<Vec<_>>().join(",") + "\n";
    for row in values.chunks(COLS) {
        for (c, value) in row.iter().enumerate() {
            write!(text, "{}{value:.6}", if c == 0 { "" } else { "," }).unwrap();
        }
        text.push('\n');
    }
    text
}

fn jsonl(csv: &str) -> String {
    csv.lines().skip(1).map(|line| format!("{{\"x\":[{line}]}}\n")).collect()
}

fn gz(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn npy(values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({ROWS}, {COLS}), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn batch(values: &[f32]) -> RecordBatch {
    let column = |c: usize| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values(values.iter().skip(c).step_by(COLS).copied()))
    };
    RecordBatch::try_from_iter((0..COLS).map(|c| (format!("f{c}"), column(c)))).unwrap()
}

fn parquet(values: &[f32]) -> Vec<u8> {
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .build();
    let batch = batch(values);
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn arrow(values: &[f32]) -> Vec<u8> {
    let batch = batch(values);
    let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    (0..ROWS).step_by(10_000).for_each(|start| writer.write(&batch.slice(start, 10_000)).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}
