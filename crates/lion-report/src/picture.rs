//! A figure of a report, ready to be written or painted, and several figures as one.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use resvg::tiny_skia::{Color, FilterQuality, Pixmap, PixmapPaint, Transform};

use crate::figure::{FAINT, FONTS, Figure, PLAIN, Style, write_text};
use crate::text::{escape, wrap};
use crate::{Error, Result, Scatter, png, raster, svg};

/// Pixels per unit, in the PNG and in images inside the SVG: sharp on a good screen and on paper.
pub(crate) const DENSITY: f32 = 2.0;
/// The widest PNG; wider pictures get fewer pixels per unit.
const WIDEST: f32 = 4000.0;
/// A layer of more points than this becomes an image: a page with a dozen maps should still scroll.
pub(crate) const MOST_SHAPES: usize = 5000;
/// Around what is drawn.
pub(crate) const PAD: f32 = 16.0;
pub(crate) const TITLE: f32 = 16.0;
const PANEL_TITLE: f32 = 19.0;
pub(crate) const WORDS: f32 = 13.0;
/// From one line of words to the next.
pub(crate) const LINE: f32 = 18.0;
/// The colour of frames and grid lines.
pub(crate) const HAIRLINE: &str = "#d5d9de";
pub(crate) const GREY: Style = Style { fill: FAINT, ..PLAIN };

/// One figure, ready as SVG and as PNG.
///
/// Made by [`Chart`](crate::Chart), [`Images`](crate::Images), [`Landing`](crate::Landing), [`Heat`](crate::Heat),
/// from a map by [`Picture::map`], or from several pictures by [`panel`].
#[derive(Debug, Clone)]
pub struct Picture {
    title: String,
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// Drawn first.
    rasters: Vec<Raster>,
    /// SVG elements without images, drawn over them.
    body: String,
    /// Of a panel: the pictures in it, for a page that would rather lay them out itself, and in how many columns.
    pub(crate) parts: Vec<Picture>,
    pub(crate) columns: usize,
}

/// Pixels at a place of a picture.
#[derive(Debug, Clone)]
pub(crate) struct Raster {
    at: [f32; 2],
    size: [f32; 2],
    pixels: Pixmap,
    /// The same as a data URI.
    uri: String,
    /// Enlarged as squares, not smoothly.
    crisp: bool,
}

impl Raster {
    pub(crate) fn new(at: [f32; 2], size: [f32; 2], pixels: Pixmap, crisp: bool) -> Result<Raster> {
        let uri = data_uri(&png::encode(&pixels)?);
        Ok(Raster { at, size, pixels, uri, crisp })
    }

    fn write(&self, out: &mut String) {
        let Raster { at: [x, y], size: [width, height], uri, .. } = self;
        let look = if self.crisp { r#" image-rendering="pixelated""# } else { "" };
        let _ = writeln!(
            out,
            r#"<image x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none"{look} href="{uri}"/>"#
        );
    }

    fn paint(&self, scale: f32, onto: &mut Pixmap) {
        let quality = if self.crisp { FilterQuality::Nearest } else { FilterQuality::Bilinear };
        let (width, height) = (self.pixels.width() as f32, self.pixels.height() as f32);
        let [x, y] = self.at.map(|at| at * scale);
        let place =
            Transform::from_row(self.size[0] * scale / width, 0.0, 0.0, self.size[1] * scale / height, x, y);
        onto.draw_pixmap(
            0,
            0,
            self.pixels.as_ref(),
            &PixmapPaint { quality, ..PixmapPaint::default() },
            place,
            None,
        );
    }
}

impl Picture {
    pub(crate) fn new(title: &str, [width, height]: [f32; 2], body: String) -> Picture {
        let (width, height) = (width.ceil(), height.ceil());
        Picture {
            title: title.to_owned(),
            width,
            height,
            rasters: Vec::new(),
            body,
            parts: Vec::new(),
            columns: 1,
        }
    }

    pub(crate) fn with(self, rasters: Vec<Raster>) -> Picture {
        Picture { rasters, ..self }
    }

    /// A map, and what is placed into it, as [`svg`](crate::svg()) draws it. In a flat map of more than 5000 points
    /// these are an image inside the SVG.
    pub fn map(map: &Scatter) -> Result<Picture> {
        let figure = Figure::of(map)?;
        let mut body = String::new();
        let mut rasters = Vec::new();
        if figure.layers.iter().all(|(_, dots)| dots.len() <= MOST_SHAPES) {
            figure.layers.iter().for_each(|(layer, dots)| svg::shapes(layer, dots, &mut body));
        } else {
            let area = figure.map;
            let mut pixmap = blank([area.width, area.height])?;
            for (layer, dots) in &figure.layers {
                raster::paint(layer, dots, &mut pixmap, [area.x, area.y], DENSITY);
            }
            rasters.push(Raster::new([area.x, area.y], [area.width, area.height], pixmap, false)?);
        }
        body.push_str(&figure.over);
        Ok(Picture::new(map.title, [figure.width, figure.height], body).with(rasters))
    }

