//! Letters, drawn as the digits of MNIST were written: images of another kind that are not noise.
//!
//! Ours. The format of the images is that of LeCun, Bottou, Bengio and Haffner (1998), "Gradient-based learning
//! applied to document recognition".

use lion_tsne::Matrix;
use lion_tsne::numerics::Random;
use rayon::prelude::*;

/// An image has so many pixels each way.
const SIDE: usize = 28;
/// Where MNIST has a digit's centre of mass, half a pixel more or less.
const MIDDLE: f64 = 14.0;
/// MNIST fits its digits into a box of so many.
const BOX: f64 = 20.0;
/// Half the width of the edge from ink to paper, in pixels.
const EDGE: f64 = 0.7;
/// Half the width of the stroke, in pixels: mean and deviation, and the least and most.
const PEN: [f64; 4] = [1.25, 0.28, 0.75, 2.0];
/// A stroke's points are so far apart at most, in units of the letter's height.
const STEP: f64 = 0.12;

type StrokePoint = [f64; 2];

/// Capital letters that no digit looks like, as strokes through points: across and down, from 0 to 1. Before the
/// strokes, how wide the letter is for its height.
#[rustfmt::skip]
const LETTERS: [(f64, &[&[StrokePoint]]); 11] = [
    (0.85, &[&[[0.5, 0.0], [0.0, 1.0]], &[[0.5, 0.0], [1.0, 1.0]], &[[0.2, 0.62], [0.8, 0.62]]]),                   // A
    (0.70, &[&[[0.0, 0.0], [0.0, 1.0]], &[[0.0, 0.0], [0.95, 0.0]], &[[0.0, 0.48], [0.75, 0.48]],
             &[[0.0, 1.0], [1.0, 1.0]]]),                                                                           // E
    (0.70, &[&[[0.0, 0.0], [0.0, 1.0]], &[[0.0, 0.0], [1.0, 0.0]], &[[0.0, 0.48], [0.75, 0.48]]]),                  // F
    (0.80, &[&[[0.0, 0.0], [0.0, 1.0]], &[[1.0, 0.0], [1.0, 1.0]], &[[0.0, 0.5], [1.0, 0.5]]]),                     // H
    (0.75, &[&[[0.0, 0.0], [0.0, 1.0]], &[[0.9, 0.0], [0.05, 0.58]], &[[0.3, 0.42], [1.0, 1.0]]]),                  // K
    (1.05, &[&[[0.0, 1.0], [0.08, 0.0], [0.5, 0.7], [0.92, 0.0], [1.0, 1.0]]]),                                     // M
    (0.85, &[&[[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]]),                                                   // N
    (0.75, &[&[[0.0, 0.0], [0.0, 1.0]],
             &[[0.0, 0.03], [0.45, 0.0], [0.75, 0.08], [0.85, 0.25], [0.75, 0.43], [0.45, 0.52], [0.0, 0.55]],
             &[[0.35, 0.52], [1.0, 1.0]]]),                                                                         // R
    (0.85, &[&[[0.0, 0.0], [0.5, 1.0], [1.0, 0.0]]]),                                                               // V
    (1.15, &[&[[0.0, 0.0], [0.27, 1.0], [0.5, 0.3], [0.73, 1.0], [1.0, 0.0]]]),                                     // W
    (0.85, &[&[[0.0, 0.0], [1.0, 1.0]], &[[1.0, 0.0], [0.0, 1.0]]]),                                                // X
];

/// Images of handwritten capital letters that no digit looks like (A E F H K M N R V W X): 28 x 28 pixels in a row of
/// 784, from 0 (black) to 1, in the size, the pen and the position of MNIST's digits. Strangers to a map of digits that a
/// look at single pixels does not give away, as it does noise. Fewer of the same seed are the first of more.
pub fn letters(count: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let seeds: Vec<u64> = (0..count).map(|_| random.bits()).collect();
    let pixels = seeds.into_par_iter().flat_map_iter(|seed| letter(&mut Random::new(seed)));
    Matrix::from_rows(SIDE * SIDE, pixels.collect())
}

/// One letter: written, fitted into the box, and put where its ink is centred.
fn letter(random: &mut Random) -> Vec<f32> {
    let (width, strokes) = LETTERS[random.below(LETTERS.len())];
    let hand = Hand::new(width, random);
    let mut strokes: Vec<Vec<StrokePoint>> =
        strokes.iter().map(|stroke| hand.write(stroke, random)).collect();
    let [mean, deviation, least, most] = PEN;
    let pen = (mean + deviation * random.gaussian()).clamp(least, most);
    fit(&mut strokes, BOX - 2.0 * pen - 1.5 * EDGE);
    let mass = centre_of_mass(&draw(&strokes, pen));
    // MNIST's digits were moved by whole pixels.
    let slack = [random.uniform() - 0.5, random.uniform() - 0.5];
    for point in strokes.iter_mut().flatten() {
        (0..2).for_each(|axis| point[axis] += MIDDLE - mass[axis] + slack[axis]);
    }
    // MNIST has 256 greys.
    draw(&strokes, pen).into_iter().map(|ink| ((255.0 * ink).round() / 255.0) as f32).collect()
}

/// How somebody writes: the same for all strokes of a letter.
struct Hand {
    width: f64,
    slant: f64,
    /// Sine and cosine.
    turn: (f64, f64),
    /// How far points are from where they should be.
    wobble: f64,
}

impl Hand {
    fn new(width: f64, random: &mut Random) -> Self {
        Self {
            width: width * (0.65 + 0.4 * random.uniform()),
            slant: (0.15 + 0.2 * random.gaussian()).clamp(-0.3, 0.6),
            turn: (0.08 * random.gaussian()).clamp(-0.2, 0.2).sin_cos(),
            wobble: 0.02 + 0.045 * random.uniform(),
        }
    }

    /// A stroke through these points as it comes out.
    fn write(&self, stroke: &[StrokePoint], random: &mut Random) -> Vec<StrokePoint> {
        let mut off = || self.wobble * random.gaussian();
        let corners: Vec<StrokePoint> =
            stroke.iter().map(|&[across, down]| [across + off(), down + off()]).collect();
        let mut points = vec![corners[0]];
        for ends in corners.windows(2) {
            // Nobody draws a straight line.
            bow(ends[0], ends[1], 2.0 * off(), &mut points);
        }
        rounded(&rounded(&points)).into_iter().map(|point| self.lean(point)).collect()
    }

    fn lean(&self, [across, down]: StrokePoint) -> StrokePoint {
        let (x, y) = (across * self.width - self.slant * down, down);
        let (sine, cosine) = self.turn;
        [cosine * x - sine * y, sine * x + cosine * y]
    }
}

/// Adds the points from `from` (without it) to `to` along a line that is bent sideways in its middle by `bend`.
fn bow(from: StrokePoint, to: StrokePoint, bend: f64, points: &mut Vec<StrokePoint>) {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let length = dx.hypot(dy);
    let steps = (length / STEP).ceil().max(1.0);
    for step in 1..=steps as usize {
        let t = step as f64 / steps;
        let aside = 4.0 * t * (1.0 - t) * bend;
        points.push([from[0] + t * dx - aside * dy, from[1] + t * dy + aside * dx]);
    }
}

/// Corners cut: each point but the ends becomes two, a quarter of the way to its neighbours.
fn rounded(points: &[StrokePoint]) -> Vec<StrokePoint> {
    let between =
        |a: StrokePoint, b: StrokePoint, t: f64| [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])];
    let cut =
        points.windows(2).flat_map(|two| [between(two[0], two[1], 0.25), between(two[0], two[1], 0.75)]);
    points.first().copied().into_iter().chain(cut).chain(points.last().copied()).collect()
}

