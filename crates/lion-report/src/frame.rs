//! From the map's coordinates to a flat, unit-free view of them.

use crate::Scatter;

/// The turn about the vertical axis and the tilt towards the viewer, in radians, from which a 3-D map is first
/// seen; the same in the still pictures and in the page.
pub(crate) const YAW: f64 = 0.6;
pub(crate) const PITCH: f64 = 0.4;

/// The points centred on the middle of their bounding box and divided by half its longest side, so that all lie in
/// [-1, 1]: the map's own, then those placed into it; still n x dims. Computed in f64: the span of finite f32 need not
/// be finite in f32.
pub(crate) fn normalise(map: &Scatter) -> Vec<f32> {
    let dims = map.dims;
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for (at, value) in map.coordinates().enumerate() {
        let (axis, value) = (at % dims, f64::from(value));
        low[axis] = low[axis].min(value);
        high[axis] = high[axis].max(value);
    }
    let half = (0..dims).map(|axis| (high[axis] - low[axis]) / 2.0).fold(0.0, f64::max);
    // All points equal: any scale will do, they sit in the middle.
    let scale = if half > 0.0 { 1.0 / half } else { 1.0 };
    let centre = |axis: usize| (low[axis] + high[axis]) / 2.0;
    map.coordinates()
        .enumerate()
        .map(|(at, value)| ((f64::from(value) - centre(at % dims)) * scale) as f32)
        .collect()
}

/// The flat view: x to the right, y up, and for a 3-D map a depth from 0 (nearest) to 1 (farthest).
pub(crate) struct FlatView {
    pub(crate) xy: Vec<[f32; 2]>,
    /// Empty for a 2-D map.
    pub(crate) depth: Vec<f32>,
    /// Half the width and half the height of what there is to see, both centred on 0.
    pub(crate) half: [f32; 2],
}

/// Looks at a map: straight on in 2-D, orthographically and obliquely in 3-D.
pub(crate) fn view(map: &Scatter) -> FlatView {
    let unit = normalise(map);
    let (mut xy, depth): (Vec<_>, Vec<_>) = if map.dims == 3 {
        unit.chunks_exact(3).map(|p| turn([p[0], p[1], p[2]])).unzip()
    } else {
        (unit.chunks_exact(2).map(|p| [p[0], p[1]]).collect(), Vec::new())
    };
    let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
    for p in &xy {
        for axis in 0..2 {
            low[axis] = low[axis].min(p[axis]);
            high[axis] = high[axis].max(p[axis]);
        }
    }
    for p in &mut xy {
        for axis in 0..2 {
            p[axis] -= (low[axis] + high[axis]) / 2.0;
        }
    }
    FlatView { xy, depth: spread(depth), half: [0, 1].map(|axis| (high[axis] - low[axis]) / 2.0) }
}

/// Yaw about y, then pitch about x; the page's `turn` does the same.
fn turn([x, y, z]: [f32; 3]) -> ([f32; 2], f32) {
    let (sin_yaw, cos_yaw) = (YAW as f32).sin_cos();
    let (sin_pitch, cos_pitch) = (PITCH as f32).sin_cos();
    let (right, away) = (cos_yaw * x + sin_yaw * z, cos_yaw * z - sin_yaw * x);
    ([right, cos_pitch * y - sin_pitch * away], -(sin_pitch * y + cos_pitch * away))
}

/// Stretches depths over [0, 1]; all equal means all nearest.
fn spread(mut depth: Vec<f32>) -> Vec<f32> {
    let low = depth.iter().copied().fold(f32::INFINITY, f32::min);
    let high = depth.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let scale = if high > low { 1.0 / (high - low) } else { 0.0 };
    depth.iter_mut().for_each(|d| *d = (*d - low) * scale);
    depth
}

/// The order in which to draw: shuffled, so that no class hides another, but always the same; in 3-D the farthest
/// first, as painters do.
pub(crate) fn draw_order(view: &FlatView) -> Vec<u32> {
    let mut order: Vec<u32> = (0..view.xy.len() as u32).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..order.len()).rev() {
        // xorshift64*: enough to mix, and the same everywhere.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let random = state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        order.swap(last, ((random * (last as u64 + 1)) >> 32) as usize);
    }
    if !view.depth.is_empty() {
        order.sort_by(|&a, &b| view.depth[b as usize].total_cmp(&view.depth[a as usize]));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_finite_numbers_fit_the_unit_square() {
        let points = [f32::MAX, f32::MIN, f32::MIN, f32::MAX];
        assert_eq!(normalise(&Scatter::new(2, &points)), [1.0, -1.0, -1.0, 1.0]);
    }

    #[test]
    fn equal_points_sit_in_the_middle() {
        let view = view(&Scatter::new(3, &[7.0; 9]));
        assert_eq!(view.xy, [[0.0, 0.0]; 3]);
        assert_eq!(view.depth, [0.0; 3]);
    }

    #[test]
    fn every_point_is_drawn_once_and_not_in_row_order() {
        let points: Vec<f32> = (0..2000).map(|i| i as f32).collect();
        let mut order = draw_order(&view(&Scatter::new(2, &points)));
        assert!(order.iter().take(100).filter(|&&i| i < 500).count() < 75);
        order.sort_unstable();
        assert!(order.iter().enumerate().all(|(at, &i)| at == i as usize));
    }
}
