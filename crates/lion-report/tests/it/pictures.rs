//! Good maps make good pictures.

use lion_report::{Scatter, html, png, svg};
use resvg::tiny_skia::Pixmap;
use roxmltree::Document;

use crate::{PixelGrid, data};

fn pixels(bytes: &[u8]) -> Pixmap {
    Pixmap::decode_png(bytes).expect("a PNG file")
}

/// The attribute of every element with that name.
fn attributes<'a>(document: &'a Document, tag: &str, name: &str) -> Vec<&'a str> {
    document
        .descendants()
        .filter(|node| node.has_tag_name(tag))
        .filter_map(|node| node.attribute(name))
        .collect()
}

fn texts<'a>(document: &'a Document) -> Vec<&'a str> {
    document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect()
}

#[test]
fn an_svg_has_a_circle_per_point_a_legend_and_names_on_the_map() {
    let grid = PixelGrid::new(2, 10, 30);
    let text = svg(&grid.scatter(2)).unwrap();
    let document = Document::parse(&text).unwrap();
    // 300 points and ten dots of the legend.
    assert_eq!(attributes(&document, "circle", "cx").len(), 310);
    let fills: std::collections::BTreeSet<_> = attributes(&document, "circle", "fill").into_iter().collect();
    assert_eq!(fills.len(), 10);
    let texts = texts(&document);
    assert!(texts.contains(&"A title") && texts.contains(&"and more") && texts.contains(&"300 points"));
    for class in 0..10 {
        let name = format!("class {class}");
        assert_eq!(
            texts.iter().filter(|text| **text == name).count(),
            2,
            "{name}: on the map and in the legend"
        );
    }
}

#[test]
fn both_axes_have_the_same_scale() {
    let points = [0.0, 0.0, 8.0, 0.0, 8.0, 6.0];
    let text = svg(&Scatter::new(2, &points)).unwrap();
    let document = Document::parse(&text).unwrap();
    let span = |name| {
        let all: Vec<f32> =
            attributes(&document, "circle", name).iter().map(|v| v.parse().unwrap()).collect();
        all.iter().copied().fold(f32::MIN, f32::max) - all.iter().copied().fold(f32::MAX, f32::min)
    };
    assert!((span("cx") / span("cy") - 8.0 / 6.0).abs() < 1e-3);
}

#[test]
fn many_points_become_one_image_and_the_words_stay_words() {
    let grid = PixelGrid::new(2, 10, 2500);
    let text = svg(&grid.scatter(2)).unwrap();
    assert!(text.len() < 5_000_000, "{} bytes", text.len());
    let document = Document::parse(&text).unwrap();
    let images = attributes(&document, "image", "href");
    assert_eq!(images.len(), 1);
    let bytes = images[0].strip_prefix("data:image/png;base64,").expect("a PNG inside");
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, bytes).unwrap();
    assert!(pixels(&bytes).pixels().iter().any(|pixel| pixel.alpha() > 0));
    assert!(texts(&document).contains(&"25,000 points"));
}

#[test]
fn a_png_has_the_width_asked_for_and_the_colour_of_every_class() {
    for dims in [2, 3] {
        let grid = PixelGrid::new(dims, 10, 200);
        let map = grid.scatter(dims);
        let text = svg(&map).unwrap();
        let document = Document::parse(&text).unwrap();
        let picture = pixels(&png(&map, 1500).unwrap());
        assert_eq!(picture.width(), 1500);
        let (width, height): (f32, f32) = (
            document.root_element().attribute("width").unwrap().parse().unwrap(),
            document.root_element().attribute("height").unwrap().parse().unwrap(),
        );
        assert!((picture.height() as f32 - 1500.0 * height / width).abs() <= 2.0);
        // The dots of the legend come last; the map itself is to the left of them, so look only there.
        let fills = attributes(&document, "circle", "fill");
        let legend = fills[fills.len() - 10..].iter().collect::<std::collections::BTreeSet<_>>();
        assert_eq!(legend.len(), 10);
        let map_only = |i: usize| (i % 1500) < 1500 * 700 / width as usize;
        for fill in legend {
            let colour = [1, 3, 5].map(|at| f32::from(u8::from_str_radix(&fill[at..at + 2], 16).unwrap()));
            let seen = picture.pixels().iter().enumerate().filter(|(i, _)| map_only(*i));
            let found =
                seen.filter(|(_, pixel)| paler([pixel.red(), pixel.green(), pixel.blue()], colour)).count();
            assert!(found > 50, "{fill} in {dims}-D: {found} pixels");
        }
    }
}

