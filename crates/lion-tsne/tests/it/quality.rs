//! How good a map is, compared with the definitions written down plainly.

use lion_tsne::numerics::Random;
use lion_tsne::quality::{Quality, QualityOptions, RefitOptions, perplexity_trials, seed_stability};
use lion_tsne::{Fit, Map, Matrix, PcaChoice, Rows, ignore};

fn gaussian(rows: usize, cols: usize, seed: u64) -> Matrix {
    let mut random = Random::new(seed);
    Matrix::new(rows, cols, (0..rows * cols).map(|_| random.gaussian() as f32).collect()).unwrap()
}

fn adopted(data: Matrix, places: Matrix, labels: Option<Vec<String>>) -> Map {
    let fit = Fit { pca: PcaChoice::None, ..Fit::default() };
    fit.adopt(Rows { data, ids: None, labels }, places, &mut ignore).unwrap()
}

/// All other rows, nearest first.
fn order(rows: &Matrix, from: usize) -> Vec<usize> {
    let distance2 = |to: usize| -> f64 {
        rows.row(from).iter().zip(rows.row(to)).map(|(a, b)| f64::from(a - b).powi(2)).sum()
    };
    let mut others: Vec<usize> = (0..rows.rows()).filter(|&to| to != from).collect();
    others.sort_by(|&a, &b| distance2(a).total_cmp(&distance2(b)));
    others
}

/// Venna & Kaski 2001: 1 - 2 / (N k (2N - 3k - 1)) Σ over rows Σ over false neighbours of (rank - k).
fn plain_trustworthiness(data: &Matrix, places: &Matrix, k: usize) -> f64 {
    let n = data.rows();
    let cost: usize = (0..n)
        .map(|row| {
            let (truth, shown) = (order(data, row), order(places, row));
            let rank = |other: usize| 1 + truth.iter().position(|&at| at == other).unwrap();
            shown[..k].iter().map(|&other| rank(other).saturating_sub(k)).sum::<usize>()
        })
        .sum();
    1.0 - 2.0 * cost as f64 / (n * k * (2 * n - 3 * k - 1)) as f64
}

fn plain_kept(data: &Matrix, places: &Matrix, k: usize) -> f64 {
    let of_row = |row: usize| {
        let (truth, shown) = (order(data, row), order(places, row));
        shown[..k].iter().filter(|other| truth[..k].contains(other)).count() as f64 / k as f64
    };
    (0..data.rows()).map(of_row).sum::<f64>() / data.rows() as f64
}

#[test]
fn the_definitions_written_down_plainly() {
    let data = gaussian(150, 5, 1);
    let mut random = Random::new(2);
    let places: Vec<f32> =
        (0..150).flat_map(|row| [0, 1].map(|d| data.row(row)[d] + 0.7 * random.gaussian() as f32)).collect();
    let places = Matrix::new(150, 2, places).unwrap();
    let map = adopted(data.clone(), places.clone(), None);
    let options = QualityOptions { scales: vec![1, 10, 30, 74, 75, 100], ..QualityOptions::default() };
    let quality = Quality::new(&map, None, &options).unwrap();
    assert_eq!((quality.rows, quality.asked, quality.label_share), (150, 150, None));
    let scales: Vec<usize> = quality.scales.iter().map(|at| at.neighbours).collect();
    assert_eq!(scales, [1, 10, 30, 74], "75 is half of the rows");
    for at in &quality.scales {
        let k = at.neighbours;
        let wanted = [
            plain_trustworthiness(&data, &places, k),
            plain_trustworthiness(&places, &data, k),
            plain_kept(&data, &places, k),
        ];
        let found = [at.trustworthiness, at.continuity, at.neighbours_kept];
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found.mean - wanted).abs() < 1e-12 && found.error == 0.0, "{k}: {found:?}, {wanted}");
        }
    }
}

#[test]
fn a_map_that_keeps_all_and_one_that_keeps_nothing() {
    let data = gaussian(200, 2, 3);
    let all =
        Quality::new(&adopted(data.clone(), data.clone(), None), None, &QualityOptions::default()).unwrap();
    for at in &all.scales {
        assert_eq!((at.trustworthiness.mean, at.continuity.mean, at.neighbours_kept.mean), (1.0, 1.0, 1.0));
    }
    let none = adopted(data, gaussian(200, 2, 4), None);
    let none = Quality::new(&none, None, &QualityOptions::default()).unwrap();
    assert!((none.scales[0].trustworthiness.mean - 0.5).abs() < 0.05);
    assert!((none.scales[0].neighbours_kept.mean - 10.0 / 199.0).abs() < 0.02);
}

