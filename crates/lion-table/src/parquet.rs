//! Parquet: only the chosen columns are decoded.

use crate::columnar::{
    Columnar, ColumnarCells, Decoder, cell_columns, has_values, push_numbers, select, texts,
};
use crate::error::{CellAddress, Error, Result};
use crate::guard::guarded;
use crate::input::Gauge;
use crate::select::{ReadOptions, Selection, SourceColumn};
use crate::table::{Source, Table, push_id, push_text};
use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;
use std::fs::File;

/// A file that can be read at several places at once.
pub(crate) trait Chunks: ChunkReader + Send + Sized + 'static {
    fn again(&self) -> std::io::Result<Self>;
}

impl Chunks for File {
    fn again(&self) -> std::io::Result<Self> {
        self.try_clone()
    }
}

impl Chunks for bytes::Bytes {
    fn again(&self) -> std::io::Result<Self> {
        Ok(self.clone())
    }
}

/// An open Parquet file.
pub(crate) struct ParquetReader<R> {
    reader: R,
    metadata: ArrowReaderMetadata,
    /// For each feature, its column in the file.
    roots: Vec<usize>,
    /// The columns of ids and labels in the file.
    id: Option<usize>,
    label: Option<usize>,
    group: Option<usize>,
    /// The rows in order, all chosen columns side by side.
    rows: Columnar<ParquetBatches>,
    count: Option<usize>,
}

/// What a column that is open holds at most, as a rule: a page, the same compressed, a dictionary.
const PAGES: usize = 5 << 19;

/// Rows decoded at a time.
const STEP: usize = 4096;

/// Columns decoded side by side when the whole file is wanted: as many `f32` as fill a cache line. Each column
/// that is open holds a page of about a megabyte, so a wide table would otherwise be held twice.
const ABREAST: usize = 16;

impl<R: Chunks> ParquetReader<R> {
    pub(crate) fn open(file: String, reader: R, options: &ReadOptions) -> Result<Self> {
        let metadata = load(&file, &reader)?;
        let (columns, selection) = select(&file, metadata.schema(), options)?;
        let (roots, id, label, group) =
            (selection.features.clone(), selection.id, selection.label, selection.group);
        let (columns, selection, projection) = narrow(columns, selection);
        let batches = decode_all(&file, &reader, &metadata, projection)?;
        let count = believable_rows(&reader, &metadata, roots.len()).filter(|_| !selection.list);
        let rows = Columnar::new(file, batches, Gauge::default(), &columns, selection)?;
        Ok(Self { reader, metadata, roots, id, label, group, rows, count })
    }

    /// Adds the feature columns of one row group, a few at a time; ids and labels are another matter.
    /// Rows of the table before `first` are of other files.
    fn fill_group(&self, table: &mut Table, group: usize, first: usize) -> Result<()> {
        let (before, cols) = (table.rows, table.cols);
        for (part, roots) in self.roots.chunks(ABREAST).enumerate() {
            let (order, projection) = in_file_order(roots);
            let mut row = before;
            let mut batches = decode(&self.rows.file, &self.reader, &self.metadata, projection, vec![group])?;
            let mut block = vec![0.0; STEP * roots.len()];
            while let Some(batch) = batches.next_batch()? {
                let columns: Vec<_> = order.iter().map(|&at| batch.column(at)).collect();
                let many = batch.num_rows();
                let values = &mut block[..many * roots.len()];
                push_numbers(&columns, 0, many, values).map_err(|(at, c, fault)| {
                    let column = table.columns[part * ABREAST + c].clone();
                    fault.at(CellAddress {
                        file: self.rows.file.clone(),
                        row: row - first + at,
                        line: None,
                        column,
                    })
                })?;
                if part == 0 {
                    table.data.resize((row + many) * cols, 0.0);
                }
                let lines = table.data.chunks_exact_mut(cols).skip(row);
                for (line, values) in lines.zip(values.chunks_exact(roots.len())) {
                    line[part * ABREAST..][..values.len()].copy_from_slice(values);
                }
                row += many;
            }
            if row * cols != table.data.len() {
                return Err(damaged(&self.rows.file, "its columns differ in length"));
            }
            table.rows = row;
        }
        Ok(())
    }
}

impl<R: Chunks> ParquetReader<R> {
    /// Adds the ids, labels and groups of all rows. Rows of the table before `first` are of other files.
    fn fill_names(&self, table: &mut Table, first: usize) -> Result<()> {
        for (role, column) in [self.id, self.label, self.group].into_iter().enumerate() {
            let Some(column) = column else { continue };
            let mut batches = decode_all(&self.rows.file, &self.reader, &self.metadata, vec![column])?;
            let mut row = 0;
            while let Some(batch) = batches.next_batch()? {
                for text in texts(batch.column(0)) {
                    match role {
                        0 => {
                            let column = self.metadata.schema().field(column).name().clone();
                            let file = self.rows.file.clone();
                            push_id(table, text, || CellAddress { file, row, line: None, column })?;
                        }
                        1 => push_text(&mut table.labels, text),
                        _ => push_text(&mut table.groups, text),
                    }
                    row += 1;
                }
            }
            if row != table.rows - first {
                return Err(damaged(&self.rows.file, "its columns differ in length"));
            }
        }
        Ok(())
    }
}

impl<R: Chunks> Source for ParquetReader<R> {
    fn empty(&self) -> Table {
        self.rows.empty()
    }

    fn rows(&self) -> Option<usize> {
        self.count
    }

    fn gauge(&self) -> &Gauge {
        self.rows.gauge()
    }

