//! `lion quality`: what can be chosen.

use super::TableArgs;
use clap::Args;
use std::path::PathBuf;

/// Say how well a map keeps what its rows are like
///
/// Trustworthiness, continuity, the share of neighbours that are kept at 10, 30 and 100 neighbours, and the labels around each
/// row, with a sentence for each. Up to 5000 rows all are asked, of more a fixed sample of 1000. Without --rows the map's
/// own rows count, as they are after its preprocessing; what a PCA left out is not seen then. docs/quality.md says what each
/// number means and what it does not tell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lion quality m.lion
  lion quality m.lion --rows data.csv --id name --label kind     judge by the table, not by what the PCA kept
  lion quality m.lion --seeds 3                                  would another start show the same neighbours?
  lion quality m.lion --advice                                   which perplexity suits these rows?
  lion quality m.lion --json | jq .trustworthiness")]
pub(crate) struct QualityArgs {
    /// A map file written by lion fit or lion update
    #[arg(value_name = "MAP")]
    pub(crate) map: PathBuf,
    /// The table that the map was fitted to: with --id its rows are found by their ids, else they must be in the same order
    #[arg(long, value_name = "TABLE")]
    pub(crate) rows: Option<PathBuf>,
    /// Also fit so many maps of the rows, each from another random layout, and say how much they agree; at most 5000 rows are
    /// fitted
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100), allow_negative_numbers = true)]
    pub(crate) seeds: Option<u32>,
    /// Also fit the rows with these perplexities and say which suits them; at most 5000 rows are fitted
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = perplexity, allow_negative_numbers = true)]
    pub(crate) perplexities: Vec<f64>,
    /// The same with perplexities from 5 to 100, as far as the rows allow
    #[arg(long, conflicts_with = "perplexities")]
    pub(crate) advice: bool,
    #[command(flatten)]
    pub(crate) table: TableArgs,
}

/// A perplexity: what is too large is known once there are rows.
fn perplexity(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(perplexity) if perplexity.is_finite() && perplexity >= 1.0 => Ok(perplexity),
        _ => Err("must be a number of at least 1".into()),
    }
}
