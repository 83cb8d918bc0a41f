//! Named tensors and texts in one file: the safetensors layout, read strictly, with a checksum.
//!
//! The `safetensors` crate gives the types of the header, but the header itself is read and written here: the
//! crate writes its metadata in an order that changes from run to run, keeps the last of two tensors of one name,
//! and adds up the offsets of a hostile header without a check for overflow.

use safetensors::tensor::{Dtype, TensorInfo};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use xxhash_rust::xxh3::Xxh3;

/// The longest header that is read, in bytes. Ours are about two thousand.
const MAX_HEADER: u64 = 1 << 20;
const METADATA: &str = "__metadata__";
pub(super) const CHECKSUM: &str = "checksum";
/// The tensor whose bytes the checksum leaves out. Each of its blocks has a checksum of its own, in a tensor that is covered:
/// so opening a map does not read a million texts.
pub(super) const BLOCKS: &str = "shown.blocks";
const MAKE_AGAIN: &str = "make the map again, or take an unharmed copy";

/// One array.
pub(super) struct Tensor<'a> {
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<usize>,
    pub(super) bytes: Cow<'a, [u8]>,
}

/// What a file holds, by name.
pub(super) struct Archive<'a> {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tensors: BTreeMap<String, Tensor<'a>>,
}

impl<'a> Archive<'a> {
    /// Xxh3-128 over all metadata but the checksum, then all tensors, both in the order of their names, every
    /// part preceded by its length, but for the bytes of [`BLOCKS`]; 32 hexadecimal digits. docs/format.md spells it out.
    pub(super) fn checksum(&self) -> String {
        let mut hash = Xxh3::new();
        let number = |hash: &mut Xxh3, n: usize| hash.update(&(n as u64).to_le_bytes());
        let part = |hash: &mut Xxh3, bytes: &[u8]| {
            number(hash, bytes.len());
            hash.update(bytes);
        };
        let metadata: Vec<_> = self.metadata.iter().filter(|(key, _)| *key != CHECKSUM).collect();
        number(&mut hash, metadata.len());
        for (key, value) in metadata {
            part(&mut hash, key.as_bytes());
            part(&mut hash, value.as_bytes());
        }
        number(&mut hash, self.tensors.len());
        for (name, tensor) in &self.tensors {
            part(&mut hash, name.as_bytes());
            part(&mut hash, tensor.dtype.to_string().as_bytes());
            number(&mut hash, tensor.shape.len());
            tensor.shape.iter().for_each(|&side| number(&mut hash, side));
            part(&mut hash, if name == BLOCKS { &[] } else { &tensor.bytes });
        }
        format!("{:032x}", hash.digest128())
    }

    /// Sets the checksum, which `write` then writes, and returns it.
    pub(super) fn seal(&mut self) -> String {
        let checksum = self.checksum();
        self.metadata.insert(CHECKSUM.into(), checksum.clone());
        checksum
    }

    /// Everything before the tensors' bytes, and the tensors in the order in which they follow: the widest
    /// numbers first, so that each tensor begins at a multiple of its numbers' size.
    fn layout(&self) -> io::Result<(Vec<u8>, Vec<&Tensor<'a>>)> {
        let mut order: Vec<_> = self.tensors.iter().collect();
        order.sort_by_key(|(name, tensor)| (Reverse(tensor.dtype.bitsize()), *name));
        let mut header = format!("{{\"{METADATA}\":{}", serde_json::to_string(&self.metadata)?);
        let mut start = 0;
        for (name, tensor) in &order {
            let data_offsets = (start, start + tensor.bytes.len());
            let info = TensorInfo { dtype: tensor.dtype, shape: tensor.shape.clone(), data_offsets };
            header += &format!(",{}:{}", serde_json::to_string(name)?, serde_json::to_string(&info)?);
            start = data_offsets.1;
        }
        header.push('}');
        header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(8) - header.len()));
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.into_bytes());
        Ok((bytes, order.into_iter().map(|(_, tensor)| tensor).collect()))
    }

    /// Writes the file and returns its size.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<u64> {
        let (header, tensors) = self.layout()?;
        out.write_all(&header)?;
        let mut size = header.len();
        for tensor in tensors {
            out.write_all(&tensor.bytes)?;
            size += tensor.bytes.len();
        }
        Ok(size as u64)
    }

    /// Reads a file without copying its tensors. `accept` sees the metadata before anything else is judged, and
    /// may say that this is another kind of file altogether. Any answer but an archive is a sentence.
    pub(super) fn read(
        file: &'a [u8],
        accept: impl FnOnce(&BTreeMap<String, String>) -> Result<(), String>,
    ) -> Result<Self, String> {
        let (header, data) = split(file)?;
        let ArchiveHeader { metadata, tensors } = serde_json::from_slice(header)
            .map_err(|error| format!("the header of the file is damaged ({error}): {MAKE_AGAIN}"))?;
        accept(&metadata)?;
        check_cover(&tensors, data.len())?;
        let view = |info: TensorInfo| {
            let bytes = data.get(info.data_offsets.0..info.data_offsets.1)?;
            Some(Tensor { dtype: info.dtype, shape: info.shape, bytes: Cow::Borrowed(bytes) })
        };
        let tensors =
            tensors.into_iter().map(|(name, info)| Some((name, view(info)?))).collect::<Option<_>>();
        let archive = Self { metadata, tensors: tensors.ok_or("the tensors lie outside of the file")? };
        let checksum = archive.checksum();
        if archive.metadata.get(CHECKSUM) != Some(&checksum) {
            return Err(format!(
                "the file has been altered or damaged (its content has checksum {checksum}, not the one it names): {MAKE_AGAIN}"
            ));
        }
        Ok(archive)
    }
}

