//! Arrow IPC, file and stream: both are messages one after the other, and are read as such, front to back.
//!
//! The decoder of `arrow-ipc` trusts the lengths in a message, so they are checked here before it sees them.

use crate::columnar::{Columnar, ColumnarCells, Decoder, cell_columns, has_values, select};
use crate::error::{Error, Result};
use crate::guard::guarded;
use crate::in_memory;
use crate::input::Input;
use crate::select::ReadOptions;
use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, Field, Message, MessageHeader, MetadataVersion, Type, root_as_message};
use arrow_schema::SchemaRef;
use std::io::Read;
use std::sync::Arc;

const CONTINUATION: [u8; 4] = [0xff; 4];

const LARGEST_ALIGNMENT: usize = 128;

/// Opens a table of numbers.
pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<Columnar<Messages>> {
    let (file, gauge) = (input.file.clone(), input.gauge.clone());
    let (schema, messages) = messages(input)?;
    let (columns, selection) = select(&file, &schema, options)?;
    Columnar::new(file, messages, gauge, &columns, selection)
}

/// Opens a table of cells.
pub(crate) fn cells(input: Input) -> Result<ColumnarCells<Messages>> {
    let (file, gauge) = (input.file.clone(), input.gauge.clone());
    let (schema, messages) = messages(input)?;
    let columns = cell_columns(&schema);
    let places = columns.iter().enumerate().map(|(at, column)| has_values(column).then_some(at)).collect();
    Ok(ColumnarCells::new(file, messages, gauge, columns, places, None))
}

/// What an Arrow stream or file says of itself: known before any of its values is decoded or decompressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// The rows of all its batches.
    pub rows: u64,
    /// The bytes of all its values once they are decompressed.
    pub bytes: u64,
}

/// Goes through the messages of an Arrow stream or file in memory without decoding them.
///
/// Whoever takes bytes from strangers learns here what decoding would cost: a few compressed bytes may claim to
/// become many, and a batch without a single value may have any number of rows.
pub fn outline(bytes: &[u8]) -> Result<Outline> {
    let (schema, mut messages) = messages(in_memory(bytes, None)?)?;
    let columns = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut outline = Outline { columns, rows: 0, bytes: 0 };
    while let Some(raw) = RawMessage::read(&mut messages.input)? {
        let message = raw.message(&messages.input.file)?;
        if !is_sound(&message, raw.body()) {
            return Err(damaged(&messages.input.file, "a message promises more than it holds"));
        }
        if let Some(batch) = message.header_as_record_batch() {
            outline.rows = outline.rows.saturating_add(u64::try_from(batch.length()).unwrap_or(u64::MAX));
        }
        outline.bytes = outline.bytes.saturating_add(decompressed(&message, raw.body()));
    }
    Ok(outline)
}

/// The bytes of a batch's values once they are decompressed.
fn decompressed(message: &Message<'_>, body: &[u8]) -> u64 {
    let Some(batch) = batch_of(message).filter(|batch| batch.compression().is_some()) else {
        return body.len() as u64;
    };
    let claims = parts(&batch, body).map(|part| {
        let part = part.unwrap_or_default();
        // A part that compression would only lengthen stands as it is, with -1 before it.
        claim(part).and_then(|claim| u64::try_from(claim).ok()).unwrap_or(part.len() as u64)
    });
    claims.fold(0, u64::saturating_add)
}

/// Opens a file or stream whose first message is its schema.
pub(crate) fn messages(mut input: Input) -> Result<(SchemaRef, Messages)> {
    let head = input.head()?;
    if head.starts_with(b"FEA1") {
        let problem = "is of version 1 of the Feather format; write it again as version 2".to_owned();
        return Err(Error::Unsuitable { file: input.file, problem });
    }
    if head.starts_with(b"ARROW1") {
        take(&mut input, 8)?;
        // Writers fill up with zeros to whatever alignment they keep.
        for _ in 0..LARGEST_ALIGNMENT / 8 {
            if input.head()? != [0; 8] {
                break;
            }
            take(&mut input, 8)?;
        }
    }
    let file = input.file.clone();
    let Some(first) = RawMessage::read(&mut input)? else { return Err(damaged(&file, "it has no schema")) };
    let message = first.message(&file)?;
    let Some(schema) = message.header_as_schema() else { return Err(damaged(&file, "it has no schema")) };
    let fields = schema.fields().ok_or_else(|| damaged(&file, "its schema has no columns"))?;
    if let Some(field) = fields.iter().find(|field| !is_known(field, 0)) {
        let problem =
            format!("has a column {} of a type that is not known here", field.name().unwrap_or("?"));
        return Err(Error::Unsuitable { file, problem });
    }
    let schema =
        guarded(|| Ok::<_, String>(fb_to_schema(schema))).map_err(|problem| damaged(&file, problem))?;
    let schema = Arc::new(schema);
    // V1 stands for any version: the messages of one file all have the same.
    let decoder = FileDecoder::new(Arc::clone(&schema), MetadataVersion::V1);
    Ok((schema, Messages { input, decoder, ended: false }))
}

