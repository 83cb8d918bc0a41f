//! The still picture, laid out: what `svg` writes down and `png` paints.

use std::fmt::Write;

use crate::colouring::{Class, Colouring, Kind};
use crate::frame::{View, draw_order, normalise, view};
use crate::palette::{self, Rgb};
use crate::text::{count, escape, number, points, shorten, width};
use crate::{Result, Scatter};

/// The side of the map, in units of the figure (pixels at its natural size).
const MAP: f32 = 760.0;
const MARGIN: f32 = 24.0;
/// The height of one line of the legend.
const LINE: f32 = 19.0;
const INK: &str = "#1d2127";
const FAINT: &str = "#5d646c";
/// The family of the bundled font first, so that the PNG uses it; then what people have.
const FONTS: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// A rectangle, from its upper left corner.
#[derive(Clone, Copy)]
pub(crate) struct Rect {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Rect {
    fn overlaps(&self, other: &Rect) -> bool {
        (self.x - other.x) < other.width
            && (other.x - self.x) < self.width
            && (self.y - other.y) < other.height
            && (other.y - self.y) < self.height
    }
}

/// A point to draw, in units of the figure.
pub(crate) struct Mark {
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
    /// In the order in which to draw them.
    pub(crate) marks: Vec<Mark>,
    pub(crate) radius: f32,
    pub(crate) opacity: f32,
    /// Everything but the points, as SVG elements, to be drawn over them.
    pub(crate) over: String,
}

impl Figure {
    /// Checks the map and lays out its picture.
    pub(crate) fn of(map: &Scatter) -> Result<Figure> {
        map.check()?;
        let colouring = Colouring::of(map);
        let view = view(map);
        let n = map.len();
        let (radius, opacity) = (radius(n), opacity(n));

        let top = MARGIN
            + if map.title.is_empty() { 0.0 } else { 32.0 }
            + if map.subtitle.is_empty() { 0.0 } else { 22.0 };
        let area = Rect { x: MARGIN, y: top, width: MAP, height: MAP * aspect(&view) };
        let legend = legend_width(&colouring);
        let mut figure = Figure {
            width: area.x + area.width + legend + MARGIN,
            height: area.y + area.height + MARGIN,
            map: area,
            marks: Vec::new(),
            radius,
            opacity,
            over: String::new(),
        };
        let places = place(&view, area, radius + 22.0);
        figure.head(map);
        figure.frame();
        figure.names(&colouring, map, &places);
        figure.legend(&colouring, n);
        figure.marks = marks(&view, &colouring, &places);
        Ok(figure)
    }

