//! Neighbours found approximately, and affinities.

use super::Record;
use crate::common::clusters;
use lion_tsne::ignore;
use lion_tsne::index::{Neighbours, Search, nearest_neighbours};

/// Lists of some rows, and sums over all.
fn tell(record: &mut Record, name: &str, neighbours: &Neighbours) {
    let k = neighbours.k;
    let sum = neighbours.distances2.iter().map(|d2| f64::from(d2.sqrt())).sum::<f64>();
    let numbers: u64 =
        neighbours.indices.iter().zip(1u64..).map(|(&row, at)| u64::from(row) * (at % 97)).sum();
    record.line(name, [k as f64, sum, (numbers % 99_991) as f64]);
    for row in (0..neighbours.indices.len() / k).step_by(701) {
        let list = row * k..(row + 1) * k;
        record
            .line(&format!("{name} indices"), neighbours.indices[list.clone()].iter().map(|&i| f64::from(i)));
        record.line(&format!("{name} distances"), neighbours.distances2[list].iter().map(|&d| f64::from(d)));
    }
}

#[test]
fn approximate_neighbours() {
    let mut record = Record::new("neighbours");
    for (name, rows, cols, k, seed) in
        [("few columns", 5000, 3, 12, 1), ("many columns", 4200, 40, 30, 2), ("one partition", 400, 6, 5, 3)]
    {
        let x = clusters(rows, cols, 9, 1.5, seed);
        let (found, how) = nearest_neighbours(&x, k, Search::Approximate, seed, &mut ignore).unwrap();
        tell(&mut record, &format!("{name}, {how},"), &found);
    }
    record.check();
}
