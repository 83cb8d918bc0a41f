//! Any bytes are a map that can be used throughout and written again, or a refusal: never a panic.
//!
//! Parser: lion-tsne/src/file.rs, lion-tsne/src/file/archive.rs, lion-tsne/src/bytes.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_tsne::Map;

fuzz_target!(|bytes: &[u8]| {
    match Map::from_bytes(bytes) {
        Ok(map) => use_throughout(&map, bytes.len()),
        // Past the checksum too: no mutation would find a right one by itself.
        Err(error) => {
            if let Some(Ok(map)) = sealed(bytes, &error.to_string()).map(|bytes| Map::from_bytes(&bytes)) {
                use_throughout(&map, bytes.len());
            }
        }
    }
});

/// The bytes with the checksum that the refusal says they should have.
fn sealed(bytes: &[u8], refusal: &str) -> Option<Vec<u8>> {
    let (_, rest) = refusal.split_once("its content has checksum ")?;
    let key = b"\"checksum\":\"";
    let at = bytes.windows(key.len()).position(|window| window == key)? + key.len();
    let mut bytes = bytes.to_vec();
    bytes.get_mut(at..at + 32)?.copy_from_slice(&rest.as_bytes()[..32]);
    Some(bytes)
}

fn use_throughout(map: &Map, size: usize) {
    for i in 0..map.rows() {
        assert!(map.place(i).iter().all(|value| value.is_finite()));
        assert!(map.labels().is_none_or(|labels| labels.get(i).len() <= size));
        assert!(map.id(i).len() <= size);
    }
    if let Some(shown) = map.shown() {
        // A block may still be damaged, and says so.
        for column in 0..shown.columns().len() {
            if let Ok(values) = shown.values(column) {
                assert!(values.len() == map.rows());
            }
        }
    }
    let row = vec![1.0; map.preprocess().input_dims()];
    if let Ok(row) = map.preprocess().apply_row(&row) {
        assert!(row.len() == map.x().cols() && row.iter().all(|value| value.is_finite()));
    }
    let again = Map::from_bytes(&map.to_bytes().expect("a map can be written")).expect("and read again");
    assert!(&again == map);
}
