//! Points placed into a map: each is drawn as what it is, and counted.

use std::collections::BTreeSet;

use lion_report::{Error, Mark, Placed, Scatter, html, png, svg};
use proptest::prelude::*;
use resvg::tiny_skia::Pixmap;
use roxmltree::{Document, Node};

use crate::{PixelGrid, data};

const OUTLIER: &str = "#ff3b00";
/// The groups of the SVG.
const IDS: [(&str, Mark); 4] = [
    ("exact", Mark::Exact),
    ("interpolated", Mark::Interpolated),
    ("beside-outlier", Mark::BesideOutlier),
    ("outlier", Mark::Outlier),
];

/// Twelve placed points: seven interpolated, one exact, one beside an outlier, three outliers in two groups.
struct TestPlacements {
    points: Vec<f32>,
    marks: Vec<Mark>,
    ids: Vec<String>,
    labels: Vec<String>,
    groups: Vec<Option<u64>>,
    scores: Vec<f64>,
}

impl TestPlacements {
    fn new(grid: &PixelGrid, dims: usize) -> TestPlacements {
        let mut marks = vec![Mark::Interpolated; 7];
        marks.extend([Mark::Exact, Mark::BesideOutlier, Mark::Outlier, Mark::Outlier, Mark::Outlier]);
        let mut points = grid.points[..9 * dims].to_vec();
        for far in [[40.0, 2.0, 1.0], [41.0, 2.0, 1.0], [-20.0, -20.0, 2.0]] {
            points.extend(&far[..dims]);
        }
        let mut labels = grid.labels[..9].to_vec();
        labels.extend(vec!["noise".to_owned(); 3]);
        let mut groups = vec![None; 9];
        groups.extend([Some(4), Some(4), Some(u64::MAX)]);
        let ids = (1..=12).map(|i| format!("new{i}")).collect();
        TestPlacements {
            points,
            marks,
            ids,
            labels,
            groups,
            scores: (0..12).map(|i| f64::from(i) / 12.0).collect(),
        }
    }

    fn placed(&self) -> Placed<'_> {
        Placed::new(&self.points, &self.marks)
            .ids(&self.ids)
            .labels(&self.labels)
            .groups(&self.groups)
            .scores(&self.scores)
    }
}

fn group<'a>(document: &'a Document, id: &str) -> Vec<Node<'a, 'a>> {
    let found = document.descendants().find(|node| node.attribute("id") == Some(id));
    found.map_or(Vec::new(), |group| group.children().filter(Node::is_element).collect())
}

fn fills(nodes: &[Node]) -> BTreeSet<String> {
    nodes.iter().filter_map(|node| node.attribute("fill")).map(String::from).collect()
}

/// What the SVG says, in order.
fn words(document: &Document) -> Vec<String> {
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.filter_map(|node| node.text()).map(String::from).collect()
}

/// The count that follows a name in the legend.
fn counted(words: &[String], name: &str) -> Option<String> {
    words.iter().rposition(|word| word == name).map(|at| words[at + 1].clone())
}

#[test]
fn every_mark_has_its_shape_and_its_count() {
    for dims in [2, 3] {
        let grid = PixelGrid::new(dims, 3, 40);
        let new = TestPlacements::new(&grid, dims);
        let text = svg(&grid.scatter(dims).placed(new.placed())).unwrap();
        let document = Document::parse(&text).unwrap();
        let shapes = |id, tag| group(&document, id).iter().filter(|node| node.has_tag_name(tag)).count();
        assert_eq!(shapes("points", "circle"), 120);
        assert_eq!(shapes("interpolated", "circle"), 7);
        assert_eq!(shapes("exact", "circle"), 1);
        assert_eq!(shapes("beside-outlier", "path"), 1);
        assert_eq!(shapes("outlier", "path"), 3);

        let words = words(&document);
        assert!(words.contains(&"and more · 12 placed, 3 outliers".to_owned()), "{words:?}");
        assert!(words.contains(&"120 points".to_owned()) && words.contains(&"12 placed".to_owned()));
        for (name, count) in [
            ("class 0", "40"),
            ("interpolated", "7"),
            ("exact", "1"),
            ("beside-outlier", "1"),
            ("outlier", "3"),
        ] {
            assert_eq!(counted(&words, name).as_deref(), Some(count), "{name}");
        }
        assert_eq!(counted(&words, "3").as_deref(), Some("in 2 groups (×2: a group of 2)"));
    }
}

