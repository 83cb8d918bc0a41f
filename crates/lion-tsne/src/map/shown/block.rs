//! One block of a shown column: some rows, compressed together. docs/format.md has its bytes.

use super::{ShownKind, ShownValues};
use crate::error::{Error, Result};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read, Write};
use std::ops::Range;

/// So many bytes are compressed together: enough to compress well, and decoded in less than a frame.
const BLOCK_BYTES: usize = 1 << 16;
/// The most rows of a block.
const MOST_ROWS: usize = 1024;
/// Deflate makes at most so many bytes of one (a match of 258 bytes takes two bits at least).
const MOST_EXPANSION: u64 = 1032;
/// The length of a missing value.
const MISSING: u32 = u32::MAX;

/// How many rows of these values make a block.
pub(super) fn rows_in_block(values: &ShownValues) -> usize {
    let bytes: usize = match values {
        ShownValues::Text(texts) => texts.iter().flatten().map(String::len).sum(),
        ShownValues::Number(numbers) => 8 * numbers.len(),
        ShownValues::Image(images) => images.iter().flatten().map(Vec::len).sum(),
    };
    let mean = bytes / values.len().max(1);
    (BLOCK_BYTES / mean.max(1)).clamp(1, MOST_ROWS)
}

/// The length of a block before it is compressed, and the block.
pub(super) fn pack(values: &ShownValues, rows: Range<usize>) -> Result<(u64, Vec<u8>)> {
    let bytes = match values {
        ShownValues::Number(numbers) => numbers[rows]
            .iter()
            .flat_map(|number| number.filter(|value| value.is_finite()).unwrap_or(f64::NAN).to_le_bytes())
            .collect(),
        ShownValues::Text(texts) => join(texts[rows].iter().map(|text| text.as_deref().map(str::as_bytes)))?,
        ShownValues::Image(images) => join(images[rows].iter().map(Option::as_deref))?,
    };
    // Images are compressed already.
    let level = if values.kind() == ShownKind::Image { Compression::none() } else { Compression::default() };
    let mut encoder = DeflateEncoder::new(Vec::new(), level);
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
    let packed =
        packed.map_err(|error| Error::Data(format!("shown values cannot be compressed: {error}")))?;
    Ok((bytes.len() as u64, packed))
}

/// The length of each value, and then the values.
fn join<'a>(values: impl Iterator<Item = Option<&'a [u8]>> + Clone) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for value in values.clone() {
        let length = match value.map(|value| u32::try_from(value.len())) {
            None => MISSING,
            Some(Ok(length)) if length != MISSING => length,
            Some(_) => return Err(Error::Data("a shown value has more than 4 GB".into())),
        };
        bytes.extend(length.to_le_bytes());
    }
    values.flatten().for_each(|value| bytes.extend_from_slice(value));
    Ok(bytes)
}

/// The values of a block that says to hold so many bytes and must hold so many rows; else what is wrong with it.
pub(super) fn unpack(
    packed: &[u8],
    length: u64,
    kind: ShownKind,
    rows: usize,
) -> std::result::Result<ShownValues, &'static str> {
    // What is allocated is in proportion to the bytes that are there, whatever they claim.
    if length > (packed.len() as u64).saturating_mul(MOST_EXPANSION) {
        return Err("it claims more bytes than it can hold");
    }
    let mut bytes = Vec::with_capacity(length as usize);
    let read = DeflateDecoder::new(packed).take(length + 1).read_to_end(&mut bytes);
    if read.is_err() || bytes.len() as u64 != length {
        return Err("it cannot be decompressed");
    }
    match kind {
        ShownKind::Number => {
            let (numbers, rest) = bytes.as_chunks::<8>();
            if numbers.len() != rows || !rest.is_empty() {
                return Err("it has another number of values");
            }
            let number = |bytes: &[u8; 8]| Some(f64::from_le_bytes(*bytes)).filter(|value| value.is_finite());
            Ok(ShownValues::Number(numbers.iter().map(number).collect()))
        }
        ShownKind::Text => split(&bytes, rows)?
            .into_iter()
            .map(|value| value.map(|value| String::from_utf8(value.to_vec())).transpose())
            .collect::<std::result::Result<_, _>>()
            .map(ShownValues::Text)
            .map_err(|_| "its text is not UTF-8"),
        ShownKind::Image => {
            let values = split(&bytes, rows)?;
            Ok(ShownValues::Image(values.into_iter().map(|value| value.map(<[u8]>::to_vec)).collect()))
        }
    }
}

/// The values that `join` joined.
fn split(bytes: &[u8], rows: usize) -> std::result::Result<Vec<Option<&[u8]>>, &'static str> {
    const PROBLEM: &str = "its lengths do not fit";
    let lengths = rows.checked_mul(4).and_then(|end| bytes.split_at_checked(end));
    let (lengths, mut rest) = lengths.ok_or(PROBLEM)?;
    let mut values = Vec::with_capacity(rows);
    for length in lengths.as_chunks::<4>().0 {
        let length = u32::from_le_bytes(*length);
        if length == MISSING {
            values.push(None);
            continue;
        }
        let (value, after) = rest.split_at_checked(length as usize).ok_or(PROBLEM)?;
        values.push(Some(value));
        rest = after;
    }
    if rest.is_empty() { Ok(values) } else { Err(PROBLEM) }
}
