//! The clusters of a map: its labels if it has any, else what lies together.

use crate::density;
use crate::kd_tree::KdTree;
use crate::lion::Place;
use crate::map::Map;
use rayon::prelude::*;

/// More labels than this are names of rows, not of clusters.
pub(crate) const MOST_LABELS: usize = 1000;
/// Rows of the map that decide which cluster a place is in.
const VOTERS: usize = 10;

/// The clusters of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Clusters {
    /// What they are called.
    pub names: Vec<String>,
    /// The cluster of each row of the data, if it is in one.
    pub of_row: Vec<Option<u32>>,
    /// Whether they are the labels of the map. Else they were found by how densely rows lie, and are called `1`, `2`, …
    /// from the largest on.
    pub from_labels: bool,
    /// A place in the middle of each, where one of its rows is.
    pub centres: Vec<Place>,
    /// How many rows each has.
    pub rows: Vec<usize>,
}

impl Clusters {
    /// The clusters of a map.
    pub(super) fn new(map: &Map, tree: &KdTree) -> Self {
        let labelled = Self::of_labels(map);
        let from_labels = labelled.is_some();
        let (names, of_row): (Vec<String>, Vec<Option<u32>>) = match labelled {
            Some(labelled) => labelled,
            None => {
                let (count, of_place) = density::clusters(map.y(), tree);
                let of_row = (0..map.rows()).map(|row| of_place[map.distinct(row)]).collect();
                ((1..=count).map(|number| number.to_string()).collect(), of_row)
            }
        };
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); names.len()];
        for (row, cluster) in (0..).zip(&of_row) {
            if let Some(cluster) = cluster {
                members[*cluster as usize].push(row);
            }
        }
        let centres = central_rows(map, &members).into_iter().map(|row| place_of(map, row)).collect();
        let rows = members.iter().map(Vec::len).collect();
        Self { names, of_row, from_labels, centres, rows }
    }

    /// The labels of a map as clusters: their names, and the cluster of each row. None if it has no labels, or too many.
    pub(crate) fn of_labels(map: &Map) -> Option<(Vec<String>, Vec<Option<u32>>)> {
        let labels = map.labels().filter(|labels| labels.names().len() <= MOST_LABELS)?;
        let known: Vec<&str> = labels.names().collect();
        let mut order: Vec<usize> = (0..known.len()).filter(|&code| !known[code].is_empty()).collect();
        order.sort_by(|&a, &b| by_value(known[a], known[b]));
        let mut number = vec![None; known.len()];
        (0..).zip(&order).for_each(|(at, &code)| number[code] = Some(at));
        let names = order.iter().map(|&code| known[code].to_string()).collect();
        Some((names, labels.codes().iter().map(|&code| number[code as usize]).collect()))
    }

    /// The clusters of a map that nothing else is known of.
    pub(crate) fn of(map: &Map) -> Self {
        Self::new(map, &KdTree::new(map.y().data(), map.dims()))
    }

    /// The name of a cluster.
    pub fn name(&self, cluster: u32) -> &str {
        self.names.get(cluster as usize).map_or("", String::as_str)
    }
}

/// Numbers by value, before other texts.
fn by_value(a: &str, b: &str) -> std::cmp::Ordering {
    let number = |text: &str| text.parse::<f64>().ok().filter(|v| !v.is_nan());
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// For each cluster, given its rows, the one whose place is nearest to the median along each dimension.
pub(crate) fn central_rows(map: &Map, members: &[Vec<u32>]) -> Vec<u32> {
    let central = |rows: &Vec<u32>| {
        let mut median = [0.0; 3];
        for (d, median) in median.iter_mut().enumerate().take(map.dims()) {
            let mut along: Vec<f32> = rows.iter().map(|&row| map.place(row as usize)[d]).collect();
            let middle = along.len() / 2;
            *median = *along.select_nth_unstable_by(middle, f32::total_cmp).1;
        }
        let away = |row: u32| -> f64 {
            map.place(row as usize)
                .iter()
                .zip(median)
                .map(|(a, b)| (f64::from(*a) - f64::from(b)).powi(2))
                .sum()
        };
        let nearest = rows.iter().copied().min_by(|&a, &b| away(a).total_cmp(&away(b)).then(a.cmp(&b)));
        nearest.unwrap_or(0)
    };
    members.iter().map(central).collect()
}

/// The place of a row.
pub(crate) fn place_of(map: &Map, row: u32) -> Place {
    let mut place = Place { coordinates: [0.0; 3], dims: map.dims() as u8 };
    place.coordinates[..map.dims()].copy_from_slice(map.place(row as usize));
    place
}

/// Which cluster a place is in, by the rows of the map around it.
pub(super) struct Voters {
    tree: KdTree,
    /// The cluster of each distinct row.
    of_place: Vec<Option<u32>>,
}

impl Voters {
    pub(super) fn new(map: &Map, clusters: &Clusters, tree: KdTree) -> Self {
        let mut of_place = vec![None; map.y().rows()];
        // Of rows that share a place the first decides.
        for row in (0..map.rows()).rev() {
            of_place[map.distinct(row)] = clusters.of_row[row];
        }
        Self { tree, of_place }
    }

    /// The cluster of most of the nearest rows; of equally many the one with the nearest row.
    pub(super) fn cluster(&self, place: &Place) -> Option<u32> {
        self.vote(place, None)
    }

    /// The cluster that each distinct row of a map would be in if it were new.
    pub(super) fn clusters_of(&self, map: &Map) -> Vec<Option<u32>> {
        let y = map.y();
        let rows = (0..y.rows() as u32).into_par_iter().with_min_len(1024);
        rows.map(|row| self.vote(y.row(row as usize), Some(row))).collect()
    }

    fn vote(&self, place: &[f32], without: Option<u32>) -> Option<u32> {
        let near = self.tree.nearest(place, VOTERS, without);
        let mut votes: Vec<(Option<u32>, usize)> = Vec::with_capacity(VOTERS);
        for (_, row) in near {
            let cluster = self.of_place[row as usize];
            match votes.iter_mut().find(|(known, _)| *known == cluster) {
                Some((_, count)) => *count += 1,
                None => votes.push((cluster, 1)),
            }
        }
        let most = votes.iter().map(|(_, count)| *count).max()?;
        votes.iter().find(|(_, count)| *count == most)?.0
    }
}
