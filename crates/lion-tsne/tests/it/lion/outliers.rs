//! Outlier positions: which one, for whom, how far from everything else.

use super::grid_oracle::{OracleCell, OracleGrid};
use super::oracle::{self, distance};
use super::support::{Clustered, adopt, extent, lion, matrix, narrow, place_of, rows, shuffled, strangers};
use crate::common::{TestRandom, paper};
use lion_tsne::lion::{Positions, Resolved};
use lion_tsne::{Lion, LionOptions, Map, Placement, Radius, Verdict};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// Options under which a map of `Clustered` has cells inside it: r_x that tells strangers apart, r_y small.
fn options(r_y: f64) -> LionOptions {
    LionOptions {
        radius: Some(Radius::Value(3.0)),
        r_y: Some(Radius::Value(r_y)),
        r_close: Some(Radius::Value(r_y / 10.0)),
        ..paper()
    }
}

/// The place of the row that is nearest to `x`: what its position should be close to.
fn target(lion: &Lion, x: &[f64]) -> Vec<f64> {
    let (rows, places) = (rows(lion.map().x()), rows(lion.map().y()));
    places[oracle::by_distance(x, &rows)[0]].clone()
}

/// The cell of ring 0, 1, 2 .. whose centre this is.
fn cell_at(grid: &OracleGrid, place: &[f64], rings: i64, tolerance: f64) -> Option<OracleCell> {
    (0..=rings).flat_map(|ring| grid.ring(ring)).find(|cell| distance(&grid.centre(cell), place) < tolerance)
}

/// Outliers one after another through one placer: each gets the free position closest to its nearest row's place.
#[test]
fn one_by_one_positions_are_the_closest_free_ones() {
    for (seed, dims, r_y, count) in [
        (1, 2, 1.5, 120),
        (2, 2, 5.0, 120),
        (3, 3, 4.0, 60),
        (4, 2, 40.0, 60),
        (18, 1, 0.2, 60),
        (19, 1, 40.0, 30),
    ] {
        let map = Clustered { rows: 120, cols: 3, dims, lonely: 0, seed }.map();
        let lion = lion(&map, &options(r_y));
        let places = rows(map.y());
        let grid = OracleGrid::new(&places, r_y);
        let tolerance = 1e-5 * extent(&places);
        let mut numbers = TestRandom::new(seed);
        let mut rows = strangers(&rows(map.x()), count, 3.0);
        // In all directions, so that their nearest rows differ.
        rows.iter_mut().flatten().for_each(|v| *v *= if numbers.uniform() < 0.5 { -1.0 } else { 1.0 });
        let (mut placer, mut taken) = (lion.placer(), Vec::new());
        let mut rings = HashSet::new();
        for (i, row) in rows.iter().enumerate() {
            if rows[..i].iter().any(|earlier| distance(earlier, row) <= 3.0) {
                continue;
            }
            let placement = placer.place_row(&narrow(row)).expect("placed");
            assert_eq!(placement.verdict, Verdict::Outlier, "row {i}");
            let (target, place) = (target(&lion, row), place_of(&placement));
            let wanted = grid.nearest_position(&target, &taken);
            let cell = match distance(&place, &grid.centre(&wanted)) < tolerance {
                true => wanted,
                // Another is as good only if it is as close, in the same ring and free.
                false => {
                    let other = cell_at(&grid, &place, grid.ring_of(&wanted), tolerance).expect("a position");
                    assert!(!taken.contains(&other) && grid.ring_of(&other) == grid.ring_of(&wanted));
                    let closer = distance(&target, &grid.centre(&wanted)) + tolerance;
                    assert!(distance(&target, &place) < closer, "row {i}: {other:?} instead of {wanted:?}");
                    other
                }
            };
            rings.insert(grid.ring_of(&cell));
            taken.push(cell);
        }
        assert!(taken.len() > count / 2 && rings.len() > 1, "{} placed, rings {rings:?}", taken.len());
    }
}

/// 4 x 2 cells of side 1. The place (1, 1) is on the bounds of four of them, (2, 0.5) on those of two, and a corner of
/// the plot is in each of two: two cells are free.
#[test]
fn a_place_on_a_bound_occupies_the_cells_on_both_sides() {
    let places = [[0.0, 0.0], [4.0, 2.0], [2.0, 0.5], [1.0, 1.0]].map(|place| place.to_vec());
    let x: Vec<Vec<f64>> = (0..4).map(|i| vec![f64::from(i), 0.0]).collect();
    let lion = lion(&adopt(&x, &places), &options(0.5));
    let placed = lion.place(&matrix(&strangers(&x, 3, 50.0))).expect("placed");
    let is_inside = |place: &[f64]| (0.0..=4.0).contains(&place[0]) && (0.0..=2.0).contains(&place[1]);
    let mut inside: Vec<Vec<f64>> = placed.iter().map(place_of).filter(|place| is_inside(place)).collect();
    inside.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!(inside, [[2.5, 1.5], [3.5, 0.5]]);
}

