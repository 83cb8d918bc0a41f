//! What is drawn over what: the map's own points, then those placed into it, the strangest on top.

use crate::palette::{self, Rgb};
use crate::{Mark, Scatter};

/// The outline of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkShape {
    Disc,
    /// A square on its corner.
    Diamond,
}

/// Points that are drawn alike, in units of a figure 760 wide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FigureLayer {
    /// None for the map itself.
    pub(crate) mark: Option<Mark>,
    pub(crate) count: usize,
    pub(crate) shape: MarkShape,
    /// From the middle to the middle of an edge.
    pub(crate) radius: f32,
    pub(crate) opacity: f32,
    /// The width of the line around a point, half of it within the radius; 0 for none.
    pub(crate) rim: f32,
}

impl FigureLayer {
    /// The layers that a map has, lowest first. The first is always the map itself, and each other holds a point.
    pub(crate) fn of(map: &Scatter) -> Vec<FigureLayer> {
        let n = map.len();
        let calm = if map.newcomers().is_some() { 0.85 } else { 1.0 };
        let own = FigureLayer {
            mark: None,
            count: n,
            shape: MarkShape::Disc,
            radius: calm * radius(n),
            opacity: opacity(n),
            rim: 0.0,
        };
        let mut layers = vec![own];
        if let Some(placed) = map.newcomers() {
            let counts = Mark::ALL.map(|mark| (mark, placed.count(mark)));
            let sum = |warns| counts.iter().filter(|(m, _)| m.warns() == warns).map(|(_, n)| n).sum();
            let (disc, diamond) = (placed_radius(sum(false)).max(own.radius), diamond_radius(sum(true)));
            let layer = |(mark, count)| FigureLayer::placed(mark, count, disc, diamond);
            layers.extend(counts.into_iter().filter(|(_, count)| *count > 0).map(layer));
        }
        layers
    }

    fn placed(mark: Mark, count: usize, disc: f32, diamond: f32) -> FigureLayer {
        let (shape, whole) =
            if mark.warns() { (MarkShape::Diamond, diamond) } else { (MarkShape::Disc, disc) };
        let radius = whole * mark.size();
        // The smaller a disc, the thinner its line even beside its radius, or a crowd would be all lines.
        let rim = if mark.warns() { 1.5 } else { (0.085 * radius * radius).min(1.0) };
        FigureLayer { mark: Some(mark), count, shape, radius, opacity: 1.0, rim }
    }

    /// Its name in legends and tooltips.
    pub(crate) fn name(&self) -> &'static str {
        self.mark.map_or("map", Mark::name)
    }

    /// The colour of the line around its points on white paper: dark around a disc, so that it stands out from the
    /// pale ones below; of the paper around a diamond, whose colour is strong enough.
    pub(crate) fn edge(&self) -> Rgb {
        match self.shape {
            MarkShape::Disc => palette::INK,
            MarkShape::Diamond => palette::WHITE,
        }
    }
}

/// The radius of the map's own points: the more there are, the smaller.
fn radius(n: usize) -> f32 {
    (2.7 * (2500.0 / n as f32).cbrt()).clamp(0.35, 6.0)
}

/// Their opacity: the more there are, the more of what lies below shows through.
fn opacity(n: usize) -> f32 {
    (0.85 * (2500.0 / n as f32).powf(0.12)).clamp(0.3, 0.9)
}

/// The radius of points placed among those of the map.
fn placed_radius(n: usize) -> f32 {
    (3.1 * (1000.0 / n.max(1) as f32).powf(0.28)).clamp(0.9, 4.4)
}

/// The radius of outliers: never so small that one could be overlooked.
fn diamond_radius(n: usize) -> f32 {
    (5.2 * (100.0 / n.max(1) as f32).powf(0.25)).clamp(2.6, 5.8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Placed;

    #[test]
    fn placed_points_are_larger_than_those_of_the_map_whatever_their_numbers() {
        for own in [1, 100, 2500, 60_000] {
            for new in [1, 1000, 100_000] {
                let points = vec![0.0; own * 2];
                let marks: Vec<Mark> = (0..new).map(|i| Mark::ALL[4 - i % 5]).collect();
                let coordinates = vec![0.0; new * 2];
                let map = Scatter::new(2, &points).placed(Placed::new(&coordinates, &marks));
                let layers = FigureLayer::of(&map);
                assert_eq!(layers.len(), 1 + new.min(5));
                assert_eq!(layers.iter().map(|layer| layer.count).sum::<usize>(), own + new);
                let radius = |mark| layers.iter().find(|layer| layer.mark == mark).map(|layer| layer.radius);
                let interpolated = radius(Some(Mark::Interpolated)).unwrap_or(f32::INFINITY);
                assert!(radius(None).unwrap() <= interpolated, "{own} and {new}");
                assert!(radius(Some(Mark::Outlier)).unwrap() >= 2.6);
            }
        }
    }

    #[test]
    fn a_map_alone_is_one_layer_as_it_was_before_any_were_placed() {
        let map = Scatter::new(2, &[0.0; 20]);
        let none = map.placed(Placed::new(&[], &[]));
        assert_eq!(FigureLayer::of(&map), FigureLayer::of(&none));
        assert_eq!(FigureLayer::of(&map).len(), 1);
    }
}
