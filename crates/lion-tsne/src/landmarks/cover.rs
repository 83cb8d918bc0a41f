//! Landmarks for sparse regions: held-out rows that no landmark is near to take the place of some in dense ones. Ours.

use super::LandmarkSpace;
use super::bottom_k::HashKey;
use crate::error::Result;
use crate::index::squared_distance;
use crate::lion::spacing;
use crate::matrix::Matrix;

/// One landmark in so many is given to sparse regions at most.
const GIVEN: usize = 10;

/// Takes held-out rows beyond r_x of every plain landmark as landmarks too, and as many plain ones away. Returns those
/// taken.
///
/// Half of the held-out rows are asked: those who are left out of it judge what was covered. The rows that are known one by
/// one from then on become a stratum of their own.
pub(super) fn cover(
    plain: &mut [Vec<HashKey>],
    strata: &mut Vec<(Vec<HashKey>, u64)>,
    space: &LandmarkSpace<'_>,
) -> Result<Vec<HashKey>> {
    let mut asked: Vec<HashKey> = Vec::new();
    for (held_out, of) in strata.iter_mut() {
        let first = held_out.len().div_ceil(2);
        *of -= first as u64;
        asked.extend(held_out.drain(..first));
    }
    if asked.is_empty() {
        return Ok(asked);
    }
    asked.sort_unstable();
    let all_plain: Vec<HashKey> = plain.iter().flatten().copied().collect();
    let (preprocess, x) = space.fit(&all_plain)?;
    let candidates = preprocess.apply(&super::bottom_k::matrix(space.kept, &asked, space.cols)?)?;
    let (index, r_x) = spacing(&x, space.options.radius, space.options.seed)?;
    let lonely = index.lonely(&x, candidates.data(), r_x);
    let taken = apart(&candidates, &lonely, r_x, space.options.count / GIVEN);
    let mut known = make_room(plain, taken.len());
    let mut covering = Vec::with_capacity(taken.len());
    let mut taken = taken.into_iter().peekable();
    for (at, key) in asked.into_iter().enumerate() {
        match taken.next_if_eq(&at) {
            Some(_) => covering.push(key),
            None => known.push(key),
        }
    }
    let many = known.len() as u64;
    strata.push((known, many));
    Ok(covering)
}

/// The first of the lonely rows, up to `most` of them, none within r_x of an earlier one.
fn apart(rows: &Matrix, lonely: &[bool], r_x: f64, most: usize) -> Vec<usize> {
    let mut taken: Vec<usize> = Vec::new();
    for row in (0..rows.rows()).filter(|&row| lonely[row]) {
        if taken.len() == most {
            break;
        }
        let near = |&other: &usize| f64::from(squared_distance(rows.row(row), rows.row(other)).sqrt()) <= r_x;
        if !taken.iter().any(near) {
            taken.push(row);
        }
    }
    taken
}

/// Takes away so many landmarks: always of the label that has the most, the one of the greatest hash.
fn make_room(plain: &mut [Vec<HashKey>], many: usize) -> Vec<HashKey> {
    let mut gone = Vec::with_capacity(many);
    while gone.len() < many
        && let Some(largest) = (0..plain.len()).rev().max_by_key(|&at| plain[at].len())
        && let Some(last) = plain[largest].pop()
    {
        gone.push(last);
    }
    gone
}
