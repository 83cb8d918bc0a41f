//! The report as one page.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Claim, ClaimVerdict, Document, DocumentBlock};
use crate::html::fill;
use crate::picture::data_uri;
use crate::text::escape;
use crate::{Picture, Result, png};

const PAGE: &str = include_str!("../../assets/report.html");
const STYLE: &str = concat!(include_str!("../../assets/theme.css"), include_str!("../../assets/report.css"));
const SCRIPT: &str = include_str!("../../assets/report.js");
/// A picture of more elements than this is shown as a PNG: a browser would have to hold each of them.
const MOST_ELEMENTS: usize = 4000;

/// The page of a report that has been checked. Its own ids begin with a capital and those of headings do not, so that they
/// never meet.
pub(super) fn html(document: &Document) -> Result<String> {
    let mut writer = PageWriter::default();
    for block in &document.blocks {
        writer.block(block)?;
    }
    let [side, top] = contents(&document.blocks).map_or_else(Default::default, |list| {
        [
            format!("<nav class=\"side\" aria-label=\"Contents\">{list}</nav>\n"),
            format!(
                "<details class=\"top\"><summary>Contents</summary>\n<nav aria-label=\"Contents\">{list}</nav>\n</details>\n"
            ),
        ]
    });
    let fonts = [(400, png::REGULAR), (600, png::SEMIBOLD)].map(|(weight, font)| {
        let data = STANDARD.encode(font);
        format!("@font-face {{ font-family: Inter; font-weight: {weight}; src: url(data:font/otf;base64,{data}); }}\n")
    });
    let title = if document.title.is_empty() { "Report" } else { &document.title };
    let subtitle = if document.subtitle.is_empty() {
        String::new()
    } else {
        format!("<p class=\"subtitle\">{}</p>\n", escape(&document.subtitle))
    };
    Ok(fill(
        PAGE,
        &[
            ("title", &escape(title)),
            ("subtitle", &subtitle),
            ("style", STYLE),
            ("script", SCRIPT),
            ("fonts", &fonts.concat()),
            ("side", &side),
            ("top", &top),
            ("blocks", &writer.out),
        ],
    ))
}

/// Writes the blocks and counts what is numbered.
#[derive(Default)]
struct PageWriter {
    out: String,
    tables: usize,
    figures: usize,
}

