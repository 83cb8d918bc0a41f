//! Any text is a radius, a percentile, a size of pictures, a rate of alarms or a name of a choice that reads the same when it is
//! written again, or a refusal: never a panic.
//!
//! Parser: lion-tsne/src/lion/radius.rs, lion-tsne/src/map/pictures.rs, lion-tsne/src/live/alarms/rate.rs

#![no_main]

use libfuzzer_sys::fuzz_target;
use lion_tsne::lion::{Positions, Taper};
use lion_tsne::live::{FalseAlarms, NoticeState};
use lion_tsne::map::Image;
use lion_tsne::recipe::{Missing, Scale};
use lion_tsne::{Descent, Init, Local, Method, Metric, Radius, Verdict, VerdictRule};
use std::fmt::{Debug, Display};
use std::str::FromStr;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Some(radius) = comes_back::<Radius>(text) {
        let (Radius::Percentile(value) | Radius::Value(value)) = radius;
        assert!(value >= 0.0 && value.is_finite());
    }
    if let Some(rate) = comes_back::<FalseAlarms>(text) {
        let (FalseAlarms::Arrivals(value) | FalseAlarms::Seconds(value)) = rate;
        assert!(value > 0.0 && value.is_finite());
    }
    if let Some(image) = comes_back::<Image>(text) {
        assert!(image.values() > 0);
    }
    comes_back::<Scale>(text);
    comes_back::<Missing>(text);
    comes_back::<Descent>(text);
    comes_back::<Init>(text);
    comes_back::<Local>(text);
    comes_back::<Method>(text);
    comes_back::<Metric>(text);
    comes_back::<NoticeState>(text);
    comes_back::<Positions>(text);
    comes_back::<Taper>(text);
    comes_back::<Verdict>(text);
    comes_back::<VerdictRule>(text);
});

/// What the text says; its own text says the same.
fn comes_back<T: FromStr + Display + PartialEq + Debug>(text: &str) -> Option<T> {
    let value = text.parse::<T>().ok()?;
    assert_eq!(value.to_string().parse().ok().as_ref(), Some(&value));
    Some(value)
}
