//! Which rows are chosen.

use super::*;
use crate::preprocess::Preprocess;
use crate::random::Random;
use proptest::prelude::*;

fn table(rows: usize, cols: usize) -> Rows {
    let mut random = Random::new(5);
    let data = (0..rows * cols).map(|i| (random.gaussian() * (1 + i % cols) as f64 + 3.0) as f32);
    let labels = (0..rows).map(|row| if row % 50 == 0 { "rare" } else { "common" }.to_owned());
    Rows {
        data: Matrix::new(rows, cols, data.collect()).unwrap(),
        ids: Some((0..rows).map(|row| format!("r{row}")).collect()),
        labels: Some(labels.collect()),
    }
}

fn part(rows: &Rows, order: &[u32]) -> Rows {
    let names = |names: &Option<Vec<String>>| {
        names.as_ref().map(|names| order.iter().map(|&i| names[i as usize].clone()).collect())
    };
    Rows { data: rows.data.select(order), ids: names(&rows.ids), labels: names(&rows.labels) }
}

fn options(count: usize) -> LandmarkOptions {
    Fit { pca: PcaChoice::None, ..Fit::default() }.landmarks(count)
}

fn chosen(options: LandmarkOptions, parts: impl IntoIterator<Item = Rows>) -> Sampled {
    let mut landmarks = Landmarks::new(options).unwrap();
    parts.into_iter().for_each(|part| landmarks.add(part).unwrap());
    landmarks.finish().unwrap()
}

#[test]
fn whatever_the_order_and_the_parts() {
    let rows = table(1000, 3);
    for stratified in [false, true] {
        let options = LandmarkOptions { stratified, ..options(100) };
        let whole = chosen(options, [rows.clone()]);
        let mut order: Vec<u32> = (0..1000).collect();
        let mut random = Random::new(9);
        (1..order.len()).rev().for_each(|i| order.swap(i, random.below(i + 1)));
        let parts = chosen(options, order.chunks(37).map(|order| part(&rows, order)));
        assert_eq!(whole.rows.ids, parts.rows.ids);
        assert_eq!(whole.rows.data, parts.rows.data);
        assert_eq!(whole.rows.labels, parts.rows.labels);
        assert_eq!((whole.rows.data.rows(), whole.seen), (100, 1000));
    }
}

#[test]
fn each_label_has_its_share() {
    let options = LandmarkOptions { stratified: true, ..options(100) };
    let rare = |chosen: &Sampled| chosen.rows.labels.iter().flatten().filter(|l| *l == "rare").count();
    // There are 20 of the rare ones; all stay, and common ones fill up.
    let of_all = chosen(options, [table(1000, 3)]);
    assert_eq!((rare(&of_all), of_all.rows.data.rows()), (20, 100));
    let as_they_come = chosen(self::options(100), [table(1000, 3)]);
    assert!(rare(&as_they_come) < 10);
}

#[test]
fn fewer_rows_than_landmarks_all_stay() {
    let of_few = chosen(options(100), [table(30, 2)]);
    assert_eq!(of_few.rows.data.rows(), 30);
}

#[test]
fn the_pca_is_that_of_all_rows() {
    let rows = table(3000, 8);
    let options = LandmarkOptions { pca: PcaChoice::Components(4), ..options(50) };
    let order: Vec<u32> = (0..3000).collect();
    let streamed = chosen(options, order.chunks(700).map(|order| part(&rows, order))).pca.unwrap();
    let (whole, _) = Preprocess::fit(rows.data, Metric::Euclidean, PcaChoice::Components(4), 0).unwrap();
    let whole = whole.pca().unwrap();
    for (a, b) in streamed.components().data().iter().zip(whole.components().data()) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
    for (a, b) in streamed.variances().iter().zip(whole.variances()) {
        assert!((a / b - 1.0).abs() < 1e-5, "{a} {b}");
    }
    assert!((streamed.total_variance() / whole.total_variance() - 1.0).abs() < 1e-5);
    let again = chosen(options, order.chunks(123).map(|order| part(&table(3000, 8), order))).pca.unwrap();
    assert_eq!(streamed, again);
}

