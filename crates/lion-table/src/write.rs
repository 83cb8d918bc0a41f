//! Tables out: columns of values to a file that is whole or not there at all.

mod chunk;
mod columnar;
mod destination;
mod npy;
mod text;

use crate::column::{Column, Field, Kind};
use crate::error::{CellAddress, Error, Result};
use arrow_array::RecordBatch;
use chunk::{Chunk, LONGEST_TEXT, schema_of};
use destination::Destination;
use flate2::write::GzEncoder;
use std::collections::HashSet;
use std::io;
use std::path::Path;

/// The formats that a table can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    /// Apache Parquet, compressed with Zstandard.
    Parquet,
    /// An Arrow IPC file, also called Feather.
    Arrow,
    /// Comma-separated values with a header.
    Csv,
    /// The same, compressed with gzip.
    CsvGz,
    /// One JSON object per line.
    Jsonl,
    /// NumPy's array file: coordinates alone.
    Npy,
}

/// The format that `path` tells by its name; `-` is CSV on standard output. Refuses every other name, and a folder,
/// so that a wrong name is found before any work.
pub fn check_output(path: &Path) -> Result<OutputFormat> {
    if path.as_os_str() == "-" {
        return Ok(OutputFormat::Csv);
    }
    let file = path.display().to_string();
    if path.is_dir() {
        return Err(Error::Directory { file });
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    match name.rsplit_once('.') {
        Some((_, "parquet")) => Ok(OutputFormat::Parquet),
        Some((_, "arrow" | "feather")) => Ok(OutputFormat::Arrow),
        Some((_, "csv")) => Ok(OutputFormat::Csv),
        Some((name, "gz")) if name.ends_with(".csv") => Ok(OutputFormat::CsvGz),
        Some((_, "jsonl")) => Ok(OutputFormat::Jsonl),
        Some((_, "npy")) => Ok(OutputFormat::Npy),
        _ => Err(Error::UnknownOutput { file }),
    }
}

/// What [`Writer::finish`] has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Rows.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Writes a table batch by batch, in memory that does not grow with the number of rows.
///
/// The rows go to a temporary file in the same folder, which takes the place of the old file at
/// [`finish`](Self::finish): a writer that fails or is dropped before leaves the old file whole and nothing beside
/// it. The same rows make the same bytes, whatever the batches.
///
/// Null is null in Parquet, Arrow and JSON lines, and an empty cell in CSV.
///
/// ```
/// use lion_table::{Column, Field, Kind, Writer, read_columns};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("places.parquet");
/// let fields = vec![Field::new("id", Kind::Text), Field::new("x", Kind::F32), Field::nullable("group", Kind::U64)];
/// let batch: Vec<Column> =
///     vec![vec!["a".to_owned(), "b".to_owned()].into(), vec![0.5_f32, 1.5].into(), vec![None, Some(7_u64)].into()];
///
/// let mut writer = Writer::create(&path, fields.clone(), &["x"])?;
/// writer.write(&batch)?;
/// assert_eq!(writer.finish()?.rows, 2);
///
/// assert_eq!(read_columns(&path, &fields)?, batch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer {
    file: String,
    fields: Vec<Field>,
    chunk: Chunk,
    rows: u64,
    /// Gone after a failure: half a file must not be taken for a whole one.
    encoder: Option<Box<dyn Encoder>>,
}

/// A format, given one chunk after the other.
trait Encoder: Send {
    fn chunk(&mut self, chunk: &RecordBatch) -> io::Result<()>;

    /// Writes what comes after the last chunk.
    fn finish(self: Box<Self>) -> io::Result<Destination>;
}