#[test]
fn placed_points_have_the_colour_of_their_label_the_map_steps_back_and_outliers_warn() {
    let grid = PixelGrid::new(2, 3, 40);
    let new = TestPlacements::new(&grid, 2);
    let alone = svg(&grid.scatter(2)).unwrap();
    let text = svg(&grid.scatter(2).placed(new.placed())).unwrap();
    let (alone, document) = (Document::parse(&alone).unwrap(), Document::parse(&text).unwrap());
    let classes = fills(&group(&alone, "points"));
    assert_eq!(fills(&group(&document, "interpolated")), classes);
    assert!(fills(&group(&document, "points")).is_disjoint(&classes));
    for id in ["outlier", "beside-outlier"] {
        assert_eq!(fills(&group(&document, id)), BTreeSet::from([OUTLIER.to_owned()]));
    }
    // The label of the outliers colours nothing, so the legend does not have it.
    assert!(!words(&document).contains(&"noise".to_owned()));

    // Without labels, one colour that is none of the map's.
    let bare = Placed::new(&new.points, &new.marks);
    let text = svg(&grid.scatter(2).placed(bare)).unwrap();
    let document = Document::parse(&text).unwrap();
    let accent = fills(&group(&document, "interpolated"));
    assert_eq!(accent.len(), 1);
    assert!(accent.is_disjoint(&classes) && !accent.contains(OUTLIER));
    assert!(!text.contains("in 2 groups"));
}

/// The sizes of groups that the SVG tells: what a pointer is told, and the words with their place.
fn group_sizes<'a>(document: &'a Document) -> Vec<(&'a str, &'a str, [f32; 2])> {
    let of = |node: &Node<'a, 'a>| {
        let child = |tag| node.children().find(|child: &Node| child.has_tag_name(tag));
        let text = child("text")?;
        let at = ["x", "y"].map(|name| text.attribute(name).and_then(|v| v.parse().ok()).unwrap());
        Some((child("title")?.text()?, text.text()?, at))
    };
    group(document, "group-sizes").iter().filter_map(of).collect()
}

#[test]
fn a_group_of_more_than_one_outlier_tells_its_size_once() {
    for dims in [2, 3] {
        let grid = PixelGrid::new(dims, 3, 40);
        let new = TestPlacements::new(&grid, dims);
        let text = svg(&grid.scatter(dims).placed(new.placed())).unwrap();
        let document = Document::parse(&text).unwrap();
        let sizes = group_sizes(&document);
        // Two of group 4; the third outlier is alone in its group.
        assert_eq!(sizes.len(), 1, "{sizes:?}");
        assert_eq!((sizes[0].0, sizes[0].1), ("group 4: 2 outliers", "×2"));
        // Beside its diamonds, nearer than to the other group.
        let middles: Vec<[f32; 2]> = group(&document, "outlier")
            .iter()
            .map(|diamond| {
                let path = diamond.attribute("d").unwrap();
                let corners: Vec<f32> =
                    path.split(['M', 'L', ' ', 'z']).filter_map(|number| number.parse().ok()).collect();
                [corners[0], corners[3]]
            })
            .collect();
        let [x, y] = sizes[0].2;
        let near = middles.iter().filter(|at| (at[0] - x).hypot(at[1] - y) < 60.0).count();
        assert_eq!(near, 2, "{middles:?} around {x} {y}");
    }
    // Without groups, without outliers, and for those of other verdicts there is nothing to tell.
    let grid = PixelGrid::new(2, 3, 40);
    let new = TestPlacements::new(&grid, 2);
    let bare = Placed::new(&new.points, &new.marks);
    assert!(!svg(&grid.scatter(2).placed(bare)).unwrap().contains("group-sizes"));
    let marks = vec![Mark::Interpolated; 12];
    let calm = Placed::new(&new.points, &marks).groups(&new.groups);
    assert!(!svg(&grid.scatter(2).placed(calm)).unwrap().contains("group-sizes"));
}

