//! The still picture, laid out: what `svg` writes down and `png` paints.

use std::fmt::Write;

use crate::colouring::{Colouring, ColouringKind};
use crate::frame::{FlatView, ScaleBreak, draw_order, normalise, view};
use crate::layer::FigureLayer;
use crate::palette::{self, Rgb};
use crate::text::{escape, shorten, width};
use crate::{ClusterName, Result, Scatter, legend};

/// The side of the map, in units of the figure (pixels at its natural size).
const MAP: f32 = 760.0;
pub(crate) const MARGIN: f32 = 24.0;
const INK: &str = "#1d2127";
pub(crate) const FAINT: &str = "#5d646c";
/// The family of the bundled font first, so that the PNG uses it; then what people have.
pub(crate) const FONTS: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// A rectangle, from its upper left corner.
#[derive(Clone, Copy)]
pub(crate) struct Rect {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Rect {
    pub(crate) fn overlaps(&self, other: &Rect) -> bool {
        (self.x - other.x) < other.width
            && (other.x - self.x) < self.width
            && (self.y - other.y) < other.height
            && (other.y - self.y) < self.height
    }
}

/// A point to draw, in units of the figure.
pub(crate) struct Dot {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) colour: Rgb,
}

/// A picture, ready to be written or painted.
pub(crate) struct Figure {
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// Where the points are.
    pub(crate) map: Rect,
    /// Lowest first, each with its points in the order in which to draw them.
    pub(crate) layers: Vec<(FigureLayer, Vec<Dot>)>,
    /// Everything but the points, as SVG elements, to be drawn over them.
    pub(crate) over: String,
}

impl Figure {
    /// Checks the map and lays out its picture.
    pub(crate) fn of(map: &Scatter) -> Result<Figure> {
        map.check()?;
        let colouring = Colouring::of(map);
        let layers = FigureLayer::of(map);
        let lines = legend::lines(map, &colouring, &layers);
        let view = view(map);
        let subtitled = !map.subtitle.is_empty() || map.placed.is_some();
        let top = MARGIN + if map.title.is_empty() { 0.0 } else { 32.0 } + if subtitled { 22.0 } else { 0.0 };
        let height = (MAP * aspect(&view)).max(legend::height(&lines));
        let area = Rect { x: MARGIN, y: top, width: MAP, height };
        let mut figure = Figure {
            width: area.x + area.width + legend::room(&lines) + MARGIN,
            height: area.y + area.height + MARGIN,
            map: area,
            layers: Vec::new(),
            over: String::new(),
        };
        let radius = layers[0].radius;
        let place = placing(&view, area, radius + 22.0);
        let places: Vec<[f32; 2]> = view.xy.iter().map(|&at| place(at)).collect();
        figure.head(map);
        figure.frame();
        if let Some(corners) = ScaleBreak::of(map).and_then(|broken| broken.corners(map)) {
            figure.dashed(corners.map(place));
        }
        let names = figure.names(&colouring, map, &places, radius);
        figure.group_sizes(map, &layers, &places, names);
        figure.legend(&lines, map.len());
        figure.layers = dots(layers, map, &view, &colouring, &places);
        Ok(figure)
    }

    /// Title and subtitle: the title shrinks before it is cut, and the subtitle is cut before what was placed.
    fn head(&mut self, map: &Scatter) {
        let available = self.width - 2.0 * MARGIN;
        let mut y = MARGIN;
        if !map.title.is_empty() {
            let size = (available / width(map.title)).clamp(15.0, 22.0);
            y += 20.0;
            self.text(
                [MARGIN, y],
                size,
                Style { weight: 600, ..PLAIN },
                &shorten(map.title, available / size),
            );
            y += 12.0;
        }
        let placed = map.placed.map_or(String::new(), |placed| placed.summary());
        let between = if map.subtitle.is_empty() || placed.is_empty() { "" } else { " · " };
        let room = available / 13.0 - width(between) - width(&placed);
        let subtitle = shorten(map.subtitle, room) + between + &placed;
        if !subtitle.is_empty() {
            self.text([MARGIN, y + 8.0], 13.0, Style { fill: FAINT, ..PLAIN }, &subtitle);
        }
    }

