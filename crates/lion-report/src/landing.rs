//! Where new points land in a map.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::colouring::{Colouring, ColouringKind};
use crate::figure::{Dot, PLAIN, Rect, Style, write_text};
use crate::layer::{FigureLayer, MarkShape};
use crate::palette::{self, Rgb};
use crate::picture::{DENSITY, GREY, HAIRLINE, LINE, MOST_SHAPES, PAD, Raster, WORDS, blank, write_title};
use crate::scatter::all_finite;
use crate::text::{count, shorten, width};
use crate::{Picture, Result, Scatter, raster, svg};

/// The side of the map in the picture.
const SIDE: f32 = 400.0;
/// How far beyond the map, in halves of its longer side from its middle, a point is drawn where it is; one farther out
/// is an arrow at the edge, so that the map does not shrink to a dot.
const FARTHEST: f32 = 2.5;
/// How much of the paper is mixed into the map's own points.
const CALM: f32 = 0.6;
const NUMBER: f32 = 11.0;

/// A map with new points in it: the map's own pale and coloured by label, each new point with its name and a line to
/// the place where it was expected.
///
/// A point that lies farther out than 2.5 times the map reaches is an arrow at the edge, and a line below says how many.
#[derive(Debug, Clone)]
pub struct Landing<'a> {
    /// The headline; may be empty.
    pub title: String,
    /// Row-major, n x 2.
    pub map: &'a [f32],
    /// One for each point of the map, or none at all.
    pub labels: &'a [String],
    /// The new points.
    pub landed: Vec<LandingPoint>,
}

/// One new point of a [`Landing`].
#[derive(Debug, Clone)]
pub struct LandingPoint {
    /// What stands beside it, such as its number; may be empty.
    pub name: String,
    /// Where it landed.
    pub at: [f32; 2],
    /// Where it was expected: a line goes there, to a cross.
    pub expected: Option<[f32; 2]>,
    /// Drawn as a diamond in the colour of outliers.
    pub outlier: bool,
}

/// From places in the map to places in the picture: the same scale on both axes.
struct LandingView {
    area: Rect,
    centre: [f64; 2],
    /// Units of the picture for one of the map.
    scale: f64,
}

impl LandingView {
    /// Around the map and what landed not too far from it.
    fn of(map: &[f32], landed: &[LandingPoint], area: Rect) -> LandingView {
        let own = map.chunks_exact(2).map(|point| [point[0], point[1]]);
        let (low, high) = bounds(own);
        let reach = f64::from(FARTHEST) * (0..2).map(|i| (high[i] - low[i]) / 2.0).fold(0.0, f64::max);
        let middle = [0, 1].map(|i| (low[i] + high[i]) / 2.0);
        let near = |point: &[f32; 2]| {
            // Of a map without extent nothing is far away.
            reach == 0.0 || (0..2).all(|i| (f64::from(point[i]) - middle[i]).abs() <= reach)
        };
        let new = landed.iter().flat_map(|point| [Some(point.at), point.expected]).flatten().filter(near);
        let all = map.chunks_exact(2).map(|point| [point[0], point[1]]).chain(new);
        let (low, high) = bounds(all);
        let half = (0..2).map(|i| (high[i] - low[i]) / 2.0).fold(0.0, f64::max);
        let room = f64::from(area.width / 2.0 - 18.0);
        LandingView {
            area,
            centre: [0, 1].map(|i| (low[i] + high[i]) / 2.0),
            scale: if half > 0.0 { room / half } else { 1.0 },
        }
    }

    fn place(&self, point: [f32; 2]) -> [f32; 2] {
        let Rect { x, y, width, height } = self.area;
        // Farther out than this all is equally far, and an f32 still has digits to tell the direction by.
        let from_centre = |i: usize| (f64::from(point[i]) - self.centre[i]) * self.scale;
        let [a, b] = [0, 1].map(|i| from_centre(i).clamp(-1e7, 1e7) as f32);
        [x + width / 2.0 + a, y + height / 2.0 - b]
    }

