//! What the window shows, as it is shown.

use super::support::*;
use lion_tsne::live::LiveOptions;

#[test]
fn the_series_says_when() {
    let mut live = with(LiveOptions { window: 30.0, ..LiveOptions::default() });
    apply(
        &mut live,
        vec![at(0.5, "a", LEFT), at(0.7, "b", NOWHERE), at(3.0, "c", LEFT), at(29.9, "d", LEFT)],
    );
    let series = live.health().series;
    assert_eq!((series.t.len(), series.t[0], series.t[29]), (30, 0.0, 29.0));
    assert_eq!((series.arrivals[0], series.arrivals[3], series.arrivals[29]), (2, 1, 1));
    assert_eq!((series.outliers[0], series.outliers.iter().sum::<u64>()), (1, 1));
    // All that came in the first second or so had scores up to 0.36; nothing came in the second.
    assert_eq!(series.staleness[..4], [Some(0.64), None, None, Some(0.64)]);
    // A second later the first bucket is gone.
    apply(&mut live, vec![at(30.0, "e", LEFT)]);
    assert_eq!(live.health().arrivals, 3);
}

#[test]
fn what_came_leaves_the_window_though_nothing_comes() {
    let mut live = with(LiveOptions { window: 30.0, ..LiveOptions::default() });
    apply(&mut live, vec![at(0.5, "a", LEFT), at(0.7, "b", NOWHERE), at(20.0, "c", LEFT)]);
    let digest = live.digest();
    assert_eq!(live.health_at(20.0), live.health());
    assert_eq!(live.health_at(f64::NAN), live.health());
    let later = live.health_at(40.0);
    assert_eq!((later.arrivals, later.outlier_share, later.points), (1, 0.0, 3));
    assert_eq!((later.series.t[29], later.series.arrivals.iter().sum::<u64>()), (40.0, 1));
    let much_later = live.health_at(1000.0);
    assert_eq!((much_later.arrivals, much_later.rate, much_later.staleness), (0, 0.0, 0.0));
    // It was a look, and changed nothing.
    assert_eq!(live.digest(), digest);
    assert_eq!(with(LiveOptions::default()).health_at(5.0).arrivals, 0);
}

#[test]
fn nothing_is_told_of_an_empty_map() {
    let health = live().health();
    assert_eq!((health.points, health.arrivals, health.rate, health.staleness), (0, 0, 0.0, 0.0));
    assert!(health.series.t.is_empty());
}
