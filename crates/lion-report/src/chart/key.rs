//! Which line is which: names at the ends of few lines or in the plot, a legend under the chart otherwise. None is ever on the data.

use std::fmt::Write;

use super::in_plot::{PlacedName, free_places};
use super::scale::AxisScale;
use super::{Chart, DrawnChart, Series, Stroke, WORDS, mark, places, stroke, tint};
use crate::figure::{PLAIN, Rect, Style, write_text};
use crate::palette;
use crate::picture::{GREY, LINE, PAD};
use crate::text::{shorten, width};

/// As many lines as can be named at their ends.
const FEW: usize = 8;
/// How near the right edge, as a share of the plot, a line must end for its name to stand beside it.
const NEAR: f32 = 0.06;
/// From the plot to the names beside it.
const LEAD: f32 = 18.0;
/// The widest name beside a line and in the legend, in units of its size.
pub(super) const LONGEST_BESIDE: f32 = 13.0;
const LONGEST_BELOW: f32 = 36.0;
/// The sample before a name in the legend.
const SAMPLE: f32 = 24.0;

/// How the series are told apart.
pub(super) enum Key {
    /// One without a name.
    None,
    /// The names to the right of the plot, which take so much room.
    Beside(f32),
    /// The names in the plot, each beside its line, where there is room for all of them, else a legend.
    InPlot,
    /// A legend under the plot.
    Below,
}

impl Key {
    /// Names beside the plot where every series is a line that ends at its right edge, and there are few.
    pub(super) fn of(chart: &Chart, x: &AxisScale, y: &AxisScale, plot: Rect) -> Key {
        let named = || chart.series.iter().filter(|series| !series.name.is_empty());
        if named().next().is_none() {
            return Key::None;
        }
        let ends_near = |series: &Series| {
            series.style.has_line()
                && end(&places(series, x, y, plot), plot)
                    .is_some_and(|at| at[0] > plot.x + plot.width * (1.0 - NEAR))
        };
        if named().count() <= FEW && named().all(ends_near) {
            let longest = named().map(|series| width(&series.name)).fold(0.0, f32::max);
            Key::Beside(LEAD + longest.min(LONGEST_BESIDE) * WORDS)
        } else {
            Key::Below
        }
    }

    /// The room it needs to the right of the plot.
    pub(super) fn room(&self) -> f32 {
        if let Key::Beside(room) = self { *room } else { 0.0 }
    }

    /// Writes it, and says where what is under it begins.
    pub(super) fn write(&self, out: &mut String, plot: Rect, drawn: &[DrawnChart], top: f32) -> f32 {
        let named: Vec<&DrawnChart> = drawn.iter().filter(|d| !d.series.name.is_empty()).collect();
        match self {
            Key::None => top,
            Key::Beside(_) => {
                beside(out, plot, &named);
                top
            }
            Key::InPlot => match free_places(plot, &named) {
                Some(names) => {
                    named.iter().zip(&names).for_each(|(d, at)| in_plot(out, d, at));
                    top
                }
                None => below(out, plot, &named, top),
            },
            Key::Below => below(out, plot, &named, top),
        }
    }
}

/// The last point, if it is inside the plot.
fn end(places: &[Option<[f32; 2]>], plot: Rect) -> Option<[f32; 2]> {
    let last = places.iter().copied().flatten().next_back()?;
    let inside = |at: f32, from: f32, long: f32| (from - 0.5..=from + long + 0.5).contains(&at);
    (inside(last[0], plot.x, plot.width) && inside(last[1], plot.y, plot.height)).then_some(last)
}

fn beside(out: &mut String, plot: Rect, named: &[&DrawnChart]) {
    let mut ends: Vec<([f32; 2], &DrawnChart)> =
        named.iter().filter_map(|d| end(&d.places, plot).map(|at| (at, *d))).collect();
    ends.sort_by(|a, b| a.0[1].total_cmp(&b.0[1]));
    let wanted: Vec<f32> = ends.iter().map(|(at, _)| at[1]).collect();
    for (([x, y], d), at) in ends.iter().zip(apart(&wanted, LINE, plot.y + plot.height)) {
        let (from, to) = (x + 2.0, plot.x + plot.width + LEAD - 5.0);
        let (middle, colour) = (plot.x + plot.width + 3.0, d.colour);
        let _ = writeln!(
            out,
            r#"<path d="M{from:.1} {y:.1}L{:.1} {y:.1} {to:.1} {at:.1}" fill="none" stroke="{colour}" stroke-opacity=".55"/>"#,
            middle.max(from)
        );
        write_name(out, [plot.x + plot.width + LEAD, at], d);
    }
}

fn in_plot(out: &mut String, d: &DrawnChart, PlacedName { name, leader }: &PlacedName) {
    if let Some([from, to]) = leader {
        let colour = d.colour;
        let _ = writeln!(
            out,
            r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" fill="none" stroke="{colour}" stroke-opacity=".55"/>"#,
            from[0], from[1], to[0], to[1]
        );
    }
    write_name(out, [name.x, name.y + name.height / 2.0], d);
}

/// The name of a series in its colour, from here on.
fn write_name(out: &mut String, [x, y]: [f32; 2], d: &DrawnChart) {
    let fill = d.colour.mix(palette::BLACK, 0.4).to_string();
    let style = Style { fill: &fill, ..PLAIN };
    write_text(out, [x, y + 4.4], WORDS, style, &shorten(&d.series.name, LONGEST_BESIDE));
}

/// The places, in order, moved as little as it takes for each to be `by` below the one before and none below `bottom`.
fn apart(wanted: &[f32], by: f32, bottom: f32) -> Vec<f32> {
    let mut at = wanted.to_vec();
    for i in 1..at.len() {
        at[i] = at[i].max(at[i - 1] + by);
    }
    let mut limit = bottom;
    for place in at.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - by;
    }
    at
}

fn below(out: &mut String, plot: Rect, named: &[&DrawnChart], top: f32) -> f32 {
    let right = plot.x + plot.width;
    let (mut x, mut y) = (PAD, top + LINE);
    for d in named {
        let mut name = shorten(&d.series.name, LONGEST_BELOW);
        if d.is_empty() {
            name.push_str(" (no points)");
        }
        let long = SAMPLE + 7.0 + width(&name) * WORDS;
        if x > PAD && x + long > right {
            (x, y) = (PAD, y + LINE + 1.0);
        }
        let middle = y - 4.4;
        if d.series.style.has_line() {
            let _ = writeln!(out, r#"<path d="M{x:.1} {middle:.1}h{SAMPLE}" {}/>"#, stroke(d));
        }
        if d.series.style == Stroke::Area {
            let _ = writeln!(
                out,
                r#"<path d="M{x:.1} {:.1}h{SAMPLE}v10h-{SAMPLE}z" {}/>"#,
                middle - 5.0,
                tint(d)
            );
        }
        if d.series.style.has_points() {
            mark(out, d, [x + SAMPLE / 2.0, middle], 3.6);
        }
        let style = if d.is_empty() { GREY } else { PLAIN };
        write_text(out, [x + SAMPLE + 7.0, y], WORDS, style, &name);
        x += long + 12.0;
    }
    y + 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_moved_apart_and_stay_in_order_and_in_the_plot() {
        assert_eq!(apart(&[10.0, 50.0], 18.0, 300.0), [10.0, 50.0]);
        assert_eq!(apart(&[10.0, 12.0, 13.0], 18.0, 300.0), [10.0, 28.0, 46.0]);
        assert_eq!(apart(&[298.0, 299.0], 18.0, 300.0), [282.0, 300.0]);
    }
}
