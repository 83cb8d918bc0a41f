//! The calibrated verdict written down a second time: plain, slow, in f64, for maps to which nothing was fitted.

use super::oracle::{by_distance, distance};

/// Neighbours that a row is rebuilt from.
const K: usize = 10;

/// What is known of the rows of a map, each left out by itself.
pub(super) struct OracleCalibration {
    rows: Vec<Vec<f64>>,
    k: usize,
    c: f64,
    errors: Vec<f64>,
    values: Vec<(f64, f64)>,
}

/// The three p-values of a row: of both parts together, of its distance, of its neighbours.
pub(super) struct OraclePValues {
    pub(super) score: f64,
    pub(super) distance: f64,
    pub(super) neighbours: f64,
    /// Values so close to others that rounding to 32 bits may change their ranks: so many ranks are in doubt.
    pub(super) doubt: f64,
}

/// wᵀGw, where w solves (G + 0.1 tr(G)/k I) w = 1 and is scaled to sum 1.
fn squared_error(x: &[f64], near: &[&Vec<f64>]) -> f64 {
    let k = near.len();
    let difference = |a: usize| -> Vec<f64> { near[a].iter().zip(x).map(|(a, b)| a - b).collect() };
    let differences: Vec<Vec<f64>> = (0..k).map(difference).collect();
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let g: Vec<Vec<f64>> =
        differences.iter().map(|a| differences.iter().map(|b| dot(a, b)).collect()).collect();
    let trace: f64 = (0..k).map(|a| g[a][a]).sum();
    if trace == 0.0 {
        return 0.0;
    }
    let mut system: Vec<Vec<f64>> = g.clone();
    for (a, row) in system.iter_mut().enumerate() {
        row[a] += 0.1 * trace / k as f64;
        row.push(1.0);
    }
    // Gauss and Jordan, by the largest pivot.
    for column in 0..k {
        let pivot = (column..k)
            .max_by(|&a, &b| system[a][column].abs().total_cmp(&system[b][column].abs()))
            .expect("a row is left");
        system.swap(column, pivot);
        for row in 0..k {
            if row != column {
                let factor = system[row][column] / system[column][column];
                for at in column..=k {
                    system[row][at] -= factor * system[column][at];
                }
            }
        }
    }
    let w: Vec<f64> = (0..k).map(|a| system[a][k] / system[a][a]).collect();
    let total: f64 = w.iter().sum();
    let w: Vec<f64> = w.iter().map(|w| w / total).collect();
    (0..k).map(|a| w[a] * dot(&g[a], &w)).sum()
}

impl OracleCalibration {
    pub(super) fn new(rows: &[Vec<f64>]) -> Self {
        let k = K.min(rows.len() - 1);
        let others = |i: usize| by_distance(&rows[i], rows).into_iter().filter(move |&j| j != i);
        let near: Vec<Vec<usize>> = (0..rows.len()).map(|i| others(i).take(k).collect()).collect();
        let nearest: Vec<f64> = (0..rows.len()).map(|i| distance(&rows[i], &rows[near[i][0]])).collect();
        let mut positive: Vec<f64> = nearest.iter().copied().filter(|&d| d > 0.0).collect();
        positive.sort_by(f64::total_cmp);
        let c = 0.1 * positive[positive.len() / 2];
        // R of row i without row `out`, which may be i itself.
        let error = |i: usize, out: usize| {
            let near: Vec<&Vec<f64>> = others(i).filter(|&j| j != out).take(k).map(|j| &rows[j]).collect();
            0.5 * (squared_error(&rows[i], &near) + c * c).ln()
        };
        let errors: Vec<f64> = (0..rows.len()).map(|i| error(i, i)).collect();
        // A row is left out of its neighbours' neighbours too: a new row is not among them.
        let without = |j: usize, i: usize| if near[j].contains(&i) { error(j, i) } else { errors[j] };
        let relative =
            |i: usize| errors[i] - 0.5 * near[i].iter().map(|&j| without(j, i)).sum::<f64>() / k as f64;
        let values = (0..rows.len()).map(|i| (nearest[i], relative(i))).collect();
        Self { rows: rows.to_vec(), k, c, errors, values }
    }

    /// The p-values of a new row, by counting everything.
    pub(super) fn p_values(&self, x: &[f64]) -> OraclePValues {
        let near: Vec<usize> = by_distance(x, &self.rows).into_iter().take(self.k).collect();
        let rows: Vec<&Vec<f64>> = near.iter().map(|&j| &self.rows[j]).collect();
        let error = 0.5 * (squared_error(x, &rows) + self.c * self.c).ln();
        let mean = near.iter().map(|&j| self.errors[j]).sum::<f64>() / self.k as f64;
        let new = (distance(x, rows[0]), error - 0.5 * mean);
        let bag: Vec<(f64, f64)> = self.values.iter().copied().chain([new]).collect();
        let count = |holds: &dyn Fn(&(f64, f64)) -> bool| bag.iter().filter(|row| holds(row)).count() as f64;
        let parts = |row: &(f64, f64)| (count(&|other| other.0 >= row.0), count(&|other| other.1 >= row.1));
        let sum = |row: &(f64, f64)| {
            let (farther, worse) = parts(row);
            1.0 / farther + 1.0 / worse
        };
        let (own, n) = (sum(&new), bag.len() as f64);
        // Rows that are as strange, where the new row may be the nearest of each.
        let as_strange = |nearest: &dyn Fn(usize) -> f64| {
            let beside = self.values.iter().enumerate().map(|(i, row)| (nearest(i), row.1));
            1.0 + beside.filter(|row| sum(row) >= own).count() as f64
        };
        let mut rank = as_strange(&|i| self.values[i].0);
        if rank <= 257.0 {
            rank = as_strange(&|i| self.values[i].0.min(distance(x, &self.rows[i])));
        }
        let score = rank / n;
        let (farther, worse) = parts(&new);
        let close = |a: f64, b: f64| a != b && (a - b).abs() <= 1e-4 * (1.0 + a.abs());
        let doubt = count(&|row| close(row.0, new.0)) + count(&|row| close(row.1, new.1));
        OraclePValues { score, distance: farther / n, neighbours: worse / n, doubt: doubt / n }
    }
}
