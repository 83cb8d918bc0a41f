//! Exact duplicates share a place.

use crate::matrix::Matrix;
use rayon::prelude::*;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use xxhash_rust::xxh3::xxh3_64;

/// Which rows are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unique {
    /// The first row of every kind, in the order of the data.
    pub representatives: Vec<u32>,
    /// For every row, the index into `representatives` of the row it equals; `None` when all rows are distinct.
    pub place_of: Option<Vec<u32>>,
}

/// Finds the rows that are equal in every value (-0.0 equals 0.0). The time is linear in the size of the data.
pub fn unique_rows(data: &Matrix) -> Unique {
    let hashes: Vec<u64> = (0..data.rows())
        .into_par_iter()
        .map_init(Vec::new, |canonical, i| {
            canonical.clear();
            // Adding 0.0 turns -0.0 into 0.0 and changes nothing else.
            canonical.extend(data.row(i).iter().map(|v| v + 0.0));
            xxh3_64(bytemuck::cast_slice(canonical))
        })
        .collect();
    let mut seen: HashMap<HashedRow<'_>, u32> = HashMap::with_capacity(data.rows());
    let mut representatives = Vec::new();
    let place_of: Vec<u32> = (0u32..)
        .zip(hashes)
        .map(|(i, hash)| {
            *seen.entry(HashedRow { hash, values: data.row(i as usize) }).or_insert_with(|| {
                representatives.push(i);
                representatives.len() as u32 - 1
            })
        })
        .collect();
    let all_distinct = representatives.len() == place_of.len();
    Unique { representatives, place_of: (!all_distinct).then_some(place_of) }
}

/// A row with its hash; two rows are equal when their values are, whatever their hashes say.
struct HashedRow<'a> {
    hash: u64,
    values: &'a [f32],
}

impl Hash for HashedRow<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl PartialEq for HashedRow<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for HashedRow<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_the_same_hash_are_told_apart_by_their_values() {
        let mut seen = HashMap::new();
        seen.insert(HashedRow { hash: 7, values: &[1.0, 2.0] }, 0);
        seen.insert(HashedRow { hash: 7, values: &[1.0, 3.0] }, 1);
        assert_eq!(seen.len(), 2);
        assert_eq!(seen.get(&HashedRow { hash: 7, values: &[1.0, 3.0] }), Some(&1));
    }
}
