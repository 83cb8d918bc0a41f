//! The map as one page that needs nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::cards::{CardBlocks, image_sources};
use crate::colouring::{Class, Colouring, ColouringKind};
use crate::frame::{PITCH, ScaleBreak, YAW, normalise};
use crate::layer::{FigureLayer, MarkShape};
use crate::text::{count, escape, points};
use crate::{ClusterName, Error, Placed, Result, Scatter, palette};

pub(crate) const PAGE: &str = include_str!("../assets/page.html");
/// What is beside the map.
const LEGEND: &str = r#"<aside id="legend" aria-label="Legend"></aside>"#;
/// Colours, what the dashboard has too, and the page's own.
pub(crate) const STYLE: &str = concat!(
    include_str!("../assets/theme.css"),
    include_str!("../assets/base.css"),
    include_str!("../assets/page.css"),
    include_str!("../assets/clusters.css")
);
/// One module, in this order: what is known, how it is seen, how it is painted, how it answers, what is told of a point, of
/// those that are selected, of clusters, and what selected points have in common.
const SCRIPTS: [&str; 11] = [
    include_str!("../assets/data.js"),
    include_str!("../assets/camera.js"),
    include_str!("../assets/painter.js"),
    include_str!("../assets/legend.js"),
    include_str!("../assets/page.js"),
    include_str!("../assets/card.js"),
    include_str!("../assets/select.js"),
    include_str!("../assets/clusters.js"),
    include_str!("../assets/words.js"),
    include_str!("../assets/contrast.js"),
    include_str!("../assets/summary.js"),
];

/// The map as a single HTML file to look around in, offline: drag to pan (a 3-D map turns instead, and pans with
/// shift), wheel or pinch to zoom, hover for id and label, and for how a placed point came to its place, click for the
/// columns of its card, choose what to colour by, select points by a line around them, a legend that hides and shows, a
/// search for ids.
pub fn html(map: &Scatter) -> Result<String> {
    map.check()?;
    let title = if map.title.is_empty() { "Map" } else { map.title };
    let mut data = map_data(map);
    let mut blocks = CardBlocks::default();
    let placed_cards = map.newcomers().map_or(&[][..], |placed| placed.cards);
    data["cards"] = json!({ "own": blocks.add(map.cards), "placed": blocks.add(placed_cards) });
    if let Some(compared) = map.compared.filter(|compared| !compared.is_empty()) {
        data["compared"] = compared.add_to(&mut blocks);
    }
    data["others"] = map.choices.iter().map(|choice| colouring_data(&map.by_choice(choice))).collect();
    let data = serde_json::to_string(&data).map_err(|error| Error::Render(error.to_string()))?;
    Ok(fill(
        PAGE,
        &[
            ("title", &escape(title)),
            ("subtitle", &escape(map.subtitle)),
            ("count", &points(map.len())),
            ("placed", &map.placed.map_or(String::new(), |placed| placed.summary())),
            ("images", image_sources(map.cards.iter().chain(placed_cards))),
            ("side", LEGEND),
            ("below", ""),
            ("cards", &blocks.0),
            ("style", STYLE),
            ("script", &SCRIPTS.concat()),
            // Inside a script element only "<" can end it or open a comment, and in JSON it may always be escaped.
            ("data", &data.replace('<', "\\u003c")),
        ],
    ))
}

/// What the page is told; `data.js` reads it.
pub(crate) fn map_data(map: &Scatter) -> Value {
    let unit = normalise(map);
    let layers = FigureLayer::of(map);
    let mut data = json!({
        "n": map.len(),
        "dims": map.dims,
        "yaw": YAW,
        "pitch": PITCH,
        "layers": layers.iter().map(layer).collect::<Value>(),
        "points": STANDARD.encode(unit.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()),
        "ids": map.ids,
        "plain": palette::PLAIN.to_string(),
        "unlabelled": palette::UNLABELLED.to_string(),
    });
    if !map.clusters.is_empty() {
        data["clusters"] = map.clusters.iter().map(ClusterName::json).collect();
        data["namesOf"] = json!(map.names_of.map(|[map, by]| json!({ "map": map, "by": by })));
    }
    if let Some(placed) = map.newcomers() {
        data["placed"] = newcomers(placed, &layers);
    }
    if let Some(broken) = ScaleBreak::of(map) {
        data["scaleBreak"] = json!({ "note": broken.note(), "corners": broken.corners(map) });
    }
    let colouring = colouring_data(map);
    if let (Some(data), Value::Object(colouring)) = (data.as_object_mut(), colouring) {
        data.extend(colouring);
    }
    data
}

