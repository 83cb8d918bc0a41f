//! Which texts are levels of a category, and which of them have a column of their own.

use lion_recipe::{Cell, ColumnSummary, Encoding, Kind, Recipe, RecipeOptions};

use crate::{category, summary};

fn kept(column: ColumnSummary) -> Vec<String> {
    let recipe = Recipe::fit(&[column], &RecipeOptions::default()).recipe;
    match &recipe.columns()[0].encoding {
        Encoding::Category { levels, .. } => levels.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn levels_of_a_hundredth_of_the_rows_have_a_column_of_their_own() {
    assert_eq!(
        kept(category("x", &[("b", 500), ("a", 481), ("rare", 9), ("enough", 10)])),
        ["a", "b", "enough"]
    );
    // Gaps are rows, too.
    assert_eq!(kept(category("x", &[("b", 500), ("enough", 10), ("", 490)])), ["b", "enough"]);
    assert_eq!(kept(category("x", &[("b", 500), ("rare", 10), ("", 491)])), ["b"]);
    // Where a hundredth is less than two rows, two are needed.
    assert_eq!(kept(category("x", &[("b", 5), ("once", 1), ("twice", 2)])), ["b", "twice"]);
    // And where all are there once, all are kept.
    assert_eq!(kept(category("x", &[("b", 1), ("c", 1), ("a", 1)])), ["a", "b", "c"]);
}

#[test]
fn the_thirty_most_frequent_levels_have_a_column_of_their_own() {
    let names: Vec<String> = (0..40).map(|level| format!("l{level:02}")).collect();
    let often: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 3)).collect();
    assert_eq!(kept(category("x", &often)), names[..30]);
    let once: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 1)).collect();
    assert_eq!(kept(category("x", &once)), names[..30]);
    let rising: Vec<(&str, usize)> =
        names.iter().zip(10..).map(|(name, count)| (name.as_str(), count)).collect();
    assert_eq!(kept(category("x", &rising)), names[10..]);
}

#[test]
fn levels_are_told_with_their_counts() {
    let column = category("x", &[("b", 2), ("c", 3), ("a", 2), ("", 4)]);
    assert_eq!(column.levels(), [("c", 3), ("a", 2), ("b", 2)]);
    assert_eq!((column.rows(), column.missing, column.different()), (11, 4, (3, false)));
    // By the texts that are there, not by rows.
    assert_eq!(category("x", &[("ab", 3), ("abcdef", 1), ("", 9)]).mean_length(), 3.0);
    assert_eq!(category("x", &[("", 3)]).mean_length(), 0.0);
    // Whatever a value is, it is a level of a category.
    let mixed = [Cell::Boolean(true), Cell::Number(2.0), Cell::Text("2".into()), Cell::Number(f64::NAN)];
    let mixed = summary("x", Kind::Category, &mixed);
    assert_eq!((mixed.levels(), mixed.missing), (vec![("2", 2), ("true", 1)], 1));
}

#[test]
fn of_very_many_texts_the_first_ten_thousand_are_counted() {
    let mut column = ColumnSummary::new("x", Kind::Category);
    let mut add = |numbers: std::ops::Range<u32>| {
        numbers.for_each(|number| column.add(0, &Cell::Number(number.into())));
        column.different()
    };
    assert_eq!(add(0..10_000), (10_000, false));
    assert_eq!(add(0..10_000), (10_000, false));
    assert_eq!(add(10_000..10_001), (10_000, true));
    assert!(!column.is_category());
}

#[test]
fn texts_are_a_category_if_most_rows_share_theirs_with_others() {
    let is = |counts: &[(&str, usize)]| category("x", counts).is_category();
    assert!(is(&[("a", 2)]) && is(&[("a", 2), ("b", 2)]));
    assert!(!is(&[]) && !is(&[("", 5)]) && !is(&[("a", 1)]) && !is(&[("a", 1), ("b", 1)]));
    // At most half as many texts as rows, gaps not counted.
    assert!(is(&[("a", 4), ("b", 1), ("c", 1)]));
    assert!(!is(&[("a", 3), ("b", 1), ("c", 1)]));
    assert!(is(&[("a", 4), ("b", 1), ("c", 1), ("", 3)]));
    assert!(!is(&[("a", 3), ("b", 1), ("c", 1), ("", 3)]));
    // 60 bytes are no more than a long name.
    let (name, sentence) = ("n".repeat(60), "s".repeat(61));
    assert!(is(&[(&name, 4)]) && !is(&[(&sentence, 4)]));
}

#[test]
fn half_the_rows_must_have_a_level_with_a_column_of_its_own() {
    let rare: Vec<String> = (0..56).map(|level| format!("r{level:02}")).collect();
    // Nine of a thousand rows are too few for a column.
    let of = |most: usize| {
        let mut counts = vec![("most", most)];
        counts.extend(rare.iter().take(55).map(|name| (name.as_str(), 9)));
        counts.push((rare[55].as_str(), 1000 - 495 - most));
        category("x", &counts)
    };
    assert!(of(500).is_category());
    assert!(!of(499).is_category());
    // Of many levels the 30 most frequent have one.
    let names: Vec<String> = (0..61).map(|level| format!("l{level:02}")).collect();
    let even = |levels: usize| {
        category("x", &names[..levels].iter().map(|name| (name.as_str(), 5)).collect::<Vec<_>>())
    };
    assert!(even(60).is_category());
    assert!(!even(61).is_category());
}
