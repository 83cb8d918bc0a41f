//! Names in the plot, each beside a point of its own line where nothing else is.

use super::key::LONGEST_BESIDE;
use super::{DrawnChart, WORDS};
use crate::figure::Rect;
use crate::text::width;

/// From a point to the name beside it.
const GAP: f32 = 7.0;
/// The height of a name, with the room around it.
const HIGH: f32 = 17.0;
/// Lines are avoided at steps of so much, and by so much.
const STEP: f32 = 4.0;
const CLEAR: f32 = 6.0;

/// Where the name of each series is written, or nothing if there is no room for all of them.
pub(super) fn free_places(plot: Rect, named: &[&DrawnChart]) -> Option<Vec<Rect>> {
    let mut taken: Vec<Rect> = named.iter().flat_map(|d| covered(&d.places)).collect();
    named
        .iter()
        .map(|d| {
            let mut candidates = points(&d.places)
                .flat_map(|at| around(at, width(&d.series.name).min(LONGEST_BESIDE) * WORDS));
            let free =
                candidates.find(|name| is_inside(plot, name) && !taken.iter().any(|t| t.overlaps(name)))?;
            taken.push(free);
            Some(free)
        })
        .collect()
}

/// The points in the order in which a name is looked for: the end of the line, its beginning, then backwards.
fn points(places: &[Option<[f32; 2]>]) -> impl Iterator<Item = [f32; 2]> {
    let shown: Vec<[f32; 2]> = places.iter().copied().flatten().collect();
    let last = shown.last().copied();
    let first = shown.first().copied();
    last.into_iter().chain(first).chain(shown.into_iter().rev().skip(1))
}

/// The places of a name so wide around a point: to the right, below, above, to the left, and in the corners.
fn around([x, y]: [f32; 2], wide: f32) -> [Rect; 8] {
    let (right, left, centre) = (x + GAP, x - GAP - wide, x - wide / 2.0);
    let (beside, below, above) = (y - HIGH / 2.0, y + GAP, y - GAP - HIGH);
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