#[test]
fn sizes_of_many_groups_cover_neither_each_other_nor_leave_the_frame() {
    let grid = PixelGrid::new(2, 3, 40);
    // 300 pairs in a lattice so dense that not all sizes find a place, and one group of 1,200 in a single place.
    let mut points: Vec<f32> = (0..600).flat_map(|i| [(i / 2 % 20) as f32, (i / 40) as f32 * 0.6]).collect();
    points.extend([30.0, 3.0].repeat(1200));
    let groups: Vec<Option<u64>> =
        (0..600).map(|i| Some(i / 2)).chain(std::iter::repeat_n(Some(999), 1200)).collect();
    let marks = vec![Mark::Outlier; 1800];
    let map = grid.scatter(2).placed(Placed::new(&points, &marks).groups(&groups));
    let text = svg(&map).unwrap();
    let document = Document::parse(&text).unwrap();
    let sizes = group_sizes(&document);
    assert_eq!((sizes[0].0, sizes[0].1), ("group 999: 1200 outliers", "×1,200"));
    assert!(sizes.len() > 20 && sizes.len() <= 100, "{}", sizes.len());
    for (at, (.., a)) in sizes.iter().enumerate() {
        for (.., b) in &sizes[at + 1..] {
            assert!((a[0] - b[0]).abs() > 10.0 || (a[1] - b[1]).abs() > 13.0, "{a:?} and {b:?}");
        }
    }
    assert!(png(&map, 400).is_ok());
    let story = data(&html(&map).unwrap());
    assert_eq!(story["placed"]["inGroups"], "in 301 groups (×1,200: a group of 1,200)");
    assert_eq!(story["placed"]["mostSizes"], 100);
}

#[test]
fn the_frame_holds_every_placed_point() {
    for dims in [2, 3] {
        let grid = PixelGrid::new(dims, 3, 40);
        let new = TestPlacements::new(&grid, dims);
        let text = svg(&grid.scatter(dims).placed(new.placed())).unwrap();
        let document = Document::parse(&text).unwrap();
        let number =
            |node: &Node, name| node.attribute(name).and_then(|value| value.parse::<f32>().ok()).unwrap();
        let frame = document
            .descendants()
            .find(|node| node.has_tag_name("rect") && node.attribute("stroke").is_some())
            .unwrap();
        let [left, top] = ["x", "y"].map(|name| number(&frame, name));
        let (right, bottom) = (left + number(&frame, "width"), top + number(&frame, "height"));
        for diamond in group(&document, "outlier") {
            let path = diamond.attribute("d").unwrap();
            let corners: Vec<f32> =
                path.split(['M', 'L', ' ', 'z']).filter_map(|number| number.parse().ok()).collect();
            assert_eq!(corners.len(), 8, "{path}");
            for corner in corners.chunks(2) {
                assert!((left..right).contains(&corner[0]) && (top..bottom).contains(&corner[1]), "{path}");
            }
        }
        for dot in group(&document, "points") {
            assert!(
                (left..right).contains(&number(&dot, "cx")) && (top..bottom).contains(&number(&dot, "cy"))
            );
        }
    }
}

#[test]
fn a_png_shows_the_diamonds_where_the_svg_has_them() {
    let grid = PixelGrid::new(2, 3, 40);
    let new = TestPlacements::new(&grid, 2);
    let map = grid.scatter(2).placed(new.placed());
    let text = svg(&map).unwrap();
    let document = Document::parse(&text).unwrap();
    let width: f32 = document.root_element().attribute("width").unwrap().parse().unwrap();
    let picture = Pixmap::decode_png(&png(&map, width as u32 * 2).unwrap()).unwrap();
    for diamond in group(&document, "outlier") {
        let path = diamond.attribute("d").unwrap();
        let corners: Vec<f32> =
            path.split(['M', 'L', ' ', 'z']).filter_map(|number| number.parse().ok()).collect();
        let middle = [corners[0], corners[3]].map(|at| (2.0 * at) as u32);
        let pixel = picture.pixel(middle[0], middle[1]).unwrap();
        assert_eq!([pixel.red(), pixel.green(), pixel.blue()], [0xff, 0x3b, 0x00], "{path}");
    }
}