    /// Inside the frame.
    fn shows(&self, [x, y]: [f32; 2]) -> bool {
        let Rect { x: left, y: top, width, height } = self.area;
        (left..=left + width).contains(&x) && (top..=top + height).contains(&y)
    }

    /// Where the way from the middle of the picture to a place outside leaves it, a little inside the frame.
    fn at_edge(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let Rect { x: left, y: top, width, height } = self.area;
        let (middle, room) = ([left + width / 2.0, top + height / 2.0], width.min(height) / 2.0 - 10.0);
        let [dx, dy] = [x - middle[0], y - middle[1]];
        let shrink = room / dx.abs().max(dy.abs()).max(f32::MIN_POSITIVE);
        [middle[0] + dx * shrink, middle[1] + dy * shrink]
    }
}

fn bounds(points: impl Iterator<Item = [f32; 2]>) -> ([f64; 2], [f64; 2]) {
    let start = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    points.fold(start, |(mut low, mut high), point| {
        for axis in 0..2 {
            low[axis] = low[axis].min(f64::from(point[axis]));
            high[axis] = high[axis].max(f64::from(point[axis]));
        }
        (low, high)
    })
}

impl Landing<'_> {
    /// The map and what landed in it as a picture.
    ///
    /// # Errors
    /// Where the map has no points, there is not one label for each or none, or a coordinate is not finite.
    pub fn picture(&self) -> Result<Picture> {
        let map = Scatter::new(2, self.map);
        let map = if self.labels.is_empty() { map } else { map.labels(self.labels) };
        map.check()?;
        let new: Vec<f32> = self
            .landed
            .iter()
            .flat_map(|new| new.at.into_iter().chain(new.expected.into_iter().flatten()))
            .collect();
        all_finite(&new, 2, "what landed in the map")?;

        let wide = SIDE + 2.0 * PAD;
        let mut body = String::new();
        let top = write_title(&mut body, &self.title, wide).round();
        let area = Rect { x: PAD, y: top, width: SIDE, height: SIDE };
        let view = LandingView::of(self.map, &self.landed, area);
        let places: Vec<[f32; 2]> =
            self.map.chunks_exact(2).map(|point| view.place([point[0], point[1]])).collect();
        let colouring = Colouring::of(&map);
        let rasters = points(&mut body, &map, &colouring, &places, area)?;
        let _ = writeln!(
            body,
            r#"<rect x="{PAD}" y="{top}" width="{SIDE}" height="{SIDE}" fill="none" stroke="{HAIRLINE}"/>"#
        );
        let names = names(&mut body, &map, &colouring, &places);
        let far = self.newcomers(&mut body, &view, names);
        let bottom = self.legend(&mut body, top + SIDE + LINE, far);
        Ok(Picture::new(&self.title, [wide, bottom + PAD], body).with(rasters))
    }

    /// Lines, crosses, marks and names, which keep off what is `taken`; says how many are beyond the edge.
    fn newcomers(&self, out: &mut String, view: &LandingView, mut taken: Vec<Rect>) -> usize {
        let ink = palette::INK;
        let mut marks = String::new();
        let mut far = 0;
        let mut shown = Vec::new();
        for new in &self.landed {
            let place = view.place(new.at);
            let beyond = !view.shows(place);
            let at = if beyond { view.at_edge(place) } else { place };
            if let Some([x, y]) = new.expected.map(|point| view.place(point)).filter(|at| view.shows(*at)) {
                let _ = writeln!(
                    out,
                    r#"<path d="M{:.1} {:.1}L{x:.1} {y:.1}" stroke="{ink}" stroke-opacity=".6"/><path d="M{:.1} {:.1}l6 6m0-6l-6 6" stroke="{ink}" stroke-width="1.4"/>"#,
                    at[0],
                    at[1],
                    x - 3.0,
                    y - 3.0
                );
                taken.push(around([x, y]));
            }
            if beyond {
                far += 1;
                arrow(&mut marks, at, [place[0] - at[0], place[1] - at[1]], colour(new));
            } else {
                mark(&mut marks, new.outlier, at);
            }
            taken.push(around(at));
            shown.push(at);
        }
        out.push_str(&marks);
        for (new, at) in self.landed.iter().zip(shown).filter(|(new, _)| !new.name.is_empty()) {
            badge(out, &new.name, at, view.area, &mut taken);
        }
        far
    }

    /// What the marks mean, and how many could not be drawn where they are; says where it ends.
    fn legend(&self, out: &mut String, y: f32, far: usize) -> f32 {
        let mut x = PAD + 6.0;
        let any = |outlier| self.landed.iter().any(|new| new.outlier == outlier);
        for (outlier, word) in
            [(false, "landed"), (true, "outlier")].into_iter().filter(|(kind, _)| any(*kind))
        {
            mark(out, outlier, [x, y - 4.2]);
            write_text(out, [x + 11.0, y], WORDS, GREY, word);
            x += 30.0 + width(word) * WORDS;
        }
        if self.landed.iter().any(|new| new.expected.is_some()) {
            let _ = writeln!(
                out,
                r#"<path d="M{:.1} {:.1}l6 6m0-6l-6 6" stroke="{}" stroke-width="1.4"/>"#,
                x - 3.0,
                y - 7.2,
                palette::INK
            );
            write_text(out, [x + 11.0, y], WORDS, GREY, "expected");
            x += 30.0 + width("expected") * WORDS;
        }
        if far > 0 {
            let right = PAD + SIDE;
            let text = format!("{} farther out", count(far));
            arrow(out, [x, y - 4.2], [1.0, 0.0], palette::INK);
            write_text(out, [x + 11.0, y], WORDS, GREY, &shorten(&text, (right - x - 11.0) / WORDS));
        }
        if self.landed.is_empty() { y - LINE } else { y }
    }
}

