//! Parquet and Arrow: each chunk becomes a row group or a batch of its own.

use super::Encoder;
use super::destination::Destination;
use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io;

pub(super) struct ParquetWriter(ArrowWriter<Destination>);

impl ParquetWriter {
    pub(super) fn new(destination: Destination, schema: SchemaRef) -> io::Result<Self> {
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        // The Parquet types say all there is to say.
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        ArrowWriter::try_new_with_options(destination, schema, options).map(Self).map_err(parquet_error)
    }
}

impl Encoder for ParquetWriter {
    fn chunk(&mut self, chunk: &RecordBatch) -> io::Result<()> {
        self.0.write(chunk).and_then(|()| self.0.flush()).map_err(parquet_error)
    }

    fn finish(self: Box<Self>) -> io::Result<Destination> {
        self.0.into_inner().map_err(parquet_error)
    }
}

fn parquet_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => error.downcast().map_or_else(io::Error::other, |error| *error),
        error => io::Error::other(error),
    }
}

/// An IPC file, not compressed, so that it can be mapped into memory.
pub(super) struct Arrow(FileWriter<Destination>);

impl Arrow {
    pub(super) fn new(destination: Destination, schema: &SchemaRef) -> io::Result<Self> {
        FileWriter::try_new(destination, schema).map(Self).map_err(arrow_error)
    }
}

impl Encoder for Arrow {
    fn chunk(&mut self, chunk: &RecordBatch) -> io::Result<()> {
        self.0.write(chunk).map_err(arrow_error)
    }

    fn finish(self: Box<Self>) -> io::Result<Destination> {
        self.0.into_inner().map_err(arrow_error)
    }
}

fn arrow_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}
