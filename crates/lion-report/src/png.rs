//! The figure as pixels.

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use crate::figure::Figure;
use crate::{Error, Result, Scatter, raster};

/// The widths that make a picture: readable at one end, a few hundred megabytes at the other.
pub(crate) const WIDTHS: RangeInclusive<u32> = 100..=10_000;

/// The font of every picture, in its two weights.
pub(crate) const REGULAR: &[u8] = include_bytes!("../assets/font/inter-regular.otf");
pub(crate) const SEMIBOLD: &[u8] = include_bytes!("../assets/font/inter-semibold.otf");

/// The figure of [`svg`](crate::svg()), `width_px` pixels wide, as a PNG file.
///
/// Its text is set in a font that is compiled in and knows Latin, Greek and Cyrillic; for labels in other scripts
/// take the SVG or the HTML, which use the viewer's fonts.
pub fn png(map: &Scatter, width_px: u32) -> Result<Vec<u8>> {
    if !WIDTHS.contains(&width_px) {
        return Err(Error::Width(width_px));
    }
    let figure = Figure::of(map)?;
    let scale = width_px as f32 / figure.width;
    let mut pixmap = blank(width_px, (figure.height * scale).round() as u32)?;
    pixmap.fill(Color::WHITE);
    for (layer, dots) in &figure.layers {
        raster::paint(layer, dots, &mut pixmap, [0.0, 0.0], scale);
    }

    render(&figure.wrap(""), scale, &mut pixmap)?;
    encode(&pixmap)
}

/// Paints an SVG without images over what is there, `scale` pixels per unit, with the compiled-in font.
pub(crate) fn render(svg: &str, scale: f32, pixmap: &mut Pixmap) -> Result<()> {
    let options = Options { fontdb: fonts(), font_family: "Inter".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| Error::Render(error.to_string()))?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    Ok(())
}

/// An empty picture.
pub(crate) fn blank(width: u32, height: u32) -> Result<Pixmap> {
    Pixmap::new(width.max(1), height.max(1))
        .ok_or_else(|| Error::Render(format!("{width} x {height} pixels")))
}

/// A picture as a PNG file.
pub(crate) fn encode(pixmap: &Pixmap) -> Result<Vec<u8>> {
    pixmap.encode_png().map_err(|error| Error::Render(error.to_string()))
}

fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let load = || {
        let mut fonts = Database::new();
        fonts.load_font_data(REGULAR.to_vec());
        fonts.load_font_data(SEMIBOLD.to_vec());
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}
