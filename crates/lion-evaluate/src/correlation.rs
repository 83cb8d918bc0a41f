//! Whether two numbers of many things grow together.

/// Pearson's correlation coefficient; `None` where either is constant.
///
/// ```
/// assert_eq!(lion_evaluate::pearson(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
/// ```
pub fn pearson(a: &[f64], b: &[f64]) -> Option<f64> {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let product = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    let scale = (product(a, ma, a, ma) * product(b, mb, b, mb)).sqrt();
    (scale > 0.0).then(|| product(a, ma, b, mb) / scale)
}

/// Spearman's rank correlation coefficient: Pearson's of the ranks. Equal values share the mean of their ranks. `None` where
/// either is constant.
///
/// ```
/// // The order is the same, whatever the distances.
/// assert_eq!(lion_evaluate::spearman(&[1.0, 2.0, 3.0], &[0.0, 10.0, 11.0]), Some(1.0));
/// ```
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    pearson(&ranks(a), &ranks(b))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = first as f64 + (tied.len() - 1) as f64 / 2.0;
        tied.iter().for_each(|&at| ranks[at] = rank);
        first += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_ties_are_means() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        assert_eq!(ranks(&[5.0, 5.0, 5.0]), [1.0, 1.0, 1.0]);
        // Ranks 0, 1.5, 1.5, 3 beside 0, 1, 2, 3: products sum to 4.5, squares to 4.5 and 5.
        let found = spearman(&[1.0, 2.0, 2.0, 9.0], &[10.0, 20.0, 30.0, 40.0]).unwrap();
        assert!((found - 4.5 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12, "{found}");
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(pearson(&[], &[]), None);
    }
}
