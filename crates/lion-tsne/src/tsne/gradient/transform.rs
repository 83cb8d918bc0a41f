//! Convolution with the kernel 1 / (1 + r²) on a grid, in frequency space.

use super::f32x8::Lanes;
use super::spline::{WIDTH, transfer};
use rayon::prelude::*;
use realfft::num_complex::Complex;
use realfft::{ComplexToReal, FftNum, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};
use std::sync::Arc;

/// Columns transformed together: one cache line of them.
const TOGETHER: usize = 8;
/// Rows that one task transforms.
const ROWS: usize = 8;

/// Everything that depends on the size and spacing of the grid alone.
pub(super) struct Transform {
    nodes: [usize; 2],
    lengths: [usize; 2],
    spacing: f64,
    floor: f64,
    near: [Lanes; WIDTH],
    /// The kernel's transform, blurring divided out: real, for each column of the half spectrum.
    kernel: Vec<f32>,
    plans: Plans<f32>,
    spectrum: Vec<Complex<f32>>,
    columns: Vec<Complex<f32>>,
}

struct Plans<T> {
    rows: Arc<dyn RealToComplex<T>>,
    rows_back: Arc<dyn ComplexToReal<T>>,
    columns: Arc<dyn Fft<T>>,
    columns_back: Arc<dyn Fft<T>>,
}

impl<T: FftNum> Plans<T> {
    fn new([width, height]: [usize; 2]) -> Self {
        let mut real = RealFftPlanner::new();
        let mut complex = FftPlanner::new();
        Self {
            rows: real.plan_fft_forward(width),
            rows_back: real.plan_fft_inverse(width),
            columns: complex.plan_fft_forward(height),
            columns_back: complex.plan_fft_inverse(height),
        }
    }
}

impl Transform {
    pub(super) fn new(needed: [usize; 2], spacing: f64) -> Self {
        // Twice as long as the grid, so that nothing wraps around into it.
        let lengths = needed.map(|n| quick_length(2 * n));
        let nodes = lengths.map(|l| l / 2);
        let reach2: f64 = nodes.iter().map(|&n| (n as f64 * spacing).powi(2)).sum();
        let half = nodes[0] + 1;
        let kernel = kernel(lengths, spacing, reach2);
        Self {
            near: near(&kernel, lengths),
            nodes,
            lengths,
            spacing,
            floor: 1.0 / (1.0 + reach2),
            kernel,
            plans: Plans::new(lengths),
            spectrum: vec![Complex::default(); half * nodes[1]],
            columns: vec![Complex::default(); half.next_multiple_of(TOGETHER) * nodes[1]],
        }
    }

    /// Whether a map that needs this grid can go on with this one without waste.
    pub(super) fn fits(&self, needed: [usize; 2], spacing: f64) -> bool {
        let good = |has: usize, needed: usize| needed <= has && 8 * has <= 9 * needed + 64;
        spacing == self.spacing && good(self.nodes[0], needed[0]) && good(self.nodes[1], needed[1])
    }

    pub(super) fn nodes(&self) -> [usize; 2] {
        self.nodes
    }

    /// The kernel's value at the far corner, which was taken off it everywhere: in a map much narrower than 1 the
    /// kernel is 1 but for its last digits, and those are what the slope is made of.
    pub(super) fn floor(&self) -> f64 {
        self.floor
    }

    /// The potential at a node from a charge on another, so many columns and rows away: what a point's own charge does to
    /// itself through the grid is made of these.
    pub(super) fn near(&self) -> &[Lanes; WIDTH] {
        &self.near
    }

    /// Charges at the nodes become potentials.
    pub(super) fn convolve(&mut self, grid: &mut [f32]) {
        let half = self.nodes[0] + 1;
        self.rows_forward(grid, half);
        self.columns_through_kernel(half);
        self.rows_back(grid, half);
    }

    fn rows_forward(&mut self, grid: &[f32], half: usize) {
        let plan = &self.plans.rows;
        let [width, _] = self.nodes;
        self.spectrum.par_chunks_mut(half * ROWS).zip(grid.par_chunks(width * ROWS)).for_each_init(
            || (plan.make_input_vec(), plan.make_scratch_vec()),
            |(line, scratch), (spectrum, grid)| {
                for (spectrum, row) in spectrum.chunks_exact_mut(half).zip(grid.chunks_exact(width)) {
                    line[..width].copy_from_slice(row);
                    line[width..].fill(0.0);
                    // Lengths agree by construction, which is all that can fail.
                    let _ = plan.process_with_scratch(line, spectrum, scratch);
                }
            },
        );
    }

    fn columns_through_kernel(&mut self, half: usize) {
        let (forward, back) = (&self.plans.columns, &self.plans.columns_back);
        let [_, height] = self.nodes;
        let length = self.lengths[1];
        let (spectrum, kernel) = (&self.spectrum, &self.kernel);
        self.columns.par_chunks_mut(TOGETHER * height).enumerate().for_each_init(
            || {
                let scratch = forward.get_inplace_scratch_len().max(back.get_inplace_scratch_len());
                (vec![Complex::default(); TOGETHER * length], vec![Complex::default(); scratch])
            },
            |(lines, scratch), (block, columns)| {
                let first = block * TOGETHER;
                let count = TOGETHER.min(half - first);
                for (y, row) in spectrum.chunks_exact(half).enumerate() {
                    for (c, &value) in row[first..first + count].iter().enumerate() {
                        lines[c * length + y] = value;
                    }
                }
                for line in lines.chunks_exact_mut(length) {
                    line[height..].fill(Complex::default());
                }
                let lines = &mut lines[..count * length];
                forward.process_with_scratch(lines, scratch);
                for (value, &factor) in lines.iter_mut().zip(&kernel[first * length..]) {
                    *value *= factor;
                }
                back.process_with_scratch(lines, scratch);
                for (c, line) in lines.chunks_exact(length).enumerate() {
                    for (y, &value) in line[..height].iter().enumerate() {
                        columns[y * TOGETHER + c] = value;
                    }
                }
            },
        );
    }

