//! The routes of versions of the map: make the next one, go back, and look at those before.

use super::App;
use super::answer::{json, json_text};
use super::error::Problem;
use crate::{StoreError, UpdateRefused, UpdateRequest};
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

/// What an update is asked to do.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateBody {
    groups: Option<Vec<u64>>,
    who: Option<String>,
}

/// Begins an update.
pub(super) async fn update(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let fields = "the body may have groups, a list of their numbers, and who, a text";
    let UpdateBody { groups, who } = app.intake.small(&headers, body, fields).await?.unwrap_or_default();
    let who = super::intake::text("who", who)?;
    let begun = super::map::aside(move || app.service.update(UpdateRequest { groups, who })).await?;
    Ok((StatusCode::ACCEPTED, json(&begun?)).into_response())
}

/// What going back is asked to do.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RevertBody {
    who: Option<String>,
}

/// Begins to go back to the version before.
pub(super) async fn revert(
    State(app): State<App>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body: Option<RevertBody> = app.intake.small(&headers, body, "the body may have who, a text").await?;
    let who = super::intake::text("who", body.unwrap_or_default().who)?;
    Ok((StatusCode::ACCEPTED, json(&app.service.revert(who)?)).into_response())
}

/// How the latest update is doing.
pub(super) async fn status(State(app): State<App>) -> Response {
    json(&app.service.update_status())
}

/// Ends the update that is under way.
pub(super) async fn cancel(State(app): State<App>) -> Result<Response, Problem> {
    Ok(json(&app.service.cancel_update()?))
}

/// All versions, and the switches between them.
pub(super) async fn versions(State(app): State<App>) -> Result<Response, Problem> {
    Ok(json(&app.service.versions().await?))
}

/// The points as they were just before a switch.
pub(super) async fn before_switch(
    State(app): State<App>,
    event: Result<Path<u64>, PathRejection>,
) -> Result<Response, Problem> {
    let Path(event) =
        event.map_err(|_| Problem::bad_request("the number of an event must be a whole number"))?;
    let points = app.service.before_switch(event).await?;
    let points = points.ok_or_else(|| {
        Problem::not_found(format!(
            "event {event} is no switch of the map that is kept: /api/map/versions lists them"
        ))
    })?;
    Ok(json_text(points))
}

impl From<UpdateRefused> for Problem {
    fn from(refused: UpdateRefused) -> Self {
        let detail = refused.to_string();
        let status = match refused {
            UpdateRefused::Running
            | UpdateRefused::NotRunning
            | UpdateRefused::First
            | UpdateRefused::NotKept(_) => StatusCode::CONFLICT,
            UpdateRefused::NoGroup(_) => StatusCode::NOT_FOUND,
            UpdateRefused::Nothing => StatusCode::UNPROCESSABLE_ENTITY,
            UpdateRefused::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, detail)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
    }
}
