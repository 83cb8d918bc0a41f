//! Points straight to pixels: a million small discs are too many for a general painter.

use resvg::tiny_skia::Pixmap;

use crate::figure::Dot;
use crate::layer::{FigureLayer, MarkShape};
use crate::palette::Rgb;

/// Paints the points of a layer over what is there; `origin` is the corner of the figure that the pixmap starts
/// at, and `scale` the pixels per unit.
pub(crate) fn paint(layer: &FigureLayer, dots: &[Dot], pixmap: &mut Pixmap, origin: [f32; 2], scale: f32) {
    let (width, height) = (pixmap.width() as i32, pixmap.height() as i32);
    let data = pixmap.data_mut();
    // What is smaller than a pixel is drawn with a radius of half a pixel, fainter by its area.
    let radius = (layer.radius * scale).max(0.5);
    let opacity = layer.opacity * (layer.radius * scale / radius).powi(2).max(0.25);
    let rim = layer.rim * scale;
    // How far from the middle the line around a point ends, and how far its own colour does.
    let (outer, inner) = (radius + rim / 2.0 + 0.5, radius - rim / 2.0 + 0.5);
    let (reach, edge) = (layer.shape.reach(outer), layer.edge());
    for dot in dots {
        let (x, y) = ((dot.x - origin[0]) * scale - 0.5, (dot.y - origin[1]) * scale - 0.5);
        let columns = ((x - reach).ceil() as i32).max(0)..=((x + reach).floor() as i32).min(width - 1);
        for row in ((y - reach).ceil() as i32).max(0)..=((y + reach).floor() as i32).min(height - 1) {
            for column in columns.clone() {
                let distance = layer.shape.distance(column as f32 - x, row as f32 - y);
                let at = 4 * (row as usize * width as usize + column as usize);
                let [cover, own] = [outer, inner].map(|end| (end - distance).clamp(0.0, 1.0));
                if cover > 0.0 {
                    blend(&mut data[at..at + 4], edge.mix(dot.colour, own / cover), opacity * cover);
                }
            }
        }
    }
}

impl MarkShape {
    /// How far a place lies from the middle, in the measure in which every edge of the shape is equally far.
    fn distance(self, x: f32, y: f32) -> f32 {
        match self {
            MarkShape::Disc => x.hypot(y),
            MarkShape::Diamond => (x.abs() + y.abs()) * std::f32::consts::FRAC_1_SQRT_2,
        }
    }

    /// How far along a row or a column the shape can reach that reaches so far in its own measure.
    fn reach(self, distance: f32) -> f32 {
        match self {
            MarkShape::Disc => distance,
            MarkShape::Diamond => distance * std::f32::consts::SQRT_2,
        }
    }
}

/// Source over destination, premultiplied.
fn blend(pixel: &mut [u8], colour: Rgb, alpha: f32) {
    let [r, g, b] = colour.0.map(f32::from);
    for (channel, colour) in pixel.iter_mut().zip([r, g, b, 255.0]) {
        let under = f32::from(*channel);
        *channel = (under + (colour - under) * alpha + 0.5) as u8;
    }
}
