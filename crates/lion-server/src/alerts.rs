//! Rules that call for help: when one is broken, a webhook is told, and again when it is kept once more.
//!
//! Looking at the rules and calling are apart, so that a webhook that hangs holds up neither the rules nor the writer.

use crate::feed::FeedBatch;
use crate::service::Service;
use crate::stop::Stop;
use lion_tsne::live::{Event, Evidence, Health};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};
use ureq::Agent;

/// What is called for help about; nothing unless it is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The share of outliers among the arrivals of the window that is too large, if it is more than chance explains.
    pub outlier_rate: Option<f64>,
    /// The staleness that is too large, if the map is stale.
    pub staleness: Option<f64>,
    /// Each new cluster that forms.
    pub new_cluster: bool,
}

/// Whom to call, and with which timeouts.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Where alerts are posted to.
    pub url: String,
    /// How long one attempt may take.
    pub time_out: Duration,
    /// The pause after the first failure; it doubles with each further one.
    pub pause: Duration,
    /// Where the dashboard is, for those who are told.
    pub page: Option<String>,
}

/// How often one alert is tried.
const ATTEMPTS: u32 = 5;

/// Alerts that may wait while the webhook is slow; those beyond are only logged.
const WAITING: usize = 64;

/// How often the rules are looked at, at most.
const PAUSE: Duration = Duration::from_millis(250);

impl Webhook {
    /// The usual timeouts: 5 seconds each attempt, pauses of 1, 2, 4 and 8 seconds.
    pub fn new(url: &str) -> Result<Self, String> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(format!("the webhook {url:?} must begin with http:// or https://"));
        }
        let (time_out, pause) = (Duration::from_secs(5), Duration::from_secs(1));
        Ok(Self { url: url.to_owned(), time_out, pause, page: None })
    }
}

/// A rule that is broken, or kept again, as the webhook is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Alert {
    alert: &'static str,
    /// `firing`, or `resolved` once it is kept again.
    state: &'static str,
    /// The share, the staleness or the size of the group.
    value: f64,
    /// What the rule allows; none for a new cluster.
    limit: Option<f64>,
    /// The group that forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<u64>,
    /// What shows it; nothing does that it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Evidence>,
    /// The same as a sentence.
    text: String,
    t: f64,
    event: u64,
    map: String,
    /// Where the dashboard is.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
}

/// Watches a service until `stop`. Must be called on a tokio runtime.
pub fn watch(service: Service, map: &str, rules: Rules, webhook: Webhook, stop: Stop) -> std::io::Result<()> {
    let (sender, receiver) = sync_channel(WAITING);
    let mut broken = Broken { rules, map: map.to_owned(), page: webhook.page.clone(), ..Broken::default() };
    let (stopped, told) = (stop.clone(), service.failures());
    std::thread::Builder::new()
        .name("lion-alerts".into())
        .spawn(move || call(&webhook, &receiver, &stopped, &told))?;
    tokio::spawn(async move {
        let mut seen = 0;
        loop {
            tokio::select! {
                () = stop.stopped() => return,
                () = service.feed().changed(seen) => {}
            }
            // What is watched may be a little older than the last event.
            tokio::time::sleep(PAUSE).await;
            let view = service.view();
            seen = view.last();
            for alert in broken.look(view.health(), seen, time_of(&service, seen)) {
                queue(&sender, alert);
            }
        }
    });
    Ok(())
}

/// When an event was, if it is still in memory, as the latest are.
fn time_of(service: &Service, event: u64) -> f64 {
    let FeedBatch::Events(runs) = service.feed().after(event.saturating_sub(1)) else { return 0.0 };
    let json = runs.first().and_then(|run| run.events().next().map(|(_, json)| json));
    json.and_then(|json| serde_json::from_slice::<Event>(&json).ok()).map_or(0.0, |event| event.t)
}

