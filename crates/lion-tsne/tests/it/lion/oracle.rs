//! Placement written down a second time: plain, slow, in f64, and without a line of the library. Rows and places are
//! vectors of numbers; every search looks at every row.

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The distance of two points.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    squared(a, b).sqrt()
}

/// The `p`th percentile, linear between order statistics.
pub(super) fn percentile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = p / 100.0 * (sorted.len() - 1) as f64;
    let (below, share) = (rank.floor() as usize, rank.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] * (1.0 - share) + sorted[above] * share
}

/// For each point, how far its nearest other point is: NN-X of rows, NN-Y of places.
pub(super) fn nearest_distances(points: &[Vec<f64>]) -> Vec<f64> {
    let others = |i: usize| (0..points.len()).filter(move |&j| j != i);
    let nearest = |i: usize| others(i).map(|j| squared(&points[i], &points[j])).fold(f64::INFINITY, f64::min);
    (0..points.len()).map(|i| nearest(i).sqrt()).collect()
}

/// Every row, the nearest first; of equally near ones the one with the lower number.
pub(super) fn by_distance(x: &[f64], rows: &[Vec<f64>]) -> Vec<usize> {
    let distances: Vec<f64> = rows.iter().map(|row| distance(x, row)).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&i, &j| distances[i].total_cmp(&distances[j]));
    order
}

