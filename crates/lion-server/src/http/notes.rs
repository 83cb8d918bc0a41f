//! The routes of what people say: titles of clusters and groups, and what they think of alarms.

use super::App;
use super::answer::json;
use super::error::Problem;
use super::intake::text;
use crate::view::View;
use crate::{Refused, Titled};
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use lion_tsne::live::{NoticeNoted, NoticeState};
use serde::Deserialize;
use serde_json::json as object;

/// What a group of outliers is called in addresses and answers.
pub(super) fn group_id(number: u64) -> String {
    format!("group-{number}")
}

/// The cluster or group of an id. A cluster may have the name that a group has in addresses: `kind` says which is meant,
/// and without it the cluster is.
fn titled(view: &View, id: &str, kind: Option<TitledKind>) -> Option<Titled> {
    let is_cluster = view.map().clusters.names.iter().any(|name| name == id);
    if is_cluster && kind != Some(TitledKind::Group) {
        return Some(Titled::Cluster(id.to_owned()));
    }
    let number: u64 = id.strip_prefix("group-")?.parse().ok()?;
    let there = view.groups().iter().any(|group| group.number == number || group.family == Some(number));
    (there && kind != Some(TitledKind::Cluster)).then_some(Titled::Group(number))
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TitledKind {
    Cluster,
    Group,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RenameBody {
    /// It must be there: null takes a title away, and leaving it out is a mistake.
    #[serde(deserialize_with = "Option::deserialize")]
    name: Option<String>,
    who: Option<String>,
    kind: Option<TitledKind>,
}

/// Calls a cluster or a group otherwise.
pub(super) async fn rename(
    State(app): State<App>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let Path(id) = id.map_err(|_| Problem::bad_request("the id in the address is not UTF-8"))?;
    let fields = "the body must have name, a text or null, and may have who, a text, and kind, which is cluster or group";
    let body: Option<RenameBody> = app.intake.small(&headers, body, fields).await?;
    let RenameBody { name: title, who, kind } = body.ok_or_else(|| Problem::bad_request(fields))?;
    let (title, who) = (text("name", title)?, text("who", who)?);
    let of = titled(&app.service.view(), &id, kind);
    let of = of.ok_or_else(|| Problem::not_found(format!("there is no cluster or group {id:?}")))?;
    let event = app.service.rename(of, title.clone(), who).await?;
    Ok(json(&object!({ "id": id, "title": title, "event": event })))
}

/// All alarms that are remembered.
pub(super) async fn notices(State(app): State<App>) -> Response {
    let view = app.service.view();
    json(&object!({ "notices": view.notes().notices().collect::<Vec<_>>() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoticeBody {
    state: NoticeState,
    who: Option<String>,
    note: Option<String>,
}

/// Notes what a person thinks of an alarm.
pub(super) async fn note(
    State(app): State<App>,
    id: Result<Path<u64>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let Path(notice) = id
        .map_err(|_| Problem::bad_request("the id of a notice is the number of the event that told of it"))?;
    let fields = "the body must have state, which is open, acknowledged or dismissed, and may have who and note, both texts";
    let body: Option<NoticeBody> = app.intake.small(&headers, body, fields).await?;
    let NoticeBody { state, who, note } = body.ok_or_else(|| Problem::bad_request(fields))?;
    let (who, note) = (text("who", who)?, text("note", note)?);
    match app.service.note(NoticeNoted { notice, state, who, note }).await {
        Ok(notice) => Ok(json(&notice)),
        Err(Refused::NotFound { .. }) => Err(Problem::not_found(format!("there is no notice {notice}"))),
        Err(refused) => Err(refused.into()),
    }
}
