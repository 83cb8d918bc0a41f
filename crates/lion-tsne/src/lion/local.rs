//! Where a row with neighbours goes: the rules, the paper's inverse-distance weighting, and what the neighbours weigh.
//! The rules of least energy, ours, are in `descent`. Inverse-distance weighting is of Shepard 1968, A Two-Dimensional
//! Interpolation Function for Irregularly-Spaced Data; local and with tapers as in Boytsov et al. 2017, LION-tSNE.

use crate::matrix::Matrix;

/// The rule by which a row with neighbours gets its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Local {
    /// Where t-SNE's energy of the row is least: the neighbours attract it, and all places of the map repel it. Never
    /// between clusters, and as far from other places as the map's own rows are.
    #[default]
    Energy,
    /// The same without the repulsion: the row goes to the middle of its neighbours.
    Attraction,
    /// The paper's: the neighbours' places weighted by distance to the power -p.
    Idw,
}

/// A factor that falls to 0 at the radius, so that places change without a jump as neighbours come and go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taper {
    /// No such factor.
    #[default]
    None,
    /// Falls from 1 at distance 0.
    Triangle,
    /// Falls from 1 at half the radius.
    Trapezoid,
}

crate::named!(Local, "local": Energy = "energy", Attraction = "attraction", Idw = "idw");
crate::named!(Taper, "taper": None = "none", Triangle = "triangle", Trapezoid = "trapezoid");

impl Taper {
    /// The factor at a distance.
    pub(crate) fn at(self, distance: f64, radius: f64) -> f64 {
        let left = (1.0 - distance / radius).max(0.0);
        match self {
            Self::None => 1.0,
            Self::Triangle => left,
            Self::Trapezoid => (2.0 * left).min(1.0),
        }
    }
}

/// Weights below this share of the largest are beyond the precision of a place: neighbours that far are not read.
const LEAST_WEIGHT: f64 = 1e-9;

/// A row's neighbours: squared distances and rows, nearest first.
pub(crate) type Neighbourhood<'a> = &'a [(f32, u32)];

/// How far neighbours matter to `idw`, given the nearest one.
pub(crate) fn idw_reach(nearest: f64, power: f64) -> f64 {
    nearest * LEAST_WEIGHT.powf(-1.0 / power)
}

/// wi = |x - xi|^-p, tapered where that leaves any weight; the nearest neighbour weighs 1 before the taper.
pub(crate) fn idw_weights(near: Neighbourhood<'_>, power: f64, taper: Taper, radius: f64) -> Vec<f64> {
    let nearest2 = f64::from(near.first().map_or(0.0, |(distance2, _)| *distance2));
    // Divided by the nearest distance first: no power of a distance can overflow then.
    let weight = |distance2: f32| match nearest2 > 0.0 {
        true => (nearest2 / f64::from(distance2)).powf(0.5 * power),
        false => f64::from(u8::from(distance2 == 0.0)),
    };
    let tapered = |distance2: f32| weight(distance2) * taper.at(f64::from(distance2).sqrt(), radius);
    let weights: Vec<f64> = near.iter().map(|&(distance2, _)| tapered(distance2)).collect();
    match weights.iter().sum::<f64>() > 0.0 {
        true => weights,
        false => near.iter().map(|&(distance2, _)| weight(distance2)).collect(),
    }
}

/// Σ wi yi / Σ wi.
pub(crate) fn idw(near: Neighbourhood<'_>, y: &Matrix, weights: &[f64]) -> [f64; 3] {
    let (mut total, mut sums) = (0.0, [0.0; 3]);
    for (&(_, row), weight) in near.iter().zip(weights) {
        total += weight;
        let place = y.row(row as usize);
        sums.iter_mut().zip(place).for_each(|(sum, &v)| *sum += weight * f64::from(v));
    }
    if total > 0.0 { sums.map(|sum| sum / total) } else { [0.0; 3] }
}

/// Every pair of neighbours is looked at for that, so only so many of them, the nearest.
const MOST_LINKED: usize = 1000;

/// The longest run of neighbours, nearest first, whose places hang together when those within `link` of each other are
/// linked. Neighbours in a cluster that has nothing to do with the row's own fall away; so do those beyond the nearest
/// 1000.
pub(crate) fn of_one_cluster<'a>(near: Neighbourhood<'a>, y: &Matrix, link: f64) -> Neighbourhood<'a> {
    let near = &near[..near.len().min(MOST_LINKED)];
    let mut root: Vec<usize> = (0..near.len()).collect();
    let (mut clusters, mut longest) = (0, near.len().min(1));
    for new in 0..near.len() {
        clusters += 1;
        let place = y.row(near[new].1 as usize);
        for old in 0..new {
            let other = y.row(near[old].1 as usize);
            let distance2: f64 = place.iter().zip(other).map(|(a, b)| f64::from(a - b).powi(2)).sum();
            if distance2 <= link * link {
                let (a, b) = (find(&mut root, new), find(&mut root, old));
                clusters -= usize::from(a != b);
                root[a] = b;
            }
        }
        if clusters == 1 {
            longest = new + 1;
        }
    }
    &near[..longest]
}

fn find(root: &mut [usize], mut at: usize) -> usize {
    while root[at] != at {
        root[at] = root[root[at]];
        at = root[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tapers_end_at_the_radius() {
        for taper in [Taper::Triangle, Taper::Trapezoid] {
            assert_eq!((taper.at(0.0, 2.0), taper.at(2.0, 2.0), taper.at(3.0, 2.0)), (1.0, 0.0, 0.0));
        }
        assert_eq!((Taper::Triangle.at(1.0, 2.0), Taper::Trapezoid.at(1.0, 2.0)), (0.5, 1.0));
    }

    #[test]
    fn a_cluster_is_a_run_that_hangs_together() {
        let y = Matrix::new(5, 2, vec![0.0, 0.0, 1.0, 0.0, 9.0, 0.0, 2.0, 0.0, 9.5, 0.0]).unwrap();
        let near = [(1.0, 0), (2.0, 1), (3.0, 2), (4.0, 3), (5.0, 4)];
        assert_eq!(of_one_cluster(&near, &y, 1.5).len(), 2);
        assert_eq!(of_one_cluster(&near, &y, 100.0).len(), 5);
        // A place farther on may link what hung apart.
        assert_eq!(of_one_cluster(&near, &y, 7.0).len(), 5);
        assert_eq!(of_one_cluster(&near[..1], &y, 1.0).len(), 1);
        assert_eq!(of_one_cluster(&[], &y, 1.0).len(), 0);
    }
}