fn queue(sender: &SyncSender<Alert>, alert: Alert) {
    let Alert { alert: name, state, value, event, .. } = &alert;
    tracing::warn!(alert = name, state, value, event, "a rule is broken, or kept again");
    if let Err(TrySendError::Full(alert)) = sender.try_send(alert) {
        tracing::warn!(alert = alert.alert, "too many alerts wait for the webhook: this one is only logged");
    }
}

/// The rules, and which of them are broken already.
#[derive(Default)]
struct Broken {
    rules: Rules,
    map: String,
    page: Option<String>,
    outlier_rate: bool,
    staleness: bool,
    groups: BTreeSet<u64>,
}

impl Broken {
    /// The rules that are newly broken, or newly kept.
    fn look(&mut self, health: &Health, event: u64, t: f64) -> Vec<Alert> {
        let (map, page) = (self.map.clone(), self.page.clone());
        let alert = |alert, value, limit, group, evidence: Option<Evidence>, what: &str| {
            let (state, text) = match &evidence {
                Some(evidence) => ("firing", said(evidence, what)),
                None => ("resolved", format!("it is over that arrivals {what}")),
            };
            let (map, page) = (map.clone(), page.clone());
            Alert { alert, state, value, limit, group, evidence, text, t, event, map, page }
        };
        let stale = health.stale.map(|stale| stale.evidence);
        let mut alerts = Vec::new();
        for (name, value, limit, evidence, broken, what) in [
            (
                "outlier-rate",
                health.outlier_share,
                self.rules.outlier_rate,
                health.excess,
                &mut self.outlier_rate,
                "are outliers",
            ),
            (
                "staleness",
                health.staleness,
                self.rules.staleness,
                stale,
                &mut self.staleness,
                "are stranger than the map's own rows",
            ),
        ] {
            let Some(limit) = limit else { continue };
            let now = evidence.filter(|_| value > limit);
            if now.is_some() != *broken {
                alerts.push(alert(name, value, Some(limit), None, now, what));
            }
            *broken = now.is_some();
        }
        if self.rules.new_cluster {
            let what = "are outliers close to each other";
            let forming: BTreeMap<u64, (f64, Evidence)> = health
                .forming
                .iter()
                .map(|forming| (forming.cluster.group, (forming.cluster.size as f64, forming.evidence)))
                .collect();
            for (group, (size, evidence)) in forming.iter().filter(|(group, _)| !self.groups.contains(group))
            {
                alerts.push(alert("new-cluster", *size, None, Some(*group), Some(*evidence), what));
            }
            for group in self.groups.iter().filter(|group| !forming.contains_key(group)) {
                alerts.push(alert("new-cluster", 0.0, None, Some(*group), None, what));
            }
            self.groups = forming.into_keys().collect();
        }
        alerts
    }
}

/// Evidence as a sentence.
fn said(evidence: &Evidence, what: &str) -> String {
    let Evidence { seen, of, expected, e_value, .. } = evidence;
    format!(
        "{seen} of the last {of} rows {what}, {expected:.1} were expected; a false alarm this strong comes once in {e_value:.0} rows"
    )
}

/// Calls the webhook for each alert, until nobody sends any more.
fn call(webhook: &Webhook, alerts: &Receiver<Alert>, stop: &Stop, failures: &Arc<AtomicU64>) {
    let agent: Agent =
        Agent::config_builder().timeout_global(Some(webhook.time_out)).max_redirects(0).build().into();
    while let Ok(alert) = alerts.recv() {
        let Ok(body) = serde_json::to_vec(&alert) else { continue };
        for attempt in 0..ATTEMPTS {
            let sent = agent.post(&webhook.url).content_type("application/json").send(&body[..]);
            let Err(error) = sent else { break };
            failures.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(alert = alert.alert, attempt = attempt + 1, %error, "the webhook did not take an alert");
            if attempt + 1 < ATTEMPTS && !pause(webhook.pause * 2u32.pow(attempt), stop) {
                return;
            }
        }
    }
}