    /// Title and subtitle: the title shrinks before it is cut.
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
        if !map.subtitle.is_empty() {
            let style = Style { fill: FAINT, ..PLAIN };
            self.text([MARGIN, y + 8.0], 13.0, style, &shorten(map.subtitle, available / 13.0));
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

    /// The name of each class on the map; the largest classes choose their place first, and a name that finds none
    /// free near its class is left to the legend.
    fn names(&mut self, colouring: &Colouring, map: &Scatter, places: &[[f32; 2]]) {
        const SIZE: f32 = 15.0;
        let Kind::Classes { classes, .. } = &colouring.kind else { return };
        let anchors = colouring.anchors(map.dims, &normalise(map));
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.sort_by_key(|&class| std::cmp::Reverse(classes[class].count));
        let mut taken: Vec<Rect> = Vec::new();
        let _ = writeln!(
            self.over,
            r##"<g stroke="#fff" stroke-width="4" stroke-linejoin="round" paint-order="stroke" text-anchor="middle">"##
        );
        for class in order {
            let Some(anchor) = anchors[class] else { continue };
            let name = shorten(&classes[class].name, 14.0);
            let [x, y] = places[anchor as usize];
            let y = if classes[class].few() { y - self.radius - SIZE * 0.6 } else { y };
            let (w, h) = (width(&name) * SIZE, SIZE * 1.1);
            let low = self.map.x + w / 2.0 + 4.0;
            let x = x.clamp(low, (self.map.x + self.map.width - w / 2.0 - 4.0).max(low));
            let free = [0.0, -1.0, 1.0, -2.0, 2.0]
                .map(|step| Rect { x: x - w / 2.0, y: y - h / 2.0 + step * h, width: w, height: h })
                .into_iter()
                .find(|place| !taken.iter().any(|other| other.overlaps(place)));
            let Some(place) = free else { continue };
            let fill = classes[class].colour.mix(palette::BLACK, 0.55).to_string();
            let style = Style { weight: 600, fill: &fill, ..PLAIN };
            self.text([x, place.y + h * 0.8], SIZE, style, &name);
            taken.push(place);
        }
        self.over.push_str("</g>\n");
    }

    /// The legend, to the right of the map, or the number of points alone.
    fn legend(&mut self, colouring: &Colouring, n: usize) {
        let x = self.map.x + self.map.width + 22.0;
        let right = self.width - MARGIN;
        let y = self.map.y + 11.0;
        let faint = Style { fill: FAINT, ..PLAIN };
        match &colouring.kind {
            Kind::Plain => {
                let at = [self.map.x + self.map.width - 8.0, self.map.y + self.map.height - 9.0];
                self.text(at, 11.5, Style { anchor: "end", ..faint }, &points(n));
            }
            Kind::Classes { classes, .. } => {
                self.text([x, y], 12.5, faint, &points(n));
                for (line, class) in classes.iter().enumerate() {
                    self.legend_line(class, [x, y + 24.0 + LINE * line as f32], right);
                }
            }
            Kind::Scale { low, high, missing, .. } => {
                self.text([x, y], 12.5, faint, &points(n));
                self.colour_bar([x, y + 16.0], *low, *high);
                if *missing > 0 {
                    let colour = palette::UNLABELLED;
                    let class =
                        Class { name: "unlabelled".to_owned(), count: *missing, colour, named: false };
                    self.legend_line(&class, [x, y + 300.0], right);
                }
            }
        }
    }

    fn legend_line(&mut self, class: &Class, [x, y]: [f32; 2], right: f32) {
        let _ = writeln!(
            self.over,
            r#"<circle cx="{}" cy="{}" r="5" fill="{}"/>"#,
            x + 5.0,
            y - 4.3,
            class.colour
        );
        let number = count(class.count);
        let room = right - x - 18.0 - width(&number) * 11.5 - 10.0;
        self.text([x + 18.0, y], 12.5, PLAIN, &shorten(&class.name, room / 12.5));
        self.text([right, y], 11.5, Style { fill: FAINT, anchor: "end", ..PLAIN }, &number);
    }

    fn colour_bar(&mut self, [x, y]: [f32; 2], low: f64, high: f64) {
        const HEIGHT: f32 = 240.0;
        self.over.push_str(r#"<linearGradient id="lion-scale" x1="0" y1="1" x2="0" y2="0">"#);
        let last = (palette::SCALE.len() - 1) as f32;
        for (stop, colour) in palette::SCALE.iter().enumerate() {
            let _ = write!(self.over, r#"<stop offset="{:.4}" stop-color="{colour}"/>"#, stop as f32 / last);
        }
        let _ = writeln!(
            self.over,
            r#"</linearGradient><rect x="{x}" y="{y}" width="14" height="{HEIGHT}" fill="url(#lion-scale)"/>"#
        );
        for quarter in 0..=4 {
            let share = f64::from(quarter) / 4.0;
            let at = y + HEIGHT * (1.0 - share as f32);
            let value = low * (1.0 - share) + high * share;
            let _ = writeln!(self.over, r#"<path d="M{} {at}h4" stroke="{FAINT}"/>"#, x + 14.0);
            self.text([x + 23.0, at + 4.0], 11.5, PLAIN, &number(value));
        }
    }

    fn text(&mut self, [x, y]: [f32; 2], size: f32, style: Style, text: &str) {
        let Style { weight, fill, anchor } = style;
        let weight = if weight == 400 { String::new() } else { format!(r#" font-weight="{weight}""#) };
        let anchor = if anchor.is_empty() { String::new() } else { format!(r#" text-anchor="{anchor}""#) };
        let _ = writeln!(
            self.over,
            r#"<text x="{x:.1}" y="{y:.1}" font-size="{size:.1}" fill="{fill}"{weight}{anchor}>{}</text>"#,
            escape(text)
        );
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

/// How a text looks; an empty anchor is inherited.
#[derive(Clone, Copy)]
struct Style<'a> {
    weight: u16,
    fill: &'a str,
    anchor: &'static str,
}

const PLAIN: Style = Style { weight: 400, fill: INK, anchor: "" };

/// The radius of a point, in units of a figure 760 wide: the more points, the smaller.
pub(crate) fn radius(n: usize) -> f32 {
    (2.7 * (2500.0 / n as f32).cbrt()).clamp(0.35, 6.0)
}

/// The opacity of a point: the more points, the more of what lies below shows through.
pub(crate) fn opacity(n: usize) -> f32 {
    (0.85 * (2500.0 / n as f32).powf(0.12)).clamp(0.3, 0.9)
}

/// Height by width of the picture: that of the map, within what looks well.
fn aspect(view: &View) -> f32 {
    let [x, y] = view.half;
    if x > 0.0 || y > 0.0 { (y / x).clamp(0.62, 1.15) } else { 1.0 }
}

/// Room for the legend: as much as its words need, within reason.
fn legend_width(colouring: &Colouring) -> f32 {
    match &colouring.kind {
        Kind::Plain => 0.0,
        Kind::Scale { .. } => 130.0,
        Kind::Classes { classes, .. } => {
            let line = |class: &Class| width(&class.name) * 12.5 + width(&count(class.count)) * 11.5 + 54.0;
            classes.iter().map(line).fold(110.0, f32::max).min(250.0)
        }
    }
}

/// Where each point goes: the same scale on both axes, centred, y up.
fn place(view: &View, area: Rect, pad: f32) -> Vec<[f32; 2]> {
    let room = [area.width / 2.0 - pad, area.height / 2.0 - pad];
    let scale =
        (0..2).filter(|&i| view.half[i] > 0.0).map(|i| room[i] / view.half[i]).fold(f32::INFINITY, f32::min);
    let scale = if scale.is_finite() { scale } else { 0.0 };
    let centre = [area.x + area.width / 2.0, area.y + area.height / 2.0];
    view.xy.iter().map(|&[x, y]| [centre[0] + x * scale, centre[1] - y * scale]).collect()
}

/// The points in drawing order; in 3-D the far ones fade.
fn marks(view: &View, colouring: &Colouring, places: &[[f32; 2]]) -> Vec<Mark> {
    let mark = |point: u32| {
        let point = point as usize;
        let [x, y] = places[point];
        let colour = colouring.colour(point);
        let fade = view.depth.get(point).map_or(0.0, |depth| 0.5 * depth);
        Mark { x, y, colour: colour.mix(palette::WHITE, fade) }
    };
    draw_order(view).into_iter().map(mark).collect()
}
