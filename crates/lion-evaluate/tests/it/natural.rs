//! Whether placed rows look like the map's own, as t-SNE's own measures tell.

use crate::common::clusters;
use lion_evaluate::{JoinedKl, Judge};
use lion_tsne::{Fit, Lion, LionOptions, Local, Map, Matrix, PcaChoice, Verdict, ignore};

fn lion(map: &Map, local: Local) -> Lion {
    Lion::new(map.clone(), &LionOptions { local, ..LionOptions::default() }).expect("a map ready for placing")
}

/// A thousand rows in five clusters: those of the map, and those that it has not seen.
fn known_and_unseen(seed: u64) -> (Matrix, Matrix) {
    let all = clusters(1000, 8, 5, 2.0, seed);
    let part = |rows: std::ops::Range<u32>| all.select(&rows.collect::<Vec<u32>>());
    (part(0..800), part(800..1000))
}

/// What the repulsion is for: rows like the map's own go where t-SNE would put them, as far from others as those are.
#[test]
fn ordinary_rows_look_like_the_maps_own() {
    for (dims, seed) in [(2, 46), (3, 47)] {
        let (known, unseen) = known_and_unseen(seed);
        let fit = Fit { perplexity: Some(20.0), dims, pca: PcaChoice::None, ..Fit::default() };
        let map = fit.run(known.clone(), &mut ignore).expect("a map");
        let (kl, judge) = (JoinedKl::new(&map).expect("divergence"), Judge::new(&map).expect("a judge"));
        let outcome = |local: Local| {
            let placed = lion(&map, local).place(&unseen).expect("placed");
            let among: Vec<usize> =
                (0..placed.len()).filter(|&i| placed[i].verdict == Verdict::Interpolated).collect();
            let divergence: f64 =
                among.iter().map(|&i| kl.with_row(unseen.row(i)).at(&placed[i].place)).sum();
            let places: Vec<f32> = among.iter().flat_map(|&i| placed[i].place.to_vec()).collect();
            let places = Matrix::new(among.len(), dims, places).expect("sizes");
            let percentiles = judge.percentiles(&places).expect("percentiles");
            let count = among.len() as f64;
            (divergence / count, percentiles.iter().sum::<f64>() / count, among.len())
        };
        let (energy, attraction) = (outcome(Local::Energy), outcome(Local::Attraction));
        assert!(energy.2 == attraction.2 && energy.2 > 120, "{energy:?} {attraction:?}");
        assert!(energy.0 < attraction.0, "{energy:?} {attraction:?}");
        assert!((energy.1 - 50.0).abs() < (attraction.1 - 50.0).abs(), "{energy:?} {attraction:?}");
    }
}

/// A t-SNE map is adopted as it is, and as someone may have scaled it: rows stay as far from others as the map's own are,
/// or the repulsion is left out.
#[test]
fn adopted_maps_may_be_in_other_units() {
    let (known, unseen) = known_and_unseen(50);
    let fit = Fit { perplexity: Some(30.0), pca: PcaChoice::None, ..Fit::default() };
    let map = fit.run(known.clone(), &mut ignore).expect("a map");
    for scale in [1e-3, 0.03, 0.3, 1.0, 3.0] {
        let scaled = Matrix::from_rows(2, map.y().data().iter().map(|v| v * scale).collect());
        let map = Fit { pca: PcaChoice::None, ..Fit::default() }.adopt(known.clone(), scaled, &mut ignore);
        let map = map.expect("a map");
        let judge = Judge::new(&map).expect("a judge");
        let percentile = |local: Local| {
            let placed = lion(&map, local).place(&unseen).expect("placed");
            let among = placed.iter().filter(|placement| placement.verdict == Verdict::Interpolated);
            let flat: Vec<f32> = among.flat_map(|placement| placement.place.to_vec()).collect();
            let found = judge
                .percentiles(&Matrix::new(flat.len() / 2, 2, flat).expect("sizes"))
                .expect("percentiles");
            found.iter().sum::<f64>() / found.len() as f64
        };
        let (energy, attraction) = (percentile(Local::Energy), percentile(Local::Attraction));
        println!("scale {scale}: energy {energy:.1}, attraction {attraction:.1}");
        assert!(energy >= attraction - 1.0 && energy < 65.0, "scale {scale}: {energy}, {attraction}");
    }
}
