//! Maps of rows that a PCA projected elsewhere: sparse rows in Python, which never become dense.

use super::{Map, Provenance, refuse};
use crate::error::Result;
use crate::preprocess::{Metric, Pca, Preprocess};

impl Map {
    /// The map with the PCA that its rows went through before they were given: from here on it takes rows as they were
    /// before. Rounding may differ between the two ways of projecting, so rows of the map are placed near where they are.
    pub fn projected_by(self, metric: Metric, pca: Pca) -> Result<Self> {
        if self.preprocess.pca().is_some() || self.preprocess.metric() != Metric::Euclidean {
            return refuse("the map has a projection of its own already".into());
        }
        let preprocess = Preprocess::new(metric, pca.input_dims(), Some(pca))?;
        let provenance = Provenance { projected_elsewhere: true, ..self.provenance };
        Self { preprocess, provenance, columns: None, ..self }.checked()
    }

    /// The same map for rows that go through its PCA before they are given: what `projected_by` was called on. Nothing if
    /// the map projects rows itself.
    pub fn before_projection(&self) -> Result<Option<Self>> {
        if !self.provenance.projected_elsewhere {
            return Ok(None);
        }
        let preprocess = Preprocess::new(Metric::Euclidean, self.x.cols(), None)?;
        let provenance = Provenance { projected_elsewhere: false, ..self.provenance.clone() };
        Self { preprocess, provenance, columns: None, ..self.clone() }.checked().map(Some)
    }
}
