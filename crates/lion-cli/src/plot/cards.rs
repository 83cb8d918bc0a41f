//! The cards of a page: the columns that a map keeps for people, small enough for a page.

use crate::progress::Screen;
use anyhow::Result;
use lion_report::{CardColumn, CardKind};
use lion_tsne::map::{ShownColumns, ShownKind, ShownValues};

/// The most bytes that cards and the values to compare by may take in a page. As text they take a third more, and the page
/// stays below 15 MB.
pub(super) const PACKED_BYTES: usize = 10_000_000;
/// The most that cards may take of them.
const MOST_BYTES: usize = 9_000_000;
/// What texts are cut to where they would take more, in bytes: the first of these that fits.
const LENGTHS: [usize; 5] = [2000, 1000, 500, 250, 120];

/// Columns that fit into a page.
pub(super) struct PageCards {
    shown: ShownColumns,
    kinds: Vec<CardKind>,
}

impl PageCards {
    /// Cuts long texts and leaves out images where there would be too many bytes, and says so.
    pub(super) fn new(shown: &ShownColumns, screen: Option<&Screen>) -> Result<Self> {
        let shown = fitting(shown, screen)?;
        let kinds = (0..shown.columns().len()).map(|at| kind(&shown, at)).collect::<Result<_>>()?;
        Ok(Self { shown, kinds })
    }

    /// How many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        (0..self.shown.columns().len()).map(|at| size(&self.shown, at)).sum()
    }

    /// As the page takes them.
    pub(super) fn columns(&self) -> Vec<CardColumn<'_>> {
        let columns = self.shown.columns().iter().zip(&self.kinds).enumerate();
        columns
            .map(|(at, (column, &kind))| CardColumn {
                name: &column.name,
                kind,
                rows: self.shown.rows(),
                block_rows: column.block_rows,
                blocks: self.shown.packed(at).collect(),
            })
            .collect()
    }
}

fn say(screen: Option<&Screen>, note: &str) {
    if let Some(screen) = screen {
        screen.say(note);
    }
}

fn size(shown: &ShownColumns, at: usize) -> usize {
    shown.packed(at).map(<[u8]>::len).sum()
}

fn fitting(shown: &ShownColumns, screen: Option<&Screen>) -> Result<ShownColumns> {
    let all: Vec<usize> = (0..shown.columns().len()).collect();
    let bytes = |columns: &[usize]| columns.iter().map(|&at| size(shown, at)).sum::<usize>();
    if bytes(&all) <= MOST_BYTES {
        return Ok(shown.clone());
    }
    let is_image = |at: &usize| shown.columns()[*at].kind == ShownKind::Image;
    let (images, others): (Vec<usize>, Vec<usize>) = all.into_iter().partition(is_image);
    if !images.is_empty() {
        let names: Vec<&str> = images.iter().map(|&at| shown.columns()[at].name.as_str()).collect();
        let size = bytes(&images) / 1_000_000;
        say(
            screen,
            &format!(
                "note: the images of {} are left out of the page: they take {size} MB",
                names.join(", ")
            ),
        );
    }
    let values = |at: &usize| Ok((shown.columns()[*at].name.clone(), shown.values(*at)?));
    let columns: Vec<(String, ShownValues)> = others.iter().map(values).collect::<Result<_>>()?;
    if bytes(&others) <= MOST_BYTES {
        return Ok(ShownColumns::new(columns)?);
    }
    for length in LENGTHS {
        let cut = columns.iter().map(|(name, values)| (name.clone(), shortened(values, length))).collect();
        let cut = ShownColumns::new(cut)?;
        let bytes: usize = (0..cut.columns().len()).map(|at| size(&cut, at)).sum();
        if bytes <= MOST_BYTES || length == LENGTHS[LENGTHS.len() - 1] {
            say(
                screen,
                &format!(
                    "note: texts of more than {length} bytes are cut in the page, so that it opens quickly; lion serve shows them whole"
                ),
            );
            return Ok(cut);
        }
    }
    Ok(ShownColumns::new(columns)?)
}

fn shortened(values: &ShownValues, length: usize) -> ShownValues {
    let ShownValues::Text(texts) = values else { return values.clone() };
    let cut = |text: &String| match text.len() > length {
        true => {
            let end = (0..=length).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            format!("{}…", &text[..end])
        }
        false => text.clone(),
    };
    ShownValues::Text(texts.iter().map(|text| text.as_ref().map(cut)).collect())
}

fn kind(shown: &ShownColumns, at: usize) -> Result<CardKind> {
    Ok(match shown.columns()[at].kind {
        ShownKind::Number => CardKind::Number,
        ShownKind::Image => CardKind::Image,
        ShownKind::Text if has_image_addresses(shown, at)? => CardKind::ImageAddress,
        ShownKind::Text => CardKind::Text,
    })
}

/// Whether nearly all of the first texts are paths or addresses of images.
fn has_image_addresses(shown: &ShownColumns, at: usize) -> Result<bool> {
    const LOOKED_AT: usize = 100;
    let (mut texts, mut images) = (0, 0);
    for row in 0..shown.rows().min(LOOKED_AT) {
        if let lion_tsne::map::ShownValue::Text(text) = shown.value(at, row)? {
            texts += 1;
            images += usize::from(is_image_address(&text));
        }
    }
    Ok(texts > 0 && images * 10 >= texts * 9)
}

fn is_image_address(text: &str) -> bool {
    const ENDINGS: [&str; 8] = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".avif", ".bmp"];
    let text = text.trim().to_ascii_lowercase();
    let path = text.split(['?', '#']).next().unwrap_or_default();
    !text.contains('\n')
        && (ENDINGS.iter().any(|ending| path.ends_with(ending)) || text.starts_with("data:image/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_images_are_told_from_texts() {
        for text in
            ["a/b.PNG", "https://example.org/cat.jpg?size=3", "data:image/png;base64,AAAA", " x.webp "]
        {
            assert!(is_image_address(text), "{text}");
        }
        for text in ["", "a png", "https://example.org/", "first line\nsecond.png", "png"] {
            assert!(!is_image_address(text), "{text}");
        }
    }

    #[test]
    fn texts_are_cut_between_letters() {
        let long = ShownValues::Text(vec![Some("äöü".into()), Some("ab".into()), None]);
        let cut = ShownValues::Text(vec![Some("ä…".into()), Some("ab".into()), None]);
        assert_eq!(shortened(&long, 3), cut);
    }
}
