//! Outliers that are near each other belong together.

use crate::index::squared_distance;
use crate::vectorized::vectorized;

/// The group of each row, numbered by first appearance: rows within `radius` of each other are in one group, and so are
/// rows linked by others.
pub(crate) fn groups(rows: &[&[f32]], radius: f64) -> Vec<u32> {
    let Some(cols) = rows.first().map(|row| row.len()) else { return Vec::new() };
    let axis = widest(rows, cols);
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    order.sort_by(|&a, &b| rows[a as usize][axis].total_cmp(&rows[b as usize][axis]).then(a.cmp(&b)));
    let sorted: Vec<f32> = order.iter().flat_map(|&row| rows[row as usize]).copied().collect();
    let found = vectorized(
        #[inline(always)]
        || linked(&sorted, cols, axis, radius),
    );
    let mut of = vec![0; rows.len()];
    order.iter().zip(found).for_each(|(&row, group)| of[row as usize] = group);
    by_first_appearance(of)
}

/// The same for rows in the order of one column, with any numbers for groups. A row that was reached is never looked at
/// again, so one group costs a pass over its rows however many of them are near each other.
#[inline(always)]
fn linked(sorted: &[f32], cols: usize, axis: usize, radius: f64) -> Vec<u32> {
    let count = sorted.len() / cols;
    let row = |i: usize| &sorted[i * cols..(i + 1) * cols];
    let along = |i: usize| f64::from(sorted[i * cols + axis]);
    // Rounded up: what is this far along one column is surely farther than the radius.
    let window = radius * (1.0 + 1e-6);
    let mut next: Vec<usize> = (0..=count).collect();
    let mut group_of = vec![0; count];
    let (mut group, mut reached) = (0, Vec::new());
    for first in 0..count {
        if next[first] != first {
            continue;
        }
        next[first] = first + 1;
        reached.push(first);
        while let Some(from) = reached.pop() {
            group_of[from] = group;
            let mut to = left(&mut next, lower_bound(count, |i| along(i) < along(from) - window));
            while to < count && along(to) <= along(from) + window {
                if f64::from(squared_distance(row(from), row(to)).sqrt()) <= radius {
                    next[to] = to + 1;
                    reached.push(to);
                }
                to = left(&mut next, to + 1);
            }
        }
        group += 1;
    }
    group_of
}

/// The first row from `at` on that was not reached.
#[inline(always)]
fn left(next: &mut [usize], at: usize) -> usize {
    let mut end = at;
    while next[end] != end {
        end = next[end];
    }
    let mut walk = at;
    while next[walk] != end && walk != end {
        let step = next[walk];
        next[walk] = end;
        walk = step;
    }
    end
}

#[inline(always)]
fn lower_bound(count: usize, below: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        if below(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

fn widest(rows: &[&[f32]], cols: usize) -> usize {
    let width = |column: usize| {
        let values = rows.iter().map(|row| row[column]);
        let (low, high) =
            values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        high - low
    };
    // Where there was PCA, the first columns are the widest.
    (0..cols.min(64)).max_by(|&a, &b| width(a).total_cmp(&width(b)).then(b.cmp(&a))).unwrap_or(0)
}

fn by_first_appearance(mut groups: Vec<u32>) -> Vec<u32> {
    let mut renamed = vec![u32::MAX; groups.len()];
    let mut count = 0;
    for group in &mut groups {
        let name = &mut renamed[*group as usize];
        if *name == u32::MAX {
            *name = count;
            count += 1;
        }
        *group = *name;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn as_by_comparing_every_pair() {
        let mut random = Random::new(11);
        for radius in [0.0, 0.1, 0.5, 1.0, 3.0] {
            let rows: Vec<Vec<f32>> = (0..200)
                .map(|_| (0..3).map(|_| (random.gaussian() * 4.0).round() as f32 / 4.0).collect())
                .collect();
            let mut group: Vec<usize> = (0..rows.len()).collect();
            loop {
                let before = group.clone();
                for a in 0..rows.len() {
                    for b in 0..rows.len() {
                        if f64::from(squared_distance(&rows[a], &rows[b]).sqrt()) <= radius {
                            group[b] = group[a].min(group[b]);
                        }
                    }
                }
                if group == before {
                    break;
                }
            }
            let names = by_first_appearance(group.iter().map(|&g| g as u32).collect());
            let rows: Vec<&[f32]> = rows.iter().map(Vec::as_slice).collect();
            assert_eq!(groups(&rows, radius), names);
        }
    }
}
