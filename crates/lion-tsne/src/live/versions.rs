//! The points of a live map in another version of the map, and what became of its clusters.

use super::alarms::Learned;
use super::event::{ClusterBorn, ClusterGone, ClusterMoved, ClustersUpdated, MapUpdated, What};
use super::{Announced, Applied, Clusters, Live, Point};
use crate::diff::{radius, similarity};
use crate::error::{Error, Result};
use crate::lion::{Resolved, Verdict};
use crate::map::Map;
use crate::matrix::Matrix;
use std::collections::{BTreeMap, HashMap};

/// This share of the rows that both versions have makes one cluster the continuation of another.
const MOST_OF: f64 = 0.5;
/// A cluster moved if its middle did by so many map radii.
const MOVED: f64 = 0.25;
/// So many groups of outliers are tested at a switch: each test spends a tenth of what is left for tests.
const MOST_TESTS: usize = 32;

/// All that a map says of a row, whatever other points there are.
#[derive(Clone, Debug)]
pub struct SettledRow {
    resolved: Resolved,
    cluster: Option<u32>,
}

impl Live {
    /// Settles a row as it was given. Work of one thread, the caller's.
    pub fn settle(&self, row: &[f32]) -> Result<SettledRow> {
        let (resolved, cluster) = self.with_cluster(self.lion.resolve_row(row)?);
        Ok(SettledRow { resolved, cluster })
    }

    /// This live map in another version of the map: `next`, which has no points yet, gets all points of this one. `settled`
    /// has the row of each as `next` settles it, in the order of [`Live::points`]. Points keep their ids, labels, times and
    /// events, groups of outliers their numbers where they stay together. What alarms have learned of the map before is
    /// forgotten. The first event tells of it, at time `t`; the counts of points in it are made here. Others follow where
    /// points that have become outliers are a new cluster: after going back to the version without it, for one.
    pub fn move_to(
        &self,
        mut next: Self,
        settled: Vec<SettledRow>,
        told: MapUpdated,
        t: f64,
    ) -> Result<(Self, Applied)> {
        if next.points.len() > 0 || settled.len() != self.points.len() {
            return Err(Error::Data(format!(
                "{} points cannot become the {} settled rows of a version that has {} points",
                self.points.len(),
                settled.len(),
                next.points.len()
            )));
        }
        (next.last, next.now) = (self.last, if self.last == 0 { t } else { t.max(self.now) });
        next.outliers.number_from(self.outliers.counters().0);
        next.learned = Learned {
            limit: self.learned.limit,
            stretches: self.learned.stretches.clone(),
            saved: self.learned.saved,
            ..Learned::new(next.known.clusters.names.len(), next.options.false_alarms)
        };
        next.window.go_on_from(&self.window);
        let mut became = BTreeMap::new();
        for (point, settled) in self.points.iter().zip(settled) {
            let group = next.take(point, settled, self).filter(|_| !point.is_outlier());
            // The latest of each group is kept.
            became.extend(group.map(|group| (group, point.first)));
        }
        next.announced = self.still_announced(&next);
        next.link_families();
        next.window.advance(next.now);
        next.look_again();
        let mut applied = Applied::with_capacity(1);
        let told = MapUpdated {
            points: next.points.len() as u64,
            taken_in: next.points.iter().filter(|p| p.placement.verdict == Verdict::Exact).count() as u64,
            outliers_before: self.outliers.len() as u64,
            outliers: next.outliers.len() as u64,
            still_forming: next.announced.forming.keys().copied().collect(),
            ..told
        };
        next.tell_of_point(What::MapUpdated(told), None, &mut applied);
        next.watch_new_outliers(became, &mut applied);
        Ok((next, applied))
    }

    /// Looks for new clusters among groups that have points which another version has made outliers, each by one of them.
    fn watch_new_outliers(&mut self, became: BTreeMap<u64, u64>, applied: &mut Applied) {
        let mut groups: Vec<(u64, u64)> = became.into_iter().collect();
        let size = |group: u64| self.outliers.group(group).map_or(0, |group| group.members.len());
        groups.sort_by_key(|&(group, _)| (std::cmp::Reverse(size(group)), group));
        for (group, first) in groups.into_iter().take(MOST_TESTS) {
            self.watch_outlier(first, group, true, applied);
        }
    }

