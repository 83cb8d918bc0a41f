//! Charts, images, landings and heat maps: what they show, what they leave out and say so, what they refuse.

use lion_report::{
    Axis, Chart, Heat, ImageCell, ImageRow, Images, Landing, LandingPoint, Picture, Result, Scatter, Series,
    Stroke, panel,
};
use proptest::prelude::*;
use resvg::tiny_skia::Pixmap;
use roxmltree::{Document, Node};

fn axis(log: bool) -> Axis {
    Axis { label: String::new(), log, range: None }
}

fn line(name: &str, points: &[[f64; 2]]) -> Series {
    Series { name: name.to_owned(), points: points.to_vec(), style: Stroke::Line, reference: false }
}

fn chart(series: Vec<Series>) -> Chart {
    Chart { title: "A chart".to_owned(), x: axis(false), y: axis(false), series, notes: vec![] }
}

fn refusal<T>(result: Result<T>) -> String {
    result.map(|_| ()).unwrap_err().to_string()
}

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn elements<'a>(document: &'a Document, tag: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(move |node| node.has_tag_name(tag))
}

fn texts(picture: &Picture) -> Vec<String> {
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    elements(&document, "text").filter_map(|node| node.text().map(str::to_owned)).collect()
}

/// The frame around the plot: left, top, right, bottom.
fn frame(document: &Document) -> [f64; 4] {
    let frame = elements(document, "rect").find(|node| node.attribute("stroke") == Some("#d5d9de")).unwrap();
    let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| number(frame, name));
    [x, y, x + width, y + height]
}

/// The paths of the lines, in the order of drawing.
fn lines(picture: &Picture) -> Vec<String> {
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    let inner = elements(&document, "svg").nth(1).unwrap();
    inner.children().filter_map(|node| node.attribute("d").map(str::to_owned)).collect()
}

#[test]
fn a_line_goes_through_its_points_and_breaks_where_there_is_none() {
    let whole = chart(vec![line("a", &[[0.0, 0.0], [1.0, 1.0], [2.0, 4.0], [3.0, 9.0]])]).picture().unwrap();
    let path = &lines(&whole)[0];
    assert_eq!((path.matches('M').count(), path.matches('L').count()), (1, 3), "{path}");
    let broken = [[0.0, 0.0], [1.0, 1.0], [2.0, f64::NAN], [3.0, 9.0], [4.0, 3.0]];
    let broken = chart(vec![line("a", &broken)]).picture().unwrap();
    let path = &lines(&broken)[0];
    assert_eq!((path.matches('M').count(), path.matches('L').count()), (2, 2), "{path}");
    assert!(!texts(&broken).iter().any(|text| text.contains("no place")), "a gap needs no words");
}

#[test]
fn names_in_the_plot_are_beside_their_lines_and_on_nothing() {
    let names = ["one", "another", "a third"];
    let series = |at: usize| {
        line(names[at], &[[0.0, 5.0 - at as f64], [2.0 * at as f64 + 2.0, 2.0 - 0.5 * at as f64]])
    };
    let picture = chart((0..3).map(series).collect()).picture_with_names_in_plot().unwrap();
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    let [left, top, right, bottom] = frame(&document);
    let at = |name: &str| {
        let node = elements(&document, "text").find(|node| node.text() == Some(name)).unwrap();
        [number(node, "x"), number(node, "y")]
    };
    for (name, path) in names.iter().zip(lines(&picture)) {
        let [x, y] = at(name);
        assert!(x >= left && x < right && y > top && y < bottom, "{name} is in the plot");
        let numbers: Vec<f64> = path.split(['M', 'L', ' ']).filter_map(|part| part.parse().ok()).collect();
        let near = numbers.chunks(2).any(|end| (end[0] - x).abs() < 80.0 && (end[1] - y).abs() < 30.0);
        assert!(near, "{name} at {x}, {y} is beside {path}");
    }
    let heights: Vec<f64> = names.iter().map(|name| at(name)[1]).collect();
    assert!(heights.windows(2).all(|pair| (pair[0] - pair[1]).abs() > 1.0));
}

