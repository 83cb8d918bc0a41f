//! Lines and points against two axes.

mod in_plot;
mod key;
mod scale;

use std::fmt::Write;

use self::key::Key;
use self::scale::AxisScale;
use crate::figure::{PLAIN, Rect, Style, write_text};
use crate::palette::{self, Rgb};
use crate::picture::{GREY, HAIRLINE, LINE, PAD, write_lines, write_title};
use crate::text::{count, width, wrap};
use crate::{Error, Picture, Result};

const WIDTH: f32 = 560.0;
/// The height of the plot alone.
const HEIGHT: f32 = 280.0;
/// The size of words, and of the numbers along the axes: still readable on a phone, where a chart is shrunk by a third.
const WORDS: f32 = 14.0;
const TICK: f32 = 13.0;

/// Lines and points against two axes.
///
/// A point that is not a number is a gap: the line breaks there. So does one that an axis has no place for (infinite, or
/// not above 0 on a logarithmic axis), and a note under the chart counts those. What lies outside a range that was
/// asked for is cut off at the edge. A series without any point stays in the legend, which says so.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The headline; may be empty.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn, the first lowest, but references below all others.
    pub series: Vec<Series>,
    /// Lines of words under the chart.
    pub notes: Vec<String>,
}

/// One axis of a [`Chart`].
#[derive(Debug, Clone)]
pub struct Axis {
    /// What is counted along it, with its unit; may be empty.
    pub label: String,
    /// Whether equal steps are equal factors.
    pub log: bool,
    /// From where to where; without, around what there is to draw.
    pub range: Option<[f64; 2]>,
}

/// One line, or one cloud of points, of a [`Chart`].
#[derive(Debug, Clone)]
pub struct Series {
    /// What it is called in the legend; one without a name is not in it.
    pub name: String,
    /// In the order in which a line goes through them.
    pub points: Vec<[f64; 2]>,
    /// How it is drawn.
    pub style: Stroke,
    /// Drawn in grey, below the others: something to compare with.
    pub reference: bool,
}

/// How a [`Series`] is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// A line.
    Line,
    /// A dashed line.
    Dashed,
    /// A mark at each point.
    Points,
    /// A line with a mark at each point.
    LineAndPoints,
    /// What its points enclose, tinted, with no line around it: there and back along a band. Below all lines.
    Area,
}

impl Stroke {
    fn has_line(self) -> bool {
        !matches!(self, Stroke::Points | Stroke::Area)
    }

    fn has_points(self) -> bool {
        matches!(self, Stroke::Points | Stroke::LineAndPoints)
    }
}

/// A series as it is drawn.
struct DrawnChart<'a> {
    series: &'a Series,
    colour: Rgb,
    /// Which of the marks stands at its points.
    mark: usize,
    /// Where its points are in the picture; None where there is a break.
    places: Vec<Option<[f32; 2]>>,
}

impl DrawnChart<'_> {
    fn is_empty(&self) -> bool {
        self.places.iter().all(Option::is_none)
    }
}

impl Chart {
    /// The chart as a picture.
    ///
    /// # Errors
    /// Where no series has a point that can be drawn, or a range makes no axis.
    pub fn picture(&self) -> Result<Picture> {
        self.picture_with(|x, y, plot| Key::of(self, x, y, plot))
    }

    /// The same with each name in the plot, beside its line, where there is room for all of them: for lines that end far from
    /// each other.
    ///
    /// # Errors
    /// As for [`Chart::picture`].
    pub fn picture_with_names_in_plot(&self) -> Result<Picture> {
        self.picture_with(|_, _, _| Key::InPlot)
    }

