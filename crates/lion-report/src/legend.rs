//! The legend of the still picture: its lines first, so that its size and its drawing agree.

use std::fmt::Write;

use crate::colouring::{Class, Colouring, ColouringKind};
use crate::figure::{FAINT, Figure, MARGIN, PLAIN, Style};
use crate::frame::ScaleBreak;
use crate::layer::{FigureLayer, MarkShape};
use crate::palette::{self, Rgb};
use crate::text::{count, number, points, shorten, width};
use crate::{Mark, Scatter, svg};

/// The height of the colour bar.
const BAR: f32 = 240.0;
/// From the left end of a line to its words.
const INDENT: f32 = 18.0;

/// One line of the legend.
pub(crate) enum LegendLine {
    Heading(String),
    Entry {
        swatch: Swatch,
        name: String,
        count: String,
    },
    /// More about the entry above.
    Note(String),
    Bar {
        low: f64,
        high: f64,
    },
    Gap,
}

/// The sample before an entry.
pub(crate) struct Swatch {
    shape: MarkShape,
    radius: f32,
    fill: Rgb,
    edge: Option<Rgb>,
}

impl Swatch {
    fn dot(fill: Rgb) -> Swatch {
        Swatch { shape: MarkShape::Disc, radius: 5.0, fill, edge: None }
    }

    /// As the points of a placed layer look; a disc has the accent colour where it has no other.
    fn of(layer: &FigureLayer, coloured: bool) -> Swatch {
        let (radius, fill) = match layer.shape {
            MarkShape::Disc if coloured => (4.4, palette::WHITE),
            MarkShape::Disc => (4.4, palette::ACCENT),
            MarkShape::Diamond => (4.6, palette::OUTLIER),
        };
        let size = layer.mark.map_or(1.0, Mark::size);
        let edge = (layer.shape == MarkShape::Disc).then(|| layer.edge());
        Swatch { shape: layer.shape, radius: radius * size, fill, edge }
    }
}

impl LegendLine {
    /// From its base line to that of the next.
    fn height(&self) -> f32 {
        match self {
            LegendLine::Heading(_) => 24.0,
            LegendLine::Entry { .. } | LegendLine::Note(_) => 19.0,
            LegendLine::Bar { .. } => BAR + 36.0,
            LegendLine::Gap => 16.0,
        }
    }

    fn width(&self) -> f32 {
        match self {
            LegendLine::Heading(text) => width(text) * 12.5 + 22.0,
            LegendLine::Entry { name, count, .. } => width(name) * 12.5 + width(count) * 11.5 + 54.0,
            LegendLine::Note(text) => width(text) * 11.5 + INDENT + 22.0,
            LegendLine::Bar { .. } => 130.0,
            LegendLine::Gap => 0.0,
        }
    }
}

/// What there is to tell of this map; nothing where all points are alike.
pub(crate) fn lines(map: &Scatter, colouring: &Colouring, layers: &[FigureLayer]) -> Vec<LegendLine> {
    let entry = |swatch, name: &str, count| LegendLine::Entry { swatch, name: name.to_owned(), count };
    let (mut lines, mut apart) = (Vec::new(), Vec::new());
    let heading = match map.coloured_by {
        "" => points(map.len()),
        name => format!("{} · {}", shorten(name, 12.0), points(map.len())),
    };
    match &colouring.kind {
        ColouringKind::Plain if layers.len() == 1 => return lines,
        ColouringKind::Plain => {
            let pale = palette::PLAIN.mix(palette::WHITE, palette::CALM);
            lines.push(entry(Swatch::dot(pale), "map", count(map.len())));
        }
        ColouringKind::Classes { classes, .. } => {
            lines.push(LegendLine::Heading(heading));
            let class =
                |class: &Class| entry(Swatch::dot(class.colour), &class.name, class.count.to_string());
            // Labels that only placed points have stand with these.
            let (own, placed): (Vec<&Class>, Vec<&Class>) =
                classes.iter().partition(|class| class.count.own > 0 || class.count.placed == 0);
            lines.extend(own.into_iter().map(class));
            apart.extend(placed.into_iter().map(class));
        }
        ColouringKind::Scale { low, high, missing, .. } => {
            lines.extend([LegendLine::Heading(heading), LegendLine::Bar { low: *low, high: *high }]);
            if *missing > 0 {
                lines.push(entry(Swatch::dot(palette::UNLABELLED), "unlabelled", count(*missing)));
            }
        }
    }
    let Some(placed) = map.newcomers() else { return lines };
    lines.extend([LegendLine::Gap, LegendLine::Heading(placed.heading())]);
    for layer in &layers[1..] {
        lines.push(entry(Swatch::of(layer, placed.is_labelled()), layer.name(), count(layer.count)));
    }
    lines.extend(placed.in_groups().map(LegendLine::Note));
    lines.extend(ScaleBreak::of(map).map(|broken| LegendLine::Note(broken.note())));
    if !apart.is_empty() {
        lines.push(LegendLine::Note("labels that the map does not have".to_owned()));
        lines.extend(apart);
    }
    lines
}

