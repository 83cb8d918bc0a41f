//! Opening a file: what it is called, what format it has, how large it is, whether it is compressed.

use crate::encoding::other_encoding;
use crate::error::{Error, Result};
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The formats that a table can be read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// NumPy's array file.
    Npy,
    /// Values with commas, tabs or semicolons between them, as the first records show.
    Csv,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file (also called Feather) or stream.
    Arrow,
    /// One JSON object or array per line.
    Jsonl,
    /// One JSON array of objects or arrays.
    Json,
    /// IDX, the format of MNIST.
    Idx,
}

impl Format {
    /// The format that the name tells, with or without a final `.gz`.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        if name.ends_with("-ubyte") || name.ends_with(".idx") {
            return Some(Self::Idx);
        }
        match name.rsplit_once('.')?.1 {
            "npy" => Some(Self::Npy),
            "csv" | "tsv" | "txt" => Some(Self::Csv),
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Self::Arrow),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    /// The format that the first bytes tell.
    pub(crate) fn of_content(head: &[u8]) -> Option<Self> {
        match head {
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some(Self::Npy),
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => Some(Self::Arrow),
            [0, 0, 0x08..=0x0e, 1..=4, ..] => Some(Self::Idx),
            [b'{' | b'[', ..] => Some(Self::Jsonl),
            _ => None,
        }
    }
}

/// What some programs put before UTF-8 text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How much of an input has been taken, counted before decompression.
#[derive(Clone, Default)]
pub(crate) struct Gauge {
    read: Arc<AtomicU64>,
    size: Option<u64>,
}

impl Gauge {
    /// How many values the whole input will give, if `values` came from what has been read; a little more
    /// than the plain proportion, so that the usual file needs no second estimate.
    pub(crate) fn expected(&self, values: usize) -> Option<usize> {
        let (read, size) = (self.read.load(Relaxed), self.size?);
        if read == 0 || read >= size {
            return None;
        }
        Some((values as f64 * (size as f64 / read as f64) * 1.02) as usize)
    }
}

/// Bytes to parse, decompressed on the way, and the name to call them by in messages.
pub(crate) struct Input {
    pub(crate) file: String,
    pub(crate) reader: Box<dyn BufRead + Send>,
    pub(crate) gauge: Gauge,
    /// The number of bytes that `reader` gives, where that is known: of a plain file, not of a compressed one.
    pub(crate) size: Option<u64>,
}

impl Input {
    /// Wraps a reader of `size` raw bytes.
    pub(crate) fn new(file: String, raw: impl Read + Send + 'static, size: Option<u64>) -> Result<Self> {
        let gauge = Gauge { size, ..Gauge::default() };
        let counted = Counted { raw, read: Arc::clone(&gauge.read) };
        // A body of a request may be small, and a buffer is cleared before it is filled.
        let buffer =
            size.map_or(BUFFER, |size| usize::try_from(size).unwrap_or(BUFFER).clamp(LEAST_BUFFER, BUFFER));
        let mut raw = BufReader::with_capacity(buffer, counted);
        let mut head = Vec::new();
        raw.by_ref().take(2).read_to_end(&mut head).map_err(|source| io_error(&file, source))?;
        let compressed = head == [GZIP, 0x8b];
        let whole = Cursor::new(head).chain(raw);
        if !compressed {
            return Ok(Self { file, reader: Box::new(whole), gauge, size });
        }
        let plain = Members { now: Some(GzDecoder::new(whole)) };
        Ok(Self { file, reader: Box::new(BufReader::with_capacity(BUFFER, plain)), gauge, size: None })
    }