    /// A hairline: the axes of a t-SNE map mean nothing, so there are none.
    fn frame(&mut self) {
        let Rect { x, y, width, height } = self.map;
        let _ = writeln!(
            self.over,
            r##"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="none" stroke="#d5d9de"/>"##
        );
    }

    /// A dashed line around the map, beyond which the scale is another; from its lower left to its upper right corner, and a
    /// little outside.
    fn dashed(&mut self, [[left, bottom], [right, top]]: [[f32; 2]; 2]) {
        const GAP: f32 = 7.0;
        let (x, y) = (left - GAP, top - GAP);
        let (width, height) = (right - left + 2.0 * GAP, bottom - top + 2.0 * GAP);
        let _ = writeln!(
            self.over,
            r##"<rect id="scale-break" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="6" fill="none" stroke="#b3b9c0" stroke-dasharray="4 4"/>"##
        );
    }

    /// The name of each class on the map; the largest classes choose their place first, and a name that finds none
    /// free near its class is left to the legend. Says where they stand.
    fn names(&mut self, colouring: &Colouring, map: &Scatter, places: &[[f32; 2]], radius: f32) -> Vec<Rect> {
        const SIZE: f32 = 15.0;
        let names = match map.clusters {
            [] => of_classes(colouring, map),
            clusters => of_clusters(clusters),
        };
        if map.clusters.is_empty() && !matches!(colouring.kind, ColouringKind::Classes { .. }) {
            return Vec::new();
        }
        let mut taken: Vec<Rect> = Vec::new();
        let _ = writeln!(
            self.over,
            r##"<g stroke="#fff" stroke-width="4" stroke-linejoin="round" paint-order="stroke" text-anchor="middle">"##
        );
        for MapName { name, anchor, few, fill, room } in names {
            let name = shorten(name, room);
            let [x, y] = places[anchor as usize];
            let y = if few { y - radius - SIZE * 0.6 } else { y };
            let (w, h) = (width(&name) * SIZE, SIZE * 1.1);
            let low = self.map.x + w / 2.0 + 4.0;
            let x = x.clamp(low, (self.map.x + self.map.width - w / 2.0 - 4.0).max(low));
            let free = [0.0, -1.0, 1.0, -2.0, 2.0]
                .map(|step| Rect { x: x - w / 2.0, y: y - h / 2.0 + step * h, width: w, height: h })
                .into_iter()
                .find(|place| !taken.iter().any(|other| other.overlaps(place)));
            let Some(place) = free else { continue };
            let fill = fill.to_string();
            let style = Style { weight: 600, fill: &fill, ..PLAIN };
            self.text([x, place.y + h * 0.8], SIZE, style, &name);
            taken.push(place);
        }
        self.over.push_str("</g>\n");
        taken
    }

    /// A line of text from, or around, its place.
    pub(crate) fn text(&mut self, at: [f32; 2], size: f32, style: Style, text: &str) {
        write_text(&mut self.over, at, size, style, text);
    }

    /// The opening tag of the figure and of the group of `over`, and what closes them.
    pub(crate) fn wrap(&self, under: &str) -> String {
        let Figure { width, height, over, .. } = self;
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" font-family="{FONTS}">
{under}{over}</svg>
"##
        )
    }
}

/// A name to write on the map.
struct MapName<'a> {
    name: &'a str,
    /// The point where it stands.
    anchor: u32,
    /// Whether it would hide what it names.
    few: bool,
    fill: Rgb,
    /// How long it may be, in units of its size.
    room: f32,
}

/// The names of classes, the largest first. Without classes there are none, and no frame for them either.
fn of_classes<'a>(colouring: &'a Colouring, map: &Scatter) -> Vec<MapName<'a>> {
    let ColouringKind::Classes { classes, .. } = &colouring.kind else { return Vec::new() };
    let anchors = colouring.anchors(map.dims, &normalise(map));
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|&class| std::cmp::Reverse(classes[class].count.own));
    let name = |class: usize| {
        let fill = classes[class].colour.mix(palette::BLACK, 0.55);
        let (name, few) = (classes[class].name.as_str(), classes[class].few());
        anchors[class].map(|anchor| MapName { name, anchor, few, fill, room: 14.0 })
    };
    order.into_iter().filter_map(name).collect()
}