/// The rows within `r_x`, the bound included, nearest first.
pub(super) fn within(x: &[f64], rows: &[Vec<f64>], r_x: f64) -> Vec<usize> {
    by_distance(x, rows).into_iter().filter(|&i| distance(x, &rows[i]) <= r_x).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OracleVerdict {
    Exact,
    Interpolated,
    BesideOutlier,
    Outlier,
}

/// The table of cases. A training row is an outlier itself if its own nearest neighbour is beyond `r_x`.
pub(super) fn verdict(x: &[f64], rows: &[Vec<f64>], nn_x: &[f64], r_x: f64) -> OracleVerdict {
    match within(x, rows, r_x).as_slice() {
        [nearest, ..] if distance(x, &rows[*nearest]) == 0.0 => OracleVerdict::Exact,
        [_, _, ..] => OracleVerdict::Interpolated,
        [single] if nn_x[*single] > r_x => OracleVerdict::BesideOutlier,
        [_] | [] => OracleVerdict::Outlier,
    }
}

/// No taper: every neighbour weighs as its distance says.
pub(super) fn flat(_distance: f64) -> f64 {
    1.0
}

/// 1 at distance 0, falling straight to 0 at `r_x`.
pub(super) fn triangle(r_x: f64) -> impl Fn(f64) -> f64 {
    move |d| (1.0 - d / r_x).max(0.0)
}

/// 1 up to half of `r_x`, then falling straight to 0 at `r_x`.
pub(super) fn trapezoid(r_x: f64) -> impl Fn(f64) -> f64 {
    move |d| (2.0 * (1.0 - d / r_x)).clamp(0.0, 1.0)
}

fn weighted_mean(places: &[Vec<f64>], which: &[usize], weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let mean = |d: usize| which.iter().zip(weights).map(|(&i, w)| w * places[i][d]).sum::<f64>() / total;
    (0..places[0].len()).map(mean).collect()
}

/// Inverse distance weighting over `neighbours`, each weight times the taper of its distance. Distances are divided by
/// the nearest first, so that no power of them overflows; neighbours at distance 0 share all the weight.
pub(super) fn idw(
    x: &[f64],
    rows: &[Vec<f64>],
    places: &[Vec<f64>],
    neighbours: &[usize],
    power: f64,
    taper: impl Fn(f64) -> f64,
) -> Vec<f64> {
    let distances: Vec<f64> = neighbours.iter().map(|&i| distance(x, &rows[i])).collect();
    let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
    let weight = |&d: &f64| match nearest == 0.0 {
        true => f64::from(u8::from(d == 0.0)),
        false => (d / nearest).powf(-power) * taper(d),
    };
    weighted_mean(places, neighbours, &distances.iter().map(weight).collect::<Vec<f64>>())
}

/// For each point the lowest number of a point that it is linked to, directly or through others; points within
/// `threshold` of each other are linked.
fn components(points: &[Vec<f64>], threshold: f64) -> Vec<usize> {
    let mut component: Vec<usize> = (0..points.len()).collect();
    loop {
        let mut changed = false;
        for i in 0..points.len() {
            for j in 0..points.len() {
                if distance(&points[i], &points[j]) <= threshold && component[j] < component[i] {
                    component[i] = component[j];
                    changed = true;
                }
            }
        }
        if !changed {
            return component;
        }
    }
}

/// The neighbours, nearest first, without the farthest ones: as many are dropped, one by one, as it takes for the
/// places of the rest to hang together. At least one stays.
pub(super) fn split_clusters(neighbours: &[usize], places: &[Vec<f64>], threshold: f64) -> Vec<usize> {
    let mut kept = neighbours.to_vec();
    let together = |kept: &[usize]| {
        let places: Vec<Vec<f64>> = kept.iter().map(|&i| places[i].clone()).collect();
        components(&places, threshold).iter().all(|&component| component == 0)
    };
    while !together(&kept) {
        kept.pop();
    }
    kept
}

/// The group of each outlier, named by its first member.
pub(super) fn groups(outliers: &[Vec<f64>], r_x: f64) -> Vec<usize> {
    components(outliers, r_x)
}

/// exp(-d²/2σ²), normalised, and the number of neighbours it amounts to: 2 to the power of its entropy in bits.
fn gaussian_weights(squared: &[f64], sigma: f64) -> (Vec<f64>, f64) {
    // Taking the nearest off every exponent changes no weight after normalising, and keeps one of them at 1.
    let nearest = squared.iter().copied().fold(f64::INFINITY, f64::min);
    let raw: Vec<f64> = squared.iter().map(|d2| (-(d2 - nearest) / (2.0 * sigma * sigma)).exp()).collect();
    let total: f64 = raw.iter().sum();
    let weights: Vec<f64> = raw.iter().map(|w| w / total).collect();
    let entropy: f64 = weights.iter().filter(|&&w| w > 0.0).map(|w| -w * w.log2()).sum();
    (weights, entropy.exp2())
}

/// The weights of rows at these squared distances, σ found by halving so that they amount to `perplexity` neighbours.
/// Where there are no more rows than that, or all are at distance 0, they weigh the same.
pub(super) fn perplexity_weights(squared: &[f64], perplexity: f64) -> Vec<f64> {
    let scale = squared.iter().copied().fold(0.0, f64::max).sqrt();
    if squared.len() as f64 <= perplexity || scale == 0.0 {
        return vec![1.0 / squared.len() as f64; squared.len()];
    }
    let (mut low, mut high) = (scale * 1e-9, scale * 1e9);
    for _ in 0..300 {
        let middle = (low * high).sqrt();
        match gaussian_weights(squared, middle).1 < perplexity {
            true => low = middle,
            false => high = middle,
        }
    }
    gaussian_weights(squared, high).0
}

/// φ(y) = Σ 1 / (1 + |y-yj|²) over all places.
pub(super) fn potential(y: &[f64], places: &[Vec<f64>]) -> f64 {
    places.iter().map(|place| 1.0 / (1.0 + distance(y, place).powi(2))).sum()
}

/// N / Z, where Z is the sum of 1 / (1 + |yi-yj|²) over all pairs, both ways round.
pub(super) fn repulsion(places: &[Vec<f64>]) -> f64 {
    let z: f64 = places.iter().map(|place| potential(place, places) - 1.0).sum();
    places.len() as f64 / z
}

/// The share of that repulsion which the attraction at the map's own places is in balance with, by least squares, at most 1.
pub(super) fn balance(rows: &[Vec<f64>], places: &[Vec<f64>], perplexity: f64) -> f64 {
    let strength = repulsion(places);
    let (mut both, mut pushes) = (0.0, 0.0);
    for (i, y) in places.iter().enumerate() {
        let others = |all: &[Vec<f64>]| [&all[..i], &all[i + 1..]].concat();
        let (rows_but_one, places_but_one) = (others(rows), others(places));
        let energy = OracleEnergy::new(&rows[i], &rows_but_one, &places_but_one, perplexity);
        let pull = energy.slope(y);
        let pushed = energy.repelled(strength).slope(y);
        let push: Vec<f64> = pull.iter().zip(&pushed).map(|(pull, both)| pull - both).collect();
        both += pull.iter().zip(&push).map(|(a, b)| a * b).sum::<f64>();
        pushes += push.iter().map(|v| v * v).sum::<f64>();
    }
    (both / pushes).min(1.0)
}

/// What x pays at a place: F(y) = Σ p(i|x) log(1 + |y-yi|²) over its nearest rows, and `strength` times φ(y).
pub(super) struct OracleEnergy<'a> {
    places: &'a [Vec<f64>],
    nearest: Vec<usize>,
    weights: Vec<f64>,
    strength: f64,
}

impl<'a> OracleEnergy<'a> {
    pub(super) fn new(x: &[f64], rows: &[Vec<f64>], places: &'a [Vec<f64>], perplexity: f64) -> Self {
        let mut nearest = by_distance(x, rows);
        nearest.truncate((3.0 * perplexity).ceil() as usize);
        let squared: Vec<f64> = nearest.iter().map(|&i| distance(x, &rows[i]).powi(2)).collect();
        Self { places, weights: perplexity_weights(&squared, perplexity), nearest, strength: 0.0 }
    }