    /// Takes a point of the version before; gives its group, if it is an outlier.
    fn take(&mut self, point: &Point, settled: SettledRow, before: &Self) -> Option<u64> {
        let SettledRow { resolved, cluster } = settled;
        let placement = match resolved {
            Resolved::Placed(placement) => placement,
            Resolved::Outlier(outlier) => {
                // One that was none is taken to be one since its row came: the switch is no arrival.
                let since = before.outliers.since(point.first).unwrap_or(point.last);
                if since != point.first {
                    self.learned.since.insert(point.first, since);
                }
                let key = (point.first, since, point.id.as_str());
                self.outliers.place_again(&self.lion, key, outlier, point.placement.group)
            }
        };
        let outlier = placement.verdict == Verdict::Outlier;
        self.window.judged_again(point.t, placement.score, cluster, outlier);
        let group = placement.group;
        self.points.put(Point { placement, cluster, ..point.clone() });
        group
    }

    /// What of the version before holds in the next: new clusters of which a group is still there.
    fn still_announced(&self, next: &Self) -> Announced {
        let mut forming = self.announced.forming.clone();
        forming.retain(|_, family| {
            family.groups.retain(|&group| next.outliers.group(group).is_some());
            !family.groups.is_empty()
        });
        let mut ended = self.announced.ended.clone();
        ended.retain(|&group, _| next.outliers.group(group).is_some());
        Announced { forming, ended, ..Announced::default() }
    }
}

/// The clusters of two versions of a map, by the rows that both have.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterMatches {
    /// Clusters that both have: the number in the first and in the second.
    pub kept: Vec<(u32, u32)>,
    /// What is to be told of the others, and of those that moved.
    pub changes: ClustersUpdated,
}

impl ClusterMatches {
    /// Compares two versions of a map. Clusters that are labels are the same if they have the same name; others if they
    /// have most of their rows in common. `group_of` knows the group of outliers that a row of the second was in.
    pub fn new(
        (a, of_a): (&Map, &Clusters),
        (b, of_b): (&Map, &Clusters),
        group_of: impl Fn(&str) -> Option<u64>,
    ) -> Result<Self> {
        let rows: HashMap<_, _> = (0..b.rows()).map(|row| (b.id(row), row)).collect();
        let shared: Vec<(usize, usize)> =
            (0..a.rows()).filter_map(|row| Some((row, *rows.get(&a.id(row))?))).collect();
        let kept = match of_a.from_labels && of_b.from_labels {
            true => same_names(of_a, of_b),
            false => same_rows(of_a, of_b, &shared),
        };
        let of = |place: &crate::lion::Place| (*place).into();
        let is_kept_a = |number: u32| kept.iter().any(|&(a, _)| a == number);
        let is_kept_b = |number: u32| kept.iter().any(|&(_, b)| b == number);
        let born = (0..of_b.names.len() as u32).filter(|&number| !is_kept_b(number)).map(|number| {
            let at = number as usize;
            ClusterBorn {
                name: of_b.names[at].clone(),
                rows: of_b.rows[at] as u64,
                at: of(&of_b.centres[at]),
                groups: groups_in(b, of_b, number, &group_of),
            }
        });
        let gone = (0..of_a.names.len()).filter(|&at| !is_kept_a(at as u32)).map(|at| ClusterGone {
            name: of_a.names[at].clone(),
            rows: of_a.rows[at] as u64,
            at: of(&of_a.centres[at]),
        });
        let (born, gone) = (born.collect(), gone.collect());
        let moved = moved((a, of_a), (b, of_b), &shared, &kept)?;
        let names = kept.iter().map(|&(x, y)| (of_a.name(x).to_owned(), of_b.name(y).to_owned()));
        let renamed = names.filter(|(before, after)| before != after).collect();
        Ok(Self { kept, changes: ClustersUpdated { born, gone, moved, renamed } })
    }
}

/// Most groups of a born cluster's rows, the ones with most rows first.
fn groups_in(
    map: &Map,
    clusters: &Clusters,
    number: u32,
    group_of: impl Fn(&str) -> Option<u64>,
) -> Vec<u64> {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    let rows = (0..map.rows()).filter(|&row| clusters.of_row[row] == Some(number));
    for group in rows.filter_map(|row| group_of(&map.id(row))) {
        *counts.entry(group).or_default() += 1;
    }
    let mut groups: Vec<(u64, usize)> = counts.into_iter().collect();
    groups.sort_by_key(|&(group, count)| (std::cmp::Reverse(count), group));
    groups.into_iter().map(|(group, _)| group).collect()
}