#[test]
fn many_placed_points_are_an_image_and_the_outliers_among_them_stay_shapes() {
    let grid = PixelGrid::new(2, 3, 10);
    let points: Vec<f32> = grid.points.iter().copied().cycle().take(50_000).collect();
    let mut marks = vec![Mark::Interpolated; 25_000];
    marks[7] = Mark::Outlier;
    let text = svg(&grid.scatter(2).placed(Placed::new(&points, &marks))).unwrap();
    let document = Document::parse(&text).unwrap();
    let images: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("image"))
        .filter_map(|node| node.attribute("id"))
        .collect();
    assert_eq!(images, ["interpolated"]);
    assert_eq!(group(&document, "outlier").len(), 1);
    assert_eq!(counted(&words(&document), "interpolated").as_deref(), Some("24,999"));
}

#[test]
fn a_page_knows_every_placed_point() {
    let grid = PixelGrid::new(2, 3, 40);
    let new = TestPlacements::new(&grid, 2);
    let page = html(&grid.scatter(2).placed(new.placed())).unwrap();
    assert!(page.contains(r#"<span id="placed">12 placed, 3 outliers</span>"#));
    let data = data(&page);
    assert_eq!((&data["n"], &data["placed"]["n"]), (&120.into(), &12.into()));
    assert_eq!(data["placed"]["ids"][11], "new12");
    // A number that JavaScript could not hold stays exact as text.
    assert_eq!(
        data["placed"]["groups"],
        serde_json::json!({ "9": "4", "10": "4", "11": "18446744073709551615" })
    );
    assert_eq!(data["placed"]["inGroups"], "in 2 groups (×2: a group of 2)");
    let decode = |text: &serde_json::Value| {
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text.as_str().unwrap()).unwrap()
    };
    assert_eq!(decode(&data["points"]).len(), 132 * 2 * 4);
    let names: Vec<&str> =
        data["layers"].as_array().unwrap().iter().map(|layer| layer["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["map", "exact", "interpolated", "beside-outlier", "outlier"]);
    let layers = decode(&data["placed"]["layerOf"]);
    assert!(layers.iter().zip(&new.marks).all(|(&layer, mark)| match mark {
        Mark::Exact => layer == 1,
        Mark::Interpolated => layer == 2,
        Mark::BesideOutlier => layer == 3,
        Mark::Outlier => layer == 4,
        Mark::Placed => false,
    }));
    let scores: Vec<f64> = decode(&data["placed"]["scores"])
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(scores, new.scores);
}

#[test]
fn outliers_are_not_counted_where_nobody_knows_them() {
    let grid = PixelGrid::new(2, 3, 40);
    let map = Scatter::new(2, &grid.points);
    let page = html(&map.placed(Placed::new(&grid.points[..6], &[Mark::Placed; 3]))).unwrap();
    assert!(page.contains(r#"<span id="placed">3 placed</span>"#));
    assert_eq!(data(&page)["layers"][1]["name"], "placed");
}

#[test]
fn a_label_that_only_placed_points_have_is_added_to_the_legend() {
    let grid = PixelGrid::new(2, 3, 40);
    let labels = ["class 9", "class 9"].map(String::from);
    let placed = Placed::new(&[1.0, 1.0, 2.0, 2.0], &[Mark::Interpolated; 2]).labels(&labels);
    let text = svg(&grid.scatter(2).placed(placed)).unwrap();
    let words = words(&Document::parse(&text).unwrap());
    assert_eq!(counted(&words, "class 9").as_deref(), Some("+2"));
    assert_eq!(counted(&words, "class 2").as_deref(), Some("40"));
}

#[test]
fn nothing_placed_changes_nothing_but_says_so() {
    let grid = PixelGrid::new(2, 3, 40);
    let text = svg(&grid.scatter(2).placed(Placed::new(&[], &[]))).unwrap();
    let alone = svg(&grid.scatter(2)).unwrap();
    assert_eq!(text.replace(" · 0 placed, 0 outliers", ""), alone);
    assert!(html(&grid.scatter(2).placed(Placed::new(&[], &[]))).unwrap().contains("0 placed, 0 outliers"));
}

#[test]
fn what_does_not_fit_together_is_refused_in_one_sentence() {
    let points = [0.0; 6];
    let map = Scatter::new(2, &points);
    let marks = [Mark::Interpolated; 2];
    let sentence = |placed: Placed| {
        let map = map.placed(placed);
        let told = svg(&map).expect_err("refused").to_string();
        assert_eq!(png(&map, 200).expect_err("refused").to_string(), told);
        assert_eq!(html(&map).expect_err("refused").to_string(), told);
        told
    };
    let two = [0.5; 4];
    let one = ["a".to_owned()];
    let list = |what: &str, found: usize| {
        format!(
            "the list of {what} has {found} entries where the layer of placed points needs 2: give one per point or none at all"
        )
    };
    assert_eq!(
        sentence(Placed::new(&two[..3], &marks)),
        "the list of coordinates has 3 entries where the layer of placed points needs 2: give one whole row of coordinates per point"
    );
    assert_eq!(
        sentence(Placed::new(&two, &marks[..1])),
        "the list of marks has 1 entries where the layer of placed points needs 2: give one per point"
    );
    assert_eq!(sentence(Placed::new(&two, &marks).ids(&one)), list("ids", 1));
    assert_eq!(sentence(Placed::new(&two, &marks).labels(&one)), list("labels", 1));
    assert_eq!(sentence(Placed::new(&two, &marks).groups(&[])), list("groups", 0));
    assert_eq!(sentence(Placed::new(&two, &marks).scores(&[0.1; 3])), list("scores", 3));
    assert_eq!(
        sentence(Placed::new(&[0.0, 1.0, f32::NEG_INFINITY, 1.0], &marks)),
        "row 1, column 0 of the layer of placed points is -inf: every coordinate must be a finite number"
    );
    assert_eq!(
        sentence(Placed::new(&two, &marks).scores(&[0.5, f64::NAN])),
        "the score of placed point 1 is NaN: every score must be a finite number"
    );
}

#[test]
fn the_same_placed_points_give_the_same_bytes() {
    let grid = PixelGrid::new(3, 7, 60);
    let new = TestPlacements::new(&grid, 3);
    let map = grid.scatter(3).placed(new.placed());
    assert_eq!(svg(&map).unwrap(), svg(&map).unwrap());
    assert_eq!(png(&map, 600).unwrap(), png(&map, 600).unwrap());
    assert_eq!(html(&map).unwrap(), html(&map).unwrap());
}

/// Mostly any finite number at all; now and then not a number.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![100 => any::<f64>(), 1 => Just(f64::NAN)]
}

fn mark() -> impl Strategy<Value = Mark> {
    prop::sample::select(IDS.map(|(_, mark)| mark).to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any labels, any finite coordinates, any marks, in a map of any kind: drawn, each point once.
    #[test]
    fn every_placed_point_is_drawn_once(
        own in prop::collection::vec((any::<[f32; 3]>(), "[0-9a-c]{0,2}"), 1..60),
        new in prop::collection::vec((any::<[f32; 3]>(), mark(), any::<String>(), any::<Option<u64>>(), score()), 0..40),
        dims in 2_usize..=3,
        (labelled, newly_labelled) in any::<(bool, bool)>(),
    ) {
        let points: Vec<f32> = own.iter().flat_map(|(p, _)| p[..dims].to_vec()).collect();
        let labels: Vec<String> = own.into_iter().map(|(_, label)| label).collect();
        let places: Vec<f32> = new.iter().flat_map(|(p, ..)| p[..dims].to_vec()).collect();
        let marks: Vec<Mark> = new.iter().map(|row| row.1).collect();
        let texts: Vec<String> = new.iter().map(|row| row.2.clone()).collect();
        let groups: Vec<Option<u64>> = new.iter().map(|row| row.3).collect();
        let scores: Vec<f64> = new.iter().map(|row| row.4).collect();
        let mut placed = Placed::new(&places, &marks).ids(&texts).groups(&groups).scores(&scores);
        let mut map = Scatter::new(dims, &points);
        if labelled {
            map = map.labels(&labels);
        }
        if newly_labelled {
            placed = placed.labels(&texts);
        }
        let map = map.placed(placed);
        match svg(&map) {
            Ok(text) => {
                prop_assert!(scores.iter().all(|score| score.is_finite()));
                let document = Document::parse(&text).unwrap();
                for (id, mark) in IDS {
                    let count = marks.iter().filter(|&&other| other == mark).count();
                    prop_assert_eq!(group(&document, id).len(), count);
                }
                prop_assert_eq!(group(&document, "points").len(), points.len() / dims);
                prop_assert!(png(&map, 100).is_ok());
                prop_assert!(html(&map).is_ok_and(|page| page.matches("</script").count() == 3));
            }
            Err(Error::Score { row, .. }) => prop_assert!(!scores[row].is_finite()),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}
