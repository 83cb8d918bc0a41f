//! Rows to numbers and back, and what is said of rows that have none.

use lion_recipe::{Cell, Encoding, Kind, Missing, Recipe, RecipeColumn, Scale, Why};

use crate::{booleans, category, dates, encoded, numbers, options, plain};

/// A column of each kind: `n`, `f`, `d` and `c`, with gaps as a level.
fn all_kinds(scale: Scale, missing: Missing) -> Recipe {
    let columns = [
        numbers("n", &[0.0, 2.0, 4.0]),
        booleans("f", &[true, false]),
        dates("d", &[10.0, 20.0, 30.0]),
        category("c", &[("a", 3), ("b", 3), ("", 3)]),
    ];
    Recipe::fit(&columns, &options(scale, missing)).recipe
}

fn row<'a>(n: f64, f: bool, d: f64, c: &'a str) -> [Cell<'a>; 4] {
    [Cell::Number(n), Cell::Boolean(f), Cell::Date(d), Cell::Text(c.into())]
}

#[test]
fn a_row_becomes_numbers_and_these_become_the_row() {
    let plain = all_kinds(Scale::None, Missing::Median);
    assert_eq!(plain.output_names(), ["n", "f", "d", "c=a", "c=b", "c (missing)", "c (other)"]);
    assert_eq!((plain.width(), plain.outputs().collect::<Vec<_>>()), (7, vec![0..1, 1..2, 2..3, 3..7]));
    let cells = row(3.0, true, 15.5, "b");
    assert_eq!(encoded(&plain, &cells), [3.0, 1.0, 15.5, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(plain.decode(&encoded(&plain, &cells)), cells);
    let scaled = all_kinds(Scale::Standard, Missing::Median);
    assert_eq!(encoded(&scaled, &row(4.0, true, 10.0, "?")), [1.0, 2f32.sqrt(), -1.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(scaled.decode(&encoded(&scaled, &cells)), cells);
    let kinds: Vec<Kind> = plain.columns().iter().map(RecipeColumn::kind).collect();
    assert_eq!(kinds, [Kind::Number, Kind::Boolean, Kind::Date, Kind::Category]);
    assert_eq!(plain.columns().iter().map(RecipeColumn::width).collect::<Vec<_>>(), [1, 1, 1, 4]);
    assert_eq!(plain.columns().iter().filter_map(RecipeColumn::scaling).count(), 3);
}

#[test]
fn gaps_are_filled_and_stay_filled() {
    let recipe = all_kinds(Scale::None, Missing::Mean);
    let gaps = [const { Cell::Missing }; 4];
    assert_eq!(encoded(&recipe, &gaps), [2.0, 0.5, 20.0, 0.0, 0.0, 1.0, 0.0]);
    let back = [Cell::Number(2.0), Cell::Boolean(true), Cell::Date(20.0), Cell::Missing];
    assert_eq!(recipe.decode(&encoded(&recipe, &gaps)), back);
    assert_eq!(encoded(&recipe, &[f64::NAN; 4].map(Cell::Number)), encoded(&recipe, &gaps));
}

#[test]
fn numbers_between_those_of_rows_come_back_as_the_nearest() {
    let recipe = all_kinds(Scale::None, Missing::Median);
    let back = |flag: f32, levels: [f32; 4]| {
        let mut row = vec![0.0, flag, 0.0];
        row.extend(levels);
        recipe.decode(&row)[1..].iter().step_by(2).cloned().collect::<Vec<_>>()
    };
    let text = |text: &'static str| Cell::Text(text.into());
    assert_eq!(back(0.5, [0.4, 0.4, 0.1, 0.1]), [Cell::Boolean(true), text("a")]);
    assert_eq!(back(0.49, [0.2, 0.5, 0.1, 0.1]), [Cell::Boolean(false), text("b")]);
    assert_eq!(back(7.0, [0.2, 0.3, 0.4, 0.1]), [Cell::Boolean(true), Cell::Missing]);
    assert_eq!(back(-7.0, [-0.2, -0.3, -0.4, -0.1]), [Cell::Boolean(false), text("other")]);
    // Nothing is the largest.
    assert_eq!(back(0.0, [f32::NAN; 4])[1], text("other"));
    for wrong in [6, 8, 0] {
        assert_eq!(recipe.decode(&vec![0.0; wrong]), []);
    }
}

#[test]
fn kinds_that_mean_the_same_are_read_alike() {
    let recipe = all_kinds(Scale::None, Missing::Median);
    let cells = [Cell::Boolean(true), Cell::Number(1.0), Cell::Date(1.0), Cell::Text("a".into())];
    assert_eq!(encoded(&recipe, &cells)[..3], [1.0, 1.0, 1.0]);
    let cells = [Cell::Boolean(false), Cell::Number(0.0), Cell::Date(1.0), Cell::Text("a".into())];
    assert_eq!(encoded(&recipe, &cells)[..3], [0.0, 0.0, 1.0]);
    // Numbers, booleans and dates are levels as they are written.
    let levels = plain(&[category("c", &[("1", 2), ("true", 2), ("1970-01-02", 2)])]);
    assert_eq!(encoded(&levels, &[Cell::Number(1.0)]), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(encoded(&levels, &[Cell::Date(1.0)]), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(encoded(&levels, &[Cell::Boolean(true)]), [0.0, 0.0, 1.0, 0.0]);
}

/// What is said of a row that is refused: the number of its column, and the sentence.
fn refused(recipe: &Recipe, cells: &[Cell<'_>]) -> (usize, String) {
    let mut out = vec![7.0];
    let error = recipe.encode(cells, &mut out).unwrap_err();
    assert_eq!(out, [7.0], "an error leaves what was there");
    (error.column, error.to_string())
}

#[test]
fn a_cell_of_another_kind_is_told() {
    let recipe = all_kinds(Scale::None, Missing::Median);
    let good = row(1.0, true, 1.0, "a");
    for (at, cell, sentence) in [
        (0, Cell::Text("one".into()), "column n holds \"one\", and the map has numbers there"),
        (0, Cell::Date(1.0), "column n holds \"1970-01-02\", and the map has numbers there"),
        (1, Cell::Number(2.0), "column f holds \"2\", and the map has booleans there"),
        (1, Cell::Number(0.5), "column f holds \"0.5\", and the map has booleans there"),
        (1, Cell::Text("yes".into()), "column f holds \"yes\", and the map has booleans there"),
        (2, Cell::Number(3.0), "column d holds \"3\", and the map has dates there"),
        (2, Cell::Boolean(true), "column d holds \"true\", and the map has dates there"),
    ] {
        let mut cells = good.clone();
        cells[at] = cell;
        assert_eq!(refused(&recipe, &cells), (at, sentence.to_owned()));
    }
}

#[test]
fn numbers_that_are_no_32_bit_floats_are_told() {
    let recipe = all_kinds(Scale::None, Missing::Median);
    let of = |n: f64, d: f64| refused(&recipe, &row(n, true, d, "a"));
    let finite = "every value must be a finite number: fill it or remove the row";
    assert_eq!(of(f64::INFINITY, 0.0), (0, format!("column n is inf; {finite}")));
    assert_eq!(of(0.0, f64::NEG_INFINITY), (2, format!("column d is -inf; {finite}")));
    assert_eq!(of(1e300, 0.0), (0, "column n is 1e300, too large for a 32-bit float".to_owned()));
}

#[test]
fn gaps_are_refused_where_none_are_filled() {
    for missing in [Missing::Drop, Missing::Refuse] {
        let recipe = all_kinds(Scale::None, missing);
        let good = row(1.0, true, 1.0, "a");
        assert_eq!(encoded(&recipe, &good).len(), 6);
        for (at, name) in ["n", "f", "d", "c"].into_iter().enumerate() {
            let mut cells = good.clone();
            cells[at] = Cell::Missing;
            let sentence = format!(
                "column {name} is empty, and the map was fitted to rows without gaps: fill it or remove the row"
            );
            assert_eq!(refused(&recipe, &cells), (at, sentence));
        }
    }
}

#[test]
fn a_row_of_another_length_is_refused() {
    let recipe = all_kinds(Scale::None, Missing::Median);
    for count in [0, 3, 5] {
        let error = recipe.encode(&vec![Cell::Number(1.0); count], &mut Vec::new()).unwrap_err();
        assert_eq!(error.why, Why::Width(count, 4));
    }
}

#[test]
fn a_recipe_of_a_map_file_means_what_it_meant() {
    let bytes = br#"{"scale":"robust","missing":"mean","columns":[
        {"name":"age","kind":"number","center":40.0,"divisor":10.0,"fill":45.0,"least":20.0,"largest":60.0,"typical":50.0},
        {"name":"paid","kind":"boolean","center":0.0,"divisor":0.5,"least":0.0,"largest":1.0,"typical":1.0},
        {"name":"plan","kind":"category","levels":["a","b"],"missing":true}]}"#;
    let recipe = Recipe::from_bytes(bytes).unwrap();
    assert_eq!((recipe.scale(), recipe.missing()), (Scale::Robust, Missing::Mean));
    assert_eq!(recipe.output_names(), ["age", "paid", "plan=a", "plan=b", "plan (missing)", "plan (other)"]);
    let cells = [Cell::Missing, Cell::Boolean(true), Cell::Text("b".into())];
    assert_eq!(encoded(&recipe, &cells), [0.5, 2.0, 0.0, 1.0, 0.0, 0.0]);
    let Encoding::Number(age) = &recipe.columns()[0].encoding else { panic!("a number") };
    assert_eq!((age.least, age.largest, age.typical), (20.0, 60.0, 50.0));
    assert_eq!(Recipe::from_bytes(&recipe.to_bytes()), Ok(recipe));
}

#[test]
fn every_number_of_a_recipe_must_be_sound() {
    let good = r#"{"name":"a","kind":"number","center":1.0,"divisor":2.0,"fill":3.0,"least":4.0,"largest":5.0,"typical":6.0}"#;
    let read = |column: &str| {
        Recipe::from_bytes(format!(r#"{{"scale":"none","missing":"mean","columns":[{column}]}}"#).as_bytes())
    };
    assert!(read(good).is_ok());
    for bad in ["-2.0", "0.0", "-0.0"] {
        assert!(read(&good.replace("2.0", bad)).is_err(), "{bad}");
    }
    for kind in ["boolean", "date"] {
        assert!(read(&good.replace("number", kind)).is_ok());
        assert!(read(&good.replace("number", kind).replace("2.0", "0.0")).is_err(), "{kind}");
    }
}