impl Writer {
    /// Opens a new file for columns as `fields` say; the format is told by the name, see [`check_output`].
    ///
    /// An `.npy` file gets the columns named in `coordinates` alone, side by side, which must be of [`Kind::F32`] and
    /// have no nulls; no other format looks at `coordinates`.
    pub fn create(path: &Path, fields: Vec<Field>, coordinates: &[&str]) -> Result<Self> {
        let format = check_output(path)?;
        let shown =
            if path.as_os_str() == "-" { "standard output".into() } else { path.display().to_string() };
        check_fields(&shown, &fields)?;
        let coordinates = match format {
            OutputFormat::Npy => find_coordinates(&shown, &fields, coordinates)?,
            _ => Vec::new(),
        };
        Self::new(shown, Destination::create(path)?, format, fields, coordinates)
    }

    fn new(
        file: String,
        destination: Destination,
        format: OutputFormat,
        fields: Vec<Field>,
        coordinates: Vec<usize>,
    ) -> Result<Self> {
        let schema = schema_of(&fields);
        let open = || -> io::Result<Box<dyn Encoder>> {
            Ok(match format {
                OutputFormat::Parquet => Box::new(columnar::ParquetWriter::new(destination, schema.clone())?),
                OutputFormat::Arrow => Box::new(columnar::Arrow::new(destination, &schema)?),
                OutputFormat::Csv => Box::new(text::CsvWriter::new(destination, &schema)?),
                OutputFormat::CsvGz => {
                    let gzip = GzEncoder::new(destination, flate2::Compression::default());
                    Box::new(text::CsvWriter::new(gzip, &schema)?)
                }
                OutputFormat::Jsonl => Box::new(text::JsonlWriter::new(destination, &schema)),
                OutputFormat::Npy => Box::new(npy::Npy::new(destination, coordinates)?),
            })
        };
        let encoder = open().map_err(|cause| Error::Unwritable { file: file.clone(), cause })?;
        let chunk = Chunk::new(schema, &fields);
        Ok(Self { file, fields, chunk, rows: 0, encoder: Some(encoder) })
    }

    /// Adds rows: one column for each field, in their order, all of the same length, which may be 0. A batch that does
    /// not fit the fields, or has a float that is not finite, is refused as a whole.
    pub fn write(&mut self, batch: &[Column]) -> Result<()> {
        let rows = self.check(batch)?;
        let mut done = 0;
        while done < rows {
            done += self.chunk.add(batch, done..rows);
            if self.chunk.is_full() {
                self.write_chunk()?;
            }
        }
        self.rows += rows as u64;
        Ok(())
    }

    /// Writes what is left, waits until all is safely on the disk, and puts the file in its place.
    pub fn finish(mut self) -> Result<Written> {
        if !self.chunk.is_empty() {
            self.write_chunk()?;
        }
        let file = self.file;
        let finish = || self.encoder.ok_or_else(failed_before)?.finish()?.finish();
        let bytes = finish().map_err(|cause| Error::Unwritable { file, cause })?;
        Ok(Written { rows: self.rows, bytes })
    }

    fn write_chunk(&mut self) -> Result<()> {
        self.encode_chunk().map_err(|cause| Error::Unwritable { file: self.file.clone(), cause })
    }

    fn encode_chunk(&mut self) -> io::Result<()> {
        let mut encoder = self.encoder.take().ok_or_else(failed_before)?;
        encoder.chunk(&self.chunk.take().map_err(io::Error::other)?)?;
        self.encoder = Some(encoder);
        Ok(())
    }

    /// Refuses a batch that does not fit the fields; answers its number of rows.
    fn check(&self, batch: &[Column]) -> Result<usize> {
        let refuse = |problem: String| Err(Error::BadColumns { file: self.file.clone(), problem });
        if batch.len() != self.fields.len() {
            return refuse(format!("{} columns were given for {} fields", batch.len(), self.fields.len()));
        }
        let rows = batch.first().map_or(0, Column::len);
        for (field, column) in self.fields.iter().zip(batch) {
            let name = &field.name;
            if column.len() != rows {
                return refuse(format!("column {name} has {} rows where the first has {rows}", column.len()));
            }
            if column.kind() != field.kind {
                return refuse(format!(
                    "column {name} holds {:?} instead of {:?}",
                    column.kind(),
                    field.kind
                ));
            }
            if let Some(row) = column.first_null().filter(|_| !field.nullable) {
                return refuse(format!("row {} has nothing in column {name}", self.row(row)));
            }
            if let Some((row, value)) = column.first_not_finite() {
                let (file, column) = (self.file.clone(), name.clone());
                let cell = CellAddress { file, row: self.row(row), line: None, column };
                return Err(Error::NotFinite { cell, value });
            }
            if let Column::Text(texts) = column
                && let Some(row) = texts.iter().position(|text| text.as_deref().is_some_and(is_too_long))
            {
                return refuse(format!("row {} has too long a text in column {name}", self.row(row)));
            }
        }
        Ok(rows)
    }

