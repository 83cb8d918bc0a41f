//! One label per row, from a file of its own.

use crate::delimited::{bare_returns, has_bare_returns};
use crate::encoding::check_line;
use crate::error::{CellAddress, Error, Result, shorten};
use crate::idx;
use crate::input::{Format, Input, open_file};
use crate::npy::{self, Items};
use crate::raw::Dtype;
use crate::table::whole;
use std::io::{BufRead, Cursor, Read};
use std::path::Path;

/// Reads one label per row: a one-dimensional npy array of numbers or text, an `idx1-ubyte` file, or a text
/// file with one label per line. Whole numbers read as such: both `7` and `7.0` are `"7"`.
///
/// The first line of a text file is a header if it is one of `label`, `labels`, `class`, `target` or `y`, or if
/// it is no number and all lines after it are. A line may be quoted as in CSV; an empty line is the empty label.
pub fn read_labels(path: &Path) -> Result<Vec<String>> {
    let (file, opened, size) = open_file(path)?;
    let mut input = Input::new(file, opened, size)?;
    let format = match Format::of_name(path) {
        Some(format) => format,
        None => Format::of_content(&input.head()?)
            .ok_or_else(|| Error::UnknownFormat { file: input.file.clone() })?,
    };
    labels(input, format)
}

/// Reads labels of a known format ([`Format::Csv`] is a text file) from memory; gzip is recognised.
pub fn parse_labels(bytes: &[u8], format: Format) -> Result<Vec<String>> {
    let size = bytes.len() as u64;
    labels(Input::new("the given bytes".to_owned(), Cursor::new(bytes.to_vec()), Some(size))?, format)
}

fn labels(input: Input, format: Format) -> Result<Vec<String>> {
    let file = input.file.clone();
    let labels = match format {
        Format::Npy => npy_labels(input)?,
        Format::Idx => idx_labels(input)?,
        Format::Csv => text_labels(input)?,
        Format::Parquet | Format::Arrow | Format::Jsonl | Format::Json => {
            let problem = "is not a file of labels alone; use .npy, …-idx1-ubyte, .csv or .txt".to_owned();
            return Err(Error::Unsuitable { file, problem });
        }
    };
    if labels.is_empty() { Err(Error::Empty { file }) } else { Ok(labels) }
}

fn npy_labels(mut input: Input) -> Result<Vec<String>> {
    let header = npy::read_header(&mut input)?;
    // One column is as good as none: the labels come one after the other.
    let (&[count] | &[count, 1]) = header.shape.as_slice() else {
        return Err(wrong_dimensions(input.file, header.shape.len()));
    };
    match header.items {
        Items::Number(dtype) => items(input, "npy", count, dtype.size(), |item| number_label(dtype, item)),
        Items::Bytes(size) => items(input, "npy", count, size, bytes_label),
        Items::Unicode { chars, big_endian } => {
            items(input, "npy", count, chars.saturating_mul(4), |item| unicode_label(item, big_endian))
        }
    }
}

fn idx_labels(mut input: Input) -> Result<Vec<String>> {
    let header = idx::read_header(&mut input)?;
    let &[count] = header.shape.as_slice() else {
        return Err(wrong_dimensions(input.file, header.shape.len()));
    };
    let dtype = header.dtype;
    items(input, "IDX", count, dtype.size(), |item| number_label(dtype, item))
}

fn wrong_dimensions(file: String, count: usize) -> Error {
    let problem = format!("holds a {count}-dimensional array; labels have 1 dimension, one label per row");
    Error::Unsuitable { file, problem }
}

fn number_label(dtype: Dtype, item: &[u8]) -> String {
    dtype.text(item).unwrap_or_default()
}

fn bytes_label(item: &[u8]) -> String {
    let end = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    String::from_utf8_lossy(item.get(..end).unwrap_or_default()).into_owned()
}

fn unicode_label(item: &[u8], big_endian: bool) -> String {
    let (characters, _) = item.as_chunks::<4>();
    let code = |&part| if big_endian { u32::from_be_bytes(part) } else { u32::from_le_bytes(part) };
    let text: String = characters
        .iter()
        .map(|part| char::from_u32(code(part)).unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    text.trim_end_matches('\0').to_owned()
}

/// Reads `count` items of `size` bytes; nothing is set aside for items that are only promised.
fn items(
    mut input: Input,
    format: &'static str,
    count: usize,
    size: usize,
    text: impl Fn(&[u8]) -> String,
) -> Result<Vec<String>> {
    let broken = |file: String| {
        let problem = format!("its header promises {count} labels, more than the file holds");
        Error::Damaged { file, format, problem }
    };
    if size == 0 && count > 0 {
        let problem = "holds labels without any characters".to_owned();
        return Err(Error::Unsuitable { file: input.file, problem });
    }
    let mut labels = Vec::new();
    let mut item = Vec::new();
    for _ in 0..count {
        item.clear();
        let read = input.reader.by_ref().take(size as u64).read_to_end(&mut item);
        if read.map_err(|source| input.io(source))? < size {
            return Err(broken(input.file));
        }
        labels.push(text(&item));
    }
    let left = input.finish()?;
    if left > 0 && format == "IDX" {
        let bytes = if left == 1 { "1 byte follows".to_owned() } else { format!("{left} bytes follow") };
        let problem = format!("{bytes} the {count} labels that its header promises");
        return Err(Error::Damaged { file: input.file, format, problem });
    }
    Ok(labels)
}

fn text_labels(mut input: Input) -> Result<Vec<String>> {
    input.refuse_binary()?;
    let mut labels = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.reader.read_until(b'\n', &mut line).map_err(|source| input.io(source))? == 0 {
            break;
        }
        check_line(&line, labels.len() as u64 + 1).map_err(|source| input.io(source))?;
        if has_bare_returns(&line) {
            return Err(bare_returns(input.file));
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_start_matches('\u{feff}').trim();
        labels.push(unquoted(text).ok_or_else(|| {
            let row = CellAddress {
                file: input.file.clone(),
                row: labels.len() - usize::from(is_header(&labels)),
                line: Some(labels.len() as u64 + 1),
                column: String::new(),
            };
            Error::SeveralLabels { row, value: shorten(text) }
        })?);
    }
    while labels.last().is_some_and(String::is_empty) {
        labels.pop();
    }
    if is_header(&labels) {
        labels.remove(0);
    }
    Ok(labels.into_iter().map(whole).collect())
}

/// The text of a line of one CSV cell, or nothing if there are more.
fn unquoted(line: &str) -> Option<String> {
    match line.strip_prefix('"').and_then(|line| line.strip_suffix('"')) {
        Some(inside) => {
            let text = inside.replace("\"\"", "\u{0}");
            (!text.contains('"')).then(|| text.replace('\u{0}', "\""))
        }
        None => (!line.contains([',', '\t', ';'])).then(|| line.to_owned()),
    }
}

fn is_header(labels: &[String]) -> bool {
    let Some((first, rest)) = labels.split_first() else { return false };
    let is_number = |label: &String| label.parse::<f64>().is_ok();
    let usual = ["label", "labels", "class", "target", "y"];
    usual.iter().any(|name| first.eq_ignore_ascii_case(name))
        || !is_number(first) && !rest.is_empty() && rest.iter().all(is_number)
}
