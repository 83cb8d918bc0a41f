//! Repulsion by a tree (1-D to 3-D): far clusters count as one point at their centre of mass (Barnes & Hut 1986, A
//! Hierarchical O(N log N) Force-Calculation Algorithm; for t-SNE van der Maaten 2014, Accelerating t-SNE using
//! Tree-Based Algorithms). Points that are near each other share a walk through the tree (Barnes 1990, A Modified Tree Code: Don't
//! Laugh; It Runs), and what it finds is summed side by side.

use crate::tsne::curve::{bits, curve_order, extent};
use crate::vectorized::{sum_lanes, vectorized};
use rayon::prelude::*;

/// A node with no more points than this is not divided further.
const LEAF: usize = 8;
/// Points that one task works on. Fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 512;
/// Neighbouring points that share a walk. More of them would be farther apart, and see more of the tree's nodes from nearby.
const GROUP: usize = 16;
const LANES: usize = 16;

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
        blocks.for_each_init(Sources::default, |sources, ((forces, here), sum)| {
            for (forces, here) in forces.chunks_mut(GROUP).zip(here.chunks(GROUP)) {
                sources.gather(nodes, sorted, theta2, here);
                // Each point meets itself in its leaf, at weight 1.
                *sum += sources.repel(here, forces) - here.len() as f64;
            }
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

/// What a group of points sees of the tree: points, and clusters that count as one.
struct Sources<const D: usize> {
    lanes: Vec<SourceLane<D>>,
    count: usize,
}

/// Sixteen places, and how many points each stands for.
#[derive(Clone, Copy)]
struct SourceLane<const D: usize> {
    place: [[f32; LANES]; D],
    count: [f32; LANES],
}

impl<const D: usize> Default for Sources<D> {
    fn default() -> Self {
        Self { lanes: Vec::new(), count: 0 }
    }
}

impl<const D: usize> Sources<D> {
    /// All of the tree, as fine as any point of the group has to see it.
    fn gather(&mut self, nodes: &[Node<D>], points: &[[f32; D]], theta2: f32, group: &[[f32; D]]) {
        self.lanes.clear();
        self.count = 0;
        let (mut low, mut high) = (group[0], group[0]);
        for point in group {
            for d in 0..D {
                (low[d], high[d]) = (low[d].min(point[d]), high[d].max(point[d]));
            }
        }
        let mut at = 0;
        while let Some(node) = nodes.get(at) {
            let outside = |d: usize| (low[d] - node.centre[d]).max(node.centre[d] - high[d]).max(0.0);
            let distance2: f32 = (0..D).map(|d| outside(d) * outside(d)).sum();
            if node.side2 < theta2 * distance2 {
                self.push(&node.centre, node.count);
                at = node.next as usize;
                continue;
            }
            for there in &points[node.points[0] as usize..node.points[1] as usize] {
                self.push(there, 1.0);
            }
            at += 1;
        }
    }

    fn push(&mut self, place: &[f32; D], count: f32) {
        let lane = self.count % LANES;
        if lane == 0 {
            self.lanes.push(SourceLane { place: [[0.0; LANES]; D], count: [0.0; LANES] });
        }
        if let Some(last) = self.lanes.last_mut() {
            last.count[lane] = count;
            last.place.iter_mut().zip(place).for_each(|(lanes, &v)| lanes[lane] = v);
        }
        self.count += 1;
    }

    /// Repulsion on each point of the group, and their share of Z.
    fn repel(&self, group: &[[f32; D]], forces: &mut [[f32; D]]) -> f64 {
        vectorized(
            #[inline(always)]
            || {
                let points = group.iter().zip(forces);
                points.map(|(here, force)| f64::from(repulsion(&self.lanes, here, force))).sum()
            },
        )
    }
}

/// Repulsion on a point, and its share of Z.
#[inline(always)]
fn repulsion<const D: usize>(sources: &[SourceLane<D>], here: &[f32; D], force: &mut [f32; D]) -> f32 {
    let mut z = [0.0f32; LANES];
    let mut sums = [[0.0f32; LANES]; D];
    for there in sources {
        for at in 0..LANES {
            let mut distance2 = 0.0;
            for d in 0..D {
                let difference = here[d] - there.place[d][at];
                distance2 += difference * difference;
            }
            let q = 1.0 / (1.0 + distance2);
            let share = there.count[at] * q;
            z[at] += share;
            for d in 0..D {
                sums[d][at] += share * q * (here[d] - there.place[d][at]);
            }
        }
    }
    *force = sums.map(sum_lanes);
    sum_lanes(z)
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
