//! What is counted, as Prometheus reads it.
//!
//! By hand: most of it is read from the view when somebody asks, where `prometheus-client` keeps numbers of its own, and it
//! writes OpenMetrics, which is another content type.

use crate::service::{Service, Stats};
use crate::settings::Clock;
use crate::updates::UpdateState;
use axum::http::Method;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Requests by route and by status.
pub(crate) struct Metrics {
    routes: Vec<Route>,
    /// By status, from 100 on.
    statuses: Vec<AtomicU64>,
    /// When the service started, in seconds since 1970.
    start: f64,
}

struct Route {
    method: Method,
    path: &'static str,
    seconds: Histogram,
}

/// Upper bounds of the seconds that requests take.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

#[derive(Default)]
struct Histogram {
    /// How many fell below each bound but not below the one before; the last are those beyond all.
    counts: [AtomicU64; SECONDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Metrics {
    pub(crate) fn new(routes: &[(Method, &'static str)]) -> Self {
        let route = |(method, path): &(Method, &'static str)| Route {
            method: method.clone(),
            path,
            seconds: Histogram::default(),
        };
        Self {
            routes: routes.iter().map(route).collect(),
            statuses: (100..600).map(|_| AtomicU64::new(0)).collect(),
            start: Clock::default().now(),
        }
    }

    /// Counts a request that was answered.
    pub(crate) fn count(&self, method: &Method, path: &str, status: u16, seconds: f64) {
        if let Some(count) = self.statuses.get(usize::from(status).saturating_sub(100)) {
            count.fetch_add(1, Relaxed);
        }
        let route = self.routes.iter().find(|route| route.path == path && route.method == *method);
        let Some(Route { seconds: histogram, .. }) = route else { return };
        let bucket = SECONDS.partition_point(|&bound| bound < seconds);
        histogram.counts[bucket].fetch_add(1, Relaxed);
        histogram.nanoseconds.fetch_add((seconds * 1e9) as u64, Relaxed);
    }

    /// Everything, in the text format of Prometheus.
    pub(crate) fn text(&self, service: &Service, listeners: usize) -> String {
        let mut text = String::with_capacity(8 << 10);
        // Writing to a string does not fail.
        let _ = self.write(&mut text, service, listeners);
        text
    }

    fn write(&self, to: &mut String, service: &Service, listeners: usize) -> fmt::Result {
        let (view, stats) = (service.view(), service.stats());
        let health = view.health();
        let (counter, gauge) = ("counter", "gauge");
        for (name, kind, help, value) in [
            ("lion_points", gauge, "Points that are there.", health.points as f64),
            ("lion_outliers", gauge, "Points that belong nowhere.", health.outliers as f64),
            ("lion_groups", gauge, "Groups of outliers.", health.groups as f64),
            ("lion_forming_clusters", gauge, "New clusters that form.", health.forming.len() as f64),
            ("lion_stale", gauge, "Whether the map is stale, 0 or 1.", f64::from(health.stale.is_some())),
            (
                "lion_stale_clusters",
                gauge,
                "Clusters whose arrivals are no longer like their rows.",
                health.shifted.len() as f64,
            ),
            (
                "lion_excess_outliers",
                gauge,
                "Whether there are more outliers than chance explains, 0 or 1.",
                f64::from(health.excess.is_some()),
            ),
            (
                "lion_vanishing_clusters",
                gauge,
                "Clusters that no longer get what they used to.",
                health.vanishing.len() as f64,
            ),
            ("lion_events_total", counter, "Events since the store was made.", view.last() as f64),
            (
                "lion_arrivals_total",
                counter,
                "Points that came or changed since the service started.",
                stats.arrivals as f64,
            ),
            (
                "lion_removals_total",
                counter,
                "Points that were removed since the service started.",
                stats.removals as f64,
            ),
            ("lion_arrival_rate", gauge, "Arrivals per second over the window.", health.rate),
            (
                "lion_outlier_share",
                gauge,
                "Share of outliers among the arrivals of the window.",
                health.outlier_share,
            ),
            (
                "lion_staleness",
                gauge,
                "How unlike the map the arrivals of the window are, 0 to 1.",
                health.staleness,
            ),
            ("lion_listeners", gauge, "Connections that listen to events.", listeners as f64),
            ("lion_queue_rows", gauge, "Rows that wait for the writer.", stats.queue_rows as f64),
            ("lion_last_event_seconds", gauge, "When the last event was, in seconds since 1970.", view.now()),
            ("lion_start_seconds", gauge, "When the service started, in seconds since 1970.", self.start),
            ("lion_store_bytes", gauge, "Bytes of the store, with its log.", stats.store_bytes as f64),
            ("lion_resident_bytes", gauge, "Memory that the process holds.", resident_bytes()),
            (
                "lion_webhook_failures_total",
                counter,
                "Calls of the webhook that failed.",
                stats.webhook_failures as f64,
            ),
            ("lion_map_version", gauge, "The version of the map.", view.map().number() as f64),
            (
                "lion_map_updating",
                gauge,
                "Whether the map is being updated, 0 or 1.",
                f64::from(service.update_status().state == UpdateState::Running),
            ),
            (
                "lion_switch_seconds",
                gauge,
                "How long the last switch to another version of the map held the writer.",
                stats.switch_seconds.unwrap_or(0.0),
            ),
        ] {
            write!(to, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n")?;
        }
        let (name, version) = ("lion_build_info", env!("CARGO_PKG_VERSION"));
        write!(
            to,
            "# HELP {name} The version of the program.\n# TYPE {name} gauge\n{name}{{version=\"{version}\"}} 1\n"
        )?;
        write_commits(to, &stats)?;
        self.write_requests(to)
    }

    fn write_requests(&self, to: &mut String) -> fmt::Result {
        let name = "lion_request_seconds";
        write!(to, "# HELP {name} How long requests take.\n# TYPE {name} histogram\n")?;
        for Route { method, path, seconds } in &self.routes {
            let counts: Vec<u64> = seconds.counts.iter().map(|count| count.load(Relaxed)).collect();
            let label = format!("method=\"{method}\",route=\"{path}\",");
            write_histogram(
                to,
                name,
                &label,
                &SECONDS,
                &counts,
                seconds.nanoseconds.load(Relaxed) as f64 / 1e9,
            )?;
        }
        let name = "lion_responses_total";
        write!(to, "# HELP {name} Answers by status.\n# TYPE {name} counter\n")?;
        for (status, count) in (100..).zip(&self.statuses) {
            match count.load(Relaxed) {
                0 => {}
                count => writeln!(to, "{name}{{status=\"{status}\"}} {count}")?,
            }
        }
        Ok(())
    }
}

/// Memory that the process holds, where the system tells.
fn resident_bytes() -> f64 {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = told.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB"));
    line.and_then(|kilobytes| kilobytes.trim().parse::<f64>().ok())
        .map_or(0.0, |kilobytes| kilobytes * 1024.0)
}

fn write_commits(to: &mut String, stats: &Stats) -> fmt::Result {
    let name = "lion_commit_seconds";
    write!(to, "# HELP {name} How long it takes to bring changes to disk.\n# TYPE {name} histogram\n")?;
    write_histogram(to, name, "", &Stats::COMMIT_SECONDS, &stats.commits, stats.commit_seconds)
}

/// A histogram from how many fell into each bucket; the last bucket is beyond all bounds.
fn write_histogram(
    to: &mut String,
    name: &str,
    label: &str,
    bounds: &[f64],
    counts: &[u64],
    sum: f64,
) -> fmt::Result {
    let mut below = 0;
    for (bound, count) in bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]).zip(counts) {
        below += count;
        writeln!(to, "{name}_bucket{{{label}le=\"{bound}\"}} {below}")?;
    }
    let labels = label.trim_end_matches(',');
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    writeln!(to, "{name}_sum{labels} {sum}\n{name}_count{labels} {below}")
}
