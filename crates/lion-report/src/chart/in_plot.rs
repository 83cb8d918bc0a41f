//! Names in the plot, each beside a point of its own line where nothing else is.

use super::key::LONGEST_BESIDE;
use super::{DrawnChart, WORDS};
use crate::figure::Rect;
use crate::text::width;

/// From a point to its name: beside it, or else so far away that a thin line joins them.
const GAPS: [f32; 6] = [7.0, 18.0, 30.0, 44.0, 60.0, 80.0];
/// The height of a name, with the room around it.
const HIGH: f32 = 17.0;
/// Lines are avoided at steps of so much, and by so much.
const STEP: f32 = 4.0;
const CLEAR: f32 = 6.0;

/// A name in the plot.
pub(super) struct PlacedName {
    /// Where it is written.
    pub(super) name: Rect,
    /// The line from its point to it, where that is not beside it.
    pub(super) leader: Option<[[f32; 2]; 2]>,
}

/// Where the name of each series is written, or nothing if there is no room for all of them.
pub(super) fn free_places(plot: Rect, named: &[&DrawnChart]) -> Option<Vec<PlacedName>> {
    let mut taken: Vec<Rect> = named.iter().flat_map(|d| covered(&d.places)).collect();
    let mut placed = Vec::with_capacity(named.len());
    for d in named {
        let wide = width(&d.series.name).min(LONGEST_BESIDE) * WORDS;
        let near = |gap: f32| {
            points(&d.places).flat_map(move |at| around(at, wide, gap).map(|name| (at, name, gap)))
        };
        let is_free = |name: &Rect| is_inside(plot, name) && !taken.iter().any(|other| other.overlaps(name));
        let (at, name, gap) = GAPS.into_iter().flat_map(near).find(|(_, name, _)| is_free(name))?;
        taken.push(name);
        placed.push(PlacedName { name, leader: (gap > GAPS[0]).then(|| leader(at, &name)) });
    }
    Some(placed)
}

/// From beside a point to the nearest edge of its name.
fn leader([x, y]: [f32; 2], name: &Rect) -> [[f32; 2]; 2] {
    let to = [x.clamp(name.x, name.x + name.width), y.clamp(name.y + 2.0, name.y + name.height - 2.0)];
    let share = 5.0 / (to[0] - x).hypot(to[1] - y).max(5.0);
    [[x + share * (to[0] - x), y + share * (to[1] - y)], to]
}

/// The points in the order in which a name is looked for: the end of the line, its beginning, then backwards.
fn points(places: &[Option<[f32; 2]>]) -> impl Iterator<Item = [f32; 2]> {
    let shown: Vec<[f32; 2]> = places.iter().copied().flatten().collect();
    let last = shown.last().copied();
    let first = shown.first().copied();
    last.into_iter().chain(first).chain(shown.into_iter().rev().skip(1))
}

/// The places of a name so wide around a point: to the right, below, above, to the left, and in the corners.
fn around([x, y]: [f32; 2], wide: f32, gap: f32) -> [Rect; 8] {
    let (right, left, centre) = (x + gap, x - gap - wide, x - wide / 2.0);
    let (beside, below, above) = (y - HIGH / 2.0, y + gap, y - gap - HIGH);
    let at = |x: f32, y: f32| Rect { x, y, width: wide, height: HIGH };
    [
        at(right, beside),
        at(centre, below),
        at(centre, above),
        at(left, beside),
        at(right, below),
        at(right, above),
        at(left, below),
        at(left, above),
    ]
}

/// What a line covers: little squares along it.
fn covered(places: &[Option<[f32; 2]>]) -> Vec<Rect> {
    let square =
        |[x, y]: [f32; 2]| Rect { x: x - CLEAR / 2.0, y: y - CLEAR / 2.0, width: CLEAR, height: CLEAR };
    let alone = places.iter().copied().flatten().map(square);
    let pairs = places.windows(2).filter_map(|pair| Some((pair[0]?, pair[1]?)));
    let along = pairs.flat_map(|(from, to)| {
        let steps = ((to[0] - from[0]).hypot(to[1] - from[1]) / STEP).ceil().min(1000.0) as usize;
        (0..steps).map(move |step| {
            let share = step as f32 / steps as f32;
            square([from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])])
        })
    });
    alone.chain(along).collect()
}

fn is_inside(plot: Rect, name: &Rect) -> bool {
    name.x >= plot.x
        && name.y >= plot.y
        && name.x + name.width <= plot.x + plot.width
        && name.y + name.height <= plot.y + plot.height
}
