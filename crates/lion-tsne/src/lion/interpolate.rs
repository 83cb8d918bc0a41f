//! Rows with neighbours: which those are, what they weigh, and what follows from them: a place, and a label.

use super::descent::Energy;
use super::judge::JudgedRow;
use super::label_transfer::TransferredLabel;
use super::local::{Local, Neighbourhood, idw, idw_reach, idw_weights, of_one_cluster};
use super::{Lion, Place, Verdict};
use crate::index::QueryNeighbours;
use std::borrow::Cow;

/// What follows from the neighbours of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct AmongNeighbours {
    pub(super) position: [f64; 3],
    pub(super) label: Option<TransferredLabel>,
}

/// An outlier's place and label if it is spared.
#[derive(Clone, Debug)]
pub(super) struct SparedOutlier {
    pub(super) place: Place,
    pub(super) label: Option<TransferredLabel>,
}

/// The local rule at work; kept from one row to the next for its memory alone.
pub(super) struct LocalRule<'a> {
    lion: &'a Lion,
    energy: Energy,
    idw: Vec<f64>,
}

impl<'a> LocalRule<'a> {
    pub(super) fn new(lion: &'a Lion) -> Self {
        Self { lion, energy: Energy::new(), idw: Vec::new() }
    }

    /// The weights of a row's neighbours.
    pub(super) fn weights(&mut self, near: Neighbourhood<'_>) -> &[f64] {
        let lion = self.lion;
        match lion.local {
            Local::Energy | Local::Attraction => {
                self.energy.prepare(near, lion.map.y(), lion.perplexity, lion.taper, lion.r_x);
                self.energy.weights()
            }
            Local::Idw => {
                self.idw = idw_weights(near, lion.power, lion.taper, lion.r_x);
                &self.idw
            }
        }
    }

    /// The place by these weights.
    fn place(&mut self, near: Neighbourhood<'_>) -> [f64; 3] {
        let y = self.lion.map.y();
        match self.lion.local {
            Local::Energy | Local::Attraction => self.energy.place(near, y, self.lion.repulsion.as_ref()),
            Local::Idw => idw(near, y, &self.idw),
        }
    }
}

impl Lion {
    /// What follows from the neighbours of the rows that have a place or a label by them; nothing of use for the others.
    pub(super) fn interpolate<'a>(
        &self,
        rows: impl Iterator<Item = &'a [f32]>,
        judged: &[JudgedRow],
    ) -> Vec<AmongNeighbours> {
        let is_among = |judged: &&JudgedRow| self.is_among(judged);
        let rows = rows.zip(judged).filter(|(_, judged)| is_among(judged));
        let (rows, seen): (Vec<&[f32]>, Vec<&QueryNeighbours>) =
            rows.map(|(row, judged)| (row, &judged.seen)).unzip();
        let mut rule = LocalRule::new(self);
        let near = self.neighbourhoods(&rows, &seen);
        let mut found = near.iter().map(|near| {
            let near = self.one_cluster(near);
            let weights = rule.weights(near);
            let label = self.labels.as_ref().and_then(|labels| labels.of_neighbours(near, weights));
            AmongNeighbours { position: rule.place(near), label }
        });
        let among = |judged: &JudgedRow| if is_among(&judged) { found.next() } else { None };
        judged.iter().map(among).map(Option::unwrap_or_default).collect()
    }

    /// Whether the neighbours of a row matter: where outliers may be spared in the end, theirs do, and those of a row of the
    /// map without a label, if others have one.
    fn is_among(&self, judged: &JudgedRow) -> bool {
        match judged.placement.verdict {
            Verdict::Interpolated => true,
            Verdict::Exact => {
                let nearest = judged.seen.nearest.first().map_or(0, |(_, row)| *row);
                self.labels.as_ref().is_some_and(|labels| !labels.knows(nearest))
            }
            verdict => self.fdr.is_some() && self.waits(verdict),
        }
    }

    /// The neighbours on which the places of these rows rest, nearest first.
    pub(super) fn neighbourhoods<'a>(
        &self,
        rows: &[&[f32]],
        seen: &[&'a QueryNeighbours],
    ) -> Vec<Cow<'a, [(f32, u32)]>> {
        match self.local {
            Local::Energy | Local::Attraction => {
                seen.iter().map(|seen| Cow::Borrowed(&seen.nearest[..])).collect()
            }
            Local::Idw => {
                let radii: Vec<f64> = seen.iter().map(|seen| self.idw_radius(seen)).collect();
                let near = self.index.within(self.map.x(), &rows.concat(), &radii);
                near.into_iter().map(Cow::Owned).collect()
            }
        }
    }

    /// How far the neighbours of inverse-distance weighting reach: to r_x, or to the nearest row where none is within it.
    pub(super) fn reach(&self, nearest: f64) -> f64 {
        self.r_x.max(nearest)
    }

    /// The same for a row that has seen these.
    fn idw_radius(&self, seen: &QueryNeighbours) -> f64 {
        let nearest = f64::from(seen.nearest.first().map_or(0.0, |(distance2, _)| distance2.sqrt()));
        let reach = self.reach(nearest);
        // Neighbours of no weight may still link the others' places.
        if self.split_clusters { reach } else { reach.min(idw_reach(nearest, self.power)) }
    }

    /// The neighbours that count.
    pub(super) fn one_cluster<'a>(&self, near: Neighbourhood<'a>) -> Neighbourhood<'a> {
        if self.split_clusters { of_one_cluster(near, self.map.y(), self.r_y) } else { near }
    }
}