/// The members of each group by their number in the batch.
fn by_group(placed: &[Placement]) -> BTreeMap<u64, Vec<usize>> {
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (i, placement) in placed.iter().enumerate() {
        if let Some(group) = placement.group {
            groups.entry(group).or_default().push(i);
        }
    }
    groups
}

/// Strangers, most of them with companions within r_x, some linked only through others.
fn companions(map: &Map, count: usize) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    for (i, stranger) in strangers(&rows(map.x()), count, 20.0).into_iter().enumerate() {
        for step in 0..1 + i % 4 {
            let mut row = stranger.clone();
            row[0] += 2.0 * step as f64;
            all.push(row);
        }
    }
    let order = shuffled(all.len(), 5);
    rows(&matrix(&order.iter().map(|&i| all[i as usize].clone()).collect::<Vec<_>>()))
}

#[test]
fn a_batch_is_placed_as_if_one_group_came_after_another() {
    for (seed, dims, r_y) in [(6, 2, 1.5), (7, 2, 6.0), (8, 3, 5.0), (20, 1, 1.0)] {
        let map = Clustered { rows: 120, cols: 3, dims, lonely: 0, seed }.map();
        let lion = lion(&map, &options(r_y));
        let places = rows(map.y());
        let (grid, tolerance) = (OracleGrid::new(&places, r_y), 1e-5 * extent(&places));
        // A ring has two cells on a line.
        let rings = if dims == 1 { 30 } else { 4 };
        let batch = companions(&map, 60);
        let placed = lion.place(&matrix(&batch)).expect("placed");
        assert!(placed.iter().all(|placement| placement.verdict == Verdict::Outlier));

        let groups = by_group(&placed);
        let truth = oracle::groups(&batch, 3.0);
        assert_eq!(groups.len(), truth.iter().collect::<HashSet<_>>().len());
        let mut leaders = Vec::new();
        for members in groups.values() {
            assert!(members.iter().all(|&i| truth[i] == truth[members[0]]), "{members:?} are one group");
            let at_position =
                |&&i: &&usize| cell_at(&grid, &place_of(&placed[i]), rings, tolerance).is_some();
            let leader = *members.iter().find(at_position).expect("one member takes a position");
            let position = place_of(&placed[leader]);
            for &i in members {
                let off = distance(&place_of(&placed[i]), &position);
                assert!(off <= lion.r_close() + tolerance, "row {i} is {off} from its group's position");
            }
            leaders.push((leader, cell_at(&grid, &position, rings, tolerance).expect("a position")));
        }
        assert_greedy(&lion, &grid, &batch, leaders, tolerance);
    }
}

/// There is an order of the groups in which each took the best position that was left: again and again some group
/// that is not yet counted has the best of what is left.
fn assert_greedy(
    lion: &Lion,
    grid: &OracleGrid,
    batch: &[Vec<f64>],
    mut leaders: Vec<(usize, OracleCell)>,
    tolerance: f64,
) {
    let mut taken: Vec<OracleCell> = Vec::new();
    while !leaders.is_empty() {
        let best_of_the_rest = |(leader, cell): &(usize, OracleCell)| {
            let target = target(lion, &batch[*leader]);
            let best = grid.nearest_position(&target, &taken);
            let from_target = |cell: &OracleCell| distance(&target, &grid.centre(cell));
            grid.ring_of(cell) == grid.ring_of(&best) && from_target(cell) < from_target(&best) + tolerance
        };
        let next = leaders.iter().position(best_of_the_rest);
        let next = next.unwrap_or_else(|| panic!("none of {leaders:?} has the best position left"));
        let (_, cell) = leaders.swap_remove(next);
        assert!(!taken.contains(&cell), "{cell:?} was given twice");
        taken.push(cell);
    }
}

