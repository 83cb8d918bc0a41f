//! `lion diff`: what can be chosen.

use super::PictureArgs;
use super::value;
use clap::Args;
use std::path::PathBuf;

/// Show what differs between two maps that share ids
///
/// Rows are matched by id; a map without ids has row numbers as ids. A is brought onto B by turning, scaling, moving and,
/// where it helps, mirroring it; what is left is how far a row moved, in map radii: 1 is the mean distance of B's shared rows
/// from their centre. The overlap of a row is how many of its nearest rows are the same in both maps, as a share of all of
/// them. Clusters are found by density in both maps, and are born, gone, split, merged, grown, shrunk or moved. See
/// docs/diff.md for what each word means.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion diff old.lion new.lion                    what changed, in a few lines
  lion diff old.lion new.lion -o d.html          watch one map become the other
  lion diff old.lion new.lion -o d.csv           how far each row moved: id, moved, overlap, …
  lion diff old.lion new.lion -o d.png -o d.csv  several files at once
  lion diff old.lion new.lion --json | jq .clusters.born")]
pub(crate) struct DiffArgs {
    /// The first map, or the older one
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The second map, or the newer one
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Where to write: a page that morphs A into B (.html), both maps side by side (.png, .svg), or a table of the rows that
    /// both have (.csv, .parquet, .arrow, .jsonl). May be given several times
    #[arg(short, long, value_name = "FILE", value_parser = output)]
    pub(crate) output: Vec<DiffOutput>,
}

/// A file that a comparison is written to.
#[derive(Clone, Debug)]
pub(crate) enum DiffOutput {
    Picture(PictureArgs),
    Table(PathBuf),
}

impl DiffOutput {
    pub(crate) fn path(&self) -> &PathBuf {
        match self {
            Self::Picture(picture) => &picture.path,
            Self::Table(path) => path,
        }
    }
}

fn output(text: &str) -> Result<DiffOutput, String> {
    match (value::picture(text), value::events(text)) {
        (Ok(picture), _) => Ok(DiffOutput::Picture(picture)),
        (_, Ok(table)) => Ok(DiffOutput::Table(table)),
        _ => Err("its name must end in .html, .png, .svg, .csv, .parquet, .arrow or .jsonl".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_what_is_written() {
        let is_picture = |name| output(name).is_ok_and(|output| matches!(output, DiffOutput::Picture(_)));
        let is_table = |name| output(name).is_ok_and(|output| matches!(output, DiffOutput::Table(_)));
        assert!(is_picture("d.html") && is_picture("d.PNG") && is_table("d.csv") && is_table("d.parquet"));
        assert!(["d", "d.npy", "-", "d.pdf"].iter().all(|name| output(name).is_err()));
    }
}
