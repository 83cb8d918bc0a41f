//! Columnar files that other programs write: streams, compressed buffers, dictionaries, lists.

use super::Outcome;
use arrow_array::types::{Float64Type, Int8Type};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, FixedSizeListArray, Float32Array, Int64Array,
    ListArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use std::sync::Arc;

/// One column of each kind.
fn batch() -> Outcome<RecordBatch> {
    let kinds: DictionaryArray<Int8Type> = ["red", "blue", "red"].into_iter().collect();
    let columns: [(&str, ArrayRef); 7] = [
        ("id", Arc::new(StringArray::from(vec!["a", "b", "c"]))),
        ("label", Arc::new(StringViewArray::from(vec!["x", "a text that is longer than twelve bytes", "x"]))),
        ("width", Arc::new(Float32Array::from(vec![1.5, -3.0, 0.25]))),
        ("n", Arc::new(Int64Array::from(vec![Some(1), None, Some(1 << 40)]))),
        ("kind", Arc::new(kinds)),
        ("is", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("day", Arc::new(Date32Array::from(vec![19_000, 19_001, -4]))),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

pub(super) fn arrow(compression: Option<CompressionType>) -> Outcome<Vec<u8>> {
    streamed(&batch()?, IpcWriteOptions::default().try_with_compression(compression)?)
}

/// Rows as lists, of one size and of any.
pub(super) fn lists() -> Outcome<Vec<u8>> {
    let rows = [Some(vec![Some(1.0), Some(2.5)]), Some(vec![Some(-3.0), Some(0.0)])];
    let fixed = FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>(rows.clone(), 2);
    let any = ListArray::from_iter_primitive::<Float64Type, _, _>(rows);
    let columns: [(&str, ArrayRef); 2] = [("x", Arc::new(fixed)), ("other", Arc::new(any))];
    streamed(&RecordBatch::try_from_iter(columns)?, IpcWriteOptions::default())
}

fn streamed(batch: &RecordBatch, options: IpcWriteOptions) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, batch.schema_ref(), options)?;
    writer.write(batch)?;
    writer.finish()?;
    drop(writer);
    Ok(bytes)
}

pub(super) fn parquet(compression: Compression) -> Outcome<Vec<u8>> {
    let (batch, mut bytes) = (batch()?, Vec::new());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(bytes)
}
