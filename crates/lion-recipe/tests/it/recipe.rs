//! What a recipe makes of cells, what it makes of any bytes, and what it says of other tables.

use lion_recipe::{
    Cell, ColumnSummary, Encoding, Kind, Missing, Numbers, Recipe, RecipeOptions, Scale, Scaling, Why,
};
use proptest::prelude::*;

use crate::{encoded, numbers, options, summary};

fn texts<'a>(values: &[&'a str]) -> Vec<Cell<'a>> {
    values.iter().map(|&text| if text.is_empty() { Cell::Missing } else { Cell::Text(text.into()) }).collect()
}

#[test]
fn numbers_are_centred_in_64_bits() {
    let column = numbers("t", &[1e9, 1e9 + 1.0, 1e9 + 2.0]);
    let recipe =
        Recipe::fit(std::slice::from_ref(&column), &options(Scale::Standard, Missing::Median)).recipe;
    assert_eq!(encoded(&recipe, &[Cell::Number(1e9 + 2.0)]), [1.0]);
    assert_eq!(recipe.decode(&[1.0]), [Cell::Number(1e9 + 2.0)]);
    // Unscaled, the three would be one value.
    let warnings = Recipe::fit(&[column], &options(Scale::None, Missing::Median)).warnings;
    assert!(warnings[0].contains("t varies from 1000000000 to 1000000002"), "{warnings:?}");
}

#[test]
fn far_values_that_make_the_deviation_are_told() {
    let table = |far: f64| {
        let mut values: Vec<f64> = (0..1200).map(|k| f64::from(k % 5) + 1.0).collect();
        values[77] = far;
        let dates = summary("d", Kind::Date, &values.iter().map(|&day| Cell::Date(day)).collect::<Vec<_>>());
        [numbers("rating", &values), dates]
    };
    let warnings = |far, scale| Recipe::fit(&table(far), &options(scale, Missing::Median)).warnings;
    assert_eq!(
        warnings(3500.0, Scale::Auto),
        [
            "rating varies from 1 to 3500, but nearly all of it from 1 to 5: unit variance makes these values almost equal, and likewise \
          those of d; correct the far ones, or use --scale robust"
        ]
    );
    assert_eq!(warnings(30.0, Scale::Auto), [""; 0]);
    assert_eq!(warnings(3500.0, Scale::Robust), [""; 0]);
    // Mostly one value: there is nothing that could be made equal.
    let flags = numbers("f", &(0..1200).map(|k| f64::from(u8::from(k == 3))).collect::<Vec<_>>());
    assert_eq!(Recipe::fit(&[flags], &options(Scale::Standard, Missing::Median)).warnings, [""; 0]);
}

#[test]
fn gaps_get_what_was_asked_for() {
    let cells = [1.0, 2.0, 9.0, f64::NAN].map(Cell::Number);
    let column = [summary("a", Kind::Number, &cells)];
    let fill = |missing| {
        let recipe = Recipe::fit(&column, &options(Scale::None, missing)).recipe;
        let mut row = Vec::new();
        recipe.encode(&[Cell::Missing], &mut row).map(|()| row[0]).map_err(|error| error.why)
    };
    assert_eq!(fill(Missing::Mean), Ok(4.0));
    assert_eq!(fill(Missing::Median), Ok(2.0));
    assert_eq!(fill(Missing::Drop), Err(Why::Missing));
    assert_eq!(fill(Missing::Refuse), Err(Why::Missing));
}

#[test]
fn rare_and_unknown_levels_are_others() {
    let mut values = vec!["a"; 150];
    values.extend(["b"; 48]);
    values.extend(["c", ""]);
    let column = summary("x", Kind::Category, &texts(&values));
    let recipe = Recipe::fit(&[column], &RecipeOptions::default()).recipe;
    assert_eq!(recipe.output_names(), ["x=a", "x=b", "x (other)"]);
    for (text, row) in
        [("a", [1.0, 0.0, 0.0]), ("b", [0.0, 1.0, 0.0]), ("c", [0.0, 0.0, 1.0]), ("never", [0.0, 0.0, 1.0])]
    {
        assert_eq!(encoded(&recipe, &[Cell::Text(text.into())]), row);
    }
    assert_eq!(encoded(&recipe, &[Cell::Missing]), [0.0, 0.0, 1.0]);
    assert_eq!(recipe.decode(&[0.0, 1.0, 0.0]), [Cell::Text("b".into())]);
    assert_eq!(recipe.decode(&[0.1, 0.2, 0.7]), [Cell::Text("other".into())]);
}