    /// The first bytes, up to 8, without taking them.
    pub(crate) fn head(&mut self) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        let reader = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        let mut limited = reader.take(8);
        limited.read_to_end(&mut head).map_err(|source| self.io(source))?;
        self.reader = Box::new(Cursor::new(head.clone()).chain(limited.into_inner()));
        Ok(head)
    }

    /// Refuses what is plainly no text, where text is about to be read.
    pub(crate) fn refuse_binary(&mut self) -> Result<()> {
        let (looks, ending) = match Format::of_content(&self.head()?) {
            Some(Format::Npy) => ("an npy file", ".npy"),
            Some(Format::Parquet) => ("a Parquet file", ".parquet"),
            Some(Format::Arrow) => ("an Arrow file", ".arrow"),
            Some(Format::Idx) => ("an IDX file", "-idx3-ubyte"),
            Some(Format::Csv | Format::Jsonl | Format::Json) | None => return Ok(()),
        };
        Err(Error::Misnamed { file: self.file.clone(), looks, ending })
    }

    /// Refuses text in another encoding that shows at its beginning.
    pub(crate) fn refuse_other_encoding(&mut self) -> Result<()> {
        let Some(encoding) = other_encoding(&self.head()?) else { return Ok(()) };
        let from = encoding.to_lowercase();
        let problem =
            format!("is {encoding} text; convert it to UTF-8, for example with: iconv -f {from} -t utf-8");
        Err(Error::Unsuitable { file: self.file.clone(), problem })
    }

    /// Reads what is left, so that a compressed stream that breaks off or was altered is found out; answers how much.
    pub(crate) fn finish(&mut self) -> Result<u64> {
        io::copy(&mut self.reader, &mut io::sink()).map_err(|source| self.io(source))
    }

    /// An error of the reader: a compressed stream that breaks off is damage, all else the system's refusal.
    pub(crate) fn io(&self, source: io::Error) -> Error {
        io_error(&self.file, source)
    }
}

pub(crate) fn io_error(file: &str, source: io::Error) -> Error {
    let damaged =
        |problem: &str| Error::Damaged { file: file.to_owned(), format: "gzip", problem: problem.to_owned() };
    match source.kind() {
        _ if source.get_ref().is_some_and(|inner| inner.is::<Trailing>()) => {
            damaged("other bytes follow the end of its compressed data")
        }
        io::ErrorKind::UnexpectedEof => damaged("it breaks off before its end"),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            damaged("its compressed data are altered")
        }
        _ => Error::Io { file: file.to_owned(), cause: source },
    }
}

/// Unpacks gzip files that stand one after another, as `cat a.gz b.gz` makes them.
struct Members<R> {
    /// The one that is being unpacked; none after the last.
    now: Option<GzDecoder<R>>,
}

/// After a gzip file comes something else.
#[derive(Debug, thiserror::Error)]
#[error("other bytes follow the end")]
struct Trailing;

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.now {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.now = match member.get_mut().fill_buf()?.first() {
                Some(&GZIP) => self.now.take().map(|member| GzDecoder::new(member.into_inner())),
                Some(_) => return Err(io::Error::other(Trailing)),
                None => None,
            };
        }
        Ok(0)
    }
}

/// The first byte of a gzip file.
const GZIP: u8 = 0x1f;

/// Large enough that the system call is lost in the parsing.
const BUFFER: usize = 256 << 10;

/// The buffer of what is small.
const LEAST_BUFFER: usize = 512;

/// A reader that counts.
struct Counted<R> {
    raw: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.raw.read(buffer)?;
        self.read.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
}

/// Opens a file for reading, with its size if it is a plain one (a pipe has none).
pub(crate) fn open_file(path: &Path) -> Result<(String, File, Option<u64>)> {
    let file = path.display().to_string();
    let refuse = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Error::NoSuchFile { file: file.clone() },
        _ => Error::Io { file: file.clone(), cause: source },
    };
    let opened = File::open(path).map_err(refuse)?;
    let meta = opened.metadata().map_err(refuse)?;
    if meta.is_dir() {
        return Err(Error::Directory { file });
    }
    let size = meta.is_file().then_some(meta.len());
    Ok((file, opened, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_of_any_size_gives_all_bytes() {
        for size in
            [0, 1, 2, LEAST_BUFFER - 1, LEAST_BUFFER, LEAST_BUFFER + 1, BUFFER - 1, BUFFER, BUFFER + 1]
        {
            let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            // A file may be longer than it was when its size was asked for.
            for told in [None, Some(size as u64), Some(1), Some(u64::MAX)] {
                let mut input = Input::new("a".into(), Cursor::new(bytes.clone()), told).unwrap();
                assert_eq!(input.head().unwrap(), bytes[..size.min(8)]);
                let mut read = Vec::new();
                input.reader.read_to_end(&mut read).unwrap();
                assert!(read == bytes, "{size} bytes, told as {told:?}");
            }
        }
    }
}