#[test]
fn positions_depend_on_the_set_of_outliers_not_on_their_order() {
    for positions in [Positions::Nearest, Positions::Random] {
        let map = Clustered { rows: 120, cols: 3, dims: 2, lonely: 0, seed: 9 }.map();
        let lion = lion(&map, &LionOptions { positions, ..options(4.0) });
        let mut batch = companions(&map, 50);
        batch.extend(rows(map.x()).into_iter().take(30));
        let matrix = matrix(&batch);
        let placed = lion.place(&matrix).expect("placed");
        for seed in 0..5 {
            let order = shuffled(batch.len(), seed);
            let again = lion.place(&matrix.select(&order)).expect("placed");
            for (&i, placement) in order.iter().zip(&again) {
                let before = &placed[i as usize];
                assert_eq!(&*placement.place, &*before.place, "row {i} in order {seed}");
                assert_eq!((placement.verdict, placement.score), (before.verdict, before.score));
            }
            let first = by_group(&placed).into_values().map(|g| g.into_iter().collect::<HashSet<_>>());
            let now = by_group(&again).into_values().map(|g| g.iter().map(|&i| order[i] as usize).collect());
            let (mut first, mut now): (Vec<HashSet<usize>>, Vec<HashSet<usize>>) =
                (first.collect(), now.collect());
            first.sort_by_key(|group| group.iter().min().copied());
            now.sort_by_key(|group| group.iter().min().copied());
            assert_eq!(first, now);
        }
    }
}

#[test]
fn a_placer_never_gives_a_position_twice() {
    for positions in [Positions::Nearest, Positions::Random] {
        let map = Clustered { rows: 120, cols: 3, dims: 2, lonely: 0, seed: 10 }.map();
        let lion = lion(&map, &LionOptions { positions, ..options(4.0) });
        let all = strangers(&rows(map.x()), 200, 3.0);
        let mut placer = lion.placer();
        let mut places = Vec::new();
        let mut groups = HashSet::new();
        for (i, batch) in all.chunks(7).enumerate() {
            let placed = match i % 2 {
                0 => placer.place(&matrix(batch)).expect("placed"),
                _ => batch.iter().map(|row| placer.place_row(&narrow(row)).expect("placed")).collect(),
            };
            groups.extend(placed.iter().map(|placement| placement.group.expect("a group")));
            places.extend(placed.iter().map(place_of));
        }
        assert_eq!(groups.len(), 200, "each is a group of its own, also over calls");
        assert_apart(&places, lion.r_y());
        // Another placer begins anew.
        let again = lion.placer().place(&matrix(&all[..7])).expect("placed");
        assert_eq!(again.iter().map(place_of).collect::<Vec<_>>(), places[..7]);
    }
}

/// Two rows alone through one placer: different cells. Without one they do not know of each other.
#[test]
fn single_outliers_do_not_share_a_cell() {
    for positions in [Positions::Nearest, Positions::Random] {
        let map = Clustered { rows: 120, cols: 3, dims: 2, lonely: 0, seed: 11 }.map();
        let lion = lion(&map, &LionOptions { positions, ..options(4.0) });
        let two = matrix(&strangers(&rows(map.x()), 2, 30.0));
        let mut placer = lion.placer();
        let one = placer.place_row(two.row(0)).expect("placed");
        let other = placer.place_row(two.row(1)).expect("placed");
        assert!(distance(&place_of(&one), &place_of(&other)) >= lion.r_y() * (1.0 - 1e-6));
        assert!(one.group != other.group);
        assert_eq!(lion.place_row(two.row(0)).expect("placed").place, one.place);
    }
}

#[test]
fn a_placer_remembers_groups() {
    let map = Clustered { rows: 120, cols: 3, dims: 2, lonely: 0, seed: 12 }.map();
    let lion = lion(&map, &options(4.0));
    let strangers = strangers(&rows(map.x()), 2, 30.0);
    let mut placer = lion.placer();
    let mut place = |row: &[f64]| placer.place_row(&narrow(row)).expect("placed");
    let first = place(&strangers[0]);
    let other = place(&strangers[1]);
    // 2.5 away each, 5 from the first to the last: linked through the one between.
    for step in 1..3 {
        let mut row = strangers[0].clone();
        row[0] += 2.5 * f64::from(step);
        let companion = place(&row);
        assert_eq!(companion.group, first.group);
        let off = distance(&place_of(&companion), &place_of(&first));
        assert!(off <= lion.r_close() + 1e-4, "step {step}: {off}");
    }
    assert!(other.group != first.group && other.group.is_some());
    // The very same row again is in its group too.
    assert_eq!(place(&strangers[1]).group, other.group);
}

