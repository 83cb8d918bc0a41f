//! Updates that nobody asks for.

use super::{UpdateRefused, UpdateRequest, UpdateState};
use crate::service::Service;
use crate::settings::UpdateWhen;
use crate::stop::Stop;
use crate::store::{SwitchRecord, Versions};
use lion_tsne::live::Health;
use std::time::Duration;

/// How often it is looked whether it is time.
const PAUSE: Duration = Duration::from_secs(1);
/// After an update that came to nothing the next is not tried for so many seconds.
const LATER: f64 = 600.0;
/// A new cluster of fewer outliers would not become a cluster of the map.
const LEAST: u64 = 10;
/// Whom events name.
const WHO: &str = "--update-when";

/// Updates the map of a service by itself until `stop`. Must be called on a tokio runtime.
pub fn update_when(service: Service, when: UpdateWhen, stop: Stop) {
    if when == UpdateWhen::Never {
        return;
    }
    tokio::spawn(async move {
        let started = service.now();
        let mut not_before = 0.0;
        loop {
            tokio::select! {
                () = stop.stopped() => return,
                () = tokio::time::sleep(PAUSE) => {}
            }
            let (now, status) = (service.now(), service.update_status());
            let failed = matches!(status.state, UpdateState::Failed | UpdateState::Cancelled);
            let ended = status.details.map_or(0.0, |details| details.started + details.seconds);
            let recently = failed && now < ended + LATER;
            if status.state == UpdateState::Running || recently || now < not_before {
                continue;
            }
            // A store that cannot be read now may be the next time.
            let Ok(Versions { switches, .. }) = service.versions().await else { continue };
            let due = match when {
                UpdateWhen::Every(every) => now >= switches.last().map_or(started, |last| last.t) + every,
                _ => true,
            };
            let Some(groups) = wanted(when, service.view().health(), &switches).filter(|_| due) else {
                continue;
            };
            let request = UpdateRequest { groups, who: Some(WHO.into()) };
            if let Err(refused) = service.update(request) {
                if refused != UpdateRefused::Nothing {
                    tracing::warn!("the map was not updated: {refused}");
                }
                let pause = if let UpdateWhen::Every(every) = when { every.min(LATER) } else { LATER };
                not_before = now + pause;
            }
        }
    });
}

/// Which groups are to be taken in, if any: `Some(None)` is all points. Not those that somebody let out again by going back:
/// these form from that moment on.
fn wanted(when: UpdateWhen, health: &Health, switches: &[SwitchRecord]) -> Option<Option<Vec<u64>>> {
    match when {
        UpdateWhen::Never => None,
        UpdateWhen::Stale => health.stale.map(|_| None),
        UpdateWhen::Every(_) => Some(None),
        UpdateWhen::Forming => {
            let let_out =
                |since: f64| switches.iter().any(|switch| switch.to < switch.from && switch.t == since);
            let forming = health.forming.iter().filter(|forming| !let_out(forming.since));
            let large = forming.map(|forming| &forming.cluster).filter(|new| new.size >= LEAST);
            Some(large.map(|new| new.group).collect::<Vec<_>>()).filter(|groups| !groups.is_empty()).map(Some)
        }
    }
}
