//! Positions for outliers, and the memory of those handed out.

use super::cells::{Cells, Positions};
use super::groups::groups;
use super::{Lion, Place, Placement, Settled, Stranger};
use crate::error::Result;
use crate::index::squared_distance;
use crate::matrix::Matrix;
use crate::random::Random;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Places rows, call after call, and remembers the positions it gave to outliers: none is given twice, and an outlier
/// near an earlier one joins its group.
pub struct Placer<'a> {
    lion: &'a Lion,
    /// The free cells, copied from the map's when the first outlier comes.
    cells: Option<Cells>,
    /// The position of each group.
    groups: Vec<[f64; 3]>,
    /// Every outlier placed so far.
    members: Vec<Member>,
}

struct Member {
    row: Vec<f32>,
    group: usize,
    place: Place,
}

impl<'a> Placer<'a> {
    pub(super) fn new(lion: &'a Lion) -> Self {
        Self { lion, cells: None, groups: Vec::new(), members: Vec::new() }
    }

    /// Places rows. Outliers among them know of each other and of those of earlier calls.
    pub fn place(&mut self, rows: &Matrix) -> Result<Vec<Placement>> {
        let settled = self.lion.settle(rows)?;
        let (mut placements, mut strangers) = (Vec::with_capacity(settled.len()), Vec::new());
        let mut waiting = Vec::new();
        for settled in settled {
            placements.push(match settled {
                Settled::Placed(placement) => placement,
                Settled::Outlier(stranger) => {
                    waiting.push(placements.len());
                    let placement = stranger.placement.clone();
                    strangers.push(stranger);
                    placement
                }
            });
        }
        for (at, placement) in waiting.into_iter().zip(self.give_positions(strangers)) {
            placements[at] = placement;
        }
        Ok(placements)
    }

    /// Places one row.
    pub fn place_row(&mut self, row: &[f32]) -> Result<Placement> {
        Ok(match self.lion.settle_row(row)? {
            Settled::Placed(placement) => placement,
            Settled::Outlier(stranger) => {
                let placement = stranger.placement.clone();
                self.give_positions(vec![stranger]).pop().unwrap_or(placement)
            }
        })
    }

    /// Gives outliers their positions, all at once: what they get depends on which they are, not on their order.
    pub fn give_positions(&mut self, strangers: Vec<Stranger>) -> Vec<Placement> {
        let (different, number_of) = different(&strangers);
        let rows: Vec<&[f32]> = different.iter().map(|&at| strangers[at].row.as_slice()).collect();
        let group_of = groups(&rows, self.lion.r_x);
        let mut members: Vec<Vec<usize>> = Vec::new();
        for (number, &group) in group_of.iter().enumerate() {
            members.resize_with(members.len().max(group as usize + 1), Vec::new);
            members[group as usize].push(number);
        }
        // The first of a group is its nearest to the map; groups whose first is nearer choose first.
        let rank = |&number: &usize| (strangers[different[number]].placement.nearest_distance, number);
        for group in &mut members {
            group.sort_by(|a, b| rank(a).0.total_cmp(&rank(b).0).then(a.cmp(b)));
        }
        members.sort_by(|a, b| rank(&a[0]).0.total_cmp(&rank(&b[0]).0).then(a[0].cmp(&b[0])));
        let known = self.members.len();
        let mut given: Vec<(Place, usize)> = vec![(Place::default(), 0); different.len()];
        for group in members {
            let strangers: Vec<&Stranger> =
                group.iter().map(|&number| &strangers[different[number]]).collect();
            let places = self.place_group(&strangers, known);
            group.into_iter().zip(places).for_each(|(number, place)| given[number] = place);
        }
        let placed = strangers.into_iter().zip(number_of).map(|(stranger, number)| {
            let (place, group) = given[number];
            Placement { place, group: Some(group as u64), ..stranger.placement }
        });
        placed.collect()
    }

    /// Places the members of one group: around a group among the first `known` outliers if they are near one, else at a
    /// position of their own.
    fn place_group(&mut self, strangers: &[&Stranger], known: usize) -> Vec<(Place, usize)> {
        let (group, first) = match self.known_group(strangers, known) {
            Some(group) => (group, None),
            None => {
                let position = self.position(strangers[0]);
                self.groups.push(position);
                (self.groups.len() - 1, Some(position))
            }
        };
        let mut places = Vec::with_capacity(strangers.len());
        for (at, stranger) in strangers.iter().enumerate() {
            let again = self.members[..known].iter().find(|member| member.row == stranger.row);
            let place = match (again, first) {
                (Some(member), _) => member.place,
                (None, Some(position)) if at == 0 => self.lion.as_place(position),
                _ => self.lion.beside(&self.groups[group], &stranger.row),
            };
            self.members.push(Member { row: stranger.row.clone(), group, place });
            places.push((place, group));
        }
        places
    }

    /// The group of the known outlier that is nearest to any of these and within r_x of it.
    fn known_group(&self, strangers: &[&Stranger], known: usize) -> Option<usize> {
        let links = strangers.iter().flat_map(|stranger| {
            self.members[..known]
                .iter()
                .map(|member| (squared_distance(&stranger.row, &member.row).sqrt(), member.group))
        });
        let near = links.filter(|(distance, _)| f64::from(*distance) <= self.lion.r_x);
        near.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, group)| group)
    }

    fn position(&mut self, stranger: &Stranger) -> [f64; 3] {
        let cells = self.cells.get_or_insert_with(|| self.lion.cells.clone());
        match self.lion.positions {
            Positions::Nearest => cells.nearest(&stranger.target),
            Positions::Random => {
                let seed = xxh3_64_with_seed(bytemuck::cast_slice(&stranger.row), self.lion.seed);
                cells.random(&mut Random::new(seed))
            }
        }
    }
}

/// One of each set of equal outliers, in an order that does not depend on theirs; and for each outlier, which of those it
/// equals.
fn different(strangers: &[Stranger]) -> (Vec<usize>, Vec<usize>) {
    let bits = |at: usize| strangers[at].row.iter().map(|v| v.to_bits());
    let mut order: Vec<usize> = (0..strangers.len()).collect();
    order.sort_by(|&a, &b| bits(a).cmp(bits(b)));
    let mut different: Vec<usize> = Vec::new();
    let mut number_of = vec![0; strangers.len()];
    for at in order {
        if different.last().is_none_or(|&last| bits(last).ne(bits(at))) {
            different.push(at);
        }
        number_of[at] = different.len() - 1;
    }
    (different, number_of)
}