/// The room of a mark.
fn around([x, y]: [f32; 2]) -> Rect {
    Rect { x: x - 5.0, y: y - 5.0, width: 10.0, height: 10.0 }
}

fn colour(new: &LandingPoint) -> Rgb {
    if new.outlier { palette::OUTLIER } else { palette::ACCENT }
}

fn mark(out: &mut String, outlier: bool, at: [f32; 2]) {
    let (shape, fill) =
        if outlier { (MarkShape::Diamond, palette::OUTLIER) } else { (MarkShape::Disc, palette::ACCENT) };
    let radius = if outlier { 4.4 } else { 4.2 };
    svg::shape(out, shape, at, radius, &format!(r##"fill="{fill}" stroke="#fff" stroke-width="1.2""##));
}

/// A triangle that points where something lies that is not in the picture.
fn arrow(out: &mut String, [x, y]: [f32; 2], [dx, dy]: [f32; 2], fill: Rgb) {
    let turn = dy.atan2(dx).to_degrees();
    let _ = writeln!(
        out,
        r##"<path transform="translate({x:.1} {y:.1}) rotate({turn:.1})" d="M-7 -5.5L8 0L-7 5.5L-4 0z" fill="{fill}" stroke="#fff"/>"##
    );
}

/// A name beside its point: the first place around it where it covers neither a point nor another name, or the first
/// of all where there is none.
fn badge(out: &mut String, name: &str, [x, y]: [f32; 2], area: Rect, taken: &mut Vec<Rect>) {
    let name = shorten(name, 12.0);
    let (w, h) = (width(&name) * NUMBER + 7.0, NUMBER + 4.0);
    let around = |far: f32| {
        let (dx, dy) = (w / 2.0 + far, h / 2.0 + far);
        [[dx, -dy], [dx, dy], [-dx, -dy], [-dx, dy], [dx, 0.0], [-dx, 0.0], [0.0, -dy], [0.0, dy]]
    };
    let place = |[dx, dy]: [f32; 2]| Rect { x: x + dx - w / 2.0, y: y + dy - h / 2.0, width: w, height: h };
    let inside = |place: &Rect| {
        place.x >= area.x
            && place.y >= area.y
            && place.x + w <= area.x + area.width
            && place.y + h <= area.y + area.height
    };
    let free = |place: &Rect| inside(place) && !taken.iter().any(|other| other.overlaps(place));
    let candidates = [6.0, 15.0, 27.0, 40.0].into_iter().flat_map(around).map(place);
    let Rect { x: left, y: top, .. } = candidates.clone().find(free).unwrap_or_else(|| place(around(6.0)[0]));
    let (middle, centre) = (left + w / 2.0, top + h / 2.0);
    if (middle - x).hypot(centre - y) > w / 2.0 + 18.0 {
        let _ = writeln!(
            out,
            r#"<path d="M{x:.1} {y:.1}L{middle:.1} {centre:.1}" stroke="{}" stroke-width=".7" stroke-dasharray="2 2"/>"#,
            palette::INK
        );
    }
    let _ = writeln!(
        out,
        r##"<rect x="{left:.1}" y="{top:.1}" width="{w:.1}" height="{h}" rx="3" fill="{}" stroke="#fff"/>"##,
        palette::INK
    );
    let style = Style { weight: 600, fill: "#fff", anchor: "middle" };
    write_text(out, [middle, top + h - 4.0], NUMBER, style, &name);
    taken.push(Rect { x: left, y: top, width: w, height: h });
}

/// The map's own points: a path for each colour, or an image where they are too many.
fn points(
    out: &mut String,
    map: &Scatter,
    colouring: &Colouring,
    places: &[[f32; 2]],
    area: Rect,
) -> Result<Vec<Raster>> {
    let layer = FigureLayer::of(map).remove(0);
    // The layer's size is meant for the full picture of a map.
    let layer = FigureLayer { radius: (layer.radius * 0.75).max(0.6), opacity: 1.0, ..layer };
    let pale = |point: usize| colouring.colour(point).mix(palette::WHITE, CALM);
    if places.len() > MOST_SHAPES {
        let dots: Vec<Dot> =
            places.iter().enumerate().map(|(point, &[x, y])| Dot { x, y, colour: pale(point) }).collect();
        let mut pixmap = blank([area.width, area.height])?;
        raster::paint(&layer, &dots, &mut pixmap, [area.x, area.y], DENSITY);
        return Ok(vec![Raster::new([area.x, area.y], [area.width, area.height], pixmap, false)?]);
    }
    // A dot is a line too short to see with a round end: a tenth of what a circle would take.
    let mut of: BTreeMap<[u8; 3], String> = BTreeMap::new();
    for (point, [x, y]) in places.iter().enumerate() {
        let _ = write!(of.entry(pale(point).0).or_default(), "M{x:.1} {y:.1}h.01");
    }
    for (colour, path) in of {
        let _ = writeln!(
            out,
            r#"<path d="{path}" stroke="{}" stroke-width="{:.2}" stroke-linecap="round"/>"#,
            Rgb(colour),
            2.0 * layer.radius
        );
    }
    Ok(Vec::new())
}

/// The name of each class where most of it is; says where they stand.
fn names(out: &mut String, map: &Scatter, colouring: &Colouring, places: &[[f32; 2]]) -> Vec<Rect> {
    const SIZE: f32 = 14.0;
    let ColouringKind::Classes { classes, .. } = &colouring.kind else { return Vec::new() };
    let mut taken = Vec::new();
    let _ = writeln!(
        out,
        r##"<g stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke" text-anchor="middle">"##
    );
    for (class, anchor) in classes.iter().zip(colouring.anchors(2, &crate::frame::normalise(map))) {
        let Some(anchor) = anchor else { continue };
        let [x, y] = places[anchor as usize];
        let name = shorten(&class.name, 10.0);
        let wide = width(&name) * SIZE;
        taken.push(Rect { x: x - wide / 2.0, y: y - SIZE / 2.0, width: wide, height: SIZE });
        let fill = class.colour.mix(palette::BLACK, 0.35).to_string();
        write_text(out, [x, y + 5.0], SIZE, Style { weight: 600, fill: &fill, ..PLAIN }, &name);
    }
    out.push_str("</g>\n");
    taken
}
