//! Grey images in rows: digits drawn as digits.

use std::fmt::Write;

use crate::figure::{PLAIN, Style, write_text};
use crate::picture::{GREY, HAIRLINE, LINE, PAD, Raster, WORDS, write_lines, write_title};
use crate::text::{shorten, width, wrap};
use crate::{Error, Picture, Result, png};

/// The longer side of an image, about: the pixels of small ones become whole numbers of units.
const SIDE: f32 = 56.0;
const GAP: f32 = 8.0;
const CAPTION: f32 = 11.0;
/// The most images side by side; longer rows are broken into lines of equal length.
const MOST: usize = 12;
/// The widest heading of a row, in units of its size; longer ones are broken into lines.
const HEADING: f32 = 14.0;
/// How much wider semibold letters are than the estimate, in the widest of the fonts that a viewer may have.
const BOLD: f32 = 1.12;

/// Grey images in a grid of rows, each row with a heading, each image with a caption.
///
/// A value of 0 is paper and 1 is ink, so that digits that were white on black appear black on white. Values outside
/// are drawn as the nearer of the two. Rows of more than 12 images are broken into lines.
#[derive(Debug, Clone)]
pub struct Images {
    /// The headline; may be empty.
    pub title: String,
    /// Pixels of each image from left to right.
    pub width: usize,
    /// Pixels of each image from top to bottom.
    pub height: usize,
    /// From top to bottom; a row may be empty, and rows may have different lengths.
    pub rows: Vec<ImageRow>,
}

/// One row of [`Images`].
#[derive(Debug, Clone)]
pub struct ImageRow {
    /// What stands before it; may be empty.
    pub heading: String,
    /// From left to right.
    pub cells: Vec<ImageCell>,
}

/// One of the [`Images`].
#[derive(Debug, Clone)]
pub struct ImageCell {
    /// Row by row, width x height values from 0 to 1.
    pub pixels: Vec<f32>,
    /// What stands under it; may be empty.
    pub caption: String,
}

/// Sizes that all rows share, in units of the picture.
struct Layout {
    image: [f32; 2],
    /// From one image to the next.
    pitch: f32,
    /// Where the first image of each row begins.
    left: f32,
    /// Images on a line.
    line: usize,
}

impl Images {
    /// The images as a picture.
    ///
    /// # Errors
    /// Where there is no image, one has not width x height values, or one of them is not a number.
    pub fn picture(&self) -> Result<Picture> {
        self.check()?;
        let layout = self.layout();
        let across = self.rows.iter().map(|row| row.cells.len().min(layout.line)).max().unwrap_or_default();
        let wide = (layout.left + across as f32 * layout.pitch - GAP + PAD).max(240.0);
        let (mut body, mut rasters) = (String::new(), Vec::new());
        let mut top = write_title(&mut body, &self.title, wide);
        for row in &self.rows {
            let lines = wrap(&row.heading, HEADING);
            let style = Style { weight: 600, ..PLAIN };
            let middle = (layout.image[1] - LINE * lines.len() as f32).max(0.0) / 2.0 + 13.0;
            let words = write_lines(&mut body, [PAD, top + middle], WORDS, style, &lines);
            let captions = row.cells.iter().any(|cell| !cell.caption.is_empty());
            let high = layout.image[1] + if captions { LINE } else { GAP };
            for (at, cell) in row.cells.iter().enumerate() {
                let x = layout.left + (at % layout.line) as f32 * layout.pitch;
                let y = top + (at / layout.line) as f32 * high;
                rasters.push(Raster::new([x, y], layout.image, self.pixels(cell)?, true)?);
                edge(&mut body, [x, y], layout.image);
                let room = (layout.pitch - 2.0) / CAPTION;
                let under = [x + layout.image[0] / 2.0, y + layout.image[1] + 12.0];
                if captions {
                    let style = Style { anchor: "middle", ..GREY };
                    write_text(&mut body, under, CAPTION, style, &shorten(&cell.caption, room));
                }
            }
            top = (top + row.cells.len().div_ceil(layout.line) as f32 * high).max(words - 6.0) + 2.0;
        }
        Ok(Picture::new(&self.title, [wide, top + PAD - GAP], body).with(rasters))
    }

    fn check(&self) -> Result<()> {
        if self.width == 0 || self.height == 0 || self.rows.iter().all(|row| row.cells.is_empty()) {
            return Err(Error::Nothing(format!("the grid of images \"{}\"", self.title)));
        }
        let expected = self.width * self.height;
        let rows = self.rows.iter().enumerate();
        for (row, at, cell) in
            rows.flat_map(|(row, of)| of.cells.iter().enumerate().map(move |(at, cell)| (row, at, cell)))
        {
            let what = || format!("image {at} in row {row} of \"{}\"", self.title);
            if cell.pixels.len() != expected {
                let found = cell.pixels.len();
                return Err(Error::Ragged { what: what(), things: "pixels", found, expected });
            }
            if cell.pixels.iter().any(|value| value.is_nan()) {
                return Err(Error::Pixel(what()));
            }
        }
        Ok(())
    }

    fn layout(&self) -> Layout {
        let longer = self.width.max(self.height) as f32;
        // Small images by whole numbers, so that every pixel is as large as the next.
        let scale = if longer <= SIDE { (SIDE / longer).round() } else { SIDE / longer };
        let image = [self.width as f32 * scale, self.height as f32 * scale];
        let captions = self.rows.iter().flat_map(|row| &row.cells).map(|cell| width(&cell.caption) * CAPTION);
        let caption = captions.fold(0.0, f32::max).min(SIDE * 1.8);
        let headings = self.rows.iter().flat_map(|row| wrap(&row.heading, HEADING));
        let heading = headings.map(|line| width(&line) * WORDS * BOLD).fold(0.0, f32::max);
        let most = self.rows.iter().map(|row| row.cells.len()).max().unwrap_or(1);
        Layout {
            image,
            pitch: image[0].max(caption) + GAP,
            left: PAD + if heading > 0.0 { heading + 12.0 } else { 0.0 },
            line: most.div_ceil(most.div_ceil(MOST)),
        }
    }

    /// Ink on paper.
    fn pixels(&self, cell: &ImageCell) -> Result<resvg::tiny_skia::Pixmap> {
        let mut pixmap = png::blank(self.width as u32, self.height as u32)?;
        for (pixel, value) in pixmap.data_mut().chunks_exact_mut(4).zip(&cell.pixels) {
            let grey = 255 - (value.clamp(0.0, 1.0) * 255.0).round() as u8;
            pixel.copy_from_slice(&[grey, grey, grey, 255]);
        }
        Ok(pixmap)
    }
}

fn edge(out: &mut String, [x, y]: [f32; 2], [width, height]: [f32; 2]) {
    let _ = writeln!(
        out,
        r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="none" stroke="{HAIRLINE}"/>"#
    );
}
