//! Where the rows start: principal components (Kobak & Berens 2019, The Art of Using t-SNE for Single-Cell
//! Transcriptomics), eigenvectors of the graph of affinities (Belkin & Niyogi 2003, Laplacian Eigenmaps) by Lanczos, or
//! at random.

use crate::affinity::Affinities;
use crate::matrix::Matrix;
use crate::random::Random;
use faer::{Mat, Side};
use rayon::prelude::*;

/// Standard deviation of the first coordinate at the start: small, so that the rows can still pass each other.
const SPREAD: f64 = 1e-4;
/// Noise added to it, relative: rows that start at the same place, or all on one line, could never part.
const JITTER: f64 = 0.01;
/// Steps of the Lanczos process: enough for the few leading eigenvectors to a drawing's precision.
const LANCZOS: usize = 60;

/// Gaussian.
pub(crate) fn random<const D: usize>(rows: usize, seed: u64) -> Vec<[f32; D]> {
    let mut random = Random::new(seed ^ 0x1417);
    (0..rows).map(|_| std::array::from_fn(|_| (random.gaussian() * SPREAD) as f32)).collect()
}

/// The first columns, which are principal components; those that `x` does not have are noise alone.
pub(crate) fn components<const D: usize>(x: &Matrix, seed: u64) -> Vec<[f32; D]> {
    let columns = (0..D).map(|d| match d < x.cols() {
        true => (0..x.rows()).map(|i| f64::from(x.row(i)[d])).collect(),
        false => vec![0.0; x.rows()],
    });
    scaled(columns.collect(), seed)
}

/// The eigenvectors of the normalised affinity graph that vary least along its edges.
pub(crate) fn spectral<const D: usize>(p: &Affinities, seed: u64) -> Vec<[f32; D]> {
    scaled(leading_eigenvectors(p, D, seed), seed)
}

/// Columns centred, scaled by one factor so that the first has deviation `SPREAD`, and jittered.
fn scaled<const D: usize>(mut columns: Vec<Vec<f64>>, seed: u64) -> Vec<[f32; D]> {
    let rows = columns.first().map_or(0, Vec::len);
    let mut widest = 0.0f64;
    for column in &mut columns {
        let mean = column.iter().sum::<f64>() / rows as f64;
        column.iter_mut().for_each(|v| *v -= mean);
        widest = widest.max((column.iter().map(|v| v * v).sum::<f64>() / rows as f64).sqrt());
    }
    let scale = if widest > 0.0 { SPREAD / widest } else { 0.0 };
    let mut random = Random::new(seed ^ 0x1417);
    (0..rows)
        .map(|i| {
            std::array::from_fn(|d| (columns[d][i] * scale + random.gaussian() * SPREAD * JITTER) as f32)
        })
        .collect()
}

/// The `count` eigenvectors of D^-½ P D^-½ after the trivial one, each divided by √degree, by the Lanczos process
/// with full orthogonalisation.
fn leading_eigenvectors(p: &Affinities, count: usize, seed: u64) -> Vec<Vec<f64>> {
    let rows = p.rows();
    let degrees: Vec<f64> =
        (0..rows).map(|i| p.row(i).1.iter().map(|&v| f64::from(v)).sum::<f64>().sqrt()).collect();
    let mut trivial = degrees.clone();
    normalise(&mut trivial);
    let mut random = Random::new(seed ^ 0x5bec);
    let mut vector: Vec<f64> = (0..rows).map(|_| random.gaussian()).collect();
    let mut basis = vec![trivial];
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..LANCZOS.min(rows.saturating_sub(1)) {
        orthogonalise(&mut vector, &basis);
        let length = normalise(&mut vector);
        if length < 1e-10 {
            break;
        }
        if !diagonal.is_empty() {
            beside.push(length);
        }
        let next = multiply(p, &degrees, &vector);
        diagonal.push(dot(&next, &vector));
        basis.push(std::mem::replace(&mut vector, next));
    }
    ritz_vectors(&diagonal, &beside, &basis[1..], count)
        .into_iter()
        .map(|mut v| {
            v.iter_mut().zip(&degrees).for_each(|(v, degree)| *v /= degree.max(f64::MIN_POSITIVE));
            // As long as the first, so that no dimension is favoured.
            normalise(&mut v);
            v
        })
        .collect()
}

fn ritz_vectors(diagonal: &[f64], beside: &[f64], basis: &[Vec<f64>], count: usize) -> Vec<Vec<f64>> {
    let size = diagonal.len();
    let rows = basis.first().map_or(0, Vec::len);
    let tridiagonal = Mat::from_fn(size, size, |i, j| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => beside[i.min(j)],
        _ => 0.0,
    });
    let Ok(eigen) = tridiagonal.self_adjoint_eigen(Side::Lower) else {
        return vec![vec![0.0; rows]; count];
    };
    (0..count)
        .map(|c| {
            let mut out = vec![0.0; rows];
            if c < size {
                let weights = eigen.U().col(size - 1 - c);
                for (b, vector) in basis.iter().enumerate() {
                    out.iter_mut().zip(vector).for_each(|(o, v)| *o += weights[b] * v);
                }
            }
            out
        })
        .collect()
}

/// D^-½ P D^-½ times a vector; `degrees` are the roots of the degrees.
fn multiply(p: &Affinities, degrees: &[f64], vector: &[f64]) -> Vec<f64> {
    (0..p.rows())
        .into_par_iter()
        .with_min_len(256)
        .map(|i| {
            let (columns, values) = p.row(i);
            let terms = columns.iter().zip(values);
            let sum: f64 = terms
                .map(|(&j, &v)| {
                    f64::from(v) * vector[j as usize] / degrees[j as usize].max(f64::MIN_POSITIVE)
                })
                .sum();
            sum / degrees[i].max(f64::MIN_POSITIVE)
        })
        .collect()
}

/// Twice, for once leaves rounding behind.
fn orthogonalise(vector: &mut [f64], basis: &[Vec<f64>]) {
    for _ in 0..2 {
        for b in basis {
            let overlap = dot(vector, b);
            vector.iter_mut().zip(b).for_each(|(v, b)| *v -= overlap * b);
        }
    }
}

fn normalise(vector: &mut [f64]) -> f64 {
    let length = dot(vector, vector).sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|v| *v /= length);
    }
    length
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
