//! A grid of numbers as colours.

use std::fmt::Write;

use crate::figure::{PLAIN, Style, write_text};
use crate::palette::{self, Rgb};
use crate::picture::{GREY, LINE, PAD, WORDS, write_title};
use crate::text::{number, shorten, width};
use crate::{Error, Picture, Result, panel};

const CELL: [f32; 2] = [56.0, 26.0];
const NUMBER: f32 = 11.5;
const NAME: f32 = 12.0;
/// The longest name of a row or column, in units of its size.
const LONGEST: f32 = 18.0;
const MISSING: &str = "#f1f2f4";
/// Where the smallest and the largest number are so many times apart, colours go by their logarithms.
const FAR_APART: f64 = 100.0;

/// A grid of numbers, each in a colour: bright is good, dark is not, and the best has a frame around it.
///
/// A number that is missing or not finite is an empty grey cell.
#[derive(Debug, Clone)]
pub struct Heat {
    /// The headline; may be empty.
    pub title: String,
    /// Names of the rows.
    pub rows: Vec<String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// A list of numbers for each row, one for each column.
    pub values: Vec<Vec<Option<f64>>>,
    /// What the numbers are; may be empty.
    pub unit: String,
    /// Whether the smallest number is the best.
    pub low_is_good: bool,
}

/// From numbers to colours and words.
struct Colours {
    low: f64,
    high: f64,
    low_is_good: bool,
    /// The digits after the point that three significant ones of a number of middling size need.
    decimals: usize,
}

impl Colours {
    /// For all numbers of some grids; none where they have none.
    fn over(heats: &[Heat]) -> Option<Colours> {
        let values = heats.iter().flat_map(|heat| heat.values.iter().flatten().copied().flatten());
        let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let (low, high) = (*values.first()?, *values.last()?);
        let middling = values[values.len() / 2].abs().max(high.abs() * 1e-3);
        let decimals =
            if middling > 0.0 { (2.0 - middling.log10().floor()).clamp(0.0, 5.0) as usize } else { 0 };
        Some(Colours { low, high, low_is_good: heats[0].low_is_good, decimals })
    }

    /// Whether the smallest and the largest are so far apart that colours go by logarithms.
    fn log(&self) -> bool {
        self.low > 0.0 && self.high / self.low > FAR_APART
    }

    fn of(&self, value: f64) -> Rgb {
        let on = |value: f64| if self.log() { value.log10() } else { value };
        // Halved first: the difference of two finite numbers need not be finite.
        let span = on(self.high) / 2.0 - on(self.low) / 2.0;
        let share = if span > 0.0 { (on(value) / 2.0 - on(self.low) / 2.0) / span } else { 1.0 };
        palette::scale(if self.low_is_good && span > 0.0 { 1.0 - share } else { share })
    }

    fn best(&self) -> f64 {
        if self.low_is_good { self.low } else { self.high }
    }

    fn name(&self, value: f64) -> String {
        if self.log() || value.abs() >= 1e6 { number(value) } else { format!("{value:.*}", self.decimals) }
    }
}

impl Heat {
    /// The grid as a picture.
    ///
    /// # Errors
    /// Where there is no number at all, or not one for each row and column.
    pub fn picture(&self) -> Result<Picture> {
        self.check()?;
        let colours = Colours::over(std::slice::from_ref(self));
        self.draw(&colours.ok_or_else(|| Error::Nothing(format!("the grid \"{}\"", self.title)))?)
    }

    /// Several grids as one picture, where the same colour means the same number in all, and the best of all has the
    /// frame. The first says whether low is good.
    ///
    /// # Errors
    /// As for one of them and for a [`panel`].
    pub fn together(title: &str, heats: &[Heat], columns: usize) -> Result<Picture> {
        heats.iter().try_for_each(Heat::check)?;
        let colours = Colours::over(heats).ok_or_else(|| Error::Nothing(format!("the panel \"{title}\"")))?;
        let pictures: Vec<Picture> = heats.iter().map(|heat| heat.draw(&colours)).collect::<Result<_>>()?;
        panel(title, &pictures, columns)
    }