#[test]
fn names_without_room_in_the_plot_are_in_the_legend() {
    let many: Vec<Series> = (0..60)
        .map(|at| line(&format!("line {at}"), &[[0.0, f64::from(at)], [1.0, f64::from(at)]]))
        .collect();
    let picture = chart(many).picture_with_names_in_plot().unwrap();
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    let bottom = frame(&document)[3];
    let named = |node: &Node| node.text().is_some_and(|text| text.starts_with("line "));
    let below = elements(&document, "text").filter(named).filter(|node| number(*node, "y") > bottom).count();
    assert_eq!(below, 60);
}

#[test]
fn an_area_is_tinted_below_all_lines_and_has_its_sample() {
    let area = Series {
        name: "band".to_owned(),
        points: vec![[0.0, 1.0], [2.0, 3.0], [2.0, 1.0], [0.0, 0.0]],
        style: Stroke::Area,
        reference: true,
    };
    let picture = chart(vec![line("a", &[[0.0, 0.0], [2.0, 2.0]]), area]).picture().unwrap();
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    let tinted: Vec<&str> = elements(&document, "path")
        .filter(|path| path.attribute("fill-opacity").is_some())
        .filter_map(|path| path.attribute("d"))
        .collect();
    // The band itself, closed, and its sample in the legend; no marks at its corners.
    assert_eq!(tinted.len(), 2, "{tinted:?}");
    assert_eq!((tinted[0].matches('L').count(), tinted[0].ends_with('z')), (3, true), "{tinted:?}");
    assert_eq!(lines(&picture)[0], tinted[0]);
    assert_eq!(elements(&document, "circle").count(), 0);
    assert!(texts(&picture).contains(&"band".to_owned()));
}

#[test]
fn a_point_between_two_gaps_is_still_seen() {
    let points = [[0.0, 1.0], [1.0, f64::NAN], [2.0, 2.0], [3.0, f64::NAN], [4.0, 1.0], [5.0, 2.0]];
    let svg = chart(vec![line("", &points)]).picture().unwrap().svg();
    assert_eq!(elements(&Document::parse(&svg).unwrap(), "circle").count(), 2);
}

#[test]
fn what_a_logarithmic_axis_cannot_show_is_counted() {
    let mut chart = chart(vec![line("a", &[[1.0, 1.0], [10.0, 0.0], [100.0, -5.0], [1000.0, 3.0]])]);
    chart.y.log = true;
    assert!(texts(&chart.picture().unwrap()).contains(&"2 points have no place on these axes.".to_owned()));
    chart.series[0].points = vec![[1.0, 0.0]];
    assert_eq!(refusal(chart.picture()), "the chart \"A chart\" has nothing to show");
}

#[test]
fn a_series_without_points_stays_in_the_legend_and_a_chart_without_any_is_refused() {
    let some = line("some", &[[0.0, 1.0], [1.0, 2.0]]);
    let texts = texts(&chart(vec![some, line("none", &[])]).picture().unwrap());
    assert!(
        texts.contains(&"some".to_owned()) && texts.contains(&"none (no points)".to_owned()),
        "{texts:?}"
    );
    for series in [vec![], vec![line("none", &[])], vec![line("nan", &[[f64::NAN, 1.0]])]] {
        assert_eq!(refusal(chart(series).picture()), "the chart \"A chart\" has nothing to show");
    }
}

#[test]
fn few_lines_are_named_at_their_ends_and_many_below_and_no_name_is_on_the_plot() {
    for count in [1, 3, 8, 9, 30] {
        let series = (0..count).map(|k| {
            let rise = f64::from(k);
            line(&format!("series {k}"), &[[0.0, rise], [1.0, rise * 1.1], [2.0, 5.0]])
        });
        let picture = chart(series.collect()).picture().unwrap();
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        let [left, _, right, bottom] = frame(&document);
        let names: Vec<Node> = elements(&document, "text")
            .filter(|node| node.text().is_some_and(|text| text.starts_with("series")))
            .collect();
        assert_eq!(names.len(), count as usize);
        for name in &names {
            let (x, y) = (number(*name, "x"), number(*name, "y"));
            assert!(if count <= 8 { x > right } else { y > bottom + 10.0 && x < right }, "{count}: {x} {y}");
        }
        let mut heights: Vec<f64> = names.iter().map(|name| number(*name, "y")).collect();
        heights.sort_by(f64::total_cmp);
        if count <= 8 {
            assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 13.0), "{heights:?}");
        }
        assert!(left > 0.0);
    }
}

