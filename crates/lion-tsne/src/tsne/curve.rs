//! A space-filling curve (Morton 1966, A Computer Oriented Geodetic Data Base): places near each other on it are near
//! each other on the map.

use rayon::prelude::*;

/// Bits of the position for each dimension.
pub(super) const fn bits<const D: usize>() -> u32 {
    63 / D as u32
}

/// Position on the curve and number of each row, sorted.
pub(super) fn curve_order<const D: usize>(y: &[[f32; D]]) -> Vec<(u64, u32)> {
    let (low, side) = extent(y);
    let last = (1u64 << bits::<D>()) - 1;
    let scale = (last + 1) as f64 / f64::from(side.max(f32::MIN_POSITIVE));
    let mut order: Vec<(u64, u32)> = y
        .par_iter()
        .enumerate()
        .map(|(row, place)| {
            let steps = std::array::from_fn(|d| ((f64::from(place[d] - low[d]) * scale) as u64).min(last));
            (interleave::<D>(steps), row as u32)
        })
        .collect();
    order.par_sort_unstable();
    order
}

/// The lowest corner of the places and their widest side.
pub(super) fn extent<const D: usize>(y: &[[f32; D]]) -> ([f32; D], f32) {
    let mut low = [f32::INFINITY; D];
    let mut high = [f32::NEG_INFINITY; D];
    for place in y {
        for d in 0..D {
            low[d] = low[d].min(place[d]);
            high[d] = high[d].max(place[d]);
        }
    }
    (low, (0..D).map(|d| high[d] - low[d]).fold(0.0, f32::max))
}

/// The bits of all dimensions in turn, highest first.
fn interleave<const D: usize>(steps: [u64; D]) -> u64 {
    let mut code = 0;
    for bit in (0..bits::<D>()).rev() {
        for step in steps {
            code = code << 1 | (step >> bit & 1);
        }
    }
    code
}
