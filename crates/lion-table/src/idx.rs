//! IDX, the format of MNIST: two zero bytes, a type, the sizes of the dimensions, then the numbers, all big-endian.

use crate::error::{Error, Result};
use crate::input::Input;
use crate::raw::{Dtype, Raw, RawShape, Scalar};
use crate::select::ReadOptions;
use std::io::Read;

const FORMAT: &str = "IDX";

/// What an IDX header says.
pub(crate) struct IdxHeader {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    /// Bytes before the first number.
    pub(crate) length: u64,
}

/// Opens images, or whatever has two dimensions and more: one row per item of the first.
pub(crate) fn open(mut input: Input, options: &ReadOptions) -> Result<Raw> {
    let header = read_header(&mut input)?;
    let (rows, inner) = match header.shape.as_slice() {
        [rows, inner @ ..] if !inner.is_empty() => (*rows, inner),
        _ => {
            let problem = "holds one number per row, as labels do; pass it with --labels".to_owned();
            return Err(Error::Unsuitable { file: input.file, problem });
        }
    };
    let Some(cols) = inner.iter().try_fold(1_usize, |product, &size| product.checked_mul(size)) else {
        return Err(damaged(&input.file, "its header promises rows longer than any file"));
    };
    let shape = RawShape { dtype: header.dtype, rows, cols, fortran: false };
    Ok(Raw::new(input, FORMAT, header.length, shape, options)?.of_items(inner))
}

/// Reads all that stands before the first number.
pub(crate) fn read_header(input: &mut Input) -> Result<IdxHeader> {
    let broken = |file: &str| damaged(file, "it breaks off in its header");
    let mut magic = [0; 4];
    read_part(input, &mut magic)?.ok_or_else(|| broken(&input.file))?;
    let [0, 0, kind, dimensions @ 1..=255] = magic else {
        return Err(damaged(&input.file, "it does not start as one"));
    };
    let scalar = match kind {
        0x08 => Scalar::U8,
        0x09 => Scalar::I8,
        0x0b => Scalar::I16,
        0x0c => Scalar::I32,
        0x0d => Scalar::F32,
        0x0e => Scalar::F64,
        _ => return Err(damaged(&input.file, "its header names no known type of number")),
    };
    let mut shape = Vec::new();
    for _ in 0..dimensions {
        let mut size = [0; 4];
        read_part(input, &mut size)?.ok_or_else(|| broken(&input.file))?;
        let size = usize::try_from(u32::from_be_bytes(size));
        shape.push(size.map_err(|_| damaged(&input.file, "its header promises more rows than any file"))?);
    }
    let length = 4 + 4 * u64::from(dimensions);
    Ok(IdxHeader { dtype: Dtype { scalar, big_endian: true }, shape, length })
}

/// Fills `part`, or nothing at the end of the file.
fn read_part(input: &mut Input, part: &mut [u8; 4]) -> Result<Option<()>> {
    let mut read = Vec::with_capacity(4);
    input.reader.by_ref().take(4).read_to_end(&mut read).map_err(|source| input.io(source))?;
    Ok(read.try_into().ok().map(|read: [u8; 4]| *part = read))
}

fn damaged(file: &str, problem: &str) -> Error {
    Error::Damaged { file: file.to_owned(), format: FORMAT, problem: problem.to_owned() }
}