#[test]
fn what_does_not_go_together_is_refused() {
    assert!(Landmarks::new(options(3)).is_err());
    let mut landmarks = Landmarks::new(options(10)).unwrap();
    landmarks.add(table(20, 3)).unwrap();
    assert!(landmarks.add(table(20, 4)).is_err());
    assert!(landmarks.add(Rows { ids: None, ..table(20, 3) }).is_err());
    let broken =
        Rows { data: Matrix::new(1, 3, vec![0.0, f32::NAN, 1.0]).unwrap(), ..part(&table(20, 3), &[0]) };
    assert!(landmarks.add(broken).is_err());
}

#[test]
fn ids_that_come_twice_among_the_landmarks_are_refused() {
    let mut twice = table(20, 3);
    twice.ids.as_mut().unwrap()[7] = "r3".into();
    let mut landmarks = Landmarks::new(options(20)).unwrap();
    landmarks.add(twice).unwrap();
    let said = landmarks.finish().unwrap_err().to_string();
    assert!(said.contains("\"r3\" is there more than once"), "{said}");
}

#[test]
fn more_labels_than_landmarks_cannot_have_a_share_each() {
    let each = LandmarkOptions { stratified: true, ..options(10) };
    let mut rows = table(20, 3);
    rows.labels = rows.ids.clone();
    let said = Landmarks::new(each).unwrap().add(rows).unwrap_err().to_string();
    assert!(said.contains("more than 10 different labels"), "{said}");
    let nameless = Rows { labels: None, ..table(20, 3) };
    assert!(Landmarks::new(each).unwrap().add(nameless).is_err());
}

/// How many rows the held-out rows stand for, and how many there are.
fn stands_for(chosen: &Sampled) -> (u64, usize) {
    (chosen.held_out.of(), chosen.held_out.rows())
}

#[test]
fn held_out_rows_stand_for_all_other_rows() {
    for stratified in [false, true] {
        for cover in [false, true] {
            let options = LandmarkOptions { stratified, cover, ..options(100) };
            let few = chosen(options, [table(1000, 3)]);
            assert_eq!((few.rows.data.rows(), stands_for(&few)), (100, (900, 900)));
        }
    }
    // Wide rows have fewer held-out rows than there are other rows.
    let (rows, cols) = (1000, 40_000);
    let wide = |part: u32| Matrix::new(250, cols, vec![part as f32; 250 * cols]).unwrap().into();
    let many = chosen(options(10), (0..4).map(wide));
    let (of, there) = stands_for(&many);
    assert_eq!((of, there), (rows - 10, (1 << 25) / cols));
}

/// A ring of rows that lie one by one, 2 apart, around a heap that most rows are in.
fn heap_and_ring() -> Rows {
    let mut random = Random::new(2);
    let mut values = Vec::new();
    for row in 0..4000 {
        match row % 40 {
            0 => {
                let angle = f64::from(row) / 4000.0 * std::f64::consts::TAU;
                values.extend([32.0 * angle.cos(), 32.0 * angle.sin()].map(|v| v as f32));
            }
            _ => values.extend([random.gaussian() as f32, random.gaussian() as f32]),
        }
    }
    Matrix::new(4000, 2, values).unwrap().into()
}

