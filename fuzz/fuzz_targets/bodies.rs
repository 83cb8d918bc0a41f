//! Any bytes are changes that a map can use, or a refusal, in every kind of body: never a panic.
//!
//! Parser: lion-server/src/changes/json.rs, lion-server/src/changes/arrow.rs, lion-server/src/changes.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_server::changes::{RowShape, parse_arrow, parse_json, parse_lines};
use lion_tsne::Recipe;
use lion_tsne::live::Change;
use std::sync::{Arc, LazyLock};

static RECIPE: LazyLock<Arc<Recipe>> = LazyLock::new(lion_fuzz::tables::recipe);

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the kind of body, whether the map's columns have names, and whether rows are columns of a table.
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let columns = (choice & 0x80 != 0).then(|| vec!["width".to_owned(), "height".to_owned()]);
    let recipe = (choice & 0x40 != 0).then(|| Arc::clone(&RECIPE));
    let width = recipe.as_ref().map_or(2, |recipe| recipe.width());
    let shape = RowShape { width, columns, recipe, rows: 1000, bytes: 1 << 20 };
    let parse = [parse_json, parse_lines, parse_arrow][usize::from(choice & 0x3f) % 3];
    let Ok(changes) = parse(bytes, &shape) else { return };
    assert!(changes.len() <= shape.rows);
    for change in changes {
        assert!((1..=256).contains(&change.id().len()));
        if let Change::Upsert(arrival) = change {
            assert!(arrival.row.len() == shape.width && arrival.row.iter().all(|value| value.is_finite()));
        }
    }
});
