//! The one array type of the API: row-major `f32`, owned or mapped from a file.

use crate::error::{Error, Fault, Result};
use std::sync::Arc;

/// A row-major matrix of `f32`. Cloning is free: the values are shared, and copied only where one of the clones is
/// changed.
#[derive(Clone)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    storage: Storage,
}

#[derive(Clone)]
enum Storage {
    Owned(Arc<Vec<f32>>),
    /// Bytes `start .. start + rows * cols * 4` of a mapped file, checked to be aligned when it was made.
    Mapped {
        file: Arc<memmap2::Mmap>,
        start: usize,
    },
}

impl Matrix {
    /// Takes `data` as `rows` x `cols`, row after row.
    pub fn new(rows: usize, cols: usize, data: Vec<f32>) -> Result<Self> {
        if rows.checked_mul(cols) != Some(data.len()) {
            return Err(Error::Data(format!(
                "{} values cannot fill {rows} rows of {cols} columns",
                data.len()
            )));
        }
        Ok(Self { rows, cols, storage: Storage::Owned(Arc::new(data)) })
    }

    /// Takes `data` as rows of `cols` columns; what does not fill a row is dropped.
    pub fn from_rows(cols: usize, mut data: Vec<f32>) -> Self {
        let rows = data.len() / cols.max(1);
        data.truncate(rows * cols);
        Self { rows, cols, storage: Storage::Owned(Arc::new(data)) }
    }

    /// All zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, storage: Storage::Owned(Arc::new(vec![0.0; rows * cols])) }
    }

    /// Looks at `rows * cols` little-endian floats of a mapped file, from byte `start`, without copying them.
    pub(crate) fn mapped(rows: usize, cols: usize, file: Arc<memmap2::Mmap>, start: usize) -> Option<Self> {
        let bytes = rows.checked_mul(cols)?.checked_mul(4)?;
        let slice = file.get(start..start.checked_add(bytes)?)?;
        bytemuck::try_cast_slice::<u8, f32>(slice).ok()?;
        Some(Self { rows, cols, storage: Storage::Mapped { file, start } })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Every value, row after row.
    pub fn data(&self) -> &[f32] {
        match &self.storage {
            Storage::Owned(data) => data,
            Storage::Mapped { file, start } => {
                bytemuck::cast_slice(&file[*start..*start + self.rows * self.cols * 4])
            }
        }
    }

    /// Every value, to be changed; a mapped or shared matrix is copied first.
    pub fn data_mut(&mut self) -> &mut [f32] {
        if let Storage::Mapped { .. } = self.storage {
            self.storage = Storage::Owned(Arc::new(self.data().to_vec()));
        }
        match &mut self.storage {
            Storage::Owned(data) => Arc::make_mut(data).as_mut_slice(),
            Storage::Mapped { .. } => unreachable!("made owned above"),
        }
    }

    /// The values as a vector; the last owner gives its own away.
    pub fn into_data(self) -> Vec<f32> {
        match self.storage {
            Storage::Owned(data) => Arc::unwrap_or_clone(data),
            Storage::Mapped { .. } => self.data().to_vec(),
        }
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[f32] {
        &self.data()[i * self.cols..(i + 1) * self.cols]
    }

    /// The rows `which`, in that order.
    pub fn select(&self, which: &[u32]) -> Self {
        let mut data = Vec::with_capacity(which.len() * self.cols);
        for &i in which {
            data.extend_from_slice(self.row(i as usize));
        }
        Self { rows: which.len(), cols: self.cols, storage: Storage::Owned(Arc::new(data)) }
    }

    /// Refuses the first value that is not finite, by row and column.
    pub fn check_finite(&self) -> Result<()> {
        match self.data().iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(at) => Err(Fault::NotFinite(self.data()[at]).at(at / self.cols, at % self.cols)),
        }
    }
}

impl std::fmt::Debug for Matrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Matrix({} x {})", self.rows, self.cols)
    }
}

impl PartialEq for Matrix {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows && self.cols == other.cols && self.data() == other.data()
    }
}
