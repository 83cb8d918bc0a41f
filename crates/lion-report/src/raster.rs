//! Points straight to pixels: a million small discs are too many for a general painter.

use resvg::tiny_skia::Pixmap;

use crate::figure::{Figure, Mark};

/// Paints the points of a figure over what is there; `origin` is the corner of the figure that the pixmap starts
/// at, and `scale` the pixels per unit.
pub(crate) fn paint(figure: &Figure, pixmap: &mut Pixmap, origin: [f32; 2], scale: f32) {
    let (width, height) = (pixmap.width() as i32, pixmap.height() as i32);
    let data = pixmap.data_mut();
    // A disc smaller than a pixel is drawn as one of radius half a pixel, fainter by its area.
    let radius = (figure.radius * scale).max(0.5);
    let opacity = figure.opacity * (figure.radius * scale / radius).powi(2).max(0.25);
    let reach = radius + 0.5;
    for mark in &figure.marks {
        let (x, y) = ((mark.x - origin[0]) * scale - 0.5, (mark.y - origin[1]) * scale - 0.5);
        let columns = ((x - reach).ceil() as i32).max(0)..=((x + reach).floor() as i32).min(width - 1);
        for row in ((y - reach).ceil() as i32).max(0)..=((y + reach).floor() as i32).min(height - 1) {
            for column in columns.clone() {
                let distance = (column as f32 - x).hypot(row as f32 - y);
                let alpha = opacity * (reach - distance).clamp(0.0, 1.0);
                let at = 4 * (row as usize * width as usize + column as usize);
                blend(&mut data[at..at + 4], mark, alpha);
            }
        }
    }
}

/// Source over destination, premultiplied.
fn blend(pixel: &mut [u8], mark: &Mark, alpha: f32) {
    let [r, g, b] = mark.colour.0.map(f32::from);
    for (channel, colour) in pixel.iter_mut().zip([r, g, b, 255.0]) {
        let under = f32::from(*channel);
        *channel = (under + (colour - under) * alpha + 0.5) as u8;
    }
}
