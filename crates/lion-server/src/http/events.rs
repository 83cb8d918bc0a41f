//! Server-sent events: everything that happens, from any number on that is kept.
//!
//! A listener is a cursor. It sends what follows the cursor, then waits a moment, so that in busy times many events go
//! out at once: two hundred listeners cost little, and a slow one costs nothing.

use super::App;
use super::error::Problem;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::unfold;
use serde::Deserialize;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

/// The least time between two portions of events.
const PAUSE: Duration = Duration::from_millis(20);

/// How often what is watched is told.
const HEALTH: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
pub(super) struct StreamStart {
    after: Option<u64>,
}

/// Begins to listen, after the last event unless the caller says otherwise.
pub(super) async fn listen(
    State(app): State<App>,
    start: Result<Query<StreamStart>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Query(start) = start.map_err(|_| Problem::bad_request("after must be the number of an event"))?;
    // A browser that reconnects repeats the address it began with, but knows better by now.
    let cursor = match headers.get("last-event-id") {
        Some(last) => Some(
            last.to_str()
                .ok()
                .and_then(|last| last.trim().parse().ok())
                .ok_or_else(|| Problem::bad_request("Last-Event-ID must be the number of an event"))?,
        ),
        None => start.after,
    };
    let last = app.service.last();
    let cursor = cursor.unwrap_or(last);
    if cursor > last {
        return Err(Problem::gone(format!(
            "there is no event {cursor} yet, the last has number {last}: this is another store, load the points anew"
        )));
    }
    if cursor < last {
        // Those before the first that is kept cannot be told any more.
        app.service.next(cursor).await?;
    }
    let listener = Listener::new(app, cursor)?;
    let stream = unfold(listener, |mut listener| async {
        listener.next().await.map(|chunk| (Ok::<_, Infallible>(chunk), listener))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, [("x-accel-buffering", "no")], Body::from_stream(stream)).into_response())
}

/// One who listens.
struct Listener {
    app: App,
    /// The last event that was sent.
    cursor: u64,
    /// What is to be sent before anything else.
    ready: VecDeque<Bytes>,
    /// No events before this time.
    not_before: Instant,
    health: Interval,
}

impl Listener {
    fn new(app: App, cursor: u64) -> Result<Self, Problem> {
        let most = (app.config.connections / 2).max(1);
        if app.listeners.fetch_add(1, Relaxed) >= most {
            app.listeners.fetch_sub(1, Relaxed);
            return Err(Problem::busy(format!(
                "{most} listen already, which is as many as may: try again later"
            )));
        }
        let mut health = interval(HEALTH);
        health.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // A browser waits so long before it connects again; and the first bytes say that all is well.
        let ready = VecDeque::from([Bytes::from_static(b"retry: 1000\n\n")]);
        Ok(Self { app, cursor, ready, not_before: Instant::now(), health })
    }

    /// What to send next; nothing when the service stops or the events that follow are lost.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(chunk) = self.ready.pop_front() {
            return Some(chunk);
        }
        let Self { app, cursor, not_before, health, .. } = self;
        let events = async {
            sleep_until(*not_before).await;
            app.service.next(*cursor).await
        };
        let runs = tokio::select! {
            biased;
            () = app.config.stop.stopped() => return None,
            _ = health.tick() => return self.health_event(),
            runs = events => runs.ok()?,
        };
        self.not_before = Instant::now() + PAUSE;
        self.cursor = runs.last().map_or(self.cursor, |run| run.last());
        self.ready.extend(runs.iter().map(|run| run.frames()));
        // An empty comment if there should be nothing: an empty chunk would end the stream.
        Some(self.ready.pop_front().unwrap_or(Bytes::from_static(b":\n\n")))
    }

    fn health_event(&self) -> Option<Bytes> {
        let mut text = b"event: health\ndata: ".to_vec();
        serde_json::to_writer(&mut text, &**self.app.service.view().health()).ok()?;
        text.extend_from_slice(b"\n\n");
        Some(text.into())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.app.listeners.fetch_sub(1, Relaxed);
    }
}