    fn picture_with(&self, key: impl FnOnce(&AxisScale, &AxisScale, Rect) -> Key) -> Result<Picture> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = AxisScale::of(&self.x, "x", points().map(|point| point[0]))?;
        let y = AxisScale::of(&self.y, "y", points().map(|point| point[1]))?;
        let shown = |[a, b]: &[f64; 2]| x.share(*a).is_some() && y.share(*b).is_some();
        if !points().any(shown) {
            return Err(Error::Nothing(format!("the chart \"{}\"", self.title)));
        }
        let mut body = String::new();
        let mut top = write_title(&mut body, &self.title, WIDTH);
        if !self.y.label.is_empty() {
            write_text(&mut body, [PAD, top + 12.0], WORDS, GREY, &self.y.label);
            top += LINE + 4.0;
        }
        let ticks = y.ticks(6);
        let left = PAD + ticks.iter().map(|(_, name)| width(name) * TICK).fold(0.0, f32::max) + 8.0;
        let mut plot = Rect { x: left, y: top + 2.0, width: WIDTH - PAD - left, height: HEIGHT };
        let key = key(&x, &y, plot);
        plot.width -= key.room();
        let drawn = self.drawn(&x, &y, plot);
        frame(&mut body, plot, &x, &y, &ticks);
        series(&mut body, plot, &drawn);
        let below = plot.y + plot.height + 20.0;
        let end = [plot.x + plot.width / 2.0, below + LINE];
        write_text(&mut body, end, WORDS, Style { anchor: "middle", ..GREY }, &self.x.label);
        let below = below + if self.x.label.is_empty() { 0.0 } else { LINE + 4.0 };
        let below = key.write(&mut body, plot, &drawn, below);
        let lost =
            points().filter(|point| !shown(point) && !point.iter().any(|value| value.is_nan())).count();
        let notes = self.notes.iter().cloned().chain(note(lost));
        let lines: Vec<String> = notes.flat_map(|note| wrap(&note, (WIDTH - 2.0 * PAD) / TICK)).collect();
        let bottom = write_lines(&mut body, [PAD, below + LINE], TICK, GREY, &lines) - LINE;
        Ok(Picture::new(&self.title, [WIDTH, bottom + PAD], body))
    }

    fn drawn(&self, x: &AxisScale, y: &AxisScale, plot: Rect) -> Vec<DrawnChart<'_>> {
        let mut coloured = 0..;
        let mut drawn = Vec::with_capacity(self.series.len());
        for series in &self.series {
            let number = if series.reference { None } else { coloured.next() };
            // A little darker than a disc of that colour: a line is thin.
            let of =
                |number: usize| palette::CLASSES[number % palette::MOST_CLASSES].mix(palette::BLACK, 0.14);
            let colour = number.map_or(palette::OTHER, of);
            drawn.push(DrawnChart {
                series,
                colour,
                mark: number.unwrap_or(0),
                places: places(series, x, y, plot),
            });
        }
        drawn
    }
}

fn places(series: &Series, x: &AxisScale, y: &AxisScale, plot: Rect) -> Vec<Option<[f32; 2]>> {
    let place = |&[a, b]: &[f64; 2]| {
        let (a, b) = (x.share(a)? as f32, y.share(b)? as f32);
        Some([plot.x + a * plot.width, plot.y + (1.0 - b) * plot.height])
    };
    series.points.iter().map(place).collect()
}

/// What to say of points that are numbers and yet have no place on the axes.
fn note(lost: usize) -> Option<String> {
    let verb = if lost == 1 { "point has" } else { "points have" };
    (lost > 0).then(|| format!("{} {verb} no place on these axes.", count(lost)))
}

