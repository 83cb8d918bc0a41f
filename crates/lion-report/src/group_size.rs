//! How many outliers a group has, beside it: its diamonds lie so close that they may look like one.

use std::fmt::Write;

use crate::figure::{Figure, PLAIN, Rect, Style, write_text};
use crate::layer::FigureLayer;
use crate::palette;
use crate::placed::Crowd;
use crate::text::width;
use crate::{Mark, Scatter};

/// So many groups, the largest, have their size told on the map; the page tells that of any under the pointer.
pub(crate) const MOST: usize = 100;
const SIZE: f32 = 14.0;
/// From a group to its size.
const GAP: f32 = 2.0;

impl Figure {
    /// Writes the size of each group of more than one outlier beside it, off what is `taken` and, where there is room, off
    /// other outliers. A size that finds no place is left out.
    pub(crate) fn group_sizes(
        &mut self,
        map: &Scatter,
        layers: &[FigureLayer],
        places: &[[f32; 2]],
        mut taken: Vec<Rect>,
    ) {
        let outliers = layers.iter().find(|layer| layer.mark == Some(Mark::Outlier));
        let Some((placed, layer)) = map.newcomers().zip(outliers) else { return };
        let crowds = placed.crowds();
        if crowds.is_empty() {
            return;
        }
        let reach = layer.radius * std::f32::consts::SQRT_2;
        let new = &places[map.len()..];
        let diamonds: Vec<Rect> = new
            .iter()
            .zip(placed.marks)
            .filter(|(_, mark)| **mark == Mark::Outlier)
            .map(|(&at, _)| around(&[at], reach))
            .collect();
        let fill = palette::OUTLIER.mix(palette::BLACK, 0.3).to_string();
        let style = Style { weight: 600, fill: &fill, ..PLAIN };
        self.over.push_str(
            r##"<g id="group-sizes" stroke="#fff" stroke-width="4" stroke-linejoin="round" paint-order="stroke">
"##,
        );
        for crowd in crowds.iter().take(MOST) {
            let members: Vec<[f32; 2]> = crowd.members.iter().map(|&at| new[at]).collect();
            let (text, own) = (crowd.size(), around(&members, reach));
            let Some(place) = self.beside(own, width(&text) * SIZE, &taken, &diamonds) else { continue };
            let Crowd { group, members } = crowd;
            let _ = write!(self.over, "<g><title>group {group}: {} outliers</title>", members.len());
            write_text(&mut self.over, [place.x, place.y + SIZE * 0.86], SIZE, style, &text);
            self.over.push_str("</g>\n");
            taken.push(place);
        }
        self.over.push_str("</g>\n");
    }

    /// The first place beside a box, inside the frame, for words of this width that covers nothing `taken`: none of
    /// the diamonds either if that can be had.
    fn beside(&self, own: Rect, wide: f32, taken: &[Rect], diamonds: &[Rect]) -> Option<Rect> {
        let (high, frame) = (SIZE, self.map);
        let (right, left) = (own.x + own.width + GAP, own.x - GAP - wide);
        let (middle, centre) = (own.x + (own.width - wide) / 2.0, own.y + (own.height - high) / 2.0);
        let (above, below) = (own.y - GAP - high, own.y + own.height + GAP);
        let (upper, lower) = (own.y - high * 0.6, own.y + own.height - high * 0.4);
        let candidates = [
            [right, upper],
            [right, centre],
            [right, lower],
            [left, upper],
            [left, centre],
            [left, lower],
            [middle, above],
            [middle, below],
        ]
        .map(|[x, y]| Rect { x, y, width: wide, height: high });
        let inside = |place: &Rect| {
            place.x >= frame.x
                && place.y >= frame.y
                && place.x + wide <= frame.x + frame.width
                && place.y + high <= frame.y + frame.height
        };
        let covers = |place: &Rect, others: &[Rect]| others.iter().any(|other| other.overlaps(place));
        let free: Vec<Rect> =
            candidates.into_iter().filter(|place| inside(place) && !covers(place, taken)).collect();
        free.iter().find(|place| !covers(place, diamonds)).or(free.first()).copied()
    }
}

/// The box around places that reach so far.
fn around(places: &[[f32; 2]], reach: f32) -> Rect {
    let side = |axis: usize| {
        let values = places.iter().map(|place| place[axis]);
        let low = values.clone().fold(f32::INFINITY, f32::min);
        (low - reach, values.fold(f32::NEG_INFINITY, f32::max) - low + 2.0 * reach)
    };
    let ((x, width), (y, height)) = (side(0), side(1));
    Rect { x, y, width, height }
}
