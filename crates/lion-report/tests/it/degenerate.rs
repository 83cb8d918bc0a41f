//! Odd maps make a sensible picture or one clear sentence, and never a panic.

use lion_report::{Compared, ComparedColumn, ComparedValues, Error, Result, Scatter, html, png, svg};
use proptest::prelude::*;

/// All three pictures; the SVG must be well-formed and free of what is not a number.
fn draw(map: &Scatter) -> Result<String> {
    let text = svg(map)?;
    roxmltree::Document::parse(&text).expect("well-formed");
    for word in ["NaN", "inf\"", "-inf"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    assert!(png(map, 200)?.starts_with(b"\x89PNG"));
    assert!(html(map)?.ends_with("</html>\n"));
    Ok(text)
}

fn sentence(map: &Scatter) -> String {
    let told = svg(map).expect_err("refused").to_string();
    assert_eq!(png(map, 200).expect_err("refused").to_string(), told);
    assert_eq!(html(map).expect_err("refused").to_string(), told);
    told
}

#[test]
fn what_cannot_be_drawn_is_refused_in_one_sentence() {
    assert_eq!(sentence(&Scatter::new(2, &[])), "the map has no points: there is nothing to draw");
    assert_eq!(
        sentence(&Scatter::new(4, &[0.0; 8])),
        "a 4-dimensional map cannot be drawn: fit it with 2 or 3 dimensions"
    );
    assert_eq!(
        sentence(&Scatter::new(0, &[0.0])),
        "a 0-dimensional map cannot be drawn: fit it with 2 or 3 dimensions"
    );
    assert_eq!(
        sentence(&Scatter::new(2, &[0.0; 5])),
        "the list of coordinates has 5 entries where the map needs 4: give one whole row of coordinates per point"
    );
    assert_eq!(
        sentence(&Scatter::new(2, &[0.0; 6]).labels(&["a".to_owned()])),
        "the list of labels has 1 entries where the map needs 3: give one per point or none at all"
    );
    assert_eq!(
        sentence(&Scatter::new(2, &[0.0; 2]).ids(&[])),
        "the list of ids has 0 entries where the map needs 1: give one per point or none at all"
    );
    assert_eq!(
        sentence(&Scatter::new(3, &[0.0, 1.0, 2.0, 3.0, f32::NAN, 5.0])),
        "row 1, column 1 of the map is NaN: every coordinate must be a finite number"
    );
    assert_eq!(
        sentence(&Scatter::new(2, &[0.0, f32::INFINITY])),
        "row 0, column 1 of the map is inf: every coordinate must be a finite number"
    );
}

#[test]
fn a_width_that_makes_no_picture_is_refused() {
    for width in [0, 99, 10_001, u32::MAX] {
        let told = png(&Scatter::new(2, &[0.0, 0.0]), width);
        assert!(matches!(told, Err(Error::Width(found)) if found == width));
    }
    assert_eq!(
        png(&Scatter::new(2, &[0.0, 0.0]), 0).unwrap_err().to_string(),
        "a picture 0 pixels wide cannot be made: ask for 100 to 10000"
    );
}

#[test]
fn one_point_equal_points_and_lines_are_drawn() {
    for points in [
        vec![3.0, -7.0],
        vec![5.0; 40],
        (0..40).map(|i| if i % 2 == 0 { i as f32 } else { 1.0 }).collect(),
        (0..40).map(|i| if i % 2 == 1 { i as f32 } else { 1.0 }).collect(),
        vec![f32::MAX, f32::MIN, f32::MIN, f32::MAX],
        vec![f32::MIN_POSITIVE, 0.0, 0.0, f32::MIN_POSITIVE],
        vec![0.0, 0.0, f32::from_bits(1), 0.0],
    ] {
        let text = draw(&Scatter::new(2, &points)).unwrap();
        assert_eq!(text.matches("<circle").count(), points.len() / 2);
    }
    draw(&Scatter::new(3, &[1.0, 2.0, 3.0])).unwrap();
    draw(&Scatter::new(3, &[4.0; 30])).unwrap();
}

#[test]
fn a_thousand_labels_are_nineteen_and_the_rest() {
    let points: Vec<f32> = (0..4000).map(|i| (i as f32 * 0.37).sin()).collect();
    let labels: Vec<String> = (0..2000).map(|i| format!("label {}", i % 1000)).collect();
    let text = draw(&Scatter::new(2, &points).labels(&labels)).unwrap();
    assert!(text.contains("981 others"));
}

#[test]
fn a_thousand_numbers_are_a_scale() {
    let points: Vec<f32> = (0..4000).map(|i| (i as f32 * 0.37).sin()).collect();
    let labels: Vec<String> = (0..2000).map(|i| format!("{}", i % 1000)).collect();
    let text = draw(&Scatter::new(2, &points).labels(&labels)).unwrap();
    assert!(text.contains("linearGradient") && text.contains(">999<"));
}

#[test]
fn numbers_whose_span_is_not_finite_are_a_scale_too() {
    let mut labels: Vec<String> = (0..30).map(|i| format!("{i}e306")).collect();
    labels[0] = "-1.7e308".to_owned();
    labels[1] = "1.7e308".to_owned();
    draw(&Scatter::new(2, &[1.0; 60]).labels(&labels)).unwrap();
    let same: Vec<String> = (0..30).map(|i| format!("1.{}", "0".repeat(i))).collect();
    draw(&Scatter::new(2, &[1.0; 60]).labels(&same)).unwrap();
}

#[test]
fn points_without_a_label_are_said_to_be_so() {
    let labels = ["a", "", " ", "b"].map(String::from);
    let text = draw(&Scatter::new(2, &[0.0, 0.0, 1.0, 1.0, 2.0, 0.0, 3.0, 1.0]).labels(&labels)).unwrap();
    assert!(text.contains("unlabelled"));
    draw(&Scatter::new(2, &[0.0, 1.0]).labels(&[String::new()])).unwrap();
}

/// Mostly any finite number at all; now and then not a number.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![60 => any::<f32>(), 1 => prop::num::f32::ANY]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any title, any labels, any coordinates.
    #[test]
    fn nothing_panics(
        title in any::<String>(),
        rows in prop::collection::vec((number(), number(), number(), any::<String>()), 1..40),
        dims in 2_usize..=3,
    ) {
        let points: Vec<f32> = rows.iter().flat_map(|(x, y, z, _)| [*x, *y, *z].into_iter().take(dims)).collect();
        let texts: Vec<String> = rows.into_iter().map(|row| row.3).collect();
        let map = Scatter::new(dims, &points).title(&title).subtitle(&title).labels(&texts).ids(&texts);
        if points.iter().all(|value| value.is_finite()) {
            prop_assert!(svg(&map).is_ok_and(|text| roxmltree::Document::parse(&text).is_ok()));
            prop_assert!(png(&map, 100).is_ok());
            prop_assert!(html(&map).is_ok_and(|page| page.matches("</script").count() == 3));
        } else {
            let refused = matches!(svg(&map), Err(Error::NotFinite { .. }));
            prop_assert!(refused);
        }
    }
}

#[test]
fn values_to_compare_by_must_be_as_many_as_the_points() {
    let column = |rows: usize| ComparedColumn {
        name: "n",
        values: ComparedValues::Numbers((0..rows).map(|row| row as f64).collect()),
    };
    let two = Compared::pack(1, |_| column(2), 1000, None).unwrap();
    let points = [0.0, 0.0, 1.0, 1.0, 2.0, 2.0];
    let error = html(&Scatter::new(2, &points).compared(&two)).unwrap_err().to_string();
    assert!(error.contains("a column to compare by"), "{error}");
    assert!(Compared::pack(2, |at| column(2 + at), 1000, None).is_err());
    let none = ComparedColumn { name: "c", values: ComparedValues::Categories(&[], &[9, 9, 9]) };
    let three = Compared::pack(2, |at| if at == 0 { column(3) } else { none.clone() }, 1000, Some("text"));
    assert!(html(&Scatter::new(2, &points).compared(&three.unwrap())).unwrap().contains("\"leftOut\":0"));
}
