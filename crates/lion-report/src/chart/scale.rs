//! One axis: from numbers to places along it, and the ticks beside it.

use super::Axis;
use crate::text::count;
use crate::{Error, Result};

/// Numbers beyond this cannot be told apart from infinity in a picture, and their differences overflow.
const LARGEST: f64 = 1e100;
/// The share of the axis left free at either end.
const MARGIN: f64 = 0.04;

/// From numbers to shares of the way along an axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct AxisScale {
    log: bool,
    low: f64,
    high: f64,
}

impl AxisScale {
    /// The axis as asked for, or around the numbers that it can show. `name` is for errors.
    pub(super) fn of(axis: &Axis, name: &str, values: impl Iterator<Item = f64>) -> Result<AxisScale> {
        let log = axis.log;
        if let Some([low, high]) = axis.range {
            let refuse =
                |hint| Err(Error::Range { axis: format!("the {name} axis of the chart"), low, high, hint });
            return if !(low.abs() < LARGEST && high.abs() < LARGEST && low < high) {
                refuse("give two finite numbers, the lower one first")
            } else if log && low <= 0.0 {
                refuse("on a logarithmic axis both must be above 0")
            } else {
                Ok(AxisScale { log, low, high })
            };
        }
        let shown = values.filter(|&value| can_show(log, value));
        let (low, high) = shown
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        Ok(if low > high { AxisScale { log, low: 1.0, high: 10.0 } } else { around(log, low, high) })
    }

    /// How far along the axis a number lies: 0 at its beginning, 1 at its end, outside that beyond. None where the axis
    /// has no place for it: what is not finite, and on a logarithmic axis what is not above 0.
    pub(super) fn share(&self, value: f64) -> Option<f64> {
        let on = |value: f64| if self.log { value.log10() } else { value };
        can_show(self.log, value)
            .then(|| (on(value) - on(self.low)) / (on(self.high) - on(self.low)))
            .map(|share| share.clamp(-1e4, 1e4))
    }

    /// Round numbers along the axis, with what to write beside them: about `wanted`, 1-2-5 steps.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let ticks = if self.log { self.log_ticks(wanted) } else { Vec::new() };
        if ticks.len() >= 2 { ticks } else { self.even_ticks(wanted) }
    }

    fn even_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let step = nice((self.high - self.low) / wanted.max(2) as f64);
        let slack = 1e-9 * step;
        let (first, last) = (((self.low - slack) / step).ceil(), ((self.high + slack) / step).floor());
        let mut ticks = Vec::new();
        let mut at = first;
        // The bound is for numbers so close together that adding 1 changes nothing.
        while at <= last && ticks.len() < 4 * wanted.max(2) {
            let value = if at == 0.0 { 0.0 } else { at * step };
            ticks.push((value, name(value, step)));
            at += 1.0;
        }
        ticks
    }

    fn log_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let (low, high) = (self.low.log10(), self.high.log10());
        let decades = high - low;
        let within: &[f64] = if 3.0 * decades <= wanted as f64 + 1.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = (decades / (wanted + 2) as f64).ceil().max(1.0) as i32;
        let mut ticks = Vec::new();
        for decade in low.floor() as i32..=high.ceil() as i32 {
            let of = within.iter().map(|digit| digit * 10_f64.powi(decade));
            let seen = |value: &f64| *value >= self.low * (1.0 - 1e-9) && *value <= self.high * (1.0 + 1e-9);
            if decade.rem_euclid(every) == 0 {
                ticks.extend(of.filter(seen).map(|value| (value, name(value, value))));
            }
        }
        ticks
    }
}

fn can_show(log: bool, value: f64) -> bool {
    value.abs() < LARGEST && (!log || value > 1.0 / LARGEST)
}

/// The numbers with a little room around them; never below 0 where none of them is.
fn around(log: bool, low: f64, high: f64) -> AxisScale {
    if log {
        let (from, to) = (low.log10(), high.log10());
        let room = ((to - from) * MARGIN).max(0.02);
        return AxisScale { log, low: 10_f64.powf(from - room), high: 10_f64.powf(to + room) };
    }
    // All the same, or nearly: show where they lie.
    let least = (low.abs().max(high.abs()) * 1e-9).max(1e-90);
    if high - low < least {
        let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
        return AxisScale { log, low: low - room, high: high + room };
    }
    let room = (high - low) * MARGIN;
    let bottom = if low >= 0.0 { (low - room).max(0.0) } else { low - room };
    AxisScale { log, low: bottom, high: high + room }
}

