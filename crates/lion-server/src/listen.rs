//! The port: takes connections, bounds how many there are and how slow they may be, and ends them in good order.

mod seats;
mod write_timeout;

pub(crate) use seats::{Seat, SeatedBody};

use crate::http::HttpConfig;
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use seats::{Seated, Seats};
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use write_timeout::WriteTimeout;

/// Connections that are being told at a time that there are too many; those beyond are closed without a word.
const TURNED_AWAY: usize = 128;

/// How long that may take.
const TELLING: Duration = Duration::from_millis(500);

/// How long a newcomer waits for the connection of somebody who has to go.
const MAKING_ROOM: Duration = Duration::from_millis(500);

/// Files that are open beside the connections: the store, the log, those being turned away.
const OTHER_FILES: usize = 64 + TURNED_AWAY;

/// The most bytes in the head of a request.
const MOST_HEAD: usize = 64 << 10;

const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n\
    Connection: close\r\nContent-Length: 88\r\n\r\n\
    {\"error\":\"unavailable\",\"detail\":\"there are too many connections: try again in a moment\"}";

/// Answers requests at a port until `shutdown`. Then those under way are finished, for a while, and those who listen are
/// sent away. A port that other machines can reach needs a token.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    config: HttpConfig,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    if config.token.is_none() && !address.ip().is_loopback() {
        let problem =
            format!("{address} can be reached from other machines, which needs a token: give a --token-file");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    let most = allowed(config.connections);
    let room = Arc::new(Semaphore::new(most));
    let away = Arc::new(Semaphore::new(TURNED_AWAY));
    let seats = Arc::new(Seats::default());
    let mut shutdown = pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            () = config.stop.stopped() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok((stream, address)) => (stream, address.ip()),
            Err(error) => {
                // No more files, or the caller is gone already. Neither ends the service; the first needs a pause.
                tracing::warn!(%error, "a connection could not be taken");
                sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        if let Ok(permit) = Arc::clone(&room).try_acquire_owned() {
            tokio::spawn(converse(stream, app.clone(), config.clone(), seats.take(address), permit));
        } else if seats.make_room() {
            let (room, seats, app, config) = (room.clone(), seats.clone(), app.clone(), config.clone());
            tokio::spawn(async move {
                if let Ok(Ok(permit)) = timeout(MAKING_ROOM, room.acquire_owned()).await {
                    converse(stream, app, config, seats.take(address), permit).await;
                }
            });
        } else if let Ok(permit) = Arc::clone(&away).try_acquire_owned() {
            tokio::spawn(turn_away(stream, permit));
        }
    }
    drop(listener);
    config.stop.stop();
    // All permits are back when all connections are closed.
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    let closed = timeout(config.grace + Duration::from_secs(1), room.acquire_many(all)).await;
    if closed.is_err() {
        tracing::warn!("some requests did not end in time and were cut off");
    }
    Ok(())
}

/// How many connections the system allows, up to `wanted`.
fn allowed(wanted: usize) -> usize {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let needed = (wanted + OTHER_FILES) as u64;
        let Some(current) = limit.current.filter(|&current| current < needed) else { return wanted };
        let raised = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
        let raised =
            match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }) {
                Ok(()) => raised,
                Err(_) => current,
            };
        let most = usize::try_from(raised).unwrap_or(wanted).saturating_sub(OTHER_FILES).clamp(1, wanted);
        if most < wanted {
            tracing::warn!(most, wanted, "the system allows fewer open files than connections are wanted");
        }
        most
    }
    #[cfg(not(unix))]
    wanted
}

/// Answers the requests of one connection.
async fn converse(
    stream: TcpStream,
    app: Router,
    config: HttpConfig,
    seated: Seated,
    _permit: OwnedSemaphorePermit,
) {
    let _ = stream.set_nodelay(true);
    let (app, seat) = (TowerToHyperService::new(app), seated.seat.clone());
    let app = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(seat.clone());
        app.call(request)
    });
    let stream = TokioIo::new(WriteTimeout::new(stream, config.write_time));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(config.header_time)
        .max_buf_size(MOST_HEAD)
        .serve_connection(stream, app);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = seated.seat.left() => return tracing::debug!("a connection was given to somebody else"),
        () = config.stop.stopped() => {
            connection.as_mut().graceful_shutdown();
            match timeout(config.grace, connection).await {
                Ok(ended) => ended,
                Err(_) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Says that there are too many.
async fn turn_away(mut stream: TcpStream, _permit: OwnedSemaphorePermit) {
    let tell = async {
        stream.write_all(TOO_MANY).await?;
        // To close while something unread waits would take the answer back.
        WriteTimeout::new(stream, TELLING).shutdown().await
    };
    let _ = timeout(TELLING, tell).await;
}

#[cfg(test)]
mod tests {
    use super::TOO_MANY;

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        let text = std::str::from_utf8(TOO_MANY).expect("it is text");
        let (head, body) = text.split_once("\r\n\r\n").expect("it has a head");
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{}", body.len());
        let body: serde_json::Value = serde_json::from_str(body).expect("it is JSON");
        assert_eq!(body["error"], "unavailable");
    }
}
