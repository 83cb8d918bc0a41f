//! Outliers that are near each other belong together: the groups of Boytsov et al. 2017, LION-tSNE, are connected
//! components.

use crate::index::connected_components;
use crate::matrix::Matrix;

/// The group of each row, numbered by first appearance: rows within `radius` of each other are in one group, and so are
/// rows linked by others.
pub(crate) fn groups(rows: &[&[f32]], radius: f64) -> Vec<u32> {
    let cols = rows.first().map_or(0, |row| row.len());
    let least = connected_components(&Matrix::from_rows(cols, rows.concat()), radius);
    let mut names = vec![0; least.len()];
    let mut count = 0;
    for (row, &least) in least.iter().enumerate() {
        if least as usize == row {
            names[row] = count;
            count += 1;
        }
    }
    least.iter().map(|&least| names[least as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_by_first_appearance() {
        let rows: [&[f32]; 5] = [&[9.0], &[0.0], &[5.0], &[0.4], &[5.3]];
        assert_eq!(groups(&rows, 0.5), [0, 1, 2, 1, 2]);
        assert!(groups(&[], 1.0).is_empty());
    }
}
