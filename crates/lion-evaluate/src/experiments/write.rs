//! The report as files: one page, its numbers, and each figure.

use super::document;
use super::error::{EvaluationError, Result};
use super::results::{Material, Results};
use lion_report::{Document, DocumentBlock};
use std::io::Write;
use std::path::Path;

/// What an evaluation found, ready to be written.
pub struct EvaluationReport {
    results: Results,
    document: Document,
}

/// A report in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportSummary {
    /// Figures in it.
    pub figures: usize,
    /// Claims of the paper that hold.
    pub claims_that_hold: usize,
    /// Claims of the paper that do not.
    pub claims_that_do_not: usize,
    /// Stages that an earlier run had finished.
    pub stages_kept: usize,
    /// What all stages took, in whichever run.
    pub seconds: f64,
}

impl EvaluationReport {
    pub(super) fn new(results: Results, material: Option<&Material>) -> Result<Self> {
        let document = document::document(&results, material)?;
        Ok(Self { results, document })
    }

    /// Figures, claims, stages and time.
    pub fn summary(&self) -> ReportSummary {
        let claims = &self.results.claims;
        let count = |held: bool| claims.iter().filter(|claim| claim.holds == Some(held)).count();
        ReportSummary {
            figures: self
                .document
                .blocks
                .iter()
                .filter(|block| matches!(block, DocumentBlock::Figure { .. }))
                .count(),
            claims_that_hold: count(true),
            claims_that_do_not: count(false),
            stages_kept: self.results.run.kept,
            seconds: self.results.run.seconds,
        }
    }

    /// Writes report.html, report.json and every figure, each whole or not at all; the page last, when all it speaks of
    /// is there.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let figures = folder.join("figures");
        make_folder(&figures)?;
        remove_old(&figures, &self.document)?;
        for block in &self.document.blocks {
            if let DocumentBlock::Figure { name, picture, .. } = block {
                replace(&figures.join(format!("{name}.svg")), picture.svg().as_bytes())?;
                replace(&figures.join(format!("{name}.png")), &picture.png()?)?;
            }
        }
        replace(&folder.join("report.json"), &serde_json::to_vec_pretty(&self.results)?)?;
        replace(&folder.join("report.html"), self.document.html()?.as_bytes())
    }
}

/// Removes the figures of an earlier run that this report does not have.
fn remove_old(folder: &Path, document: &Document) -> Result<()> {
    let is_ours = |stem: &str| {
        document
            .blocks
            .iter()
            .any(|block| matches!(block, DocumentBlock::Figure { name, .. } if name == stem))
    };
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| EvaluationError::Unwritten { path, cause }
    };
    for file in std::fs::read_dir(folder).map_err(failed(folder))?.flatten().map(|entry| entry.path()) {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_figure = file.extension().is_some_and(|kind| kind == "svg" || kind == "png");
        if is_figure && !is_ours(&stem) {
            std::fs::remove_file(&file).map_err(failed(&file))?;
        }
    }
    Ok(())
}

pub(super) fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .map_err(|cause| EvaluationError::Folder { folder: folder.to_owned(), cause })
}

/// Writes a file whole or not at all.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    lion_tsne::file::replace(path, |out: &mut dyn Write| out.write_all(bytes))
        .map_err(|cause| EvaluationError::Unwritten { path: path.to_owned(), cause })
}