/// Waits; says whether the service goes on.
fn pause(time: Duration, stop: &Stop) -> bool {
    let end = Instant::now() + time;
    while Instant::now() < end && !stop.is_stopped() {
        std::thread::sleep(Duration::from_millis(50).min(time));
    }
    !stop.is_stopped()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn health(proven: bool, outlier_share: f64, staleness: f64, forming: &[u64]) -> Health {
        let evidence = json!({ "seen": 27, "of": 300, "expected": 3.0, "e_value": 4e6, "since": 0 });
        let forming = forming.iter().map(
            |group| json!({ "group": group, "size": 6, "x": 0, "y": 0, "since": 0, "evidence": evidence }),
        );
        let stale = json!({ "staleness": staleness, "arrivals": 300, "score": 0.1, "evidence": evidence });
        let health = json!({
            "points": 0, "outliers": 0, "groups": 0, "forming": forming.collect::<Vec<_>>(), "vanishing": [],
            "window": 300, "arrivals": 60, "rate": 1, "outlier_share": outlier_share, "promised": 0.01,
            "staleness": staleness, "clusters": [],
            "stale": proven.then_some(stale), "excess": proven.then_some(evidence),
            "series": { "t": [], "arrivals": [], "outliers": [], "staleness": [] },
        });
        serde_json::from_value(health).expect("it is what is watched")
    }

    #[test]
    fn a_rule_is_told_when_it_is_broken_and_when_it_is_kept_again() {
        let rules = Rules { outlier_rate: Some(0.1), staleness: Some(0.3), new_cluster: true };
        let mut broken = Broken { rules, map: "m".into(), ..Broken::default() };
        let mut look = |health: Health| {
            let alerts = broken.look(&health, 9, 1.5);
            assert!(alerts.iter().all(|alert| alert.event == 9 && alert.t == 1.5 && alert.map == "m"));
            assert!(alerts.iter().all(|alert| alert.evidence.is_none_or(|evidence| evidence.seen == 27)));
            assert!(alerts.iter().all(|alert| alert.evidence.is_some() == (alert.state == "firing")));
            alerts
                .iter()
                .map(|alert| (alert.alert, alert.value, alert.limit, alert.group))
                .collect::<Vec<_>>()
        };
        // What chance explains means nothing yet.
        assert_eq!(look(health(false, 0.5, 0.9, &[])), []);
        let rate = ("outlier-rate", 0.5, Some(0.1), None);
        assert_eq!(look(health(true, 0.5, 0.1, &[])), [rate]);
        assert_eq!(look(health(true, 0.6, 0.4, &[])), [("staleness", 0.4, Some(0.3), None)]);
        assert_eq!(look(health(true, 0.1, 0.4, &[])), [("outlier-rate", 0.1, Some(0.1), None)], "resolved");
        assert_eq!(look(health(true, 0.5, 0.4, &[3])), [rate, ("new-cluster", 6.0, None, Some(3))]);
        assert_eq!(look(health(true, 0.5, 0.4, &[3, 4])), [("new-cluster", 6.0, None, Some(4))]);
        assert_eq!(look(health(true, 0.5, 0.4, &[4])), [("new-cluster", 0.0, None, Some(3))], "resolved");
        assert_eq!(look(health(true, 0.5, 0.4, &[4])), []);
    }

    #[test]
    fn an_alert_says_what_shows_it() {
        let rules = Rules { outlier_rate: Some(0.05), ..Rules::default() };
        let mut broken = Broken { rules, ..Broken::default() };
        let alerts = broken.look(&health(true, 0.09, 0.0, &[]), 1, 0.0);
        let text = "27 of the last 300 rows are outliers, 3.0 were expected; a false alarm this strong comes once in 4000000 rows";
        assert_eq!(alerts[0].text, text);
    }

    #[test]
    fn nothing_is_told_that_was_not_asked_for() {
        let mut broken = Broken::default();
        assert_eq!(broken.look(&health(true, 1.0, 1.0, &[1]), 1, 0.0), []);
    }
}
