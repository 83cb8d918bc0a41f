//! Colours.

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) [u8; 3]);

impl Rgb {
    const fn hex(code: u32) -> Rgb {
        Rgb([(code >> 16) as u8, (code >> 8) as u8, code as u8])
    }

    /// This colour with a share of another, 0 = none of it, 1 = nothing else.
    pub(crate) fn mix(self, other: Rgb, share: f32) -> Rgb {
        let channel = |i: usize| {
            let (a, b) = (f32::from(self.0[i]), f32::from(other.0[i]));
            (a + (b - a) * share).round() as u8
        };
        Rgb([channel(0), channel(1), channel(2)])
    }
}

impl std::fmt::Display for Rgb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [r, g, b] = self.0;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

/// As many classes as can have a colour of their own.
pub(crate) const MOST_CLASSES: usize = CLASSES.len();

/// One colour per class. The first ten were chosen so that the smallest difference between any two, in Oklab and
/// under simulated protanopia, deuteranopia and tritanopia alike, is as large as could be had between lightness 0.48
/// and 0.82 (they show on white and on near-black); the next ten in the same way around them, where no ten further
/// colours can be told apart as well, so that the names drawn on the map have to help.
pub(crate) const CLASSES: [Rgb; 20] = [
    Rgb::hex(0x467fb3),
    Rgb::hex(0xfab72a),
    Rgb::hex(0xa21c68),
    Rgb::hex(0x12deaa),
    Rgb::hex(0x5f3cc5),
    Rgb::hex(0xdf7f7a),
    Rgb::hex(0x7c9217),
    Rgb::hex(0xb471fa),
    Rgb::hex(0x845012),
    Rgb::hex(0xaac4f9),
    Rgb::hex(0xd03275),
    Rgb::hex(0x47b5fa),
    Rgb::hex(0x7db20d),
    Rgb::hex(0xb38ccc),
    Rgb::hex(0x82743a),
    Rgb::hex(0xed83ea),
    Rgb::hex(0xb25ca0),
    Rgb::hex(0xc6a670),
    Rgb::hex(0x3aaca8),
    Rgb::hex(0xe3aaca),
];

/// The only colour of a map without labels.
pub(crate) const PLAIN: Rgb = CLASSES[0];
/// Labels too rare for a colour of their own.
pub(crate) const OTHER: Rgb = Rgb::hex(0x8a8d91);
/// Points without a label.
pub(crate) const UNLABELLED: Rgb = Rgb::hex(0xc2c5c9);
/// Placed points that have no label.
pub(crate) const ACCENT: Rgb = Rgb::hex(0x1c5fd6);
/// Placed points that are outliers. No hue is left that all eyes could tell from ten classes; of the warning ones this
/// is the farthest from them under simulated colour blindness, and the shape of the points has to say the rest.
pub(crate) const OUTLIER: Rgb = Rgb::hex(0xff3b00);
/// How much of the paper is mixed into the map's own points when there are placed ones to look at.
pub(crate) const CALM: f32 = 0.55;
/// The colour of words, and of the line around a placed point.
pub(crate) const INK: Rgb = Rgb::hex(0x1d2127);
pub(crate) const WHITE: Rgb = Rgb::hex(0xffffff);
pub(crate) const BLACK: Rgb = Rgb::hex(0x000000);

/// Stops of the continuous scale: viridis, without its last twentieth at either end, which white and near-black swallow.
pub(crate) const SCALE: [Rgb; 10] = [
    Rgb::hex(0x481467),
    Rgb::hex(0x482878),
    Rgb::hex(0x3e4989),
    Rgb::hex(0x31688e),
    Rgb::hex(0x26828e),
    Rgb::hex(0x1f9e89),
    Rgb::hex(0x35b779),
    Rgb::hex(0x6ece58),
    Rgb::hex(0xb5de2b),
    Rgb::hex(0xe2e418),
];

/// The colour at a share of the way along the scale; outside [0, 1] the nearer end.
pub(crate) fn scale(share: f64) -> Rgb {
    let at = share.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let stop = (at as usize).min(SCALE.len() - 2);
    SCALE[stop].mix(SCALE[stop + 1], (at - stop as f64) as f32)
}