#[test]
fn frequent_gaps_are_a_level() {
    let column = summary("x", Kind::Category, &texts(&["a", "a", "b", "b", "", ""]));
    let recipe = Recipe::fit(&[column], &RecipeOptions::default()).recipe;
    assert_eq!(recipe.output_names(), ["x=a", "x=b", "x (missing)", "x (other)"]);
    assert_eq!(encoded(&recipe, &[Cell::Missing]), [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(recipe.decode(&[0.0, 0.0, 1.0, 0.0]), [Cell::Missing]);
}

#[test]
fn a_category_weighs_as_much_as_a_number() {
    // Of balanced levels, half the mean squared distance of rows is 1 for a scaled number, and near 1 for categories.
    for levels in [2usize, 3, 10] {
        let names: Vec<String> = (0..levels).map(|level| format!("l{level}")).collect();
        let cells: Vec<Cell<'_>> =
            (0..300).map(|row| Cell::Text(names[row % levels].as_str().into())).collect();
        let recipe = Recipe::fit(&[summary("x", Kind::Category, &cells)], &RecipeOptions::default()).recipe;
        let rows: Vec<Vec<f32>> =
            cells.iter().map(|cell| encoded(&recipe, std::slice::from_ref(cell))).collect();
        let distance2 =
            |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
        let all: f64 = rows.iter().flat_map(|a| rows.iter().map(move |b| distance2(a, b))).sum();
        let half = all / (2.0 * (rows.len() * rows.len()) as f64);
        assert!((0.49..=1.0).contains(&half), "{levels}: {half}");
    }
}

#[test]
fn only_units_that_plainly_differ_are_scaled() {
    let scale = |columns: &[ColumnSummary]| Recipe::fit(columns, &RecipeOptions::default()).recipe.scale();
    let spread = |name: &str, size: f64| numbers(name, &[0.0, size, 2.0 * size, 3.0 * size]);
    assert_eq!(scale(&[spread("a", 1.0), spread("b", 90.0)]), Scale::None);
    assert_eq!(scale(&[spread("age", 10.0), spread("income", 20_000.0)]), Scale::Standard);
    // Columns of one kind may spread as differently as they like.
    assert_eq!(scale(&[spread("pixel0", 1.0), spread("pixel1", 255.0)]), Scale::None);
    assert_eq!(scale(&[spread("x_0_1", 1.0), spread("x_2_3", 255.0)]), Scale::None);
    assert_eq!(scale(&[spread("share of a", 0.3), spread("share of b", 0.001)]), Scale::None);
    let many: Vec<ColumnSummary> = (0..100)
        .map(|at| spread(&format!("gene {}", "x".repeat(at)), 1.0 + 300.0 * f64::from(at == 7)))
        .collect();
    assert_eq!(scale(&many), Scale::None);
    // Kinds have no unit in common.
    let plan = summary("plan", Kind::Category, &texts(&["a", "b", "a", "b"]));
    assert_eq!(scale(&[spread("a", 1.0), plan]), Scale::Standard);
    // A column that is all one value spreads nowhere, and divides by nothing.
    let constant = Recipe::fit(&[numbers("a", &[7.0; 5])], &options(Scale::Standard, Missing::Median)).recipe;
    assert_eq!(encoded(&constant, &[Cell::Number(7.0)]), [0.0]);
}

#[test]
fn one_column_that_is_most_of_the_variance_is_told() {
    let columns = [numbers("a", &[0.0, 1.0, 2.0]), numbers("b", &[0.0, 50.0, 90.0])];
    let fitted = Recipe::fit(&columns, &RecipeOptions::default());
    assert!(fitted.warnings[0].starts_with("b has nearly all of the variance"), "{:?}", fitted.warnings);
}

#[test]
fn another_unit_is_told_by_name() {
    let incomes: Vec<f64> = (0..50).map(|v| 20.0 + f64::from(v)).collect();
    let plans = texts(&["a", "b"].repeat(25));
    let recipe = Recipe::fit(
        &[numbers("income", &incomes), summary("plan", Kind::Category, &plans)],
        &RecipeOptions::default(),
    )
    .recipe;
    let thousands: Vec<f64> = incomes.iter().map(|v| 1000.0 * v).collect();
    let said =
        |columns: &[ColumnSummary]| recipe.check(columns).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        said(&[numbers("income", &thousands)]),
        ["income is 1000 times larger than in the map: is it in another unit?"]
    );
    assert_eq!(said(&[numbers("income", &incomes), summary("plan", Kind::Category, &plans)]), [""; 0]);
    let strange = summary("plan", Kind::Category, &texts(&["a", "gold", "gold", "gold"]));
    assert!(said(&[strange])[0].starts_with("plan has 3 rows of levels"));
    let numbers_for_plans = numbers("plan", &[1.0, 2.0]);
    assert_eq!(said(&[numbers_for_plans]), ["plan holds numbers here, and categories in the map"]);
}

/// Any cell.
fn cell() -> impl Strategy<Value = Cell<'static>> {
    prop_oneof![
        Just(Cell::Missing),
        any::<f64>().prop_map(Cell::Number),
        (-1e6..1e6).prop_map(Cell::Number),
        any::<bool>().prop_map(Cell::Boolean),
        (-1e5..1e5).prop_map(Cell::Date),
        "[a-d]{0,2}".prop_map(|text| Cell::Text(text.into())),
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Number), Just(Kind::Boolean), Just(Kind::Date), Just(Kind::Category)]
}

