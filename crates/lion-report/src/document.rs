//! A report: what is said, in order, and the page it becomes.

mod page;
mod table;

use std::collections::BTreeSet;

pub use self::table::{Head, ReportCell, ReportRow, ReportTable, Tone};
use crate::{Error, Picture, Result};

/// A report: blocks in order, which become one self-contained page.
#[derive(Debug, Clone)]
pub struct Document {
    /// The headline.
    pub title: String,
    /// The line under it; may be empty.
    pub subtitle: String,
    /// What follows, in order.
    pub blocks: Vec<DocumentBlock>,
}

/// One block of a [`Document`]. All text is plain text: what looks like markup is shown as it stands.
#[derive(Debug, Clone)]
pub enum DocumentBlock {
    /// Begins a section (level 2) or a part of one (level 3); also a line of the contents.
    Heading {
        /// 2 or 3.
        level: u8,
        /// What it says.
        text: String,
        /// Its name in addresses, as in `report.html#id`: a-z, 0-9 and "-".
        id: String,
    },
    /// A paragraph.
    Text(String),
    /// A list, each line with a dot before it.
    List(Vec<String>),
    /// What was claimed, and whether it holds here.
    Claims(Vec<Claim>),
    /// A table, numbered through the report.
    Table(ReportTable),
    /// A figure, numbered through the report.
    Figure {
        /// The stem of its files, and its name in addresses after `Figure-`: a-z, 0-9 and "-".
        name: String,
        /// The figure.
        picture: Picture,
        /// What stands under it.
        caption: String,
        /// What it shows, for those who do not see it.
        alt: String,
    },
    /// A paragraph set apart, which nobody should miss.
    Note(String),
}

/// Something that was claimed, and what was found.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Whether it holds.
    pub verdict: ClaimVerdict,
    /// What was claimed.
    pub text: String,
    /// What was found; may be empty.
    pub evidence: String,
}

/// Whether a [`Claim`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// The evidence is for it.
    Holds,
    /// The evidence is against it.
    DoesNot,
    /// Nothing was measured that could tell.
    NotTested,
}

impl Document {
    /// The report as one HTML file that needs nothing else: no request, no script to be read, light and dark, for a
    /// wide screen, a phone and paper.
    ///
    /// # Errors
    /// Where a heading or a figure has a name that cannot be part of an address or that another one has, a heading is
    /// neither of level 2 nor 3, or a row of a table is not as long as its head.
    pub fn html(&self) -> Result<String> {
        self.check()?;
        page::html(self)
    }

    fn check(&self) -> Result<()> {
        let mut names = [BTreeSet::new(), BTreeSet::new()];
        for block in &self.blocks {
            let (kind, what, name) = match block {
                DocumentBlock::Heading { level, .. } if !(2..=3).contains(level) => {
                    return Err(Error::Level(*level));
                }
                DocumentBlock::Heading { id, .. } => (0, "heading", id),
                DocumentBlock::Figure { name, .. } => (1, "figure", name),
                DocumentBlock::Table(table) => {
                    table.check()?;
                    continue;
                }
                DocumentBlock::Text(_)
                | DocumentBlock::List(_)
                | DocumentBlock::Claims(_)
                | DocumentBlock::Note(_) => continue,
            };
            let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let first = name.chars().next().is_some_and(|c| c.is_ascii_lowercase());
            if !first || !name.chars().all(letter) {
                return Err(Error::Name { what, name: name.clone() });
            }
            if !names[kind].insert(name) {
                return Err(Error::Twice { what, name: name.clone() });
            }
        }
        Ok(())
    }
}
