//! The figure as text.

use std::fmt::Write;

use base64::Engine;

use crate::figure::{Dot, Figure, Rect};
use crate::layer::{FigureLayer, MarkShape};
use crate::text::escape;
use crate::{Mark, Result, Scatter, png, raster};

/// A layer of more points than this becomes one embedded image, lest the file grow to what no viewer opens.
const MOST_SHAPES: usize = 20_000;
/// Pixels of that image per unit of the figure: 300 dots per inch when it is printed 17 cm wide.
const DENSITY: f32 = 2.5;

/// The map as a figure for a paper: no axes (they mean nothing in t-SNE), equal aspect, classes named on the map and
/// in a legend with counts, points drawn in a shuffled order. A 3-D map is seen obliquely, its far points fading.
/// Placed points lie over the map, which turns pale: ringed discs, and for outliers diamonds.
///
/// The map's own points are the group `points`; those placed are the groups `exact`, `interpolated`, `beside-outlier`
/// and `outlier`. Up to 20000 points of a group are shapes; more become an image inside the SVG, while all text stays
/// text.
pub fn svg(map: &Scatter) -> Result<String> {
    let figure = Figure::of(map)?;
    let mut under = String::new();
    if !map.title.is_empty() {
        let _ = writeln!(under, "<title>{}</title>", escape(map.title));
    }
    let (width, height) = (figure.width, figure.height);
    let _ = writeln!(under, r##"<rect width="{width:.0}" height="{height:.0}" fill="#fff"/>"##);
    for (layer, dots) in &figure.layers {
        if dots.len() <= MOST_SHAPES {
            shapes(layer, dots, &mut under);
        } else {
            image(layer, dots, figure.map, &mut under)?;
        }
    }
    Ok(figure.wrap(&under))
}

fn id(layer: &FigureLayer) -> &'static str {
    layer.mark.map_or("points", Mark::name)
}

pub(crate) fn shapes(layer: &FigureLayer, dots: &[Dot], out: &mut String) {
    let _ = write!(out, r#"<g id="{}" fill-opacity="{:.2}""#, id(layer), layer.opacity);
    if layer.rim > 0.0 {
        let _ = write!(out, r#" stroke="{}" stroke-width="{:.2}""#, layer.edge(), layer.rim);
    }
    out.push_str(">\n");
    for dot in dots {
        shape(out, layer.shape, [dot.x, dot.y], layer.radius, &format!(r#"fill="{}""#, dot.colour));
    }
    out.push_str("</g>\n");
}

/// One shape with its attributes, so far from its middle to the middle of an edge.
pub(crate) fn shape(out: &mut String, shape: MarkShape, [x, y]: [f32; 2], radius: f32, look: &str) {
    let _ = match shape {
        MarkShape::Disc => writeln!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius:.2}" {look}/>"#),
        MarkShape::Diamond => {
            let corner = radius * std::f32::consts::SQRT_2;
            let [top, right, bottom, left] = [y - corner, x + corner, y + corner, x - corner];
            writeln!(
                out,
                r#"<path d="M{x:.2} {top:.2}L{right:.2} {y:.2} {x:.2} {bottom:.2} {left:.2} {y:.2}z" {look}/>"#
            )
        }
    };
}

fn image(layer: &FigureLayer, dots: &[Dot], map: Rect, out: &mut String) -> Result<()> {
    let Rect { x, y, width, height } = map;
    let mut pixmap = png::blank((width * DENSITY).round() as u32, (height * DENSITY).round() as u32)?;
    raster::paint(layer, dots, &mut pixmap, [x, y], DENSITY);
    let data = base64::engine::general_purpose::STANDARD.encode(png::encode(&pixmap)?);
    let _ = writeln!(
        out,
        r#"<image id="{}" x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none" href="data:image/png;base64,{data}"/>"#,
        id(layer)
    );
    Ok(())
}
