//! The route that compares two stretches of time.

use super::App;
use super::answer::json;
use super::error::Problem;
use crate::{CompareRefused, Stretch};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;

/// The stretches, each as two times with a comma between them.
#[derive(Deserialize)]
pub(super) struct CompareQuery {
    a: String,
    b: String,
}

/// What changed between two stretches of time.
pub(super) async fn compare(
    State(app): State<App>,
    asked: Result<Query<CompareQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(CompareQuery { a, b }) = asked
        .map_err(|_| Problem::bad_request("the query must have a=FROM,TO and b=FROM,TO, times in seconds"))?;
    let stretch = |name: &str, text: &str| {
        text.parse::<Stretch>().map_err(|problem| Problem::bad_request(format!("{name}: {problem}")))
    };
    let (a, b) = (stretch("a", &a)?, stretch("b", &b)?);
    Ok(json(&app.service.compare(a, b).await?))
}

impl From<CompareRefused> for Problem {
    fn from(refused: CompareRefused) -> Self {
        match refused {
            CompareRefused::Stretches(problem) => Self::unprocessable(problem),
            CompareRefused::Switched => Self::new(StatusCode::SERVICE_UNAVAILABLE, refused.to_string()),
            CompareRefused::Store(error) => error.into(),
        }
    }
}
