//! Against plain sums, in any order.

use super::*;
use crate::random::Random;
use proptest::prelude::*;

/// Rows of different sizes around different means.
fn rows(count: usize, dims: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    let mut data = Vec::with_capacity(count * dims);
    for _ in 0..count {
        let size = 2f64.powi(random.below(9) as i32 - 4);
        data.extend((0..dims).map(|j| (random.gaussian() * size / (1 + j) as f64 + (j % 3) as f64) as f32));
    }
    Matrix::new(count, dims, data).unwrap()
}

fn moments(parts: &[Matrix], metric: Metric) -> Moments {
    let choice = PcaChoice::Components(2);
    let mut moments = Moments::for_pca(parts[0].cols(), metric, choice).unwrap().unwrap();
    parts.iter().for_each(|part| moments.add(part));
    moments
}

/// The mean and the sums of products around it, in `f64`.
fn plain(data: &Matrix) -> (Vec<f64>, Mat<f64>) {
    let (rows, dims) = (data.rows(), data.cols());
    let mean: Vec<f64> =
        (0..dims).map(|j| (0..rows).map(|i| f64::from(data.row(i)[j])).sum::<f64>() / rows as f64).collect();
    let around = |i: usize, j: usize| f64::from(data.row(i)[j]) - mean[j];
    let products = Mat::from_fn(dims, dims, |a, b| (0..rows).map(|i| around(i, a) * around(i, b)).sum());
    (mean, products)
}

/// Compares the sums with plain ones, to a share of the largest.
fn compare(data: &Matrix, share: f64) {
    let found = moments(std::slice::from_ref(data), Metric::Euclidean);
    let (mean, products) = found.sums.centred(data.rows() as f64);
    let (plain_mean, plain_products) = plain(data);
    let largest = (0..data.cols()).map(|i| plain_products[(i, i)]).fold(0.0, f64::max);
    for i in 0..data.cols() {
        let off = (mean[i] - plain_mean[i]).abs();
        assert!(off <= share * (1.0 + plain_mean[i].abs()), "mean {i}: {} {}", mean[i], plain_mean[i]);
        for j in 0..=i {
            let off = (products[(i, j)] - plain_products[(i, j)]).abs();
            assert!(off <= share * largest, "{i} {j}: {} {}", products[(i, j)], plain_products[(i, j)]);
        }
    }
}

#[test]
fn sums_are_those_of_plain_ones() {
    for dims in [3, 40, 300] {
        compare(&rows(1500, dims, 3), 1e-6);
    }
}

/// One column that is large and hardly changes: the others must not be rounded by its size.
#[test]
fn a_large_constant_column_hides_nothing() {
    let mut random = Random::new(1);
    let data = (0..2000).flat_map(|_| [1e7, random.gaussian() as f32, 3.0 * random.gaussian() as f32]);
    compare(&Matrix::new(2000, 3, data.collect()).unwrap(), 1e-6);
}

/// Few rows that are far larger than all others.
#[test]
fn rows_of_other_sizes_count_as_much_as_they_should() {
    let mut data = rows(3000, 5, 8);
    data.data_mut()[..10].iter_mut().for_each(|value| *value *= 1e12);
    data.data_mut()[10..20].iter_mut().for_each(|value| *value *= 1e3);
    data.data_mut()[20..25].fill(0.0);
    compare(&data, 1e-6);
}

#[test]
fn pixels_have_no_error_at_all() {
    let mut random = Random::new(4);
    let data = (0..700 * 9).map(|_| random.below(256) as f32).collect();
    let data = Matrix::new(700, 9, data).unwrap();
    let found = moments(std::slice::from_ref(&data), Metric::Euclidean);
    let (_, products) = found.sums.centred(700.0);
    let sum = |i: usize| (0..700).map(|row| data.row(row)[i] as u64).sum::<u64>();
    for i in 0..9 {
        let squares: u64 = (0..700).map(|row| (data.row(row)[i] as u64).pow(2)).sum();
        let exact = (700 * squares - sum(i).pow(2)) as f64 / 700.0;
        assert!((products[(i, i)] / exact - 1.0).abs() < 1e-15, "{} {exact}", products[(i, i)]);
    }
}

fn copied(moments: &Moments) -> Moments {
    let mut bytes = Vec::new();
    moments.write(&mut bytes);
    let mut read = Moments { rows: 0, sums: Sums::new(moments.sums.dims), ..moments.clone() };
    let mut reader = ByteReader(&bytes);
    read.read(&mut reader).unwrap();
    assert!(reader.0.is_empty());
    read
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_order_and_any_parts_give_the_same(
        seed in 0u64..1000,
        count in 4usize..1500,
        wide in any::<bool>(),
        cosine in any::<bool>(),
        offset in prop::sample::select(vec![0.0f32, 1e6]),
        parts in 1usize..9,
    ) {
        let metric = if cosine { Metric::Cosine } else { Metric::Euclidean };
        let mut data = rows(count, if wide { 140 } else { 4 }, seed);
        data.data_mut().iter_mut().step_by(4).for_each(|value| *value += offset);
        data.data_mut()[..4].iter_mut().for_each(|value| *value *= 1e9);
        let whole = moments(std::slice::from_ref(&data), metric);
        let mut random = Random::new(seed);
        let mut order: Vec<u32> = (0..count as u32).collect();
        (1..count).rev().for_each(|i| order.swap(i, random.below(i + 1)));
        let mut states: Vec<Moments> = order
            .chunks(count.div_ceil(parts))
            .map(|part| moments(&[data.select(part)], metric))
            .collect();
        while states.len() > 1 {
            let one = states.swap_remove(random.below(states.len()));
            let at = random.below(states.len());
            states[at].merge(copied(&one));
        }
        prop_assert!(states[0] == whole);
        prop_assert!(states[0].clone().pca().unwrap().0 == whole.pca().unwrap().0);
    }

    #[test]
    fn damaged_bytes_are_refused_or_harmless(at in 0usize..400, by in 1u8..255, cut in 0usize..400) {
        let sums = moments(&[rows(30, 4, 1)], Metric::Euclidean);
        let mut bytes = Vec::new();
        sums.write(&mut bytes);
        let changed = at % bytes.len();
        bytes[changed] = bytes[changed].wrapping_add(by);
        bytes.truncate(bytes.len() - cut % 3 * (cut % bytes.len()) / 2);
        let mut read = Moments { rows: 0, sums: Sums::new(4), ..sums.clone() };
        if read.read(&mut ByteReader(&bytes)).is_some() {
            let mut both = sums;
            both.merge(read);
            let _ = both.pca();
        }
    }
}