/// The messages after the schema.
pub(crate) struct Messages {
    input: Input,
    decoder: FileDecoder,
    /// The end was seen; what a file has after it, its footer, is no message.
    ended: bool,
}

impl Decoder for Messages {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let file = self.input.file.clone();
        while !self.ended {
            let Some(raw) = RawMessage::read(&mut self.input)? else {
                self.ended = true;
                break;
            };
            let message = raw.message(&file)?;
            let kind = message.header_type();
            if !is_sound(&message, raw.body()) {
                return Err(damaged(&file, "a message promises more than it holds"));
            }
            if let Some(rows) = rows_without_values(&message, raw.body()) {
                let problem = format!("claims {rows} rows and has no values for them");
                return Err(Error::Unsuitable { file, problem });
            }
            let (block, bytes) = raw.into_block();
            let decoded = guarded(|| match kind {
                MessageHeader::DictionaryBatch => self.decoder.read_dictionary(&block, &bytes).map(|()| None),
                _ => self.decoder.read_record_batch(&block, &bytes),
            });
            if let Some(batch) = decoded.map_err(|problem| damaged(&file, problem))? {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

/// A message with its body, as it stands in the file.
struct RawMessage {
    /// Continuation mark, length of the metadata, metadata, body.
    bytes: Vec<u8>,
    /// Where the body starts.
    body: usize,
}

impl RawMessage {
    /// The next message, or nothing at the end.
    fn read(input: &mut Input) -> Result<Option<Self>> {
        let broken = |input: &Input| damaged(&input.file, "it breaks off before its end");
        let mut start = take(input, 4)?;
        if start == CONTINUATION {
            start = take(input, 4)?;
        }
        let length = match <[u8; 4]>::try_from(start.as_slice()) {
            Ok(length) => i32::from_le_bytes(length),
            Err(_) if start.is_empty() => 0,
            Err(_) => return Err(broken(input)),
        };
        if length == 0 {
            return Ok(None);
        }
        let length =
            u64::try_from(length).map_err(|_| damaged(&input.file, "a message has a negative length"))?;
        let mut bytes = CONTINUATION.to_vec();
        bytes.extend_from_slice(&start);
        append(input, length, &mut bytes)?;
        let metadata = bytes.get(8..).unwrap_or_default();
        if (metadata.len() as u64) < length {
            return Err(broken(input));
        }
        let body_length = parse(&input.file, metadata)?.bodyLength();
        let wanted = u64::try_from(body_length)
            .map_err(|_| damaged(&input.file, "a message has a negative length"))?;
        let body = bytes.len();
        append(input, wanted, &mut bytes)?;
        if ((bytes.len() - body) as u64) < wanted {
            return Err(broken(input));
        }
        Ok(Some(Self { bytes, body }))
    }

    fn message(&self, file: &str) -> Result<Message<'_>> {
        parse(file, self.bytes.get(8..self.body).unwrap_or_default())
    }

    fn body(&self) -> &[u8] {
        self.bytes.get(self.body..).unwrap_or_default()
    }

    /// The form in which the decoder takes it.
    fn into_block(self) -> (Block, Buffer) {
        let body = self.bytes.len() - self.body;
        // The metadata's length was an i32 in the file; the 8 bytes before it may just exceed one.
        let metadata = i32::try_from(self.body).unwrap_or(i32::MAX);
        (Block::new(0, metadata, body as i64), Buffer::from_vec(self.bytes))
    }
}

fn parse<'a>(file: &str, metadata: &'a [u8]) -> Result<Message<'a>> {
    root_as_message(metadata).map_err(|_| damaged(file, "a message is altered"))
}

/// Up to `count` bytes, fewer at the end of the input.
fn take(input: &mut Input, count: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    append(input, count, &mut bytes)?;
    Ok(bytes)
}

/// Adds up to `count` bytes: the memory grows with what is there, not with what is promised.
fn append(input: &mut Input, count: u64, bytes: &mut Vec<u8>) -> Result<()> {
    let surely = count.min(input.size.unwrap_or(0)).min(1 << 30);
    bytes.reserve_exact(usize::try_from(surely).unwrap_or(0));
    let read = input.reader.by_ref().take(count).read_to_end(bytes);
    read.map(drop).map_err(|source| input.io(source))
}