    fn buffers(&self) -> usize {
        let groups = self.metadata.metadata().row_groups().iter();
        let largest = |column: usize| {
            let size = |group: &RowGroupMetaData| group.columns()[column].uncompressed_size();
            usize::try_from(groups.clone().map(size).max().unwrap_or(0)).unwrap_or(0)
        };
        let leaves = self.metadata.parquet_schema();
        let used = |&leaf: &usize| {
            let root = leaves.get_column_root_idx(leaf);
            self.roots.contains(&root) || [self.id, self.label, self.group].contains(&Some(root))
        };
        (0..leaves.num_columns()).filter(used).map(|leaf| largest(leaf).min(PAGES)).sum::<usize>() + (1 << 20)
    }

    fn fill(&mut self, table: &mut Table, rows: usize) -> Result<usize> {
        self.rows.fill(table, rows)
    }

    fn fill_all(&mut self, table: &mut Table) -> Result<()> {
        if self.rows.selection.list || self.roots.len() <= ABREAST {
            while self.fill(table, STEP)? > 0 {}
            return Ok(());
        }
        let (first, groups) = (table.rows, self.metadata.metadata().num_row_groups());
        (0..groups).try_for_each(|group| self.fill_group(table, group, first))?;
        self.fill_names(table, first)
    }
}

/// Opens a table of cells.
pub(crate) fn cells<R: Chunks>(file: String, reader: R) -> Result<ColumnarCells<ParquetBatches>> {
    let metadata = load(&file, &reader)?;
    let columns = cell_columns(metadata.schema());
    let roots: Vec<usize> = (0..columns.len()).filter(|&at| has_values(&columns[at])).collect();
    let places = (0..columns.len()).map(|at| roots.binary_search(&at).ok()).collect();
    let told = believable_rows(&reader, &metadata, roots.len().max(1));
    let batches = decode_all(&file, &reader, &metadata, roots)?;
    Ok(ColumnarCells::new(file, batches, Gauge::default(), columns, places, told))
}

/// The row count of the footer, unless that many rows would be a great deal for so small a file: then it is
/// better to see them come.
fn believable_rows<R: Chunks>(reader: &R, metadata: &ArrowReaderMetadata, cols: usize) -> Option<usize> {
    let rows = usize::try_from(metadata.metadata().file_metadata().num_rows()).ok()?;
    let values = rows.checked_mul(cols)? as u64;
    (values <= reader.len().saturating_mul(16)).then_some(rows)
}

/// The selection by position among the columns it uses, which are all that will be decoded.
fn narrow(columns: Vec<SourceColumn>, selection: Selection) -> (Vec<SourceColumn>, Selection, Vec<usize>) {
    let mut used: Vec<usize> = selection.features.clone();
    used.extend([selection.id, selection.label, selection.group].iter().flatten());
    used.sort_unstable();
    used.dedup();
    let place = |c: usize| used.partition_point(|&u| u < c);
    let narrowed = Selection {
        features: selection.features.iter().map(|&c| place(c)).collect(),
        id: selection.id.map(place),
        label: selection.label.map(place),
        group: selection.group.map(place),
        list: selection.list,
    };
    let mut columns: Vec<Option<SourceColumn>> = columns.into_iter().map(Some).collect();
    let kept = used.iter().filter_map(|&c| columns.get_mut(c)?.take()).collect::<Vec<_>>();
    (kept, narrowed, used)
}

/// Where each of `roots` is among them once they are sorted, and them sorted.
pub(crate) fn in_file_order(roots: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut sorted = roots.to_vec();
    sorted.sort_unstable();
    (roots.iter().map(|root| sorted.partition_point(|s| s < root)).collect(), sorted)
}

/// Reads the footer.
pub(crate) fn load<R: Chunks>(file: &str, reader: &R) -> Result<ArrowReaderMetadata> {
    // The plain Parquet types are all that is needed, and one thing less to be wrong in the file.
    let plain = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    guarded(|| ArrowReaderMetadata::load(reader, plain)).map_err(|problem| damaged(file, problem))
}

/// A reader of some columns, which come in the order of the file, of all row groups.
pub(crate) fn decode_all<R: Chunks>(
    file: &str,
    reader: &R,
    metadata: &ArrowReaderMetadata,
    roots: Vec<usize>,
) -> Result<ParquetBatches> {
    let groups = (0..metadata.metadata().num_row_groups()).collect();
    decode(file, reader, metadata, roots, groups)
}

/// A reader of some columns of some row groups.
fn decode<R: Chunks>(
    file: &str,
    reader: &R,
    metadata: &ArrowReaderMetadata,
    roots: Vec<usize>,
    groups: Vec<usize>,
) -> Result<ParquetBatches> {
    let reader = reader.again().map_err(|source| Error::Io { file: file.to_owned(), cause: source })?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata.clone());
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    let builder = builder.with_projection(mask).with_row_groups(groups).with_batch_size(STEP);
    let reader = guarded(|| builder.build()).map_err(|problem| damaged(file, problem))?;
    Ok(ParquetBatches { file: file.to_owned(), reader })
}

/// The batches of a reader.
pub(crate) struct ParquetBatches {
    file: String,
    reader: ParquetRecordBatchReader,
}

impl Decoder for ParquetBatches {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        guarded(|| self.reader.next().transpose()).map_err(|problem| damaged(&self.file, problem))
    }
}

fn damaged(file: &str, problem: impl ToString) -> Error {
    Error::Damaged { file: file.to_owned(), format: "Parquet", problem: problem.to_string() }
}
