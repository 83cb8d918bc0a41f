//! New points on an old map: what is known of each row that was placed into it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::scatter::{all_finite, same_length};
use crate::text::count;
use crate::{CardColumn, Error, Result, cards};

/// How a placed point came to its place; drawn each in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// It equals a row of the map and has that row's place.
    Exact,
    /// It lies among rows of the map: a ringed disc.
    Interpolated,
    /// It lies beside a row that is an outlier of the map itself: a small diamond.
    BesideOutlier,
    /// It is like nothing in the map, and was put apart: a diamond.
    Outlier,
    /// Nothing is known of it but its place: a ringed disc.
    Placed,
}

impl Mark {
    /// In the order of drawing, so that what is strange lies on top.
    pub(crate) const ALL: [Mark; 5] =
        [Mark::Exact, Mark::Interpolated, Mark::Placed, Mark::BesideOutlier, Mark::Outlier];

    /// Its name in tables, legends and tooltips.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mark::Exact => "exact",
            Mark::Interpolated => "interpolated",
            Mark::BesideOutlier => "beside-outlier",
            Mark::Outlier => "outlier",
            Mark::Placed => "placed",
        }
    }

    /// Its size beside others of its shape.
    pub(crate) fn size(self) -> f32 {
        match self {
            Mark::Exact => 0.75,
            Mark::BesideOutlier => 0.62,
            Mark::Interpolated | Mark::Outlier | Mark::Placed => 1.0,
        }
    }

    /// Whether it is drawn in the colour of warning, whatever its label.
    pub(crate) fn warns(self) -> bool {
        matches!(self, Mark::BesideOutlier | Mark::Outlier)
    }
}

/// A group of more than one outlier.
pub(crate) struct Crowd {
    pub(crate) group: u64,
    /// Which of the placed points are in it.
    pub(crate) members: Vec<usize>,
}

impl Crowd {
    /// "×100".
    pub(crate) fn size(&self) -> String {
        format!("×{}", count(self.members.len()))
    }
}

/// The points placed into a map, and what is known of each: a layer over the map's own points.
///
/// Made with [`Placed::new`] and the methods that follow it; joins a picture by
/// [`Scatter::placed`](crate::Scatter::placed).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Placed<'a> {
    /// Row-major, n x the dimensions of the map.
    pub points: &'a [f32],
    /// One per point.
    pub marks: &'a [Mark],
    /// One per point, if they have names. Without, a point is known by its row, counted from 1.
    pub ids: Option<&'a [String]>,
    /// One per point, if there is something to colour by; a label of the map has its colour there. An empty label
    /// means that the point has none. Outliers are coloured as such and only tell their label.
    pub labels: Option<&'a [String]>,
    /// One per point, if outliers come in groups. The size of a group of more than one outlier stands beside it, as ×100:
    /// its diamonds may lie so close that they look like one.
    pub groups: Option<&'a [Option<u64>]>,
    /// One per point, if there is a measure of how well each belongs; the page tells it.
    pub scores: Option<&'a [f64]>,
    /// What the page tells of each point when it is asked for.
    pub cards: &'a [CardColumn<'a>],
}

impl<'a> Placed<'a> {
    /// The points, row-major, with as many columns as the map has dimensions, and how each came to its place.
    pub fn new(points: &'a [f32], marks: &'a [Mark]) -> Self {
        Placed { points, marks, ids: None, labels: None, groups: None, scores: None, cards: &[] }
    }

    /// With a name for each point.
    pub fn ids(self, ids: &'a [String]) -> Self {
        Placed { ids: Some(ids), ..self }
    }

    /// With a label for each point, to colour by as the map is.
    pub fn labels(self, labels: &'a [String]) -> Self {
        Placed { labels: Some(labels), ..self }
    }

    /// With the outlier group of each point, if it has one.
    pub fn groups(self, groups: &'a [Option<u64>]) -> Self {
        Placed { groups: Some(groups), ..self }
    }

