//! Two maps compared: against plain code, against what must not matter, and against clusters made by hand.

use crate::common::TestRandom;
use lion_tsne::map::{MapParts, Provenance};
use lion_tsne::preprocess::Preprocess;
use lion_tsne::{DiffOptions, Error, Map, MapDiff, Matrix, Metric, ignore};
use std::collections::BTreeSet;

const PERPLEXITY: f64 = 4.0;

/// What a test knows of a map.
#[derive(Clone)]
struct Sketch {
    x: Vec<Vec<f32>>,
    y: Vec<Vec<f32>>,
    place_of: Option<Vec<u32>>,
    ids: Vec<String>,
    labels: Option<Vec<String>>,
}

impl Sketch {
    /// Rows of three columns and places of `dims`, both at random.
    fn random(rows: usize, dims: usize, seed: u64) -> Self {
        let mut random = TestRandom::new(seed);
        let mut table = |cols: usize| -> Vec<Vec<f32>> {
            (0..rows).map(|_| (0..cols).map(|_| random.gaussian() as f32).collect()).collect()
        };
        let ids = (0..rows).map(|row| format!("r{row}")).collect();
        Self { x: table(3), y: table(dims), place_of: None, ids, labels: None }
    }

    /// Some rows of it, in this order.
    fn rows(&self, which: &[usize]) -> Self {
        let pick = |table: &[Vec<f32>]| which.iter().map(|&row| table[row].clone()).collect();
        let texts = |texts: &[String]| which.iter().map(|&row| texts[row].clone()).collect();
        Self {
            x: pick(&self.x),
            y: pick(&self.y),
            place_of: None,
            ids: texts(&self.ids),
            labels: self.labels.as_deref().map(texts),
        }
    }

    /// The last `count` rows repeat the first ones.
    fn repeating(mut self, count: usize) -> Self {
        let rows = self.ids.len();
        self.place_of = Some(
            (0..rows).map(|row| if row < rows - count { row } else { row + count - rows } as u32).collect(),
        );
        self.x.truncate(rows - count);
        self.y.truncate(rows - count);
        self
    }

    fn map(&self) -> Map {
        let matrix = |table: &[Vec<f32>]| Matrix::new(table.len(), table[0].len(), table.concat()).unwrap();
        Map::new(MapParts {
            preprocess: Preprocess::new(Metric::Euclidean, self.x[0].len(), None).unwrap(),
            x: matrix(&self.x),
            y: matrix(&self.y),
            place_of: self.place_of.clone(),
            ids: Some(self.ids.clone()),
            labels: self.labels.clone(),
            provenance: Provenance { perplexity: PERPLEXITY, ..Provenance::default() },
            lion: None,
        })
        .unwrap()
    }

    fn distinct(&self, row: usize) -> usize {
        self.place_of.as_ref().map_or(row, |place_of| place_of[row] as usize)
    }

    fn place(&self, row: usize) -> &[f32] {
        &self.y[self.distinct(row)]
    }

    /// The ids of the nearest rows; rows that share a place count once, by the first id of `known` among them.
    fn nearest(&self, row: usize, k: usize, known: &[String]) -> BTreeSet<String> {
        let own = self.distinct(row);
        let mut others: Vec<(f64, usize)> = (0..self.x.len())
            .filter(|&other| other != own)
            .map(|other| (distance(&self.x[own], &self.x[other]), other))
            .collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let name = |distinct: usize| {
            let mut ids: Vec<&String> = (0..self.ids.len())
                .filter(|&row| self.distinct(row) == distinct)
                .map(|row| &self.ids[row])
                .collect();
            ids.sort_by_key(|id| known.iter().position(|other| other == *id).unwrap_or(usize::MAX));
            ids[0].clone()
        };
        others[..k].iter().map(|&(_, other)| name(other)).collect()
    }
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(p, q)| (f64::from(*p) - f64::from(*q)).powi(2)).sum::<f64>().sqrt()
}

fn diff(a: &Sketch, b: &Sketch) -> MapDiff {
    MapDiff::new(&a.map(), &b.map(), &DiffOptions::default(), &mut ignore).unwrap()
}