/// As wide as the widest line needs, within reason.
pub(crate) fn room(lines: &[LegendLine]) -> f32 {
    if lines.is_empty() { 0.0 } else { lines.iter().map(LegendLine::width).fold(110.0, f32::max).min(250.0) }
}

/// From the top of the first line to the bottom of the last.
pub(crate) fn height(lines: &[LegendLine]) -> f32 {
    lines.iter().map(LegendLine::height).sum()
}

impl Figure {
    /// Draws the legend to the right of the map, or the number of points alone in its corner.
    pub(crate) fn legend(&mut self, lines: &[LegendLine], n: usize) {
        let faint = Style { fill: FAINT, ..PLAIN };
        if lines.is_empty() {
            let at = [self.map.x + self.map.width - 8.0, self.map.y + self.map.height - 9.0];
            self.text(at, 11.5, Style { anchor: "end", ..faint }, &points(n));
        }
        let x = self.map.x + self.map.width + 22.0;
        let mut y = self.map.y + 11.0;
        for line in lines {
            match line {
                LegendLine::Heading(text) => self.text([x, y], 12.5, faint, text),
                LegendLine::Note(text) => self.text([x + INDENT, y], 11.5, faint, text),
                LegendLine::Entry { swatch, name, count } => self.entry(swatch, name, count, [x, y]),
                LegendLine::Bar { low, high } => self.colour_bar([x, y - 8.0], *low, *high),
                LegendLine::Gap => {}
            }
            y += line.height();
        }
    }

    fn entry(&mut self, swatch: &Swatch, name: &str, count: &str, [x, y]: [f32; 2]) {
        let right = self.width - MARGIN;
        let edge =
            swatch.edge.map_or(String::new(), |edge| format!(r#" stroke="{edge}" stroke-width="1.3""#));
        let look = format!(r#"fill="{}"{edge}"#, swatch.fill);
        svg::shape(&mut self.over, swatch.shape, [x + 5.0, y - 4.3], swatch.radius, &look);
        let room = right - x - INDENT - width(count) * 11.5 - 10.0;
        self.text([x + INDENT, y], 12.5, PLAIN, &shorten(name, room / 12.5));
        self.text([right, y], 11.5, Style { fill: FAINT, anchor: "end", ..PLAIN }, count);
    }

    fn colour_bar(&mut self, [x, y]: [f32; 2], low: f64, high: f64) {
        self.over.push_str(r#"<linearGradient id="lion-scale" x1="0" y1="1" x2="0" y2="0">"#);
        let last = (palette::SCALE.len() - 1) as f32;
        for (stop, colour) in palette::SCALE.iter().enumerate() {
            let _ = write!(self.over, r#"<stop offset="{:.4}" stop-color="{colour}"/>"#, stop as f32 / last);
        }
        let _ = writeln!(
            self.over,
            r#"</linearGradient><rect x="{x}" y="{y}" width="14" height="{BAR}" fill="url(#lion-scale)"/>"#
        );
        for quarter in 0..=4 {
            let share = f64::from(quarter) / 4.0;
            let at = y + BAR * (1.0 - share as f32);
            let value = low * (1.0 - share) + high * share;
            let _ = writeln!(self.over, r#"<path d="M{} {at}h4" stroke="{FAINT}"/>"#, x + 14.0);
            self.text([x + 23.0, at + 4.0], 11.5, PLAIN, &number(value));
        }
    }
}
