//! Tables of a report.

use std::fmt::Write;

use crate::text::escape;
use crate::{Error, Result};

/// More columns than this are set smaller on paper.
const WIDE: usize = 8;

/// A table of a report. The first column names the rows.
#[derive(Debug, Clone)]
pub struct ReportTable {
    /// What stands above it.
    pub caption: String,
    /// One for each column.
    pub head: Vec<Head>,
    /// From top to bottom, each as long as the head.
    pub rows: Vec<ReportRow>,
    /// Lines of words under it.
    pub notes: Vec<String>,
}

/// The head of a column of a [`ReportTable`].
#[derive(Debug, Clone)]
pub struct Head {
    /// What it says.
    pub text: String,
    /// What that means; may be empty. Shown by the pointer, and in a list under the table.
    pub title: String,
    /// Whether the column has numbers, which stand to the right.
    pub numeric: bool,
    /// Columns next to each other with the same group share a heading above; may be empty.
    pub group: String,
}

/// A row of a [`ReportTable`].
#[derive(Debug, Clone)]
pub struct ReportRow {
    /// One for each column.
    pub cells: Vec<ReportCell>,
    /// Set apart from the others.
    pub emphasis: bool,
}

/// A cell of a [`ReportTable`].
#[derive(Debug, Clone)]
pub struct ReportCell {
    /// What it says.
    pub text: String,
    /// How it says it.
    pub tone: Tone,
}

/// The tone of a [`ReportCell`]. Good and bad are marked by form too, not by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// Better than what it is compared with.
    Good,
    /// Worse than that.
    Bad,
    /// Of less weight.
    Faint,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Faint => "faint",
        }
    }
}

impl ReportTable {
    pub(super) fn check(&self) -> Result<()> {
        if self.head.is_empty() || self.rows.is_empty() {
            return Err(Error::Nothing(format!("the table \"{}\"", self.caption)));
        }
        for (row, of) in self.rows.iter().enumerate() {
            if of.cells.len() != self.head.len() {
                return Err(Error::Ragged {
                    what: format!("row {row} of the table \"{}\"", self.caption),
                    things: "cells",
                    found: of.cells.len(),
                    expected: self.head.len(),
                });
            }
        }
        Ok(())
    }

    /// The table, which has been checked, as the `number`th of its page.
    pub(super) fn write(&self, number: usize, out: &mut String) {
        let wide = if self.head.len() > WIDE { " wide" } else { "" };
        let _ = write!(
            out,
            r#"<figure class="table{wide}" id="Table-{number}">
<figcaption id="Caption-{number}"><b>Table {number}.</b> {}</figcaption>
<div class="scroll" role="region" aria-labelledby="Caption-{number}">
<table>
<thead>
"#,
            escape(&self.caption)
        );
        self.write_head(out);
        out.push_str("</thead>\n<tbody>\n");
        self.rows.iter().for_each(|row| self.write_row(row, out));
        out.push_str("</tbody>\n</table>\n</div>\n");
        self.write_notes(out);
        out.push_str("</figure>\n");
    }