/// The frame, the grid and the numbers beside it.
fn frame(out: &mut String, plot: Rect, x: &AxisScale, y: &AxisScale, y_ticks: &[(f64, String)]) {
    let Rect { x: left, y: top, width: w, height: h } = plot;
    let mut grid = String::new();
    for (value, name) in y_ticks {
        let Some(share) = y.share(*value) else { continue };
        let at = top + (1.0 - share as f32) * h;
        let _ = write!(grid, "M{left:.1} {at:.1}h{w:.1}");
        write_text(out, [left - 7.0, at + 4.2], TICK, Style { anchor: "end", ..PLAIN }, name);
    }
    let mut free = f32::NEG_INFINITY;
    for (value, name) in x.ticks((w / 62.0) as usize) {
        let Some(share) = x.share(value) else { continue };
        let at = left + share as f32 * w;
        let _ = write!(grid, "M{at:.1} {top:.1}v{h:.1}");
        let half = width(&name) * TICK / 2.0;
        if at - half > free {
            write_text(out, [at, top + h + 17.0], TICK, Style { anchor: "middle", ..PLAIN }, &name);
            free = at + half + 4.0;
        }
    }
    let _ = writeln!(out, r##"<path d="{grid}" stroke="#e9ecef"/>"##);
    let _ = writeln!(
        out,
        r#"<rect x="{left:.1}" y="{top:.1}" width="{w:.1}" height="{h:.1}" fill="none" stroke="{HAIRLINE}"/>"#
    );
}

/// The lines, cut at the edge of the plot, and then the marks inside it.
fn series(out: &mut String, plot: Rect, drawn: &[DrawnChart]) {
    let order =
        || drawn.iter().filter(|d| d.series.reference).chain(drawn.iter().filter(|d| !d.series.reference));
    let Rect { x, y, width: w, height: h } = plot;
    // An SVG inside the SVG cuts off what is outside it, and needs no id for that.
    let _ = writeln!(
        out,
        r#"<svg x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" viewBox="{x:.1} {y:.1} {w:.1} {h:.1}" overflow="hidden">"#
    );
    order().filter(|d| d.series.style == Stroke::Area).for_each(|d| area(out, d));
    order().filter(|d| d.series.style.has_line()).for_each(|d| line(out, d));
    out.push_str("</svg>\n");
    for d in order().filter(|d| d.series.style != Stroke::Area) {
        let marks: Vec<[f32; 2]> = if d.series.style.has_points() {
            d.places.iter().copied().flatten().collect()
        } else {
            alone(&d.places)
        };
        let inside = |at: &[f32; 2]| {
            (x - 0.5..=x + w + 0.5).contains(&at[0]) && (y - 0.5..=y + h + 0.5).contains(&at[1])
        };
        let size = if marks.len() > 200 { 2.2 } else { 3.6 };
        marks.into_iter().filter(inside).for_each(|at| mark(out, d, at, size));
    }
}

/// Points without a neighbour that a line could go to.
fn alone(places: &[Option<[f32; 2]>]) -> Vec<[f32; 2]> {
    let drawn = |at: Option<usize>| at.and_then(|at| places.get(at).copied().flatten());
    let one = |at: usize| {
        let neighbour = drawn(at.checked_sub(1)).or(drawn(Some(at + 1)));
        drawn(Some(at)).filter(|_| neighbour.is_none())
    };
    (0..places.len()).filter_map(one).collect()
}

fn line(out: &mut String, d: &DrawnChart) {
    let _ = writeln!(out, r#"<path d="{}" {}/>"#, path(d), stroke(d));
}

fn area(out: &mut String, d: &DrawnChart) {
    let _ = writeln!(out, r#"<path d="{}z" {}/>"#, path(d), tint(d));
}

/// Through all places, broken where there is none.
fn path(d: &DrawnChart) -> String {
    let mut path = String::new();
    let mut pen = 'M';
    for place in &d.places {
        match place {
            Some([x, y]) => {
                let _ = write!(path, "{pen}{x:.1} {y:.1}");
                pen = 'L';
            }
            None => pen = 'M',
        }
    }
    path
}

/// The attributes of an area of this series.
fn tint(d: &DrawnChart) -> String {
    format!(r#"fill="{}" fill-opacity=".22""#, d.colour)
}

/// The attributes of a line of this series.
fn stroke(d: &DrawnChart) -> String {
    let dash = if d.series.style == Stroke::Dashed { r#" stroke-dasharray="6 4""# } else { "" };
    let colour = d.colour;
    format!(r#"fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"{dash}"#)
}

/// The mark of this series: its form tells what its colour tells, to those who see no colours.
fn mark(out: &mut String, d: &DrawnChart, [x, y]: [f32; 2], r: f32) {
    let look = format!(r##"fill="{}" stroke="#fff" stroke-width=".8""##, d.colour);
    let _ = match d.mark % 4 {
        0 => writeln!(out, r#"<circle cx="{x:.1}" cy="{y:.1}" r="{r}" {look}/>"#),
        1 => {
            let (side, half) = (1.8 * r, 0.9 * r);
            writeln!(
                out,
                r#"<path d="M{:.1} {:.1}h{side:.1}v{side:.1}h-{side:.1}z" {look}/>"#,
                x - half,
                y - half
            )
        }
        2 => {
            let (base, up) = (1.15 * r, 1.25 * r);
            writeln!(
                out,
                r#"<path d="M{x:.1} {:.1}l{base:.1} {:.1}h-{:.1}z" {look}/>"#,
                y - up,
                1.9 * r,
                2.0 * base
            )
        }
        _ => {
            let c = 1.3 * r;
            writeln!(
                out,
                r#"<path d="M{x:.1} {:.1}l{c:.1} {c:.1}l-{c:.1} {c:.1}l-{c:.1} -{c:.1}z" {look}/>"#,
                y - c
            )
        }
    };
}