/// Turned (in the first two dimensions), mirrored, scaled and moved.
fn transformed(map: &Sketch, scale: f64, mirror: f64) -> Sketch {
    let (sin, cos) = 2.2f64.sin_cos();
    let place = |p: &Vec<f32>| {
        let p: Vec<f64> = p.iter().map(|&v| f64::from(v)).collect();
        let turned = match p.as_slice() {
            [x] => vec![mirror * x],
            [x, y, rest @ ..] => {
                let mut out = vec![cos * x - mirror * sin * y, sin * x + mirror * cos * y];
                out.extend(rest);
                out
            }
            [] => vec![],
        };
        turned.iter().enumerate().map(|(d, v)| (scale * v + 3.0 * d as f64 - 1.0) as f32).collect()
    };
    Sketch { y: map.y.iter().map(place).collect(), ..map.clone() }
}

#[test]
fn moved_and_overlap_are_as_plain_code_has_them() {
    for (dims, repeated) in [(1, 0), (2, 0), (3, 0), (2, 9)] {
        let whole = Sketch::random(90, dims, 3 + dims as u64);
        let mut a = whole.rows(&(0..80).collect::<Vec<_>>());
        // Other rows, another order, other places and, of some rows, other values.
        let mut b = whole.rows(&(10..90).rev().collect::<Vec<_>>());
        b.y = Sketch::random(80, dims, 77).y;
        b.x.iter_mut().step_by(5).for_each(|row| row[0] += 2.0);
        if repeated > 0 {
            (a, b) = (a.repeating(repeated), b.repeating(repeated));
        }
        let found = diff(&a, &b);
        assert_eq!((found.rows.len(), found.added.len(), found.removed.len()), (70, 10, 10));
        assert_eq!(found.neighbours, 12);
        let shared: Vec<String> = a.ids.iter().filter(|id| b.ids.contains(id)).cloned().collect();
        let centre: Vec<f32> = (0..dims)
            .map(|d| found.rows.iter().map(|row| b.place(row.b as usize)[d]).sum::<f32>() / 70.0)
            .collect();
        let radius =
            found.rows.iter().map(|row| distance(b.place(row.b as usize), &centre)).sum::<f64>() / 70.0;
        assert!((found.radius - radius).abs() < 1e-5 * radius);
        for row in &found.rows {
            let (row_a, row_b) = (row.a as usize, row.b as usize);
            assert_eq!(a.ids[row_a], b.ids[row_b]);
            let brought = found.similarity.apply(a.place(row_a));
            let moved = distance(&brought, b.place(row_b)) / radius;
            assert!((row.moved - moved).abs() < 1e-4, "{} {moved}", row.moved);
            let near_a = a.nearest(row_a, 12, &shared);
            let near_b = b.nearest(row_b, 12, &shared);
            let overlap = near_a.intersection(&near_b).count() as f64 / near_a.union(&near_b).count() as f64;
            assert_eq!(row.overlap, overlap, "{}", a.ids[row_a]);
        }
        let mean = found.rows.iter().map(|row| row.overlap).sum::<f64>() / 70.0;
        assert!((found.overlap_mean() - mean).abs() < 1e-12);
    }
}

#[test]
fn a_map_does_not_differ_from_itself_however_it_is_turned() {
    for dims in 1..=3 {
        let map = Sketch::random(120, dims, 8);
        for (other, mirrored) in [
            (map.clone(), false),
            (transformed(&map, 1.0, 1.0), false),
            (transformed(&map, 40.0, -1.0), true),
            (transformed(&map, 0.01, 1.0), false),
        ] {
            let found = diff(&map, &other);
            assert!(found.moved_quantile(1.0) < 1e-3, "{dims} {}", found.moved_quantile(1.0));
            assert!(found.rows.iter().all(|row| row.overlap == 1.0));
            assert_eq!(found.similarity.mirrored, mirrored);
            let clusters = &found.clusters;
            assert!(clusters.born.is_empty() && clusters.gone.is_empty());
            assert!(clusters.split.is_empty() && clusters.merged.is_empty());
            assert_eq!(clusters.kept.len(), clusters.a.len());
            assert_eq!(clusters.grown().count() + clusters.shrunk().count() + clusters.moved().count(), 0);
        }
        let same = diff(&map, &map);
        assert_eq!(same.a, same.b);
    }
}