#[test]
fn a_line_that_ends_early_is_named_below() {
    let series = vec![line("short", &[[0.0, 1.0], [2.0, 2.0]]), line("long", &[[0.0, 1.0], [10.0, 3.0]])];
    let svg = chart(series).picture().unwrap().svg();
    let document = Document::parse(&svg).unwrap();
    let bottom = frame(&document)[3];
    let name = |text| elements(&document, "text").find(|node| node.text() == Some(text)).unwrap();
    assert!(number(name("short"), "y") > bottom && number(name("long"), "y") > bottom);
}

#[test]
fn marks_outside_a_range_are_not_drawn_and_a_range_that_makes_no_axis_is_refused() {
    let mut chart = chart(vec![Series {
        style: Stroke::Points,
        ..line("", &[[0.0, 1.0], [0.5, 2.0], [0.7, 99.0], [7.0, 2.0]])
    }]);
    (chart.x.range, chart.y.range) = (Some([0.0, 1.0]), Some([0.0, 10.0]));
    let svg = chart.picture().unwrap().svg();
    assert_eq!(elements(&Document::parse(&svg).unwrap(), "circle").count(), 2);
    chart.y.range = Some([3.0, 3.0]);
    assert_eq!(
        refusal(chart.picture()),
        "the y axis of the chart cannot go from 3 to 3: give two finite numbers, the lower one first"
    );
}