/// Whether a pixel is this colour or a mixture of it with some white: points are translucent, and far ones fade.
fn paler(pixel: [u8; 3], colour: [f32; 3]) -> bool {
    let pixel = pixel.map(f32::from);
    // The darkest channel tells best how much white there is.
    let darkest = (0..3).min_by(|&a, &b| colour[a].total_cmp(&colour[b])).unwrap();
    let white = (pixel[darkest] - colour[darkest]) / (255.0 - colour[darkest]);
    white < 0.65 && (0..3).all(|c| (colour[c] + white * (255.0 - colour[c]) - pixel[c]).abs() <= 3.0)
}

#[test]
fn the_words_of_a_png_are_set_in_the_bundled_font() {
    let points = [0.0, 0.0, 1.0, 1.0];
    let bare = pixels(&png(&Scatter::new(2, &points), 800).unwrap());
    let titled = pixels(&png(&Scatter::new(2, &points).title("Ωμέγα, Ж, é"), 800).unwrap());
    let dark = |picture: &Pixmap| picture.pixels().iter().filter(|pixel| pixel.red() < 80).count();
    assert!(dark(&titled) > dark(&bare) + 300, "{} and {}", dark(&titled), dark(&bare));
}

#[test]
fn the_same_map_gives_the_same_bytes() {
    for dims in [2, 3] {
        let grid = PixelGrid::new(dims, 7, 60);
        let map = grid.scatter(dims);
        assert_eq!(svg(&map).unwrap(), svg(&map).unwrap());
        assert_eq!(png(&map, 600).unwrap(), png(&map, 600).unwrap());
        assert_eq!(html(&map).unwrap(), html(&map).unwrap());
    }
}

#[test]
fn a_page_holds_every_point_id_and_label_and_no_address() {
    let grid = PixelGrid::new(2, 10, 30);
    let page = html(&grid.scatter(2)).unwrap();
    let data = data(&page);
    assert_eq!(data["n"], 300);
    assert_eq!(data["ids"][299], "id299");
    assert_eq!(data["classes"].as_array().unwrap().len(), 10);
    let decode = |text: &serde_json::Value| {
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text.as_str().unwrap()).unwrap()
    };
    let points = decode(&data["points"]);
    assert_eq!(points.len(), 300 * 2 * 4);
    let largest =
        points.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()).abs()).fold(0.0, f32::max);
    assert_eq!(largest, 1.0);
    let index = decode(&data["index"]["data"]);
    assert!(index.iter().zip(&grid.labels).all(|(&at, label)| data["names"][usize::from(at)] == **label));
    assert!(!page.contains("http://") && !page.contains("https://"));
}

#[test]
fn hostile_text_stays_text() {
    let nasty = [
        "</script><script>alert(1)</script>",
        "\"q\" & 'a' <b>",
        "two\nlines\u{0}\u{8}",
        "日本語 ☃ \u{2028}",
        "]]>{{data}}",
    ];
    let labels = nasty.map(String::from);
    let ids = nasty.map(|text| format!("id {text}"));
    let points = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.5, 0.5];
    let map = Scatter::new(2, &points).title(nasty[0]).subtitle(nasty[1]).labels(&labels).ids(&ids);

    let text = svg(&map).unwrap();
    let document = Document::parse(&text).expect("well-formed whatever the labels");
    assert!(texts(&document).contains(&nasty[0]));
    assert!(document.descendants().all(|node| !node.has_tag_name("script")));
    assert!(png(&map, 400).is_ok());

    let page = html(&map).unwrap();
    // The three scripts of the page and no other; what looks like one inside the data is escaped.
    assert_eq!(page.matches("<script").count(), 3);
    assert_eq!(page.matches("</script").count(), 3);
    let data = data(&page);
    assert!(ids.iter().enumerate().all(|(at, id)| data["ids"][at] == **id));
    let names: Vec<&str> =
        data["names"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    assert!(labels.iter().all(|label| names.contains(&label.trim())));
}
