//! Repulsion by a tree (1-D to 3-D): far clusters count as one point at their centre of mass (Barnes & Hut 1986, A
//! Hierarchical O(N log N) Force-Calculation Algorithm; for t-SNE van der Maaten 2014, Accelerating t-SNE using
//! Tree-Based Algorithms).

use crate::tsne::curve::{bits, curve_order, extent};
use crate::vectorized::vectorized;
use rayon::prelude::*;

/// A node with no more points than this is not divided further.
const LEAF: usize = 8;
/// Points that one task works on. Fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 512;

/// A binary tree, quadtree or octree over the points in the order of a space-filling curve, laid out so that a walk is a run
/// through an array: the first child follows its parent, and `next` skips all descendants.
pub(crate) struct Tree<const D: usize> {
    theta2: f32,
    nodes: Vec<Node<D>>,
    /// Curve position and number of each point, sorted.
    order: Vec<(u64, u32)>,
    sorted: Vec<[f32; D]>,
    forces: Vec<[f32; D]>,
}

#[derive(Clone, Copy)]
struct Node<const D: usize> {
    centre: [f32; D],
    count: f32,
    /// Squared side of the cell.
    side2: f32,
    next: u32,
    /// Points of a leaf; empty for others.
    points: [u32; 2],
}

impl<const D: usize> Tree<D> {
    pub(crate) fn new(theta: f64) -> Self {
        Self::with((theta * theta) as f32)
    }

    /// A tree whose cells count as one point under half of the angle.
    pub(super) fn with_half_the_angle(&self) -> Self {
        Self::with(0.25 * self.theta2)
    }

    fn with(theta2: f32) -> Self {
        Self { theta2, nodes: Vec::new(), order: Vec::new(), sorted: Vec::new(), forces: Vec::new() }
    }

    pub(super) fn repel(&mut self, y: &[[f32; D]], forces: &mut [[f32; D]]) -> f64 {
        self.build(y);
        self.forces.resize(y.len(), [0.0; D]);
        let mut sums = vec![0.0f64; y.len().div_ceil(BLOCK)];
        let (nodes, sorted, theta2) = (&self.nodes, &self.sorted, self.theta2);
        let blocks = self.forces.par_chunks_mut(BLOCK).zip(sorted.par_chunks(BLOCK)).zip(&mut sums);
        blocks.for_each(|((forces, here), sum)| {
            vectorized(
                #[inline(always)]
                || {
                    for (force, here) in forces.iter_mut().zip(here) {
                        // Each point meets itself in its leaf, at weight 1.
                        *sum += f64::from(repulsion(nodes, sorted, theta2, here, force)) - 1.0;
                    }
                },
            );
        });
        for (&(_, row), force) in self.order.iter().zip(&self.forces) {
            forces[row as usize] = *force;
        }
        sums.iter().sum()
    }

    /// φ at each point, its own 1 included.
    pub(crate) fn potentials(&mut self, y: &[[f32; D]]) -> Vec<f32> {
        self.build(y);
        let mut sorted = vec![0.0; y.len()];
        sorted.par_chunks_mut(BLOCK).zip(self.sorted.par_chunks(BLOCK)).for_each(|(potentials, here)| {
            for (potential, here) in potentials.iter_mut().zip(here) {
                self.sources(here, |_, count, distance2| *potential += count / (1.0 + distance2));
            }
        });
        let mut potentials = vec![0.0; y.len()];
        for (&(_, row), potential) in self.order.iter().zip(sorted) {
            potentials[row as usize] = potential;
        }
        potentials
    }

    /// Names the points, and the clusters that count as one, as they are seen from a place: where each is, how many
    /// points it stands for and its squared distance.
    pub(crate) fn sources(&self, here: &[f32; D], source: impl FnMut(&[f32; D], f32, f32)) {
        walk(&self.nodes, &self.sorted, self.theta2, here, source);
    }

    fn build(&mut self, y: &[[f32; D]]) {
        self.order = curve_order(y);
        self.sorted.clear();
        self.sorted.extend(self.order.iter().map(|&(_, row)| y[row as usize]));
        self.nodes.clear();
        let side = extent(y).1;
        self.divide(0, y.len(), bits::<D>(), side * side);
    }

    /// Adds the node of the points `first..end`, which share all but the last `level` bits in each dimension.
    fn divide(&mut self, first: usize, end: usize, level: u32, side2: f32) {
        let at = self.nodes.len();
        let count = (end - first) as f64;
        let centre = std::array::from_fn(|d| {
            (self.sorted[first..end].iter().map(|p| f64::from(p[d])).sum::<f64>() / count) as f32
        });
        let mut node =
            Node { centre, count: count as f32, side2, next: 0, points: [first as u32, end as u32] };
        if end - first > LEAF && level > 0 {
            node.points = [0, 0];
            self.nodes.push(node);
            let shift = (level - 1) * D as u32;
            let mut from = first;
            while from < end {
                let child = self.order[from].0 >> shift;
                let size = self.order[from..end].partition_point(|&(code, _)| code >> shift == child);
                self.divide(from, from + size, level - 1, side2 / 4.0);
                from += size;
            }
        } else {
            self.nodes.push(node);
        }
        self.nodes[at].next = self.nodes.len() as u32;
    }
}

/// Repulsion on a point, and its share of Z.
#[inline(always)]
fn repulsion<const D: usize>(
    nodes: &[Node<D>],
    points: &[[f32; D]],
    theta2: f32,
    here: &[f32; D],
    force: &mut [f32; D],
) -> f32 {
    let mut z = 0.0;
    let mut sums = [0.0f32; D];
    walk(
        nodes,
        points,
        theta2,
        here,
        #[inline(always)]
        |there, count, distance2| {
            let q = 1.0 / (1.0 + distance2);
            z += count * q;
            for d in 0..D {
                sums[d] += count * q * q * (here[d] - there[d]);
            }
        },
    );
    *force = sums;
    z
}

/// Points near a place, and clusters far from it, each with its squared distance.
#[inline(always)]
fn walk<const D: usize>(
    nodes: &[Node<D>],
    points: &[[f32; D]],
    theta2: f32,
    here: &[f32; D],
    mut add: impl FnMut(&[f32; D], f32, f32),
) {
    let mut at = 0;
    while let Some(node) = nodes.get(at) {
        let distance2 = squared(here, &node.centre);
        if node.side2 < theta2 * distance2 {
            add(&node.centre, node.count, distance2);
            at = node.next as usize;
            continue;
        }
        for there in &points[node.points[0] as usize..node.points[1] as usize] {
            add(there, 1.0, squared(here, there));
        }
        at += 1;
    }
}

#[inline(always)]
fn squared<const D: usize>(a: &[f32; D], b: &[f32; D]) -> f32 {
    let mut sum = 0.0;
    for d in 0..D {
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    }
    sum
}
