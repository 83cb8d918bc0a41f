//! Free cells around the map.

use super::OutlierCell;
use crate::vectorized::vectorized;

/// Cells with their centres beside them, so that the nearest of many is found in one quick pass.
#[derive(Clone, Debug, Default)]
pub(super) struct RingCells {
    cells: Vec<OutlierCell>,
    /// Along each dimension.
    centres: [Vec<f64>; 3],
    /// Room for the squared distances of a search.
    distances2: Vec<f64>,
}

impl RingCells {
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    pub(super) fn push(&mut self, cell: OutlierCell, centre: [f64; 3]) {
        self.cells.push(cell);
        self.centres.iter_mut().zip(centre).for_each(|(along, at)| along.push(at));
    }

    /// Takes out the cell whose centre is closest; of equal ones the least.
    pub(super) fn take_nearest(&mut self, target: &[f64; 3]) -> Option<OutlierCell> {
        let [x, y, z] = &self.centres;
        self.distances2.resize(self.cells.len(), 0.0);
        let distances2 = &mut self.distances2;
        let closest = vectorized(
            #[inline(always)]
            || {
                let centres = x.iter().zip(y).zip(z);
                for (distance2, ((x, y), z)) in distances2.iter_mut().zip(centres) {
                    *distance2 = (x - target[0]).powi(2) + (y - target[1]).powi(2) + (z - target[2]).powi(2);
                }
                distances2.iter().fold(f64::INFINITY, |least, &distance2| least.min(distance2))
            },
        );
        let at = (0..self.cells.len())
            .filter(|&at| self.distances2[at] == closest)
            .min_by_key(|&at| self.cells[at])?;
        Some(self.swap_remove(at))
    }

    /// Takes out the cell with this number in their order in space, which does not depend on what came when.
    pub(super) fn take_in_order(&mut self, number: usize) -> Option<OutlierCell> {
        let mut order: Vec<usize> = (0..self.cells.len()).collect();
        if number >= order.len() {
            return None;
        }
        let (_, &mut at, _) = order.select_nth_unstable_by_key(number, |&at| self.cells[at]);
        Some(self.swap_remove(at))
    }

    fn swap_remove(&mut self, at: usize) -> OutlierCell {
        self.centres.iter_mut().for_each(|along| _ = along.swap_remove(at));
        self.cells.swap_remove(at)
    }
}
