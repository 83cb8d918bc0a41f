//! Taking in the body of a request: how much, how much of all together, and what it is.

use super::error::Problem;
use crate::changes::{RowShape, check_name, parse_arrow, parse_json, parse_lines};
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use lion_tsne::live::Change;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// What is taken in.
pub(super) struct Intake {
    shape: Arc<RowShape>,
    max_body: usize,
    /// How long a body may pause.
    pause: Duration,
    /// Kilobytes that all bodies at a time may have together: many callers must not fill the memory.
    room: Arc<Semaphore>,
}

/// Bodies beyond this many bytes are parsed where they hold up nobody.
const SMALL: usize = 32 << 10;

/// What a body is.
#[derive(Clone, Copy)]
enum BodyKind {
    Json,
    Lines,
    Arrow,
}

/// Changes, and the room that their body takes until they are done.
pub(super) struct Taken {
    pub(super) changes: Vec<Change>,
    _room: Option<OwnedSemaphorePermit>,
}

impl Intake {
    pub(super) fn new(shape: RowShape, max_body: usize, pause: Duration) -> Self {
        // Room for a few of the largest bodies.
        let kilobytes = (max_body.saturating_mul(4).max(16 << 20) >> 10).min(Semaphore::MAX_PERMITS);
        Self { shape: Arc::new(shape), max_body, pause, room: Arc::new(Semaphore::new(kilobytes)) }
    }

    /// Reads and parses a body.
    pub(super) async fn changes(&self, headers: &HeaderMap, body: Body) -> Result<Taken, Problem> {
        let kind = kind(headers)?;
        let (bytes, room) = self.read(headers, body).await?;
        let shape = Arc::clone(&self.shape);
        let parse = move |bytes: &[u8]| match kind {
            BodyKind::Json => parse_json(bytes, &shape),
            BodyKind::Lines => parse_lines(bytes, &shape),
            BodyKind::Arrow => parse_arrow(bytes, &shape),
        };
        let changes = if bytes.len() <= SMALL {
            parse(&bytes)?
        } else {
            let parsed = tokio::task::spawn_blocking(move || parse(&bytes)).await;
            parsed.map_err(|_| Problem::bad_request("the body contradicts itself"))??
        };
        Ok(Taken { changes, _room: room })
    }

    /// Reads a small object that asks for something; none if the body is empty. `fields` says what it may have.
    pub(super) async fn small<T: DeserializeOwned>(
        &self,
        headers: &HeaderMap,
        body: Body,
        fields: &str,
    ) -> Result<Option<T>, Problem> {
        self.object(headers, body, fields, SMALL).await
    }

    /// The same of an object that may be as large as a body may be.
    pub(super) async fn large<T: DeserializeOwned>(
        &self,
        headers: &HeaderMap,
        body: Body,
        fields: &str,
    ) -> Result<Option<T>, Problem> {
        self.object(headers, body, fields, self.max_body).await
    }

    async fn object<T: DeserializeOwned>(
        &self,
        headers: &HeaderMap,
        body: Body,
        fields: &str,
        most: usize,
    ) -> Result<Option<T>, Problem> {
        let (bytes, _room) = self.read(headers, body).await?;
        if bytes.len() > most {
            return Err(Problem::too_large(format!("the body has more than {most} bytes: {fields}")));
        }
        if bytes.trim_ascii().is_empty() {
            return Ok(None);
        }
        if !matches!(kind(headers)?, BodyKind::Json) {
            return Err(Problem::unsupported("send application/json"));
        }
        let object: Value = serde_json::from_slice(&bytes)
            .map_err(|error| Problem::bad_request(format!("the body is not JSON: {error}")))?;
        if !object.is_object() {
            return Err(Problem::unprocessable(format!("the body is no JSON object: {fields}")));
        }
        let read = serde_json::from_value(object);
        read.map(Some).map_err(|error| Problem::unprocessable(format!("{fields}: {error}")))
    }

    async fn read(
        &self,
        headers: &HeaderMap,
        mut body: Body,
    ) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Problem> {
        let length =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: usize| length > self.max_body) {
            return Err(self.too_large());
        }
        let mut room: Option<OwnedSemaphorePermit> = None;
        let mut bytes = BytesMut::new();
        let slow = |_| {
            let seconds = self.pause.as_secs();
            let problem = format!("nothing of the body came for {seconds} seconds: send it without a pause");
            Problem::new(StatusCode::REQUEST_TIMEOUT, problem)
        };
        while let Some(frame) = timeout(self.pause, body.frame()).await.map_err(slow)? {
            let frame = frame.map_err(|_| Problem::bad_request("the body breaks off before its end"))?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > self.max_body {
                return Err(self.too_large());
            }
            bytes.extend_from_slice(&data);
            let held = room.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
            let more = self.take_room((bytes.len() >> 10).saturating_sub(held))?;
            match (&mut room, more) {
                (Some(room), Some(more)) => room.merge(more),
                (None, more) => room = more,
                (Some(_), None) => {}
            }
        }
        Ok((bytes.freeze(), room))
    }

    /// Room for so many kilobytes.
    fn take_room(&self, kilobytes: usize) -> Result<Option<OwnedSemaphorePermit>, Problem> {
        if kilobytes == 0 {
            return Ok(None);
        }
        let kilobytes = u32::try_from(kilobytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.room).try_acquire_many_owned(kilobytes);
        room.map(Some)
            .map_err(|_| Problem::busy("too much is being sent at this moment: try again in a moment"))
    }

    fn too_large(&self) -> Problem {
        let most = self.max_body;
        Problem::too_large(format!("the body has more than {most} bytes; send it in parts"))
    }
}

/// A short text that a person gave, without blanks around it; none if nothing is left.
pub(super) fn text(field: &str, given: Option<String>) -> Result<Option<String>, Problem> {
    let text = given.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if let Some(text) = &text {
        check_name("it", text).map_err(|problem| Problem::unprocessable(format!("{field} {problem}")))?;
    }
    Ok(text)
}

fn kind(headers: &HeaderMap) -> Result<BodyKind, Problem> {
    if let Some(encoding) = headers.get(header::CONTENT_ENCODING).filter(|encoding| *encoding != "identity") {
        let encoding = String::from_utf8_lossy(encoding.as_bytes()).into_owned();
        return Err(Problem::unsupported(format!("the body is encoded as {encoding:?}; send it as it is")));
    }
    let said = headers.get(header::CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
    let said = said.as_deref().unwrap_or("");
    match said.split(';').next().unwrap_or("").trim().to_ascii_lowercase().as_str() {
        "application/json" => Ok(BodyKind::Json),
        "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines" => Ok(BodyKind::Lines),
        "application/vnd.apache.arrow.stream" | "application/vnd.apache.arrow.file" => Ok(BodyKind::Arrow),
        _ => Err(Problem::unsupported(format!(
            "the content type {said:?} is not known here; send application/json, application/x-ndjson or \
             application/vnd.apache.arrow.stream"
        ))),
    }
}
