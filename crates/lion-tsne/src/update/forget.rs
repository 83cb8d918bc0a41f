//! Which rows a map forgets.

use crate::error::{Error, Result};
use crate::fit::Rows;
use crate::live::Clusters;
use crate::map::Map;
use std::collections::HashSet;
use xxhash_rust::xxh3::xxh3_64;

/// Which old rows go. A row whose id comes again goes in any case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forget {
    /// Rows of these ids.
    pub ids: Vec<String>,
    /// The new map has at most so many rows. Of old rows those of the greatest hashes of their ids go; every cluster keeps
    /// [`LEAST_KEPT`] rows, or all it has.
    pub keep: Option<usize>,
}

/// So many rows of a cluster stay, however few are kept.
pub const LEAST_KEPT: usize = 10;

/// The rows of the old map's data that stay, in their order.
pub(super) fn staying(old: &Map, rows: &Rows, forget: &Forget) -> Result<Vec<u32>> {
    let gone: HashSet<&str> =
        forget.ids.iter().chain(rows.ids.iter().flatten()).map(String::as_str).collect();
    let named = |row: &u32| gone.contains(&*old.id(*row as usize));
    let stayed: Vec<u32> = (0..old.rows() as u32).filter(|row| !named(row)).collect();
    let Some(keep) = forget.keep.filter(|keep| stayed.len() + rows.data.rows() > *keep) else {
        return Ok(stayed);
    };
    let Some(wanted) = keep.checked_sub(rows.data.rows()).filter(|wanted| *wanted > 0) else {
        return Err(Error::Parameter {
            name: "keep",
            problem: format!("{keep} leaves no room for old rows beside {} new ones", rows.data.rows()),
        });
    };
    least_hashes(old, stayed, wanted)
}

/// So many of the rows.
fn least_hashes(old: &Map, mut rows: Vec<u32>, wanted: usize) -> Result<Vec<u32>> {
    let clusters = Clusters::of(old);
    rows.sort_by_key(|&row| (xxh3_64(old.id(row as usize).as_bytes()), row));
    let mut kept_of = vec![0usize; clusters.names.len()];
    let (mut kept, mut others): (Vec<u32>, Vec<u32>) = rows.into_iter().partition(|&row| {
        clusters.of_row[row as usize].is_some_and(|cluster| {
            kept_of[cluster as usize] += 1;
            kept_of[cluster as usize] <= LEAST_KEPT
        })
    });
    if kept.len() > wanted {
        return Err(Error::Parameter {
            name: "keep",
            problem: format!(
                "leaves room for {wanted} old rows, and {} are needed for {LEAST_KEPT} of each of {} clusters",
                kept.len(),
                clusters.names.len()
            ),
        });
    }
    others.truncate(wanted - kept.len());
    kept.extend(others);
    kept.sort_unstable();
    Ok(kept)
}

/// The names of the old map's clusters of which no row is left; `labels` are those of the new map.
pub(super) fn emptied(old: &Map, stayed: &[u32], labels: Option<&[String]>) -> Vec<String> {
    if stayed.len() == old.rows() {
        return Vec::new();
    }
    let clusters = Clusters::of(old);
    let mut is_left = vec![false; clusters.names.len()];
    stayed.iter().filter_map(|&row| clusters.of_row[row as usize]).for_each(|c| is_left[c as usize] = true);
    let comes_again =
        |name: &String| clusters.from_labels && labels.is_some_and(|labels| labels.contains(name));
    let names = clusters.names.iter().zip(is_left);
    names.filter(|(name, left)| !left && !comes_again(name)).map(|(name, _)| name.clone()).collect()
}
