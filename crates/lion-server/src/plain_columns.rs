//! Columns of bytes behind a header that says where each is: what a browser reads without a library.

use serde_json::{Map, Value, json};

/// Columns that are put together. The bytes are: the length of the header (u32), the header (JSON, padded with spaces), then
/// the columns, all on multiples of 8 bytes.
#[derive(Default)]
pub(crate) struct PlainColumns {
    list: Vec<Value>,
    data: Vec<u8>,
}

impl PlainColumns {
    pub(crate) fn add(&mut self, name: &str, kind: &str, bytes: impl IntoIterator<Item = u8>) {
        self.data.resize(self.data.len().next_multiple_of(8), 0);
        let offset = self.data.len();
        self.data.extend(bytes);
        let length = self.data.len() - offset;
        self.list.push(json!({ "name": name, "type": kind, "offset": offset, "length": length }));
    }

    /// All of it, with what else the header is to say.
    pub(crate) fn finish(self, mut header: Map<String, Value>) -> Vec<u8> {
        header.insert("columns".into(), self.list.into());
        let mut header = Value::Object(header).to_string();
        // The length stands before it.
        while !(header.len() + 4).is_multiple_of(8) {
            header.push(' ');
        }
        let length = u32::try_from(header.len()).unwrap_or(u32::MAX);
        [&length.to_le_bytes(), header.as_bytes(), &self.data].concat()
    }
}
