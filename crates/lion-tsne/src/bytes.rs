//! Numbers and texts out of bytes that may come from anywhere. Whoever reads more than there is gets nothing, and memory is taken
//! in proportion to the bytes.

/// What is left to read.
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl<'a> ByteReader<'a> {
    /// The next so many bytes.
    pub(crate) fn take(&mut self, many: usize) -> Option<&'a [u8]> {
        let (now, later) = self.0.split_at_checked(many)?;
        self.0 = later;
        Some(now)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A length or a number of things.
    pub(crate) fn count(&mut self) -> Option<usize> {
        self.u64()?.try_into().ok()
    }

    /// So many finite numbers.
    pub(crate) fn f32s(&mut self, many: usize) -> Option<Vec<f32>> {
        let bytes = self.take(many.checked_mul(4)?)?;
        let values: Vec<f32> =
            bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        values.iter().all(|value| value.is_finite()).then_some(values)
    }

    /// A text with its length before it.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let many = self.u32()?;
        std::str::from_utf8(self.take(many.try_into().ok()?)?).ok()
    }

    /// A whole number as [`put_whole`] writes it.
    pub(crate) fn whole(&mut self) -> Option<i128> {
        let (mut folded, mut shift) = (0u128, 0);
        loop {
            let byte = self.u8()?;
            let bits = u128::from(byte & 0x7f);
            if shift > 126 || bits << shift >> shift != bits {
                return None;
            }
            folded |= bits << shift;
            shift += 7;
            if byte < 0x80 {
                return Some((folded >> 1) as i128 ^ -((folded & 1) as i128));
            }
        }
    }

    /// The same within a limit, in either direction.
    pub(crate) fn whole_within(&mut self, limit: i128) -> Option<i128> {
        self.whole().filter(|whole| (-limit..=limit).contains(whole))
    }
}

/// Writes a text after its length.
pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// Writes a whole number in as few bytes as it needs: the sign in the lowest bit, then seven bits at a time, least first.
pub(crate) fn put_whole(bytes: &mut Vec<u8>, whole: i128) {
    let mut folded = (whole << 1 ^ whole >> 127) as u128;
    while folded >= 0x80 {
        bytes.push(folded as u8 | 0x80);
        folded >>= 7;
    }
    bytes.push(folded as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_come_back() {
        for whole in [0, 1, -1, 63, -64, 64, 1 << 70, -(1 << 90), i128::MAX, i128::MIN] {
            let mut bytes = Vec::new();
            put_whole(&mut bytes, whole);
            let mut reader = ByteReader(&bytes);
            assert_eq!((reader.whole(), reader.0.len()), (Some(whole), 0));
            assert_eq!(ByteReader(&bytes[..bytes.len() - 1]).whole(), None);
        }
        assert_eq!(ByteReader(&[0xff; 40]).whole(), None);
    }
}