/// What the page is told of one way to colour.
fn colouring_data(map: &Scatter) -> Value {
    let colouring = Colouring::of(map);
    let labelled = map.newcomers().is_some_and(Placed::is_labelled);
    let mut data = json!({ "colouredBy": map.coloured_by, "placedLabelled": labelled });
    if !colouring.names.is_empty() {
        let (width, index) = narrow(&colouring.name_of, colouring.names.len());
        data["names"] = json!(colouring.names);
        data["index"] = json!({ "bytes": width, "data": STANDARD.encode(index) });
    }
    match &colouring.kind {
        ColouringKind::Plain => {}
        ColouringKind::Classes { classes, class_of } => {
            let anchors = colouring.anchors(map.dims, &normalise(map));
            let class = |(class, anchor): (&Class, Option<u32>)| {
                json!({
                    "name": class.name,
                    "count": class.count.to_string(),
                    "colour": class.colour.to_string(),
                    "anchor": anchor,
                    "few": class.few(),
                    "placedOnly": class.count.own == 0,
                })
            };
            data["classes"] = classes.iter().zip(anchors).map(class).collect();
            data["classOf"] = json!(class_of);
        }
        ColouringKind::Scale { low, high, missing, .. } => {
            let stops: Vec<String> = palette::SCALE.iter().map(ToString::to_string).collect();
            let ticks = [0.0, 0.5, 1.0].map(|share| crate::text::number(low * (1.0 - share) + high * share));
            data["scale"] =
                json!({ "low": low, "high": high, "stops": stops, "ticks": ticks, "missing": missing });
        }
    }
    data
}

fn layer(layer: &FigureLayer) -> Value {
    json!({
        "name": layer.name(),
        "count": count(layer.count),
        "diamond": layer.shape == MarkShape::Diamond,
        "size": layer.mark.map_or(1.0, crate::Mark::size),
        "radius": layer.radius,
        "opacity": layer.opacity,
        "rim": layer.rim,
    })
}

/// What the page is told of the points placed into the map.
fn newcomers(placed: &Placed, layers: &[FigureLayer]) -> Value {
    let layer_of = |mark| layers.iter().position(|layer| layer.mark == Some(mark)).unwrap_or_default() as u8;
    let layer_of: Vec<u8> = placed.marks.iter().map(|&mark| layer_of(mark)).collect();
    let bytes = |scores: &[f64]| scores.iter().flat_map(|score| score.to_le_bytes()).collect::<Vec<u8>>();
    // Few points are in a group, and a group's number may be larger than JavaScript can count.
    let grouped = |groups: &[Option<u64>]| {
        let pairs = groups.iter().enumerate().filter_map(|(at, group)| Some((at.to_string(), (*group)?)));
        pairs.map(|(at, group)| (at, json!(group.to_string()))).collect::<Value>()
    };
    json!({
        "n": placed.marks.len(),
        "heading": placed.heading(),
        "inGroups": placed.in_groups(),
        "mostSizes": crate::group_size::MOST,
        "layerOf": STANDARD.encode(layer_of),
        "ids": placed.ids,
        "groups": placed.groups.map(grouped),
        "scores": placed.scores.map(|scores| STANDARD.encode(bytes(scores))),
        "accent": palette::ACCENT.to_string(),
        "outlier": palette::OUTLIER.to_string(),
        "calm": palette::CALM,
    })
}

/// The indices as little-endian bytes, as few per index as `names` need.
fn narrow(index: &[u32], names: usize) -> (usize, Vec<u8>) {
    let width = if names <= 1 << 8 {
        1
    } else if names <= 1 << 16 {
        2
    } else {
        4
    };
    (width, index.iter().flat_map(|name| name.to_le_bytes().into_iter().take(width)).collect())
}

/// Replaces each `{{name}}` of the template by its value, in one pass, so that a value is never searched itself.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out =
        String::with_capacity(template.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        out.push_str(values.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_looks_like_a_place_stays_as_it_is() {
        assert_eq!(fill("<{{a}}|{{b}}>", &[("a", "{{b}}"), ("b", "x")]), "<{{b}}|x>");
    }

    #[test]
    fn every_place_of_the_page_is_filled() {
        let map = Scatter::new(2, &[0.0, 1.0]);
        assert!(!html(&map).unwrap().contains("{{"));
    }

    #[test]
    fn indices_take_as_few_bytes_as_they_can() {
        assert_eq!(narrow(&[1, 255], 256), (1, vec![1, 255]));
        assert_eq!(narrow(&[1, 256], 257), (2, vec![1, 0, 0, 1]));
        assert_eq!(narrow(&[65536], 65537), (4, vec![0, 0, 1, 0]));
    }
}
