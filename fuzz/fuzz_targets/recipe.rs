//! Any bytes are a recipe that makes finite numbers of cells and can be written again, or a refusal: never a panic.
//!
//! Parser: lion-recipe/src/recipe.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_tsne::Recipe;
use lion_tsne::recipe::Cell;

fuzz_target!(|bytes: &[u8]| {
    let Ok(recipe) = Recipe::from_bytes(bytes) else { return };
    for cell in
        [Cell::Missing, Cell::Number(1e300), Cell::Boolean(true), Cell::Date(-1.5), Cell::Text("a".into())]
    {
        let mut row = Vec::new();
        if recipe.encode(&vec![cell; recipe.columns().len()], &mut row).is_ok() {
            assert!(row.len() == recipe.width() && row.iter().all(|value| value.is_finite()));
            assert_eq!(recipe.decode(&row).len(), recipe.columns().len());
        }
    }
    assert_eq!(Recipe::from_bytes(&recipe.to_bytes()).as_ref(), Ok(&recipe));
});