/// The names of the clusters of the coarsest level, the largest first.
fn of_clusters(clusters: &[ClusterName]) -> Vec<MapName<'_>> {
    let mut order: Vec<&ClusterName> =
        clusters.iter().filter(|cluster| cluster.levels[0] == 0 && !cluster.name.is_empty()).collect();
    order.sort_by_key(|cluster| (std::cmp::Reverse(cluster.size), cluster.id));
    let fill = palette::PLAIN.mix(palette::BLACK, 0.7);
    let written = order.into_iter().map(|cluster| MapName {
        name: &cluster.name,
        anchor: cluster.anchor,
        few: cluster.size < 8,
        fill,
        room: 20.0,
    });
    written.collect()
}

/// A line of text from, or around, its place, as an SVG element.
pub(crate) fn write_text(out: &mut String, [x, y]: [f32; 2], size: f32, style: Style, text: &str) {
    let Style { weight, fill, anchor } = style;
    let weight = if weight == 400 { String::new() } else { format!(r#" font-weight="{weight}""#) };
    let anchor = if anchor.is_empty() { String::new() } else { format!(r#" text-anchor="{anchor}""#) };
    let _ = writeln!(
        out,
        r#"<text x="{x:.1}" y="{y:.1}" font-size="{size:.1}" fill="{fill}"{weight}{anchor}>{}</text>"#,
        escape(text)
    );
}

/// How a text looks; an empty anchor is inherited.
#[derive(Clone, Copy)]
pub(crate) struct Style<'a> {
    pub(crate) weight: u16,
    pub(crate) fill: &'a str,
    pub(crate) anchor: &'static str,
}

pub(crate) const PLAIN: Style = Style { weight: 400, fill: INK, anchor: "" };

/// Height by width of the picture: that of the map, within what looks well.
fn aspect(view: &FlatView) -> f32 {
    let [x, y] = view.half;
    if x > 0.0 || y > 0.0 { (y / x).clamp(0.62, 1.15) } else { 1.0 }
}

/// Where a point goes: the same scale on both axes, centred, y up.
fn placing(view: &FlatView, area: Rect, pad: f32) -> impl Fn([f32; 2]) -> [f32; 2] + Copy {
    let room = [area.width / 2.0 - pad, area.height / 2.0 - pad];
    let scale =
        (0..2).filter(|&i| view.half[i] > 0.0).map(|i| room[i] / view.half[i]).fold(f32::INFINITY, f32::min);
    let scale = if scale.is_finite() { scale } else { 0.0 };
    let centre = [area.x + area.width / 2.0, area.y + area.height / 2.0];
    move |[x, y]| [centre[0] + x * scale, centre[1] - y * scale]
}

/// The points of each layer in drawing order. In 3-D the far ones fade, those placed less; under
/// placed points all of the map is pale.
fn dots(
    layers: Vec<FigureLayer>,
    map: &Scatter,
    view: &FlatView,
    colouring: &Colouring,
    places: &[[f32; 2]],
) -> Vec<(FigureLayer, Vec<Dot>)> {
    let calm = if layers.len() > 1 { palette::CALM } else { 0.0 };
    let mut layers: Vec<_> =
        layers.into_iter().map(|layer| (layer, Vec::with_capacity(layer.count))).collect();
    for point in draw_order(view) {
        let point = point as usize;
        let mark = point.checked_sub(map.len()).and_then(|at| map.newcomers().map(|placed| placed.marks[at]));
        let [x, y] = places[point];
        let (calm, most) = if mark.is_none() { (calm, 0.5) } else { (0.0, 0.3) };
        let colour = colouring.colour(point).mix(palette::WHITE, calm);
        let fade = view.depth.get(point).map_or(0.0, |depth| most * depth);
        if let Some((_, dots)) = layers.iter_mut().find(|(layer, _)| layer.mark == mark) {
            dots.push(Dot { x, y, colour: colour.mix(palette::WHITE, fade) });
        }
    }
    layers
}
