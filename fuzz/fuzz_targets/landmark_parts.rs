//! Any bytes are landmarks of a part, which are merged and finished, or a refusal: never a panic.
//!
//! Parser: lion-tsne/src/landmarks/state.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_tsne::landmarks::{LandmarkOptions, Landmarks};
use lion_tsne::{Fit, PcaChoice};

fuzz_target!(|bytes: &[u8]| {
    let fit = Fit { pca: PcaChoice::Components(2), threads: 1, ..Fit::default() };
    let options = LandmarkOptions { stratified: true, cover: true, held_out: 8, ..fit.landmarks(8) };
    let mut landmarks = Landmarks::new(options).expect("8 landmarks");
    // What these bytes have to begin with is known.
    let empty = landmarks.to_bytes();
    let head = &empty[..empty.len() - 4 - 2 - 8 - 8 - 8];
    if landmarks.merge_bytes(&[head, bytes].concat()).is_ok() {
        let _ = landmarks.finish();
    }
});