/// The smallest of 1, 2, 5, 10, 20, ... (and .5, .2, .1, ...) that is not below.
fn nice(step: f64) -> f64 {
    let unit = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|digit| digit * unit)
        .into_iter()
        .find(|&nice| nice >= step * 0.999)
        .unwrap_or(10.0 * unit)
}

/// A number beside its tick, with the digits that tell it from the next one `step` away.
fn name(value: f64, step: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        let digits = (size.log10().floor() - step.log10().floor()).clamp(0.0, 6.0) as usize;
        return format!("{value:.digits$e}");
    }
    let decimals = (-(step * 1.001).log10().floor()).clamp(0.0, 8.0) as usize;
    if decimals > 0 || size < 10_000.0 {
        return format!("{value:.decimals$}");
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", count(size.round() as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(log: bool, values: &[f64]) -> AxisScale {
        let axis = Axis { label: String::new(), log, range: None };
        AxisScale::of(&axis, "x", values.iter().copied()).unwrap()
    }

    fn names(scale: AxisScale, wanted: usize) -> Vec<String> {
        scale.ticks(wanted).into_iter().map(|(_, name)| name).collect()
    }

    fn asked(low: f64, high: f64, log: bool) -> Result<AxisScale> {
        AxisScale::of(&Axis { label: String::new(), log, range: Some([low, high]) }, "x", std::iter::empty())
    }

    #[test]
    fn even_ticks_are_round_and_named_with_the_digits_they_need() {
        assert_eq!(names(asked(0.0, 100.0, false).unwrap(), 5), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(names(asked(0.0, 1.0, false).unwrap(), 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(names(asked(86.9, 88.1, false).unwrap(), 5), ["87.0", "87.5", "88.0"]);
        assert_eq!(names(asked(0.0, 60_000.0, false).unwrap(), 3), ["0", "20,000", "40,000", "60,000"]);
        assert_eq!(names(asked(-1.0, 1.0, false).unwrap(), 4), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
    }

    #[test]
    fn log_ticks_are_1_2_5_where_there_is_room_and_decades_where_not() {
        assert_eq!(names(asked(1.0, 100.0, true).unwrap(), 7), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(
            names(asked(250.0, 60_000.0, true).unwrap(), 8),
            ["500", "1000", "2000", "5000", "10,000", "20,000", "50,000"]
        );
        assert_eq!(
            names(asked(1e-5, 10.0, true).unwrap(), 7),
            ["1e-5", "0.0001", "0.001", "0.01", "0.1", "1", "10"]
        );
        assert!(names(asked(1e-30, 1e30, true).unwrap(), 6).len() <= 7);
        // Less than one step of 1-2-5: even steps.
        assert!(names(asked(11.0, 19.0, true).unwrap(), 6).len() >= 4);
    }

    #[test]
    fn an_axis_has_room_for_all_it_can_show() {
        for log in [false, true] {
            let scale = scale(log, &[3.0, f64::NAN, 700.0, f64::INFINITY, 2e200]);
            for value in [3.0, 700.0] {
                let share = scale.share(value).unwrap();
                assert!((0.0..=1.0).contains(&share), "{value} at {share}");
            }
            assert_eq!(scale.share(f64::NAN), None);
            assert_eq!(scale.share(f64::INFINITY), None);
        }
        assert_eq!(scale(true, &[1.0, 0.0]).share(0.0), None);
        assert!(scale(false, &[0.0, 5.0]).share(0.0).unwrap() < 1e-9, "nothing below 0 where no number is");
    }

    #[test]
    fn equal_numbers_and_none_make_an_axis_too() {
        for log in [false, true] {
            for values in [&[][..], &[5.0], &[1e15, 1e15], &[1e-80]] {
                let scale = scale(log, values);
                let ticks = scale.ticks(6);
                assert!((1..=24).contains(&ticks.len()), "{values:?}: {ticks:?}");
                assert!(values.iter().all(|&value| (0.0..=1.0).contains(&scale.share(value).unwrap())));
            }
        }
    }

    #[test]
    fn ends_that_make_no_axis_are_refused() {
        for (low, high, log) in [
            (1.0, 1.0, false),
            (2.0, 1.0, false),
            (f64::NAN, 1.0, false),
            (0.0, f64::INFINITY, false),
            (0.0, 10.0, true),
        ] {
            let text = asked(low, high, log).unwrap_err().to_string();
            assert!(text.starts_with("the x axis of the chart cannot go from"), "{text}");
        }
    }
}
