//! `lion compare`: two stretches of time in a store.

use crate::args::{Common, CompareArgs};
use crate::output;
use crate::summary::{counted, percent};
use anyhow::{Result, bail};
use chrono::DateTime;
use lion_server::{Comparison, ListedPoints, StoredEvents, Stretch, StretchCounts};
use lion_tsne::live::{ShareChange, ShareTrend};
use std::fmt::Write;

/// Ids that are named of the points that came, and of those that left.
const NAMED: usize = 10;

/// Compares two stretches.
pub(crate) fn run(args: &CompareArgs, common: &Common) -> Result<()> {
    let store = StoredEvents::open(&args.store)?;
    let shown = args.store.display();
    let Some((first, last)) = store.times()? else {
        bail!("{shown} has no events: there is nothing to compare")
    };
    let (a, b) = match (args.a, args.b) {
        (Some(a), Some(b)) => (a.with(last), b.with(last)),
        _ => {
            let middle = first + (last - first) / 2.0;
            (Stretch { from: first, to: middle }, Stretch { from: middle, to: last.next_up() })
        }
    };
    let compared = store.compare(a, b).map_err(|refused| anyhow::anyhow!("{shown}: {refused}"))?;
    output::present(common, &compared, || words(&compared).unwrap_or_default())
}

/// For people.
fn words(found: &Comparison) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for (name, stretch) in [("a", &found.a), ("b", &found.b)] {
        let StretchCounts { from, to, points, .. } = stretch;
        writeln!(text, "{name}  {} to {}: {}", date(*from), date(*to), counted(*points, "point"))?;
    }
    let outliers = ("outliers", &found.outliers);
    let clusters = found.clusters.iter().map(|c| (c.title.as_deref().unwrap_or(&c.name), &c.shares));
    let mut beyond: Vec<(&str, &ShareChange)> =
        clusters.chain([outliers]).filter(|(_, shares)| shares.change.is_some()).collect();
    beyond.sort_by(|x, y| x.1.p.total_cmp(&y.1.p));
    let of = |trend| found.regions.iter().filter(|region| region.shares.change == Some(trend)).count();
    let (gained, lost) = (of(ShareTrend::Gained), of(ShareTrend::Lost));
    writeln!(text)?;
    if beyond.is_empty() && gained + lost == 0 {
        writeln!(text, "No cluster or region gained or lost share beyond chance.")?;
    } else {
        table(&mut text, &beyond)?;
        writeln!(text, "{gained} of {} regions of the map gained share, {lost} lost.", found.regions.len())?;
    }
    writeln!(text, "{}, at {} %.", found.test, 100.0 * found.level)?;
    writeln!(text)?;
    listed(&mut text, "came", &found.newcomers)?;
    listed(&mut text, "left", &found.left)?;
    Ok(text)
}

fn table(text: &mut String, beyond: &[(&str, &ShareChange)]) -> std::fmt::Result {
    let width = beyond.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(7);
    if !beyond.is_empty() {
        writeln!(text, "{:width$}  {:>8}  {:>8}  {:6}  p", "cluster", "a", "b", "share")?;
    }
    for (name, shares) in beyond {
        let (a, b) = (percent(shares.share_a), percent(shares.share_b));
        let change = shares.change.map_or("", |change| change.as_str());
        writeln!(text, "{name:width$}  {a:>8}  {b:>8}  {change:6}  {:.1e}", shares.adjusted)?;
    }
    Ok(())
}

fn listed(text: &mut String, what: &str, points: &ListedPoints) -> std::fmt::Result {
    let ids: Vec<&str> = points.points.iter().take(NAMED).map(|point| point.id.as_str()).collect();
    let more = if points.count > ids.len() { ", …" } else { "" };
    let colon = if ids.is_empty() { "" } else { ": " };
    writeln!(text, "{} {what}{colon}{}{more}", counted(points.count, "point"), ids.join(", "))
}

/// A time as people write it, or as it is where it is no date.
fn date(t: f64) -> String {
    let date = DateTime::from_timestamp_millis((1e3 * t).round() as i64);
    date.filter(|_| t.abs() > 1e6)
        .map_or(t.to_string(), |date| date.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}
