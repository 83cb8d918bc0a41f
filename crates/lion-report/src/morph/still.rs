//! Both maps side by side, the first brought onto the second, on one scale.

use std::fmt::Write;

use super::turn::Turn;
use super::{MOVER, Morph, Within};
use crate::colouring::{Colouring, ColouringKind};
use crate::figure::{Dot, Figure, MARGIN, PLAIN, Rect, Style, write_text};
use crate::frame::{FlatView, draw_order, view};
use crate::layer::FigureLayer;
use crate::palette;
use crate::picture::{
    DENSITY, GREY, HAIRLINE, LINE, MOST_SHAPES, PAD, Raster, WORDS, blank, write_lines, write_title,
};
use crate::text::{count, shorten, width, wrap};
use crate::{Picture, Result, Scatter, legend, raster, svg};

/// The side of a map.
const SIDE: f32 = 540.0;
const GAP: f32 = 20.0;
/// Around the points within a map.
const INSET: f32 = 16.0;
/// As many rows that moved have a line: all, or a sample that reaches from the farthest to the nearest.
const MOST_LINES: usize = 250;
const NAME: f32 = 14.0;

impl Morph<'_> {
    /// Both maps side by side: the first, brought onto the second, and the second with a line for rows that moved. Rows that only one of them has are ringed.
    pub fn picture(&self) -> Result<Picture> {
        self.check()?;
        let turn = Turn::of(self)?;
        let ends = self.ends(&turn);
        let map = self.scatter(&ends);
        map.check()?;
        let both = self.places(&turn, &ends);
        let seen = view(&Scatter::new(self.dims, &both));
        let colouring = Colouring::of(&map);
        let layer = FigureLayer::of(&map)[0];
        let lines = legend::lines(&map, &colouring, &[layer]);
        let wide = 2.0 * SIDE + GAP;
        let mut body = String::new();
        let top = write_title(&mut body, self.title, wide).round() + 22.0;
        let height = (SIDE * aspect(&seen)).max((legend::height(&lines) + 8.0).min(SIDE));
        let areas = [0.0, SIDE + GAP].map(|x| Rect { x: PAD + x, y: top, width: SIDE, height });
        let mut rasters = Vec::new();
        let movers = self.movers();
        for (which, area) in areas.into_iter().enumerate() {
            let places = self.placed(&seen, which, area);
            rasters.extend(self.points(&mut body, &seen, which, &places, area, &colouring, layer)?);
            frame(&mut body, area, self.names[which]);
            if which == 1 {
                let start = self.placed(&seen, 0, area);
                self.trails(&mut body, &movers, &start, &places, &colouring);
            }
            self.class_names(&mut body, which, &places, area, &colouring, &both);
        }
        let under = self.caption(&mut body, movers.len(), [PAD, top + height + LINE + 6.0], wide);
        let whole = Rect { width: wide, ..areas[0] };
        let mut figure = Figure {
            width: wide + 2.0 * MARGIN + legend::room(&lines),
            height: under,
            map: whole,
            layers: Vec::new(),
            over: String::new(),
        };
        if !lines.is_empty() {
            figure.legend(&lines, self.within.len());
        }
        Ok(Picture::new(self.title, [figure.width, figure.height], body + &figure.over).with(rasters))
    }

    /// All places in the frame of the second map: in the first one, then in the second. A row that a map does not have
    /// is where the other has it.
    fn places(&self, turn: &Turn, ends: &[f32]) -> Vec<f32> {
        let rows = self.from.chunks_exact(self.dims).zip(ends.chunks_exact(self.dims)).zip(self.within);
        let first = rows.flat_map(|((from, end), within)| match within {
            Within::Second => end.to_vec(),
            _ => turn.brought(from),
        });
        first.chain(ends.iter().copied()).collect()
    }

    /// Where the points of one of the maps go in an area.
    fn placed(&self, seen: &FlatView, which: usize, area: Rect) -> Vec<[f32; 2]> {
        let room = [area.width / 2.0 - INSET, area.height / 2.0 - INSET];
        let scales = (0..2).filter(|&i| seen.half[i] > 0.0).map(|i| room[i] / seen.half[i]);
        let scale = scales.fold(f32::INFINITY, f32::min);
        let scale = if scale.is_finite() { scale } else { 0.0 };
        let centre = [area.x + area.width / 2.0, area.y + area.height / 2.0];
        let n = self.within.len();
        let xy = seen.xy[which * n..(which + 1) * n].iter();
        xy.map(|&[x, y]| [centre[0] + x * scale, centre[1] - y * scale]).collect()
    }

    fn is_in(&self, row: usize, which: usize) -> bool {
        self.within[row] != [Within::Second, Within::First][which]
    }

    /// The rows that moved, the farthest first.
    fn movers(&self) -> Vec<usize> {
        let far = |&row: &usize| self.within[row] == Within::Both && self.moved[row] >= MOVER;
        let mut rows: Vec<usize> = (0..self.within.len()).filter(far).collect();
        rows.sort_by(|&a, &b| self.moved[b].total_cmp(&self.moved[a]).then(a.cmp(&b)));
        rows
    }

    /// The points of one map; those that only it has are ringed, and on top.
    #[expect(clippy::too_many_arguments, reason = "a picture has that many parts")]
    fn points(
        &self,
        out: &mut String,
        seen: &FlatView,
        which: usize,
        places: &[[f32; 2]],
        area: Rect,
        colouring: &Colouring,
        layer: FigureLayer,
    ) -> Result<Option<Raster>> {
        let n = self.within.len();
        let small = SIDE / 760.0;
        let plain = FigureLayer { radius: layer.radius * small, ..layer };
        let radius = (plain.radius * 1.25).max(1.2);
        let ringed = FigureLayer { radius, opacity: 1.0, rim: (0.12 * radius * radius).min(0.9), ..plain };
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        for point in draw_order(seen) {
            let at = point as usize;
            if at / n != which || !self.is_in(at % n, which) {
                continue;
            }
            let (row, [x, y]) = (at % n, places[at % n]);
            let fade = seen.depth.get(at).map_or(0.0, |depth| 0.5 * depth);
            let colour = colouring.colour(row).mix(palette::WHITE, fade);
            let dots = if self.within[row] == Within::Both { &mut shared } else { &mut own };
            dots.push(Dot { x, y, colour });
        }
        if shared.len() + own.len() <= MOST_SHAPES {
            svg::shapes(&plain, &shared, out);
            svg::shapes(&ringed, &own, out);
            return Ok(None);
        }
        let mut pixmap = blank([area.width, area.height])?;
        raster::paint(&plain, &shared, &mut pixmap, [area.x, area.y], DENSITY);
        raster::paint(&ringed, &own, &mut pixmap, [area.x, area.y], DENSITY);
        Raster::new([area.x, area.y], [area.width, area.height], pixmap, false).map(Some)
    }

    fn trails(
        &self,
        out: &mut String,
        movers: &[usize],
        from: &[[f32; 2]],
        to: &[[f32; 2]],
        colouring: &Colouring,
    ) {
        let every = (movers.len() as f64 / MOST_LINES as f64).max(1.0);
        let chosen = (0..movers.len().min(MOST_LINES)).map(|at| movers[(at as f64 * every) as usize]);
        // Many lines are fainter, so that what is below them can be seen.
        let opacity = (40.0 / chosen.len().max(1) as f32).clamp(0.22, 0.6);
        for row in chosen.rev() {
            let ([x, y], [u, v]) = (from[row], to[row]);
            let ink = colouring.colour(row).mix(palette::BLACK, 0.3);
            let _ = writeln!(
                out,
                r##"<path d="M{x:.1} {y:.1}L{u:.1} {v:.1}" stroke="{ink}" stroke-opacity="{opacity:.2}" stroke-width="1.1"/><circle cx="{u:.1}" cy="{v:.1}" r="1.8" fill="{ink}"/>"##
            );
        }
    }

    /// The name of each class in one of the maps, where there is room.
    fn class_names(
        &self,
        out: &mut String,
        which: usize,
        places: &[[f32; 2]],
        area: Rect,
        colouring: &Colouring,
        both: &[f32],
    ) {
        let ColouringKind::Classes { classes, .. } = &colouring.kind else { return };
        let n = self.within.len();
        let unit = &both[which * n * self.dims..(which + 1) * n * self.dims];
        let mut order: Vec<(usize, u32)> = colouring
            .anchors(self.dims, unit)
            .into_iter()
            .enumerate()
            .filter_map(|(class, anchor)| anchor.map(|anchor| (class, anchor)))
            .filter(|&(_, anchor)| self.is_in(anchor as usize, which))
            .collect();
        order.sort_by_key(|&(class, _)| std::cmp::Reverse(classes[class].count.own));
        let mut taken: Vec<Rect> = Vec::new();
        out.push_str(
            r##"<g stroke="#fff" stroke-width="4" stroke-linejoin="round" paint-order="stroke" text-anchor="middle">"##,
        );
        for (class, anchor) in order {
            let name = shorten(&classes[class].name, 12.0);
            let (w, h) = (width(&name) * NAME, NAME * 1.1);
            let [x, y] = places[anchor as usize];
            let low = area.x + w / 2.0 + 4.0;
            let x = x.clamp(low, (area.x + area.width - w / 2.0 - 4.0).max(low));
            let place = Rect { x: x - w / 2.0, y: y - h / 2.0, width: w, height: h };
            if taken.iter().any(|other| other.overlaps(&place)) {
                continue;
            }
            taken.push(place);
            let fill = classes[class].colour.mix(palette::BLACK, 0.55).to_string();
            write_text(out, [x, y + 5.0], NAME, Style { weight: 600, fill: &fill, ..PLAIN }, &name);
        }
        out.push_str("</g>\n");
    }

    /// What is to be seen, in words; says where it ends.
    fn caption(&self, out: &mut String, movers: usize, at: [f32; 2], wide: f32) -> f32 {
        let counts = format!("{}.", self.counts());
        let mut words = vec![format!("{}.", self.subtitle), counts];
        let sample = if movers > MOST_LINES { format!("{MOST_LINES} of ") } else { String::new() };
        if movers > 0 {
            let rows = if movers == 1 { "row".to_owned() } else { format!("{} rows", count(movers)) };
            let first = self.names[0];
            words.push(format!(
                "Lines: {sample}the {rows} that moved by at least {MOVER} map radii, from the place in {first}."
            ));
        }
        if self.number(Within::Both) < self.within.len() {
            words.push("Ringed: rows that only one of the maps has.".to_owned());
        }
        write_lines(out, at, WORDS, GREY, &wrap(&words.join(" "), wide / WORDS))
    }
}

fn frame(out: &mut String, Rect { x, y, width, height }: Rect, name: &str) {
    let _ = writeln!(
        out,
        r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="none" stroke="{HAIRLINE}"/>"#
    );
    let style = Style { weight: 600, ..PLAIN };
    write_text(out, [x, y - 8.0], WORDS, style, &shorten(name, width / WORDS));
}

/// Height by width of what there is to see, within what looks well.
fn aspect(seen: &FlatView) -> f32 {
    let [x, y] = seen.half;
    if x > 0.0 || y > 0.0 { (y / x).clamp(0.4, 1.1) } else { 1.0 }
}