    /// With a score for each point.
    pub fn scores(self, scores: &'a [f64]) -> Self {
        Placed { scores: Some(scores), ..self }
    }

    /// With columns that the page shows of a point that is asked for.
    pub fn cards(self, cards: &'a [CardColumn<'a>]) -> Self {
        Placed { cards, ..self }
    }

    /// Refuses whatever cannot be drawn in a map of so many dimensions.
    pub(crate) fn check(&self, dims: usize) -> Result<()> {
        const OF: &str = "the layer of placed points";
        let n = self.points.len() / dims;
        let whole = "give one whole row of coordinates per point";
        same_length("the list of coordinates", OF, self.points.len(), n * dims, whole)?;
        same_length("the list of marks", OF, self.marks.len(), n, "give one per point")?;
        for (what, length) in [
            ("the list of ids", self.ids.map(<[_]>::len)),
            ("the list of labels", self.labels.map(<[_]>::len)),
            ("the list of groups", self.groups.map(<[_]>::len)),
            ("the list of scores", self.scores.map(<[_]>::len)),
        ] {
            same_length(what, OF, length.unwrap_or(n), n, "give one per point or none at all")?;
        }
        cards::check(self.cards, OF, n)?;
        all_finite(self.points, dims, OF)?;
        let scores = self.scores.unwrap_or_default();
        match scores.iter().position(|score| !score.is_finite()) {
            Some(at) => Err(Error::Score { row: at, value: scores[at] }),
            None => Ok(()),
        }
    }

    /// How many points came to their place in this way.
    pub(crate) fn count(&self, mark: Mark) -> usize {
        self.marks.iter().filter(|&&other| other == mark).count()
    }

    /// Whether any point has a label.
    pub(crate) fn is_labelled(&self) -> bool {
        self.labels.is_some_and(|labels| labels.iter().any(|label| !label.trim().is_empty()))
    }

    /// "in 3 groups (×100: a group of 100)", if groups are known and there are any. The brackets explain the marks beside
    /// groups of more than one, by the largest.
    pub(crate) fn in_groups(&self) -> Option<String> {
        let groups: BTreeSet<u64> = self.groups?.iter().flatten().copied().collect();
        let largest = self.crowds().first().map_or(String::new(), |crowd| {
            format!(" ({}: a group of {})", crowd.size(), count(crowd.members.len()))
        });
        match groups.len() {
            0 => None,
            1 => Some(format!("in 1 group{largest}")),
            n => Some(format!("in {} groups{largest}", count(n))),
        }
    }

    /// The groups of more than one outlier, the largest first.
    pub(crate) fn crowds(&self) -> Vec<Crowd> {
        let mut of: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, (group, mark)) in self.groups.unwrap_or_default().iter().zip(self.marks).enumerate() {
            if let Some(group) = group.filter(|_| *mark == Mark::Outlier) {
                of.entry(group).or_default().push(at);
            }
        }
        let crowds = of.into_iter().map(|(group, members)| Crowd { group, members });
        let mut crowds: Vec<Crowd> = crowds.filter(|crowd| crowd.members.len() > 1).collect();
        crowds.sort_by_key(|crowd| Reverse(crowd.members.len()));
        crowds
    }

    /// "1,000 placed".
    pub(crate) fn heading(&self) -> String {
        format!("{} placed", count(self.marks.len()))
    }

    /// "1,000 placed, 15 outliers"; where nobody knows which are outliers, "1,000 placed".
    pub(crate) fn summary(&self) -> String {
        let outliers = self.count(Mark::Outlier);
        if self.count(Mark::Placed) == self.marks.len() && !self.marks.is_empty() {
            return self.heading();
        }
        let s = if outliers == 1 { "" } else { "s" };
        format!("{}, {} outlier{s}", self.heading(), count(outliers))
    }
}