    /// The number of row `row` of the batch at hand, counted from 0 over all batches.
    fn row(&self, row: usize) -> usize {
        self.rows as usize + row
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Writer({}, {} columns, row {})", self.file, self.fields.len(), self.rows)
    }
}

fn is_too_long(text: &str) -> bool {
    text.len() > LONGEST_TEXT
}

fn failed_before() -> io::Error {
    io::Error::other("writing it failed before")
}

fn check_fields(file: &str, fields: &[Field]) -> Result<()> {
    let mut names = HashSet::new();
    let problem = match fields.iter().find(|field| !names.insert(&field.name)) {
        Some(field) => format!("two columns have the name {}", field.name),
        None if fields.is_empty() => "there are none".to_owned(),
        None => return Ok(()),
    };
    Err(Error::BadColumns { file: file.to_owned(), problem })
}

fn find_coordinates(file: &str, fields: &[Field], names: &[&str]) -> Result<Vec<usize>> {
    let refuse = |problem: String| Error::BadColumns { file: file.to_owned(), problem };
    if names.is_empty() {
        return Err(refuse("an npy file holds coordinates alone, and there are none".to_owned()));
    }
    let find = |name: &&str| {
        let is_coordinate = |field: &Field| field.name == *name && field.kind == Kind::F32 && !field.nullable;
        let refused = || refuse(format!("there is no column {name} of 32-bit floats without nulls"));
        fields.iter().position(is_coordinate).ok_or_else(refused)
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lion_replace::Replacement;
    use std::fs::{File, OpenOptions};

    const FORMATS: [OutputFormat; 6] = [
        OutputFormat::Parquet,
        OutputFormat::Arrow,
        OutputFormat::Csv,
        OutputFormat::CsvGz,
        OutputFormat::Jsonl,
        OutputFormat::Npy,
    ];

    /// A writer onto a device that takes nothing, as a full disk does.
    fn onto_full_disk(folder: &Path, format: OutputFormat) -> Result<Writer> {
        let full: File = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let temporary = tempfile::NamedTempFile::new_in(folder).unwrap().into_temp_path();
        let destination = Destination::test(Replacement::through(full, temporary, folder.join("t")));
        Writer::new("t".into(), destination, format, vec![Field::new("x", Kind::F32)], vec![0])
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_one_sentence_and_leaves_nothing() {
        let sentence = "t cannot be written: No space left on device (os error 28)";
        for format in FORMATS {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = onto_full_disk(folder.path(), format).unwrap();
            writer.write(&[vec![1.0_f32].into()]).unwrap();
            assert_eq!(writer.finish().unwrap_err().to_string(), sentence, "{format:?}, one row");
            // More rows than a chunk holds, so that the first write fails, and the next is refused.
            let mut writer = onto_full_disk(folder.path(), format).unwrap();
            let rows: Vec<f32> = (0..200_000).map(|row| (row as f32).sin()).collect();
            let refused = writer.write(&[rows.clone().into()]).unwrap_err();
            assert_eq!(refused.to_string(), sentence, "{format:?}");
            let again = writer.write(&[rows.into()]).unwrap_err().to_string();
            assert_eq!(again, "t cannot be written: writing it failed before", "{format:?}");
            assert!(writer.finish().is_err());
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{format:?}");
        }
    }
}