#[test]
fn turning_the_second_map_changes_no_distance() {
    let (a, b) = (Sketch::random(150, 2, 1), Sketch::random(150, 2, 2));
    let b = Sketch {
        x: b.x.clone(),
        y: b.y.iter().zip(&a.y).map(|(p, q)| vec![q[0] + 0.4 * p[0], q[1] + 0.4 * p[1]]).collect(),
        ..b
    };
    let plain = diff(&a, &b);
    assert!(plain.moved_quantile(0.5) > 0.05);
    for (scale, mirror) in [(1.0, 1.0), (7.0, -1.0)] {
        let turned = diff(&a, &transformed(&b, scale, mirror));
        for (p, q) in plain.rows.iter().zip(&turned.rows) {
            assert!((p.moved - q.moved).abs() < 1e-3 && p.overlap == q.overlap, "{p:?} {q:?}");
        }
    }
}

#[test]
fn rows_that_moved_do_not_drag_the_others_along() {
    let a = Sketch::random(200, 2, 4);
    let mut b = transformed(&a, 3.0, -1.0);
    // A third of the map goes away together, and a tenth somewhere else.
    b.y[..66].iter_mut().for_each(|place| place[0] += 20.0);
    b.y[66..86].iter_mut().for_each(|place| place[1] -= 30.0);
    let found = diff(&a, &b);
    let stayed = found.rows[86..].iter().map(|row| row.moved).fold(0.0, f64::max);
    assert!(stayed < 1e-2, "{stayed}");
    let expected = 20.0 / found.radius;
    assert!(found.rows[..66].iter().all(|row| (row.moved - expected).abs() < 0.02), "{expected}");
    assert!((found.similarity.scale - 3.0).abs() < 0.02 && found.similarity.mirrored);
}

/// Clusters of 60 places each around these centres, of which each row is near; ids count on from `first`.
fn blobs(centres: &[(f32, f32, usize)], first: usize) -> Sketch {
    let mut random = TestRandom::new(21);
    let mut map = Sketch { x: vec![], y: vec![], place_of: None, ids: vec![], labels: None };
    for &(x, y, rows) in centres {
        for _ in 0..rows {
            map.ids.push(format!("r{}", first + map.ids.len()));
            map.y.push(vec![x + random.gaussian() as f32, y + random.gaussian() as f32]);
            map.x.push(map.y[map.y.len() - 1].clone());
        }
    }
    map
}

#[test]
fn clusters_split_merge_come_and_go() {
    // Four clusters; the first splits, the second and the third merge, the fourth leaves, a new one comes.
    let a = blobs(&[(0.0, 0.0, 160), (60.0, 0.0, 80), (60.0, 60.0, 80), (0.0, 60.0, 80)], 0);
    let mut b = a.rows(&(0..320).collect::<Vec<_>>());
    b.y[..80].iter_mut().for_each(|place| place[0] -= 40.0);
    let merging = (160..320).zip(blobs(&[(60.0, 0.0, 160)], 0).y);
    merging.for_each(|(row, place)| b.y[row] = place);
    let new = blobs(&[(120.0, -50.0, 90)], 1000);
    b.x.extend(new.x);
    b.y.extend(new.y);
    b.ids.extend(new.ids);
    let found = diff(&a, &b);
    let clusters = &found.clusters;
    assert_eq!((clusters.a.len(), clusters.b.len()), (4, 4), "{clusters:?}");
    let sizes = |which: &[u32], of: &[lion_tsne::diff::Cluster]| {
        which.iter().map(|&at| of[at as usize].rows).collect::<Vec<_>>()
    };
    assert_eq!(sizes(&clusters.born, &clusters.b), [90]);
    assert_eq!(sizes(&clusters.gone, &clusters.a), [80]);
    let [split] = &clusters.split[..] else { panic!("{:?}", clusters.split) };
    assert_eq!(clusters.a[split.cluster as usize].rows, 160);
    assert_eq!(split.parts.iter().map(|part| part.rows).collect::<Vec<_>>(), [80, 80]);
    let [merged] = &clusters.merged[..] else { panic!("{:?}", clusters.merged) };
    assert_eq!(clusters.b[merged.cluster as usize].rows, 160);
    assert_eq!(merged.parts.len(), 2);
    assert!(clusters.kept.is_empty());
    assert_eq!(found.removed.len(), 80);
}

