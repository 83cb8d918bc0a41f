//! npy: some columns side by side, as a two-dimensional array of 32-bit floats.

use super::Encoder;
use super::destination::Destination;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float32Type;
use std::io::{self, Write};

/// The length of the header whatever the number of rows, which is known only in the end. Like NumPy's own, it is a
/// multiple of 64.
const HEADER: usize = 128;

pub(super) struct Npy {
    destination: Destination,
    /// The positions of the columns to write.
    columns: Vec<usize>,
    rows: u64,
}

impl Npy {
    pub(super) fn new(mut destination: Destination, columns: Vec<usize>) -> io::Result<Self> {
        destination.write_all(&header(0, columns.len()))?;
        Ok(Self { destination, columns, rows: 0 })
    }
}

impl Encoder for Npy {
    fn chunk(&mut self, chunk: &RecordBatch) -> io::Result<()> {
        let columns: Vec<_> =
            self.columns.iter().map(|&c| chunk.column(c).as_primitive::<Float32Type>().values()).collect();
        let mut bytes = Vec::with_capacity(chunk.num_rows() * columns.len() * 4);
        for row in 0..chunk.num_rows() {
            columns.iter().for_each(|values| bytes.extend(values[row].to_le_bytes()));
        }
        self.rows += chunk.num_rows() as u64;
        self.destination.write_all(&bytes)
    }

    fn finish(mut self: Box<Self>) -> io::Result<Destination> {
        self.destination.rewrite_start(&header(self.rows, self.columns.len()))?;
        Ok(self.destination)
    }
}

fn header(rows: u64, cols: usize) -> Vec<u8> {
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((HEADER as u16 - 10).to_le_bytes());
    header.extend(
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}").into_bytes(),
    );
    header.resize(HEADER - 1, b' ');
    header.push(b'\n');
    header
}