/// The JSON header and the tensors' bytes.
fn split(file: &[u8]) -> Result<(&[u8], &[u8]), String> {
    const WANTED: &str = "give a map file written by `lion fit`";
    if file.is_empty() {
        return Err(format!("the file is empty: {WANTED}"));
    }
    let Some((length, rest)) = file.split_first_chunk::<8>() else {
        return Err(format!("the file is too short to be a map file: {WANTED}"));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER || rest.first().is_some_and(|&first| first != b'{') {
        return Err(format!("this is not a map file: {WANTED}"));
    }
    rest.split_at_checked(length as usize)
        .ok_or_else(|| format!("the file is cut short, within its header: {MAKE_AGAIN}"))
}

/// Refuses tensors that overlap, leave holes, or do not end where the file does, and shapes that do not fit.
fn check_cover(tensors: &BTreeMap<String, TensorInfo>, available: usize) -> Result<(), String> {
    let mut order: Vec<_> = tensors.iter().collect();
    order.sort_by_key(|(_, info)| info.data_offsets);
    let mut end = 0;
    for (name, info) in order {
        let (start, stop) = info.data_offsets;
        if start != end || stop < start {
            return Err(format!(
                "the header of the file is damaged (tensor `{name}` overlaps another, or leaves a hole): {MAKE_AGAIN}"
            ));
        }
        let bits = info.shape.iter().try_fold(info.dtype.bitsize(), |bits, &side| bits.checked_mul(side));
        if bits != (stop - start).checked_mul(8) || bits.is_none() {
            return Err(format!(
                "the header of the file is damaged (tensor `{name}` has a shape that does not fit its bytes): {MAKE_AGAIN}"
            ));
        }
        end = stop;
    }
    match end.cmp(&available) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => {
            Err(format!("the file is cut short, {} bytes are missing: {MAKE_AGAIN}", end - available))
        }
        std::cmp::Ordering::Less => {
            Err(format!("the file has {} bytes after its end: {MAKE_AGAIN}", available - end))
        }
    }
}

/// The header as it stands, refused if any name is there twice.
struct ArchiveHeader {
    metadata: BTreeMap<String, String>,
    tensors: BTreeMap<String, TensorInfo>,
}

impl<'de> Deserialize<'de> for ArchiveHeader {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TensorVisitor;
        impl<'de> Visitor<'de> for TensorVisitor {
            type Value = ArchiveHeader;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ArchiveHeader, A::Error> {
                let mut metadata = None;
                let mut tensors = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let twice = if name == METADATA {
                        metadata.replace(map.next_value::<UniqueTexts>()?.0).is_some()
                    } else {
                        tensors.insert(name.clone(), map.next_value()?).is_some()
                    };
                    if twice {
                        return Err(A::Error::custom(format_args!("`{name}` is there twice")));
                    }
                }
                Ok(ArchiveHeader { metadata: metadata.unwrap_or_default(), tensors })
            }
        }
        deserializer.deserialize_map(TensorVisitor)
    }
}

/// Texts by name, refused if any name is there twice.
struct UniqueTexts(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for UniqueTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = UniqueTexts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueTexts, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    if entries.insert(name.clone(), map.next_value()?).is_some() {
                        return Err(A::Error::custom(format_args!("`{name}` is there twice")));
                    }
                }
                Ok(UniqueTexts(entries))
            }
        }
        deserializer.deserialize_map(TextVisitor)
    }
}
