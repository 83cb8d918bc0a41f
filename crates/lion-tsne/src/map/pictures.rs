//! Pictures of a map's rows, for maps of images: a byte for each value, as the map file holds them.

use super::Map;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use memmap2::Mmap;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

/// How the values of a row make a picture: line by line from the top, the channels of each pixel together.
///
/// ```
/// use lion_tsne::map::Image;
///
/// let image: Image = "28x28".parse()?;
/// assert_eq!((image.width, image.height, image.channels), (28, 28, 1));
/// assert_eq!("32x16x3".parse::<Image>()?.values(), 1536);
/// # Ok::<(), lion_tsne::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Pixels in a line.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// Values of a pixel: 1 is grey, 3 red, green and blue, 4 these and how opaque it is.
    pub channels: usize,
}

impl Image {
    /// Values of a picture.
    pub fn values(&self) -> usize {
        self.width.saturating_mul(self.height).saturating_mul(self.channels)
    }

    /// Refuses pictures of rows that have so many columns.
    fn check(&self, columns: usize) -> Result<()> {
        let problem = if self.values() == 0 || ![1, 3, 4].contains(&self.channels) {
            "must be WIDTHxHEIGHT, or WIDTHxHEIGHTx3 for colours, each at least 1".to_string()
        } else if self.values() != columns {
            format!("{self} has {} values, but the rows have {columns} columns", self.values())
        } else {
            return Ok(());
        };
        Err(Error::Parameter { name: "image", problem })
    }
}

impl FromStr for Image {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let sides: Option<Vec<usize>> = text.trim().split('x').map(|side| side.parse().ok()).collect();
        let image = match sides.as_deref() {
            Some(&[width, height]) => Self { width, height, channels: 1 },
            Some(&[width, height, channels]) => Self { width, height, channels },
            _ => Self { width: 0, height: 0, channels: 0 },
        };
        match image.check(image.values()) {
            Ok(()) => Ok(image),
            Err(_) => Err(Error::Parameter {
                name: "image",
                problem: format!("must be WIDTHxHEIGHT or WIDTHxHEIGHTx3, e.g. 28x28, not {text:?}"),
            }),
        }
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)?;
        if self.channels == 1 { Ok(()) } else { write!(f, "x{}", self.channels) }
    }
}

/// The pictures of all rows, and how new ones are drawn alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pictures {
    pub(crate) image: Image,
    /// The values that are black and white.
    pub(crate) low: f32,
    pub(crate) high: f32,
    pub(crate) bytes: Bytes,
}

impl Pictures {
    fn new(image: Image, rows: &Matrix) -> Self {
        let (low, high) = rows
            .data()
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
        let bytes: Vec<u8> = rows.data().iter().map(|&v| shade(v, low, high)).collect();
        Self { image, low, high, bytes: Bytes::Owned(bytes.into()) }
    }

    /// Those of some rows of a map, and of new ones drawn alike.
    pub(super) fn of_rows(&self, map: &Map, rows: &[u32], new: &Matrix) -> Self {
        let of_old = rows.iter().filter_map(|&row| map.picture(row as usize)).flatten().copied();
        let of_new = new.data().iter().map(|&v| shade(v, self.low, self.high));
        Self { bytes: Bytes::Owned(of_old.chain(of_new).collect()), ..self.clone() }
    }

    fn check(&self, rows: usize, columns: usize) -> Result<()> {
        self.image.check(columns)?;
        let (wanted, given) = (rows.checked_mul(columns), self.bytes.as_slice().len());
        if wanted != Some(given) {
            return Err(Error::Data(format!(
                "{rows} rows of {columns} values need as many bytes of pictures, not {given}"
            )));
        }
        match self.low.is_finite() && self.high.is_finite() && self.low <= self.high {
            true => Ok(()),
            false => Err(Error::Data("the pictures have no range of values".into())),
        }
    }
}

/// A value as a byte.
fn shade(value: f32, low: f32, high: f32) -> u8 {
    let (value, low, high) = (f64::from(value), f64::from(low), f64::from(high));
    let share = if high > low { (value - low) / (high - low) } else { 0.0 };
    (share * 255.0).round().clamp(0.0, 255.0) as u8
}

/// Bytes in memory or in a mapped file.
#[derive(Clone)]
pub(crate) enum Bytes {
    Owned(Arc<[u8]>),
    Mapped { file: Arc<Mmap>, range: Range<usize> },
}

impl Bytes {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped { file, range } => file.get(range.clone()).unwrap_or(&[]),
        }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.as_slice().len())
    }
}

impl Map {
    /// The map with pictures of its rows. `rows` are those it was made of, as they were given; the least and the
    /// greatest of all their values become black and white.
    pub fn with_pictures(self, image: Image, rows: &Matrix) -> Result<Self> {
        image.check(rows.cols())?;
        rows.check_finite()?;
        if rows.rows() != self.rows() {
            return Err(Error::Data(format!(
                "the map has {} rows, and pictures of {} were given",
                self.rows(),
                rows.rows()
            )));
        }
        Self { pictures: Some(Pictures::new(image, rows)), ..self }.checked()
    }

    /// How the rows make pictures, if they do.
    pub fn image(&self) -> Option<Image> {
        self.pictures.as_ref().map(|pictures| pictures.image)
    }

    /// The picture of row `i` of the data, a byte for each value.
    pub fn picture(&self, i: usize) -> Option<&[u8]> {
        let pictures = self.pictures.as_ref()?;
        let size = pictures.image.values();
        pictures.bytes.as_slice().get(i.checked_mul(size)?..)?.get(..size)
    }

    /// The picture of a new row, as it was given, drawn as those of the map are. None if there are none, or if the row is
    /// no picture.
    pub fn as_picture(&self, row: &[f32]) -> Option<Vec<u8>> {
        let Pictures { image, low, high, .. } = self.pictures.as_ref()?;
        (row.len() == image.values()).then(|| row.iter().map(|&v| shade(v, *low, *high)).collect())
    }

    pub(super) fn check_pictures(&self) -> Result<()> {
        let columns = self.preprocess.input_dims();
        self.pictures.as_ref().map_or(Ok(()), |pictures| pictures.check(self.rows(), columns))
    }
}