#[test]
fn cover_takes_rows_of_sparse_regions() {
    let radius = Some(Radius::Value(3.0));
    let plain = LandmarkOptions { radius, ..options(200) };
    let on_ring = |chosen: &Sampled| {
        let data = &chosen.rows.data;
        (0..data.rows()).filter(|&row| data.row(row)[0].hypot(data.row(row)[1]) > 20.0).count()
    };
    let without = chosen(plain, [heap_and_ring()]);
    let with = chosen(LandmarkOptions { cover: true, ..plain }, [heap_and_ring()]);
    assert_eq!((without.covering, with.rows.data.rows(), stands_for(&with).0), (0, 200, 3800));
    assert!((10..=20).contains(&with.covering), "{}", with.covering);
    assert!(on_ring(&with) >= on_ring(&without) + 10, "{} {}", on_ring(&without), on_ring(&with));
    // They come last, far from the plain ones and from each other.
    let data = &with.rows.data;
    for row in 200 - with.covering..200 {
        for other in (0..200).filter(|&other| other != row) {
            let (a, b) = (data.row(row), data.row(other));
            assert!((a[0] - b[0]).hypot(a[1] - b[1]) > 3.0, "{row} {other}");
        }
    }
    // Whatever the parts.
    let rows = heap_and_ring();
    let order: Vec<u32> = (0..4000).collect();
    let parts = order.chunks(333).map(|order| part(&rows, order));
    let again = chosen(LandmarkOptions { cover: true, threads: 1, ..plain }, parts);
    assert_eq!((again.rows.ids, again.rows.data), (with.rows.ids, with.rows.data));
}

#[test]
fn room_is_made_where_there_are_most_landmarks() {
    let rows = heap_and_ring();
    let labels = (0..4000).map(|row| if row < 20 { "rare" } else { "common" }.to_owned());
    let rows = Rows { labels: Some(labels.collect()), ..rows };
    let radius = Some(Radius::Value(3.0));
    let options = LandmarkOptions { stratified: true, cover: true, radius, ..options(200) };
    let chosen = chosen(options, [rows]);
    let rare = chosen.rows.labels.iter().flatten().filter(|label| *label == "rare").count();
    assert!(chosen.covering > 5 && rare == 20, "{} {rare}", chosen.covering);
}

/// Landmarks of these rows, in the making.
fn of_part(options: LandmarkOptions, rows: Rows, expected: Option<&BTreeMap<String, u64>>) -> Landmarks {
    let mut landmarks = Landmarks::new(options).unwrap();
    if let Some(expected) = expected {
        landmarks = landmarks.expecting(expected.clone());
    }
    landmarks.add(rows).unwrap();
    landmarks
}