#[test]
fn settling_first_and_giving_positions_later_is_placing() {
    let map = Clustered { rows: 200, cols: 3, dims: 2, lonely: 5, seed: 13 }.map();
    let lion = lion(&map, &options(4.0));
    let mut batch = companions(&map, 40);
    batch.extend(rows(map.x()).into_iter().map(|row| row.iter().map(|v| v + 0.01).collect()));
    let order = shuffled(batch.len(), 14);
    let matrix = matrix(&batch).select(&order);
    let whole = lion.placer().place(&matrix).expect("placed");

    let (mut resolved, mut outliers, mut at) = (vec![None; batch.len()], lion.pending_outliers(), Vec::new());
    let mut first = 0;
    for size in [1, 50, 3].into_iter().cycle() {
        let last = (first + size).min(batch.len());
        let part: Vec<u32> = (first as u32..last as u32).collect();
        for (i, row) in (first..last).zip(lion.resolve(&matrix.select(&part)).expect("resolved")) {
            match row {
                Resolved::Placed(placement) => resolved[i] = Some(placement),
                Resolved::Outlier(outlier) => {
                    let known = outlier.placement();
                    assert_eq!((known.verdict, known.nearest), (Verdict::Outlier, whole[i].nearest));
                    assert_eq!((known.score, known.neighbours), (whole[i].score, whole[i].neighbours));
                    resolved[i] = Some(known.clone());
                    outliers.push(outlier);
                    at.push(i);
                }
            }
        }
        first = last;
        if first == batch.len() {
            break;
        }
    }
    assert!(at.len() > 40 && at.len() < batch.len());
    let given = lion.give_positions(outliers, batch.len());
    for (i, given) in at.into_iter().zip(given) {
        resolved[i] = resolved[i].take().map(|known| given.complete(known));
    }
    for (i, (one, other)) in resolved.iter().zip(&whole).enumerate() {
        assert_eq!(one.as_ref(), Some(other), "row {i}");
    }
}

/// No two of these are closer than `least`.
fn assert_apart(places: &[Vec<f64>], least: f64) {
    let mut order: Vec<&Vec<f64>> = places.iter().collect();
    order.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let least = least * (1.0 - 1e-6);
    for (i, place) in order.iter().enumerate() {
        for other in order[i + 1..].iter().take_while(|other| other[0] - place[0] < least) {
            assert!(distance(place, other) >= least, "{place:?} and {other:?} are within {least}");
        }
    }
}

/// Places of a map of some shape: 0 a cloud, 1 two far clouds, 2 a line along an axis, 3 a slanted line, 4 a point,
/// 5 a narrow band, 6 a grid on round numbers, 7 tiny, 8 huge and far from the origin.
fn layout(kind: usize, count: usize, dims: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut numbers = TestRandom::new(seed);
    let mut place = |i: usize| -> Vec<f64> {
        let mut at = |d: usize| {
            let v = numbers.gaussian();
            match kind {
                0 => 10.0 * v,
                1 => v + f64::from((i % 2) as u32) * 80.0,
                2 => [f64::from(i as u32) * 1.5, 3.0, -1.0][d],
                3 => f64::from(i as u32) * [1.0, 0.3, -2.0][d],
                4 => [2.5, -7.0, 0.0][d],
                5 => v * [20.0, 0.01, 5.0][d],
                6 => f64::from((i / 6usize.pow(d as u32) % 6) as u32),
                7 => 1e-6 * v,
                _ => 1e6 + 1e4 * v,
            }
        };
        (0..dims).map(&mut at).collect()
    };
    let places: Vec<Vec<f64>> = (0..count).map(&mut place).collect();
    rows(&matrix(&places))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// An outlier position is at least r_y from every place of the map and from every other group's position.
    #[test]
    fn positions_keep_their_distance(
        kind in 0usize..9,
        count in 1usize..80,
        dims in 1usize..4,
        seed: u64,
        random: bool,
        r_y in prop_oneof![Just(None), (0.02f64..3.0).prop_map(Some)],
        outliers in 1usize..120,
        calls in 1usize..4,
    ) {
        let places = layout(kind, count, dims, seed);
        let x: Vec<Vec<f64>> = (0..count).map(|i| vec![f64::from(i as u32), 0.5]).collect();
        let map = adopt(&x, &places);
        let options = LionOptions {
            radius: Some(Radius::Value(1.5)),
            // As a share of the plot: from many cells inside it to a plot narrower than a cell.
            r_y: r_y.map(|share| Radius::Value((share * extent(&places)).max(1e-3))),
            positions: if random { Positions::Random } else { Positions::Nearest },
            seed,
            ..paper()
        };
        let lion = lion(&map, &options);
        prop_assert!(lion.r_y() > 0.0, "r_y is {}", lion.r_y());
        let rows = strangers(&x, outliers, 5.0);
        let mut placer = lion.placer();
        let mut positions = Vec::new();
        for batch in rows.chunks(outliers.div_ceil(calls)) {
            let placed = placer.place(&matrix(batch)).expect("placed");
            prop_assert!(placed.iter().all(|placement| placement.verdict == Verdict::Outlier));
            positions.extend(placed.iter().map(place_of));
        }
        prop_assert!(positions.iter().flatten().all(|v| v.is_finite()));
        for position in &positions {
            let nearest = places.iter().map(|y| distance(y, position)).fold(f64::INFINITY, f64::min);
            // The positions themselves are rounded to 32 bits.
            let rounding = 1e-7 * position.iter().fold(0.0f64, |most, v| most.max(v.abs()));
            let least = lion.r_y() * (1.0 - 1e-6) - rounding;
            prop_assert!(nearest >= least, "{position:?} is {nearest} from a place, r_y is {}", lion.r_y());
        }
        let largest = positions.iter().flatten().fold(0.0f64, |most, v| most.max(v.abs()));
        assert_apart(&positions, lion.r_y() - 2e-7 * largest);
    }
}