    /// The picture as an SVG file, with text as text.
    pub fn svg(&self) -> String {
        let Picture { width, height, .. } = self;
        let mut under = String::new();
        if !self.title.is_empty() {
            let _ = writeln!(under, "<title>{}</title>", escape(&self.title));
        }
        let _ = writeln!(under, r##"<rect width="{width}" height="{height}" fill="#fff"/>"##);
        self.element("", &(under + &self.content()))
    }

    /// The picture as a PNG file, two pixels per unit, set in the compiled-in font: the same on every machine.
    pub fn png(&self) -> Result<Vec<u8>> {
        let scale = DENSITY.min(WIDEST / self.width);
        let mut pixmap =
            png::blank((self.width * scale).round() as u32, (self.height * scale).round() as u32)?;
        pixmap.fill(Color::WHITE);
        self.rasters.iter().for_each(|raster| raster.paint(scale, &mut pixmap));
        png::render(&self.element("", &self.body), scale, &mut pixmap)?;
        png::encode(&pixmap)
    }

    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// How many elements it has; a browser that has to hold thousands is better given a PNG.
    pub(crate) fn elements(&self) -> usize {
        self.body.matches('<').count()
    }

    /// The picture inside a page: its ids begin with `name`, so that those of two pictures never meet.
    pub(crate) fn inline(&self, name: &str, attributes: &str) -> String {
        let content = self.content().replace(r#" id=""#, &format!(r#" id="{name}-"#));
        self.element(attributes, &content.replace("url(#", &format!("url(#{name}-")))
    }

    fn content(&self) -> String {
        let mut out = String::new();
        self.rasters.iter().for_each(|raster| raster.write(&mut out));
        out + &self.body
    }

    fn element(&self, attributes: &str, content: &str) -> String {
        let Picture { width, height, .. } = self;
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{FONTS}"{attributes}>
{content}</svg>
"#
        )
    }
}

/// An empty image for a part of a picture that is so large.
pub(crate) fn blank([width, height]: [f32; 2]) -> Result<Pixmap> {
    png::blank((width * DENSITY).round() as u32, (height * DENSITY).round() as u32)
}

/// A PNG file inside a page.
pub(crate) fn data_uri(png: &[u8]) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(png))
}

/// Writes lines of words from a place downwards and says where the next would stand.
pub(crate) fn write_lines(
    out: &mut String,
    [x, mut y]: [f32; 2],
    size: f32,
    style: Style,
    lines: &[String],
) -> f32 {
    for line in lines {
        write_text(out, [x, y], size, style, line);
        y += size * LINE / WORDS;
    }
    y
}

/// Writes the title in a picture of that width and says where what is under it begins.
pub(crate) fn write_title(out: &mut String, title: &str, width: f32) -> f32 {
    write_headline(out, title, TITLE, width)
}

fn write_headline(out: &mut String, title: &str, size: f32, width: f32) -> f32 {
    let lines = wrap(title, (width - 2.0 * PAD) / size);
    let style = Style { weight: 600, ..PLAIN };
    if lines.is_empty() {
        return PAD;
    }
    let next = write_lines(out, [PAD, PAD + 0.75 * size], size, style, &lines);
    // From the line that would come next, back to a little below the last one.
    next - 0.75 * size + 2.0
}

/// Several pictures as one, in rows of `columns`, each with its own title. In a page they flow into as many columns as
/// there is room for, and on a phone below each other.
///
/// # Errors
/// Where there are no pictures or no columns.
pub fn panel(title: &str, pictures: &[Picture], columns: usize) -> Result<Picture> {
    if pictures.is_empty() {
        return Err(Error::Nothing(format!("the panel \"{title}\"")));
    }
    if columns == 0 {
        return Err(Error::Columns);
    }
    let columns = columns.min(pictures.len());
    let mut widths = vec![0.0_f32; columns];
    let mut heights = vec![0.0_f32; pictures.len().div_ceil(columns)];
    for (at, picture) in pictures.iter().enumerate() {
        widths[at % columns] = widths[at % columns].max(picture.width);
        heights[at / columns] = heights[at / columns].max(picture.height);
    }
    let width = widths.iter().sum();
    let mut body = String::new();
    let top = if title.is_empty() {
        0.0
    } else {
        write_headline(&mut body, title, PANEL_TITLE, width).round() - 4.0
    };
    let mut rasters = Vec::new();
    for (at, picture) in pictures.iter().enumerate() {
        let x: f32 = widths[..at % columns].iter().sum();
        let y: f32 = top + heights[..at / columns].iter().sum::<f32>();
        let _ = writeln!(body, r#"<g transform="translate({x} {y})">"#);
        let own = picture.body.replace(r#" id=""#, &format!(r#" id="p{at}-"#));
        body.push_str(&own.replace("url(#", &format!("url(#p{at}-")));
        body.push_str("</g>\n");
        let moved = |raster: &Raster| Raster { at: [raster.at[0] + x, raster.at[1] + y], ..raster.clone() };
        rasters.extend(picture.rasters.iter().map(moved));
    }
    let whole = Picture::new(title, [width, top + heights.iter().sum::<f32>()], body).with(rasters);
    Ok(Picture { parts: pictures.to_vec(), columns, ..whole })
}
