//! NumPy's `.npy`: a magic number, a small Python dictionary, then the numbers.
//!
//! By hand: `npyz` brings a generator of parsers and big integers for this dictionary, and says in its own words what is wrong.

use crate::error::{Error, Result};
use crate::input::Input;
use crate::raw::{Dtype, Raw, RawShape, Scalar};
use crate::select::ReadOptions;
use std::io::Read;

const FORMAT: &str = "npy";

/// No writer makes a longer header for a plain array.
const LONGEST_HEADER: u64 = 1 << 20;

/// What an npy header says.
pub(crate) struct NpyHeader {
    pub(crate) items: Items,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// Bytes before the first item.
    pub(crate) length: u64,
}

/// What an array is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Items {
    Number(Dtype),
    /// Text of so many 32-bit characters.
    Unicode {
        chars: usize,
        big_endian: bool,
    },
    /// Text of so many bytes.
    Bytes(usize),
}

/// Opens a two-dimensional array of numbers.
pub(crate) fn open(mut input: Input, options: &ReadOptions) -> Result<Raw> {
    let header = read_header(&mut input)?;
    let unsuitable = |problem: String| Error::Unsuitable { file: input.file.clone(), problem };
    let &[rows, cols] = header.shape.as_slice() else {
        let count = header.shape.len();
        return Err(unsuitable(format!(
            "holds a {count}-dimensional array; reshape it to 2 dimensions, rows and columns"
        )));
    };
    let Items::Number(dtype) = header.items else {
        return Err(unsuitable("holds text; save an array of numbers".to_owned()));
    };
    let shape = RawShape { dtype, rows, cols, fortran: header.fortran };
    Raw::new(input, FORMAT, header.length, shape, options)
}

/// Reads all that stands before the first item.
pub(crate) fn read_header(input: &mut Input) -> Result<NpyHeader> {
    let damaged = |file: &str, problem: &str| Error::Damaged {
        file: file.to_owned(),
        format: FORMAT,
        problem: problem.to_owned(),
    };
    let start = read_part(input, 8)?;
    let (magic, version) = start.split_at(start.len().min(6));
    if magic != b"\x93NUMPY" {
        return Err(damaged(&input.file, "it does not start as one"));
    }
    let length_bytes = match version {
        [1, _] => 2,
        [2 | 3, _] => 4,
        _ => return Err(damaged(&input.file, "only versions 1, 2 and 3 of the format are known")),
    };
    let length = read_part(input, length_bytes)?;
    let length = length.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    let text = read_part(input, length.min(LONGEST_HEADER))?;
    if (text.len() as u64) < length {
        return Err(damaged(&input.file, "it breaks off in its header"));
    }
    let text = String::from_utf8_lossy(&text);
    let unreadable = || {
        damaged(
            &input.file,
            "its header is not the dictionary of descr, fortran_order and shape that it should be",
        )
    };
    let fortran = match value(&text, "fortran_order").ok_or_else(unreadable)? {
        order if order.starts_with("True") => true,
        order if order.starts_with("False") => false,
        _ => return Err(unreadable()),
    };
    let shape = shape(value(&text, "shape").ok_or_else(unreadable)?).ok_or_else(unreadable)?;
    let descr = value(&text, "descr").ok_or_else(unreadable)?;
    let items = items(descr).ok_or_else(|| Error::Unsuitable {
        file: input.file.clone(),
        problem: format!("holds items of type {}; save it with a real number type", shown(descr)),
    })?;
    Ok(NpyHeader { items, fortran, shape, length: 8 + length_bytes + length })
}

/// Up to `count` bytes, fewer at the end of the file.
fn read_part(input: &mut Input, count: u64) -> Result<Vec<u8>> {
    let mut part = Vec::new();
    input.reader.by_ref().take(count).read_to_end(&mut part).map_err(|source| input.io(source))?;
    Ok(part)
}

/// The text that follows `key` and its colon.
fn value<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let after = header.find(key)? + key.len();
    let rest = header.get(after..)?.strip_prefix(['\'', '"'])?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

/// `(3, 4)`, also with Python 2's `3L`.
fn shape(text: &str) -> Option<Vec<usize>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let parts = inside.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.trim_end_matches('L').parse().ok()).collect()
}

/// `'<f4'` and its kin.
fn items(descr: &str) -> Option<Items> {
    let (inside, _) = descr.strip_prefix(['\'', '"'])?.split_once(['\'', '"'])?;
    let (order, rest) = inside.split_at_checked(1)?;
    let (kind, size) = rest.split_at_checked(1)?;
    let size: usize = size.parse().ok()?;
    let big_endian = match order {
        "<" | "|" => false,
        ">" => true,
        "=" => cfg!(target_endian = "big"),
        _ => return None,
    };
    let scalar = match (kind, size) {
        ("b", 1) => Scalar::Bool,
        ("i", 1) => Scalar::I8,
        ("i", 2) => Scalar::I16,
        ("i", 4) => Scalar::I32,
        ("i", 8) => Scalar::I64,
        ("u", 1) => Scalar::U8,
        ("u", 2) => Scalar::U16,
        ("u", 4) => Scalar::U32,
        ("u", 8) => Scalar::U64,
        ("f", 2) => Scalar::F16,
        ("f", 4) => Scalar::F32,
        ("f", 8) => Scalar::F64,
        ("U", chars) => return Some(Items::Unicode { chars, big_endian }),
        ("S" | "a", bytes) => return Some(Items::Bytes(bytes)),
        _ => return None,
    };
    Some(Items::Number(Dtype { scalar, big_endian }))
}

/// The type as the header writes it, shortened, for messages.
fn shown(descr: &str) -> String {
    let quoted = descr.strip_prefix(['\'', '"']).and_then(|rest| rest.split_once(['\'', '"']));
    match quoted {
        Some((inside, _)) => crate::error::shorten(inside),
        None => "record".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_dictionary_as_every_numpy_wrote_it() {
        let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 4L), }   \n";
        assert_eq!(value(header, "shape").and_then(shape), Some(vec![3, 4]));
        assert_eq!(value("{\"shape\":(5,)}", "shape").and_then(shape), Some(vec![5]));
        assert_eq!(value("{'shape': ()}", "shape").and_then(shape), Some(vec![]));
        assert_eq!(value("{'shape': (-1, 2)}", "shape").and_then(shape), None);
        assert_eq!(
            value(header, "descr").and_then(items),
            Some(Items::Number(Dtype { scalar: Scalar::F64, big_endian: false }))
        );
        assert_eq!(items("'>U12'"), Some(Items::Unicode { chars: 12, big_endian: true }));
        assert_eq!(items("'<c16'"), None);
        assert_eq!(items("[('a', '<f4')]"), None);
    }
}