fn same_names(a: &Clusters, b: &Clusters) -> Vec<(u32, u32)> {
    let numbers: HashMap<&String, u32> = b.names.iter().zip(0..).collect();
    a.names.iter().zip(0..).filter_map(|(name, number)| Some((number, *numbers.get(name)?))).collect()
}

/// Pairs that have more than half of each other's rows.
fn same_rows(a: &Clusters, b: &Clusters, shared: &[(usize, usize)]) -> Vec<(u32, u32)> {
    let mut flows: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    let (mut all_a, mut all_b) = (vec![0usize; a.names.len()], vec![0usize; b.names.len()]);
    for &(row_a, row_b) in shared {
        let (from, to) = (a.of_row[row_a], b.of_row[row_b]);
        from.iter().for_each(|&from| all_a[from as usize] += 1);
        to.iter().for_each(|&to| all_b[to as usize] += 1);
        if let (Some(from), Some(to)) = (from, to) {
            *flows.entry((from, to)).or_default() += 1;
        }
    }
    let most = |rows: usize, of: usize| rows as f64 > MOST_OF * of as f64;
    let pairs = flows
        .into_iter()
        .filter(|&((from, to), rows)| most(rows, all_a[from as usize]) && most(rows, all_b[to as usize]));
    pairs.map(|(pair, _)| pair).collect()
}

/// Clusters whose middle is elsewhere, after the first map was brought onto the second.
fn moved(
    (a, of_a): (&Map, &Clusters),
    (b, of_b): (&Map, &Clusters),
    shared: &[(usize, usize)],
    kept: &[(u32, u32)],
) -> Result<Vec<ClusterMoved>> {
    if shared.is_empty() || a.dims() != b.dims() {
        return Ok(Vec::new());
    }
    let dims = a.dims();
    let places = |map: &Map, rows: &mut dyn Iterator<Item = usize>| {
        let data: Vec<f32> = rows.flat_map(|row| map.place(row).to_vec()).collect();
        Matrix::new(shared.len(), dims, data)
    };
    let from = places(a, &mut shared.iter().map(|pair| pair.0))?;
    let to = places(b, &mut shared.iter().map(|pair| pair.1))?;
    let onto = similarity(&from, &to)?;
    let unit = radius(&to).max(f64::MIN_POSITIVE);
    let mut steps = vec![([0.0f64; 3], 0usize); of_b.names.len()];
    let known: HashMap<u32, u32> = kept.iter().copied().collect();
    for (at, &(row_a, row_b)) in shared.iter().enumerate() {
        let (Some(x), Some(y)) = (of_a.of_row[row_a], of_b.of_row[row_b]) else { continue };
        if known.get(&x) == Some(&y) {
            let (step, count) = &mut steps[y as usize];
            let brought = onto.apply(from.row(at));
            (0..dims).for_each(|d| step[d] += f64::from(to.row(at)[d]) - f64::from(brought[d]));
            *count += 1;
        }
    }
    let distance = |(step, count): &([f64; 3], usize)| {
        step.iter().map(|v| (v / (*count).max(1) as f64).powi(2)).sum::<f64>().sqrt() / unit
    };
    let moved = steps.iter().enumerate().map(|(at, step)| (at, distance(step)));
    let moved = moved.filter(|&(_, distance)| distance >= MOVED).map(|(at, distance)| ClusterMoved {
        name: of_b.names[at].clone(),
        distance,
        at: of_b.centres[at].into(),
    });
    Ok(moved.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_go_on_in_those_that_have_most_of_their_rows() {
        let clusters = |of_row: &[u32]| Clusters {
            names: (0..3).map(|number| number.to_string()).collect(),
            of_row: of_row.iter().map(|&cluster| Some(cluster)).collect(),
            from_labels: false,
            centres: Vec::new(),
            rows: Vec::new(),
        };
        let shared: Vec<(usize, usize)> = (0..8).map(|row| (row, row)).collect();
        let pairs = |a: &[u32], b: &[u32]| same_rows(&clusters(a), &clusters(b), &shared);
        assert_eq!(pairs(&[0, 0, 0, 0, 1, 1, 1, 1], &[1, 1, 1, 0, 0, 0, 0, 0]), [(0, 1), (1, 0)]);
        // Half of its rows is not most of them.
        assert_eq!(pairs(&[0, 0, 0, 0, 1, 1, 1, 1], &[0, 0, 1, 1, 2, 2, 2, 2]), [(1, 2)]);
        assert_eq!(pairs(&[0, 0, 0, 0, 1, 1, 1, 1], &[0; 8]), []);
    }
}