#[test]
fn another_seed_is_another_random_choice() {
    let map = Clustered { rows: 120, cols: 3, dims: 2, lonely: 0, seed: 15 }.map();
    let batch = matrix(&strangers(&rows(map.x()), 10, 3.0));
    let places = |positions: Positions, seed: u64| -> Vec<Vec<f64>> {
        let lion = lion(&map, &LionOptions { positions, seed, ..options(1.5) });
        lion.place(&batch).expect("placed").iter().map(place_of).collect()
    };
    assert_eq!(places(Positions::Random, 1), places(Positions::Random, 1));
    assert_ne!(places(Positions::Random, 1), places(Positions::Random, 2));
    assert_ne!(places(Positions::Random, 1), places(Positions::Nearest, 1));
    // Random positions are cells of the same grid, inside the plot while there are any.
    let all = rows(map.y());
    let grid = OracleGrid::new(&all, 1.5);
    assert!(grid.ring(0).len() >= 10);
    for place in places(Positions::Random, 1) {
        assert!(cell_at(&grid, &place, 0, 1e-5 * extent(&all)).is_some(), "{place:?}");
    }
}

/// Far from bounded memory of cells or squared time.
#[test]
fn a_hundred_thousand_outliers_at_once() {
    for dims in [1, 2, 3] {
        let map = Clustered { rows: 300, cols: 3, dims, lonely: 0, seed: 16 }.map();
        let lion = lion(&map, &options(4.0));
        let batch = matrix(&strangers(&rows(map.x()), 100_000, 4.0));
        let begun = Instant::now();
        let placed = lion.place(&batch).expect("placed");
        assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", begun.elapsed());
        assert_eq!(by_group(&placed).len(), 100_000);
        let positions: Vec<Vec<f64>> = placed.iter().map(place_of).collect();
        let places = rows(map.y());
        for position in &positions {
            assert!(places.iter().all(|y| distance(y, position) >= 4.0 * (1.0 - 1e-6)), "{position:?}");
        }
        let largest = positions.iter().flatten().fold(0.0f64, |most, v| most.max(v.abs()));
        assert_apart(&positions, 4.0 - 2e-7 * largest);
    }
}

#[test]
fn a_hundred_thousand_outliers_in_one_group() {
    let map = Clustered { rows: 300, cols: 3, dims: 2, lonely: 0, seed: 17 }.map();
    let lion = lion(&map, &options(4.0));
    let stranger = strangers(&rows(map.x()), 1, 50.0).remove(0);
    let mut numbers = TestRandom::new(18);
    let mut near = || stranger.iter().map(|v| v + numbers.gaussian() * 0.1).collect::<Vec<f64>>();
    let batch: Vec<Vec<f64>> = (0..100_000).map(|_| near()).collect();
    let begun = Instant::now();
    let placed = lion.place(&matrix(&batch)).expect("placed");
    assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", begun.elapsed());
    assert_eq!(by_group(&placed).len(), 1);
    let grid = OracleGrid::new(&rows(map.y()), 4.0);
    let leader = placed.iter().find_map(|placement| cell_at(&grid, &place_of(placement), 1, 1e-3));
    let position = grid.centre(&leader.expect("one of them has a position"));
    for placement in &placed {
        assert!(distance(&place_of(placement), &position) <= lion.r_close() + 1e-3);
    }
}