    /// The same with the repulsion of all places.
    pub(super) fn repelled(self, strength: f64) -> Self {
        Self { strength, ..self }
    }

    pub(super) fn at(&self, y: &[f64]) -> f64 {
        let cost = |(&i, p): (&usize, &f64)| p * distance(y, &self.places[i]).powi(2).ln_1p();
        let attraction: f64 = self.nearest.iter().zip(&self.weights).map(cost).sum();
        if self.strength == 0.0 { attraction } else { attraction + self.strength * potential(y, self.places) }
    }

    /// Half of the gradient.
    pub(super) fn slope(&self, y: &[f64]) -> Vec<f64> {
        let along = |d: usize| {
            let pull = |(&i, p): (&usize, &f64)| {
                p * (y[d] - self.places[i][d]) / (1.0 + distance(y, &self.places[i]).powi(2))
            };
            let push = |place: &Vec<f64>| (y[d] - place[d]) / (1.0 + distance(y, place).powi(2)).powi(2);
            let pulled: f64 = self.nearest.iter().zip(&self.weights).map(pull).sum();
            pulled - self.strength * self.places.iter().map(push).sum::<f64>()
        };
        (0..y.len()).map(along).collect()
    }

    /// Downhill along the gradient, in steps that are short beside the kernel and that never go up.
    fn descent(&self) -> Vec<f64> {
        let (mut y, mut rate) = (self.start(), 1.0);
        for _ in 0..20_000 {
            let slope = self.slope(&y);
            let length = slope.iter().map(|v| v * v).sum::<f64>().sqrt();
            let rate_now = f64::min(rate, 0.2 / length);
            let next: Vec<f64> = y.iter().zip(&slope).map(|(v, s)| v - rate_now * s).collect();
            if rate_now * length <= 1e-9 {
                break;
            }
            match self.at(&next) <= self.at(&y) {
                true => (y, rate) = (next, 1.5 * rate_now),
                false => rate = 0.5 * rate_now,
            }
        }
        y
    }

    /// The places of the ten nearest.
    pub(super) fn starts(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.nearest.iter().take(10).map(|&i| &self.places[i])
    }

    /// That one of them which costs least.
    fn start(&self) -> Vec<f64> {
        self.starts().min_by(|a, b| self.at(a).total_cmp(&self.at(b))).expect("a row").clone()
    }

    /// From there downhill to where it ends.
    pub(super) fn place(&self) -> Vec<f64> {
        if self.strength > 0.0 {
            return self.descent();
        }
        let mut y = self.start();
        for _ in 0..1_000_000 {
            let weight = |(&i, p): (&usize, &f64)| p / (1.0 + distance(&y, &self.places[i]).powi(2));
            let weights: Vec<f64> = self.nearest.iter().zip(&self.weights).map(weight).collect();
            let next = weighted_mean(self.places, &self.nearest, &weights);
            let step = distance(&y, &next);
            y = next;
            if step <= 1e-12 {
                break;
            }
        }
        y
    }
}

/// The place of x by the rule attraction.
pub(super) fn attraction(x: &[f64], rows: &[Vec<f64>], places: &[Vec<f64>], perplexity: f64) -> Vec<f64> {
    OracleEnergy::new(x, rows, places, perplexity).place()
}

/// Leave-one-out: the mean of |estimate - yi|² over the rows with at least two neighbours.
pub(super) fn cv_error(rows: &[Vec<f64>], places: &[Vec<f64>], r_x: f64, power: f64) -> f64 {
    let mut errors = Vec::new();
    for (i, (x, y)) in rows.iter().zip(places).enumerate() {
        let mut neighbours = within(x, rows, r_x);
        neighbours.retain(|&j| j != i);
        if neighbours.len() >= 2 {
            errors.push(distance(&idw(x, rows, places, &neighbours, power, flat), y).powi(2));
        }
    }
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// The share of `values` that are at least `value`. Of NN-X and the distance to the nearest row it is the score; of
/// residuals it is the share off the plane.
pub(super) fn share_at_least(values: &[f64], value: f64) -> f64 {
    values.iter().filter(|&&v| v >= value).count() as f64 / values.len() as f64
}

/// How far a row sticks out of the plane through `mean` along orthonormal `components`.
pub(super) fn residual(row: &[f64], mean: &[f64], components: &[Vec<f64>]) -> f64 {
    let mut rest: Vec<f64> = row.iter().zip(mean).map(|(v, m)| v - m).collect();
    for component in components {
        let along: f64 = rest.iter().zip(component).map(|(a, b)| a * b).sum();
        rest.iter_mut().zip(component).for_each(|(v, c)| *v -= along * c);
    }
    rest.iter().map(|v| v * v).sum::<f64>().sqrt()
}