proptest! {
    #[test]
    fn any_cells_become_finite_numbers_or_a_refusal(
        columns in prop::collection::vec((kind(), prop::collection::vec(cell(), 1..30)), 1..5),
        rows in prop::collection::vec(prop::collection::vec(cell(), 5), 1..20),
        scale in 0..4usize,
        missing in 0..4usize,
    ) {
        let summaries: Vec<ColumnSummary> =
            (0..).zip(&columns).map(|(at, (kind, cells))| summary(&format!("c {at}"), *kind, cells)).collect();
        let options = options(Scale::NAMES[scale].parse().unwrap(), Missing::NAMES[missing].parse().unwrap());
        let recipe = Recipe::fit(&summaries, &options).recipe;
        // It is a recipe that a file can hold.
        let again = Recipe::from_bytes(&recipe.to_bytes());
        prop_assert_eq!(again.as_ref(), Ok(&recipe));
        for row in rows {
            let mut out = vec![7.0];
            match recipe.encode(&row[..columns.len()], &mut out) {
                Ok(()) => {
                    prop_assert_eq!(out.len(), 1 + recipe.width());
                    prop_assert!(out.iter().all(|v| v.is_finite()));
                    // What comes back becomes the same numbers, but for rounding.
                    let back = recipe.decode(&out[1..]);
                    prop_assert_eq!(back.len(), columns.len());
                    let whole = |column: &lion_recipe::RecipeColumn| matches!(column.encoding, Encoding::Category { .. });
                    for ((column, at), cell) in recipe.columns().iter().zip(recipe.outputs()).zip(&back) {
                        if whole(column) && (!cell.is_missing() || options.missing.fills()) {
                            let mut one = Vec::new();
                            let alone: Vec<Cell<'_>> = back.clone();
                            if recipe.encode(&alone, &mut one).is_ok() {
                                prop_assert_eq!(&one[at.clone()], &out[1..][at]);
                            }
                        }
                    }
                }
                Err(_) => prop_assert_eq!(out, [7.0]),
            }
        }
    }

    #[test]
    fn any_bytes_are_a_recipe_or_a_refusal(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Recipe::from_bytes(&bytes);
    }

    #[test]
    fn a_changed_recipe_is_sound_or_refused(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let plan = summary("plan", Kind::Category, &texts(&["a", "b", "a", ""]));
        let recipe = Recipe::fit(&[numbers("age", &[1.0, 2.0, 4.0]), plan], &RecipeOptions::default()).recipe;
        let mut bytes = recipe.to_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(changed) = Recipe::from_bytes(&bytes) {
            let mut row = Vec::new();
            let _ = changed.encode(&[Cell::Number(1e300), Cell::Text("a".into())], &mut row);
            prop_assert!(row.iter().all(|v| v.is_finite()));
            prop_assert_eq!(changed.output_names().len(), changed.width());
        }
    }
}

