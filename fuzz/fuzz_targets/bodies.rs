//! Any bytes are changes that a map can use, or a refusal, in every kind of body: never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_server::changes::{RowShape, parse_arrow, parse_json, parse_lines};
use lion_tsne::live::Change;

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the kind of body and whether the map's columns have names.
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let columns = (choice & 0x80 != 0).then(|| vec!["width".to_owned(), "height".to_owned()]);
    let shape = RowShape { width: 2, columns, recipe: None, rows: 1000, bytes: 1 << 20 };
    let parse = [parse_json, parse_lines, parse_arrow][choice as usize % 3];
    let Ok(changes) = parse(bytes, &shape) else { return };
    assert!(changes.len() <= shape.rows);
    for change in changes {
        assert!((1..=256).contains(&change.id().len()));
        if let Change::Upsert(arrival) = change {
            assert!(arrival.row.len() == shape.width && arrival.row.iter().all(|value| value.is_finite()));
        }
    }
});