fn same(a: &Sampled, b: &Sampled) -> bool {
    let of = |chosen: &Sampled| (chosen.held_out.of(), chosen.held_out.rows(), chosen.covering, chosen.seen);
    (&a.rows.ids, &a.rows.labels, &a.rows.data, &a.pca) == (&b.rows.ids, &b.rows.labels, &b.rows.data, &b.pca)
        && of(a) == of(b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn parts_merged_in_any_order_are_one_pass(
        seed in 0u64..1000,
        count in 20usize..1500,
        kinds in 1usize..7,
        ids in prop::sample::select(vec![1usize, 90, 100_000]),
        stratified in any::<bool>(),
        cover in any::<bool>(),
        counted in any::<bool>(),
        parts in 1usize..9,
    ) {
        let mut random = Random::new(seed);
        let mut rows = table(count, 3);
        // Ids that come again, with the same values or others.
        rows.ids = Some((0..count).map(|_| random.below(ids).to_string()).collect());
        rows.labels = Some((0..count).map(|_| format!("k{}", random.below(kinds * kinds) / kinds)).collect());
        (0..count / 20).for_each(|row| {
            let (to, from) = (3 * row, 3 * (count - row - 1));
            rows.data.data_mut().copy_within(from..from + 3, to);
        });
        let choice = PcaChoice::Components(2);
        let options = LandmarkOptions { stratified, cover, pca: choice, held_out: 40, seed, ..options(16) };
        let mut expected = BTreeMap::new();
        rows.labels.iter().flatten().for_each(|label| *expected.entry(label.clone()).or_default() += 1);
        let whole = of_part(options, rows.clone(), None);
        let mut order: Vec<u32> = (0..count as u32).collect();
        (1..count).rev().for_each(|i| order.swap(i, random.below(i + 1)));
        let expected = counted.then_some(&expected);
        let part = |order: &[u32]| of_part(options, part(&rows, order), expected);
        let mut states: Vec<Landmarks> = order.chunks(count.div_ceil(parts)).map(part).collect();
        while states.len() > 1 {
            let one = states.swap_remove(random.below(states.len()));
            let at = random.below(states.len());
            states[at].merge_bytes(&one.to_bytes()).unwrap();
        }
        let merged = states.swap_remove(0);
        if !merged.is_complete() {
            // Only hashes that are not as hashes are can be missed.
            prop_assert!(counted && ids < 100_000);
            return Ok(());
        }
        match (whole.finish(), merged.finish()) {
            (Ok(whole), Ok(merged)) => prop_assert!(same(&whole, &merged)),
            (whole, merged) => {
                let said = |chosen: Result<Sampled>| chosen.map(drop).map_err(|error| error.to_string());
                prop_assert_eq!(said(whole), said(merged));
            }
        }
    }

    #[test]
    fn damaged_parts_are_refused_or_harmless(
        at in 0usize..4000,
        by in 1u8..=255,
        cut in prop::option::of(0usize..4000),
    ) {
        let options = LandmarkOptions { stratified: true, pca: PcaChoice::Components(2), held_out: 8, ..options(9) };
        let one = of_part(options, table(60, 3), None);
        let mut bytes = one.to_bytes();
        let changed = at % bytes.len();
        bytes[changed] = bytes[changed].wrapping_add(by);
        bytes.truncate(cut.map_or(bytes.len(), |cut| cut % bytes.len()));
        let mut landmarks = Landmarks::new(options).unwrap();
        if landmarks.merge_bytes(&bytes).is_ok() {
            let _ = landmarks.finish();
        }
    }
}

#[test]
fn a_part_of_a_large_table_keeps_what_can_become_a_landmark() {
    let rows = table(20_000, 3);
    let options = LandmarkOptions { held_out: 100, ..options(100) };
    let expected = BTreeMap::from([(String::new(), 20_000)]);
    let order: Vec<u32> = (0..20_000).collect();
    let parts = order.chunks(2000).map(|order| of_part(options, part(&rows, order), Some(&expected)));
    let mut all = Landmarks::new(options).unwrap();
    for part in parts {
        // Of 200 rows that stay in the end, and some in case, it has about a tenth.
        let bytes = part.to_bytes();
        assert!(bytes.len() < 70 * 26 + 200, "{}", bytes.len());
        all.merge_bytes(&bytes).unwrap();
    }
    assert!(all.is_complete());
    assert!(same(&all.finish().unwrap(), &chosen(options, [rows])));
    // With one row of ten that were counted, what should stay is missing.
    let mut few = Landmarks::new(options).unwrap();
    let expected = BTreeMap::from([(String::new(), 200_000)]);
    few.merge_bytes(&of_part(options, table(20_000, 3), Some(&expected)).to_bytes()).unwrap();
    assert!(!few.is_complete());
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let said = |options: LandmarkOptions, rows: Rows| {
        let mut landmarks = of_part(self::options(10), table(20, 3), None);
        let part = of_part(options, rows, None).to_bytes();
        landmarks.merge_bytes(&part).unwrap_err().to_string()
    };
    let other = LandmarkOptions { seed: 7, ..options(10) };
    assert!(said(other, table(20, 3)).contains("other options"));
    assert!(said(options(10), Rows { ids: None, ..table(20, 3) }).contains("no ids"));
    assert!(said(options(10), Rows { labels: None, ..table(20, 3) }).contains("others do not"));
    assert!(said(options(10), table(20, 4)).contains("rows of 3 columns"));
    let mut landmarks = Landmarks::new(options(10)).unwrap();
    assert!(landmarks.merge_bytes(b"something").unwrap_err().to_string().contains("another version"));
    // A part without rows changes nothing.
    landmarks.merge_bytes(&Landmarks::new(options(10)).unwrap().to_bytes()).unwrap();
    assert_eq!(landmarks.seen(), 0);
}
