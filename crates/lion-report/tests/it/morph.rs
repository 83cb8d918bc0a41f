//! Two maps: as a page and side by side.

use crate::data;
use lion_report::{Error, Morph, MorphChange, Within};

/// Four rows: two in both maps, one in each alone; the second map is the first turned by a quarter and twice as large.
struct Pair {
    from: Vec<f32>,
    to: Vec<f32>,
    ids: Vec<String>,
    labels: Vec<String>,
    changes: Vec<MorphChange>,
}

const WITHIN: [Within; 4] = [Within::Both, Within::Both, Within::First, Within::Second];
const CLUSTERS: [Option<u32>; 4] = [Some(0), Some(0), None, Some(0)];

impl Pair {
    fn new() -> Self {
        let names = |names: [&str; 4]| names.map(String::from).to_vec();
        Self {
            from: vec![0.0, 0.0, 1.0, 0.0, 2.0, 1.0, 0.0, 0.0],
            to: vec![1.0, 1.0, 1.0, 3.0, 0.0, 0.0, 5.0, 5.0],
            ids: names(["one", "two", "</script><b>", "four"]),
            labels: names(["oak", "elm", "oak", "a & b"]),
            changes: vec![MorphChange {
                kind: "Born".into(),
                name: "<i>".into(),
                words: "of new rows".into(),
                count: "1 row".into(),
                only: Some(Within::Second),
                clusters: [vec![], vec![0]],
            }],
        }
    }

    fn morph(&self) -> Morph<'_> {
        Morph {
            title: "a → b",
            subtitle: "one & two",
            names: ["a", "b"],
            dims: 2,
            from: &self.from,
            to: &self.to,
            matrix: &[0.0, -2.0, 2.0, 0.0],
            shift: &[1.0, 1.0],
            within: &WITHIN,
            ids: &self.ids,
            labels: Some(&self.labels),
            moved: &[0.0, 0.5, 0.0, 0.0],
            overlap: &[1.0, 0.25, 0.0, 0.0],
            cluster_of: [&CLUSTERS, &CLUSTERS],
            clusters: [&[], &[]],
            changes: &self.changes,
        }
    }
}

#[test]
fn the_page_knows_both_maps() {
    let pair = Pair::new();
    let page = pair.morph().html().unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && !page.contains("{{"));
    assert!(page.contains("2 rows in both, 1 only in a, 1 only in b") && page.contains("one &amp; two"));
    let told = data(&page);
    assert_eq!(told["n"], 4);
    let change = &told["morph"]["changes"][0];
    assert_eq!((&change["b"], &change["end"]), (&serde_json::json!([0]), &1.into()));
    let turn = &told["morph"]["turn"];
    assert_eq!((&turn["flip"], &turn["axis"]), (&false.into(), &serde_json::json!([0.0, 0.0, 1.0])));
    assert!((turn["angle"].as_f64().unwrap() - std::f64::consts::FRAC_PI_2).abs() < 1e-9);
    assert_eq!(page, pair.morph().html().unwrap());
}

#[test]
fn the_picture_has_both_maps_and_a_caption() {
    let pair = Pair::new();
    let picture = pair.morph().picture().unwrap();
    let svg = picture.svg();
    assert!(roxmltree::Document::parse(&svg).is_ok(), "{svg}");
    for part in ["1 only in a", "Ringed", "the row that moved by at least 0.1", "oak"] {
        assert!(svg.contains(part), "{part}");
    }
    assert!(picture.png().unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn all_at_one_place_or_mirrored_in_space_can_be_drawn() {
    let pair = Pair::new();
    let still = vec![3.0; 8];
    let flat = Morph { from: &still, to: &still, matrix: &[0.0; 4], ..pair.morph() };
    assert!(flat.html().is_ok() && flat.picture().is_ok());
    let space = vec![0.5; 12];
    let mirror = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0];
    let cube = Morph { dims: 3, from: &space, to: &space, matrix: &mirror, shift: &[0.0; 3], ..pair.morph() };
    assert_eq!(data(&cube.html().unwrap())["morph"]["turn"]["flip"], true);
    assert!(cube.picture().is_ok());
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let pair = Pair::new();
    let morph = pair.morph();
    assert!(matches!(Morph { dims: 1, ..morph }.html(), Err(Error::Dimensions(1))));
    assert!(matches!(Morph { ids: &pair.ids[..3], ..morph }.html(), Err(Error::Length { .. })));
    assert!(matches!(Morph { matrix: &[1.0; 3], ..morph }.picture(), Err(Error::Length { .. })));
    assert!(matches!(Morph { moved: &[f64::NAN; 4], ..morph }.html(), Err(Error::Score { .. })));
    assert!(matches!(Morph { matrix: &[f64::INFINITY; 4], ..morph }.html(), Err(Error::Render(_))));
    let broken = [f32::NAN; 8];
    assert!(matches!(Morph { to: &broken, ..morph }.html(), Err(Error::NotFinite { .. })));
}
