//! What choosing landmarks holds, and then mapping them.

use super::needs::Needs;
use crate::fit::Fit;
use crate::landmarks::{LandmarkOptions, max_held_out};
use crate::preprocess;

/// What a row that stays takes beside its values: its place in two trees, its names, what the allocator adds.
const BESIDE: f64 = 270.0;
/// The share of it that the allocator keeps when it is freed: many small pieces between others.
const LEFT: f64 = 0.4;

impl LandmarkOptions {
    /// How many held-out rows there will be at most of rows of so many columns.
    fn held_out(&self, cols: usize) -> f64 {
        max_held_out(self.held_out, cols) as f64
    }

    /// What choosing them from a table of so many columns will hold at its largest, however many rows it has.
    pub fn needs(&self, cols: usize) -> Needs {
        let (landmarks, held_out, width) = (self.count as f64, self.held_out(cols), cols as f64);
        // They are copied out before the last of them is forgotten.
        let row = 8.0 * width + BESIDE;
        Needs::of(
            "choice of landmarks",
            &[
                ("landmarks", landmarks * row),
                ("held-out rows", held_out * row),
                ("moments of all rows", preprocess::pca_bytes(width, width)),
            ],
        )
    }
}

impl Fit {
    /// What choosing landmarks and mapping them will hold at its largest, however many rows the table has: see
    /// [`Fit::run_sampled`].
    pub fn needs_sampled(&self, landmarks: &LandmarkOptions, cols: usize) -> Needs {
        let held = 4.0 * landmarks.held_out(cols) * cols as f64;
        let stayed = landmarks.count as f64 + landmarks.held_out(cols);
        let left = LEFT * stayed * (4.0 * cols as f64 + BESIDE);
        let mapped = self.needs(landmarks.count, cols).with("held-out rows", held as u64);
        let mapped = mapped.with("names", 100 * landmarks.count as u64);
        mapped.with("left by the choice of landmarks", left as u64).or(landmarks.needs(cols))
    }

    /// The most landmarks, up to so many, that these bytes are enough for; nothing where not even a small map fits.
    pub fn most_landmarks(&self, landmarks: &LandmarkOptions, cols: usize, bytes: u64) -> Option<usize> {
        let fits = |count: &usize| {
            self.needs_sampled(&LandmarkOptions { count: *count, ..*landmarks }, cols).bytes <= bytes
        };
        let least = (3.0 * self.perplexity_for(landmarks.count)).ceil() as usize + 1;
        let (mut low, mut high) = (least.max(4), landmarks.count);
        if low > high || !fits(&low) {
            return None;
        }
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if fits(&middle) { low = middle } else { high = middle - 1 }
        }
        Some(low)
    }
}