    /// One row of heads, or two where there are groups: a head without a group then reaches over both.
    fn write_head(&self, out: &mut String) {
        if self.head.iter().all(|head| head.group.is_empty()) {
            out.push_str("<tr>");
            self.head.iter().for_each(|head| head.write("", out));
            out.push_str("</tr>\n");
            return;
        }
        out.push_str("<tr>");
        for run in self.head.chunk_by(|a, b| !a.group.is_empty() && a.group == b.group) {
            if run[0].group.is_empty() {
                run[0].write(r#" rowspan="2""#, out);
            } else {
                let group = escape(&run[0].group);
                let _ = write!(
                    out,
                    r#"<th class="group" colspan="{}" scope="colgroup"><span>{group}</span></th>"#,
                    run.len()
                );
            }
        }
        out.push_str("</tr>\n<tr>");
        self.head.iter().filter(|head| !head.group.is_empty()).for_each(|head| head.write("", out));
        out.push_str("</tr>\n");
    }

    fn write_row(&self, row: &ReportRow, out: &mut String) {
        out.push_str(if row.emphasis { r#"<tr class="emphasis">"# } else { "<tr>" });
        for (at, (cell, head)) in row.cells.iter().zip(&self.head).enumerate() {
            let classes = [if head.numeric { "number" } else { "" }, cell.tone.class()];
            let class = class(&classes);
            let (open, close) = if at == 0 { (r#"th scope="row""#, "th") } else { ("td", "td") };
            let sort = quantity(&cell.text).filter(|_| head.numeric);
            let sort = sort.map_or(String::new(), |value| format!(r#" data-value="{value}""#));
            let _ = write!(out, "<{open}{class}{sort}>{}</{close}>", together(&escape(&cell.text)));
        }
        out.push_str("</tr>\n");
    }

    fn write_notes(&self, out: &mut String) {
        for note in &self.notes {
            let _ = writeln!(out, r#"<p class="aside">{}</p>"#, escape(note));
        }
        if self.head.iter().all(|head| head.title.is_empty()) {
            return;
        }
        out.push_str("<details class=\"meaning\"><summary>What the columns mean</summary>\n<dl>\n");
        let mut said = Vec::new();
        for head in self.head.iter().filter(|head| !head.title.is_empty()) {
            // Columns of the same name and meaning in several groups are explained once.
            if !said.contains(&(&head.text, &head.title)) {
                said.push((&head.text, &head.title));
                let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(&head.text), escape(&head.title));
            }
        }
        out.push_str("</dl>\n</details>\n");
    }
}

impl Head {
    fn write(&self, reach: &str, out: &mut String) {
        let class = class(&[if self.numeric { "number" } else { "" }]);
        let title = if self.title.is_empty() {
            String::new()
        } else {
            format!(r#" title="{}""#, escape(&self.title))
        };
        let _ = write!(out, r#"<th{class}{reach} scope="col"{title}>{}</th>"#, together(&escape(&self.text)));
    }
}

/// Without a line break where one would part what belongs together: K = 0.25, 90 %, and names of a word or two.
fn together(text: &str) -> String {
    if text.chars().count() <= 12 {
        return text.replace(' ', "\u{a0}");
    }
    text.replace(" = ", "\u{a0}=\u{a0}").replace(" %", "\u{a0}%")
}

fn class(names: &[&str]) -> String {
    let names: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    if names.is_empty() { String::new() } else { format!(r#" class="{}""#, names.join(" ")) }
}

/// The number that a cell begins with, in the base of its unit, so that 350 µs is less than 2 ms: what rows are sorted
/// by. Thousands may be grouped; what follows the number and its unit (± 0.3) is left aside.
fn quantity(text: &str) -> Option<f64> {
    let text = text.trim().replace(['\u{2212}', '\u{2012}'], "-");
    let text = text.trim_start_matches(['+', '<', '>', '~', '≈', '≤', '≥', ' ']);
    let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | 'e' | '+');
    let mut long = text.find(|c| !part(c)).unwrap_or(text.len());
    let value = loop {
        // "2e" of "2 eggs" written together, "3-" of "3-5": as much as is a number.
        match text[..long].replace(',', "").parse::<f64>() {
            Ok(value) => break value,
            Err(_) => long = text[..long].char_indices().next_back()?.0,
        }
    };
    let unit: String = text[long..].trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
    let factor = match unit.as_str() {
        "ns" => 1e-9,
        "µs" | "μs" | "us" => 1e-6,
        "ms" => 1e-3,
        "min" => 60.0,
        "h" => 3600.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => 1.0,
    };
    Some(value * factor).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_sorted_by_what_they_amount_to() {
        for (text, value) in [
            ("87.81", 87.81),
            ("87.81 ± 0.93", 87.81),
            ("−0.4", -0.4),
            ("+1.5", 1.5),
            ("60,000", 60_000.0),
            ("350 µs", 350e-6),
            ("2 ms", 2e-3),
            ("1.5 min", 90.0),
            ("12%", 12.0),
            ("1e-5", 1e-5),
            ("3-5", 3.0),
            ("2eggs", 2.0),
            ("< 0.1", 0.1),
        ] {
            let found = quantity(text).unwrap_or(f64::NAN);
            assert!((found - value).abs() <= 1e-12 * value.abs(), "{text}: {found}");
        }
        assert_eq!(["", "–", "n/a", "-", "inf", "e"].map(quantity), [None; 6]);
    }
}
