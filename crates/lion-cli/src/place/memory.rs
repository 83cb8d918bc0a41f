//! What placing may take of memory. It does not grow with the table, but for the outliers: each waits for all others.

use crate::args::PlaceArgs;
use crate::memory::{Limit, PROGRAM, in_words};
use crate::output::size;
use crate::progress::Screen;
use anyhow::{Result, bail};
use lion_table::{BATCH_ROWS, Batches};
use lion_tsne::{LionOptions, Map};

/// The writer's chunk of rows, in columns and encoded, and the buffers of what is set aside.
const WRITING: u64 = 10 << 20;
/// The share of rows like the map's own that are outliers, by r_x at 99 %.
const OUTLIERS: f64 = 0.01;

/// What is taken, and what there is.
pub(super) struct PlaceMemory {
    limit: Option<Limit>,
    /// Without outliers.
    needed: u64,
    /// For each outlier.
    bytes_per_outlier: u64,
}

impl PlaceMemory {
    /// Refuses a map that there is no memory for; says what placing into it will take.
    pub(super) fn check(
        args: &PlaceArgs,
        map: &Map,
        options: &LionOptions,
        table: &Batches,
        screen: &Screen,
    ) -> Result<Self> {
        let cols = table.columns().len();
        let reading = (table.buffers() + 2 * BATCH_ROWS * cols * 4) as u64;
        let needs = options.needs(map).with("program", PROGRAM).with("reading", reading);
        let needs = needs.with("writing", WRITING);
        let bytes_per_outlier = options.needs_of_outlier(map);
        screen.detail(&format!("placing will take {}", in_words(&needs)));
        let expected = table.row_count().map(|rows| {
            let many = (OUTLIERS * rows as f64).ceil() as u64;
            format!(": {} if 1 % of {rows} rows are", size(many * bytes_per_outlier))
        });
        screen.detail(&format!(
            "and {bytes_per_outlier} bytes for each outlier{}",
            expected.unwrap_or_default()
        ));
        let limit = Limit::new(args.memory);
        if let Some(limit) = limit.filter(|limit| needs.bytes > limit.bytes) {
            bail!(
                "placing into {} takes about {} of memory, and {}: allow more, or fit a map of fewer landmarks",
                args.map.display(),
                size(needs.bytes),
                limit.in_words()
            );
        }
        Ok(Self { limit, needed: needs.bytes, bytes_per_outlier })
    }

    /// With so many outliers.
    pub(super) fn needs(&self, pending: usize) -> u64 {
        self.needed + self.bytes_per_outlier * pending as u64
    }

    /// Stops before outliers pass the limit.
    pub(super) fn check_pending(&self, pending: usize, rows: usize) -> Result<()> {
        if let Some(limit) = self.limit.filter(|limit| self.needs(pending) > limit.bytes) {
            bail!(
                "{pending} of the first {rows} rows are outliers, which wait for each other in memory, and {}: allow more, place the table in parts, or fit a map to rows like these",
                limit.in_words()
            );
        }
        Ok(())
    }
}
