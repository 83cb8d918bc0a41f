//! Outliers that are near each other belong together: the groups of Boytsov et al. 2017, LION-tSNE, are connected
//! components.

use super::pending_outliers::DifferentOutliers;
use crate::index::connected_components;
use crate::matrix::Matrix;
use rayon::prelude::*;

/// Outliers in groups: those within a radius of each other are in one group, and so are outliers linked by others.
pub(super) struct OutlierGroups {
    /// The numbers of the outliers, group by group.
    members: Vec<u32>,
    /// Where each group ends.
    ends: Vec<u32>,
}

impl OutlierGroups {
    /// In the order in which they get positions, whatever the order of the outliers is: the first of a group is its
    /// nearest to the map, and groups whose first is nearer come first. Equal distances are told apart by the rows' bits.
    pub(super) fn of(outliers: &mut DifferentOutliers, radius: f64) -> Self {
        let rows = Matrix::from_rows(outliers.width, std::mem::take(&mut outliers.rows));
        let component_of = connected_components(&rows, radius);
        outliers.rows = rows.into_data();
        Self::in_order(&nearest_first(outliers), component_of)
    }

    /// Groups numbered as they first appear in an order, and sorted by that number. `group_of` is for each outlier the
    /// least of its component.
    fn in_order(order: &[u32], mut group_of: Vec<u32>) -> Self {
        let mut number_of = vec![u32::MAX; group_of.len()];
        let mut ends: Vec<u32> = Vec::new();
        for &outlier in order {
            let number = &mut number_of[group_of[outlier as usize] as usize];
            if *number == u32::MAX {
                *number = ends.len() as u32;
                ends.push(0);
            }
            ends[*number as usize] += 1;
        }
        group_of.iter_mut().for_each(|group| *group = number_of[*group as usize]);
        // Where each group begins; it moves on with each member, and ends where the next one began.
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        let mut members = number_of;
        for &outlier in order {
            let at = &mut ends[group_of[outlier as usize] as usize];
            members[*at as usize] = outlier;
            *at += 1;
        }
        Self { members, ends }
    }

    /// The members of each group, its first one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, &end)| &self.members[begin as usize..end as usize])
    }
}

fn nearest_first(outliers: &DifferentOutliers) -> Vec<u32> {
    let mut ranked: Vec<(f32, u32)> = outliers.nearest_distances.iter().copied().zip(0..).collect();
    let bits = |number: u32| outliers.row(number).iter().map(|v| v.to_bits());
    ranked.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then_with(|| bits(a.1).cmp(bits(b.1))));
    ranked.into_iter().map(|(_, number)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(rows: Vec<f32>, nearest_distances: Vec<f32>, radius: f64) -> Vec<Vec<u32>> {
        let targets = vec![[0.0; 3]; rows.len()];
        let mut outliers = DifferentOutliers { width: 1, rows, nearest_distances, targets };
        OutlierGroups::of(&mut outliers, radius).iter().map(<[u32]>::to_vec).collect()
    }

    #[test]
    fn in_the_order_of_their_nearest() {
        let rows = || vec![9.0, 0.0, 5.0, 0.4, 5.3];
        assert_eq!(groups(rows(), vec![1.0; 5], 0.5), [vec![1, 3], vec![2, 4], vec![0]]);
        assert_eq!(groups(rows(), vec![1.0, 3.0, 2.0, 4.0, 0.0], 0.5), [vec![4, 2], vec![0], vec![1, 3]]);
        assert!(groups(Vec::new(), Vec::new(), 1.0).is_empty());
    }
}
