//! Places by another method than LION, beside what LION says of each row.

use crate::args::{Common, PlaceArgs};
use crate::progress::{Reporter, Screen};
use anyhow::{Context, Result};
use lion_evaluate::BuiltBaseline;
use lion_tsne::{Lion, Matrix, Verdict};

/// Another way of placing, built from the map.
pub(super) struct Other {
    name: String,
    built: BuiltBaseline,
    pool: rayon::ThreadPool,
    outlier_control: bool,
}

impl Other {
    /// Builds what was asked for, and says what is to be known of it. Nothing if that is LION.
    pub(super) fn build(
        args: &PlaceArgs,
        lion: &Lion,
        common: &Common,
        screen: &Screen,
        reporter: &mut Reporter,
    ) -> Result<Option<Self>> {
        let Some(baseline) = args.rules.other(lion.power()) else { return Ok(None) };
        let threads = usize::from(common.threads);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.with_context(|| format!("{threads} threads could not be started"))?;
        let built = pool
            .install(|| baseline.build(lion.map(), common.seed, &mut |progress| reporter.observe(progress)))
            .with_context(|| args.map.display().to_string())?;
        for note in built.notes() {
            screen.say(&format!("note: {note}"));
        }
        let outlier_control = args.rules.outlier_control;
        Ok(Some(Self { name: baseline.to_string(), built, pool, outlier_control }))
    }

    /// Its name, with what it was built with.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether rows that LION calls strange get LION's places.
    pub(super) fn has_outlier_control(&self) -> bool {
        self.outlier_control
    }

    /// The places of rows that LION has accepted.
    pub(super) fn places(&self, rows: &Matrix) -> Result<Matrix> {
        Ok(self.pool.install(|| self.built.place(rows))?)
    }

    /// Whether a row of this verdict has its place from here.
    pub(super) fn places_those(&self, verdict: Verdict) -> bool {
        !self.outlier_control || verdict == Verdict::Interpolated
    }
}
