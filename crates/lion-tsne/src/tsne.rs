//! t-SNE: places in a map whose closeness follows the affinities (van der Maaten & Hinton 2008, Visualizing Data using
//! t-SNE).

mod anchored;
mod curve;
mod descent;
mod gradient;
pub(crate) mod init;
mod jumps;
mod optimise;
mod scale;

pub use crate::affinity::{Affinities, perplexity_weights};
pub(crate) use anchored::{AnchoredSchedule, Anchors, optimise_anchored};
pub(crate) use descent::ACCELERATED_RATE;
pub use descent::{ACCELERATED_FROM, Descent};
pub(crate) use gradient::{Potential, Repulsion, Taylor, Tree};
pub(crate) use optimise::{Optimised, Schedule, optimise};

use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// KL(P||Q) of the places `y`, with every pair in Q: how good a map is, whatever made it. O(N²).
pub fn kl_divergence(p: &Affinities, y: &Matrix) -> Result<f64> {
    if y.rows() != p.rows() {
        return Err(Error::Data(format!(
            "there are affinities of {} rows but {} places",
            p.rows(),
            y.rows()
        )));
    }
    y.check_finite()?;
    match y.cols() {
        1 => Ok(divergence(p, y.data().as_chunks::<1>().0)),
        2 => Ok(divergence(p, y.data().as_chunks::<2>().0)),
        3 => Ok(divergence(p, y.data().as_chunks::<3>().0)),
        other => Err(Error::Data(format!("the places have {other} columns, and must have 1 to 3"))),
    }
}

fn divergence<const D: usize>(p: &Affinities, y: &[[f32; D]]) -> f64 {
    let z = Repulsion::Exact.repel(y, &mut vec![[0.0; D]; y.len()]);
    gradient::entropy(p) + gradient::attraction_energy(p, y) + z.ln()
}