impl PageWriter {
    fn block(&mut self, block: &DocumentBlock) -> Result<()> {
        let out = &mut self.out;
        match block {
            DocumentBlock::Heading { level, text, id } => {
                let _ = writeln!(out, r#"<h{level} id="{id}">{}</h{level}>"#, escape(text));
            }
            DocumentBlock::Text(text) => {
                let _ = writeln!(out, "<p>{}</p>", escape(text));
            }
            DocumentBlock::Note(text) => {
                let _ = writeln!(out, r#"<p class="note" role="note">{}</p>"#, escape(text));
            }
            DocumentBlock::List(lines) if lines.is_empty() => {}
            DocumentBlock::List(lines) => {
                out.push_str("<ul>\n");
                lines.iter().for_each(|line| {
                    let _ = writeln!(out, "<li>{}</li>", escape(line));
                });
                out.push_str("</ul>\n");
            }
            DocumentBlock::Claims(claims) if claims.is_empty() => {}
            DocumentBlock::Claims(list) => claims(list, out),
            DocumentBlock::Table(table) => {
                self.tables += 1;
                table.write(self.tables, out);
            }
            DocumentBlock::Figure { name, picture, caption, alt } => {
                self.figures += 1;
                let _ = writeln!(out, r#"<figure id="Figure-{name}">"#);
                paper(picture, name, alt, out)?;
                let _ = writeln!(
                    out,
                    "<figcaption><b>Figure {}.</b> {}</figcaption>\n</figure>",
                    self.figures,
                    escape(caption)
                );
            }
        }
        Ok(())
    }
}

/// A picture on white paper, whatever the colours of the page; the parts of a panel flow into as many columns as fit.
fn paper(picture: &Picture, name: &str, alt: &str, out: &mut String) -> Result<()> {
    let alt = escape(alt);
    if picture.parts.is_empty() {
        out.push_str("<div class=\"paper scroll\">\n");
        drawing(picture, &format!("Figure-{name}"), &format!(r#"role="img" aria-label="{alt}""#), out)?;
    } else {
        let widest = picture.parts.iter().map(|part| part.width).fold(0.0, f32::max);
        let _ = writeln!(
            out,
            r#"<div class="paper scroll panel" role="img" aria-label="{alt}" style="--columns:{};--part:{widest}px">"#,
            picture.columns
        );
        if !picture.title().is_empty() {
            let _ = writeln!(out, r#"<p class="title" aria-hidden="true">{}</p>"#, escape(picture.title()));
        }
        for (at, part) in picture.parts.iter().enumerate() {
            drawing(part, &format!("Figure-{name}-{at}"), r#"aria-hidden="true""#, out)?;
        }
    }
    out.push_str("</div>\n");
    Ok(())
}

/// The picture as SVG, or as a PNG where that would be too much to hold.
fn drawing(picture: &Picture, name: &str, attributes: &str, out: &mut String) -> Result<()> {
    let Picture { width, height, .. } = picture;
    let attributes = format!(r#" class="drawing" style="--wide:{width}px" {attributes}"#);
    if picture.elements() <= MOST_ELEMENTS {
        out.push_str(&picture.inline(name, &attributes));
    } else {
        let uri = data_uri(&picture.png()?);
        // An <img> has its words in another attribute.
        let attributes = attributes
            .replace("role=\"img\" aria-label=", "alt=")
            .replace("aria-hidden=\"true\"", "alt=\"\"");
        let _ = writeln!(out, r#"<img src="{uri}" width="{width}" height="{height}"{attributes}>"#);
    }
    Ok(())
}

fn claims(claims: &[Claim], out: &mut String) {
    let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let told: Vec<String> = [
        (ClaimVerdict::Holds, "holds", "hold"),
        (ClaimVerdict::DoesNot, "does not", "do not"),
        (ClaimVerdict::NotTested, "was not tested", "were not tested"),
    ]
    .into_iter()
    .filter(|(verdict, ..)| count(*verdict) > 0)
    .map(|(verdict, one, many)| match count(verdict) {
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    })
    .collect();
    let of = if claims.len() == 1 { "claim" } else { "claims" };
    let _ = writeln!(out, "<p>Of {} {of}, {}.</p>\n<ul class=\"claims\">", claims.len(), told.join(", "));
    for claim in claims {
        let (class, sign, word) = match claim.verdict {
            ClaimVerdict::Holds => ("good", "✓", "holds"),
            ClaimVerdict::DoesNot => ("bad", "✗", "does not hold"),
            ClaimVerdict::NotTested => ("faint", "–", "not tested"),
        };
        let _ = write!(
            out,
            r#"<li><span class="verdict {class}"><i aria-hidden="true">{sign}</i> {word}</span><div><p>{}</p>"#,
            escape(&claim.text)
        );
        if !claim.evidence.is_empty() {
            let _ = write!(out, r#"<p class="aside">{}</p>"#, escape(&claim.evidence));
        }
        out.push_str("</div></li>\n");
    }
    out.push_str("</ul>\n");
}

/// The headings as a list, those of level 3 under the one of level 2 before them; nothing without headings.
fn contents(blocks: &[DocumentBlock]) -> Option<String> {
    let mut out = String::new();
    let mut depth = 1;
    for block in blocks {
        let DocumentBlock::Heading { level, text, id } = block else { continue };
        let level = usize::from(*level).min(depth + 1);
        if level > depth {
            out.push_str("<ol>");
        } else {
            out.push_str("</li>");
            (level..depth).for_each(|_| out.push_str("</ol></li>"));
        }
        depth = level;
        let _ = write!(out, r##"<li><a href="#{id}">{}</a>"##, escape(text));
    }
    (1..depth).for_each(|_| out.push_str("</li></ol>"));
    Some(out).filter(|out| !out.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(level: u8, id: &str) -> DocumentBlock {
        DocumentBlock::Heading { level, text: id.to_uppercase(), id: id.to_owned() }
    }

    #[test]
    fn contents_are_lists_within_lists() {
        let text = contents(&[heading(2, "a"), heading(3, "b"), heading(3, "c"), heading(2, "d")]);
        let entry = |id: &str| format!(r##"<li><a href="#{id}">{}</a>"##, id.to_uppercase());
        let [a, b, c, d] = ["a", "b", "c", "d"].map(entry);
        assert_eq!(text.unwrap(), format!("<ol>{a}<ol>{b}</li>{c}</li></ol></li>{d}</li></ol>"));
        assert_eq!(contents(&[DocumentBlock::Text("x".to_owned())]), None);
        // A part without a section is a section.
        assert_eq!(contents(&[heading(3, "b")]).unwrap(), format!("<ol>{b}</li></ol>"));
    }
}