/// Whether every length in a batch lies within its body, and no compressed part claims to grow more than its
/// codec can make it grow.
fn is_sound(message: &Message<'_>, body: &[u8]) -> bool {
    let Some(batch) = batch_of(message) else { return false };
    let nodes = batch.nodes().into_iter().flatten();
    let lengths = nodes.map(|node| (node.length(), node.null_count())).chain([(batch.length(), 0)]);
    let growth = batch.compression().map(|compression| match compression.codec() {
        arrow_ipc::CompressionType::LZ4_FRAME => 256,
        _ => 40_000,
    });
    let within = parts(&batch, body).all(|part| match (part, growth) {
        (None, _) => false,
        (Some(part), Some(growth)) => claim(part).is_none_or(|claim| claim / growth <= part.len() as i64),
        (Some(_), None) => true,
    });
    within && lengths.into_iter().all(|(length, nulls)| 0 <= nulls && (nulls <= length || length == 0))
}

/// Rows without a value that are quick to look through.
const FEW_EMPTY_ROWS: i64 = 1 << 20;

/// The rows of a batch, if they are many and have not even a bit each: without columns, or with nothing but gaps in them, a batch
/// may claim any number.
fn rows_without_values(message: &Message<'_>, body: &[u8]) -> Option<i64> {
    let rows = message.header_as_record_batch()?.length();
    let bits = decompressed(message, body).saturating_mul(8);
    (rows > FEW_EMPTY_ROWS && rows as u64 > bits).then_some(rows)
}

/// The batch of a message, be it of rows or of a dictionary's values.
fn batch_of<'a>(message: &Message<'a>) -> Option<arrow_ipc::RecordBatch<'a>> {
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    message.header_as_record_batch().or(dictionary)
}

/// The buffers of a batch within its body; nothing for one that lies outside.
fn parts<'a>(
    batch: &arrow_ipc::RecordBatch<'a>,
    body: &'a [u8],
) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
    batch.buffers().into_iter().flatten().map(|buffer| {
        let start = usize::try_from(buffer.offset()).ok()?;
        body.get(start..start.checked_add(usize::try_from(buffer.length()).ok()?)?)
    })
}

/// The length after decompression that a compressed part begins with.
fn claim(part: &[u8]) -> Option<i64> {
    part.first_chunk().map(|length| i64::from_le_bytes(*length))
}

/// Whether `arrow-ipc` can convert the type of a field; it has no error for one that it cannot.
fn is_known(field: &Field<'_>, depth: usize) -> bool {
    let children = field.children().map_or(0, |children| children.len());
    let plain = |width: i32| matches!(width, 8 | 16 | 32 | 64);
    let own = match field.type_type() {
        Type::Null | Type::Binary | Type::LargeBinary | Type::BinaryView => true,
        Type::Utf8 | Type::LargeUtf8 | Type::Utf8View | Type::Bool => true,
        Type::FixedSizeBinary | Type::Struct_ => true,
        Type::Int => field.type_as_int().is_some_and(|int| plain(int.bitWidth())),
        Type::FloatingPoint => {
            field.type_as_floating_point().is_some_and(|float| float.precision().variant_name().is_some())
        }
        Type::Decimal => {
            field.type_as_decimal().is_some_and(|decimal| matches!(decimal.bitWidth(), 32 | 64 | 128 | 256))
        }
        Type::Date => field.type_as_date().is_some_and(|date| date.unit().variant_name().is_some()),
        Type::Time => field.type_as_time().is_some_and(|time| match time.bitWidth() {
            32 => matches!(time.unit(), arrow_ipc::TimeUnit::SECOND | arrow_ipc::TimeUnit::MILLISECOND),
            64 => matches!(time.unit(), arrow_ipc::TimeUnit::MICROSECOND | arrow_ipc::TimeUnit::NANOSECOND),
            _ => false,
        }),
        Type::Timestamp => field.type_as_timestamp().is_some_and(|time| time.unit().variant_name().is_some()),
        Type::Duration => field.type_as_duration().is_some_and(|time| time.unit().variant_name().is_some()),
        Type::Interval => field.type_as_interval().is_some_and(|time| time.unit().variant_name().is_some()),
        Type::List | Type::LargeList | Type::Map => children == 1,
        Type::FixedSizeList => {
            children == 1 && field.type_as_fixed_size_list().is_some_and(|list| list.listSize() >= 0)
        }
        _ => false,
    };
    own && depth < 64
        && field.dictionary().is_none_or(|keys| keys.indexType().is_some_and(|int| plain(int.bitWidth())))
        && field.children().into_iter().flatten().all(|child| is_known(&child, depth + 1))
}

fn damaged(file: &str, problem: impl ToString) -> Error {
    Error::Damaged { file: file.to_owned(), format: "Arrow", problem: problem.to_string() }
}
