//! Taking in the body of a request: how much, how much of all together, and what it is.

use super::error::Problem;
use crate::changes::{RowShape, parse_arrow, parse_json, parse_lines};
use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use lion_tsne::live::Change;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is taken in.
pub(super) struct Intake {
    shape: Arc<RowShape>,
    max_body: usize,
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
    pub(super) fn new(shape: RowShape, max_body: usize) -> Self {
        // Room for a few of the largest bodies.
        let kilobytes = (max_body.saturating_mul(4).max(16 << 20) >> 10).min(Semaphore::MAX_PERMITS);
        Self { shape: Arc::new(shape), max_body, room: Arc::new(Semaphore::new(kilobytes)) }
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
        while let Some(frame) = body.frame().await {
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
