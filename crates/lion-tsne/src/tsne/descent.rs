//! How long the steps of the descent are, and of what they are made.
//!
//! After exaggeration most of the time goes into making the map wide: each pair of clusters repels each other a little, and
//! always the same way. Momentum of 0.95 in place of 0.8 and a rate of four times the rows in place of one let speed build up
//! there. Rows that need short steps are kept in hand: gains begin at 0.1, because two rows that are nearly alike pull each other
//! so hard that they would swing, fly off together and stay away before their gains have come down; gains do not grow beyond
//! 4; and the longest step is in proportion to the map, without which rows of a small map are thrown across it. A row has one gain
//! for all its coordinates: with one for each, as the classic descent has it, clusters leave the middle along the diagonals, and
//! the map falls into four parts that the data do not have.

/// How the map moves down the gradient. The objective is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Descent {
    /// Momentum 0.95 and four times the learning rate, bounded where that would tear the map; weak affinities take turns, and the
    /// repulsion is computed on a coarse grid, until the map comes to rest. A lower KL divergence in fewer iterations, each of
    /// which is quicker. It ends by itself when the KL divergence hardly falls any more.
    #[default]
    Accelerated,
    /// Momentum 0.8, a learning rate of at most the rows, and the whole gradient in each iteration, as other t-SNE programs have it.
    Classic,
}

crate::named!(Descent, "descent": Classic = "classic", Accelerated = "accelerated");

impl Descent {
    /// The most iterations that it takes unless told, those with exaggeration included.
    pub const fn iterations(self) -> usize {
        match self {
            Self::Classic => 750,
            Self::Accelerated => 1000,
        }
    }

    /// Whether it ends before that when the KL divergence hardly falls any more.
    pub const fn ends_by_itself(self) -> bool {
        matches!(self, Self::Accelerated)
    }

    /// How many of so many iterations, the first ones, are exaggerated.
    pub fn exaggeration_iterations(self, iterations: usize) -> usize {
        match self {
            Self::Classic => 250.min(iterations / 3),
            Self::Accelerated => 150.min(iterations * 3 / 10),
        }
    }

    /// What a map of so many rows is moved by. Below [`ACCELERATED_FROM`] the classic descent takes no time either, and maps that are
    /// nearer to their minimum are worse to place new rows in: the rows of so few make room for each other, which they do not
    /// for a new one, and it comes to lie closer to its neighbours than they lie to each other.
    pub(crate) fn for_rows(self, rows: usize) -> Self {
        if rows < ACCELERATED_FROM { Self::Classic } else { self }
    }

    /// Its numbers for so many iterations after exaggeration.
    pub(super) fn pace(self, iterations: usize) -> Pace {
        match self {
            Self::Classic => Pace {
                momentum: MOMENTUM,
                first_gain: 1.0,
                gain_per_row: false,
                most_gain: f32::INFINITY,
                longest_step: None,
                reorder: [50, 150, 250],
                in_turns: false,
            },
            Self::Accelerated => Pace {
                momentum: 0.95,
                first_gain: 0.1,
                gain_per_row: true,
                most_gain: 4.0,
                longest_step: Some((WAY / iterations.max(1) as f32).clamp(SHORT, LONG)),
                reorder: [75, 125, 175],
                in_turns: true,
            },
        }
    }
}

/// The learning rate of the accelerated descent after exaggeration, for each row.
pub(crate) const ACCELERATED_RATE: f64 = 4.0;
/// Maps of fewer rows always descend the classic way.
pub const ACCELERATED_FROM: usize = 5000;
/// The momentum while rows are exaggerated, and at the end, so that they come to rest.
pub(in crate::tsne) const MOMENTUM: f32 = 0.8;

/// The longest steps of the accelerated descent, as shares of the map's radius: a row may go so many radii in all iterations
/// together, in steps within these bounds. Few iterations need long steps, and maps that open slowly are torn less.
const WAY: f32 = 15.0;
const SHORT: f32 = 0.03;
const LONG: f32 = 0.15;

/// The numbers of a descent.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// The share of the last step in the next, after exaggeration.
    pub momentum: f32,
    /// The gain of every coordinate when exaggeration is over.
    pub first_gain: f32,
    /// Whether both coordinates of a row have the same gain, so that a map opens alike in all directions.
    pub gain_per_row: bool,
    /// By how much the learning rate of a coordinate may grow.
    pub most_gain: f32,
    /// The longest step after exaggeration, as a share of the map's radius, if it depends on that.
    pub longest_step: Option<f32>,
    /// Iterations before which rows are put in the order of their places. Neighbours are then near each other in memory, and
    /// reading their places costs little.
    pub reorder: [usize; 3],
    /// Whether weak affinities take turns and the repulsion is rough, until the map comes to rest.
    pub in_turns: bool,
}
