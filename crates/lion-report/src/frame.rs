//! From the map's coordinates to a flat, unit-free view of them.

use crate::Scatter;
use crate::text::number;

/// The turn about the vertical axis and the tilt towards the viewer, in radians, from which a 3-D map is first
/// seen; the same in the still pictures and in the page.
pub(crate) const YAW: f64 = 0.6;
pub(crate) const PITCH: f64 = 0.4;

/// How far beyond the map placed points may reach, as a share of half its size. Beyond it they would take the room that the
/// map needs.
const ROOM_BEYOND: f64 = 0.35;
/// The shortest side of the map's box beside its longest: a map on a line has no other.
const LEAST_SIDE: f64 = 0.25;

/// A break in scale: what lies beyond the map's own box is drawn nearer to it than it is, so that outliers far away do not
/// take most of the picture.
pub(crate) struct ScaleBreak {
    centre: [f64; 3],
    half: [f64; 3],
    /// What distances from the box are multiplied by.
    factor: f64,
}

impl ScaleBreak {
    /// None where all that was placed is near enough.
    pub(crate) fn of(map: &Scatter) -> Option<Self> {
        let placed = map.newcomers()?;
        let (centre, half) = box_of(map.dims, map.points.iter().copied().map(f64::from));
        let longest = half.iter().copied().fold(0.0, f64::max);
        let half = half.map(|side| side.max(LEAST_SIDE * longest));
        let broken = Self { centre, half, factor: 1.0 };
        let farthest =
            placed.points.chunks_exact(map.dims).map(|place| broken.reach(place)).fold(0.0, f64::max);
        let is_far = longest > 0.0 && farthest.is_finite() && farthest > 1.0 + ROOM_BEYOND;
        is_far.then(|| Self { factor: ROOM_BEYOND / (farthest - 1.0), ..broken })
    }

    /// How far out a place is: 1 on the edge of the box.
    fn reach(&self, place: &[f32]) -> f64 {
        let axis = |(d, &at): (usize, &f32)| (f64::from(at) - self.centre[d]).abs() / self.half[d];
        place.iter().enumerate().map(axis).fold(0.0, f64::max)
    }

    /// Where a place is drawn, in units of the map.
    fn drawn(&self, place: &[f32]) -> [f64; 3] {
        let reach = self.reach(place);
        let share = if reach > 1.0 { (1.0 + (reach - 1.0) * self.factor) / reach } else { 1.0 };
        let mut drawn = [0.0; 3];
        for (d, &at) in place.iter().enumerate() {
            drawn[d] = self.centre[d] + (f64::from(at) - self.centre[d]) * share;
        }
        drawn
    }

    /// What the reader is told.
    pub(crate) fn note(&self) -> String {
        format!("beyond the dashed line {} times nearer", number((1.0 / self.factor * 10.0).round() / 10.0))
    }

    /// The lower left and the upper right corner of the box of a flat map, as [`normalise`] has them.
    pub(crate) fn corners(&self, map: &Scatter) -> Option<[[f32; 2]; 2]> {
        let (centre, scale) = unit(map, Some(self));
        let corner =
            |side: f64| [0, 1].map(|d| ((self.centre[d] + side * self.half[d] - centre[d]) * scale) as f32);
        (map.dims == 2).then(|| [corner(-1.0), corner(1.0)])
    }
}

/// The middle of the bounding box of coordinates and half of each of its sides.
fn box_of(dims: usize, coordinates: impl Iterator<Item = f64>) -> ([f64; 3], [f64; 3]) {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for (at, value) in coordinates.enumerate() {
        let axis = at % dims;
        low[axis] = low[axis].min(value);
        high[axis] = high[axis].max(value);
    }
    let of =
        |value: fn(f64, f64) -> f64| [0, 1, 2].map(|d| if d < dims { value(low[d], high[d]) } else { 0.0 });
    (of(|low, high| (low + high) / 2.0), of(|low, high| (high - low) / 2.0))
}

/// Every coordinate there is to see, as it is drawn.
fn drawn<'a>(map: &'a Scatter, broken: Option<&'a ScaleBreak>) -> impl Iterator<Item = f64> + 'a {
    let placed = map.placed.map_or(&[][..], |placed| placed.points);
    let drawn = placed.chunks_exact(map.dims).flat_map(move |place| {
        let plain = || {
            let mut plain = [0.0; 3];
            place.iter().enumerate().for_each(|(d, &at)| plain[d] = f64::from(at));
            plain
        };
        broken.map_or_else(plain, |broken| broken.drawn(place)).into_iter().take(map.dims)
    });
    map.points.iter().copied().map(f64::from).chain(drawn)
}

/// The middle of what there is to see, and what makes half of its longest side 1.
fn unit(map: &Scatter, broken: Option<&ScaleBreak>) -> ([f64; 3], f64) {
    let (centre, half) = box_of(map.dims, drawn(map, broken));
    let longest = half.into_iter().fold(0.0, f64::max);
    // All points equal: any scale will do, they sit in the middle.
    (centre, if longest > 0.0 { 1.0 / longest } else { 1.0 })
}

/// The points centred on the middle of their bounding box and divided by half its longest side, so that all lie in
/// [-1, 1]: the map's own, then those placed into it, which may be drawn nearer than they are ([`ScaleBreak`]); still
/// n x dims. Computed in f64: the span of finite f32 need not be finite in f32.
pub(crate) fn normalise(map: &Scatter) -> Vec<f32> {
    let broken = ScaleBreak::of(map);
    let (centre, scale) = unit(map, broken.as_ref());
    let all = drawn(map, broken.as_ref()).enumerate();
    all.map(|(at, value)| ((value - centre[at % map.dims]) * scale) as f32).collect()
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
    fn outliers_far_away_leave_most_of_the_picture_to_the_map() {
        use crate::{Mark, Placed};
        let points = [0.0, 0.0, 2.0, 2.0];
        let map = Scatter::new(2, &points);
        let marks = [Mark::Outlier; 2];
        let near = [2.2, 1.0, 1.0, 1.0];
        assert!(ScaleBreak::of(&map.placed(Placed::new(&near, &marks))).is_none());
        // The farther of two is still the farther, both are in the same direction, and the map has 1 / 1.35 of the width.
        let far = [11.0, 1.0, 21.0, 1.0];
        let map = map.placed(Placed::new(&far, &marks));
        let unit = normalise(&map);
        let width = |a: usize, b: usize| unit[2 * b] - unit[2 * a];
        assert!((width(0, 1) / width(0, 3) - 2.0 / 2.35).abs() < 1e-5, "{unit:?}");
        assert!(unit[4] > unit[2] && unit[6] > unit[4] && unit[5] == unit[7]);
        let broken = ScaleBreak::of(&map).unwrap();
        assert_eq!(broken.note(), "beyond the dashed line 54.3 times nearer");
        assert_eq!(broken.corners(&map), Some([[unit[0], unit[1]], [unit[2], unit[3]]]));
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