#[test]
fn clusters_grow_shrink_and_move_under_their_names() {
    let label = |map: &mut Sketch, names: &[(&str, usize)]| {
        let labels = names.iter().flat_map(|&(name, rows)| vec![name.to_owned(); rows]);
        map.labels = Some(labels.collect());
    };
    let mut a = blobs(&[(0.0, 0.0, 120), (50.0, 0.0, 120), (0.0, 50.0, 100), (50.0, 50.0, 110)], 0);
    label(&mut a, &[("ash", 120), ("elm", 120), ("oak", 100), ("yew", 110)]);
    // The oaks lose half, the yews get 60 more, the elms go elsewhere.
    let mut b = a.rows(&(0..290).chain(340..450).collect::<Vec<_>>());
    b.y[120..240].iter_mut().for_each(|place| place[1] -= 30.0);
    let mut new = blobs(&[(50.0, 50.0, 60)], 1000);
    label(&mut new, &[("yew", 60)]);
    b.x.extend(new.x);
    b.y.extend(new.y);
    b.ids.extend(new.ids);
    b.labels.as_mut().unwrap().extend(new.labels.unwrap());
    let found = diff(&a, &b);
    let clusters = &found.clusters;
    let names = |pairs: Vec<&lion_tsne::diff::ClusterPair>| -> Vec<String> {
        pairs.iter().map(|pair| clusters.b[pair.b as usize].name.clone()).collect()
    };
    assert_eq!(clusters.kept.len(), 4, "{clusters:?}");
    assert_eq!(names(clusters.grown().collect()), ["yew"]);
    assert_eq!(names(clusters.shrunk().collect()), ["oak"]);
    assert_eq!(names(clusters.moved().collect()), ["elm"]);
    assert_eq!((found.a.label_share, found.b.label_share), (Some(1.0), Some(1.0)));
    assert!(found.b.neighbours_kept.is_some_and(|kept| kept > 0.5));
}

#[test]
fn maps_that_cannot_be_compared_are_refused_in_one_sentence() {
    let a = Sketch::random(30, 2, 1);
    let mut stranger = a.clone();
    stranger.ids.iter_mut().for_each(|id| id.push('x'));
    let refused = |b: &Sketch| match MapDiff::new(&a.map(), &b.map(), &DiffOptions::default(), &mut ignore) {
        Err(Error::Data(sentence)) => sentence,
        other => panic!("{other:?}"),
    };
    assert!(refused(&stranger).contains("share no ids"));
    assert!(refused(&Sketch::random(30, 3, 1)).contains("2 dimensions and the second 3"));
    // Other columns are another view of the same rows.
    let other =
        Sketch { x: Sketch::random(30, 2, 9).x.iter().map(|row| row[..2].to_vec()).collect(), ..a.clone() };
    assert!(diff(&a, &other).overlap_mean() < 0.9);
}

#[test]
fn the_smallest_maps_can_be_compared() {
    let a = Sketch::random(40, 2, 6);
    for rows in 1..4 {
        let b = a.rows(&(0..rows).collect::<Vec<_>>());
        for (from, to) in [(&a, &b), (&b, &a), (&b, &b)] {
            let found = diff(from, to);
            assert_eq!(found.rows.len(), rows);
            assert!(found.rows.iter().all(|row| row.moved.is_finite() && row.overlap.is_finite()));
        }
    }
    let one_place = Sketch { y: vec![vec![1.0, 1.0]; 40], ..a.clone() };
    assert!(diff(&a, &one_place).moved_quantile(1.0).is_finite());
    assert!(diff(&one_place, &a).moved_quantile(1.0).is_finite());
}

#[test]
fn threads_do_not_matter() {
    let (a, b) = (Sketch::random(700, 2, 1).map(), Sketch::random(900, 2, 2).map());
    let with = |threads| {
        let options = DiffOptions { threads, ..DiffOptions::default() };
        MapDiff::new(&a, &b, &options, &mut ignore).unwrap()
    };
    let (one, three) = (with(1), with(3));
    assert_eq!(one.rows, three.rows);
    assert_eq!((one.clusters, one.a, one.b), (three.clusters, three.a, three.b));
}