#[test]
fn a_sample_is_fixed_and_near_the_whole() {
    let data = gaussian(900, 4, 5);
    let places = Matrix::new(900, 2, (0..900).flat_map(|row| data.row(row)[..2].to_vec()).collect()).unwrap();
    let map = adopted(data, places, None);
    let whole = Quality::new(&map, None, &QualityOptions::default()).unwrap();
    let some = QualityOptions { exact_up_to: 500, sample: 300, threads: 1, ..QualityOptions::default() };
    let sampled = Quality::new(&map, None, &some).unwrap();
    assert_eq!((sampled.rows, sampled.asked, whole.asked), (900, 300, 900));
    assert_eq!(Quality::new(&map, None, &QualityOptions { threads: 3, ..some.clone() }).unwrap(), sampled);
    for (one, all) in sampled.scales.iter().zip(&whole.scales) {
        let pairs = [
            (one.trustworthiness, all.trustworthiness),
            (one.continuity, all.continuity),
            (one.neighbours_kept, all.neighbours_kept),
        ];
        for (one, all) in pairs {
            assert!(one.error > 0.0 && (one.mean - all.mean).abs() < 4.0 * one.error, "{one:?} {all:?}");
        }
    }
}

#[test]
fn labels_on_the_map_beside_those_in_the_data_and_chance() {
    let data = gaussian(300, 3, 6);
    let labels: Vec<String> =
        (0..300).map(|row| if data.row(row)[0] > 0.0 { "right".into() } else { "left".into() }).collect();
    let good = Matrix::new(300, 2, (0..300).flat_map(|row| data.row(row)[..2].to_vec()).collect()).unwrap();
    let quality = |places: Matrix| {
        Quality::new(&adopted(data.clone(), places, Some(labels.clone())), None, &QualityOptions::default())
            .unwrap()
    };
    let (good, bad) = (quality(good), quality(gaussian(300, 2, 7)));
    let chance = good.label_share_by_chance.unwrap();
    assert!((chance - 0.5).abs() < 0.02);
    assert!(good.label_share.unwrap() > 0.8 && (bad.label_share.unwrap() - chance).abs() < 0.05);
    assert_eq!(good.label_share_of_rows, bad.label_share_of_rows);
    assert!(good.label_share_of_rows.unwrap().mean > 0.75);
}

#[test]
fn the_table_may_say_more_than_the_map_keeps() {
    // The first column is all that a PCA to one component sees of it.
    let mut random = Random::new(8);
    let data: Vec<f32> =
        (0..200).flat_map(|_| [10.0 * random.gaussian() as f32, random.gaussian() as f32]).collect();
    let data = Matrix::new(200, 2, data).unwrap();
    let places = Matrix::new(200, 1, (0..200).map(|row| data.row(row)[0]).collect()).unwrap();
    let fit = Fit { pca: PcaChoice::Components(1), dims: 1, ..Fit::default() };
    let map = fit.adopt(Rows { data: data.clone(), ids: None, labels: None }, places, &mut ignore).unwrap();
    let kept = |rows: Option<&Matrix>| {
        Quality::new(&map, rows, &QualityOptions::default()).unwrap().scales[0].neighbours_kept.mean
    };
    assert!(kept(None) > 0.9 && kept(Some(&data)) < kept(None) - 0.1, "{} {}", kept(None), kept(Some(&data)));
    let few = data.select(&[0, 1, 2]);
    let refused = Quality::new(&map, Some(&few), &QualityOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("200 rows") && refused.contains("3 were given"), "{refused}");
}

#[test]
fn clear_clusters_are_stable_and_perplexities_are_compared() {
    let mut random = Random::new(9);
    let rows: Vec<f32> = (0..120)
        .flat_map(|i| [0, 1, 2].map(|d| 20.0 * f32::from(u8::from(i % 3 == d))))
        .map(|v| v + random.gaussian() as f32)
        .collect();
    let rows = Rows { data: Matrix::new(120, 3, rows).unwrap(), ids: None, labels: None };
    let map = Fit { perplexity: Some(10.0), iterations: Some(300), ..Fit::default() }
        .run(rows, &mut ignore)
        .unwrap();
    let mut heard = Vec::new();
    let stable = seed_stability(&map, 2, &RefitOptions::default(), &mut |done| heard.push(done)).unwrap();
    assert_eq!((stable.fits, stable.rows, heard), (2, 120, vec![0, 1, 2]));
    // By chance 8 %.
    assert!(stable.shared > 0.4 && stable.shared_with_map.unwrap() > 0.4, "{stable:?}");
    assert!(seed_stability(&map, 1, &RefitOptions::default(), &mut |_| ()).is_err());
    let sampled = RefitOptions { most_rows: 80, ..RefitOptions::default() };
    let trials = perplexity_trials(&map, None, &[5.0, 20.0], &sampled, &mut |_| ()).unwrap();
    assert_eq!(trials.iter().map(|trial| trial.quality.rows).collect::<Vec<_>>(), [80, 80]);
    assert!(trials.iter().all(|trial| trial.quality.scales[0].neighbours_kept.mean > 0.3));
    let refused = perplexity_trials(&map, None, &[50.0], &sampled, &mut |_| ()).unwrap_err().to_string();
    assert!(refused.contains("50") && refused.contains("26"), "{refused}");
}