#[test]
fn bytes_that_are_no_recipe_are_told_why() {
    let refused = |bytes: &str| Recipe::from_bytes(bytes.as_bytes()).unwrap_err().to_string();
    assert!(refused("{}").starts_with("the recipe of its columns cannot be read"));
    assert_eq!(
        refused(r#"{"scale":"none","missing":"median","columns":[]}"#),
        "the recipe of its columns has no columns"
    );
    let twice = r#"{"name":"a","kind":"category","levels":["x"],"missing":false}"#;
    assert!(
        refused(&format!(r#"{{"scale":"none","missing":"median","columns":[{twice},{twice}]}}"#))
            .ends_with("has a column twice")
    );
    let level = r#"{"name":"a","kind":"category","levels":["x","x"],"missing":false}"#;
    assert!(
        refused(&format!(r#"{{"scale":"none","missing":"median","columns":[{level}]}}"#))
            .ends_with("has a level twice")
    );
    let zero = r#"{"name":"a","kind":"number","center":0,"divisor":0,"least":0,"largest":0,"typical":0}"#;
    assert!(
        refused(&format!(r#"{{"scale":"none","missing":"median","columns":[{zero}]}}"#))
            .contains("divides by none")
    );
    assert!(
        refused(&format!(r#"{{"scale":"auto","missing":"median","columns":[{twice}]}}"#))
            .contains("how numbers were scaled")
    );
}

#[test]
fn a_column_without_values_is_told_and_a_table_without_rows_is_not() {
    let recipe = Recipe::fit(&[numbers("a", &[1.0, 2.0, 3.0])], &options(Scale::None, Missing::Mean)).recipe;
    let said = |cells: &[Cell<'_>]| -> Vec<String> {
        recipe.check(&[summary("a", Kind::Number, cells)]).iter().map(ToString::to_string).collect()
    };
    assert_eq!(said(&[Cell::Missing, Cell::Missing]), ["a has no values"]);
    assert_eq!(said(&[Cell::Missing, Cell::Number(2.0)]), [""; 0]);
    assert_eq!(said(&[]), [""; 0]);
}

#[test]
fn numbers_are_levels_as_people_write_them() {
    let level = |value: f64| Cell::Number(value).level().map(|level| level.into_owned());
    assert_eq!([level(3.0), level(-1.0), level(2.5)], ["3", "-1", "2.5"].map(|text| Some(text.to_owned())));
    assert_eq!(level(f64::NAN), None);
    let kinds = summary("x", Kind::Number, &[Cell::Number(1.0)]).of_kind(Kind::Category);
    assert_eq!(kinds.kind, Kind::Category);
}

#[test]
fn true_and_false_are_as_far_apart_as_two_levels() {
    let flags = [true, false, true].map(Cell::Boolean);
    let columns = [summary("f", Kind::Boolean, &flags), numbers("n", &[0.0, 1.0, 2.0])];
    let fitted = Recipe::fit(&columns, &options(Scale::Auto, Missing::Median));
    let why = fitted.why.unwrap();
    assert_eq!(why, "columns are scaled to unit variance, because booleans and numbers share no unit");
    let row = |flag| encoded(&fitted.recipe, &[Cell::Boolean(flag), Cell::Number(1.0)]);
    assert!((row(true)[0] - row(false)[0] - std::f32::consts::SQRT_2).abs() < 1e-6);
    // A column of numbers takes true and false, too.
    let unscaled = Recipe::fit(&columns[1..], &options(Scale::None, Missing::Median)).recipe;
    assert_eq!(encoded(&unscaled, &[Cell::Boolean(true)]), [1.0]);
}

#[test]
fn a_smaller_sample_is_kept_if_it_is_asked_for() {
    let mut numbers = Numbers::default().with_sample(1);
    [1.0, 5.0, 9.0].into_iter().zip(0..).for_each(|(value, row)| numbers.add(row, value));
    let [least, largest] = numbers.quantiles([0.0, 1.0]);
    assert_eq!((least == largest, numbers.count()), (true, 3));
}

#[test]
fn long_texts_are_no_category() {
    let of = |text: &str| summary("x", Kind::Category, &texts(&[text, text, "b", "b"]));
    assert!(of("a").is_category());
    assert!(!of(&"a".repeat(130)).is_category());
    assert_eq!(of("abc").mean_length(), 2.0);
}

#[test]
fn a_number_comes_back_with_as_few_decimals_as_it_had() {
    let scaling =
        |center, divisor| Scaling { center, divisor, fill: None, least: 0.0, largest: 0.0, typical: 0.0 };
    for scaling in [scaling(0.0, 1.0), scaling(5.123456, 3.3), scaling(1043.7, 812.25), scaling(-0.15, 1e-3)]
    {
        for value in [0.0, 5.0, 0.1, -2.75, 17.36] {
            assert_eq!(scaling.decode(scaling.encode(value)), value, "{value} by {scaling:?}");
            assert!(scaling.decode(scaling.encode(value)).is_sign_positive() == (value >= 0.0));
        }
        for encoded in [f32::MIN_POSITIVE, 1.234_567_8, -7.654_321e-5, 3.3e37] {
            let back = scaling.encode(scaling.decode(encoded));
            assert!(
                (back - encoded).abs() <= f32::EPSILON * encoded.abs().max(1e3),
                "{encoded} by {scaling:?}: {back}"
            );
        }
    }
    assert!(scaling(0.0, 1.0).decode(f32::NAN).is_nan());
}
