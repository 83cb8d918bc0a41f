//! The time of lines. One line whose time lies far ahead moves nobody's clock; a second that agrees does.

use lion_tsne::live::{Arrival, Change};

/// Steps up to so many seconds are never too far.
const LEAP: f64 = 3600.0;
/// Nor are those of up to so many times the longest step before.
const LONGER: f64 = 100.0;

/// What is known of the times of lines so far.
#[derive(Default)]
pub(super) struct LineClock {
    /// The latest time, if there was any.
    latest: Option<f64>,
    /// The longest step.
    step: f64,
    /// A time far ahead that no other line has confirmed yet.
    ahead: Option<f64>,
}

impl LineClock {
    /// Gives a change whose time is far ahead of all others the latest time instead.
    pub(super) fn check(&mut self, change: &mut Change) {
        let (Change::Upsert(Arrival { t, .. }) | Change::Delete { t, .. }) = change;
        *t = t.map(|t| self.time(t));
    }

    fn time(&mut self, t: f64) -> f64 {
        let Some(latest) = self.latest else {
            self.latest = Some(t);
            return t;
        };
        let step = t - latest;
        let is_far = step > LEAP && step > LONGER * self.step;
        if is_far && self.ahead.is_none_or(|ahead| t < ahead - LEAP) {
            self.ahead = Some(t);
            return latest;
        }
        if is_far || step <= LEAP {
            self.ahead = None;
        }
        self.step = self.step.max(step);
        self.latest = Some(t.max(latest));
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(lines: &[f64]) -> Vec<f64> {
        let mut clock = LineClock::default();
        lines.iter().map(|&t| clock.time(t)).collect()
    }

    #[test]
    fn one_line_far_ahead_moves_no_clock() {
        let ahead = 100.0 + 23.0 * 3600.0;
        assert_eq!(times(&[100.0, 101.0, ahead, 102.0, 103.0]), [100.0, 101.0, 101.0, 102.0, 103.0]);
        assert_eq!(times(&[1.7e9, 1.7e12, 1.7e9 + 1.0]), [1.7e9, 1.7e9, 1.7e9 + 1.0]);
        // Again and again.
        assert_eq!(times(&[100.0, ahead, 101.0, ahead + 50.0, 102.0]), [100.0, 100.0, 101.0, 101.0, 102.0]);
    }

    #[test]
    fn a_pause_is_believed_when_a_second_line_says_so() {
        let later = 100.0 + 9.0 * 3600.0;
        assert_eq!(
            times(&[100.0, 101.0, later, later + 1.0, later + 2.0]),
            [100.0, 101.0, 101.0, later + 1.0, later + 2.0]
        );
        // A line a day: only the first step is new.
        let day = 86_400.0;
        assert_eq!(
            times(&[0.0, day, 2.0 * day, 3.0 * day, 4.0 * day]),
            [0.0, 0.0, 2.0 * day, 3.0 * day, 4.0 * day]
        );
    }
}
