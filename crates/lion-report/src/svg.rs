//! The figure as text.

use std::fmt::Write;

use base64::Engine;

use crate::figure::{Figure, Rect};
use crate::text::escape;
use crate::{Result, Scatter, png, raster};

/// More points than this become one embedded image, lest the file grow to what no viewer opens.
const MOST_CIRCLES: usize = 20_000;
/// Pixels of that image per unit of the figure: 300 dots per inch when it is printed 17 cm wide.
const DENSITY: f32 = 2.5;

/// The map as a figure for a paper: no axes (they mean nothing in t-SNE), equal aspect, classes named on the map and
/// in a legend with counts, points drawn in a shuffled order. A 3-D map is seen obliquely, its far points fading.
///
/// Up to 20000 points are circles; more become an image inside the SVG, while all text stays text.
pub fn svg(map: &Scatter) -> Result<String> {
    let figure = Figure::of(map)?;
    let mut under = String::new();
    if !map.title.is_empty() {
        let _ = writeln!(under, "<title>{}</title>", escape(map.title));
    }
    let (width, height) = (figure.width, figure.height);
    let _ = writeln!(under, r##"<rect width="{width:.0}" height="{height:.0}" fill="#fff"/>"##);
    if figure.marks.len() <= MOST_CIRCLES {
        circles(&figure, &mut under);
    } else {
        image(&figure, &mut under)?;
    }
    Ok(figure.wrap(&under))
}

fn circles(figure: &Figure, out: &mut String) {
    let radius = figure.radius;
    let _ = writeln!(out, r#"<g id="points" fill-opacity="{:.2}">"#, figure.opacity);
    for mark in &figure.marks {
        let _ = writeln!(
            out,
            r#"<circle cx="{:.2}" cy="{:.2}" r="{radius:.2}" fill="{}"/>"#,
            mark.x, mark.y, mark.colour
        );
    }
    out.push_str("</g>\n");
}

fn image(figure: &Figure, out: &mut String) -> Result<()> {
    let Rect { x, y, width, height } = figure.map;
    let mut pixmap = png::blank((width * DENSITY).round() as u32, (height * DENSITY).round() as u32)?;
    raster::paint(figure, &mut pixmap, [x, y], DENSITY);
    let data = base64::engine::general_purpose::STANDARD.encode(png::encode(&pixmap)?);
    let _ = writeln!(
        out,
        r#"<image id="points" x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none" href="data:image/png;base64,{data}"/>"#
    );
    Ok(())
}