    fn draw(&self, colours: &Colours) -> Result<Picture> {
        let longest =
            |names: &[String]| names.iter().map(|name| width(name).min(LONGEST) * NAME).fold(0.0, f32::max);
        let left = PAD + longest(&self.rows) + 8.0;
        let right = left + CELL[0] * self.columns.len() as f32;
        // Names that do not fit above their column are written upwards, leaning to the right.
        let leaning = longest(&self.columns) > CELL[0] - 4.0;
        let lean = if leaning { longest(&self.columns) * 0.71 } else { 0.0 };
        let wide = (right + PAD + (lean - CELL[0] * 0.4).max(0.0)).max(320.0);
        let mut body = String::new();
        let top = write_title(&mut body, &self.title, wide) + if leaning { lean + 14.0 } else { LINE };
        for (column, name) in self.columns.iter().enumerate() {
            let middle = left + CELL[0] * (column as f32 + 0.5);
            let name = shorten(name, LONGEST);
            if leaning {
                let _ =
                    write!(body, r#"<g transform="translate({middle:.1} {:.1}) rotate(-45)">"#, top - 6.0);
                write_text(&mut body, [0.0, 0.0], NAME, PLAIN, &name);
                body.push_str("</g>\n");
            } else {
                write_text(&mut body, [middle, top - 7.0], NAME, Style { anchor: "middle", ..PLAIN }, &name);
            }
        }
        for (row, values) in self.values.iter().enumerate() {
            let y = top + CELL[1] * row as f32;
            let name = shorten(&self.rows[row], LONGEST);
            write_text(
                &mut body,
                [left - 8.0, y + CELL[1] / 2.0 + 4.2],
                NAME,
                Style { anchor: "end", ..PLAIN },
                &name,
            );
            for (column, value) in values.iter().enumerate() {
                cell(
                    &mut body,
                    [left + CELL[0] * column as f32, y],
                    value.filter(|v| v.is_finite()),
                    colours,
                );
            }
        }
        self.frame_best(&mut body, [left, top], colours);
        let bottom = top + CELL[1] * self.rows.len() as f32;
        self.bar(&mut body, [left, bottom + 14.0], colours);
        Ok(Picture::new(&self.title, [wide, bottom + 14.0 + 12.0 + LINE + PAD - 4.0], body))
    }

    fn check(&self) -> Result<()> {
        let ragged = |what: String, things, found, expected| {
            if found == expected { Ok(()) } else { Err(Error::Ragged { what, things, found, expected }) }
        };
        let what = format!("the grid \"{}\"", self.title);
        ragged(what.clone(), "rows of numbers", self.values.len(), self.rows.len())?;
        let mut rows = self.values.iter().enumerate();
        rows.try_for_each(|(row, values)| {
            ragged(format!("row {row} of {what}"), "numbers", values.len(), self.columns.len())
        })
    }

    /// A frame around each cell that has the best number, over its neighbours.
    fn frame_best(&self, out: &mut String, [left, top]: [f32; 2], colours: &Colours) {
        let cells = self.values.iter().enumerate().flat_map(|(row, values)| {
            values.iter().enumerate().filter_map(move |(column, value)| Some((row, column, (*value)?)))
        });
        for (row, column, _) in cells.filter(|cell| cell.2 == colours.best()) {
            let (x, y) = (left + CELL[0] * column as f32, top + CELL[1] * row as f32);
            let [w, h] = CELL;
            let _ = writeln!(
                out,
                r#"<rect x="{x:.1}" y="{y:.1}" width="{w}" height="{h}" fill="none" stroke="{}" stroke-width="2.5"/>"#,
                palette::INK
            );
        }
    }

    /// What the colours mean.
    fn bar(&self, out: &mut String, [x, y]: [f32; 2], colours: &Colours) {
        const STEPS: usize = 30;
        const STEP: f32 = 5.0;
        for step in 0..STEPS {
            let share = step as f64 / (STEPS - 1) as f64;
            let colour = palette::scale(share);
            let at = x + step as f32 * STEP;
            let _ = writeln!(
                out,
                r#"<rect x="{at:.1}" y="{y:.1}" width="{:.1}" height="12" fill="{colour}"/>"#,
                STEP + 0.3
            );
        }
        let (dark, bright) =
            if self.low_is_good { (colours.high, colours.low) } else { (colours.low, colours.high) };
        let end = x + STEPS as f32 * STEP;
        write_text(out, [x, y + 12.0 + LINE - 3.0], NUMBER, GREY, &colours.name(dark));
        write_text(
            out,
            [end, y + 12.0 + LINE - 3.0],
            NUMBER,
            Style { anchor: "end", ..GREY },
            &colours.name(bright),
        );
        write_text(out, [end + 10.0, y + 10.5], WORDS, GREY, &self.unit);
    }
}

fn cell(out: &mut String, [x, y]: [f32; 2], value: Option<f64>, colours: &Colours) {
    let [w, h] = CELL;
    let fill = value.map_or(MISSING.to_owned(), |value| colours.of(value).to_string());
    let _ = writeln!(
        out,
        r##"<rect x="{x:.1}" y="{y:.1}" width="{w}" height="{h}" fill="{fill}" stroke="#fff"/>"##
    );
    let Some(value) = value else { return };
    let [r, g, b] = colours.of(value).0.map(f32::from);
    let dark = 0.3 * r + 0.59 * g + 0.11 * b < 122.0;
    let ink = if dark { "#fff" } else { "#1d2127" };
    let style = Style { anchor: "middle", fill: ink, ..PLAIN };
    write_text(out, [x + w / 2.0, y + h / 2.0 + 4.0], NUMBER, style, &colours.name(value));
}
