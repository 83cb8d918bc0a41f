//! What is said of another table.

use lion_recipe::{Cell, ColumnSummary, Kind, Missing, Recipe, Scale};

use crate::{booleans, category, dates, numbers, options, plain, summary};

fn said(recipe: &Recipe, columns: &[ColumnSummary]) -> Vec<String> {
    recipe.check(columns).iter().map(ToString::to_string).collect()
}

fn times(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| factor * value).collect()
}

const VALUES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 10.0];

#[test]
fn another_unit_is_told_from_twenty_times_on() {
    for sign in [1.0, -1.0] {
        let values = times(&VALUES, sign);
        let recipe = plain(&[numbers("a", &values)]);
        let said = |factor: f64| said(&recipe, &[numbers("a", &times(&values, factor))]).concat();
        for (factor, times) in [
            (32.0, "32"),
            (1024.0, "1000"),
            (0.968e6, "970000"),
            (3e10, "3e10"),
            (1e9, "1e9"),
            (256.0, "260"),
        ] {
            let words = "than in the map: is it in another unit?";
            assert_eq!(said(factor), format!("a is {times} times larger {words}"));
            assert_eq!(said(1.0 / factor), format!("a is {times} times smaller {words}"));
        }
        assert!(said(20.0).starts_with("a is 20 times larger"));
        assert!(said(1.0 / 20.0).starts_with("a is 20 times smaller"));
        for factor in [1.0, 19.0, 1.0 / 19.0] {
            assert_eq!(said(factor), "", "{factor}");
        }
    }
}

#[test]
fn values_are_as_far_from_zero_as_their_quartiles() {
    // A few values that are far off do not change the unit, however far.
    let recipe = plain(&[numbers("a", &VALUES)]);
    assert_eq!(said(&recipe, &[numbers("a", &[1.0, 2.0, 3.0, 4.0, 1e6])]), [""; 0]);
    // On both sides of 0 the farther quartile counts.
    let recipe = plain(&[numbers("a", &[-100.0, -50.0, 1.0, 2.0, 3.0])]);
    assert_eq!(said(&recipe, &[numbers("a", &[-1.0, 1.0, 50.0, 51.0, 60.0])]), [""; 0]);
    assert_eq!(said(&recipe, &[numbers("a", &[-1e5, -1000.0, 1.0, 2.0, 3.0])]).len(), 1);
    assert_eq!(said(&recipe, &[numbers("a", &[-3.0, 1.0, 1.0, 1000.0, 1e5])]).len(), 1);
}

#[test]
fn fewer_than_five_values_tell_nothing_of_their_unit() {
    let recipe = plain(&[numbers("a", &VALUES)]);
    assert_eq!(said(&recipe, &[numbers("a", &times(&VALUES[..4], 1000.0))]), [""; 0]);
    assert_eq!(said(&recipe, &[numbers("a", &times(&VALUES, 1000.0))]).len(), 1);
    // Gaps are no values.
    let mut cells: Vec<Cell<'_>> = VALUES[..4].iter().map(|v| Cell::Number(1000.0 * v)).collect();
    cells.extend([Cell::Missing, Cell::Missing]);
    assert_eq!(said(&recipe, &[summary("a", Kind::Number, &cells)]), [""; 0]);
    // Nor does a column of nothing but 0 have a unit.
    assert_eq!(said(&recipe, &[numbers("a", &[0.0; 5])]), [""; 0]);
    assert_eq!(said(&plain(&[numbers("a", &[0.0; 5])]), &[numbers("a", &VALUES)]), [""; 0]);
}

#[test]
fn unknown_levels_are_told_if_more_than_one_row_in_twenty_has_one() {
    let recipe = plain(&[category("c", &[("a", 50), ("b", 50)])]);
    let said = |counts: &[(&str, usize)]| said(&recipe, &[category("c", counts)]).concat();
    assert_eq!(said(&[("a", 60), ("b", 40)]), "");
    assert_eq!(said(&[("a", 95), ("x", 3), ("y", 2)]), "");
    assert_eq!(
        said(&[("a", 94), ("x", 4), ("y", 2)]),
        "c has 6 rows of levels that the map does not tell apart, such as \"x\": they count as other"
    );
    // Of the rows that have a level at all.
    assert!(said(&[("a", 94), ("x", 6), ("", 200)]).starts_with("c has 6 rows"));
    assert_eq!(said(&[("a", 95), ("x", 5), ("", 3)]), "");
}

#[test]
fn dates_after_all_of_the_map_are_told() {
    let recipe = plain(&[dates("d", &[10.0, 20.0, 30.0])]);
    let said = |days: &[f64]| said(&recipe, &[dates("d", days)]).concat();
    assert_eq!(said(&[31.5, 40.0]), "d begins on 1970-02-01 12:00, and in the map it ends on 1970-01-31");
    assert_eq!(said(&[30.0, 400.0]), "");
    assert_eq!(said(&[-50.0, 0.0]), "");
}

#[test]
fn another_kind_is_told_unless_it_is_read_alike() {
    let (number, flag) = (numbers("a", &[0.0, 1.0, 1.0]), booleans("a", &[true, false, true]));
    let date = dates("a", &[0.0, 1.0, 1.0]);
    let said = |own: &ColumnSummary, other: &ColumnSummary| {
        said(&plain(std::slice::from_ref(own)), std::slice::from_ref(other)).concat()
    };
    assert_eq!(said(&number, &flag), "");
    assert_eq!(said(&flag, &number), "");
    // True and false have no unit, however large the numbers of the map are.
    assert_eq!(said(&numbers("a", &[1000.0; 5]), &booleans("a", &[true; 5])), "");
    let booleans = "a holds numbers here, and booleans in the map";
    for outside in [[0.0, 1.0, 2.0], [-1.0, 0.0, 1.0]] {
        assert_eq!(said(&flag, &numbers("a", &outside)), booleans);
    }
    assert_eq!(said(&number, &date), "a holds dates here, and numbers in the map");
    assert_eq!(said(&date, &number), "a holds numbers here, and dates in the map");
    assert_eq!(said(&flag, &date), "a holds dates here, and booleans in the map");
    assert_eq!(said(&date, &category("a", &[("x", 2)])), "a holds categories here, and dates in the map");
}

#[test]
fn columns_are_compared_by_name_in_the_order_of_the_recipe() {
    let recipe = Recipe::fit(
        &[numbers("a", &VALUES), numbers("b", &VALUES)],
        &options(Scale::Standard, Missing::Refuse),
    )
    .recipe;
    let far = times(&VALUES, 100.0);
    let told = recipe.check(&[numbers("b", &far), numbers("c", &far), numbers("a", &far)]);
    assert_eq!(told.iter().map(|difference| difference.column.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(said(&recipe, &[numbers("c", &far)]), [""; 0]);
}