/// Scales strokes so that their longer side is `side`, and moves them into the image.
fn fit(strokes: &mut [Vec<StrokePoint>], side: f64) {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for point in strokes.iter().flatten() {
        for axis in 0..2 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    let scale = side / (high[0] - low[0]).max(high[1] - low[1]);
    for point in strokes.iter_mut().flatten() {
        for axis in 0..2 {
            point[axis] = MIDDLE + scale * (point[axis] - (low[axis] + high[axis]) / 2.0);
        }
    }
}

/// The ink on each pixel: 1 within the pen's reach of a stroke, falling to 0 over its edge.
fn draw(strokes: &[Vec<StrokePoint>], pen: f64) -> Vec<f64> {
    let mut image = vec![0.0; SIDE * SIDE];
    let reach = pen + EDGE;
    for two in strokes.iter().flat_map(|stroke| stroke.windows(2)) {
        let rows = span(two[0][1], two[1][1], reach);
        for (row, column) in
            rows.flat_map(|row| span(two[0][0], two[1][0], reach).map(move |column| (row, column)))
        {
            let away = distance([column as f64, row as f64], two[0], two[1]);
            let t = ((reach - away) / (2.0 * EDGE)).clamp(0.0, 1.0);
            let pixel: &mut f64 = &mut image[row * SIDE + column];
            *pixel = pixel.max(t * t * (3.0 - 2.0 * t));
        }
    }
    image
}

/// The pixels within reach of both ends and what is between.
fn span(a: f64, b: f64, reach: f64) -> std::ops::Range<usize> {
    let from = (a.min(b) - reach).ceil().clamp(0.0, SIDE as f64);
    let to = (a.max(b) + reach).floor() + 1.0;
    from as usize..to.clamp(from, SIDE as f64) as usize
}

/// From a point to a line between two.
fn distance(point: StrokePoint, from: StrokePoint, to: StrokePoint) -> f64 {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let (px, py) = (point[0] - from[0], point[1] - from[1]);
    let length2 = dx * dx + dy * dy;
    let t = if length2 > 0.0 { ((px * dx + py * dy) / length2).clamp(0.0, 1.0) } else { 0.0 };
    (px - t * dx).hypot(py - t * dy)
}

/// Across and down, in pixels.
fn centre_of_mass(image: &[f64]) -> StrokePoint {
    let (mut ink, mut sums) = (0.0, [0.0; 2]);
    for (at, value) in image.iter().enumerate() {
        ink += value;
        sums[0] += value * (at % SIDE) as f64;
        sums[1] += value * (at / SIDE) as f64;
    }
    sums.map(|sum| sum / ink)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_by_hand() {
        // One stroke straight down at column 10, from row 5 to row 20.
        let image = draw(&[vec![[10.0, 5.0], [10.0, 20.0]]], 1.5);
        let at = |column: usize, row: usize| image[row * SIDE + column];
        assert_eq!((at(10, 12), at(10, 5), at(10, 20)), (1.0, 1.0, 1.0));
        assert_eq!((at(13, 12), at(7, 12), at(10, 2), at(10, 23)), (0.0, 0.0, 0.0, 0.0));
        // Two pixels away is half a pixel beyond the pen: t = 0.2 / 1.4 of the way up the edge.
        let t: f64 = 0.2 / 1.4;
        let edge = t * t * (3.0 - 2.0 * t);
        for value in [at(8, 12), at(12, 12), at(10, 3), at(10, 22)] {
            assert!((value - edge).abs() < 1e-12, "{value}");
        }
        let mass = centre_of_mass(&image);
        assert!((mass[0] - 10.0).abs() < 1e-12 && (mass[1] - 12.5).abs() < 1e-12);
    }

    #[test]
    fn strokes_reach_their_ends() {
        let mut points = vec![[0.0, 0.0]];
        bow([0.0, 0.0], [0.5, 0.0], 0.1, &mut points);
        assert_eq!((points.len(), points[5]), (6, [0.5, 0.0]));
        // Bent by a tenth of its length, to one side.
        assert!(points.iter().all(|point| (0.0..=0.05).contains(&point[1])));
        let round = rounded(&[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]]);
        assert_eq!(round, [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [4.0, 1.0], [4.0, 3.0], [4.0, 4.0]]);
        let mut strokes = [round];
        fit(&mut strokes, 8.0);
        assert_eq!((strokes[0][0], strokes[0][5]), ([10.0, 10.0], [18.0, 18.0]));
    }

    #[test]
    fn written_as_mnist_is() {
        let images = letters(200, 4);
        assert_eq!((images.rows(), images.cols()), (200, 784));
        for row in 0..200 {
            let image: Vec<f64> = images.row(row).iter().map(|&value| f64::from(value)).collect();
            assert!(image.iter().all(|value| (0.0..=1.0).contains(value)) && image.contains(&1.0));
            let mass = centre_of_mass(&image);
            assert!(mass.iter().all(|at| (at - MIDDLE).abs() < 0.6), "{row}: {mass:?}");
            // MNIST's digits have 3 % to 31 % of ink, in a box of 20 pixels.
            let ink = image.iter().sum::<f64>() / 784.0;
            assert!((0.03..0.31).contains(&ink), "{row}: {ink}");
            let inked = |along: fn(usize) -> usize| {
                let lines = (0..784).filter(|&at| image[at] > 0.0).map(along);
                lines.collect::<std::collections::BTreeSet<usize>>().len()
            };
            let (wide, high) = (inked(|at| at % SIDE), inked(|at| at / SIDE));
            assert!((18..=22).contains(&wide.max(high)), "{row}: {wide} x {high}");
        }
    }

    #[test]
    fn the_same_from_the_same_seed_whatever_the_threads() {
        let all = letters(40, 7);
        assert_eq!(letters(10, 7).data(), &all.data()[..10 * 784]);
        assert_ne!(letters(10, 8), letters(10, 7));
        for threads in 1..=3 {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| letters(40, 7)), all);
        }
        let different: std::collections::HashSet<Vec<u32>> =
            (0..40).map(|row| all.row(row).iter().map(|value| value.to_bits()).collect()).collect();
        assert_eq!(different.len(), 40);
    }
}