    fn rows_back(&mut self, grid: &mut [f32], half: usize) {
        let plan = &self.plans.rows_back;
        let [width, height] = self.nodes;
        let columns = &self.columns;
        grid.par_chunks_mut(width).enumerate().with_min_len(ROWS).for_each_init(
            || (plan.make_input_vec(), plan.make_output_vec(), plan.make_scratch_vec()),
            |(input, output, scratch), (y, row)| {
                for (block, values) in input.chunks_mut(TOGETHER).enumerate() {
                    let from = (block * height + y) * TOGETHER;
                    values.copy_from_slice(&columns[from..from + values.len()]);
                }
                // The ends of a real signal's spectrum are real; rounding alone says otherwise.
                input[0].im = 0.0;
                input[half - 1].im = 0.0;
                let _ = plan.process_with_scratch(input, output, scratch);
                row.copy_from_slice(&output[..width]);
            },
        );
    }
}

/// The transform of the kernel less its floor, on a grid of `lengths`, divided by the splines' own transform once for
/// the sources and once for the targets, and by the number of nodes. In f64: it is divided by small numbers.
fn kernel(lengths: [usize; 2], spacing: f64, reach2: f64) -> Vec<f32> {
    let [width, height] = lengths;
    let half = width / 2 + 1;
    let plans = Plans::<f64>::new(lengths);
    let steps = |length: usize| move |at: usize| (at.min(length - at) as f64 * spacing).powi(2);
    let (across, down) = (steps(width), steps(height));
    // Rows from the middle on mirror those before it.
    let mut spectra = vec![Complex::default(); half * (height / 2 + 1)];
    spectra.par_chunks_mut(half).enumerate().for_each_init(
        || (plans.rows.make_input_vec(), plans.rows.make_scratch_vec()),
        |(line, scratch), (y, spectrum)| {
            for (x, value) in line.iter_mut().enumerate() {
                let r2 = across(x) + down(y);
                *value = (reach2 - r2) / ((1.0 + r2) * (1.0 + reach2));
            }
            let _ = plans.rows.process_with_scratch(line, spectrum, scratch);
        },
    );
    let scale = 1.0 / (width * height) as f64;
    let blur = |length: usize| transfer(length).into_iter().map(|v| v * v).collect::<Vec<f64>>();
    let (across, down) = (blur(width), blur(height));
    let mut kernel = vec![0.0; half * height];
    kernel.par_chunks_mut(height).enumerate().for_each_init(
        || {
            (
                vec![Complex::default(); height],
                vec![Complex::default(); plans.columns.get_inplace_scratch_len()],
            )
        },
        |(line, scratch), (x, kernel)| {
            for (y, value) in line.iter_mut().enumerate() {
                *value = spectra[y.min(height - y) * half + x];
            }
            plans.columns.process_with_scratch(line, scratch);
            for ((kernel, value), down) in kernel.iter_mut().zip(line).zip(&down) {
                *kernel = (value.re * scale / (across[x] * down)) as f32;
            }
        },
    );
    kernel
}

/// The kernel as the grid sees it, back in space, at the first few offsets: `[row][column]`.
fn near(kernel: &[f32], [width, height]: [usize; 2]) -> [Lanes; WIDTH] {
    let wave =
        |k: usize, at: usize, length: usize| (std::f64::consts::TAU * (k * at) as f64 / length as f64).cos();
    let mut sums = [[0.0f64; WIDTH]; WIDTH];
    let down: Vec<[f64; WIDTH]> =
        (0..height).map(|k| std::array::from_fn(|at| wave(k, at, height))).collect();
    for (k, column) in kernel.chunks_exact(height).enumerate() {
        // Columns between the ends stand for their mirror images too.
        let twice = if k == 0 || 2 * k == width { 1.0 } else { 2.0 };
        let mut along = [0.0; WIDTH];
        for (&value, waves) in column.iter().zip(&down) {
            for at in 0..WIDTH {
                along[at] += f64::from(value) * waves[at];
            }
        }
        for (at, sums) in sums.iter_mut().enumerate() {
            let factor = twice * wave(k, at, width);
            for (sum, along) in sums.iter_mut().zip(along) {
                *sum += factor * along;
            }
        }
    }
    // The kernel is symmetric, so it does not matter which way round it is read.
    sums.map(|row| std::array::from_fn(|at| row.get(at).map_or(0.0, |&sum| sum as f32)))
}

/// The next even length that transforms quickly: twos and threes, at most one five or seven.
fn quick_length(at_least: usize) -> usize {
    (at_least.max(16)..)
        .find(|&n| {
            let mut rest = n;
            for factor in [2, 3] {
                while rest.is_multiple_of(factor) {
                    rest /= factor;
                }
            }
            n.is_multiple_of(2) && matches!(rest, 1 | 5 | 7)
        })
        .unwrap_or(at_least)
}