#[test]
fn a_reference_is_grey_and_below_all_others() {
    let grey = Series { reference: true, ..line("baseline", &[[0.0, 1.0], [1.0, 1.0]]) };
    let picture = chart(vec![line("a", &[[0.0, 0.0], [1.0, 2.0]]), grey]).picture().unwrap();
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    let inner = elements(&document, "svg").nth(1).unwrap();
    let strokes: Vec<&str> = inner.children().filter_map(|node| node.attribute("stroke")).collect();
    assert_eq!(strokes[0], "#8a8d91");
    assert_eq!(strokes.len(), 2);
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -1e3..1e3, 1 => any::<f64>(), 1 => Just(f64::NAN), 1 => Just(0.0), 1 => 1e-12..1e12]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn any_numbers_make_a_whole_picture_or_a_sentence(
        points in prop::collection::vec([any_number(), any_number()], 0..30),
        log in any::<[bool; 2]>(),
        style in 0..4_usize,
        range in prop::option::of([any_number(), any_number()]),
    ) {
        let style = [Stroke::Line, Stroke::Dashed, Stroke::Points, Stroke::LineAndPoints][style];
        let series = Series { style, ..line("<a>", &points) };
        let mut chart = chart(vec![series]);
        (chart.x.log, chart.y.log, chart.y.range) = (log[0], log[1], range);
        match chart.picture() {
            Ok(picture) => {
                let svg = picture.svg();
                prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
                prop_assert!(Document::parse(&svg).is_ok());
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

fn cell(pixels: &[f32]) -> ImageCell {
    ImageCell { pixels: pixels.to_vec(), caption: "7".to_owned() }
}

fn images(cells: Vec<ImageCell>) -> Images {
    let rows = vec![ImageRow { heading: "digits".to_owned(), cells }];
    Images { title: "Images".to_owned(), width: 2, height: 2, rows }
}

/// The images inside a picture, as pixels.
fn embedded(picture: &Picture) -> Vec<Pixmap> {
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    let decode = |node: Node| {
        let data = node.attribute("href").unwrap().strip_prefix("data:image/png;base64,").unwrap();
        let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, data).unwrap();
        Pixmap::decode_png(&bytes).unwrap()
    };
    elements(&document, "image").map(decode).collect()
}

#[test]
fn images_are_ink_on_paper_in_the_svg_and_in_the_png() {
    let picture = images(vec![cell(&[0.0, 1.0, 0.5, 7.0]), cell(&[1.0; 4])]).picture().unwrap();
    let shown = embedded(&picture);
    let greys: Vec<u8> = shown[0].pixels().iter().map(|pixel| pixel.red()).collect();
    assert_eq!(greys, [255, 0, 127, 0]);
    assert_eq!(shown.len(), 2);
    let all = texts(&picture);
    assert!(all.contains(&"digits".to_owned()) && all.iter().filter(|text| *text == "7").count() == 2);

    // Every pixel is 28 units wide, and a unit is two pixels of the PNG: large squares with sharp edges.
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    let image = elements(&document, "image").next().unwrap();
    assert_eq!(image.attribute("image-rendering"), Some("pixelated"));
    let png = Pixmap::decode_png(&picture.png().unwrap()).unwrap();
    let at = |dx: f64, dy: f64| {
        let place = |name, by: f64| ((number(image, name) + by) * 2.0) as u32;
        png.pixel(place("x", dx), place("y", dy)).unwrap().red()
    };
    assert_eq!([at(5.0, 5.0), at(26.0, 5.0), at(30.0, 5.0), at(50.0, 5.0)], [255, 255, 0, 0]);
    assert_eq!([at(5.0, 40.0), at(50.0, 40.0)], [127, 0]);
}

#[test]
fn long_rows_of_images_are_broken_into_equal_lines() {
    let picture = images(vec![cell(&[0.5; 4]); 30]).picture().unwrap();
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    let tops: std::collections::BTreeMap<i64, usize> =
        elements(&document, "image").fold(Default::default(), |mut tops, node| {
            *tops.entry(number(node, "y") as i64).or_default() += 1;
            tops
        });
    assert_eq!(tops.into_values().collect::<Vec<_>>(), [10, 10, 10]);
}

#[test]
fn images_that_cannot_be_drawn_are_refused() {
    assert_eq!(refusal(images(vec![]).picture()), "the grid of images \"Images\" has nothing to show");
    assert_eq!(
        refusal(images(vec![cell(&[0.0; 4]), cell(&[0.0; 3])]).picture()),
        "image 1 in row 0 of \"Images\" has 3 pixels where 4 are needed"
    );
    assert_eq!(
        refusal(images(vec![cell(&[0.0, f32::NAN, 0.0, 0.0])]).picture()),
        "image 0 in row 0 of \"Images\" has a pixel that is not a number"
    );
}

fn landed(name: &str, at: [f32; 2]) -> LandingPoint {
    LandingPoint { name: name.to_owned(), at, expected: None, outlier: false }
}

fn square(n: usize) -> (Vec<f32>, Vec<String>) {
    let points = (0..n).flat_map(|at| [(at % 10) as f32, (at / 10 % 10) as f32]).collect();
    (points, (0..n).map(|at| (at % 3).to_string()).collect())
}

fn landing<'a>(map: &'a [f32], labels: &'a [String], landed: Vec<LandingPoint>) -> Landing<'a> {
    Landing { title: "Landing".to_owned(), map, labels, landed }
}

#[test]
fn what_landed_has_its_number_its_line_and_its_mark() {
    let (map, labels) = square(100);
    let mut new = vec![landed("1", [2.0, 2.0]), landed("2", [2.0, 2.1]), landed("", [7.0, 3.0])];
    new[0].expected = Some([8.0, 8.0]);
    new[1].outlier = true;
    let picture = landing(&map, &labels, new).picture().unwrap();
    let texts = texts(&picture);
    for text in ["Landing", "1", "2", "landed", "outlier", "expected"] {
        assert!(texts.contains(&text.to_owned()), "{text} in {texts:?}");
    }
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    // Two that landed and one in the legend; no badge covers another.
    assert_eq!(elements(&document, "circle").count(), 3);
    let badges: Vec<Node> =
        elements(&document, "rect").filter(|node| node.attribute("rx").is_some()).collect();
    assert_eq!(badges.len(), 2);
    let [a, b] =
        [badges[0], badges[1]].map(|badge| ["x", "y", "width", "height"].map(|name| number(badge, name)));
    assert!(a[0] + a[2] <= b[0] || b[0] + b[2] <= a[0] || a[1] + a[3] <= b[1] || b[1] + b[3] <= a[1]);
    // The map is one path for each label.
    let paths = elements(&document, "path").filter(|node| node.attribute("stroke-linecap").is_some());
    assert_eq!(paths.map(|node| node.attribute("d").unwrap().matches('M').count()).sum::<usize>(), 100);
}

#[test]
fn what_landed_far_away_is_an_arrow_and_the_map_keeps_its_size() {
    let (map, labels) = square(100);
    let width = |landed| {
        let svg = landing(&map, &labels, landed).picture().unwrap().svg();
        let document = Document::parse(&svg).unwrap();
        let path =
            elements(&document, "path").find(|node| node.attribute("stroke-linecap").is_some()).unwrap();
        let xs: Vec<f64> = path
            .attribute("d")
            .unwrap()
            .split('M')
            .skip(1)
            .map(|part| part.split(' ').next().unwrap().parse().unwrap())
            .collect();
        (xs.iter().copied().fold(f64::MIN, f64::max) - xs.iter().copied().fold(f64::MAX, f64::min), svg)
    };
    let (near, _) = width(vec![landed("1", [4.0, 4.0])]);
    let (far, svg) =
        width(vec![landed("1", [4.0, 4.0]), landed("2", [1e9, -3e4]), landed("3", [f32::MAX, f32::MIN])]);
    assert_eq!(near, far);
    assert!(svg.contains("2 farther out") && !svg.contains("NaN"));
    let (some, _) = width(vec![landed("1", [12.0, 4.0])]);
    assert!(some < near, "what is not so far is in the picture");
}

#[test]
fn a_large_map_is_an_image_and_an_odd_one_is_refused() {
    let (map, labels) = square(6000);
    let picture = landing(&map, &labels, vec![landed("1", [0.0, 0.0])]).picture().unwrap();
    assert_eq!(embedded(&picture).len(), 1);
    assert!(picture.svg().len() < 400_000);

    let (map, labels) = square(4);
    assert_eq!(
        refusal(landing(&[], &[], vec![]).picture()),
        "the map has no points: there is nothing to draw"
    );
    assert!(
        refusal(landing(&map, &labels[1..], vec![]).picture())
            .starts_with("the list of labels has 3 entries")
    );
    assert!(refusal(landing(&map, &labels, vec![landed("1", [0.0, f32::NAN])]).picture()).contains("NaN"));
    // Without labels, without extent, without anything new: still a picture.
    assert!(landing(&map, &[], vec![]).picture().is_ok());
    assert!(landing(&[1.0; 8], &[], vec![landed("1", [9.0, 9.0])]).picture().is_ok());
}

fn heat(values: &[&[Option<f64>]], low_is_good: bool) -> Heat {
    Heat {
        title: "Heat".to_owned(),
        rows: (0..values.len()).map(|row| format!("row {row}")).collect(),
        columns: (0..values[0].len()).map(|column| format!("column {column}")).collect(),
        values: values.iter().map(|row| row.to_vec()).collect(),
        unit: "loss".to_owned(),
        low_is_good,
    }
}

/// Where the frames of the best are, as rows and columns by the cells' own corners.
fn best(picture: &Picture) -> usize {
    let svg = picture.svg();
    let document = Document::parse(&svg).unwrap();
    elements(&document, "rect").filter(|node| node.attribute("stroke-width") == Some("2.5")).count()
}

#[test]
fn a_heat_map_names_its_numbers_and_frames_the_best() {
    let values: [&[Option<f64>]; 2] =
        [&[Some(1.25), None, Some(3.0)], &[Some(f64::NAN), Some(0.5), Some(2.0)]];
    for low_is_good in [true, false] {
        let picture = heat(&values, low_is_good).picture().unwrap();
        let texts = texts(&picture);
        for text in ["1.25", "3.00", "0.50", "2.00", "row 1", "column 2", "loss"] {
            assert!(texts.contains(&text.to_owned()), "{text} in {texts:?}");
        }
        assert!(!texts.iter().any(|text| text.contains("NaN")));
        assert_eq!(best(&picture), 1);
        // The best is yellow, the worst is violet.
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        let cells: Vec<&str> = elements(&document, "rect")
            .filter(|node| node.attribute("stroke") == Some("#fff"))
            .map(|node| node.attribute("fill").unwrap())
            .collect();
        assert_eq!(cells.len(), 6);
        let (three, half) = (cells[2], cells[4]);
        assert_eq!(if low_is_good { [half, three] } else { [three, half] }, ["#e2e418", "#481467"]);
    }
}

#[test]
fn heat_maps_together_have_one_best_and_ragged_ones_are_refused() {
    let [a, b] = [heat(&[&[Some(1.0), Some(2.0)]], true), heat(&[&[Some(3.0), Some(4.0)]], true)];
    assert_eq!(best(&Heat::together("Both", &[a.clone(), b.clone()], 2).unwrap()), 1);
    assert_eq!(best(&panel("Each", &[a.picture().unwrap(), b.picture().unwrap()], 2).unwrap()), 2);
    assert_eq!(refusal(heat(&[&[None]], true).picture()), "the grid \"Heat\" has nothing to show");
    assert_eq!(refusal(Heat::together("Both", &[], 2)), "the panel \"Both\" has nothing to show");
    let mut ragged = b;
    ragged.values.push(vec![Some(1.0)]);
    assert_eq!(refusal(ragged.picture()), "the grid \"Heat\" has 2 rows of numbers where 1 are needed");
    ragged.rows.push("more".to_owned());
    assert_eq!(refusal(ragged.picture()), "row 1 of the grid \"Heat\" has 1 numbers where 2 are needed");
    // Extremes and equals.
    assert!(heat(&[&[Some(f64::MAX), Some(f64::MIN)]], true).picture().is_ok());
    assert!(heat(&[&[Some(0.0), Some(0.0)]], false).picture().is_ok());
}

#[test]
fn a_panel_holds_its_pictures_side_by_side_and_their_ids_apart() {
    let years: Vec<String> = (0..40).map(|year| format!("{}.5", 1980 + year)).collect();
    let points: Vec<f32> = (0..80).map(|at| (at * 37 % 101) as f32).collect();
    let map = Picture::map(&Scatter::new(2, &points).labels(&years)).unwrap();
    let both = panel("Two maps", &[map.clone(), map.clone(), map.clone()], 2).unwrap();
    let [one, whole] = [&map, &both].map(|picture| {
        let svg = picture.svg();
        let document = Document::parse(&svg).unwrap();
        ["width", "height"].map(|name| number(document.root_element(), name))
    });
    assert_eq!(whole[0], 2.0 * one[0]);
    assert!((2.0 * one[1]..2.0 * one[1] + 60.0).contains(&whole[1]));
    let svg = both.svg();
    let document = Document::parse(&svg).unwrap();
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert!(ids.len() >= 3 && distinct.len() == ids.len(), "{ids:?}");
    assert!(Pixmap::decode_png(&both.png().unwrap()).unwrap().width() == 2 * whole[0] as u32);

    assert_eq!(refusal(panel("None", &[], 2)), "the panel \"None\" has nothing to show");
    assert_eq!(refusal(panel("None", &[map], 0)), "pictures cannot stand in 0 columns: ask for at least 1");
}

#[test]
fn the_same_picture_has_the_same_bytes() {
    let (map, labels) = square(300);
    let draw = || {
        let pictures = [
            chart(vec![line("a", &[[0.0, 1.0], [1.0, 2.0]])]).picture().unwrap(),
            landing(&map, &labels, vec![landed("1", [3.0, 3.0])]).picture().unwrap(),
            images(vec![cell(&[0.1, 0.2, 0.3, 0.4])]).picture().unwrap(),
            heat(&[&[Some(1.0), Some(2.0)]], true).picture().unwrap(),
        ];
        let whole = panel("All", &pictures, 2).unwrap();
        (whole.svg(), whole.png().unwrap())
    };
    assert!(draw() == draw());
}
