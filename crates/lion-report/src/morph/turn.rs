//! How the first map is brought onto the second, as something that can be done little by little.

use serde_json::{Value, json};

use super::Morph;
use crate::{Error, Result};

/// scale · R · flip · place + shift: the flip mirrors the last axis.
pub(super) struct Turn {
    dims: usize,
    matrix: Vec<f64>,
    shift: Vec<f64>,
    scale: f64,
    flip: bool,
    /// R, as a turn about an axis; of a flat map, about the one that points to the viewer.
    axis: [f64; 3],
    angle: f64,
}

impl Turn {
    pub(super) fn of(morph: &Morph) -> Result<Turn> {
        let (dims, matrix, shift) = (morph.dims, morph.matrix.to_vec(), morph.shift.to_vec());
        if !matrix.iter().chain(&shift).all(|value| value.is_finite()) {
            return Err(Error::Render("the maps cannot be brought onto each other".to_owned()));
        }
        // Into three dimensions: a flat map turns in a plane of space.
        let mut whole = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        for (at, value) in matrix.iter().enumerate() {
            whole[at / dims][at % dims] = *value;
        }
        let size = determinant(&whole);
        let (flip, scale) = (size < 0.0, size.abs().powf(1.0 / dims as f64));
        let mut turn = Turn { dims, matrix, shift, scale, flip, axis: [0.0, 0.0, 1.0], angle: 0.0 };
        // A map that shrinks to a point has no direction.
        if scale > 0.0 {
            let sign = |column: usize| if flip && column == dims - 1 { -1.0 } else { 1.0 };
            let unit = |row: usize| if row < dims { scale } else { 1.0 };
            let rotation = [0, 1, 2].map(|a: usize| [0, 1, 2].map(|b| whole[a][b] * sign(b) / unit(a)));
            (turn.axis, turn.angle) = axis_and_angle(&rotation);
        }
        Ok(turn)
    }

    /// Whether both maps have nearly the same orientation and size, as a map and its update.
    pub(super) fn is_small(&self) -> bool {
        !self.flip && self.angle < 0.1 && (0.9..1.1).contains(&self.scale)
    }

    /// Where it brings a place.
    pub(super) fn brought(&self, place: &[f32]) -> Vec<f32> {
        let coordinate = |row: usize| {
            let entries = &self.matrix[row * self.dims..(row + 1) * self.dims];
            let turned: f64 = entries.iter().zip(place).map(|(m, p)| m * f64::from(*p)).sum();
            (turned + self.shift[row]) as f32
        };
        (0..self.dims).map(coordinate).collect()
    }

    /// The same between the unit frames of both maps, for the page.
    pub(super) fn between(&self, first: &Frame, second: &Frame) -> Value {
        let centre: Vec<f32> = first.centre[..self.dims].iter().map(|&c| c as f32).collect();
        let mut shift = second.unit(&self.brought(&centre));
        shift.resize(3, 0.0);
        // The page takes powers of it.
        let scale = (self.scale * first.half / second.half).max(1e-6);
        json!({ "scale": scale, "flip": self.flip, "axis": self.axis, "angle": self.angle, "shift": shift })
    }
}

/// The middle of the bounding box of a map, and half its longest side.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    centre: [f64; 3],
    half: f64,
}

impl Frame {
    /// As [`normalise`](crate::frame::normalise) has it.
    pub(super) fn of(dims: usize, coordinates: impl Iterator<Item = f32>) -> Frame {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for (at, value) in coordinates.enumerate() {
            let (axis, value) = (at % dims, f64::from(value));
            low[axis] = low[axis].min(value);
            high[axis] = high[axis].max(value);
        }
        let half = (0..dims).map(|axis| (high[axis] - low[axis]) / 2.0).fold(0.0, f64::max);
        let centre =
            [0, 1, 2].map(|axis: usize| if axis < dims { (low[axis] + high[axis]) / 2.0 } else { 0.0 });
        let centre = centre.map(|value| if value.is_finite() { value } else { 0.0 });
        Frame { centre, half: if half > 0.0 && half.is_finite() { half } else { 1.0 } }
    }

    /// A place in the frame, where the map lies within [-1, 1].
    pub(super) fn unit(&self, place: &[f32]) -> Vec<f32> {
        place.iter().zip(self.centre).map(|(p, c)| ((f64::from(*p) - c) / self.half) as f32).collect()
    }
}

fn determinant(m: &[[f64; 3]; 3]) -> f64 {
    let minor = |a: usize, b: usize| m[1][a] * m[2][b] - m[1][b] * m[2][a];
    m[0][0] * minor(1, 2) - m[0][1] * minor(0, 2) + m[0][2] * minor(0, 1)
}

/// A rotation as a turn about an axis, by an angle from 0 to π.
fn axis_and_angle(r: &[[f64; 3]; 3]) -> ([f64; 3], f64) {
    let cos = ((r[0][0] + r[1][1] + r[2][2] - 1.0) / 2.0).clamp(-1.0, 1.0);
    let twice = [r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]];
    let length = twice.iter().map(|v| v * v).sum::<f64>().sqrt();
    let angle = (length / 2.0).atan2(cos);
    if length > 1e-6 {
        return (twice.map(|v| v / length), angle);
    }
    if cos > 0.0 {
        return ([0.0, 0.0, 1.0], 0.0);
    }
    // Half a turn: R + 1 is twice the product of the axis with itself; its largest column tells the axis.
    let column = |k: usize| [0, 1, 2].map(|a: usize| r[a][k] + if a == k { 1.0 } else { 0.0 });
    let size = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let longest = [0, 1, 2].map(column).into_iter().max_by(|a, b| size(a).total_cmp(&size(b)));
    let longest = longest.unwrap_or([0.0, 0.0, 1.0]);
    let length = size(&longest).max(f64::MIN_POSITIVE);
    (longest.map(|v| v / length), std::f64::consts::PI)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rodrigues' formula, as the page has it.
    fn rotation([x, y, z]: [f64; 3], angle: f64) -> [[f64; 3]; 3] {
        let (s, c) = angle.sin_cos();
        let k = 1.0 - c;
        [
            [c + x * x * k, x * y * k - z * s, x * z * k + y * s],
            [y * x * k + z * s, c + y * y * k, y * z * k - x * s],
            [z * x * k - y * s, z * y * k + x * s, c + z * z * k],
        ]
    }

    #[test]
    fn a_rotation_is_its_axis_and_angle() {
        for axis in [[0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [2.0f64 / 3.0, 2.0 / 3.0, 1.0 / 3.0]] {
            for angle in [0.0, 1e-3, 1.0, 3.0, std::f64::consts::PI, 4.0, 6.0] {
                let wanted = rotation(axis, angle);
                let (axis, angle) = axis_and_angle(&wanted);
                let found = rotation(axis, angle);
                for (a, b) in wanted.as_flattened().iter().zip(found.as_flattened()) {
                    assert!((a - b).abs() < 1e-6, "{wanted:?} {found:?}");
                }
            }
        }
    }
}
