//! A table of any finite values is a map that places any rows, or a refusal: never a panic, never a position that is no number.
//!
//! Parser: lion-tsne/src/fit.rs, lion-tsne/src/lion/parameters.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_tsne::{Descent, Fit, Lion, LionOptions, Map, Matrix, PcaChoice, ignore};

fuzz_target!(|bytes: &[u8]| {
    let Some((&[columns, options], values)) = bytes.split_first_chunk::<2>() else { return };
    let columns = usize::from(columns % 6) + 1;
    let values: Vec<f32> = values.iter().map(|&byte| value(byte)).collect();
    let rows = (values.len() / columns).min(60);
    if rows < 8 {
        return;
    }
    // The first half makes the map, the second is placed.
    let (known, new) = values[..rows * columns].split_at(rows / 2 * columns);
    let matrix = |values: &[f32]| Matrix::new(values.len() / columns, columns, values.to_vec());
    let (Ok(known), Ok(new)) = (matrix(known), matrix(new)) else { return };
    let fit = Fit {
        perplexity: Some(f64::from(options % 4) + 1.0),
        iterations: Some(20),
        dims: usize::from(options / 4 % 3) + 1,
        pca: if options & 0x40 == 0 { PcaChoice::None } else { PcaChoice::Components(2) },
        descent: if options & 0x80 == 0 { Descent::Accelerated } else { Descent::Classic },
        threads: 1,
        ..Fit::default()
    };
    let Ok(map) = fit.run(known, &mut ignore) else { return };
    assert!(map.y().data().iter().all(|value| value.is_finite()));
    let again = Map::from_bytes(&map.to_bytes().expect("a map can be written")).expect("and read again");
    assert!(again == map);
    let Ok(lion) = Lion::new(map, &LionOptions { threads: 1, ..LionOptions::default() }) else { return };
    if let Ok(placed) = lion.place(&new) {
        for placement in placed {
            assert!(placement.place.iter().all(|value| value.is_finite()));
        }
    }
});

/// Small numbers, equal ones, huge ones, and those that hardly are numbers.
fn value(byte: u8) -> f32 {
    match byte {
        0..=150 => f32::from(byte) * 0.1,
        151..=180 => 1.0,
        181..=200 => -f32::from(byte),
        201..=238 => 10f32.powi(i32::from(byte) - 201),
        239..=246 => -10f32.powi(i32::from(byte) - 208),
        247..=252 => f32::from_bits(u32::from(byte)),
        _ => 0.0,
    }
}
